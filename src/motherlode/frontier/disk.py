"""The ledger on disk: LMDB, one transaction between two commits.

Five tables. `urls`: a 128-bit hash of the URL gives its state, reason and entry. `queue`: arm number, score (so
encoded that the best sorts first) and sequence give the hash; the next URL of an arm is one cursor step. `flight`:
hashes handed out and not finished. `arms`, `hosts`, `visits`, `notes` as their names say. Committing syncs the data;
`metasync` is off, so a loss of power may take back the last commit as a whole but never leaves half of one.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

import lmdb
import msgspec
import xxhash

from motherlode.frontier.entries import Entry, HostRecord, UrlState
from motherlode.www.urls import host_of

_MAP_SIZE = 1 << 40  # address space, not disk: LMDB grows the file as it needs
_QUEUE_KEY = struct.Struct(">IQQ")
_ARM_KEY = struct.Struct(">I")
_NUMBER_KEY = struct.Struct(">Q")
_DOUBLE = struct.Struct(">d")
_LONG = struct.Struct(">Q")
_TOP_BIT = 1 << 63
_ALL_BITS = (1 << 64) - 1
_END = "\n"
"""Ends the state and the reason; behind it stands the entry."""

_encode = msgspec.msgpack.Encoder().encode
_decode_entry = msgspec.msgpack.Decoder(Entry).decode
_decode_host = msgspec.msgpack.Decoder(HostRecord).decode


def _hash(url: str) -> bytes:
    return xxhash.xxh3_128_digest(url.encode())


def _descending(score: float) -> int:
    """An unsigned number that grows as the score falls, so that LMDB's byte order puts the best score first."""
    (bits,) = _LONG.unpack(_DOUBLE.pack(score + 0.0))
    ascending = bits ^ _ALL_BITS if bits & _TOP_BIT else bits | _TOP_BIT
    return int(ascending ^ _ALL_BITS)


def _score(descending: int) -> float:
    ascending = descending ^ _ALL_BITS
    bits = ascending & ~_TOP_BIT if ascending & _TOP_BIT else ascending ^ _ALL_BITS
    return float(_DOUBLE.unpack(_LONG.pack(bits))[0])


