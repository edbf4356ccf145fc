"""Hard URIs: those whose RDF-relevance neither a file extension nor a content type tells (definition 2)."""

from __future__ import annotations

from enum import Enum

from motherlode.model import ContentKind, Link
from motherlode.www.media import by_extension, by_media_type

_RDF = frozenset(
    {
        *(ContentKind.RDF_XML, ContentKind.TURTLE, ContentKind.N_TRIPLES, ContentKind.N_QUADS),
        *(ContentKind.TRIG, ContentKind.N3, ContentKind.JSON_LD),
    }
)


class Hardness(Enum):
    """What is known of a URI before anything is learned."""

    HARD = "hard"
    """To be predicted: HTML may embed RDF, and plain text may be RDF under a wrong name."""
    RDF = "rdf"
    """RDF by extension or content type."""
    NO_RDF = "no rdf"
    """An image, an archive, a program."""


def hardness(link: Link) -> Hardness:
    """Whether the extension or the (announced or asked for) content type of a link tells what it is.

    >>> from motherlode.model import LinkSource
    >>> def of(url, type=""):
    ...     return hardness(Link(url=url, source=LinkSource.ANCHOR, type=type)).value
    >>> of("http://a.example/x.owl"), of("http://a.example/x", "text/turtle"), of("http://a.example/x.png")
    ('rdf', 'rdf', 'no rdf')
    >>> of("http://a.example/x"), of("http://a.example/x.html"), of("http://a.example/x", "text/plain")
    ('hard', 'hard', 'hard')
    """
    kinds = {by_extension(link.url), by_media_type(link.type) if link.type else None}
    if kinds & _RDF:
        return Hardness.RDF
    return Hardness.NO_RDF if ContentKind.BINARY in kinds else Hardness.HARD
