"""A spool on disk: batches wait here, in order, until the endpoint has taken them.

One file a batch, written beside its place and moved there whole, so a kill leaves a batch or none. What the endpoint
refuses for good is moved aside with the reason, and is never thrown away.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections import deque
from collections.abc import Sequence
from pathlib import Path

import msgspec

from motherlode.index.sinks.changes import PageChange

_ENDING = ".batch"
_TROUBLE = "trouble.txt"
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[PageChange]).decode


class SpoolFullError(OSError):
    """More waits for the endpoint than the user lets wait."""


class Spool:
    """First in, first out; one thread puts, one takes."""

    def __init__(self, folder: Path, *, most_bytes: int) -> None:
        self._folder = folder
        self._refused = folder / "refused"
        self._refused.mkdir(parents=True, exist_ok=True)
        self._most = most_bytes
        self._lock = threading.Lock()
        found = sorted(folder.glob(f"*{_ENDING}"))
        self._line = deque((path, path.stat().st_size) for path in found)
        self._bytes = sum(size for _, size in self._line)
        aside = (int(path.name.partition("-")[0]) for path in self._refused.glob(f"*{_ENDING}"))
        self._number = max([*(int(path.stem) for path in found), *aside], default=0)
        for half in folder.glob("*.new"):
            half.unlink()

    def __len__(self) -> int:
        with self._lock:
            return len(self._line)

    def put(self, changes: Sequence[PageChange]) -> None:
        """Keep a batch; it survives the end of this process from here on."""
        data = _encode(list(changes))
        with self._lock:
            if self._line and self._bytes + len(data) > self._most:  # one may always wait, or none would ever be sent
                raise SpoolFullError(
                    f"{self._bytes:,} bytes wait in {self._folder}, and no more may: when the endpoint takes them "
                    "again, `motherlode resume` goes on; the sink's key `spool` lets more wait"
                )
        self._number += 1
        path = self._folder / f"{self._number:012d}{_ENDING}"
        fresh = path.with_suffix(".new")
        fresh.write_bytes(data)
        fresh.rename(path)
        with self._lock:
            self._line.append((path, len(data)))
            self._bytes += len(data)

    def first(self) -> list[PageChange] | None:
        """The batch that has waited longest."""
        with self._lock:
            path = self._line[0][0] if self._line else None
        return None if path is None else _decode(path.read_bytes())

    def drop_first(self) -> None:
        """The endpoint has it."""
        with self._lock:
            path, size = self._line.popleft()
            self._bytes -= size
        path.unlink()

    def set_aside(self, change: PageChange, reason: str) -> None:
        """Keep a page that the endpoint refuses, with what it said."""
        with self._lock:
            number = int(self._line[0][0].stem)
        # by the page's name: after a kill, or an end in the middle of a batch, it is refused again
        digest = hashlib.sha256(change.page.encode("utf-8", "replace")).hexdigest()
        path = self._refused / f"{number:012d}-{digest[:16]}{_ENDING}"
        path.write_bytes(_encode([change]))
        path.with_suffix(".txt").write_text(f"{change.page}\n{reason}\n", encoding="utf-8")

    def note_trouble(self, trouble: str) -> None:
        """Keep the reason why nothing is taken just now, for who looks from outside; "" where there is none."""
        path = self._folder / _TROUBLE
        if trouble:
            path.write_text(trouble, encoding="utf-8", errors="replace")
        else:
            path.unlink(missing_ok=True)

    def sync(self) -> None:
        """Make what was put survive a loss of power."""
        with self._lock:
            paths = [path for path, _ in self._line]
        for path in [
            *paths[-64:],
            self._folder,
        ]:  # those before were synced by earlier calls, or by the system long ago
            try:
                handle = os.open(path, os.O_RDONLY)
            except FileNotFoundError:
                continue  # sent in the meantime
            try:
                os.fsync(handle)
            finally:
                os.close(handle)


def spool_counts(folder: Path) -> tuple[int, int]:
    """Batches that wait, and pages that were refused, for who looks from outside."""
    return len(list(folder.glob(f"*{_ENDING}"))), len(list((folder / "refused").glob(f"*{_ENDING}")))


def spool_trouble(folder: Path) -> str:
    """Why the last attempt to send something failed; "" where it did not."""
    try:
        return (folder / _TROUBLE).read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
