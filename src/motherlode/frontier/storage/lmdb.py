"""Frontier storage on disk: LMDB, with one transaction between two commits.

New data is appended. Data that must be sorted is sorted in bulk. The tables:

- `rows`: row number → state, reason and entry of a URL.
- `known`: hash of a URL → row number, see `SeenUrls` in sorted_runs.py.
- `waiting` and `used`: the queue of each arm, see `Queues` in sorted_runs.py.
- `flight`: rows of URLs that were popped and are not finished. The value is the time of the retry, if there is one.
- `names`: names of arms and of their hosts, as lists in the order of their numbers. A name may have several numbers.
- `aside`: lists of the numbers of arms that were set aside to save memory.
- the tables for hosts, visits, pages, notes and batches, see tables.py.

The *mark* (a note) is the first row whose hash and queue key are only in memory. A process that opens the storage
reads the rows from the mark on again. When there are many, a commit also writes them to `known` and `waiting` and moves
the mark, in the same transaction. If a row before the mark waits again, its queue key is in memory, too, and `flight`
has an item for it until the next flush. So `known`, `waiting` and `used` can be rebuilt from `rows` and `flight`.
"""

import struct
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

import lmdb
import msgspec
import xxhash

from motherlode.frontier.records import Entry, UrlState
from motherlode.frontier.storage.sorted_runs import BIT_SHIFT, BYTE_MASK, Queues, SeenUrls
from motherlode.frontier.storage.tables import NUMBER_KEY, LmdbTables, SavedStateError, encode
from motherlode.www.urls import host_of

FLUSH_ROWS = 50_000
"""Number of rows in memory from which a commit writes them to runs. A process that opens the storage reads at most
these rows."""
_MAX_RECENT_URLS = 1 << 16
"""Size at which the cache of known URLs is cleared."""
_MARK = "rows in runs"
_TABLES = ("rows", "known", "waiting", "used", "flight", "names")
_SEPARATOR = "\0"
"""Separates a host from the name of its arm, if the two differ."""
_PUT_BACK = b"+"
"""Value in `flight` of a row that waits again and whose queue key is only in memory."""
_SENTINEL_KEY, _SENTINEL = NUMBER_KEY.pack((1 << 64) - 1), b"."
"""An item of no row, which keeps `flight` from becoming empty. Each time that a table becomes empty, LMDB does not
reuse one page until the commit: 4 KB for each URL that is popped alone or refused when it is popped."""


_ARM_KEY = struct.Struct(">I")
_DOUBLE = struct.Struct(">d")
_END = "\n"
"""Separates the state and the reason, which are the head of a row, from the entry."""
_END_BYTE = _END.encode()
_WAITING = f"{UrlState.WAITING.value}{_END}".encode()
_LONG_ARRAY = 0xDC
"""First byte of a MessagePack array of more than 15 items. Two bytes of length follow."""
hash_of = xxhash.xxh3_64_intdigest
"""The hash of a URL's bytes."""


class _Stub(msgspec.Struct, array_like=True, gc=False):
    """The first fields of an entry (URL, arm, score), which are enough to queue it."""

    url: str
    arm: str
    score: float


_decode_stub = msgspec.msgpack.Decoder(_Stub).decode
_decode_entry = msgspec.msgpack.Decoder(Entry).decode
_decode_names = msgspec.msgpack.Decoder(list[str]).decode
_decode_numbers = msgspec.msgpack.Decoder(list[int]).decode


