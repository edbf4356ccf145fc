"""Host profiles (habits): the table of how the hosts of the synthetic web behave.

A host has one habit. It defines the sections of the host, which of its templates carry data in which syntax, and
which faults the host has. In every web with enough hosts, each habit occurs at least once.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from motherlode.model import ContentKind, Syntax
from motherlode.sim.synthetic.entity_kinds import EntityKind
from motherlode.sim.synthetic.rdf_writer import Voice


class Family(Enum):
    """How much structured data a host has. The share of pages per family is fixed in `population`."""

    BARREN = "barren"
    """No data, except on a stray page."""
    MIXED = "mixed"
    """One of several templates carries data."""
    RICH = "rich"
    """Every item carries data."""


class Shape(Enum):
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


class Trap(Enum):
    """Infinite sets of pages."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A part of a host: lists that lead to items of one kind."""

    kinds: tuple[EntityKind, ...]
    """Kinds of items. The host uses one of them."""
    share: float = 1.0
    """Share of the host's pages, relative to its other sections."""
    syntax: Syntax | None = None
    """Syntax of the data in the HTML of an item."""
    carries: int = 965
    """Items per thousand that carry the data, because authors omit it on some."""
    shape: Shape = Shape.PAGES
    formats: tuple[ContentKind, ...] = ()
    """Formats of the RDF documents, used in turn."""
    voice: Voice = Voice.THING


@dataclass(frozen=True, slots=True, kw_only=True)
class Habit:
    """The behaviour of a class of hosts. Numbers called `…_permille` are per thousand of its pages."""

    name: str
    family: Family
    weight: int
    """Number of hosts with this habit, relative to the other habits."""
    sections: tuple[Section, ...]
    size: float = 1.0
    """Number of pages, relative to other hosts of the family."""
    fame: float = 1.0
    """Number of links from other hosts, relative to its size."""
    designs: tuple[Design, ...] = (Design.MODERN, Design.MODERN, Design.BOXES)
    seed: bool = False
    """Whether the demo crawl starts at the first host with this habit."""
    hub: bool = False
    """Whether it lists other hosts."""
    stems: tuple[str, ...] = ()
    """Name of its hosts. By default, after the kind of their items."""
    domain: str = ""
    """Registrable domain that all hosts with this habit share."""
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


_RDF_FORMATS = (
    ContentKind.TURTLE,
    ContentKind.RDF_XML,
    ContentKind.N_TRIPLES,
    ContentKind.JSON_LD,
    ContentKind.TRIG,
    ContentKind.N_QUADS,
)
_BARREN = Family.BARREN
_MIXED = Family.MIXED
_RICH = Family.RICH
_LATE = (EntityKind.ARTICLE, EntityKind.PHOTO, EntityKind.MANUAL)

