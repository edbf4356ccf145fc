"""What a sink is told: everything that a page says now, in place of what it said before."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pyoxigraph as ox

from motherlode.index.page_record import PROVENANCE, PageRecord, serialize_provenance
from motherlode.index.segment_files import SegmentWriter
from motherlode.model.terms import page_iri


class PageChange(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """A page as it is now. Lines are N-Triples, each with its newline."""

    page: str
    """The term that names the page, and its graph."""
    graphs: dict[str, str]
    """From the name of each of the page's graphs to its statements; the page's own is always here, if only empty."""
    provenance: str
    """What the provenance graph says of the page."""

    def nquads(self, *, provenance_graph: str) -> str:
        """The page as N-Quads; without the provenance where its graph has no name."""
        parts = [_add_graph(lines, graph) for graph, lines in self.graphs.items()]
        if provenance_graph:
            parts.append(_add_graph(self.provenance, provenance_graph))
        return "".join(parts)


def change_from(record: PageRecord) -> PageChange:
    """A record of the index, without what it says to our own store's default graph."""
    page = page_iri(record.url)
    graphs: dict[str, list[str]] = {page: [], **{graph: [] for graph in record.graphs}}
    for quad in _parse_quads(record.graph_quads):
        graphs.setdefault(str(quad.graph_name), []).append(f"{quad.triple} .\n")
    provenance = [
        f"{quad.triple} .\n" for quad in _parse_quads(serialize_provenance(record).encode("utf-8", "replace"))
    ]
    return PageChange(
        page=page,
        graphs={graph: "".join(lines) for graph, lines in graphs.items()},
        provenance="".join(provenance),
    )


def _parse_quads(lines: bytes) -> list[ox.Quad]:
    """The quads of some lines; where one line is broken, of the others."""
    try:
        return list(ox.parse(lines, ox.RdfFormat.N_QUADS, lenient=True))
    except SyntaxError:
        return [quad for line in lines.split(b"\n") for quad in _parse_line(line, lenient=True)]


def _parse_line(line: bytes, *, lenient: bool) -> list[ox.Quad]:
    try:
        return list(ox.parse(line, ox.RdfFormat.N_QUADS, lenient=lenient))
    except SyntaxError:
        return []


def drop_nonstandard(change: PageChange) -> PageChange:
    """The page without the statements that an endpoint may refuse: IRIs and language tags of the wild web, RDF 1.2.

    >>> page = "<http://a.example/>"
    >>> bad = "<http://a.example/> <http://p.example/> <http://b.example/50%> .\\n"
    >>> drop_nonstandard(PageChange(page=page, graphs={page: bad}, provenance="")).graphs[page]
    ''
    """
    return PageChange(
        page=change.page,
        graphs={graph: _standard_lines(lines) for graph, lines in change.graphs.items()},
        provenance=_standard_lines(change.provenance),
    )


def _standard_lines(lines: str) -> str:
    return "".join(f"{line}\n" for line in lines.split("\n") if line and _is_standard(line))


def _is_standard(line: str) -> bool:
    """Whether every endpoint reads it: many know neither triple terms nor base directions."""
    return any(
        not isinstance(quad.object, ox.Triple) and getattr(quad.object, "direction", None) is None
        for quad in _parse_line(line.encode(), lenient=False)
    )


def _add_graph(lines: str, graph: str) -> str:
    return lines.replace(" .\n", f" {graph} .\n")


# ── A folder of N-Quads files (`index.segments`), as a sink.


class SegmentSink:
    """Writes batches of pages to files of at least `size` bytes."""

    def __init__(self, folder: Path, *, size: int, provenance: bool) -> None:
        self._segments = SegmentWriter(folder, size=size)
        self._provenance = f"<{PROVENANCE}>" if provenance else ""
        self.flush, self.close = self._segments.flush, self._segments.close

    def write(self, records: Sequence[PageRecord]) -> None:
        text = "".join(change_from(record).nquads(provenance_graph=self._provenance) for record in records)
        if text:
            self._segments.append(text.encode("utf-8", "replace"))
