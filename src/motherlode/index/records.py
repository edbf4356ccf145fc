"""What the index is given for each page, and how it is spelled as quads."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import quote

from motherlode.model import Facts, Statement
from motherlode.model.prefixes import PREFIXES
from motherlode.model.terms import RDF_TYPE, XSD, literal, page_iri

PROVENANCE = "urn:motherlode:provenance"
"""The graph about the crawl itself."""

_ML = PREFIXES["ml"]
_GENERATED = f"<{PREFIXES['prov']}generatedAtTime>"
_FORMAT = f"<{PREFIXES['dcterms']}format>"
_PAGE = f"<{_ML}Page>"
_STATUS, _KIND, _SYNTAX, _HASH = (f"<{_ML}{name}>" for name in ("status", "kind", "syntax", "contentHash"))
_REFERRER, _REDIRECTS, _GRAPH, _SIZE = (f"<{_ML}{name}>" for name in ("referrer", "redirectsTo", "graph", "size"))


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRecord:
    """A page on its way to the store: its statements as lines, and where they come from."""

    url: str
    fetched_at: float
    status: int | None
    lines: bytes = b""
    """N-Quads: each statement once in the page's graph and once in the default graph."""
    quads: int = 0
    graphs: tuple[str, ...] = ()
    """Graphs that the page names itself, as the store calls them."""
    media_type: str = ""
    kind: str = ""
    syntaxes: tuple[str, ...] = ()
    content_hash: str = ""
    size: int = 0
    referrer: str = ""
    redirects_to: str = ""
    """For a redirect, which has no statements of its own."""


def page_lines(url: str, facts: Facts) -> tuple[bytes, int, tuple[str, ...]]:
    """The N-Quads of a page, how many distinct statements they hold, and the graphs that the page names itself.

    Each statement is written to the page's graph and to the default graph, which so is the union of all pages. A graph
    that the document names itself becomes a graph of the page: its URL, and the name given as a fragment.
    """
    page = page_iri(url)
    lines: list[str] = []
    inner: dict[str, str] = {}
    seen: set[Statement] = set()
    for extraction in facts.extractions:
        for statement in extraction.statements:
            if statement in seen:
                continue
            seen.add(statement)
            subject, predicate, object_, graph = statement
            triple = f"{subject} {predicate} {object_}"
            if graph:
                name = inner.setdefault(graph, f"{page[:-1]}#graph={quote(graph.strip('<>'), safe=':/')}>")
                lines.append(f"{triple} {name} .\n{triple} .\n")
            else:
                lines.append(f"{triple} {page} .\n{triple} .\n")
    return "".join(lines).encode("utf-8", "replace"), len(seen), tuple(inner.values())


def provenance_lines(record: PageRecord) -> str:
    """What the provenance graph says of a page, as N-Quads."""
    page = page_iri(record.url)
    when = datetime.fromtimestamp(record.fetched_at, UTC).isoformat(timespec="milliseconds")
    pairs = [
        (RDF_TYPE, _PAGE),
        (_GENERATED, literal(when, datatype=XSD + "dateTime")),
        *_optional(record),
    ]
    return "".join(f"{page} {predicate} {value} <{PROVENANCE}> .\n" for predicate, value in pairs)


def _optional(record: PageRecord) -> Iterable[tuple[str, str]]:
    if record.status is not None:
        yield _STATUS, literal(str(record.status), datatype=XSD + "integer")
    if record.redirects_to:
        yield _REDIRECTS, page_iri(record.redirects_to)
        return
    yield _SIZE, literal(str(record.size), datatype=XSD + "integer")
    for predicate, text in ((_FORMAT, record.media_type), (_KIND, record.kind), (_HASH, record.content_hash)):
        if text:
            yield predicate, literal(text)
    for syntax in record.syntaxes:
        yield _SYNTAX, literal(syntax)
    for graph in record.graphs:
        yield _GRAPH, graph
    if record.referrer:
        yield _REFERRER, page_iri(record.referrer)
