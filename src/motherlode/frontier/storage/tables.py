"""The LMDB file with its tables for hosts, visits, pages, notes and batches, and a bound on its mapped memory.

LMDB maps its whole file. Pages that were read count as memory of this process until the system runs short of memory:
2 GB with ten million URLs, while the frontier itself uses 1 GB. Monitoring tools and memory limits do not distinguish
the two. So the mapping is released when much of it is resident. The pages stay in the page cache of the system, and
the next read maps them again, sixteen at a time.
"""

import ctypes
import os
import struct
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import lmdb
import msgspec
import xxhash

from motherlode.frontier.records import HostRecord
from motherlode.model import FailureKind, Visit

MAX_RESIDENT_BYTES = 512 << 20
"""Resident bytes of mapped files, including libraries, above which the mapping is released."""
_READS_PER_CHECK = 10_000
"""Reads between two checks of the resident memory. Reads at distant offsets add about 100 MB in this interval."""
_MADV_DONTNEED = 4
"""MADV_DONTNEED of Linux: release the resident pages of a range. A read-only mapping loses no data."""


class FileMapping:
    """The memory mapping of one file. It is never released on systems without /proc/self/maps."""

    def __init__(self, path: Path, *, max_resident_bytes: int = MAX_RESIDENT_BYTES) -> None:
        self._max_resident_bytes = max_resident_bytes
        self._range = _mapped_range(path)
        self._reads = 0

    def count_reads(self, times: int) -> None:
        """Count reads of the file. After every 10,000 of them, call `trim`."""
        self._reads += times
        if self._reads >= _READS_PER_CHECK:
            self._reads = 0
            self.trim()

    def trim(self) -> bool:
        """Release the mapping if more than the limit is resident. Return whether it was released."""
        if self._range is None or resident_bytes() <= self._max_resident_bytes:
            return False
        start, length = self._range
        return bool(ctypes.CDLL(None).madvise(ctypes.c_void_p(start), ctypes.c_size_t(length), _MADV_DONTNEED) == 0)


def resident_bytes() -> int:
    """Return the resident bytes of mapped files of this process; 0 if the system has no /proc/self/statm."""
    try:
        shared = Path("/proc/self/statm").read_bytes().split()[2]
    except OSError:
        return 0
    return int(shared) * os.sysconf("SC_PAGE_SIZE")


def _mapped_range(path: Path) -> tuple[int, int] | None:
    """Return start and length of the read-only mapping of a file; None if the file is not mapped."""
    with suppress(OSError):
        name = str(path.resolve())
        for line in Path("/proc/self/maps").read_text(encoding="utf-8", errors="surrogateescape").splitlines():
            addresses, rights, _, _, _, *mapped = line.split(maxsplit=5)
            if mapped == [name] and rights == "r--s":
                start, end = (int(bound, 16) for bound in addresses.split("-"))
                return start, end - start
    return None


# ── Saved entries ────────────────────────────────────────────────────────────────────────────────────


class SavedStateError(OSError):
    """Saved state was written by a newer version of Motherlode."""


