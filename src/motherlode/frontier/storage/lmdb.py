"""The ledger on disk: LMDB, one transaction between two commits.

What a crawl learns is only ever appended; what must be sorted is sorted in bulk:

- `rows`: a running number gives state, reason and entry of a URL.
- `known`: from the hash of a URL to its row, see known.py.
- `waiting` and `used`: the queue of each arm, see queues.py.
- `flight`: rows handed out and not finished; with a time, where they are to be tried again.
- `names`: names of arms, and of their hosts, as lists in the order of their numbers.
- the others hold what is written down beside the URLs, see records.py.

Rows beyond the *mark* (a note) are in memory only, as far as hashes and queues are concerned: a process that opens the
ledger reads them again. When there are many, a commit also writes them to `known` and `waiting` and moves the mark, all
in the same transaction. A row before the mark that waits again is in memory, too, and noted in `flight` until then. So
`known`, `waiting` and `used` could always be made again from `rows` and `flight`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

import lmdb
import msgspec

from motherlode.frontier.lease import Entry, UrlState
from motherlode.frontier.storage.queues import Queues
from motherlode.frontier.storage.sorted_runs import (
    ARM_KEY,
    BIT_SHIFT,
    BYTE_MASK,
    DOUBLE,
    NUMBER_KEY,
    WAITING,
    SeenUrls,
    Stub,
    decode_names,
    encode,
    hash_of,
    head_of,
    is_about,
    row_parts,
    row_stub,
)
from motherlode.frontier.storage.tables import LmdbTables
from motherlode.model.saved_state import SavedStateError
from motherlode.www.urls import host_of

FLUSH_ROWS = 50_000
"""Rows in memory at which a commit writes them to runs: a process that opens the ledger reads no more than these."""
_LATELY = 1 << 16
"""URLs of that kind that are remembered before all of them are forgotten."""
_MARK = "rows in runs"
_TABLES = ("rows", "known", "waiting", "used", "flight", "names")
_APART = "\0"
"""Between a host and an arm that is not named like it."""
_PUT_BACK = b"+"
"""Marks a row in `flight` that waits, and whose place in a queue is in memory only."""
_BOOKEND_KEY, _BOOKEND = NUMBER_KEY.pack((1 << 64) - 1), b"."
"""Of no row. It keeps `flight` from becoming empty, for each time that a table does, LMDB lets a page go to waste until
the commit: four kilobytes for each URL that is handed out alone, or refused when its turn comes."""


class LmdbStorage(LmdbTables):
    """See the module's story. One process writes; `read_only` opens beside it."""

    def __init__(self, path: Path, *, read_only: bool = False, flush_rows: int = FLUSH_ROWS) -> None:
        super().__init__(path, tables=_TABLES, read_only=read_only)
        self._check_format()
        self._flush_rows = flush_rows
        self._rows, self._flight, self._names = (self._tables[name] for name in ("rows", "flight", "names"))
        self._known = SeenUrls(self._tables["known"])
        self._queues = Queues(self._tables["waiting"], self._tables["used"])
        self._lately: set[str] = set()
        """URLs that pages mention again and again: those that were asked for of late and were known."""
        self._out: dict[str, int] = {}
        """Rows of URLs that were popped and have not come back: each will be wanted once more."""
        self._arm_numbers: dict[str, int] = {}
        """In the order of the numbers."""
        self._arm_hosts: dict[int, str] = {}
        """Of arms that are not named like their host."""
        self._new_names: list[str] = []
        """Of arms that have come since the last commit."""
        self._put_back: list[int] = []
        """Rows that were marked so since the last flush."""
        self._next_row = self._last_row() + 1
        self._mark = self._next_row
        self._row_cursor = self._txn.cursor(db=self._rows)
        self._loaded = False
        if not read_only:
            if self._txn.get(_BOOKEND_KEY, db=self._flight) is None:
                self._txn.put(_BOOKEND_KEY, _BOOKEND, db=self._flight)
            self._load()

    # ── opening ──────────────────────────────────────────────────────────────────────────────────────

    def _check_format(self) -> None:
        """Raise SavedStateError if a newer version of Motherlode wrote the folder."""
        try:
            self.note("format")
        except SavedStateError:
            super().close()
            raise

    def _last_row(self) -> int:
        cursor = self._txn.cursor(db=self._rows)
        return int(NUMBER_KEY.unpack(cursor.key())[0]) if cursor.last() else -1

    def _load(self) -> None:
        """A writer does so at once, a reader when it is asked for URLs: that is rare among what it looks at."""
        self._loaded = True
        lists = self._txn.cursor(db=self._names).iternext(keys=False)
        for number, name in enumerate(chain.from_iterable(map(decode_names, lists))):
            if _APART in name:
                self._arm_hosts[number], _, arm = name.partition(_APART)
                self._arm_numbers[arm] = number
            else:
                self._arm_numbers[name] = number
        self._known.load(self._txn)
        self._queues.load(self._txn, len(self._arm_numbers))
        self._replay()

    def _replay(self) -> None:
        """Take up what is in memory only: hashes of rows beyond the mark, and places of those that wait."""
        mark = self.note(_MARK)
        self._mark = NUMBER_KEY.unpack(mark)[0] if mark is not None else 0
        flight = {bytes(key): bytes(value) for key, value in self._txn.cursor(db=self._flight)}
        for row in [NUMBER_KEY.unpack(key)[0] for key, value in flight.items() if value == _PUT_BACK]:
            found = self._read(row)
            if found is not None:
                self._push(row, found[0])
                self._put_back.append(row)
        cursor = self._txn.cursor(db=self._rows)
        if not cursor.set_range(NUMBER_KEY.pack(self._mark)):
            return
        for key, value in cursor:
            row = NUMBER_KEY.unpack(key)[0]
            waits, entry = row_stub(value)
            self._known.put(hash_of(entry.url.encode()), row)
            if waits and bytes(key) not in flight:
                self._push(row, entry)

    # ── known URLs ───────────────────────────────────────────────────────────────────────────────────

    def _row_of(self, url: str) -> int | None:
        if not self._loaded:
            self._load()
        url_hash = hash_of(url.encode())
        return self._row_with(url_hash, url)

    def _row_with(self, url_hash: int, url: str) -> int | None:
        """The row of a URL among those that share its hash."""
        packed = encode(url)
        for row in self._known.rows(self._txn, url_hash):
            value = self._txn.get(NUMBER_KEY.pack(row), db=self._rows)
            if value is not None and is_about(bytes(value), packed):
                return row
        return None

    def known(self, url: str) -> bool:
        return self._row_of(url) is not None

    def known_of(self, urls: Sequence[str]) -> list[bool]:
        if not self._loaded:
            self._load()
        answers, lately, recent, marks = [], self._lately, self._known.recent, self._known.marks
        for url in urls:
            if url in lately:
                answers.append(True)
                continue
            url_hash = hash_of(url.encode())
            may_be = url_hash in recent or marks[url_hash & BYTE_MASK] >> (url_hash >> BIT_SHIFT) & 1
            if not may_be or self._row_with(url_hash, url) is None:
                answers.append(False)
            else:
                answers.append(True)
                lately.add(url)
        if len(lately) > _LATELY:
            lately.clear()
        self._mapping.looked(len(urls))
        return answers

    def find(self, url: str) -> tuple[Entry, UrlState, str] | None:
        row = self._row_of(url)
        found = None if row is None else self._read(row)
        if row is None or found is None:
            return None
        flight = self._txn.get(NUMBER_KEY.pack(row), db=self._flight)
        if flight is not None and bytes(flight) != _PUT_BACK:
            return found[0], UrlState.IN_FLIGHT, found[2]
        return found

    def _read(self, row: int) -> tuple[Entry, UrlState, str] | None:
        value = self._txn.get(NUMBER_KEY.pack(row), db=self._rows)
        if value is None:
            return None
        try:
            return _told(value)
        except (msgspec.MsgspecError, ValueError, IndexError) as error:
            raise lmdb.CorruptedError(f"the row {row} cannot be read: {error}") from error

    def entries(self) -> Iterator[tuple[Entry, UrlState, str]]:
        """Every known URL with its state and the reason for it, in the order in which they became known."""
        for _, value in self._txn.cursor(db=self._rows):
            yield _told(value)

    # ── URLs come in ─────────────────────────────────────────────────────────────────────────────────

    def add_new(self, entries: Sequence[Entry]) -> None:
        first = self._next_row
        rows = [(NUMBER_KEY.pack(row), WAITING + encode(entry)) for row, entry in enumerate(entries, start=first)]
        self._row_cursor.putmulti(rows, append=True)
        self._known.put_all([hash_of(entry.url.encode()) for entry in entries], first)
        self._queues.push_all(self._arms_of(entries), [entry.score for entry in entries], first)
        self._next_row += len(entries)

    def _arms_of(self, entries: Sequence[Entry]) -> list[int]:
        """The number of each entry's arm. Links of one host often stand together: one look-up will do."""
        found, last, number = [], None, -1
        for entry in entries:
            arm = entry.arm
            if arm != last:
                number, last = self._arm_number(arm, entry.url), arm
            found.append(number)
        return found

    def add(self, entry: Entry) -> None:
        self._enqueue(self._put(entry, WAITING), entry)

    def refuse(self, entry: Entry, reason: str) -> None:
        self._put(entry, head_of(UrlState.REFUSED, reason))

    def _put(self, entry: Entry, head: bytes) -> int:
        """Write an entry's row, a new one where its URL was not known."""
        row = self._out.pop(entry.url, None)
        if row is None:
            row = self._row_of(entry.url)
        if row is None:
            row = self._next_row
            self._next_row += 1
            self._txn.put(NUMBER_KEY.pack(row), head + encode(entry), db=self._rows, append=True)
            self._known.put(hash_of(entry.url.encode()), row)
        else:
            key = NUMBER_KEY.pack(row)
            self._txn.put(key, head + encode(entry), db=self._rows)
            self._txn.delete(key, db=self._flight)
        return row

    def _push(self, row: int, entry: Entry | Stub) -> None:
        self._queues.push(self._arm_number(entry.arm, entry.url), entry.score, row)

    def _enqueue(self, row: int, entry: Entry) -> None:
        self._push(row, entry)
        if row < self._mark:
            self._txn.put(NUMBER_KEY.pack(row), _PUT_BACK, db=self._flight)
            self._put_back.append(row)

    def _arm_number(self, arm: str, url: str) -> int:
        number = self._arm_numbers.get(arm)
        if number is None:
            number = self._arm_numbers[arm] = self._queues.new_arm()
            host = host_of(url)
            if host != arm:
                self._arm_hosts[number] = host
            self._new_names.append(arm if host == arm else f"{host}{_APART}{arm}")
        return number

    # ── URLs go out and come to their end ────────────────────────────────────────────────────────────

    def pop(self, arm: str) -> Entry | None:
        number = self._arm_numbers.get(arm)
        row = None if number is None else self._queues.pop(self._txn, number)
        if row is None:
            return None
        self._txn.put(NUMBER_KEY.pack(row), b"", db=self._flight)
        found = self._read(row)
        if found is None:
            raise ValueError(f"the frontier's queue names a URL that it does not know (arm {arm!r})")
        self._out[found[0].url] = row
        return found[0]

    def best(self, arm: str) -> float | None:
        number = self._arm_numbers.get(arm)
        return None if number is None else self._queues.best(self._txn, number)

    def count(self, arm: str) -> int:
        number = self._arm_numbers.get(arm)
        return 0 if number is None else self._queues.counts[number]

    def ahead_of(self, entry: Entry) -> int:
        """How many entries of its arm would be popped before one that waits."""
        row, number = self._row_of(entry.url), self._arm_numbers.get(entry.arm)
        return 0 if row is None or number is None else self._queues.ahead(self._txn, number, entry.score, row)

    def waiting(self) -> Iterator[tuple[str, str, int]]:
        if not self._loaded:
            self._load()
        counts = self._queues.counts
        for arm, number in self._arm_numbers.items():
            if count := counts[number]:
                yield arm, self._arm_hosts.get(number, arm), count

    def finish(self, entry: Entry, state: UrlState, reason: str) -> None:
        self._put(entry, head_of(state, reason))

    def postpone(self, entry: Entry, until: float) -> None:
        self._txn.put(NUMBER_KEY.pack(self._put(entry, WAITING)), DOUBLE.pack(until), db=self._flight)

    def postponed(self) -> Iterator[tuple[float, Entry]]:
        for key, value in self._txn.cursor(db=self._flight):
            found = self._read(NUMBER_KEY.unpack(key)[0]) if len(value) == DOUBLE.size else None
            if found is not None:
                yield DOUBLE.unpack(value)[0], found[0]

    def recover(self) -> int:
        lost = [NUMBER_KEY.unpack(key)[0] for key, value in self._txn.cursor(db=self._flight) if not len(value)]
        for row in lost:
            self._txn.delete(NUMBER_KEY.pack(row), db=self._flight)
            found = self._read(row)
            if found is not None:
                self._enqueue(row, found[0])
        return len(lost)

    # ── what lasts ───────────────────────────────────────────────────────────────────────────────────

    def commit(self) -> None:
        if self._next_row - self._mark + len(self._put_back) >= self._flush_rows:
            self._flush()
        if self._new_names:
            first = len(self._arm_numbers) - len(self._new_names)
            self._txn.put(ARM_KEY.pack(first), encode(self._new_names), db=self._names, append=True)
            self._new_names.clear()
        self._commit()

    def _commit(self) -> None:
        super()._commit()
        self._known.forget_views()
        self._queues.forget_views()
        self._row_cursor = self._txn.cursor(db=self._rows)

    def _flush(self) -> None:
        """Write hashes and places that are in memory only to runs, and move the mark."""
        self._known.flush(self._txn)
        self._queues.flush(self._txn)
        for row in self._put_back:
            key = NUMBER_KEY.pack(row)
            flight = self._txn.get(key, db=self._flight)
            if flight is not None and bytes(flight) == _PUT_BACK:
                self._txn.delete(key, db=self._flight)
        self._put_back.clear()
        self._mark = self._next_row
        self.put_note(_MARK, NUMBER_KEY.pack(self._mark))

    def close(self) -> None:
        self._known.forget_views()
        self._queues.forget_views()
        super().close()


def _told(value: memoryview) -> tuple[Entry, UrlState, str]:
    """What a row says."""
    head, entry = row_parts(value)
    text = head.decode()
    return entry, UrlState(text[0]), text[1:-1]
