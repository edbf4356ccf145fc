"""Page records for tests of sinks."""

from __future__ import annotations

from motherlode.index.page_record import PageRecord, serialize_page
from motherlode.model import Extraction, Syntax, TransformResult


def record(url: str, *statements: tuple[str, str, str] | tuple[str, str, str, str], status: int = 200) -> PageRecord:
    full = tuple((s[0], s[1], s[2], s[3] if len(s) == 4 else "") for s in statements)
    graph_quads, quads, graphs = serialize_page(
        url, TransformResult(extractions=(Extraction(syntax=Syntax.TRIG, statements=full),))
    )
    return PageRecord(
        url=url,
        fetched_at=0.0,
        status=status,
        graph_quads=graph_quads,
        quads=quads,
        graphs=graphs,
    )


P = "<http://p.example/says>"