class DiskLedger:
    """See the module's story. One process writes; `read_only` opens beside it."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self._read_only = read_only
        names = ("urls", "queue", "flight", "arms", "hosts", "visits", "notes")
        try:
            self._env = lmdb.open(
                str(path), map_size=_MAP_SIZE, max_dbs=8, metasync=False, readonly=read_only, create=not read_only
            )
            tables = {name: self._env.open_db(name.encode(), create=not read_only) for name in names}
        except lmdb.Error as error:
            raise OSError(f"the frontier in {path} cannot be opened: {error}") from error
        self._urls, self._queue, self._flight = tables["urls"], tables["queue"], tables["flight"]
        self._arms, self._hosts, self._visits = tables["arms"], tables["hosts"], tables["visits"]
        self._notes = tables["notes"]
        self._begin()
        self._arm_numbers: dict[str, int] = {}
        for key, value in self._txn.cursor(db=self._arms):
            self._arm_numbers[bytes(value).decode()] = _ARM_KEY.unpack(key)[0]

    def _begin(self) -> None:
        self._txn = self._env.begin(write=not self._read_only)
        self._queue_cursor = self._txn.cursor(db=self._queue)

    def _arm_number(self, arm: str) -> int:
        number = self._arm_numbers.get(arm)
        if number is None:
            number = self._arm_numbers[arm] = len(self._arm_numbers)
            self._txn.put(_ARM_KEY.pack(number), arm.encode(), db=self._arms, append=True)
        return number

    def known(self, url: str) -> bool:
        return self._txn.get(_hash(url), db=self._urls) is not None

    def _put(self, key: bytes, entry: Entry, state: UrlState, reason: str) -> None:
        head = f"{state.value}{reason.replace(_END, ' ')}{_END}".encode("utf-8", "replace")
        self._txn.put(key, head + _encode(entry), db=self._urls)

    def add(self, entry: Entry) -> None:
        key = _hash(entry.url)
        self._put(key, entry, UrlState.WAITING, "")
        place = _QUEUE_KEY.pack(self._arm_number(entry.arm), _descending(entry.score), entry.sequence)
        self._txn.put(place, key, db=self._queue)
        self._txn.delete(key, db=self._flight)

    def refuse(self, entry: Entry, reason: str) -> None:
        self._put(_hash(entry.url), entry, UrlState.REFUSED, reason)

    def _at_arm(self, arm: str) -> bool:
        """Put the queue's cursor on the arm's first entry, if it has one."""
        number = self._arm_numbers.get(arm)
        if number is None:
            return False
        prefix = _ARM_KEY.pack(number)
        return bool(self._queue_cursor.set_range(prefix)) and bytes(self._queue_cursor.key()[:4]) == prefix

    def pop(self, arm: str) -> Entry | None:
        if not self._at_arm(arm):
            return None
        key = bytes(self._queue_cursor.value())
        self._queue_cursor.delete()
        self._txn.put(key, b"", db=self._flight)
        found = self._read(key)
        if found is None:
            raise ValueError(f"the frontier's queue names a URL that it does not know (arm {arm!r})")
        return found[0]

    def best(self, arm: str) -> float | None:
        if not self._at_arm(arm):
            return None
        return _score(_QUEUE_KEY.unpack(self._queue_cursor.key())[1])

    def finish(self, entry: Entry, state: UrlState, reason: str) -> None:
        key = _hash(entry.url)
        self._put(key, entry, state, reason)
        self._txn.delete(key, db=self._flight)

    def waiting(self) -> Iterator[tuple[str, str, int]]:
        counts: dict[int, int] = {}
        first: dict[int, bytes] = {}
        for key, value in self._txn.cursor(db=self._queue):
            number = _ARM_KEY.unpack(key[:4])[0]
            counts[number] = counts.get(number, 0) + 1
            first.setdefault(number, bytes(value))
        names = {number: arm for arm, number in self._arm_numbers.items()}
        for number, count in counts.items():
            found = self._read(first[number])
            if found is not None:
                yield names[number], host_of(found[0].url), count

    def recover(self) -> int:
        lost = [bytes(key) for key, _ in self._txn.cursor(db=self._flight)]
        for key in lost:
            found = self._read(key)
            if found is not None:
                self.add(found[0])
            self._txn.delete(key, db=self._flight)
        return len(lost)

    def _read(self, key: bytes) -> tuple[Entry, UrlState, str] | None:
        value = self._txn.get(key, db=self._urls)
        if value is None:
            return None
        head, _, body = bytes(value).partition(_END.encode())
        text = head.decode()
        return _decode_entry(body), UrlState(text[0]), text[1:]

    def find(self, url: str) -> tuple[Entry, UrlState, str] | None:
        key = _hash(url)
        found = self._read(key)
        if found is not None and self._txn.get(key, db=self._flight) is not None:
            return found[0], UrlState.IN_FLIGHT, found[2]
        return found

    def put_host(self, host: HostRecord) -> None:
        self._txn.put(_hash(host.name), _encode(host), db=self._hosts)

    def hosts(self) -> Iterator[HostRecord]:
        for _, value in self._txn.cursor(db=self._hosts):
            yield _decode_host(value)

    def append_visit(self, number: int, record: bytes) -> None:
        self._txn.put(_NUMBER_KEY.pack(number), record, db=self._visits)

    def visits(self) -> Iterator[bytes]:
        for _, value in self._txn.cursor(db=self._visits):
            yield bytes(value)

    def put_note(self, key: str, value: bytes) -> None:
        self._txn.put(key.encode(), value, db=self._notes)

    def note(self, key: str) -> bytes | None:
        value = self._txn.get(key.encode(), db=self._notes)
        return None if value is None else bytes(value)

    def commit(self) -> None:
        try:
            self._txn.commit()
        except lmdb.Error as error:
            raise OSError(f"the frontier could not be written: {error}") from error
        self._begin()

    def close(self) -> None:
        self._txn.abort()
        self._env.close()
