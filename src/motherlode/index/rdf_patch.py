"""What changed on pages that were written again, as an RDF patch that is kept beside the store.

The format is RDF Patch (https://afs.github.io/rdf-patch/): headers, then one transaction a page, with a line for each
quad that was deleted (D) or added (A). Only a page that was there before and says something else now costs anything.
The patch is written before the store is touched: after a crash the page is written again, and what the store still
lacked then comes once more. Applying a line twice changes nothing, so a copy of the store that follows the patch is the
same in the end.
"""

from __future__ import annotations

import os
import re
import shutil
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

import pyoxigraph as ox

from motherlode.index.page_record import datetime_literal

_END = b"TC .\n"
_PAGE = re.compile(r"H page <(.*)> \.\n")
_TIME = re.compile(r'H time "([^"]*)"')
_HEADER_LINES = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One page that says something else than before."""

    page: str
    """Its URL, as the graph is named."""
    at: datetime
    lines: tuple[str, ...] = field(repr=False)
    """The patch as it is kept, headers included."""

    @property
    def added(self) -> list[str]:
        """N-Quads lines that came."""
        return [line[2:] for line in self.lines if line.startswith("A ")]

    @property
    def removed(self) -> list[str]:
        """N-Quads lines that went."""
        return [line[2:] for line in self.lines if line.startswith("D ")]


def changes_path(store: Path) -> Path:
    """Where the changes of a store are kept: beside it, for the store's own folder is the library's."""
    return store.with_name("changes.rdfp")


def copy_changes(source: Path, target: Path) -> None:
    """Append what is known of one store's changes to those of another; both are named by their stores."""
    kept = changes_path(source)
    if kept.exists():
        with kept.open("rb") as file, changes_path(target).open("ab") as out:
            shutil.copyfileobj(file, out)


class ChangeLog:
    """Appends changes to a file that is made when the first one comes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = -1

    def add(self, page: str, *, at: float, removed: Iterable[ox.Quad], added: Iterable[ox.Quad]) -> None:
        """Keep a change; `page` is a term. In a fixed order, so that the same change reads the same."""
        lines = [f"H page {page} .\nH time {datetime_literal(at)} .\nTX .\n"]
        lines.extend(sorted(f"D {quad} .\n" for quad in removed))
        lines.extend(sorted(f"A {quad} .\n" for quad in added))
        if self._file < 0:
            self._file = os.open(self._path, os.O_CREAT | os.O_RDWR | os.O_APPEND, 0o644)
            _truncate_partial(self._file)
        _write_all(self._file, "".join(lines).encode("utf-8", "replace") + _END)

    def flush(self) -> None:
        if self._file >= 0:
            os.fsync(self._file)

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def _write_all(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]


def _truncate_partial(file: int) -> None:
    """Cut off what a crash left of a transaction that has no end."""
    size = end = os.fstat(file).st_size
    tail = b""
    while end > 0:
        start = max(0, end - 65_536)
        tail = os.pread(file, end - start, start) + tail[: len(_END)]
        found = (b"\n" + tail if start == 0 else tail).rfind(b"\n" + _END)
        if found >= 0:
            kept = start + found + 1 + len(_END) - (1 if start == 0 else 0)
            if kept < size:
                os.ftruncate(file, kept)
            return
        end = start
    os.ftruncate(file, 0)


def read_changes(path: Path, since: datetime | None = None) -> Iterator[Change]:
    """The changes on record, oldest first, from a moment on; of the same moment, in the order of writing.

    Stores that were joined have theirs one behind the other. So the times are read first, and then one transaction
    after the other: in memory is one of them, and 16 bytes for each that is to come.
    """
    if not path.exists():
        return
    with path.open("rb") as file:
        times, starts = _scan_times(file, since)
        is_sorted = all(earlier <= later for earlier, later in pairwise(times))
        for number in range(len(times)) if is_sorted else sorted(range(len(times)), key=times.__getitem__):
            file.seek(starts[number])
            change = _parse_change(tuple(line.decode("utf-8", "replace") for line in _read_transaction(file)))
            if change is not None:
                yield change


def _scan_times(file: BinaryIO, since: datetime | None) -> tuple[array[float], array[int]]:
    """The moment of each change, and where in the file it begins."""
    times, starts = array("d"), array("q")
    while True:
        start = file.tell()
        head, is_whole = _read_headers(file)
        if not is_whole:
            return times, starts
        change = _parse_change(head)
        if change is not None and (since is None or change.at >= since):
            times.append(change.at.timestamp())
            starts.append(start)


def _read_headers(file: BinaryIO) -> tuple[tuple[str, ...], bool]:
    """The headers of the next transaction, which is passed over; and whether it has an end."""
    lines: list[str] = []
    line = b""
    for line in _read_transaction(file):
        if len(lines) < _HEADER_LINES:
            lines.append(line.decode("utf-8", "replace"))
    return tuple(lines), line == _END


def _read_transaction(file: BinaryIO) -> Iterator[bytes]:
    while line := file.readline():
        yield line
        if line == _END:
            return


def _parse_change(lines: tuple[str, ...]) -> Change | None:
    page = next((found[1] for line in lines[:_HEADER_LINES] if (found := _PAGE.match(line))), None)
    time = next((found[1] for line in lines[:_HEADER_LINES] if (found := _TIME.match(line))), None)
    if page is None or time is None:
        return None
    return Change(page=page, at=datetime.fromisoformat(time), lines=lines)
