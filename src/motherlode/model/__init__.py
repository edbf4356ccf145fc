"""The nouns that flow through the crawl, the closed sets they use, and the protocols between rooms.

A URL becomes a `Link` when a page mentions it, a `Request` when the frontier clears it, a `Page` or a `Failure` when
the web has answered, `Detected` and `TransformResult` when it has been read, and a `Visit` when all is done.
Everything here is
frozen data; nothing here opens a socket, reads a clock or imports another room. `sparql` and `ordering` read the text
of queries, which targets, links and the store are asked.
"""

from motherlode.model.content import (
    DOCUMENT_SYNTAXES,
    ContentKind,
    Detected,
    DetectionEvidence,
    Extraction,
    Problem,
    Statement,
    Syntax,
    Term,
    TransformResult,
)
from motherlode.model.links import Link, LinkSource
from motherlode.model.pages import Failure, FailureKind, Fetched, Fetcher, Page, Posting, Request, RequestKind, Visit
from motherlode.model.policy import (
    Combines,
    Explains,
    Explanation,
    Mergeable,
    Outcome,
    Policy,
    Rating,
    Reason,
    Summarizes,
    SummaryLine,
    ValuesArms,
    Waits,
)
from motherlode.model.robots import NO_DIRECTIVES, CrawlerDirectives

__all__ = [
    "DOCUMENT_SYNTAXES",
    "NO_DIRECTIVES",
    "Combines",
    "ContentKind",
    "CrawlerDirectives",
    "Detected",
    "DetectionEvidence",
    "Explains",
    "Explanation",
    "Extraction",
    "Failure",
    "FailureKind",
    "Fetched",
    "Fetcher",
    "Link",
    "LinkSource",
    "Mergeable",
    "Outcome",
    "Page",
    "Policy",
    "Posting",
    "Problem",
    "Rating",
    "Reason",
    "Request",
    "RequestKind",
    "Statement",
    "Summarizes",
    "SummaryLine",
    "Syntax",
    "Term",
    "TransformResult",
    "ValuesArms",
    "Visit",
    "Waits",
]
