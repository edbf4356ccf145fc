"""Links, requests, their results (page or failure), the robots directives of a page, and the log record of a visit.

Expected errors are `Failure` values, not exceptions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

import msgspec

from motherlode.model.content import Problem


class LinkSource(Enum):
    """The kind of element, header or document in which a URL was found."""

    SEED = "seed"
    ANCHOR = "anchor"
    """An `a` or `area` element."""
    LINK_ELEMENT = "link"
    """A `link` element in the head (or body) of HTML."""
    FRAME = "frame"
    """A `frame` or `iframe` element."""
    REFRESH = "refresh"
    """A `<meta http-equiv=refresh>` or a Refresh header."""
    TRIPLE = "triple"
    """An IRI in the subject or object of a statement."""
    REDIRECT = "redirect"
    """The target of a 3xx response."""
    HEADER = "header"
    """A Link or Content-Location header."""
    SITEMAP = "sitemap"
    FEED = "feed"
    INDEX_QUERY = "index_query"
    """A solution of the job's query over the whole index. No page is its parent."""


class Link(msgspec.Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """One URL found on a page. The URL is absolute and canonical; the `links` package truncates the texts.

    A msgspec struct, not a dataclass, because a page has hundreds of links and each is sent between processes.
    """

    url: str
    source: LinkSource
    anchor: str = ""
    """The link text."""
    rel: str = ""
    """The rel attribute, lower-case, single spaces."""
    type: str = ""
    """The media type in the link's `type` attribute."""
    title: str = ""
    context: str = ""
    """Text around the anchor."""
    tag_path: str = ""
    """Element names (with classes) from the root down to the link: `html body main.list ul li a`."""
    predicate: str = ""
    """The IRI of the predicate, if the link comes from a statement."""
    properties: tuple[str, ...] = ()
    """The IRIs of all predicates that connect the URL in the page's statements, if the policy needs them."""
    sibling_groups: tuple[int, ...] = ()
    """Hashes of the pairs of subject and predicate, or predicate and object, that the URL shares with other links of
    the page, if the policy needs them. Two links with a common group are siblings."""
    nofollow: bool = False
    """True if the page asks crawlers not to follow this link."""
    element_ids: str = ""
    """The ids of elements in `tag_path`, each behind the number of its step: `2#content 3#results`. Empty unless the
    policy needs them."""
    modified: float | None = None
    """Time of the last change of the URL that a sitemap names, in seconds since the epoch."""


class RequestKind(Enum):
    """The purpose of a request. The delays of hosts and IP addresses apply to every kind."""

    PAGE = "page"
    ROBOTS = "robots"
    RESOLVE = "resolve"
    """A DNS look-up. The IP address must be known before its delay can be checked."""
    PROBE = "probe"
    """A HEAD request that decides whether the page is worth a GET."""
    SUBREQUEST = "errand"
    """A request that a page needs to be parsed: a JSON-LD context, a transformation service. The journal stores the
    value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Posting:
    """A request body for a transformation service, with the timeout in seconds."""

    body: bytes
    headers: Mapping[str, str]
    seconds: float


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One request that may be sent now. Politeness, robots.txt and scope have been checked."""

    url: str
    kind: RequestKind = RequestKind.PAGE
    accept: str = ""
    """The Accept header; empty for the default of pages."""
    posting: Posting | None = None
    """The body of a POST; None for a GET."""
    etag: str = ""
    last_modified: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A response whose body was read to its end or to the size limit."""

    url: str
    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    """Names in lower case; several values of one name are joined by ", "."""
    body: bytes = b""
    """The body after transfer and content decoding."""
    truncated: bool = False
    """True if the body was longer than the limit."""
    address: str = ""
    """The server's IP address; empty in a replay."""
    fetched_at: float = 0.0
    """The time at which the request was sent, in seconds since the epoch."""
    elapsed: float = 0.0
    """Seconds from the request to the last byte."""
    wire_bytes: int = 0
    """Body bytes received over the network, before decompression."""
    recalled: bool = False
    """True if the response is from an earlier run and no request was sent now."""
    wire: bytes = b""
    """The response as it was received, head and body, for the archive; empty if the crawl has none."""

    @property
    def content_type(self) -> str:
        return self.headers.get("content-type", "")


class ChallengeProduct(Enum):
    """A product that answers with a challenge or block page. `www.challenges` has the signatures."""

    CLOUDFLARE = "cloudflare"
    AKAMAI = "akamai"
    DATADOME = "datadome"
    PERIMETERX = "perimeterx"
    """PerimeterX is now named HUMAN."""
    ANUBIS = "anubis"
    AWS_WAF = "aws-waf"
    VERCEL = "vercel"
    GENERIC = "generic"
    """The page has the markup of a challenge, and the signature of no known product."""


class FailureKind(Enum):
    """Why a fetch returned no page. The table `frontier.leases.TREATMENTS` says what follows from each kind."""

    REDIRECT = "redirect"
    """A 3xx response with a target. Counted separately from errors."""
    REDIRECT_BROKEN = "redirect-broken"
    """A 3xx response without a usable target, in a loop, or after too many redirects."""
    NOT_FOUND = "not-found"
    """404 and 410, and URLs that a replay does not contain."""
    FORBIDDEN = "forbidden"
    """401, 402, 403, 407, 451."""
    CHALLENGED = "challenged"
    """A challenge or block page instead of the requested page, with any status."""
    CLIENT_ERROR = "client-error"
    """Any other 4xx that is not retried."""
    TOO_MANY = "too-many-requests"
    """429."""
    UNAVAILABLE = "unavailable"
    """503, 509 and 529."""
    SERVER_ERROR = "server-error"
    """Any other 5xx, and 408, 421 and 425, because a retry may succeed."""
    DNS = "dns"
    """The host name has no IP address."""
    NO_DNS = "dns-unavailable"
    """No DNS server gave an answer. The host is not to blame, and a retry may succeed soon."""
    CONNECT = "connect"
    TLS = "tls"
    """The TLS handshake failed: no common protocol version, an alert, or a server without TLS."""
    CERTIFICATE = "certificate"
    """The certificate has expired, is for another host, or is signed by an unknown authority."""
    TIMEOUT = "timeout"
    RESET = "reset"
    """The connection was closed in the middle of a response."""
    PROTOCOL = "protocol"
    """The response violates HTTP."""
    GUARD = "address-guard"
    """The host's IP address is private or reserved, and the user did not allow it."""
    ROBOTS = "robots"
    """Disallowed by the host's robots.txt. No request was sent."""
    SCHEME = "scheme"
    NOT_MODIFIED = "not-modified"
    USELESS = "useless"
    """The media type and the first bytes show content that is not parsed. The rest was not downloaded."""
    TOO_LARGE = "too-large"
    """The Content-Length is above the limit of a body. The body was not downloaded."""
    PROCESSING = "processing"
    """The page arrived, but detection, transformation or link extraction exceeded its limits."""
    INTERNAL = "internal"
    """An unexpected exception in Motherlode. The log has its traceback."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """The result of a fetch that returned no page, with the reason."""

    url: str
    kind: FailureKind
    detail: str = ""
    """The reason in one sentence, for people."""
    status: int | None = None
    location: str = ""
    """The absolute target of a redirect, as the server sent it."""
    retry_after: float | None = None
    """The Retry-After header in seconds."""
    challenged_by: ChallengeProduct | None = None
    """The product that sent a challenge or block page. None for every other failure."""
    has_other_address: bool = False
    """True if connecting to one of several IP addresses failed before anything was sent, and others are untried."""
    silent: bool = False
    """True if no packet came back, not even a refusal, so that our own network may be down."""
    headers: Mapping[str, str] = field(default_factory=dict)
    address: str = ""
    fetched_at: float = 0.0
    elapsed: float = 0.0
    wire_bytes: int = 0
    recalled: bool = False
    wire: bytes = b""
    """The response as it was received, head and body, for the archive. The body is cut at a limit."""


Fetched = Page | Failure


class Fetcher(Protocol):
    """Turns a request into a page or a failure. A wrapper holds another fetcher."""

    async def fetch(self, request: Request) -> Fetched: ...

    async def close(self) -> None: ...


# ── Robots directives ────────────────────────────────────────────────────────────────────────────────

_ENDS = "ends="


class CrawlerDirectives(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The robots directives of a page. `|` combines two sets of directives to the stricter one.

    >>> both = CrawlerDirectives(nofollow=True) | CrawlerDirectives(ends_at=100.0)
    >>> both.may_be_kept(99.0), both.may_be_kept(100.0), both.text
    (True, False, 'nofollow ends=100')
    >>> CrawlerDirectives.read(both.text) == both
    True
    """

    noindex: bool = False
    """True if the page's statements must not be stored."""
    nofollow: bool = False
    """True if the page's links must not be followed."""
    ends_at: float | None = None
    """Time from which the page must not be kept, in seconds since the epoch."""

    def __or__(self, other: CrawlerDirectives) -> CrawlerDirectives:
        ends = [asked.ends_at for asked in (self, other) if asked.ends_at is not None]
        return CrawlerDirectives(
            noindex=self.noindex or other.noindex,
            nofollow=self.nofollow or other.nofollow,
            ends_at=min(ends, default=None),
        )

    def may_be_kept(self, at: float) -> bool:
        """Return whether the page's statements may be stored at a time."""
        return not self.noindex and (self.ends_at is None or at < self.ends_at)

    @property
    def text(self) -> str:
        """The directives as text for the log; "" if there are none."""
        words = ["noindex"] * self.noindex + ["nofollow"] * self.nofollow
        return " ".join(words if self.ends_at is None else [*words, f"{_ENDS}{self.ends_at:.0f}"])

    @classmethod
    def read(cls, text: str) -> CrawlerDirectives:
        """Parse directives that the property `text` has serialized."""
        words = text.split()
        ends = [float(word.removeprefix(_ENDS)) for word in words if word.startswith(_ENDS)]
        return cls(noindex="noindex" in words, nofollow="nofollow" in words, ends_at=ends[0] if ends else None)


NO_DIRECTIVES = CrawlerDirectives()


# ── Visits ───────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """The log record of one page request. The command line, the report and the simulator read it."""

    number: int
    """Number of page requests so far, including this one and failures."""
    url: str
    host: str
    arm: str = ""
    depth: int = 0
    """Number of links between the nearest seed and this page."""
    parent_url: str = ""
    score: float = 0.0
    at: float = 0.0
    """Time of the request in seconds since the epoch."""
    failure: FailureKind | None = None
    detail: str = ""
    status: int | None = None
    kind: str = ""
    """The value of the page's ContentKind."""
    media_type: str = ""
    size: int = 0
    """Bytes of the body, unpacked."""
    received: int = 0
    """Bytes of the body as they crossed the network, packed if the server packs them."""
    elapsed: float = 0.0
    relevant: bool = False
    reward: float = 0.0
    counts: Mapping[str, int] = field(default_factory=dict)
    """Number of distinct statements per syntax name."""
    quads: int = 0
    """Number of distinct statements that were stored."""
    links: int = 0
    new_links: int = 0
    """Number of links that the frontier did not know before."""
    problems: tuple[Problem, ...] = ()
    content_hash: str = ""
    location: str = ""
    """The target of a redirect."""
    etag: str = ""
    last_modified: str = ""
    """The Last-Modified header. It and `etag` are the validators for a later conditional request."""
    directives: str = ""
    """The X-Robots-Tag directives, in the form of `CrawlerDirectives.text`."""
    ends_at: float | None = None
    """Time after which the page must not be kept (`unavailable_after` in its head), in seconds since the epoch."""
    refresh: str = ""
    """The result of a revisit: unchanged, changed, gone or failed. Empty for a first visit."""
    relevant_before: bool = False
    quads_before: int = 0
    counts_before: Mapping[str, int] = field(default_factory=dict)
    """For a revisit, this and the two fields above are the figures of the previous visit."""
    is_script_application: bool = False
    """Whether the page has no structured data, and is empty until a script fills it."""
    value: float | None = None
    """The value of the arm when the policy picked it; None if the policy has no values."""
