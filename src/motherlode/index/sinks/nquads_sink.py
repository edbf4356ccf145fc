"""`PageChange`, the new state of a page as sinks take it, and the sink that writes N-Quads files."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pyoxigraph as ox

from motherlode.index.page_record import PROVENANCE, PageRecord, parse_quads, serialize_provenance
from motherlode.index.segment_files import SegmentWriter
from motherlode.model.terms import page_iri


class PageChange(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """The new state of a page, which replaces the old one. Lines are N-Triples, each with its newline."""

    page: str
    """The IRI of the page and of its graph, in angle brackets."""
    graphs: dict[str, str]
    """The lines of each graph of the page, by the graph's IRI. The page's own graph is always present."""
    provenance: str
    """The lines of the page in the provenance graph."""

    def nquads(self, *, provenance_graph: str) -> str:
        """Return the page as N-Quads. If `provenance_graph` is "", provenance is left out."""
        graphs = [*self.graphs.items(), *([(provenance_graph, self.provenance)] if provenance_graph else [])]
        return "".join(lines.replace(" .\n", f" {graph} .\n") for graph, lines in graphs)


def change_from(record: PageRecord) -> PageChange:
    """Return the change for a record. The quads for the default graph of our own store are left out."""
    page = page_iri(record.url)
    graphs: dict[str, list[str]] = {page: [], **{graph: [] for graph in record.graphs}}
    for quad in parse_quads(record.graph_quads):
        graphs.setdefault(str(quad.graph_name), []).append(f"{quad.triple} .\n")
    provenance = parse_quads(serialize_provenance(record).encode("utf-8", "replace"))
    return PageChange(
        page=page,
        graphs={graph: "".join(lines) for graph, lines in graphs.items()},
        provenance="".join(f"{quad.triple} .\n" for quad in provenance),
    )


def drop_nonstandard(change: PageChange) -> PageChange:
    """Return the page without statements that an endpoint may refuse: invalid IRIs or language tags, and RDF 1.2."""
    return PageChange(
        page=change.page,
        graphs={graph: _standard_lines(lines) for graph, lines in change.graphs.items()},
        provenance=_standard_lines(change.provenance),
    )


def _standard_lines(lines: str) -> str:
    """Return the lines that every endpoint accepts. Many support neither triple terms nor base directions."""
    return "".join(
        f"{line}\n"
        for line in lines.split("\n")
        for quad in parse_quads(line.encode(), lenient=False)
        if not isinstance(quad.object, ox.Triple) and getattr(quad.object, "direction", None) is None
    )


class SegmentSink:
    """A sink that writes batches of pages to N-Quads files (`index.segment_files`) of at least `size` bytes."""

    def __init__(self, folder: Path, *, size: int, provenance: bool) -> None:
        self._segments = SegmentWriter(folder, size=size)
        self._provenance = f"<{PROVENANCE}>" if provenance else ""
        self.flush, self.close = self._segments.flush, self._segments.close

    def write(self, records: Sequence[PageRecord]) -> None:
        text = "".join(change_from(record).nquads(provenance_graph=self._provenance) for record in records)
        if text:
            self._segments.append(text.encode("utf-8", "replace"))
