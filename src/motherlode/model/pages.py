"""What a fetch gives: a page, or a failure with its kind. Trouble that is expected is a value, never an exception."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

import msgspec

from motherlode.model.content import Problem


class RequestKind(Enum):
    """What a request is for. Every kind passes the same clocks."""

    PAGE = "page"
    ROBOTS = "robots"
    RESOLVE = "resolve"
    """No request yet: the host's address must be known before its clock can be asked."""
    PROBE = "probe"
    """A HEAD before a page is fetched: is it worth a GET?"""
    SUBREQUEST = "errand"
    """A request that a page needs to be parsed: a JSON-LD context, a transformation service. The journal stores the
    value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Posting:
    """Content that is sent to a transformation service, and how long its answer may take."""

    body: bytes
    headers: Mapping[str, str]
    seconds: float


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One request that may be sent now: politeness, robots.txt and scope have been checked."""

    url: str
    kind: RequestKind = RequestKind.PAGE
    accept: str = ""
    """Media types that are wanted; empty for those of a page."""
    posting: Posting | None = None
    """What is sent by POST; None for a GET."""
    etag: str = ""
    last_modified: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """An answer with a body that was read to its end, or to its limit."""

    url: str
    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    """Names in lower case; several values of one name are joined by ", "."""
    body: bytes = b""
    """With the transfer and content encodings undone."""
    truncated: bool = False
    """True where the body was longer than the limit."""
    address: str = ""
    """The IP address that answered; empty for a recorded web."""
    fetched_at: float = 0.0
    """Seconds since the epoch, when the request was sent."""
    elapsed: float = 0.0
    """Seconds from the request to the last byte."""
    wire_bytes: int = 0
    """Bytes that crossed the network for the body, before decompression."""
    recalled: bool = False
    """True where an earlier run got the answer and no request was made for it now."""

    @property
    def content_type(self) -> str:
        return self.headers.get("content-type", "")


class FailureKind(Enum):
    """Why a URL gave no page. What follows from each kind (wait, retry, rest) is one table in `frontier.retry`."""

    REDIRECT = "redirect"
    """A 3xx answer: not a page, but its target is now known. Counted apart from failures proper."""
    REDIRECT_BROKEN = "redirect-broken"
    """A 3xx answer without a usable target, or in a loop, or at the end of too long a chain."""
    NOT_FOUND = "not-found"
    """404 and 410, and what a recorded web does not hold."""
    FORBIDDEN = "forbidden"
    """401, 402, 403, 407, 451."""
    CLIENT_ERROR = "client-error"
    """Any other 4xx, but for those that are tried again."""
    TOO_MANY = "too-many-requests"
    """429."""
    UNAVAILABLE = "unavailable"
    """503, 509 and 529."""
    SERVER_ERROR = "server-error"
    """Any other 5xx, and 408, 421 and 425, which say that another try may do better."""
    DNS = "dns"
    """The host's name has no address."""
    NO_DNS = "dns-unavailable"
    """Nobody could say whether it has one: that is no fault of the host, and may be over in a minute."""
    CONNECT = "connect"
    TLS = "tls"
    """No secure connection: no common protocol, an alert, or no TLS at all."""
    CERTIFICATE = "certificate"
    """The host did not prove who it is: its certificate has expired, is for others, or of an unknown authority."""
    TIMEOUT = "timeout"
    RESET = "reset"
    """The connection ended in the middle of an answer."""
    PROTOCOL = "protocol"
    """The server does not speak HTTP as it should."""
    GUARD = "address-guard"
    """The host's address is private or reserved, and the user did not allow it."""
    ROBOTS = "robots"
    """Disallowed by the host's robots.txt: no request was made."""
    SCHEME = "scheme"
    NOT_MODIFIED = "not-modified"
    USELESS = "useless"
    """The type and the first bytes showed that nothing can come of the body; it was cut off."""
    PROCESSING = "processing"
    """The page arrived, but detect, transform or extract ran past its limits."""
    INTERNAL = "internal"
    """An unexpected exception in Motherlode itself; the log has its traceback."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """No page, and why."""

    url: str
    kind: FailureKind
    detail: str = ""
    """One sentence for a person."""
    status: int | None = None
    location: str = ""
    """For redirects: the absolute target as the server gave it."""
    retry_after: float | None = None
    """Seconds that the server asked us to wait."""
    elsewhere: bool = False
    """Nothing was sent, for nobody was met at the host's address, and it has others that were not tried."""
    silent: bool = False
    """Nothing at all came back over the network, not even a refusal: so it may be our own that is gone."""
    headers: Mapping[str, str] = field(default_factory=dict)
    address: str = ""
    fetched_at: float = 0.0
    elapsed: float = 0.0
    wire_bytes: int = 0
    recalled: bool = False
    """As for a page."""


Fetched = Page | Failure


class Fetcher(Protocol):
    """Anything that turns a request into a page or a failure. Wrappers hold another fetcher."""

    async def fetch(self, request: Request) -> Fetched: ...

    async def close(self) -> None: ...


# ── A visit: one turn of the crawl, as everyone who watches it sees it.


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """What came of one URL. Plain data: command line, report, log and simulator only read it."""

    number: int
    """Requests for pages so far, this one included; failures count too."""
    url: str
    host: str
    arm: str = ""
    depth: int = 0
    """Links between the nearest seed and this page."""
    parent_url: str = ""
    score: float = 0.0
    at: float = 0.0
    """Seconds since the epoch."""
    failure: FailureKind | None = None
    detail: str = ""
    status: int | None = None
    kind: str = ""
    """The value of the page's ContentKind."""
    media_type: str = ""
    size: int = 0
    """Bytes of the body that were read."""
    elapsed: float = 0.0
    relevant: bool = False
    reward: float = 0.0
    counts: Mapping[str, int] = field(default_factory=dict)
    """Distinct statements by the name of their syntax."""
    quads: int = 0
    """Distinct statements that were stored."""
    links: int = 0
    new_links: int = 0
    """Links that the frontier had not known."""
    problems: tuple[Problem, ...] = ()
    content_hash: str = ""
    location: str = ""
    """Where a redirect led."""
    etag: str = ""
    last_modified: str = ""
    """With the etag: what a later request may ask the server to compare."""
    directives: str = ""
    """What its header asked of crawlers, as `Asked` has it in words."""
    ends_at: float | None = None
    """When the page, in its head, asks not to be kept any longer."""
    refresh: str = ""
    """For a page that was known: found unchanged, changed or gone, or that the look failed; empty for a first visit."""
    relevant_before: bool = False
    quads_before: int = 0
    counts_before: Mapping[str, int] = field(default_factory=dict)
    """With the two above: what a page that was known had given, and no longer gives in that way."""
    value: float | None = None
    """What the policy thought that the arm was worth when it was picked; None where it does not say."""
