"""Export the store as N-Quads, TriG or JSON-LD with its own blank node labels, and all WARC files as one file."""

import gzip
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, cast

import pyoxigraph as ox

from motherlode.index.quad_store import QuadStore
from motherlode.model.terms import PREFIXES
from motherlode.www.gzip_members import gzip_members

Progress = Callable[[int], None]
"""Is called from time to time with the number of quads or records that were written."""
_QUADS_PER_REPORT = 8_192


def ignore_progress(count: int) -> None:
    """Do nothing: the default for callers that do not show progress."""


class CountedQuads:
    """Iterates over quads and counts them."""

    def __init__(self, quads: Iterable[ox.Quad], progress: Progress = ignore_progress) -> None:
        self._quads = quads
        self._progress = progress
        self.count = 0

    def __iter__(self) -> Iterator[ox.Quad]:
        for quad in self._quads:
            self.count += 1
            if self.count % _QUADS_PER_REPORT == 0:
                self._progress(self.count)
            yield quad
        self._progress(self.count)


def export_nquads(
    store: QuadStore, output: BinaryIO, progress: Progress = ignore_progress, *, without: Collection[str] = ()
) -> int:
    """Write every quad of the pages and of the provenance as N-Quads, without some pages. Return their number."""
    quads = CountedQuads(store.quads(without=without), progress)
    ox.serialize(quads, output, format=ox.RdfFormat.N_QUADS)
    return quads.count


def export_trig(
    store: QuadStore, output: BinaryIO, progress: Progress = ignore_progress, *, without: Collection[str] = ()
) -> int:
    """Write the same quads as TriG, one block per graph. Return their number."""
    quads = CountedQuads(store.quads(without=without), progress)
    ox.serialize(quads, output, format=ox.RdfFormat.TRIG, prefixes=PREFIXES)
    return quads.count


def export_jsonld(
    store: QuadStore, output: BinaryIO, progress: Progress = ignore_progress, *, without: Collection[str] = ()
) -> int:
    """Write the same quads as one JSON-LD document, a node per graph. Return their number."""
    quads = CountedQuads(store.quads(without=without), progress)
    ox.serialize(quads, output, format=ox.RdfFormat.JSON_LD)
    return quads.count


def export_warc(files: Sequence[Path], output: BinaryIO, *, packed: bool, progress: Progress = ignore_progress) -> int:
    """Write all complete records, compressed (`packed`) or plain. Return their number. A kill may cut the last one."""
    count = 0
    for path in files:
        with path.open("rb") as file:
            for member in gzip_members(file):
                raw = os.pread(file.fileno(), member.end - member.start, member.start) if packed else member.data
                output.write(raw)
                count += 1
                progress(count)
    return count


def open_output(path: Path) -> BinaryIO:
    """Open a file for writing. It is compressed if its name ends in `.gz`."""
    if path.suffix == ".gz":
        return cast(BinaryIO, gzip.open(path, "wb", compresslevel=6))
    return path.open("wb")
