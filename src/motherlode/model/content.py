"""Content kinds, syntaxes, statements, problems, and the result of transforming one page.

The properties of each content kind (media types, file extensions) are in `www.media_types`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

import msgspec


class ContentKind(Enum):
    """The kinds of content that the detect phase distinguishes."""

    HTML = "html"
    XHTML = "xhtml"
    SVG = "svg"
    XML = "xml"
    """XML that is none of the more specific kinds."""
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
    """Plain text without RDF."""
    BINARY = "binary"
    """Images, fonts, programs and other content that is not parsed."""
    EMPTY = "empty"


class DetectionEvidence(Enum):
    """The evidence for a content kind, cheapest first. If two kinds of evidence disagree, the content decides."""

    EXTENSION = "extension"
    HEADER = "header"
    CONTENT = "content"


class Detected(msgspec.Struct, frozen=True, kw_only=True):
    """The result of the detect phase for one body."""

    kind: ContentKind
    evidence: DetectionEvidence
    charset: str = "utf-8"
    """Name of a Python codec. Only meaningful for text."""


# ── Statements and problems ──────────────────────────────────────────────────────────────────────────

Term = str
Statement = tuple[Term, Term, Term, Term]
"""Subject, predicate, object, graph. The graph is "" unless the document names it (TriG, N-Quads, JSON-LD)."""


class Syntax(Enum):
    """The syntaxes from which statements are extracted."""

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
    """RSS 2.0 and Atom, transformed by a stylesheet."""
    GRDDL = "grddl"
    """XML and HTML, transformed by a stylesheet that the document or the user names."""
    PAGE = "page"
    """Title, meta, link and Dublin Core statements of HTML. They alone never make a page relevant."""
    OTHER = "other"
    """Statements of a plug-in transformer or an external service."""


DOCUMENT_SYNTAXES = frozenset({Syntax.TURTLE, Syntax.TRIG, Syntax.N_TRIPLES, Syntax.N_QUADS, Syntax.RDF_XML, Syntax.N3})
"""Syntaxes of whole RDF documents. JSON-LD is missing because it may also be embedded: see the content kind."""


class Problem(msgspec.Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """An error on a page, or a repair of broken input. Statements that could be read are kept beside it."""

    syntax: Syntax | None
    """None if the error occurred before a syntax was known: in detection, decoding or decompression."""
    message: str
    line: int | None = None
    """One-based line in the body as sent; None if unknown."""
    column: int | None = None
    repaired: bool = False
    """True if the input was repaired and its statements were kept."""


class Extraction(msgspec.Struct, frozen=True, kw_only=True):
    """The statements and problems of one syntax on one page."""

    syntax: Syntax
    statements: tuple[Statement, ...] = ()
    problems: tuple[Problem, ...] = ()
    wanted: tuple[str, ...] = ()
    """URLs of missing JSON-LD contexts. The crawler may fetch them and parse the page again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformResult:
    """The result of the transform phase for one page, one extraction per syntax."""

    extractions: tuple[Extraction, ...] = ()
    problems: tuple[Problem, ...] = ()
    """Problems of the whole page. Problems of one syntax are in its extraction."""
    counts: Mapping[Syntax, int] = field(init=False)
    """Number of distinct statements per syntax."""

    def __post_init__(self) -> None:
        counts: dict[Syntax, int] = {}
        for extraction in self.extractions:
            if extraction.statements:
                found = counts.get(extraction.syntax, 0)
                counts[extraction.syntax] = found + len(set(extraction.statements))
        object.__setattr__(self, "counts", counts)

    def all_problems(self) -> tuple[Problem, ...]:
        """Return the problems of the page, then those of each extraction."""
        return self.problems + tuple(p for e in self.extractions for p in e.problems)
