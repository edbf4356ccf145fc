"""The ledger on disk: LMDB, one transaction between two commits.

What a crawl learns is only ever appended; what must be sorted is sorted in bulk:

- `rows`: a running number gives state, reason and entry of a URL.
- `runs`: from the hash of a URL to its row, see runs.py.
- `queue`: arm number, score (so encoded that the best sorts first) and row; the next URL of an arm is one cursor step.
- `flight`: rows handed out and not finished; with a time, where they are to be tried again.
- `arms` gives an arm's number its name and host, `counts` how many of its rows stand in `queue`.
- `hosts`, `visits`, `notes` as their names say; `letters` holds what other shards must be sent, `pages` what is
  known of pages for the next look at them.

Rows beyond the *mark* (a note) wait in a heap in memory for each arm and are in no run: a process that opens the ledger
reads them again. When there are many, a commit is followed by a flush that moves them to `queue` and `runs` in the
order of the keys, in small transactions, and then moves the mark; a crash in between does no harm, since a row that
is in `queue` already is not taken twice. Committing syncs the data; `metasync` is off, so a loss of power may take back
the last commit as a whole but never leaves half of one.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from pathlib import Path

import lmdb
import msgspec
import xxhash

from motherlode.frontier.entries import Entry, HostRecord, UrlState
from motherlode.frontier.keys import (
    ARM_KEY,
    DOUBLE,
    NUMBER_KEY,
    PLACE_BYTES,
    ROW_BITS,
    ROWS,
    WAITING,
    decode_host,
    encode,
    head_of,
    is_about,
    place_of,
    queue_key,
    row_parts,
    score_of,
)
from motherlode.frontier.runs import SLOT_MASK, KnownRows, hash_of
from motherlode.www.urls import host_of

FLUSH_ROWS = 800_000
"""Rows in memory at which a commit is followed by a flush."""
_SLICE = 20_000
"""Rows that are moved in one transaction: bounds the pages that LMDB holds in memory."""
_MAP_SIZE = 1 << 40  # address space, not disk: LMDB grows the file as it needs
_MARK = "mark"
LEDGER_ERRORS = (lmdb.Error,)
"""What may come out of any call where the disk is full or the file damaged."""


class DiskLedger:
    """See the module's story. One process writes; `read_only` opens beside it."""

    def __init__(self, path: Path, *, read_only: bool = False, flush_rows: int = FLUSH_ROWS) -> None:
        self._read_only = read_only
        self._flush_rows = flush_rows
        names = ("rows", "runs", "queue", "flight", "arms", "counts", "hosts", "visits", "notes")
        try:
            self._env = lmdb.open(
                str(path), map_size=_MAP_SIZE, max_dbs=16, metasync=False, readonly=read_only, create=not read_only
            )
            tables = {name: self._env.open_db(name.encode(), create=not read_only) for name in names}
            self._letters = None if read_only else self._env.open_db(b"letters")
            self._pages = None if read_only else self._env.open_db(b"pages")
        except lmdb.Error as error:
            raise OSError(f"the frontier in {path} cannot be opened: {error}") from error
        self._rows, self._queue, self._flight = tables["rows"], tables["queue"], tables["flight"]
        self._arms, self._counts, self._hosts = tables["arms"], tables["counts"], tables["hosts"]
        self._visits, self._notes = tables["visits"], tables["notes"]
        self._known = KnownRows(tables["runs"])
        self._slots = self._known.slots
        self._begin()
        self._arm_numbers: dict[str, int] = {}
        self._arm_hosts: dict[int, str] = {}
        """Of arms that are not named like their host."""
        self._heaps: dict[int, list[int]] = {}
        """For each arm the places of its rows beyond the mark."""
        self._disk_counts: dict[int, int] = {}
        """What must be written to `counts` with the next commit."""
        self._next_row = self._last_row() + 1
        self._mark = self._next_row
        if not read_only:
            self._load()
        self._loaded = not read_only

    # ── opening ──────────────────────────────────────────────────────────────────────────────────────

    def _begin(self) -> lmdb.Transaction:
        self._txn = self._env.begin(write=not self._read_only, buffers=True)
        self._queue_cursor = self._txn.cursor(db=self._queue)
        self._known.forget_views()
        return self._txn

    def _last_row(self) -> int:
        cursor = self._txn.cursor(db=self._rows)
        return int(NUMBER_KEY.unpack(cursor.key())[0]) if cursor.last() else -1

    def _load(self) -> None:
        for key, value in self._txn.cursor(db=self._arms):
            number = ARM_KEY.unpack(key)[0]
            host, apart, arm = bytes(value).decode().partition("\0")
            self._arm_numbers[arm if apart else host] = number
            if apart:
                self._arm_hosts[number] = host
        self._known.load(self._txn)
        self._replay()

    def _replay(self) -> None:
        """Take up the rows beyond the mark: their hashes, and a place in the queue for those that wait."""
        mark = self.note(_MARK)
        self._mark = NUMBER_KEY.unpack(mark)[0] if mark is not None else 0
        cursor = self._txn.cursor(db=self._rows)
        if not cursor.set_range(NUMBER_KEY.pack(self._mark)):
            return
        in_flight = {bytes(key) for key, _ in self._txn.cursor(db=self._flight)}
        for key, value in cursor:
            row = NUMBER_KEY.unpack(key)[0]
            head, entry = row_parts(value)
            self._known.put(hash_of(entry.url), row)
            if head.startswith(WAITING) and bytes(key) not in in_flight:
                number, place = self._arm_number(entry.arm, entry.url), place_of(entry.score, row)
                if self._txn.get(queue_key(number, place), db=self._queue) is None:
                    self._push(number, place)

    # ── URLs ─────────────────────────────────────────────────────────────────────────────────────────

    def _arm_number(self, arm: str, url: str) -> int:
        number = self._arm_numbers.get(arm)
        if number is None:
            number = self._arm_numbers[arm] = len(self._arm_numbers)
            host = host_of(url)
            if host != arm:
                self._arm_hosts[number] = host
            text = arm if host == arm else f"{host}\0{arm}"
            self._txn.put(ARM_KEY.pack(number), text.encode(), db=self._arms, append=True)
        return number

    def _row_of(self, url: str, url_hash: int) -> int | None:
        if not self._loaded:  # a reader looks at many things but rarely at URLs
            self._load()
            self._loaded = True
        if not self._slots[url_hash & SLOT_MASK]:
            return None
        packed = encode(url)
        for row in self._known.rows(self._txn, url_hash):
            value = self._txn.get(NUMBER_KEY.pack(row), db=self._rows)
            if value is not None and is_about(bytes(value), packed):
                return row
        return None

    def known(self, url: str) -> bool:
        url_hash = hash_of(url)
        return bool(self._slots[url_hash & SLOT_MASK] or not self._loaded) and self._row_of(url, url_hash) is not None

    def _put(self, entry: Entry, head: bytes) -> int:
        """Write an entry's row, a new one where its URL was not known."""
        url_hash = hash_of(entry.url)
        row = self._row_of(entry.url, url_hash)
        if row is None:
            row = self._next_row
            self._next_row += 1
            self._txn.put(NUMBER_KEY.pack(row), head + encode(entry), db=self._rows, append=True)
            self._known.put(url_hash, row)
        else:
            key = NUMBER_KEY.pack(row)
            self._txn.put(key, head + encode(entry), db=self._rows)
            self._txn.delete(key, db=self._flight)
        return row

    def add(self, entry: Entry) -> None:
        url_hash = hash_of(entry.url)
        if self._slots[url_hash & SLOT_MASK]:
            self._enqueue(self._put(entry, WAITING), entry)
            return
        row = self._next_row  # from here on what the branch above does, without its questions: most links are new
        self._next_row = row + 1
        self._txn.put(NUMBER_KEY.pack(row), WAITING + encode(entry), db=self._rows, append=True)
        self._slots[url_hash & SLOT_MASK] = 1
        self._known.recent[url_hash] = row
        number = self._arm_numbers.get(entry.arm)
        if number is None:
            number = self._arm_number(entry.arm, entry.url)
        self._push(number, place_of(entry.score, row))

    def _enqueue(self, row: int, entry: Entry) -> None:
        number, place = self._arm_number(entry.arm, entry.url), place_of(entry.score, row)
        if row >= self._mark:
            self._push(number, place)
        elif self._txn.put(queue_key(number, place), b"", db=self._queue, overwrite=False):
            self._disk_counts[number] = self._disk_count(number) + 1

    def _push(self, number: int, place: int) -> None:
        heap = self._heaps.get(number)
        if heap is None:
            self._heaps[number] = [place]
        else:
            heapq.heappush(heap, place)

    def _disk_count(self, number: int) -> int:
        count = self._disk_counts.get(number)
        if count is None:
            value = self._txn.get(ARM_KEY.pack(number), db=self._counts)
            count = 0 if value is None else int(ARM_KEY.unpack(value)[0])
        return count

    def refuse(self, entry: Entry, reason: str) -> None:
        self._put(entry, head_of(UrlState.REFUSED, reason))

    def _first(self, number: int) -> tuple[int, bool] | None:
        """Score and row of the arm's first, as one number, and whether it stands in the table; the cursor is on it."""
        heap = self._heaps.get(number)
        prefix = ARM_KEY.pack(number)
        if self._queue_cursor.set_range(prefix) and (key := bytes(self._queue_cursor.key())).startswith(prefix):
            on_disk = int.from_bytes(key[ARM_KEY.size :], "big")
            if not heap or on_disk < heap[0]:
                return on_disk, True
        return (heap[0], False) if heap else None

    def pop(self, arm: str) -> Entry | None:
        number = self._arm_numbers.get(arm, -1)
        first = self._first(number) if number >= 0 else None
        if first is None:
            return None
        row, on_disk = first[0] & ROWS, first[1]
        if on_disk:
            self._queue_cursor.delete()
            self._disk_counts[number] = self._disk_count(number) - 1
        else:
            heap = self._heaps[number]
            heapq.heappop(heap)
            if not heap:
                del self._heaps[number]
        self._txn.put(NUMBER_KEY.pack(row), b"", db=self._flight)
        found = self._read(row)
        if found is None:
            raise ValueError(f"the frontier's queue names a URL that it does not know (arm {arm!r})")
        return found[0]

    def best(self, arm: str) -> float | None:
        number = self._arm_numbers.get(arm, -1)
        first = self._first(number) if number >= 0 else None
        return None if first is None else score_of(first[0] >> ROW_BITS)

    def ahead_of(self, entry: Entry) -> int:
        """How many entries of its arm would be popped before one that waits."""
        row, number = self._row_of(entry.url, hash_of(entry.url)), self._arm_numbers.get(entry.arm)
        if row is None or number is None:
            return 0
        place = place_of(entry.score, row)
        ahead = sum(other < place for other in self._heaps.get(number, ()))
        cursor, end = self._txn.cursor(db=self._queue), queue_key(number, place)
        on_disk = cursor.set_range(ARM_KEY.pack(number))
        while on_disk and bytes(cursor.key()) < end:
            ahead += 1
            on_disk = cursor.next()
        return ahead

    def finish(self, entry: Entry, state: UrlState, reason: str) -> None:
        self._put(entry, head_of(state, reason))

    def postpone(self, entry: Entry, until: float) -> None:
        self._txn.put(NUMBER_KEY.pack(self._put(entry, WAITING)), DOUBLE.pack(until), db=self._flight)

    def postponed(self) -> Iterator[tuple[float, Entry]]:
        for key, value in self._txn.cursor(db=self._flight):
            found = self._read(NUMBER_KEY.unpack(key)[0]) if len(value) else None
            if found is not None:
                yield DOUBLE.unpack(value)[0], found[0]

    def waiting(self) -> Iterator[tuple[str, str, int]]:
        table = self._txn.cursor(db=self._counts)
        counts = {ARM_KEY.unpack(key)[0]: ARM_KEY.unpack(value)[0] for key, value in table}
        counts.update(self._disk_counts)
        for arm, number in self._arm_numbers.items():
            count = counts.get(number, 0) + len(self._heaps.get(number, ()))
            if count:
                yield arm, self._arm_hosts.get(number, arm), count

    def recover(self) -> int:
        lost = [NUMBER_KEY.unpack(key)[0] for key, value in self._txn.cursor(db=self._flight) if not len(value)]
        for row in lost:
            found = self._read(row)
            if found is not None:
                self._enqueue(row, found[0])
            self._txn.delete(NUMBER_KEY.pack(row), db=self._flight)
        return len(lost)

    def _read(self, row: int) -> tuple[Entry, UrlState, str] | None:
        value = self._txn.get(NUMBER_KEY.pack(row), db=self._rows)
        if value is None:
            return None
        try:
            head, entry = row_parts(value)
            text = head.decode()
            return entry, UrlState(text[0]), text[1:-1]
        except (msgspec.MsgspecError, ValueError, IndexError) as error:
            raise lmdb.CorruptedError(f"the row {row} cannot be read: {error}") from error

    def find(self, url: str) -> tuple[Entry, UrlState, str] | None:
        row = self._row_of(url, hash_of(url))
        found = None if row is None else self._read(row)
        if row is not None and found is not None and self._txn.get(NUMBER_KEY.pack(row), db=self._flight) is not None:
            return found[0], UrlState.IN_FLIGHT, found[2]
        return found

    # ── hosts, visits, notes ─────────────────────────────────────────────────────────────────────────

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

    def entries(self) -> Iterator[tuple[Entry, UrlState, str]]:
        """Every known URL with its state and the reason for it, in the order in which they became known."""
        for _, value in self._txn.cursor(db=self._rows):
            head, entry = row_parts(value)
            text = head.decode()
            yield entry, UrlState(text[0]), text[1:-1]

    # ── what lasts ───────────────────────────────────────────────────────────────────────────────────

    def copy(self, path: Path) -> None:
        """Write what the last commit left to a new folder; another thread may call it while the crawl goes on."""
        path.mkdir(parents=True)
        self._env.copy(str(path), compact=True)

    def commit(self) -> None:
        self._commit()
        if self._next_row - self._mark >= self._flush_rows:
            self._flush()

    def _commit(self) -> None:
        try:
            for number in sorted(self._disk_counts):
                self._txn.put(ARM_KEY.pack(number), ARM_KEY.pack(self._disk_counts[number]), db=self._counts)
            self._disk_counts.clear()
            self._txn.commit()
        except lmdb.Error as error:
            raise OSError(f"the frontier could not be written: {error}") from error
        self._begin()

    def _flush(self) -> None:
        """Move all rows beyond the mark to their places in the tables, then move the mark."""
        moved: list[tuple[bytes, bytes]] = []
        for number in sorted(self._heaps):
            heap = self._heaps.pop(number)
            heap.sort()
            prefix = ARM_KEY.pack(number)
            moved.extend([(prefix + place.to_bytes(PLACE_BYTES, "big"), b"") for place in heap])
            self._disk_counts[number] = self._disk_count(number) + len(heap)
            if len(moved) >= _SLICE:
                self._queue_cursor.putmulti(moved)
                self._commit()
                moved = []
        self._queue_cursor.putmulti(moved)
        self._commit()
        self._known.flush(lambda: self._txn, self._commit)
        self._mark = self._next_row
        self.put_note(_MARK, NUMBER_KEY.pack(self._mark))
        self._commit()

    def close(self) -> None:
        self._known.forget_views()
        self._txn.abort()
        self._env.close()
