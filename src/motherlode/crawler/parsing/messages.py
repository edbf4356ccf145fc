"""What goes to the readers and what comes back: the orders, a page, what it was found to be and to say.

Plain records, which the crawl needs as well as its readers; what reads a page is in `reading`, and only they load it.
"""

from __future__ import annotations

import msgspec

from motherlode.links.from_quads import LinkRules
from motherlode.model import Link, Problem, Syntax
from motherlode.transform.options import Service, Stylesheet
from motherlode.www.urls import ScopeRule

MOST_CONTEXTS = 8
"""JSON-LD contexts that are fetched for one page."""


class ServiceAnswer(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """What a transformation service gave for a page."""

    content_type: str = ""
    body: bytes = b""
    failure: str = ""
    """Why there is no answer."""


class SubrequestResults(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """What a page needs from elsewhere, fetched for it by the crawl before it is read a second time."""

    contexts: dict[str, bytes] = {}
    """JSON-LD contexts by URL."""
    service: ServiceAnswer | None = None


NO_SUBREQUEST_RESULTS = SubrequestResults()


class ParseOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What every reading of a crawl has in common; sent to each worker once."""

    target: str
    seconds: float = 5.0
    """Time limit of one syntax on one page."""
    stylesheets: tuple[Stylesheet, ...] = ()
    transformations: dict[str, bytes] = {}
    services: tuple[Service, ...] = ()
    transformers: frozenset[str] | None = None
    strict_jsonld: bool = False
    following: LinkRules = LinkRules()
    """Which links the user wants followed."""
    keep_ntriples: bool = False
    """Give the statements as N-Triples, too: for recordings."""
    keep_hashes: bool = False
    """Give the hashes of the statements: for a reward that counts new ones."""
    is_brief: bool = False
    """Say nothing of a link that was given before but its address: the frontier knows it, whatever else is said."""
    scope: ScopeRule = ScopeRule()
    """Links that lead out of it are counted, and not given."""


class PageBody(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """A page on its way to a reader."""

    url: str
    content_type: str
    body: bytes
    headers: dict[str, str] = {}
    """Those of `READ_HEADERS` that the answer had."""
    at: float = 0.0
    """When it was fetched, in seconds since the epoch; 0 in a recorded web, where no date has passed."""
    supplies: SubrequestResults = NO_SUBREQUEST_RESULTS


READ_HEADERS = ("link", "content-location", "refresh", "x-robots-tag")
"""Headers that a reading takes into account, beside the content type."""


class ParsedPage(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """All that a page was found to be and to say."""

    kind: str
    relevant: bool
    counts: dict[str, int]
    """Distinct statements by syntax."""
    quads: int
    graph_quads: bytes
    """N-Quads of the page's statements, each line with its graph."""
    union_quads: bytes
    """The same statements without graphs, for the default graph of the store."""
    graphs: tuple[str, ...]
    links: list[Link]
    problems: tuple[Problem, ...]
    content_hash: str
    not_followed: int = 0
    """Links that the page asks not to follow."""
    out_of_scope: int = 0
    """Links that were not given because they lead out of scope."""
    wanted: tuple[str, ...] = ()
    """JSON-LD contexts that were not there."""
    says: tuple[str, ...] = ()
    """Which syntax says what, where several speak."""
    ntriples: bytes = b""
    """The statements without the page's plain facts, where they were asked for."""
    hashes: bytes = b""
    """Of the same statements, where they were asked for."""
    ends_at: float | None = None
    """When the page, in its head, asks not to be kept any longer."""
    gist: int = 0
    """What it says, to tell whether other pages say the same."""


def syntaxes(reading: ParsedPage) -> tuple[str, ...]:
    """The syntaxes that gave statements, page facts aside."""
    return tuple(sorted(name for name in reading.counts if name != Syntax.PAGE.value))
