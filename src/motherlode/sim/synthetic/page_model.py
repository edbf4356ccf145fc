"""The model of a page of the synthetic web, and the HTTP response that a server sends for it."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

import msgspec

from motherlode.model import ContentKind, Link, Syntax
from motherlode.sim.synthetic.entities import Block
from motherlode.sim.synthetic.page_layout import LinkPosition
from motherlode.sim.synthetic.rdf_writer import RdfDocument

Groups = tuple[tuple[LinkPosition, tuple[Link, ...]], ...]


class Role(Enum):
    """The role of a page on its host."""

    HOME = "home"
    FIXED = "fixed"
    """About, contact and the like."""
    INTRODUCTIONS = "introductions"
    """Links to other hosts."""
    LIST = "list"
    ITEM = "item"
    DATA = "data"
    """An RDF document."""
    REDIRECT = "redirect"
    TRAP = "trap"
    """A page of an infinite set."""
    PRIVATE = "private"
    """Linked, but disallowed by robots.txt."""
    ROBOTS = "robots"
    SITEMAP = "sitemap"
    FEED = "feed"
    ASSET = "asset"
    MISSING = "missing"
    NOWHERE = "nowhere"
    """On a host that does not exist."""


class PageModel(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a simulation needs to know about one URL, without rendering the page.

    It is a msgspec struct, because a simulation makes a million of them and a dataclass takes eight times as long.
    """

    url: str
    role: Role
    status: int = 200
    """HTTP status. 0 on a host that does not exist."""
    kind: ContentKind = ContentKind.HTML
    """The actual kind of the body."""
    media_type: str = "text/html; charset=utf-8"
    """The media type in the Content-Type header."""
    counts: Mapping[Syntax, int] = msgspec.field(default_factory=dict)
    """Number of statements by syntax, without page metadata (title, meta elements) and without feeds."""
    types: tuple[str, ...] = ()
    """IRIs of the classes that the statements name."""
    location: str = ""
    """The target of a redirect."""
    size: int = 0
    """Approximate size of the body in bytes."""
    latency: float = 0.05
    """Response time in seconds, in virtual time."""
    stall: float = 0.0
    """Seconds that a server on loopback actually waits."""
    retry_after: float | None = None
    trap: bool = False
    disallowed: bool = False
    """Whether the host's robots.txt disallows it."""
    groups: Groups = ()
    """The links by position on the page, including repeated ones."""
    heading: str = ""
    blocks: tuple[Block, ...] = ()
    document: RdfDocument | None = None
    bits: int = 0
    """Random bits from which the text of the page is drawn."""

    @property
    def relevant(self) -> bool:
        return bool(self.counts)

    @property
    def links(self) -> tuple[Link, ...]:
        """Return each URL once, in order of first mention. An anchor takes precedence over a link element."""
        found: dict[str, Link] = {}
        silent: tuple[Link, ...] = ()
        for place, group in self.groups:
            if place is LinkPosition.HEAD:
                silent = group
            for link in group:
                url = link.url
                if url not in found:
                    found[url] = link
        if silent:
            self._let_anchors_speak(found, silent)
        found.pop(self.url, None)
        return tuple(found.values())

    def _let_anchors_speak(self, found: dict[str, Link], silent: tuple[Link, ...]) -> None:
        announced = {link.url for link in silent}
        for place, group in self.groups:
            if place is not LinkPosition.HEAD:
                for link in group:
                    if link.url in announced:
                        found[link.url] = link
                        announced.discard(link.url)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedResponse:
    """A complete HTTP response."""

    status: int
    headers: Mapping[str, str]
    """Headers without Content-Encoding and Content-Length, which `encoded` adds."""
    body: bytes = b""
    encoding: str = ""
    """The preferred content encoding of the host: gzip, deflate, or none."""
    stall: float = 0.0
    """Seconds to wait before the response is sent."""

    def encoded(self, accept_encoding: str) -> tuple[dict[str, str], bytes]:
        """Return headers and body as sent to a client that accepts these encodings."""
        headers = dict(self.headers)
        body = self.body
        if self.encoding and self.encoding in accept_encoding and body:
            headers["Content-Encoding"] = self.encoding
            body = gzip.compress(body, 1, mtime=0) if self.encoding == "gzip" else zlib.compress(body, 1)
        headers["Content-Length"] = str(len(body))
        return headers, body
