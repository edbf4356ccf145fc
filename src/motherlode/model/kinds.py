"""What a body really is: the closed set of content kinds. The facts about each kind stand in `www.media`."""

from __future__ import annotations

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


class Evidence(Enum):
    """What the detect phase went by, cheapest first. Content wins where they disagree."""

    EXTENSION = "extension"
    HEADER = "header"
    CONTENT = "content"


class Detected(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict of the detect phase on one body."""

    kind: ContentKind
    evidence: Evidence
    charset: str = "utf-8"
    """A codec name that Python knows; for kinds that are text."""
