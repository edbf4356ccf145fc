"""Snapshots of the store for readers, and errors of the store: how to recognize them, and what the user can do.

A `Snapshot` is a read-only copy of a store that costs almost no space, because its data files are hard links.
"""

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
    """A file on disk differs from what was written. The message says what to do."""


def is_damage(error: BaseException) -> bool:
    """Return whether the store has damaged files. pyoxigraph reports this only in the text of the error.

    >>> is_damage(RuntimeError("Corruption: block checksum mismatch")), is_damage(RuntimeError("Already borrowed"))
    (True, False)
    """
    return isinstance(error, (RuntimeError, OSError)) and "Corruption: " in str(error)


def is_full_disk(error: BaseException) -> bool:
    """Return whether an error or its cause says that the disk is full. Some libraries report it only as text.

    >>> is_full_disk(OSError(28, "No space left on device")), is_full_disk(OSError("no such file"))
    (True, False)
    """
    return getattr(error, "errno", None) == errno.ENOSPC or _mentions(error, _FULL)


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an error or its cause says that memory is exhausted or limited.

    >>> is_out_of_memory(OSError("out/frontier: Cannot allocate memory")), is_out_of_memory(OSError("no such file"))
    (True, False)
    """
    return (
        isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM or _mentions(error, _NO_MEMORY)
    )


def is_refused(error: BaseException) -> bool:
    """Return whether the system refused access. Such an error does not mean that the files are damaged.

    >>> is_refused(OSError("IO error: While open a file: a/CURRENT: Permission denied"))
    True
    """
    return is_full_disk(error) or is_out_of_memory(error) or _mentions(error, _REFUSED)


_FULL = ("no space left", "disk full")
_NO_MEMORY = ("cannot allocate memory", "memoryerror", "bad_alloc", "failed to map segment", "memory allocation of")
_WRITER_ENDED = "the process that indexes the quads has ended"
"""Message if the indexer has ended, for example because a limit of its address space allows no threads."""
_NOT_WRITABLE = ("permission denied", "operation not permitted", "read-only file system")
_REFUSED = (
    *_NOT_WRITABLE,
    "too many open files",
    "resource temporarily unavailable",  # another process holds the lock, or no thread can be started
    _WRITER_ENDED,
)


def _mentions(error: BaseException, words: Sequence[str]) -> bool:
    text = f"{error} {error.__cause__ or ''}".lower()
    return any(word in text for word in words)


def remedy(error: BaseException) -> str:
    """Return what the user must do before a command can go on, as the beginning of a sentence; "" if unknown."""
    if is_full_disk(error):
        return "make space on the disk, then "
    if _mentions(error, _NOT_WRITABLE):
        return "make the folder of the crawl writable, then "
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit != resource.RLIM_INFINITY and (is_out_of_memory(error) or _mentions(error, (_WRITER_ENDED,))):
        return (
            f"lift the limit of {limit / 1e9:,.1f} GB of address space (`ulimit -v unlimited`; the frontier's file is "
            "mapped to a terabyte of addresses, not of memory), then "
        )
    return "free some memory, then " if is_out_of_memory(error) else ""


def store_advice(store: Path, why: str) -> str:
    """Return the error message for a damaged store: the reason, and what the user can do."""
    folder = store.parent
    message = (
        f"the quad store in {store} is damaged: {why.rstrip('. ')}. "
        f"The frontier in {folder / 'frontier'} is untouched. "
    )
    if (folder / "quads").is_dir():
        return f"{message}`motherlode verify {folder} --repair` builds a new store from the files in {folder / 'quads'}"
    message += (
        f"Put back a copy of the store if you have one; or move it away and `motherlode resume {folder}` makes a new "
        "one and fetches its pages again."
    )
    if (folder / "warc").exists():
        message += (
            f" All responses are in {folder / 'warc'}, too: `motherlode crawl --web FILE.warc.gz` reads them again "
            "without the network."
        )
    return message


def store_fingerprint(store: Path) -> int:
    """Return a number that changes when the files of a store change."""
    try:
        with os.scandir(store) as entries:
            found = [(entry.name, entry.stat().st_size, entry.stat().st_mtime_ns) for entry in entries]
    except OSError:  # the store does not exist yet, or a file was removed meanwhile
        return -1
    return hash(tuple(sorted(found)))


_MAX_ATTEMPTS = 60
_DATA = (".sst", ".blob")
_LOG = ".log"


class Snapshot:
    """A read-only view of a store at one moment. Later writes are not visible. Close it after the last result is read.

    It has its own folder with a lock in it. A killed process leaves the folder unlocked, and the next reader removes
    it.
    """

    def __init__(self, path: Path) -> None:
        if not (path / "CURRENT").exists():
            raise FileNotFoundError(f"there is no store in {path}")
        self._folder: Path | None = None
        self._lock = -1
        readers = path.with_name(path.name + ".readers")
        try:
            self._folder, self._lock = _create_reader_folder(readers)
        except OSError:  # the crawl's folder is read-only, so no process writes to the store and no copy is needed
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
    """Create a folder for one reader. Return it with the file descriptor of its lock."""
    for _ in range(_MAX_ATTEMPTS):
        try:
            readers.mkdir(exist_ok=True)
            _remove_stale_folders(readers)
            folder = Path(tempfile.mkdtemp(dir=readers))
            lock = os.open(folder / "held", os.O_CREAT | os.O_RDWR)
            fcntl.flock(lock, fcntl.LOCK_EX)
        except FileNotFoundError:  # the last reader has just removed the folder of all readers
            continue
        if (folder / "held").exists():
            return folder, lock
        os.close(lock)  # another reader removed it before it was locked
    raise OSError(f"a folder for this reader could not be kept in {readers}: other readers remove it; try again")


def _open_snapshot(path: Path, reader_folder: Path) -> ox.Store:
    message = ""
    for attempt in range(_MAX_ATTEMPTS):
        folder = reader_folder / str(attempt)
        folder.mkdir()
        before = _file_names(path, "")
        try:
            logs = _copy_store(path, folder)
            store = ox.Store.read_only(str(folder))
            if logs == _file_names(path, _LOG):
                return store
        except (OSError, RuntimeError) as error:  # for example files that the writer removed meanwhile
            message = str(error).replace(str(folder), str(path))
            if attempt and is_damage(error) and before == _file_names(path, ""):
                raise RuntimeError(message) from error  # no process writes, so another attempt cannot help
        shutil.rmtree(folder, ignore_errors=True)
        time.sleep(0.002 * attempt)
    raise OSError(f"the store changes too quickly to be read, try again later ({message or 'its log was replaced'})")


def _copy_store(path: Path, folder: Path) -> set[str]:
    """Link and copy the files of a store. Return the names of its logs as they were before."""
    logs, data = _file_names(path, _LOG), _file_names(path, *_DATA)
    for name in logs | data:
        link_or_copy(path / name, folder / name)
    for name in _file_names(path, ""):
        if name.startswith(("MANIFEST-", "CURRENT", "IDENTITY", "OPTIONS-")):
            shutil.copyfile(path / name, folder / name)
    for name in _file_names(path, *_DATA) - data:  # new files that the copied manifest may name
        link_or_copy(path / name, folder / name)
    return logs


def link_or_copy(source: Path, target: Path) -> None:
    """Hard-link a file. Copy it if the file system has no hard links or lets only the owner create them."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def _file_names(path: Path, *endings: str) -> set[str]:
    with os.scandir(path) as entries:
        return {entry.name for entry in entries if entry.name.endswith(endings)}


def _remove_stale_folders(readers: Path) -> None:
    for folder in readers.iterdir():
        try:
            lock = os.open(folder / "held", os.O_RDWR)
        except OSError:
            with contextlib.suppress(FileNotFoundError):  # another reader removed it
                if time.time() - folder.stat().st_mtime > 60:  # without a lock: just being created, or left by a kill
                    shutil.rmtree(folder, ignore_errors=True)
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            continue
        _remove_reader_folder(folder, lock)


def _remove_reader_folder(folder: Path, lock: int) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    os.close(lock)
    with contextlib.suppress(OSError):  # not empty: there are other readers
        folder.parent.rmdir()
