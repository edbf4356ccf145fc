"""Host profiles: sections, data and faults of the hosts of a web. The table is in `host_profiles.json`."""

from enum import Enum
from importlib.resources import files

import msgspec

from motherlode.model import ContentKind, Syntax
from motherlode.sim.synthetic.entity_kinds import EntityKind


class Family(Enum):
    """How much structured data a host has. The share of pages per family is fixed in `population`."""

    BARREN = "barren"
    """No data, except on a stray page."""
    MIXED = "mixed"
    """One of several templates carries data."""
    RICH = "rich"
    """Every item carries data."""


class ItemShape(Enum):
    """How the items of a section are published."""

    PAGES = "pages"
    """One HTML page per item."""
    COMPANION = "companion"
    """An HTML page that links to an RDF document about the same item."""
    ENTITY = "entity"
    """An identifier that redirects by 303 to an HTML page or an RDF document, by content negotiation."""
    NEGOTIATED = "negotiated"
    """One URL that serves HTML or RDF, by content negotiation."""
    FILES = "files"
    """Only RDF documents, linked from the list."""


class Voice(Enum):
    """Which vocabulary an RDF document uses, and what it describes."""

    THING = "thing"
    """A thing in the schema.org vocabulary, related to others."""
    FRIEND = "friend"
    """A person in the FOAF vocabulary who knows others."""


class Trap(Enum):
    """A kind of infinite set of pages on a host (a crawler trap)."""

    CALENDAR = "calendar"
    SESSION = "session"
    FILTERS = "filters"


class Charset(Enum):
    """The charset of a host, and whether it is declared."""

    UTF8 = "utf-8"
    LATIN1 = "latin-1, said so"
    LATIN1_UNSAID = "latin-1, said nowhere but in a meta element"
    LATIN1_AS_UTF8 = "latin-1, said to be utf-8"


class Design(Enum):
    """The HTML style of a host."""

    MODERN = "modern"
    """HTML5 with section elements."""
    BOXES = "boxes"
    """Only div elements."""
    TABLES = "tables"
    """Tables for layout, upper-case tags, most of them never closed."""
    XHTML = "xhtml"
    """XHTML 1.0, served as XML."""


class Section(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A part of a host: lists that lead to items of one kind."""

    kinds: tuple[EntityKind, ...]
    """Kinds of items. The host uses one of them."""
    share: float = 1.0
    """Share of the host's pages, relative to its other sections."""
    syntax: Syntax | None = None
    carries: int = 965
    """Items per thousand that carry the data, because authors omit it on some."""
    shape: ItemShape = ItemShape.PAGES
    formats: tuple[ContentKind, ...] = ()
    """Formats of the RDF documents, used in turn."""
    voice: Voice = Voice.THING


class HostProfile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The behaviour of a class of hosts. Numbers called `…_permille` are per thousand of its pages."""

    name: str
    family: Family
    weight: int
    """Number of hosts with this profile, relative to the other profiles."""
    sections: tuple[Section, ...]
    size: float = 1.0
    """Number of pages, relative to other hosts of the family."""
    fame: float = 1.0
    """Number of links from other hosts, relative to its size."""
    designs: tuple[Design, ...] = (Design.MODERN, Design.MODERN, Design.BOXES)
    seed: bool = False
    """Whether the demo crawl starts at the first host with this profile."""
    hub: bool = False
    """Whether the host has pages that list other hosts."""
    stems: tuple[str, ...] = ()
    """Words from which the names of its hosts are made. By default, the words of the kind of their items."""
    domain: str = ""
    """Registrable domain that all hosts with this profile share."""
    featured: bool = False
    """Whether the home page carries the data of one item, the item of the day."""
    every_page: bool = False
    """Whether all templates carry data, including lists and the home page."""
    flawed_permille: int = 0
    """JSON-LD blocks that are broken, per thousand."""
    lies: bool = False
    """Whether the Content-Type headers are wrong."""
    charset: Charset = Charset.UTF8
    trap: Trap | None = None
    robots: bool = False
    """Whether robots.txt has rules and a delay, with links to disallowed pages."""
    moved_permille: int = 0
    """Links to items that go through a redirect, per thousand."""
    flaky_permille: int = 0
    """Responses with status 503, per thousand. Most fail once, some always."""
    slow_permille: int = 0
    dead_permille: int = 15
    """Items with a link to a missing page, per thousand."""
    encodings: tuple[str, ...] = ("gzip", "", "gzip")
    """Content encodings. A host uses one of them."""
    feed: bool = False
    sitemap: bool = False


HOST_PROFILES = msgspec.json.decode(
    files(__package__).joinpath("host_profiles.json").read_bytes(), type=tuple[HostProfile, ...]
)
"""The profiles in `host_profiles.json`: first those without data (most pages of the web), then those with data in one
of several templates, then those with data in every item, and last those with RDF documents."""