class SavedEntry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One saved entry. Writers and readers are modules below `motherlode`."""

    content: str
    written_by: tuple[str, ...]
    read_by: tuple[str, ...]
    if_unreadable: str
    version: int


SAVED_STATE = msgspec.json.decode(Path(__file__).with_name("saved_state.json").read_bytes(), type=dict[str, SavedEntry])
"""The registry of what a crawl saves beside its tables, by key. A plug-in may save other entries, without a version."""
_MAGIC = b"\xc1ML"
"""Begins each entry, before its version. 0xC1 never begins a MessagePack value. An entry without it was written before
the registry existed, and its content is that of version 1."""


def wrap(key: str, content: bytes) -> bytes:
    """Return an entry as it is stored: with its version before the content, if the registry has one for its key."""
    entry = SAVED_STATE.get(key)
    return content if entry is None else _MAGIC + bytes((entry.version,)) + content


def unwrap(key: str, data: bytes) -> bytes:
    """Return the content of a stored entry. Raise SavedStateError if its version is newer than this program."""
    entry = SAVED_STATE.get(key)
    if entry is None or not data.startswith(_MAGIC):
        return data
    version = data[len(_MAGIC)]
    if version > entry.version:
        raise SavedStateError(
            f"the saved entry {key!r} was written by a newer version of Motherlode (format {version}, this one "
            f"reads up to {entry.version}): update Motherlode, or crawl into another folder"
        )
    return data[len(_MAGIC) + 1 :]


# ── Tables ───────────────────────────────────────────────────────────────────────────────────────────

NUMBER_KEY = struct.Struct(">Q")
encode = msgspec.msgpack.Encoder().encode
_NO_LABELS = encode([])
_decode_labels = msgspec.msgpack.Decoder(list[bytes]).decode
_decode_host = msgspec.msgpack.Decoder(HostRecord).decode
_MAP_SIZE = 1 << 40  # address space, not disk space: LMDB extends the file on demand
STORAGE_ERRORS = (lmdb.Error,)
"""Exceptions that any call may raise if the disk is full or the file is damaged."""


class LmdbTables:
    """An LMDB file with one transaction between two commits. One process writes; others open it with `read_only`."""

    def __init__(self, path: Path, *, tables: Sequence[str], read_only: bool) -> None:
        """Open the file with its tables. `tables` are further tables of the subclass."""
        self._read_only = read_only
        try:
            self._env = _open_environment(path, read_only=read_only)
            names = ("hosts", "visits", "notes", *tables)
            self._tables: dict[str, Any] = {
                name: self._env.open_db(name.encode(), create=not read_only) for name in names
            }
            self._batches = None if read_only else self._env.open_db(b"letters")
            self._pages = _open_optional(self._env, b"pages", create=not read_only)
            self._labels = _open_optional(self._env, b"visit_labels", create=not read_only)
            self._aside = _open_optional(self._env, b"aside", create=not read_only)
        except lmdb.Error as error:
            raise OSError(f"the frontier in {path} cannot be opened: {error}") from error
        self._hosts, self._visits = self._tables["hosts"], self._tables["visits"]
        self._notes = self._tables["notes"]
        self._mapping = FileMapping(path / "data.mdb")
        self._txn = self._env.begin(write=not read_only, buffers=True)

    def put_host(self, host: HostRecord) -> None:
        self._txn.put(xxhash.xxh3_128_digest(host.name.encode()), encode(host), db=self._hosts)

    def hosts(self) -> Iterator[HostRecord]:
        for _, value in self._txn.cursor(db=self._hosts):
            yield _decode_host(value)

    def host(self, name: str) -> HostRecord | None:
        value = self._txn.get(xxhash.xxh3_128_digest(name.encode()), db=self._hosts)
        return None if value is None else _decode_host(value)

    def append_visit(self, number: int, record: bytes, key: bytes = b"", labels: Sequence[bytes] = ()) -> None:
        number_key = NUMBER_KEY.pack(number)
        self._txn.put(number_key, record, db=self._visits)
        if not key:
            return
        for earlier in list(self.labelled_visits(key)):
            self._remove_labels(key + NUMBER_KEY.pack(earlier))
        self._txn.put(key + number_key, encode(labels), db=self._labels)
        for label in labels:
            self._txn.put(label + number_key, b"", db=self._labels)

    def _remove_labels(self, key: bytes) -> None:
        """Remove the labels of a visit whose URL is visited again."""
        for label in _decode_labels(self._txn.pop(key, db=self._labels) or _NO_LABELS):
            self._txn.delete(label + key[-NUMBER_KEY.size :], db=self._labels)

    def visit(self, number: int) -> bytes | None:
        """Return the record of a visit by its number."""
        return self._get(NUMBER_KEY.pack(number), self._visits)

    def labelled_visits(self, label: bytes) -> Iterator[int]:
        """Yield the numbers of the visits with a label or key, in order.

        The file of an earlier version may have visits without labels: see `crawler.stats.page_list`.
        """
        if self._labels is None:
            return
        with self._txn.cursor(db=self._labels) as cursor:
            found = cursor.set_range(label)
            while found and (key := bytes(cursor.key())).startswith(label) and len(key) == len(label) + NUMBER_KEY.size:
                yield NUMBER_KEY.unpack_from(key, len(label))[0]
                found = cursor.next()

    def visits(self) -> Iterator[bytes]:
        for _, value in self._txn.cursor(db=self._visits):
            yield bytes(value)

    def newest_visits(self) -> Iterator[bytes]:
        for _, value in self._txn.cursor(db=self._visits).iterprev():
            yield bytes(value)

    def put_note(self, key: str, value: bytes) -> None:
        self._txn.put(key.encode(), wrap(key, value), db=self._notes)

    def note(self, key: str) -> bytes | None:
        value = self._get(key.encode(), self._notes)
        return None if value is None else unwrap(key, value)

    def _get(self, key: bytes, table: Any) -> bytes | None:
        value = self._txn.get(key, db=table)
        return None if value is None else bytes(value)

    def put_page(self, url: str, record: bytes) -> None:
        self._txn.put(xxhash.xxh3_128_digest(url.encode()), record, db=self._pages)

    def page(self, url: str) -> bytes | None:
        return self._get(xxhash.xxh3_128_digest(url.encode()), self._pages)

    def pages(self) -> Iterator[bytes]:
        for _, value in self._txn.cursor(db=self._pages) if self._pages is not None else ():
            yield bytes(value)

    def put_batch(self, number: int, batch: bytes) -> None:
        self._txn.put(NUMBER_KEY.pack(number), batch, db=self._batches)

    def drop_batch(self, number: int) -> None:
        self._txn.delete(NUMBER_KEY.pack(number), db=self._batches)

    def batch(self, number: int) -> bytes | None:
        return self._get(NUMBER_KEY.pack(number), self._batches)

    def batches(self) -> Iterator[tuple[int, bytes]]:
        for key, value in self._txn.cursor(db=self._batches):
            yield NUMBER_KEY.unpack(key)[0], bytes(value)

    def copy(self, path: Path) -> None:
        """Write a copy of the last commit to a new folder. Another thread may call it during the crawl."""
        path.mkdir(parents=True)
        self._env.copy(str(path), compact=True)

    def _commit(self) -> None:
        try:
            self._txn.commit()
        except lmdb.Error as error:
            raise OSError(f"the frontier could not be written: {error}") from error
        self._mapping.trim()
        self._txn = self._env.begin(write=not self._read_only, buffers=True)

    def sync(self) -> None:
        """Make the last commit durable. Without it, a power failure may leave the state of the commit before."""
        try:
            self._env.sync(True)
        except lmdb.Error as error:
            raise OSError(f"the frontier could not be written: {error}") from error

    def close(self) -> None:
        self._txn.abort()
        self._env.close()


def _open_optional(environment: lmdb.Environment, name: bytes, *, create: bool) -> Any:
    """Open a table; None if the file of an earlier version lacks it."""
    try:
        return environment.open_db(name, create=create)
    except lmdb.NotFoundError:
        return None


def _open_environment(path: Path, *, read_only: bool) -> lmdb.Environment:
    """Open the file. A reader that may not write the lock file opens it without, and must finish in a second."""
    environment = partial(
        lmdb.open, str(path), map_size=_MAP_SIZE, max_dbs=32, metasync=False, readonly=read_only, create=not read_only
    )
    try:
        return environment()
    except lmdb.ReadonlyError:
        if not read_only:
            raise
        return environment(lock=False)


# ── Labels of visits ─────────────────────────────────────────────────────────────────────────────────

FAILED_LABEL, PROBLEMS_LABEL, RELEVANT_LABEL = b"f", b"p", b"r"
UNCHANGED = "unchanged"
"""Value of `Visit.refresh` for a page that a revisit found unchanged."""
_NO_FAILURES = frozenset({None, FailureKind.REDIRECT, FailureKind.NOT_MODIFIED})


def visit_key(visit: Visit) -> bytes:
    """Return the key that all visits to a URL share. Only the last visit with a key has labels.

    It is empty for an unchanged page, which the earlier visit still describes.
    """
    return b"" if visit.refresh == UNCHANGED else url_key(visit.url)


def url_key(url: str) -> bytes:
    """Return the key of the visits to a URL."""
    return b"u" + xxhash.xxh3_128_digest(url.encode())


def visit_labels(visit: Visit) -> list[bytes]:
    """Return the labels by which the frontier storage finds a visit (`page_list`)."""
    marks = ((FAILED_LABEL, is_failed(visit)), (PROBLEMS_LABEL, visit.problems), (RELEVANT_LABEL, visit.relevant))
    return [host_label(visit.host), *(label for label, is_set in marks if is_set)]


def is_failed(visit: Visit) -> bool:
    """Return whether the visit gave no page. Redirects and unchanged pages are no failures."""
    return visit.failure not in _NO_FAILURES


def host_label(host: str) -> bytes:
    """Return the label of the visits to a host."""
    return b"h" + xxhash.xxh3_128_digest(host.encode())
