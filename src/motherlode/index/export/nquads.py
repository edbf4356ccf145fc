"""The store as files that other tools read: N-Quads, TriG and a VoID description.

Everything streams: quads come graph by graph from the store's own index and go out as they come. Blank nodes keep the
labels that the store knows them by, so two exports of one crawl agree, and an export can be compared with the store.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, cast

import pyoxigraph as ox

from motherlode.index.quad_store import QuadStore
from motherlode.model.terms import PREFIXES

Progress = Callable[[int], None]
"""Told now and then how many quads have gone out."""
_QUADS_PER_REPORT = 8_192


def ignore_progress(count: int) -> None:
    """The progress that nobody watches."""


class CountedQuads:
    """Passes quads on, and counts them."""

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


def export_nquads(store: QuadStore, output: BinaryIO, progress: Progress = ignore_progress) -> int:
    """Write every quad of the pages and of the provenance as N-Quads; how many there were."""
    quads = CountedQuads(store.quads(), progress)
    ox.serialize(quads, output, format=ox.RdfFormat.N_QUADS)
    return quads.count


def export_trig(store: QuadStore, output: BinaryIO, progress: Progress = ignore_progress) -> int:
    """Write every quad of the pages and of the provenance as TriG, one block a graph; how many there were."""
    quads = CountedQuads(store.quads(), progress)
    ox.serialize(quads, output, format=ox.RdfFormat.TRIG, prefixes=PREFIXES)
    return quads.count


def open_output(path: Path) -> BinaryIO:
    """A file to write to; one whose name ends in `.gz` is packed."""
    if path.suffix == ".gz":
        return cast(BinaryIO, gzip.open(path, "wb", compresslevel=6))
    return path.open("wb")
