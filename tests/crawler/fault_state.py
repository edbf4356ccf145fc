"""Faults for a run of the command line: the state shared with `fault_library.c`, and the rollback after a power loss.

The library is built with gcc and preloaded. It counts the calls that write, sync, rename, truncate and unlink files of
a crawl folder, and the calls that start processes. Counts are those of the whole process tree of a run. One call, given
by its number, fails, or ends all processes as a power loss does.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import subprocess
from dataclasses import dataclass
from enum import Enum, IntEnum
from pathlib import Path
from random import Random

_SOURCE = Path(__file__).with_name("fault_library.c")
_MAX_PATH = 512
_STATE_BYTES = 1 << 16
_SECTOR_BYTES = 512


class Kind(IntEnum):
    """A kind of calls that are counted. ANY_IO counts all calls on files."""

    WRITE = 0
    SYNC = 1
    RENAME = 2
    TRUNCATE = 3
    MSYNC = 4
    UNLINK = 5
    FORK = 6
    EXEC = 7
    ANY_IO = 8


class Action(IntEnum):
    """The effect on a call: it fails once, it and all later ones of its kind fail, or the power is lost."""

    NOTHING = 0
    FAIL_ONCE = 1
    FAIL_FROM = 2
    LOSE_POWER = 3


class Loss(Enum):
    """The effect of a power loss on changes that were not synced."""

    DROPPED = "dropped"
    """No change of data reaches the disk; all renames and unlinks do."""
    TORN = "torn"
    """Some sectors of 512 bytes reach the disk, and some of the renames and unlinks."""
    UNDONE = "undone"
    """Neither data nor renames and unlinks reach the disk, unless file or folder was synced after them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A fault of one run."""

    kind: Kind = Kind.WRITE
    action: Action = Action.NOTHING
    at: int = 0
    """Number of the call, from 1."""
    error: int = 0
    loss: Loss = Loss.DROPPED
    tree_bytes: int = 0
    """Limit of the address space of every process; 0 means no limit."""
    child_bytes: int = 0
    """Limit of the address space of the processes that the command starts; 0 means no limit."""

    @property
    def name(self) -> str:
        """A name of the kind of fault."""
        if self.action is Action.NOTHING:
            return "memory"
        return "power loss" if self.action is Action.LOSE_POWER else self.kind.name.lower()

    def __str__(self) -> str:
        if self.action is Action.NOTHING:
            limits = {"all processes": self.tree_bytes, "child processes": self.child_bytes}
            return "; ".join(f"{size / 1e6:,.0f} MB for {name}" for name, size in limits.items() if size) or "no fault"
        if self.action is Action.LOSE_POWER:
            return f"power loss ({self.loss.value}) at call {self.at}"
        until = " and all later ones" if self.action is Action.FAIL_FROM else ""
        return f"{self.kind.name.lower()} {self.at}{until}: {os.strerror(self.error)}"


class _State(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_int32) for name in ("armed", "kind", "action", "error")),
        ("at", ctypes.c_int64),
        *((name, ctypes.c_int32) for name in ("keeps_undo", "server")),
        *((name, ctypes.c_int64) for name in ("tree_bytes", "child_bytes", "hits")),
        ("counts", ctypes.c_int64 * len(Kind)),
        *((name, ctypes.c_char * _MAX_PATH) for name in ("folder", "undo", "hit_path")),
        *((name, ctypes.c_int32) for name in ("dead", "processes")),
    ]


class FaultState:
    """The state file, mapped into this process and into those of the runs."""

    def __init__(self, path: Path) -> None:
        path.write_bytes(bytes(_STATE_BYTES))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), _STATE_BYTES)
        self._state = _State.from_buffer(self._map)
        self._undo = path.with_name("undo")

    def arm(self, folder: Path, fault: Fault) -> None:
        """Count the calls of the next run on files of the folder, and let it have the fault."""
        state = self._state
        self.disarm()
        state.kind, state.action, state.at, state.error = fault.kind, fault.action, fault.at, fault.error
        state.tree_bytes, state.child_bytes = fault.tree_bytes, fault.child_bytes
        state.keeps_undo = fault.action is Action.LOSE_POWER
        state.hits = state.dead = state.processes = 0
        state.counts = (ctypes.c_int64 * len(Kind))()
        state.folder, state.undo, state.hit_path = os.fsencode(folder), os.fsencode(self._undo), b""
        for path in self._undo.parent.glob("undo*"):
            path.unlink()
        state.armed = 1

    def disarm(self) -> None:
        self._state.armed = 0

    @property
    def hits(self) -> int:
        """Number of calls of the last run that failed."""
        return int(self._state.hits)

    @property
    def hit_path(self) -> str:
        """Path of the first call that failed."""
        return os.fsdecode(self._state.hit_path)

    @property
    def counts(self) -> dict[Kind, int]:
        """Numbers of calls of the last run."""
        return {kind: int(self._state.counts[kind]) for kind in Kind}

    def roll_back(self, folder: Path, loss: Loss, random: Random) -> None:
        """Take back changes of the last run that were not synced, after all its processes have ended."""
        if self._undo.exists():
            entries = _read_entries(self._undo)
            _roll_back_names(entries, self._undo, loss, random)
            _roll_back_data(entries, folder, loss, random)


def build_library(folder: Path) -> Path:
    """Build the library into a folder. FileNotFoundError if there is no gcc."""
    target = folder / "faults.so"
    command = ["gcc", "-O1", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-o", str(target), str(_SOURCE)]
    subprocess.run([*command, "-ldl", "-lpthread"], check=True)
    return target


# ── rollback


class _Change(IntEnum):
    CHANGED = 1
    SYNCED = 2
    RENAMED = 3
    UNLINKED = 4


class _Entry(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_int32) for name in ("change", "is_directory")),
        *((name, ctypes.c_int64) for name in ("inode", "offset", "size", "bytes", "saved")),
        *((name, ctypes.c_char * _MAX_PATH) for name in ("path", "target")),
    ]
    data: bytes = b""


def _read_entries(path: Path) -> list[_Entry]:
    found, log, offset = [], path.read_bytes(), 0
    while offset + ctypes.sizeof(_Entry) <= len(log):
        entry = _Entry.from_buffer_copy(log, offset)
        offset += ctypes.sizeof(_Entry)
        entry.data = log[offset : offset + entry.bytes]
        offset += entry.bytes
        found.append(entry)
    return found


def _roll_back_names(entries: list[_Entry], undo: Path, loss: Loss, random: Random) -> None:
    """Undo renames and unlinks that were not synced, the last first."""
    unsynced = [entry for index, entry in enumerate(entries) if _is_unsynced_name(entry, entries[index + 1 :])]
    kept = {Loss.DROPPED: len(unsynced), Loss.UNDONE: 0}.get(loss, random.randint(0, len(unsynced)))
    for entry in reversed(unsynced[kept:]):
        path, target = (Path(os.fsdecode(name)) for name in (entry.path, entry.target))
        saved = undo.with_name(f"{undo.name}.{entry.saved}")
        if entry.change == _Change.RENAMED and target.exists() and path.parent.is_dir():
            target.rename(path)
            path = target
        if entry.saved and path.parent.is_dir() and not path.exists():
            os.link(saved, path)


def _is_unsynced_name(entry: _Entry, later: list[_Entry]) -> bool:
    """Return whether a rename or unlink may be lost: neither its folder nor the renamed file was synced later."""
    if entry.change not in (_Change.RENAMED, _Change.UNLINKED):
        return False
    folder = (entry.target or entry.path).rpartition(b"/")[0]
    synced = [one for one in later if one.change == _Change.SYNCED]
    return not any(one.path == folder or (entry.target and one.inode == entry.inode) for one in synced)


def _roll_back_data(entries: list[_Entry], folder: Path, loss: Loss, random: Random) -> None:
    unsynced: dict[int, list[_Entry]] = {}
    for entry in entries:
        if entry.change == _Change.SYNCED:
            unsynced.pop(entry.inode, None)
        elif entry.change == _Change.CHANGED:
            unsynced.setdefault(entry.inode, []).append(entry)
    for path in sorted(folder.rglob("*")):
        changes = unsynced.pop(path.stat().st_ino, None) if path.is_file() else None
        if changes:
            new = path.read_bytes()
            old = _previous_content(new, changes)
            content = _tear(old, new, random) if loss is Loss.TORN else old
            with path.open("r+b") as file:
                file.truncate()
                file.write(content)


def _previous_content(content: bytes, changes: list[_Entry]) -> bytes:
    found = bytearray(content)
    for entry in reversed(changes):
        found.extend(bytes(max(0, entry.offset - len(found))))
        found[entry.offset : entry.offset + len(entry.data)] = entry.data
        found.extend(bytes(max(0, entry.size - len(found))))
        del found[entry.size :]
    return bytes(found)


def _tear(old: bytes, new: bytes, random: Random) -> bytes:
    """Return a content of which each sector is the old or the new one, with the old or the new length."""
    size = random.choice((len(old), len(new)))
    parts = []
    for start in range(0, size, _SECTOR_BYTES):
        end = min(start + _SECTOR_BYTES, size)
        parts.append(random.choice((old, new))[start:end].ljust(end - start, b"\0"))
    return b"".join(parts)
