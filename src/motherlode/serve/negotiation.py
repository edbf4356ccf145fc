"""Content negotiation: the formats of responses (RFC 9110, 12.5.1; SPARQL 1.1 Protocol, 2.1.6)."""

from collections.abc import Sequence
from dataclasses import dataclass

from motherlode.www.media_types import parse_accept, rank_media_type


@dataclass(frozen=True, slots=True)
class Format:
    """A format of a response."""

    name: str
    """The value of the URL parameter `format`."""
    media_type: str
    charset: bool = False
    aliases: tuple[str, ...] = ()
    other_names: tuple[str, ...] = ()
    """Other accepted values of the URL parameter `format`."""

    @property
    def header(self) -> str:
        return f"{self.media_type}; charset=utf-8" if self.charset else self.media_type


RESULTS = (
    Format("json", "application/sparql-results+json", aliases=("application/json", "text/json")),
    Format("xml", "application/sparql-results+xml", aliases=("application/xml", "text/xml")),
    Format("csv", "text/csv", charset=True),
    Format("tsv", "text/tab-separated-values", charset=True),
)
"""Formats for SELECT and ASK. The first one is the default."""
GRAPHS = (
    Format(
        "turtle",
        "text/turtle",
        charset=True,
        aliases=("application/turtle", "application/x-turtle"),
        other_names=("ttl", "n3"),
    ),
    Format("ntriples", "application/n-triples", aliases=("text/plain",), other_names=("nt", "n-triples")),
    Format(
        "rdfxml", "application/rdf+xml", aliases=("application/xml", "text/xml"), other_names=("xml", "rdf", "rdf+xml")
    ),
    Format("jsonld", "application/ld+json", aliases=("application/json",), other_names=("json", "json-ld")),
)
"""Formats for CONSTRUCT, DESCRIBE and the service description."""
HTML = Format("html", "text/html", charset=True)
JSON = Format("json", "application/json")


def find_format(wanted: str, offered: Sequence[Format]) -> Format | None:
    """Return the format with a name or media type; None if it is not offered.

    The URL parameter `format` overrides the Accept header, because links cannot set headers.
    """
    name = wanted.strip().lower()
    return next(
        (form for form in offered if name in (form.name, form.media_type, *form.other_names, *form.aliases)), None
    )


def choose_format(header: str, offered: Sequence[Format]) -> Format | None:
    """Return the offered format that the client prefers; None if it accepts none of them."""
    ranges = parse_accept(header)
    if not ranges:
        return offered[0]
    best, best_rank = None, (0.0, 0)
    for form in offered:
        others = (rank_media_type([asked for asked in ranges if asked[2] == 2], name) for name in form.aliases)
        rank = max(
            rank_media_type(ranges, form.media_type), *others, (0.0, 0)
        )  # wildcards match only the main media type
        if rank > best_rank:
            best, best_rank = form, rank
    return best
