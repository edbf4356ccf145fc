"""Messages between the crawl and its parser processes: the options, a page to parse, and the parsed page.

The crawl process imports this module, so it must not import any parser. The parsers are in `page_parser`, which only
the parser processes import.
"""

from __future__ import annotations

import msgspec

from motherlode.links.from_quads import LinkRules
from motherlode.model import Link, Problem
from motherlode.model.usage import NO_PREFERENCES, UsagePreferences
from motherlode.transform.options import TransformOptions
from motherlode.www.urls import ScopeRule
from motherlode.www.usage_values import USAGE_HEADERS

MAX_CONTEXTS = 8
"""Maximum number of JSON-LD contexts that are fetched for one page."""


class ServiceResponse(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """Response of a transformation service for one page."""

    content_type: str = ""
    body: bytes = b""
    failure: str = ""
    """Reason why there is no response, or an empty string."""


class SubrequestResults(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """Responses to the subrequests of a page, which the crawl fetches before the page is parsed a second time."""

    contexts: dict[str, bytes] = {}
    """JSON-LD contexts by URL."""
    service: ServiceResponse | None = None


NO_SUBREQUEST_RESULTS = SubrequestResults()


class ParseOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Options for parsing all pages of a crawl. They are sent to each parser process once."""

    target: str
    transform: TransformOptions = TransformOptions()
    following: LinkRules = LinkRules()
    """Rules that select the links to follow."""
    keep_ntriples: bool = False
    """Whether to return the statements also as N-Triples. Traces need them."""
    hashed: str = ""
    """Which hashes to return: of the "statements", "subjects" or "types" of a page. Rewards of novelty need them."""
    max_text: int = 0
    """Maximum number of characters of the page's text to return. Scorers of the user need it."""
    is_brief: bool = False
    """Whether to return only the URL of a link that was returned before: the frontier needs no more of a known link."""
    element_ids: bool = False
    """Whether to return the ids of the elements around each link. Some policies and traces need them."""
    context_graph: bool = False
    """Whether to return the properties and sibling groups of each link. LDCOC and traces need them."""
    obeyed_uses: tuple[str, ...] = ()
    """Uses for which the preferences of pages are obeyed: statements of pages that reserve one are left out."""
    scope: ScopeRule = ScopeRule()
    """Links out of this scope are counted and not returned."""


class PageBody(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """A page to parse."""

    url: str
    content_type: str
    body: bytes
    headers: dict[str, str] = {}
    """The headers of the response that are in `READ_HEADERS`."""
    at: float = 0.0
    """Time of the fetch in seconds since the epoch. It is 0 in a recorded web, so that no `unavailable_after` date has
    passed."""
    supplies: SubrequestResults = NO_SUBREQUEST_RESULTS
    site_preferences: UsagePreferences = NO_PREFERENCES
    """What robots.txt and tdmrep.json say about the use of the page."""


READ_HEADERS = ("link", "content-location", "refresh", "x-robots-tag", *USAGE_HEADERS)
"""Names of the headers that the parser uses, in addition to the content type."""


class ParsedPage(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """Result of parsing one page."""

    kind: str
    relevant: bool
    counts: dict[str, int]
    """Number of distinct statements by syntax."""
    quads: int
    graph_quads: bytes
    """The statements of the page as N-Quads, each line with its graph."""
    graphs: tuple[str, ...]
    links: list[Link]
    problems: tuple[Problem, ...]
    content_hash: str
    not_followed: int = 0
    """Number of links that the page asks not to follow."""
    out_of_scope: int = 0
    """Number of links that were not returned because they are out of scope."""
    wanted: tuple[str, ...] = ()
    """URLs of missing JSON-LD contexts."""
    says: tuple[str, ...] = ()
    """For pages with several syntaxes: which syntax has which statements."""
    ntriples: bytes = b""
    """The statements without the page metadata. Empty unless `keep_ntriples` is set."""
    hashes: bytes = b""
    """Hashes of statements, subjects or types. Empty unless `hashed` is set."""
    directives: str = ""
    """Directives of the X-Robots-Tag header, in the text form of `CrawlerDirectives`."""
    ends_at: float | None = None
    """Time (seconds since the epoch) after which the page must not be kept (`unavailable_after` in its HTML head)."""
    preferences: UsagePreferences = NO_PREFERENCES
    """Preferences about the use of the page, from its site, its headers and its HTML head."""
    content_fingerprint: int = 0
    """Content fingerprint: equal for pages with the same statements."""
    is_script_application: bool = False
    """Whether the page has no structured data, and is empty until a script fills it."""
    text: str = ""
    """The text that a reader sees. Empty unless `max_text` is set, and if the page must not be kept."""
    score: float | None = None
    """The score of the user's scorer that is the reward; None if there is none. The crawl process sets it."""
    is_unscored: bool = False
    """Whether a scorer of the user has failed for this page."""
