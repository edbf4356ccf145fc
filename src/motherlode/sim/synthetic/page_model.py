"""What the synthetic web gives: the model of a page, cheap and complete, and the answer that a server sends for it."""

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
    """What a page is to its host."""

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
    """One page of endlessly many."""
    PRIVATE = "private"
    """Linked, but forbidden to robots."""
    ROBOTS = "robots"
    SITEMAP = "sitemap"
    FEED = "feed"
    ASSET = "asset"
    MISSING = "missing"
    NOWHERE = "nowhere"
    """On a host that does not exist."""


class PageModel(msgspec.Struct, frozen=True, kw_only=True):
    """All that a simulation wants to know of one address, without a byte of it having been written.

    A struct and not a dataclass, because a simulation makes a million: it takes an eighth of the time to make.
    """

    url: str
    role: Role
    status: int = 200
    """0 on a host that does not exist."""
    kind: ContentKind = ContentKind.HTML
    """What the body really is."""
    media_type: str = "text/html; charset=utf-8"
    """What the header says it is."""
    counts: Mapping[Syntax, int] = msgspec.field(default_factory=dict)
    """Statements by syntax. Plain page facts (title, meta elements) and what is made of feeds are not counted."""
    types: tuple[str, ...] = ()
    """IRIs of the classes that the statements name."""
    location: str = ""
    """The target of a redirect."""
    size: int = 0
    """Bytes that the body will have, roughly."""
    latency: float = 0.05
    """Seconds that the answer takes, for virtual time."""
    stall: float = 0.0
    """Seconds of it that a server on loopback really waits."""
    retry_after: float | None = None
    trap: bool = False
    disallowed: bool = False
    """The host's robots.txt forbids it."""
    groups: Groups = ()
    """The links by their place on the page, double mentions and all."""
    heading: str = ""
    blocks: tuple[Block, ...] = ()
    document: RdfDocument | None = None
    bits: int = 0
    """What the text of the page is drawn from."""

    @property
    def relevant(self) -> bool:
        return bool(self.counts)

    @property
    def links(self) -> tuple[Link, ...]:
        """Each address once, in order of first mention; an anchor says more than a link element."""
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
    """A real HTTP answer."""

    status: int
    headers: Mapping[str, str]
    """Without Content-Encoding and Content-Length, which `encoded` adds."""
    body: bytes = b""
    encoding: str = ""
    """The content encoding that the host likes to use: gzip, deflate, or none."""
    stall: float = 0.0
    """Seconds to wait before answering."""

    def encoded(self, accept_encoding: str) -> tuple[dict[str, str], bytes]:
        """Headers and body as they go over the wire to a client that accepts these encodings."""
        headers = dict(self.headers)
        body = self.body
        if self.encoding and self.encoding in accept_encoding and body:
            headers["Content-Encoding"] = self.encoding
            body = gzip.compress(body, 1, mtime=0) if self.encoding == "gzip" else zlib.compress(body, 1)
        headers["Content-Length"] = str(len(body))
        return headers, body
