"""The quads of a crawl as files of N-Quads, in the place of a store that is made later.

A crawl that wants all of its machine for the web need not sort quads and words on the way: it appends them here, which
takes a tenth of the time, and whoever asks first has store and words made of the log (`UnindexedQuads`). The files are plain
N-Quads, so they also go as they are to any other store. A page's statements come first and its provenance behind them,
so that the log needs no marks of its own to be told apart into pages. A page that is fetched again stands there again,
and the later one holds.

The crawl keeps the manifest of all files with its frontier (`QuadLog.manifest`). A file that is missing, cut or changed
is an error wherever the log is opened or read, because its quads would otherwise be absent from the store unnoticed.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from shlex import quote
from typing import NamedTuple

from motherlode.index.page_record import (
    PAGE,
    PROVENANCE,
    PageRecord,
    RunRecord,
    ending_lines,
    provenance_of,
    run_lines,
)
from motherlode.index.segment_files import (
    ManifestEntry,
    Segments,
    entry_damage,
    entry_of,
    opened,
    readable_members,
    segment_files,
    segment_name,
    whole_members,
)
from motherlode.index.snapshot import DamagedError
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


class NQuadsLog:
    """Takes what a crawl gives to its store."""

    def __init__(self, folder: Path, *, manifest: Sequence[ManifestEntry] = ()) -> None:
        """`manifest` is that of an earlier run; DamagedError if the files are not what it wrote."""
        check_log(folder, manifest)
        self._folder = folder
        last = max((entry.number for entry in manifest), default=0)
        self._segments = Segments(folder, size=_FILE_SIZE, level=_LEVEL, after=last)
        self._earlier = _completed(folder, manifest)
        self._run: RunRecord | None = None
        self.flush, self.close = self._segments.flush, self._segments.close

    def manifest(self) -> list[ManifestEntry]:
        """The manifest of all files, for the next run to compare; the bytes that it counts are on disk."""
        return [*self._earlier, *self._segments.manifest()]

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


def check_log(folder: Path, manifest: Sequence[ManifestEntry], *, contents: bool = True) -> None:
    """Raise DamagedError if a file of a log is not what was written; without `contents`, lengths alone are compared.

    Files without an entry, which older versions left, are unpacked to their ends instead.
    """
    found = log_damage(folder, manifest, contents=contents)
    if found:
        raise DamagedError(log_advice(folder, found))


def log_damage(folder: Path, manifest: Sequence[ManifestEntry], *, contents: bool = True) -> list[str]:
    """What is wrong with the files of a log, a sentence for each damaged one."""
    found = [
        f"the segment {folder / entry.name} {why}"
        for entry in manifest
        if (why := entry_damage(folder, entry, contents=contents))
    ]
    files = segment_files(folder) if folder.is_dir() else []
    if not manifest:
        found += _gaps(folder, [number for number, _ in files])
    if contents:
        recorded = {entry.number for entry in manifest}
        found += [f"the segment {path} {_CUT}" for number, path in files if number not in recorded and _is_cut(path)]
    return found


_CUT = "cannot be unpacked to its end"


def _gaps(folder: Path, numbers: Sequence[int]) -> list[str]:
    """Files that must have been there, because numbers follow each other; not those that are indexed as a whole."""
    first = max(1, UnindexedQuads(folder).indexed_up_to[0])
    missing = sorted(set(range(first, max(numbers, default=0))) - set(numbers))
    return [f"the segment {folder / segment_name(number)} is missing" for number in missing]


def _is_cut(path: Path) -> bool:
    """Whether a complete file has a batch that is not whole; in one that is being written, the last may be cut."""
    return path.suffix != ".part" and max((end for _, end in whole_members(path)), default=0) < _size(path)


def log_advice(folder: Path, found: Sequence[str]) -> str:
    """What to do about damaged files of a log in the folder of a crawl."""
    more = f" (and {len(found) - 1:,} more)" if len(found) > 1 else ""
    crawl = quote(str(folder.parent))
    return (
        f"{found[0]}{more}. Put back a copy of it if you have one; or `motherlode index {crawl} --skip-damaged` "
        f"indexes what can still be read, and lets pages whose quads are lost wait for `motherlode resume {crawl}`"
    )


def _completed(folder: Path, known: Sequence[ManifestEntry]) -> list[ManifestEntry]:
    """An entry for every file in a folder; a known entry is kept unless its file has grown."""
    manifest = {entry.number: entry for entry in known}
    for number, path in segment_files(folder):
        if number not in manifest or _size(path) != manifest[number].length:
            manifest[number] = entry_of(path)
    return [manifest[number] for number in sorted(manifest)]


def current_manifest(folder: Path) -> list[ManifestEntry]:
    """The manifest of the files that are there, as they are now, damaged or not."""
    return [entry_of(path) for _, path in segment_files(folder)]


def _logged(record: PageRecord, run: str) -> tuple[bytes, bytes]:
    """A page's statements in its graphs, without what it says to the union; then its provenance."""
    return record.graph_quads, provenance_of(record, run)


