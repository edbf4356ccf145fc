"""The log of a crawl: N-Quads files to which it appends its pages, and from which store and words are built.

Appending to the log takes a tenth of the time of writing to the store, because nothing is sorted, and it is all that a
page waits for. An indexer (`index.indexer`) fills the store and the word index from the log (`UnindexedQuads`). The
files are plain N-Quads, so other stores can load them, too. The log holds the statements of a page followed by the
page's provenance, which is enough to separate the pages again. A page that is fetched again is appended again, and the
later version replaces the earlier one.

The crawl keeps the manifest of all files in its frontier (`NQuadsLog.manifest`). A file that is missing, truncated or
changed is an error if the log is opened or read, because its quads would otherwise be missing from the store unnoticed.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, NamedTuple, Protocol

import msgspec

from motherlode.index.page_record import (
    PAGE,
    PROVENANCE,
    URL,
    PageRecord,
    RunRecord,
    provenance_quads,
    serialize_run,
    serialize_run_end,
)
from motherlode.index.segment_files import (
    ManifestEntry,
    SegmentWriter,
    describe_segment,
    entry_damage,
    list_segments,
    open_segment,
    readable_members,
    segment_name,
    sync_path,
    whole_members,
)
from motherlode.index.snapshot import DamagedError, link_or_copy
from motherlode.model.terms import RDF_TYPE

if TYPE_CHECKING:
    from motherlode.index.quad_store import QuadStore

_SEGMENT_BYTES = 256_000_000
_GZIP_LEVEL = 1
"""Level 6 takes three times as long, for files that are a third smaller."""
_MIGRATION_BATCH_BYTES = 8_000_000
_PROVENANCE_END = f" <{PROVENANCE}> .\n".encode()
_PAGE_TYPE = PAGE.encode()
_FIRST_LINE = re.compile(
    b" %b (%b|%b)%b" % tuple(map(re.escape, (RDF_TYPE.encode(), _PAGE_TYPE, URL.encode(), _PROVENANCE_END)))
)
"""The first line about a page, or about a URL without one, after its subject."""
_FETCHED_AT = re.compile(rb'#generatedAtTime> "([^"]*)"')
MARK_FILE = "indexed"
COMPACTED_FILE = "compacted"
"""File beside the segments of a log that was compacted: the first time at which all pages are known."""


class IndexerProcess(Protocol):
    """What a log needs of the process that indexes it."""

    def close(self) -> None:
        """Wait until everything is indexed, and end the process. OSError if it failed."""


class NoIndexer:
    """No background indexer: the first command that reads the store indexes the log."""

    def close(self) -> None:
        pass


StartIndexer = Callable[[], IndexerProcess]


class NQuadsLog:
    """The log of a running crawl. A page is durable when `write` has returned."""

    def __init__(
        self,
        folder: Path,
        *,
        manifest: Sequence[ManifestEntry] = (),
        start_indexer: StartIndexer = NoIndexer,
        at_end: Callable[[list[ManifestEntry]], None] = lambda manifest: None,
    ) -> None:
        """`manifest` is the manifest of an earlier run. DamagedError if the files differ from it.

        `start_indexer` starts the process that indexes the log while it is written. `at_end` gets the last manifest
        when the log is closed.
        """
        check_log(folder, manifest)
        self._folder = folder
        last = max((entry.number for entry in manifest), default=0)
        self._segments = open_segment_writer(folder, after=last)
        self._earlier = complete_manifest(folder, manifest)
        self.encoded_manifest = encode_manifest(self._earlier)
        """The manifest after the last write, for the frontier. The thread that writes makes it, as files are synced."""
        self._run: RunRecord | None = None
        self.flush = self._segments.flush
        self._at_end = at_end
        self._indexer = start_indexer()

    def manifest(self) -> list[ManifestEntry]:
        """Return the manifest of all files, for the next run to compare. All bytes that it counts are on disk."""
        return [*self._earlier, *self._segments.manifest()]

    def begin(self, run: RunRecord) -> None:
        """Record that all pages written from now on were fetched by this run."""
        self._run = run
        self._append(serialize_run(run).encode())

    def write(self, records: Sequence[PageRecord]) -> None:
        run = self._run.iri if self._run is not None else ""
        pages = ((record.graph_quads, provenance_quads(record, run)) for record in records)  # the union is not logged
        self._append(b"".join(chain.from_iterable(pages)))

    def _append(self, text: bytes) -> None:
        self._segments.append(text)
        self.encoded_manifest = encode_manifest(self.manifest())

    def finish(self, ended_at: float) -> None:
        """Record the end of the run."""
        if self._run is not None:
            self._append(serialize_run_end(self._run, ended_at).encode())

    def backup(self, path: Path) -> None:
        """Copy all files to a new folder on the same disk. It is fast, because they are finished and hard-linked."""
        self._segments.close()
        path.mkdir(parents=True)
        for _, segment in list_segments(self._folder):
            if segment.suffix != ".part":
                link_or_copy(segment, path / segment.name)
        if (self._folder / COMPACTED_FILE).exists():
            link_or_copy(self._folder / COMPACTED_FILE, path / COMPACTED_FILE)

    def close(self) -> None:
        """Finish the log, and wait until its indexer has indexed it."""
        self._segments.close()
        self._at_end(self.manifest())
        self._indexer.close()


def open_segment_writer(folder: Path, *, after: int) -> SegmentWriter:
    """Open a log for appending. New segments get numbers above `after`."""
    return SegmentWriter(folder, size=_SEGMENT_BYTES, level=_GZIP_LEVEL, after=after)


def log_from_store(store: QuadStore, folder: Path, *, after: int = 0) -> None:
    """Write the log of a store that has none, because an earlier version wrote it, or one in place of a damaged log.

    The log counts as indexed. Its segments get numbers above `after`. It is written beside its place and renamed, so
    that after a kill there is the old log, no log or a complete one. Earlier versions of pages are not known.
    """
    new, old = folder.with_name(f"{folder.name}.new"), folder.with_name(f"{folder.name}.old")
    shutil.rmtree(new, ignore_errors=True)
    segments = open_segment_writer(new, after=after)
    batch: list[bytes] = []
    size = 0
    for page in store.logged_pages():
        batch.append(page)
        size += len(page)
        if size >= _MIGRATION_BATCH_BYTES:
            segments.append(b"".join(batch))
            batch, size = [], 0
    segments.append(b"".join(batch))
    segments.close()
    UnindexedQuads(new).mark_all_indexed()
    note_reach(new, datetime.now(UTC))
    shutil.rmtree(old, ignore_errors=True)
    if folder.is_dir():
        folder.rename(old)
    new.rename(folder)
    sync_path(folder.parent)
    shutil.rmtree(old, ignore_errors=True)


def note_reach(folder: Path, time: datetime) -> None:
    """Record the first time at which all pages are known, unless a later one is recorded."""
    reach = max(time, read_reach(folder))
    new = folder / f"{COMPACTED_FILE}.new"
    new.write_text(reach.isoformat(), encoding="ascii")
    sync_path(new)
    new.replace(folder / COMPACTED_FILE)


def read_reach(folder: Path) -> datetime:
    """Return the first time at which the version of every page is known. For a log with all versions it is 1970."""
    try:
        return datetime.fromisoformat((folder / COMPACTED_FILE).read_text(encoding="ascii"))
    except FileNotFoundError:
        return datetime.fromtimestamp(0, UTC)


def encode_manifest(manifest: Sequence[ManifestEntry]) -> bytes:
    return msgspec.msgpack.encode(manifest)


def check_log(folder: Path, manifest: Sequence[ManifestEntry], *, contents: bool = True) -> None:
    """Raise DamagedError if a file of a log differs from its entry. Without `contents`, only lengths are compared.

    Older versions wrote no manifest: files without an entry are decompressed to their end instead.
    """
    found = log_damage(folder, manifest, contents=contents)
    if found:
        more = f" (and {len(found) - 1:,} more)" if len(found) > 1 else ""
        crawl = quote(str(folder.parent))
        raise DamagedError(
            f"{found[0]}{more}. Put back a copy of it if you have one; or `motherlode index {crawl} --skip-damaged` "
            f"indexes what can still be read, and queues pages whose quads are lost for `motherlode resume {crawl}`"
        )


def log_damage(folder: Path, manifest: Sequence[ManifestEntry], *, contents: bool = True) -> list[str]:
    """Return one sentence for each damaged file of a log."""
    found = [
        f"the segment {folder / entry.name} {why}"
        for entry in manifest
        if (why := entry_damage(folder, entry, contents=contents))
    ]
    files = list_segments(folder) if folder.is_dir() else []
    if not manifest:  # gaps in the numbers; files that were indexed completely may be missing
        numbers = [number for number, _ in files]
        is_compacted = (folder / COMPACTED_FILE).exists()  # then the first number is above 1
        first = min(numbers, default=1) if is_compacted else max(1, UnindexedQuads(folder).indexed_up_to[0])
        missing = sorted(set(range(first, max(numbers, default=0))) - set(numbers))
        found += [f"the segment {folder / segment_name(number)} is missing" for number in missing]
    if contents:
        recorded = {entry.number for entry in manifest}
        finished = [path for number, path in files if number not in recorded and path.suffix != ".part"]
        for path in finished:
            if max((end for _, end in whole_members(path)), default=0) < _file_size(path):
                found.append(f"the segment {path} cannot be unpacked to its end")
    return found


def complete_manifest(folder: Path, known: Sequence[ManifestEntry] = ()) -> list[ManifestEntry]:
    """Return an entry for every file in a folder. A known entry is kept unless the size of its file has changed."""
    manifest = {entry.number: entry for entry in known}
    for number, path in list_segments(folder):
        if number not in manifest or _file_size(path) != manifest[number].length:
            manifest[number] = describe_segment(path)
    return [manifest[number] for number in sorted(manifest)]


LogPosition = tuple[int, int]
"""Number of a file, and an offset in it in bytes."""


class LogBatch(NamedTuple):
    """One batch that was read from a log."""

    pages: list[PageRecord]
    run_quads: bytes
    """N-Quads about the runs of the crawl."""
    position: LogPosition
    """The end of the batch."""


class UnindexedQuads:
    """The part of a log that is not yet in the store. A mark in the store's folder says how far it was indexed.

    Without a store the whole log is unread. An older copy of the store has an older mark.
    """

    def __init__(self, folder: Path, store: Path | None = None) -> None:
        """`store` is the folder of the store that is built from the log, if there is one."""
        self._folder = folder
        self._store = store
        self._old_mark = folder / MARK_FILE
        """Earlier versions, and `log_from_store`, write the mark beside the log."""
        self._mark = self._old_mark if store is None else store / MARK_FILE

    @property
    def is_store_without_mark(self) -> bool:
        """Whether the store was not built from a log: an earlier version wrote it, or it was merged from shards."""
        return self._store is not None and (self._store / "CURRENT").exists() and not self._mark.exists()

    def __bool__(self) -> bool:
        """Return whether there may be quads to index, judged by file sizes alone."""
        return self.size > 0

    @property
    def size(self) -> int:
        return self.bytes_after(self.indexed_up_to)

    def bytes_after(self, position: LogPosition) -> int:
        number, start = position
        sizes = [(file, _file_size(path)) for file, path in self._files()]
        return sum(max(0, size - (start if file == number else 0)) for file, size in sizes if file >= number)

    def batches(self, *, damaged: bool = False, from_start: bool = False) -> Iterator[LogBatch]:
        """Yield the batches in the order in which they were written.

        `damaged`: skip incomplete batches in the last file, too. No process may be writing to it then. `from_start`:
        yield the indexed ones, too.
        """
        number, start = (0, 0) if from_start else self.indexed_up_to
        for file, path in self._files():
            if file >= number:
                is_open = path.suffix == ".part" and not damaged
                members = whole_members if is_open else readable_members
                for text, end in members(path, start if file == number else 0):
                    yield _parse_batch(text, (file, end))

    def mark_all_indexed(self) -> None:
        """Move the mark to the end of the log. The store must have synced all batches."""
        self.mark_indexed(self.end)

    def remove_old_mark(self) -> None:
        """Remove the mark of an earlier version before a new store is made, to which it does not refer."""
        self._old_mark.unlink(missing_ok=True)

    @property
    def version(self) -> object:
        """A value that is another one after each change of the log or of the mark; None if there is no log.

        It costs a tenth of `size`, because no file is opened.
        """
        try:
            with os.scandir(self._folder) as entries:
                files = frozenset((entry.name, entry.stat().st_size, entry.stat().st_mtime_ns) for entry in entries)
        except FileNotFoundError:  # also if a file was renamed meanwhile
            return None
        try:
            mark = self._mark.stat()
        except FileNotFoundError:
            return files
        return files, mark.st_ino, mark.st_mtime_ns

    @property
    def end(self) -> LogPosition:
        """The end of the last file as it is now."""
        files = self._files()
        return (files[-1][0], _file_size(files[-1][1])) if files else (0, 0)

    def mark_indexed(self, position: LogPosition) -> None:
        """Move the mark to a position. The store must have synced all batches before it."""
        new = self._mark.with_suffix(".new")
        new.write_text(f"{position[0]} {position[1]}\n", encoding="ascii")
        new.replace(self._mark)

    def _files(self) -> list[tuple[int, Path]]:
        return list_segments(self._folder) if self._folder.is_dir() else []

    @property
    def indexed_up_to(self) -> LogPosition:
        if self._store is not None and not (self._store / "CURRENT").exists():
            return 0, 0
        mark = self._mark if self._mark.exists() else self._old_mark
        try:
            number, _, start = mark.read_text(encoding="ascii").partition(" ")
            return int(number), int(start)
        except (FileNotFoundError, ValueError):  # ValueError: a power failure emptied it, so index everything again
            return 0, 0


def _file_size(path: Path) -> int:
    with open_segment(path) as file:
        return os.fstat(file.fileno()).st_size


def _parse_batch(text: bytes, position: LogPosition) -> LogBatch:
    """Split a batch into its pages. The first line of a page's provenance is searched, because most lines are quads.

    A line break in a literal is escaped, so the searched bytes cannot be a part of a literal.
    """
    pages: list[PageRecord] = []
    runs: list[bytes] = []
    done = 0
    for found in _FIRST_LINE.finditer(text):
        start = text.rfind(b"\n", 0, found.start()) + 1
        name = text[start : found.start()]
        end = _provenance_end(text, name, found.end())
        quads = _split_runs(text[done:start], runs)
        pages.append(_page_record(name, quads, text[start:end], is_page=found[1] == _PAGE_TYPE))
        done = end
    _split_runs(text[done:], runs)
    return LogBatch(pages, b"".join(runs), position)


def _provenance_end(text: bytes, name: bytes, end: int) -> int:
    """Return where the provenance of a page ends. `end` is the end of its first line.

    The next record may be of the same URL and have no statements, so it ends at the next first line, too.
    """
    while text.startswith(name, end) and not _FIRST_LINE.match(text, end + len(name)):
        line_end = text.find(b"\n", end) + 1
        if not text.endswith(_PROVENANCE_END, end, line_end):
            break
        end = line_end
    return end


def _split_runs(text: bytes, runs: list[bytes]) -> bytes:
    """Return the quads of a page, and append the lines about runs before it to `runs`."""
    if _PROVENANCE_END not in text:
        return text
    lines = [line + b"\n" for line in text.split(b"\n")[:-1]]
    runs += (line for line in lines if line.endswith(_PROVENANCE_END))
    return b"".join(line for line in lines if not line.endswith(_PROVENANCE_END))


def _page_record(name: bytes, quads: bytes, provenance: bytes, *, is_page: bool) -> PageRecord:
    when = _FETCHED_AT.search(provenance)
    return PageRecord(
        url=name[1:-1].decode(),
        fetched_at=datetime.fromisoformat(when[1].decode()).timestamp() if when else 0.0,
        status=None,
        graph_quads=quads,
        quads=quads.count(b"\n"),
        state="" if is_page else "known",
        provenance=provenance,
    )
