"""The model of a page of the synthetic web, the HTML layout of a host, and the HTTP response for a page."""

import gzip
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from importlib.resources import files

import msgspec

from motherlode.model import ContentKind, Link, Syntax
from motherlode.sim.synthetic.entities import Block, RdfDocument
from motherlode.sim.synthetic.entity_kinds import SENTENCES
from motherlode.sim.synthetic.host_profiles import Design


class LinkPosition(Enum):
    """Position of a group of links on a page. The order of members is the order on the page."""

    HEAD = "head"
    """`link` elements in the head of the page."""
    NAVIGATION = "navigation"
    CRUMBS = "crumbs"
    INLINE = "inline"
    ITEMS = "items"
    """The main list of a list page."""
    PAGER = "pager"
    RELATED = "related"
    SIDEBAR = "sidebar"
    OUTSIDE = "outside"
    FOOTER = "footer"


class LinkSlot(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """HTML of a group of links: what stands before, between and after them, and their tag path."""

    before: str
    each: str
    """Format string with a field for the anchor and, if `has_sentence`, one for the sentence after it."""
    after: str
    path: str
    has_sentence: bool = False


class Layout(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The HTML frame of a page, with a slot for each position of links."""

    opening: str
    """HTML up to the content of `head`. If it contains `%s`, the renderer inserts the charset."""
    body: str
    """HTML between the content of `head` and the navigation."""
    main: str
    """HTML between the navigation and the content."""
    main_end: str
    closing: str
    paragraph: str
    heading: str
    void: str
    """Closing characters of an element without content: `>`, or ` />` in XHTML."""
    slots: dict[LinkPosition, LinkSlot]


_MENUS = ("menu", "main-nav", "links", "topbar")
_LISTS = ("list", "cards", "entries", "results", "overview", "grid")
VARIANTS = len(_MENUS) * len(_LISTS)


@cache
def layout(design: Design, variant: int) -> Layout:
    """Return the layout of a design, with one of VARIANTS sets of class names in position of MENU and ITEMS."""
    written = files(__package__).joinpath("page_layouts.json").read_text()
    written = written.replace("MENU", _MENUS[variant % len(_MENUS)])
    written = written.replace("ITEMS", _LISTS[variant // len(_MENUS) % len(_LISTS)])
    return msgspec.json.decode(written, type=dict[Design, Layout])[design]


def context_of(sentence: str) -> str:
    """Return the part of a sentence after a link that counts as its context: sixty characters, including a space."""
    return " ".join(f" {sentence}"[:60].split())


CONTEXTS = tuple(context_of(sentence) for sentence in SENTENCES)
SENTENCE_OF = dict(zip(CONTEXTS, SENTENCES, strict=True))
"""Sentences by the context that they give. If two sentences give the same context, either is used."""


# Pages

Groups = tuple[tuple[LinkPosition, tuple[Link, ...]], ...]


class Role(Enum):
    """The role of a page on its host."""

    HOME = "home"
    FIXED = "fixed"
    """A page outside the sections: about, contact and the like."""
    HOST_LIST = "host list"
    """A page that lists other hosts."""
    LIST = "list"
    ITEM = "item"
    DATA = "data"
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
    """Everything that a simulation needs to know about one URL. A struct, because a dataclass is slower to create."""

    url: str
    role: Role
    status: int = 200
    """HTTP status. 0 on a host that does not exist."""
    kind: ContentKind = ContentKind.HTML
    media_type: str = "text/html; charset=utf-8"
    """The media type in the Content-Type header."""
    counts: Mapping[Syntax, int] = msgspec.field(default_factory=dict)
    """Number of statements by syntax, without page metadata (title, meta elements) and without feeds."""
    types: tuple[str, ...] = ()
    """IRIs of the classes that the statements name."""
    location: str = ""
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
        announced: dict[str, Link] = {}
        found: dict[str, Link] = {}
        for position, group in self.groups:
            kept = announced if position is LinkPosition.HEAD else found
            for link in group:
                url = link.url
                if url not in kept:
                    kept[url] = link
        found = announced | found if announced else found
        found.pop(self.url, None)
        return tuple(found.values())


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
