"""The nouns that flow through the crawl, the closed sets they use, and the protocols between rooms.

A URL becomes a `Link` when a page mentions it, a `Request` when the frontier clears it, a `Page` or a `Failure` when
the web has answered, `Detected` and `Facts` when it has been read, and a `Visit` when all is done. Everything here is
frozen data; nothing here opens a socket, reads a clock or imports another room. `sparql` and `ordering` read the text
of queries, which targets, links and the store are asked.
"""

from motherlode.model.asked import NOTHING_ASKED, Asked
from motherlode.model.facts import DOCUMENT_SYNTAXES, Extraction, Facts, Problem, Statement, Syntax, Term
from motherlode.model.kinds import ContentKind, Detected, Evidence
from motherlode.model.links import Link, LinkSource
from motherlode.model.pages import Failure, FailureKind, Fetched, Fetcher, Page, Posting, Request, RequestKind
from motherlode.model.selection import (
    Combines,
    Explains,
    Explanation,
    Feedback,
    Lesson,
    Mergeable,
    Parent,
    Policy,
    Rating,
    Reason,
    Tells,
    Values,
    Waits,
)
from motherlode.model.visits import Visit

__all__ = [
    "DOCUMENT_SYNTAXES",
    "NOTHING_ASKED",
    "Asked",
    "Combines",
    "ContentKind",
    "Detected",
    "Evidence",
    "Explains",
    "Explanation",
    "Extraction",
    "Facts",
    "Failure",
    "FailureKind",
    "Feedback",
    "Fetched",
    "Fetcher",
    "Lesson",
    "Link",
    "LinkSource",
    "Mergeable",
    "Page",
    "Parent",
    "Policy",
    "Posting",
    "Problem",
    "Rating",
    "Reason",
    "Request",
    "RequestKind",
    "Statement",
    "Syntax",
    "Tells",
    "Term",
    "Values",
    "Visit",
    "Waits",
]
