"""A folder of N-Quads files (`index.segments`), as a sink.

The files are a log: a page that is crawled again stands in a later file again, and the later one holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from motherlode.index.records import PROVENANCE, PageRecord
from motherlode.index.segments import Segments
from motherlode.index.sinks.changes import change_from


class SegmentSink:
    """Writes batches of pages to files of at least `size` bytes."""

    def __init__(self, folder: Path, *, size: int, provenance: bool) -> None:
        self._segments = Segments(folder, size=size)
        self._provenance = f"<{PROVENANCE}>" if provenance else ""
        self.flush, self.close = self._segments.flush, self._segments.close

    def write(self, records: Sequence[PageRecord]) -> None:
        text = "".join(change_from(record).nquads(provenance_graph=self._provenance) for record in records)
        if text:
            self._segments.append(text.encode("utf-8", "replace"))
