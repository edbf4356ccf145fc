"""Storage of a link selector: in memory, or in a folder that survives a crash of the process."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import lmdb
import msgspec

from motherlode.frontier import Entry

_MAX_MAP_BYTES = 1 << 38
"""Address space of the memory map. The file grows with its content only."""
_FORMAT = b"1"
_FORMAT_KEY = b"format"


class WaitingLink(msgspec.Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """A link that waits or is being fetched."""

    entry: Entry
    """The URL and its rating. `entry.sequence` identifies the link."""
    queue: str
    """Queue key of the crawler: links with one key share a delay and a limit of concurrency."""
    priority: int = 0
    """Links of a higher priority are chosen first, whatever the policy says."""
    payload: bytes = b""
    """Bytes of the crawler, such as its serialized request."""


class SelectorStorage(Protocol):
    """Keeps the links of a selector, the keys of known requests, and named states."""

    def put(self, link: WaitingLink) -> None: ...

    def get(self, number: int) -> WaitingLink: ...

    def remove(self, number: int) -> None: ...

    def links(self) -> Iterator[WaitingLink]: ...

    def add_key(self, key: bytes) -> bool:
        """Remember a key. Return False if it is known."""

    def put_state(self, name: str, state: bytes) -> None: ...

    def state(self, name: str) -> bytes | None: ...

    def save(self) -> None:
        """Make all changes since the last call durable, or none of them if the process ends before."""

    def close(self) -> None:
        """Close the storage without saving."""


class SelectorMemory:
    """Storage in memory; `save` does nothing."""

    def __init__(self) -> None:
        self._links: dict[int, WaitingLink] = {}
        self._keys: set[bytes] = set()
        self._states: dict[str, bytes] = {}

    def put(self, link: WaitingLink) -> None:
        self._links[link.entry.sequence] = link

    def get(self, number: int) -> WaitingLink:
        return self._links[number]

    def remove(self, number: int) -> None:
        del self._links[number]

    def links(self) -> Iterator[WaitingLink]:
        return iter(list(self._links.values()))

    def add_key(self, key: bytes) -> bool:
        if key in self._keys:
            return False
        self._keys.add(key)
        return True

    def put_state(self, name: str, state: bytes) -> None:
        self._states[name] = state

    def state(self, name: str) -> bytes | None:
        return self._states.get(name)

    def save(self) -> None: ...

    def close(self) -> None: ...


class SelectorFolder:
    """Storage in an LMDB file. Changes since the last `save` are lost if the process is killed."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = (folder / "lock").open("w")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.close()
            raise ValueError(f"{folder} is in use by another process: end it first, or use another folder") from None
        self._environment = lmdb.open(str(folder), map_size=_MAX_MAP_BYTES, max_dbs=4, metasync=False)
        self._links, self._keys, self._states = (
            self._environment.open_db(name) for name in (b"links", b"keys", b"states")
        )
        self._transaction = self._environment.begin(write=True)
        found = self._transaction.get(_FORMAT_KEY, db=self._states)
        if found not in (None, _FORMAT):
            self.close()
            raise ValueError(f"{folder} has format {found.decode()}, and this version reads format {_FORMAT.decode()}")
        self._transaction.put(_FORMAT_KEY, _FORMAT, db=self._states)
        self._decoder = msgspec.msgpack.Decoder(WaitingLink)

    def put(self, link: WaitingLink) -> None:
        self._transaction.put(_key(link.entry.sequence), msgspec.msgpack.encode(link), db=self._links)

    def get(self, number: int) -> WaitingLink:
        data = self._transaction.get(_key(number), db=self._links)
        if data is None:
            raise KeyError(number)
        return self._decoder.decode(data)

    def remove(self, number: int) -> None:
        if not self._transaction.delete(_key(number), db=self._links):
            raise KeyError(number)

    def links(self) -> Iterator[WaitingLink]:
        for _, data in self._transaction.cursor(db=self._links):
            yield self._decoder.decode(data)

    def add_key(self, key: bytes) -> bool:
        return bool(self._transaction.put(key, b"", db=self._keys, overwrite=False))

    def put_state(self, name: str, state: bytes) -> None:
        self._transaction.put(name.encode(), state, db=self._states)

    def state(self, name: str) -> bytes | None:
        found: bytes | None = self._transaction.get(name.encode(), db=self._states)
        return found

    def save(self) -> None:
        self._transaction.commit()
        self._transaction = self._environment.begin(write=True)

    def close(self) -> None:
        self._transaction.abort()
        self._environment.close()
        self._lock.close()


def _key(number: int) -> bytes:
    return number.to_bytes(8, "big")
