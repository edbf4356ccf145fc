"""A store that is not what was written: how the library tells it, and what a person can do about it."""

from __future__ import annotations

import atexit
import contextlib
import errno
import fcntl
import os
import resource
import shutil
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import pyoxigraph as ox


class DamagedError(OSError):
    """Something on disk is not what was written there; the message says what to do."""


def is_damage(error: BaseException) -> bool:
    """Whether the library has met files that contradict each other, or themselves; it says so in words only.

    >>> is_damage(RuntimeError("Corruption: block checksum mismatch")), is_damage(RuntimeError("Already borrowed"))
    (True, False)
    """
    return isinstance(error, (RuntimeError, OSError)) and "Corruption: " in str(error)


def is_full_disk(error: BaseException) -> bool:
    """Whether an error, or what caused it, says that there is no space left; libraries say so in words only.

    >>> is_full_disk(OSError(28, "No space left on device")), is_full_disk(OSError("no such file"))
    (True, False)
    """
    return getattr(error, "errno", None) == errno.ENOSPC or _mentions(error, _FULL)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error, or what caused it, says that there is no memory, or that its limit was met.

    >>> is_out_of_memory(OSError("out/frontier: Cannot allocate memory")), is_out_of_memory(OSError("no such file"))
    (True, False)
    """
    return (
        isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM or _mentions(error, _NO_MEMORY)
    )


def is_refused(error: BaseException) -> bool:
    """Whether the system refused to open or read something, which says nothing about what is on disk.

    >>> is_refused(OSError("IO error: While open a file: a/CURRENT: Permission denied"))
    True
    """
    return is_full_disk(error) or is_out_of_memory(error) or _mentions(error, _REFUSED)


_FULL = ("no space left", "disk full")
_NO_MEMORY = ("cannot allocate memory", "memoryerror", "bad_alloc", "failed to map segment", "memory allocation of")
_WRITER_ENDED = "the process that writes the quad store has ended"
"""A limit of addresses ends it when it starts its threads."""
_REFUSED = (
    "permission denied",
    "operation not permitted",
    "read-only file system",
    "too many open files",
    "resource temporarily unavailable",  # another process holds the lock, or no thread can be started
    _WRITER_ENDED,
)


def _mentions(error: BaseException, words: Sequence[str]) -> bool:
    said = f"{error} {error.__cause__ or ''}".lower()
    return any(word in said for word in words)


def remedy(error: BaseException) -> str:
    """What a person does before a command can go on, as the beginning of a sentence; "" if nothing is known."""
    if is_full_disk(error):
        return "make space on the disk, then "
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit != resource.RLIM_INFINITY and (is_out_of_memory(error) or _mentions(error, (_WRITER_ENDED,))):
        return f"{_lift_limit(limit)}, then "
    return "free some memory, then " if is_out_of_memory(error) else ""


def _lift_limit(limit: int) -> str:
    return (
        f"lift the limit of {limit / 1e9:,.1f} GB of address space (`ulimit -v unlimited`; the frontier's file is "
        "mapped to a terabyte of addresses, not of memory)"
    )


def store_advice(store: Path, why: str) -> str:
    """What to do about a damaged store in the folder of a crawl."""
    folder = store.parent
    return (
        f"the quad store in {store} is damaged: {why.rstrip('. ')}. "
        f"The frontier in {folder / 'frontier'} is untouched. "
        f"`motherlode resume {folder}` cannot go on with it as it is. "
        f"Put back a copy of the store if you have one; or move it away and {_rebuild_advice(folder)}"
    )


def _rebuild_advice(folder: Path) -> str:
    """How a crawl comes to a store again that has lost its own."""
    if (folder / "quads").is_dir():
        return f"`motherlode index {folder}` makes a new one of the files in {folder / 'quads'}."
    again = f"`motherlode resume {folder}` makes a new one and fetches its pages again."
    if not (folder / "warc").exists():
        return again
    return (
        f"{again} All answers are in {folder / 'warc'}, too: `motherlode crawl --web FILE.warc.gz` reads them again "
        "without the network."
    )


# ── A picture of the store that readers may keep while the crawl goes on writing.

_MAX_ATTEMPTS = 60
_DATA = (".sst", ".blob")
_LOG = ".log"


class Snapshot:
    """The store in a folder as it is now; what a writer does later is not seen. Close it when the last answer is read.

    A kill leaves its folder behind, but not the lock in it: the next reader sweeps it away.
    """

    def __init__(self, path: Path) -> None:
        if not (path / "CURRENT").exists():
            raise FileNotFoundError(f"there is no store in {path}")
        self._folder: Path | None = None
        self._lock = -1
        readers = path.with_name(path.name + ".readers")
        try:
            self._folder, self._lock = _create_reader_folder(readers)
        except OSError:  # a folder that may only be read, an old medium perhaps; then nobody writes to it either
            self.store = ox.Store.read_only(str(path))
            return
        self._owner = os.getpid()
        atexit.register(self.close)
        try:
            self.store = _open_snapshot(path, self._folder)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        if self._folder is None or self._owner != os.getpid():
            return
        atexit.unregister(self.close)
        _remove_reader_folder(self._folder, self._lock)
        self._folder = None


def _create_reader_folder(readers: Path) -> tuple[Path, int]:
    """A folder of one's own, and the lock that tells others that it is in use."""
    for _ in range(_MAX_ATTEMPTS):
        try:
            readers.mkdir(exist_ok=True)
            _remove_stale_folders(readers)
            room = Path(tempfile.mkdtemp(dir=readers))
            lock = os.open(room / "held", os.O_CREAT | os.O_RDWR)
            fcntl.flock(lock, fcntl.LOCK_EX)
        except FileNotFoundError:  # the last reader has just left, and has taken the folder of all readers with it
            continue
        if (room / "held").exists():
            return room, lock
        os.close(lock)  # somebody swept it away before it was locked
    raise OSError(f"{readers} does not stay")