LogPosition = tuple[int, int]
"""The number of a file, and a byte of it."""


class LogBatch(NamedTuple):
    """One batch of a log, read back."""

    pages: list[PageRecord]
    run_quads: bytes
    """Lines about the crawl itself."""
    position: LogPosition
    """Behind the batch."""


class UnindexedQuads:
    """What a log holds that no store has yet. The mark of how far it was read is kept beside its files."""

    def __init__(self, folder: Path, *, from_start: bool = False) -> None:
        """`from_start`: the mark does not count, because the store that it speaks of is gone."""
        self._folder = folder
        self._mark = folder / _MARK
        self._from_start = from_start

    def __bool__(self) -> bool:
        """Whether there may be any: no more is looked at than the sizes of files."""
        return self.size > 0

    @property
    def size(self) -> int:
        """Bytes of files."""
        return self.bytes_after(self.indexed_up_to)

    def bytes_after(self, position: LogPosition) -> int:
        """Bytes of files that come after a place."""
        number, start = position
        sizes = [(file, _size(path)) for file, path in self._files()]
        return sum(max(0, size - (start if file == number else 0)) for file, size in sizes if file >= number)

    def batches(self, *, damaged: bool = False) -> Iterator[LogBatch]:
        """Batch by batch, in the order in which they were written.

        `damaged`: pass over batches that are not whole also in the file that was written last. Nobody may be writing to
        it then.
        """
        number, start = self.indexed_up_to
        for file, path in self._files():
            if file >= number:
                is_open = path.suffix == ".part" and not damaged
                members = whole_members if is_open else readable_members
                for text, end in members(path, start if file == number else 0):
                    yield _portion(text, (file, end))

    def mark_all_indexed(self) -> None:
        """All that can be read is in the store, and lasting."""
        files = self._files()
        if files:
            self.mark_indexed((files[-1][0], _size(files[-1][1])))

    def mark_indexed(self, position: LogPosition) -> None:
        """All up to a place is in the store, and lasting."""
        new = self._mark.with_suffix(".new")
        new.write_text(f"{position[0]} {position[1]}\n", encoding="ascii")
        new.replace(self._mark)

    def _files(self) -> list[tuple[int, Path]]:
        return segment_files(self._folder) if self._folder.is_dir() else []

    @property
    def indexed_up_to(self) -> LogPosition:
        """The mark."""
        if self._from_start:
            return 0, 0
        try:
            number, _, start = self._mark.read_text(encoding="ascii").partition(" ")
            return int(number), int(start)
        except (FileNotFoundError, ValueError):  # the latter if a power failure has emptied it: then all is read again
            return 0, 0


def _size(path: Path) -> int:
    with opened(path) as file:
        return os.fstat(file.fileno()).st_size


def _portion(text: bytes, position: LogPosition) -> LogBatch:
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
    return LogBatch([_page(*page) for page in pages], b"".join(line + b"\n" for line in runs), position)


def _page(name: bytes, said: list[bytes], about: list[bytes]) -> PageRecord:

    provenance = b"".join(line + b"\n" for line in about)
    when = _WHEN.search(provenance)
    return PageRecord(
        url=name[1:-1].decode(),
        fetched_at=datetime.fromisoformat(when[1].decode()).timestamp() if when else 0.0,
        status=None,
        graph_quads=b"".join(line + b"\n" for line in said),
        union_quads=b"".join(_GRAPH.sub(b"", line) + b" .\n" for line in said),
        quads=len(said),
        provenance=provenance,
    )
