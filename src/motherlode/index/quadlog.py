"""The quads of a crawl as files of N-Quads, in the place of a store that is made later.

A crawl that wants all of its machine for the web need not sort quads and words on the way: it appends them here, which
takes a tenth of the time, and whoever asks first has store and words made of the log (`Unread`). The files are plain
N-Quads, so they also go as they are to any other store. A page's statements come first and its provenance behind them,
so that the log needs no marks of its own to be told apart into pages. A page that is fetched again stands there again,
and the later one holds.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from motherlode.index.records import (
    PAGE,
    PROVENANCE,
    PageRecord,
    RunRecord,
    ending_lines,
    in_graphs,
    provenance_of,
    run_lines,
)
from motherlode.index.segments import Segments, opened, segment_files, whole_members
from motherlode.model.terms import RDF_TYPE

_FILE_SIZE = 256_000_000
_LEVEL = 1
"""Of gzip: 6 takes three times as long for files that are a third smaller."""
_ABOUT = f" <{PROVENANCE}> .".encode()
_IS_PAGE = f"{RDF_TYPE} {PAGE} ".encode()
_WHEN = re.compile(rb'#generatedAtTime> "([^"]*)"')
_GRAPH = re.compile(rb" (?:<[^<>]*>|_:\S+) \.\Z")
"""Ends a quad."""
_MARK = "indexed"


class QuadLog:
    """Takes what a crawl gives to its store."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._segments = Segments(folder, size=_FILE_SIZE, level=_LEVEL)
        self._run: RunRecord | None = None
        self.flush, self.close = self._segments.flush, self._segments.close

    def has(self, url: str) -> bool:
        """Every page that was committed: a flush ends on the disk, and a log is only cut behind its last one."""
        return True

    def begin(self, run: RunRecord) -> None:
        """Pages from here on were fetched by this run."""
        self._run = run
        self._segments.append(run_lines(run).encode())

    def index_words(self, path: Path) -> None:
        """They come with the store."""

    def write(self, records: Sequence[PageRecord]) -> None:
        run = self._run.iri if self._run is not None else ""
        self._segments.append(b"".join(part for record in records for part in _logged(record, run)))

    def finish(self, ended_at: float) -> None:
        """The run has come to its end."""
        if self._run is not None:
            self._segments.append(ending_lines(self._run, ended_at).encode())

    def backup(self, path: Path) -> None:
        """A copy as of now in a new folder."""
        self.flush()
        shutil.copytree(self._folder, path)


def _logged(record: PageRecord, run: str) -> tuple[bytes, bytes]:
    """A page's statements in its graphs, without what it says to the union; then its provenance."""
    return b"".join(line + b"\n" for line in in_graphs(record.lines)), provenance_of(record, run)


Place = tuple[int, int]
"""The number of a file, and a byte of it."""


class Portion(NamedTuple):
    """One batch of a log, read back."""

    pages: list[PageRecord]
    runs: bytes
    """Lines about the crawl itself."""
    place: Place
    """Behind the batch."""


class Unread:
    """What a log holds that no store has yet. The mark of how far it was read is kept beside its files."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._mark = folder / _MARK

    def __bool__(self) -> bool:
        """Whether there may be any: no more is looked at than the sizes of files."""
        return self.size > 0

    @property
    def size(self) -> int:
        """Bytes of files."""
        return self.behind(self._read_up_to())

    def behind(self, place: Place) -> int:
        """Bytes of files that come after a place."""
        number, start = place
        sizes = [(file, _size(path)) for file, path in self._files()]
        return sum(size - (start if file == number else 0) for file, size in sizes if file >= number)

    def portions(self) -> Iterator[Portion]:
        """Batch by batch, in the order in which they were written."""
        number, start = self._read_up_to()
        for file, path in self._files():
            if file >= number:
                for text, end in whole_members(path, start if file == number else 0):
                    yield _portion(text, (file, end))

    def read(self, place: Place) -> None:
        """All up to a place is in the store, and lasting."""
        new = self._mark.with_suffix(".new")
        new.write_text(f"{place[0]} {place[1]}\n", encoding="ascii")
        new.replace(self._mark)

    def _files(self) -> list[tuple[int, Path]]:
        return segment_files(self._folder) if self._folder.is_dir() else []

    def _read_up_to(self) -> Place:
        try:
            number, _, start = self._mark.read_text(encoding="ascii").partition(" ")
            return int(number), int(start)
        except FileNotFoundError:
            return 0, 0


def _size(path: Path) -> int:
    with opened(path) as file:
        return os.fstat(file.fileno()).st_size


def _portion(text: bytes, place: Place) -> Portion:
    said: list[bytes] = []
    pages: list[tuple[bytes, list[bytes], list[bytes]]] = []
    runs: list[bytes] = []
    for line in text.split(b"\n")[:-1]:
        if not line.endswith(_ABOUT):
            said.append(line)
            continue
        subject, _, rest = line.partition(b" ")
        if rest.startswith(_IS_PAGE):
            pages.append((subject, said, [line]))
            said = []
        elif pages and pages[-1][0] == subject:
            pages[-1][2].append(line)
        else:
            runs.append(line)
    return Portion([_page(*page) for page in pages], b"".join(line + b"\n" for line in runs), place)


def _page(name: bytes, said: list[bytes], about: list[bytes]) -> PageRecord:
    lines = b"".join(b"%b\n%b .\n" % (line, _GRAPH.sub(b"", line)) for line in said)
    provenance = b"".join(line + b"\n" for line in about)
    when = _WHEN.search(provenance)
    return PageRecord(
        url=name[1:-1].decode(),
        fetched_at=datetime.fromisoformat(when[1].decode()).timestamp() if when else 0.0,
        status=None,
        lines=lines,
        quads=len(said),
        provenance=provenance,
    )