HABITS: tuple[Habit, ...] = (
    # -- no data: most pages of the web --
    Habit(
        name="directory", family=_BARREN, weight=2, size=0.8, fame=3.0, hub=True, seed=True,
        stems=("links", "index", "portal"),
        sections=(Section(kinds=(EntityKind.ARTICLE,)),), designs=(Design.BOXES,),
    ),
    Habit(
        name="newspaper", family=_BARREN, weight=8, size=2.4, fame=3.0, seed=True, feed=True,
        sections=(Section(kinds=(EntityKind.ARTICLE,), share=3), Section(kinds=(EntityKind.PHOTO,))),
    ),
    Habit(
        name="forum", family=_BARREN, weight=8, size=2.2, fame=1.5, seed=True,
        sections=(Section(kinds=(EntityKind.THREAD,), share=5), Section(kinds=(EntityKind.PERSON,))),
        designs=(Design.BOXES,),
    ),
    Habit(
        name="plain blog", family=_BARREN, weight=14, seed=True, domain="pages",
        sections=(Section(kinds=(EntityKind.ARTICLE,)),), feed=True,
    ),
    Habit(
        name="plain documentation", family=_BARREN, weight=10, fame=1.5,
        sections=(Section(kinds=(EntityKind.MANUAL,), share=4), Section(kinds=(EntityKind.ARTICLE,))),
    ),
    Habit(
        name="plain shop", family=_BARREN, weight=10, size=1.6,
        sections=(Section(kinds=(EntityKind.PRODUCT,), share=4), Section(kinds=(EntityKind.ARTICLE,))),
    ),
    Habit(
        name="plain kitchen", family=_BARREN, weight=6,
        sections=(Section(kinds=(EntityKind.RECIPE,), share=3), Section(kinds=(EntityKind.PHOTO,))),
    ),
    Habit(
        name="plain agenda", family=_BARREN, weight=6,
        sections=(Section(kinds=(EntityKind.EVENT, EntityKind.COURSE)), Section(kinds=(EntityKind.PERSON,))),
    ),
    Habit(
        name="plain cinema", family=_BARREN, weight=5,
        sections=(Section(kinds=(EntityKind.MOVIE,), share=3), Section(kinds=(EntityKind.REVIEW,))),
    ),
    Habit(
        name="plain catalogue", family=_BARREN, weight=5, size=1.3,
        sections=(Section(kinds=(EntityKind.BOOK, EntityKind.DATASET), share=3), Section(kinds=(EntityKind.ARTICLE,))),
    ),
    Habit(
        name="gallery", family=_BARREN, weight=6, sections=(Section(kinds=(EntityKind.PHOTO,)),),
        designs=(Design.XHTML,),
    ),
    Habit(
        name="calendar", family=_BARREN, weight=2, size=0.5, trap=Trap.CALENDAR,
        sections=(Section(kinds=(EntityKind.EVENT,)),),
    ),
    Habit(
        name="sessions", family=_BARREN, weight=2, size=0.5, trap=Trap.SESSION,
        sections=(Section(kinds=(EntityKind.PRODUCT,)),),
    ),
    Habit(
        name="endless filters", family=_BARREN, weight=2, size=0.5, trap=Trap.FILTERS,
        sections=(Section(kinds=(EntityKind.JOB,)),),
    ),
    Habit(
        name="relic", family=_BARREN, weight=4, charset=Charset.LATIN1_AS_UTF8, dead_permille=120, encodings=("",),
        sections=(Section(kinds=_LATE),), designs=(Design.TABLES,),
    ),
    Habit(
        name="mislabelled pages", family=_BARREN, weight=2, size=0.5, lies=True,
        sections=(Section(kinds=_LATE),),
    ),
    # -- one of several templates carries data --
    Habit(
        name="magazine", family=_MIXED, weight=8, size=1.6, fame=1.5, seed=True, feed=True,
        sections=(
            Section(kinds=(EntityKind.ARTICLE,), share=3),
            Section(kinds=(EntityKind.REVIEW,), syntax=Syntax.JSON_LD, share=2),
        ),
    ),
    Habit(
        name="city", family=_MIXED, weight=6, seed=True,
        sections=(
            Section(kinds=(EntityKind.EVENT,), syntax=Syntax.MICRODATA),
            Section(kinds=(EntityKind.PLACE,)),
            Section(kinds=(EntityKind.PERSON,)),
        ),
    ),
    Habit(
        name="college", family=_MIXED, weight=5,
        sections=(
            Section(kinds=(EntityKind.COURSE,), syntax=Syntax.RDFA, share=2),
            Section(kinds=(EntityKind.PERSON,)),
            Section(kinds=(EntityKind.ARTICLE,), share=2),
        ),
    ),
    Habit(
        name="shop with guides", family=_MIXED, weight=6, size=1.4, sitemap=True,
        sections=(
            Section(kinds=(EntityKind.PRODUCT,), syntax=Syntax.MICRODATA, share=2),
            Section(kinds=(EntityKind.MANUAL,), share=2),
        ),
    ),
    Habit(
        name="moved", family=_MIXED, weight=3, moved_permille=350,
        sections=(
            Section(kinds=(EntityKind.MOVIE,), syntax=Syntax.MICRODATA),
            Section(kinds=(EntityKind.ARTICLE,)),
        ),
    ),
    Habit(
        name="careless", family=_MIXED, weight=4, flawed_permille=600, dead_permille=90,
        sections=(Section(kinds=(EntityKind.JOB,), syntax=Syntax.JSON_LD, carries=850),
                  Section(kinds=(EntityKind.ARTICLE,))),
        designs=(Design.TABLES,), charset=Charset.LATIN1_UNSAID, encodings=("deflate",),
    ),
    # -- every item carries data --
    Habit(
        name="recipes", family=_RICH, weight=7, size=1.4, sitemap=True, featured=True,
        sections=(Section(kinds=(EntityKind.RECIPE,), syntax=Syntax.JSON_LD),),
    ),
    Habit(
        name="shop", family=_RICH, weight=5, size=1.5,
        sections=(Section(kinds=(EntityKind.PRODUCT,), syntax=Syntax.MICRODATA),),
    ),
    Habit(
        name="library", family=_RICH, weight=4, robots=True,
        sections=(Section(kinds=(EntityKind.BOOK,), syntax=Syntax.RDFA),), encodings=("deflate", "gzip"),
    ),
    Habit(
        name="indie blog", family=_RICH, weight=5, domain="indie", feed=True,
        sections=(Section(kinds=(EntityKind.ARTICLE,), syntax=Syntax.MICROFORMATS),),
    ),
    Habit(
        name="festival", family=_RICH, weight=4, featured=True,
        sections=(Section(kinds=(EntityKind.EVENT,), syntax=Syntax.JSON_LD),),
    ),
    Habit(
        name="address book", family=_RICH, weight=3,
        sections=(Section(kinds=(EntityKind.PERSON,), syntax=Syntax.MICROFORMATS),),
    ),
    Habit(
        name="guide", family=_RICH, weight=3, flaky_permille=120, slow_permille=60,
        sections=(Section(kinds=(EntityKind.PLACE,), syntax=Syntax.RDFA),),
    ),
    Habit(
        name="marked up throughout", family=_RICH, weight=9, every_page=True, feed=True,
        sections=(Section(kinds=(EntityKind.ARTICLE, EntityKind.MOVIE), syntax=Syntax.JSON_LD),),
    ),
    Habit(
        name="marked up by its theme", family=_RICH, weight=14, every_page=True, domain="pages",
        sections=(Section(kinds=(EntityKind.ARTICLE,), syntax=Syntax.MICRODATA, carries=995),),
    ),
    Habit(
        name="xhtml journal", family=_RICH, weight=2, size=0.7, designs=(Design.XHTML,),
        sections=(Section(kinds=(EntityKind.REVIEW, EntityKind.COURSE), syntax=Syntax.RDFA),), charset=Charset.LATIN1,
    ),
    # -- RDF documents --
    Habit(
        name="friends", family=_RICH, weight=4, domain="friends",
        sections=(
            Section(kinds=(EntityKind.PERSON,), shape=Shape.COMPANION, formats=(ContentKind.RDF_XML,),
                    voice=Voice.FRIEND),
        ),
    ),
    Habit(
        name="linked data", family=_RICH, weight=3, size=1.4,
        sections=(
            Section(kinds=(EntityKind.PLACE, EntityKind.PERSON, EntityKind.BOOK), shape=Shape.ENTITY,
                    formats=_RDF_FORMATS),
        ),
    ),
    Habit(
        name="negotiator", family=_RICH, weight=2, size=0.7,
        sections=(
            Section(
                kinds=(EntityKind.DATASET, EntityKind.PLACE), shape=Shape.NEGOTIATED,
                formats=(ContentKind.TURTLE, ContentKind.RDF_XML, ContentKind.JSON_LD),
            ),
        ),
    ),
    Habit(
        name="data portal", family=_RICH, weight=3, sitemap=True,
        sections=(
            Section(kinds=(EntityKind.DATASET,), syntax=Syntax.RDFA, shape=Shape.COMPANION, formats=_RDF_FORMATS),
        ),
    ),
    Habit(
        name="mislabelled data", family=_RICH, weight=2, size=0.6, lies=True,
        sections=(
            Section(
                kinds=(EntityKind.DATASET, EntityKind.BOOK), shape=Shape.FILES,
                formats=(ContentKind.TURTLE, ContentKind.RDF_XML, ContentKind.N_TRIPLES),
            ),
        ),
    ),
)  # fmt: skip