def _open_snapshot(path: Path, room: Path) -> ox.Store:
    trouble = ""
    for attempt in range(_MAX_ATTEMPTS):
        folder = room / str(attempt)
        folder.mkdir()
        before = _file_names(path, "")
        try:
            logs = _copy_store(path, folder)
            store = ox.Store.read_only(str(folder))
            if logs == _file_names(path, _LOG):
                return store
        except (OSError, RuntimeError) as error:  # files that went away in the middle
            trouble = str(error).replace(str(folder), str(path))
            if attempt and is_damage(error) and before == _file_names(path, ""):
                raise RuntimeError(trouble) from error  # nobody writes, so it was not the moment that was wrong
        shutil.rmtree(folder, ignore_errors=True)
        time.sleep(0.002 * attempt)
    raise OSError(f"the store changes too quickly to be read, try again later ({trouble or 'its log moves on'})")


def _copy_store(path: Path, folder: Path) -> set[str]:
    """Link and copy what makes up a store; the names of the logs as they were."""
    logs, data = _file_names(path, _LOG), _file_names(path, *_DATA)
    for name in logs | data:
        _link_or_copy(path / name, folder / name)
    for name in _file_names(path, ""):
        if name.startswith(("MANIFEST-", "CURRENT", "IDENTITY", "OPTIONS-")):
            shutil.copyfile(path / name, folder / name)
    for name in _file_names(path, *_DATA) - data:  # the manifest may name them by now
        _link_or_copy(path / name, folder / name)
    return logs


def _link_or_copy(source: Path, target: Path) -> None:
    """A file in a second place; as a copy where the disk knows no hard links, or lets only the owner make them."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def _file_names(path: Path, *endings: str) -> set[str]:
    with os.scandir(path) as entries:
        return {entry.name for entry in entries if entry.name.endswith(endings)}


def _remove_stale_folders(readers: Path) -> None:
    """Take away what readers left behind that were killed."""
    for room in readers.iterdir():
        try:
            lock = os.open(room / "held", os.O_RDWR)
        except OSError:
            with contextlib.suppress(FileNotFoundError):  # others sweep, too
                if time.time() - room.stat().st_mtime > 60:  # no lock: just being made, or left so
                    shutil.rmtree(room, ignore_errors=True)
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            continue
        _remove_reader_folder(room, lock)


def _remove_reader_folder(room: Path, lock: int) -> None:
    shutil.rmtree(room, ignore_errors=True)
    os.close(lock)
    with contextlib.suppress(OSError):  # other readers are there
        room.parent.rmdir()
