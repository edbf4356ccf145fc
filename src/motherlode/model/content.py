"""What a body really is: the closed set of content kinds. The facts about each kind stand in `www.media`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

import msgspec


class ContentKind(Enum):
    """Every kind of content that the detect phase tells apart."""

    HTML = "html"
    XHTML = "xhtml"
    SVG = "svg"
    XML = "xml"
    """XML of no kind that we know better."""
    RSS = "rss"
    """RSS 0.9x and 2.0. RSS 1.0 is RDF/XML."""
    ATOM = "atom"
    SITEMAP = "sitemap"
    RDF_XML = "rdfxml"
    TURTLE = "turtle"
    N_TRIPLES = "ntriples"
    N_QUADS = "nquads"
    TRIG = "trig"
    N3 = "n3"
    JSON_LD = "jsonld"
    JSON = "json"
    ROBOTS = "robots"
    GZIP = "gzip"
    BZIP2 = "bzip2"
    ZIP = "zip"
    TAR = "tar"
    TEXT = "text"
    """Plain text in which no RDF was recognised."""
    BINARY = "binary"
    """Images, fonts, programs: nothing for us."""
    EMPTY = "empty"


class DetectionEvidence(Enum):
    """What the detect phase went by, cheapest first. Content wins where they disagree."""

    EXTENSION = "extension"
    HEADER = "header"
    CONTENT = "content"


class Detected(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict of the detect phase on one body."""

    kind: ContentKind
    evidence: DetectionEvidence
    charset: str = "utf-8"
    """A codec name that Python knows; for kinds that are text."""


# ── Statements, problems, and what one syntax gave on one page.

Term = str
Statement = tuple[Term, Term, Term, Term]
"""Subject, predicate, object, graph. The graph is "" but for graphs that a document names itself (TriG, JSON-LD …)."""


class Syntax(Enum):
    """The syntaxes that statements come from."""

    TURTLE = "turtle"
    TRIG = "trig"
    N_TRIPLES = "ntriples"
    N_QUADS = "nquads"
    RDF_XML = "rdfxml"
    N3 = "n3"
    JSON_LD = "jsonld"
    """JSON-LD, as a document of its own or embedded in HTML."""
    MICRODATA = "microdata"
    RDFA = "rdfa"
    MICROFORMATS = "microformats"
    FEED = "feed"
    """RSS 2.0 and Atom, by stylesheet."""
    GRDDL = "grddl"
    """XML and HTML by a stylesheet that the document or the user names."""
    PAGE = "page"
    """Plain title, meta, link and Dublin Core facts of HTML. Never makes a page relevant by itself."""
    OTHER = "other"
    """What a user's own transformer or an external service gave."""


DOCUMENT_SYNTAXES = frozenset({Syntax.TURTLE, Syntax.TRIG, Syntax.N_TRIPLES, Syntax.N_QUADS, Syntax.RDF_XML, Syntax.N3})
"""Syntaxes of whole RDF documents. A JSON-LD document counts too, which only its content kind tells."""


class Problem(msgspec.Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """Something on a page that could not be read, or was mended. It stands beside the facts, it never replaces them."""

    syntax: Syntax | None
    """None where the trouble came before any syntax: detection, decoding, unpacking."""
    message: str
    line: int | None = None
    """One-based, in the body as it was sent; None where no place can be told."""
    column: int | None = None
    repaired: bool = False
    """True where the input was repaired and its statements were kept."""


class Extraction(msgspec.Struct, frozen=True, kw_only=True):
    """All that one syntax gave on one page."""

    syntax: Syntax
    statements: tuple[Statement, ...] = ()
    problems: tuple[Problem, ...] = ()
    wanted: tuple[str, ...] = ()
    """URLs of JSON-LD contexts without which some block could not be read. The crawl may fetch them and ask again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformResult:
    """Everything that the transform phase found on one page, syntax by syntax."""

    extractions: tuple[Extraction, ...] = ()
    problems: tuple[Problem, ...] = ()
    """Problems of the page as a whole; those of a syntax stand in its extraction."""
    counts: Mapping[Syntax, int] = field(init=False)
    """Distinct statements by syntax."""

    def __post_init__(self) -> None:
        counts: dict[Syntax, int] = {}
        for extraction in self.extractions:
            if extraction.statements:
                found = counts.get(extraction.syntax, 0)
                counts[extraction.syntax] = found + len(set(extraction.statements))
        object.__setattr__(self, "counts", counts)

    def all_problems(self) -> tuple[Problem, ...]:
        return self.problems + tuple(p for e in self.extractions for p in e.problems)
