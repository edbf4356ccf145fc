"""The change log: an RDF patch beside the store with the changes of pages that were written again.

The format is RDF Patch (https://afs.github.io/rdf-patch/): one transaction per page, with headers and one line for each
quad that was deleted (D) or added (A). Only pages that were stored before and have changed appear in it. The patch is
written before the store is changed. After a crash the page is written again, and the patch may repeat some lines.
Applying a line twice changes nothing, so a copy of the store that applies the patch ends in the same state.
"""

from __future__ import annotations

import mmap
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

_END = "TC .\n"
_END_BYTES = _END.encode()
_PAGE = re.compile(r"H page <(.*)> \.\n")
_TIME = re.compile(r'H time "([^"]*)"')
_HEADER_LINES = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A change of one page."""

    page: str
    """The URL of the page, which is also the IRI of its graph."""
    at: datetime
    lines: tuple[str, ...] = field(repr=False)
    """The transaction as it is in the file, with its headers."""


def changes_path(store: Path) -> Path:
    """Return the path of a store's change log. It is beside the store, because pyoxigraph owns the store's folder."""
    return store.with_name("changes.rdfp")


def copy_changes(source: Path, target: Path) -> None:
    kept = changes_path(source)
    if kept.exists():
        with kept.open("rb") as file, changes_path(target).open("ab") as out:
            shutil.copyfileobj(file, out)


class ChangeLog:
    """Appends changes to a file. The first change creates it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = -1
        self._known: set[int] = set()
        """Hashes of the changes that are not added again."""

    def skip_known(self) -> None:
        """Leave out the changes that the file has already, because the store is built again from its log."""
        self._known = {hash("".join(change.lines)) for change in read_changes(self._path)}

    def add(self, page: str, *, at: float, removed: Iterable[ox.Quad], added: Iterable[ox.Quad]) -> None:
        """Append a change. `page` is an IRI in angle brackets. The lines are sorted, so that they are reproducible."""
        lines = [f"H page {page} .\nH time {datetime_literal(at)} .\nTX .\n"]
        lines.extend(sorted(f"D {quad} .\n" for quad in removed))
        lines.extend(sorted(f"A {quad} .\n" for quad in added))
        lines.append(_END)
        text = "".join(lines)
        if hash(text) in self._known:
            return
        if self._file < 0:
            self._file = os.open(self._path, os.O_CREAT | os.O_RDWR | os.O_APPEND, 0o644)
            _truncate_partial(self._file)
        data = text.encode("utf-8", "replace")
        while data:
            data = data[os.write(self._file, data) :]

    def flush(self) -> None:
        if self._file >= 0:
            os.fsync(self._file)

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def _truncate_partial(file: int) -> None:
    """Truncate the file after its last complete transaction, because a crash may have left an incomplete one."""
    size = os.fstat(file).st_size
    if size:
        with mmap.mmap(file, 0, access=mmap.ACCESS_READ) as data:
            found = data.rfind(b"\n" + _END_BYTES)
        kept = found + 1 + len(_END) if found >= 0 else 0
        if kept < size:
            os.ftruncate(file, kept)


def read_changes(path: Path, since: datetime | None = None) -> Iterator[Change]:
    """Yield the changes since a time, the oldest first. Changes with the same time keep their order.

    The file of a merged store is not sorted by time, because the logs of its sources are concatenated. So the times are
    read first, and then one transaction after the other. Memory holds one transaction, and 16 bytes for each other one.
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
    """Return the time of each change, and its offset in the file."""
    times, starts = array("d"), array("q")
    while True:
        start = file.tell()
        head: list[str] = []
        line = b""
        for line in _read_transaction(file):
            if len(head) < _HEADER_LINES:
                head.append(line.decode("utf-8", "replace"))
        if line != _END_BYTES:  # the end of the file, or an incomplete transaction
            return times, starts
        change = _parse_change(tuple(head))
        if change is not None and (since is None or change.at >= since):
            times.append(change.at.timestamp())
            starts.append(start)


def _read_transaction(file: BinaryIO) -> Iterator[bytes]:
    while line := file.readline():
        yield line
        if line == _END_BYTES:
            return


def _parse_change(lines: tuple[str, ...]) -> Change | None:
    page = next((found[1] for line in lines[:_HEADER_LINES] if (found := _PAGE.match(line))), None)
    time = next((found[1] for line in lines[:_HEADER_LINES] if (found := _TIME.match(line))), None)
    if page is None or time is None:
        return None
    return Change(page=page, at=datetime.fromisoformat(time), lines=lines)