class LmdbStorage(LmdbTables):
    """Frontier storage in an LMDB file, see the module. One process writes; others may open it with `read_only`."""

    def __init__(self, path: Path, *, read_only: bool = False, flush_rows: int = FLUSH_ROWS) -> None:
        super().__init__(path, tables=_TABLES, read_only=read_only)
        self._check_format()
        self._flush_rows = flush_rows
        self._rows, self._flight, self._names = (self._tables[name] for name in ("rows", "flight", "names"))
        self._known = SeenUrls(self._tables["known"])
        self._queues = Queues(self._tables["waiting"], self._tables["used"])
        self._recent_urls: set[str] = set()
        """A cache of URLs that were looked up recently and are known, because pages repeat many links."""
        self._rows_in_flight: dict[str, int] = {}
        """Rows of URLs in flight. Each is needed once more when the lease ends."""
        self._arm_numbers: dict[str, int] = {}
        """Arm → its number, in the order of the numbers. Arms that were set aside are missing."""
        self._arm_hosts: dict[int, str] = {}
        """Hosts of the arms whose name is not that of their host."""
        self._new_names: list[str] = []
        """Names of the arms that are new since the last commit."""
        self._new_aside: list[int] = []
        """Numbers of the arms that were set aside since the last commit."""
        self._put_back: list[int] = []
        """Rows that got the value `_PUT_BACK` in `flight` since the last flush."""
        self._next_row = self._last_row() + 1
        self._mark = self._next_row
        self._row_cursor = self._txn.cursor(db=self._rows)
        self._loaded = False
        if not read_only:
            if self._txn.get(_SENTINEL_KEY, db=self._flight) is None:
                self._txn.put(_SENTINEL_KEY, _SENTINEL, db=self._flight)
            self._load()

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
        """Load arms, hashes and queues. A read-only storage calls it on the first look-up of a URL, which is rare."""
        self._loaded = True
        aside = self._load_aside()
        lists = self._txn.cursor(db=self._names).iternext(keys=False)
        arms = 0
        for number, name in enumerate(chain.from_iterable(map(_decode_names, lists))):
            arms += 1
            if number in aside:
                continue
            if _SEPARATOR in name:
                self._arm_hosts[number], _, arm = name.partition(_SEPARATOR)
                self._arm_numbers[arm] = number
            else:
                self._arm_numbers[name] = number
        self._known.load(self._txn)
        self._queues.load(self._txn, arms)
        self._replay()

    def _load_aside(self) -> set[int]:
        """Return the numbers of the arms that were set aside."""
        if self._aside is None:
            return set()
        return set(chain.from_iterable(map(_decode_numbers, self._txn.cursor(db=self._aside).iternext(keys=False))))

    def _replay(self) -> None:
        """Restore what was only in memory: hashes and queue keys of rows that are not in sorted runs yet."""
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
            waits, entry = _split_stub(value)
            self._known.put_all([hash_of(entry.url.encode())], row)
            if waits and bytes(key) not in flight:
                self._push(row, entry)

    def _row_of(self, url: str) -> int | None:
        if not self._loaded:
            self._load()
        return self._row_with(hash_of(url.encode()), url)

    def _row_with(self, url_hash: int, url: str) -> int | None:
        """Return the row of a URL among the rows with its hash; None if the URL is not known."""
        packed = encode(url)
        for row in self._known.rows(self._txn, url_hash):
            value = self._txn.get(NUMBER_KEY.pack(row), db=self._rows)
            if value is not None and _is_row_of(bytes(value), packed):
                return row
        return None

    def known_of(self, urls: Sequence[str]) -> list[bool]:
        if not self._loaded:
            self._load()
        answers, recent_urls, recent, bitmap = [], self._recent_urls, self._known.recent, self._known.bitmap
        for url in urls:
            if url in recent_urls:
                answers.append(True)
                continue
            url_hash = hash_of(url.encode())
            may_be_known = url_hash in recent or bitmap[url_hash & BYTE_MASK] >> (url_hash >> BIT_SHIFT) & 1
            if not may_be_known or self._row_with(url_hash, url) is None:
                answers.append(False)
            else:
                answers.append(True)
                recent_urls.add(url)
        if len(recent_urls) > _MAX_RECENT_URLS:
            recent_urls.clear()
        self._mapping.count_reads(len(urls))
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
            return _decode_row(value)
        except (msgspec.MsgspecError, ValueError, IndexError) as error:
            raise lmdb.CorruptedError(f"the row {row} cannot be read: {error}") from error

    def entries(self) -> Iterator[tuple[Entry, UrlState, str]]:
        """Yield every known URL with its state and the reason for the state, in order of discovery."""
        for _, value in self._txn.cursor(db=self._rows):
            yield _decode_row(value)

    def add_new(self, entries: Sequence[Entry]) -> None:
        first = self._next_row
        rows = [(NUMBER_KEY.pack(row), _WAITING + encode(entry)) for row, entry in enumerate(entries, start=first)]
        self._row_cursor.putmulti(rows, append=True)
        self._known.put_all([hash_of(entry.url.encode()) for entry in entries], first)
        self._queues.push_all(self._arms_of(entries), [entry.score for entry in entries], first)
        self._next_row += len(entries)

    def _arms_of(self, entries: Sequence[Entry]) -> list[int]:
        """Return the number of each entry's arm. Consecutive entries often have the same arm and share one look-up."""
        found, last, number = [], None, -1
        for entry in entries:
            arm = entry.arm
            if arm != last:
                number, last = self._arm_number(arm, entry.url), arm
            found.append(number)
        return found

    def add(self, entry: Entry) -> None:
        self._enqueue(self._put(entry, _WAITING), entry)

    def _put(self, entry: Entry, head: bytes) -> int:
        """Write an entry's row, or a new row if its URL was not known. Return the row number."""
        row = self._rows_in_flight.pop(entry.url, None)
        if row is None:
            row = self._row_of(entry.url)
        if row is None:
            row = self._next_row
            self._next_row += 1
            self._txn.put(NUMBER_KEY.pack(row), head + encode(entry), db=self._rows, append=True)
            self._known.put_all([hash_of(entry.url.encode())], row)
        else:
            key = NUMBER_KEY.pack(row)
            self._txn.put(key, head + encode(entry), db=self._rows)
            self._txn.delete(key, db=self._flight)
        return row

    def _push(self, row: int, entry: Entry | _Stub) -> None:
        self._queues.push_all([self._arm_number(entry.arm, entry.url)], [entry.score], row)

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
            self._new_names.append(arm if host == arm else f"{host}{_SEPARATOR}{arm}")
        return number

    def pop(self, arm: str) -> Entry | None:
        number = self._arm_numbers.get(arm)
        row = None if number is None else self._queues.pop(self._txn, number)
        if row is None:
            return None
        self._txn.put(NUMBER_KEY.pack(row), b"", db=self._flight)
        found = self._read(row)
        if found is None:
            raise ValueError(f"internal error: the queue of arm {arm!r} has row {row}, which does not exist")
        self._rows_in_flight[found[0].url] = row
        return found[0]

    def best(self, arm: str) -> float | None:
        number = self._arm_numbers.get(arm)
        return None if number is None else self._queues.best(self._txn, number)

    def count(self, arm: str) -> int:
        number = self._arm_numbers.get(arm)
        return 0 if number is None else self._queues.counts[number]

    def arms(self) -> list[str]:
        return list(self._arm_numbers)

    def arm_host(self, arm: str) -> str:
        return self._arm_hosts.get(self._arm_numbers.get(arm, -1), arm)

    def set_aside(self, arm: str) -> int:
        number = self._arm_numbers.pop(arm, None)
        if number is None:
            return 0
        self._arm_hosts.pop(number, None)
        self._new_aside.append(number)
        count, self._queues.counts[number] = self._queues.counts[number], 0
        return count

    def take_back(self) -> int:
        count = 0
        if self._aside is not None:
            names = list(chain.from_iterable(map(_decode_names, self._txn.cursor(db=self._names).iternext(keys=False))))
            for number in sorted(self._load_aside()):
                host, mark, arm = names[number].partition(_SEPARATOR)
                count += self._take_back_rows(number, arm if mark else host)
            self._txn.drop(self._aside, delete=False)
        return count

    def _take_back_rows(self, number: int, arm: str) -> int:
        """Move the rows of an arm that was set aside to the current queue of the arm. Return their number.

        `number` is the number that the arm had; if it got links later, it has another number now.
        """
        rows = []
        while (row := self._queues.pop(self._txn, number)) is not None:
            rows.append(row)
        for row in rows:
            if (found := self._read(row)) is not None:
                self._enqueue(row, found[0])
        return len(rows)

    def ahead_of(self, entry: Entry) -> int:
        """Return how many entries of the same arm would be popped before a waiting entry."""
        row, number = self._row_of(entry.url), self._arm_numbers.get(entry.arm)
        return 0 if row is None or number is None else self._queues.count_ahead(self._txn, number, entry.score, row)

    def waiting(self) -> Iterator[tuple[str, str, int]]:
        if not self._loaded:
            self._load()
        counts = self._queues.counts
        for arm, number in self._arm_numbers.items():
            if count := counts[number]:
                yield arm, self._arm_hosts.get(number, arm), count

    def finish(self, entry: Entry, state: UrlState, reason: str) -> None:
        self._put(entry, _encode_head(state, reason))

    def postpone(self, entry: Entry, until: float) -> None:
        self._txn.put(NUMBER_KEY.pack(self._put(entry, _WAITING)), _DOUBLE.pack(until), db=self._flight)

    def postponed(self) -> Iterator[tuple[float, Entry]]:
        for key, value in self._txn.cursor(db=self._flight):
            found = self._read(NUMBER_KEY.unpack(key)[0]) if len(value) == _DOUBLE.size else None
            if found is not None:
                yield _DOUBLE.unpack(value)[0], found[0]

    def recover(self) -> int:
        lost = [NUMBER_KEY.unpack(key)[0] for key, value in self._txn.cursor(db=self._flight) if not len(value)]
        for row in lost:
            self._txn.delete(NUMBER_KEY.pack(row), db=self._flight)
            found = self._read(row)
            if found is not None:
                self._enqueue(row, found[0])
        return len(lost)

    def commit(self) -> None:
        if self._next_row - self._mark + len(self._put_back) >= self._flush_rows:
            self._flush()
        if self._new_aside and self._aside is not None:
            self._txn.put(NUMBER_KEY.pack(self._new_aside[0]), encode(self._new_aside), db=self._aside)
            self._new_aside.clear()
        if self._new_names:
            first = len(self._queues.counts) - len(self._new_names)
            self._txn.put(_ARM_KEY.pack(first), encode(self._new_names), db=self._names, append=True)
            self._new_names.clear()
        self._commit()

    def _commit(self) -> None:
        super()._commit()
        self._known.forget_views()
        self._queues.forget_views()
        self._row_cursor = self._txn.cursor(db=self._rows)

    def _flush(self) -> None:
        """Write hashes and queue keys that are only in memory to sorted runs, and save the row that was reached."""
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


def _decode_row(value: memoryview) -> tuple[Entry, UrlState, str]:
    """Decode a row: the entry, its state and the reason for the state."""
    head, _, body = bytes(value).partition(_END_BYTE)
    text = head.decode()
    return _decode_entry(body), UrlState(text[0]), text[1:]


def _is_row_of(value: bytes, packed_url: bytes) -> bool:
    """Return whether a row belongs to a URL, which is the first field after the head and the array length."""
    start = value.index(_END_BYTE) + 1
    return value.startswith(packed_url, start + (3 if value[start] == _LONG_ARRAY else 1))


def _encode_head(state: UrlState, reason: str) -> bytes:
    """Encode state and reason as the head of a row."""
    return f"{state.value}{reason.replace(_END, ' ')}{_END}".encode("utf-8", "replace")


def _split_stub(value: memoryview) -> tuple[bool, _Stub]:
    """Return whether the URL of a row is waiting or in flight, and the first fields of its entry."""
    head, _, body = bytes(value).partition(_END_BYTE)
    return head + _END_BYTE == _WAITING, _decode_stub(body)
