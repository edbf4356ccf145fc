"""A picture of the store that readers may keep while the crawl goes on writing.

The library leaves undefined what a read-only store sees while another process writes: files that it has not opened yet
may be merged away under it. Its data files never change once written, though, so a reader makes itself a folder of hard
links to them, which costs milliseconds and no space, and opens that. Two things need care. The manifest, which names
the data files, grows in place: it is copied, and a data file that it names and that is gone by then makes the opening
fail, and the picture is taken again; where no file comes or goes meanwhile, the store is damaged. The log of recent
writes is replayed while the store opens, and the writer may give it up or use it again meanwhile: so the logs must be
the same before and after, or the picture is taken again.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from pathlib import Path

import pyoxigraph as ox

from motherlode.index.damage import is_damage

_TRIES = 60
_DATA = (".sst", ".blob")
_LOG = ".log"


class Snapshot:
    """The store in a folder as it is now; what a writer does later is not seen. Close it when the last answer is read.

    A kill leaves its folder behind, but not the lock in it: the next reader sweeps it away.
    """

    def __init__(self, path: Path) -> None:
        if not (path / "CURRENT").exists():
            raise FileNotFoundError(f"there is no store in {path}")
        self._room: Path | None = None
        self._lock = -1
        readers = path.with_name(path.name + ".readers")
        try:
            self._room, self._lock = _enter(readers)
        except OSError:  # a folder that may only be read, an old medium perhaps; then nobody writes to it either
            self.store = ox.Store.read_only(str(path))
            return
        self._owner = os.getpid()
        atexit.register(self.close)
        try:
            self.store = _picture(path, self._room)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        if self._room is None or self._owner != os.getpid():
            return
        atexit.unregister(self.close)
        _leave(self._room, self._lock)
        self._room = None


def _enter(readers: Path) -> tuple[Path, int]:
    """A folder of one's own, and the lock that tells others that it is in use."""
    for _ in range(_TRIES):
        try:
            readers.mkdir(exist_ok=True)
            _sweep(readers)
            room = Path(tempfile.mkdtemp(dir=readers))
            lock = os.open(room / "held", os.O_CREAT | os.O_RDWR)
            fcntl.flock(lock, fcntl.LOCK_EX)
        except FileNotFoundError:  # the last reader has just left, and has taken the folder of all readers with it
            continue
        if (room / "held").exists():
            return room, lock
        os.close(lock)  # somebody swept it away before it was locked
    raise OSError(f"{readers} does not stay")


def _picture(path: Path, room: Path) -> ox.Store:
    trouble = ""
    for attempt in range(_TRIES):
        folder = room / str(attempt)
        folder.mkdir()
        before = _names(path, "")
        try:
            logs = _copy(path, folder)
            store = ox.Store.read_only(str(folder))
            if logs == _names(path, _LOG):
                return store
        except (OSError, RuntimeError) as error:  # files that went away in the middle
            trouble = str(error).replace(str(folder), str(path))
            if attempt and is_damage(error) and before == _names(path, ""):
                raise RuntimeError(trouble) from error  # nobody writes, so it was not the moment that was wrong
        shutil.rmtree(folder, ignore_errors=True)
        time.sleep(0.002 * attempt)
    raise OSError(f"the store changes too quickly to be read, try again later ({trouble or 'its log moves on'})")


def _copy(path: Path, folder: Path) -> set[str]:
    """Link and copy what makes up a store; the names of the logs as they were."""
    logs, data = _names(path, _LOG), _names(path, *_DATA)
    for name in logs | data:
        _link(path / name, folder / name)
    for name in _names(path, ""):
        if name.startswith(("MANIFEST-", "CURRENT", "IDENTITY", "OPTIONS-")):
            shutil.copyfile(path / name, folder / name)
    for name in _names(path, *_DATA) - data:  # the manifest may name them by now
        _link(path / name, folder / name)
    return logs


def _link(source: Path, target: Path) -> None:
    """A file in a second place; as a copy where the disk knows no hard links, or lets only the owner make them."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def _names(path: Path, *endings: str) -> set[str]:
    with os.scandir(path) as entries:
        return {entry.name for entry in entries if entry.name.endswith(endings)}


def _sweep(readers: Path) -> None:
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
        _leave(room, lock)


def _leave(room: Path, lock: int) -> None:
    shutil.rmtree(room, ignore_errors=True)
    os.close(lock)
    with contextlib.suppress(OSError):  # other readers are there
        room.parent.rmdir()
