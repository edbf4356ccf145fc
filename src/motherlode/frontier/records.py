"""What a crawl writes down beside its URLs: hosts, visits, pages, notes and letters, each in a table of its own.

They belong to the same LMDB file and the same transaction as the URLs (disk.py), so all of it lasts together or not at
all. Committing syncs the data; `metasync` is off, so a loss of power may take back the last commit as a whole but never
leaves half of one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import lmdb
import xxhash

from motherlode.frontier.entries import HostRecord
from motherlode.frontier.keys import NUMBER_KEY, decode_host, encode
from motherlode.frontier.mapped import Mapping

_MAP_SIZE = 1 << 40  # address space, not disk: LMDB grows the file as it needs
LEDGER_ERRORS = (lmdb.Error,)
"""What may come out of any call where the disk is full or the file damaged."""


class DiskRecords:
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
        self._txn.put(key.encode(), value, db=self._notes)

    def note(self, key: str) -> bytes | None:
        value = self._txn.get(key.encode(), db=self._notes)
        return None if value is None else bytes(value)

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
