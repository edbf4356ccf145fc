"""Memory for the pages of a file that were looked at, given back to the system while there is little of it.

LMDB reads by touching a map of its whole file. What was touched counts as memory of this process until the system runs
short of it: of ten million URLs two gigabytes, where the frontier itself holds one. Nobody who watches a crawl, or
bounds its memory, can tell the one from the other. So the map is let go of when much of it is held. The pages stay in
the system's cache, from where the next look takes them up again, sixteen at a time.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import lmdb
import xxhash

from motherlode.frontier.lease import HostRecord
from motherlode.frontier.storage.sorted_runs import NUMBER_KEY, decode_host, encode
from motherlode.model.saved_state import unwrap_key, wrap_key

MOST_HELD = 512 << 20
"""Bytes of files, those of libraries among them, that a process may hold before the map is let go of."""
_LOOKS = 10_000
"""Looks at the file between two looks at how much of it is held: at places far apart they hold some 100 MB more."""
_DONT_NEED = 4
"""Of Linux's madvise: forget what of this range is in memory. A map that is only read loses nothing by it."""


class Mapping:
    """The map of one file; on systems that tell nothing of their maps, nothing is ever let go of."""

    def __init__(self, path: Path, *, most_held: int = MOST_HELD) -> None:
        self._most = most_held
        self._range = _range_of(path)
        self._looks = 0

    def looked(self, times: int) -> None:
        """So many places of the file were looked at."""
        self._looks += times
        if self._looks >= _LOOKS:
            self._looks = 0
            self.trim()

    def trim(self) -> bool:
        """Let go of the map where more than the bound is held. Whether that was so."""
        if self._range is None or held() <= self._most:
            return False
        start, length = self._range
        return bool(ctypes.CDLL(None).madvise(ctypes.c_void_p(start), ctypes.c_size_t(length), _DONT_NEED) == 0)


def held() -> int:
    """Bytes of files that are in this process's memory; 0 where the system does not tell."""
    try:
        shared = Path("/proc/self/statm").read_bytes().split()[2]
    except OSError:
        return 0
    return int(shared) * os.sysconf("SC_PAGE_SIZE")


def _range_of(path: Path) -> tuple[int, int] | None:
    """Where a file is mapped that is only read, and how much of it."""
    with suppress(OSError):
        name = str(path.resolve())
        for line in Path("/proc/self/maps").read_text(encoding="utf-8", errors="surrogateescape").splitlines():
            place, rights, _, _, _, *mapped = line.split(maxsplit=5)
            if mapped == [name] and rights == "r--s":
                start, end = (int(bound, 16) for bound in place.split("-"))
                return start, end - start
    return None


# ── What a crawl writes down beside its URLs: hosts, visits, pages, notes and letters, each in a table of its own.

_MAP_SIZE = 1 << 40  # address space, not disk: LMDB grows the file as it needs
STORAGE_ERRORS = (lmdb.Error,)
"""What may come out of any call where the disk is full or the file damaged."""


class LmdbTables:
    """An LMDB file with one transaction between two commits. One process writes; `read_only` opens beside it."""

    def __init__(self, path: Path, *, tables: Sequence[str], read_only: bool) -> None:
        """`tables` are those that the caller wants beside the ones here."""
        self._read_only = read_only
        try:
            self._env = _opened(path, read_only=read_only)
            names = ("hosts", "visits", "notes", *tables)
            self._tables: dict[str, Any] = {
                name: self._env.open_db(name.encode(), create=not read_only) for name in names
            }
            self._letters = None if read_only else self._env.open_db(b"letters")
            self._pages = None if read_only else self._env.open_db(b"pages")
        except lmdb.Error as error:
            raise OSError(f"the frontier in {path} cannot be opened: {error}") from error
        self._hosts, self._visits = self._tables["hosts"], self._tables["visits"]
        self._notes = self._tables["notes"]
        self._mapping = Mapping(path / "data.mdb")
        self._txn = self._env.begin(write=not read_only, buffers=True)

    # ── hosts and visits ─────────────────────────────────────────────────────────────────────────────

    def put_host(self, host: HostRecord) -> None:
        self._txn.put(xxhash.xxh3_128_digest(host.name.encode()), encode(host), db=self._hosts)

    def hosts(self) -> Iterator[HostRecord]:
        for _, value in self._txn.cursor(db=self._hosts):
            yield decode_host(value)

    def append_visit(self, number: int, record: bytes) -> None:
        self._txn.put(NUMBER_KEY.pack(number), record, db=self._visits)

    def visits(self) -> Iterator[bytes]:
        for _, value in self._txn.cursor(db=self._visits):
            yield bytes(value)

    def newest_visits(self) -> Iterator[bytes]:
        """Visits from the last to the first."""
        for _, value in self._txn.cursor(db=self._visits).iterprev():
            yield bytes(value)

    # ── notes, pages, letters ────────────────────────────────────────────────────────────────────────

    def put_note(self, key: str, value: bytes) -> None:
        self._txn.put(key.encode(), wrap_key(key, value), db=self._notes)

    def note(self, key: str) -> bytes | None:
        value = self._txn.get(key.encode(), db=self._notes)
        return None if value is None else unwrap_key(key, bytes(value))

    def put_page(self, url: str, record: bytes) -> None:
        self._txn.put(xxhash.xxh3_128_digest(url.encode()), record, db=self._pages)

    def page(self, url: str) -> bytes | None:
        value = self._txn.get(xxhash.xxh3_128_digest(url.encode()), db=self._pages)
        return None if value is None else bytes(value)

    def pages(self) -> Iterator[bytes]:
        for _, value in self._txn.cursor(db=self._pages):
            yield bytes(value)

    def put_letter(self, number: int, letter: bytes) -> None:
        self._txn.put(NUMBER_KEY.pack(number), letter, db=self._letters)

    def drop_letter(self, number: int) -> None:
        self._txn.delete(NUMBER_KEY.pack(number), db=self._letters)

    def letter(self, number: int) -> bytes | None:
        value = self._txn.get(NUMBER_KEY.pack(number), db=self._letters)
        return None if value is None else bytes(value)

    def letters(self) -> Iterator[tuple[int, bytes]]:
        for key, value in self._txn.cursor(db=self._letters):
            yield NUMBER_KEY.unpack(key)[0], bytes(value)

    # ── what lasts ───────────────────────────────────────────────────────────────────────────────────

    def copy(self, path: Path) -> None:
        """Write what the last commit left to a new folder; another thread may call it while the crawl goes on."""
        path.mkdir(parents=True)
        self._env.copy(str(path), compact=True)

    def _commit(self) -> None:
        try:
            self._txn.commit()
        except lmdb.Error as error:
            raise OSError(f"the frontier could not be written: {error}") from error
        self._mapping.trim()
        self._txn = self._env.begin(write=not self._read_only, buffers=True)

    def close(self) -> None:
        """Let go without committing."""
        self._txn.abort()
        self._env.close()


def _opened(path: Path, *, read_only: bool) -> lmdb.Environment:
    """The file, which a reader who may not even write its lock opens without one.

    A writer then does not know of the reader, and may use the pages of a commit again after the second one that follows
    it. Commits are a second apart, and who reads takes up the last one and is done in less.
    """
    environment = partial(
        lmdb.open, str(path), map_size=_MAP_SIZE, max_dbs=32, metasync=False, readonly=read_only, create=not read_only
    )
    try:
        return environment()
    except lmdb.ReadonlyError:
        if not read_only:
            raise
        return environment(lock=False)
