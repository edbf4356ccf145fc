"""Memory for the pages of a file that were looked at, given back to the system while there is little of it.

LMDB reads by touching a map of its whole file. What was touched counts as memory of this process until the system runs
short of it: of ten million URLs two gigabytes, where the frontier itself holds one. Nobody who watches a crawl, or
bounds its memory, can tell the one from the other. So the map is let go of when much of it is held. The pages stay in
the system's cache, from where the next look takes them up again, sixteen at a time.
"""

from __future__ import annotations

import ctypes
import os
from contextlib import suppress
from pathlib import Path

MOST_HELD = 512 << 20
"""Bytes of files, those of libraries among them, that a process may hold before the map is let go of."""
_LOOKS = 10_000
"""Looks at the file between two looks at how much of it is held: at places far apart they hold some 100 MB more."""
_DONT_NEED = 4
"""Of Linux's madvise: forget what of this range is in memory. A map that is only read loses nothing by it."""


class Mapping:
    """The map of one file; on systems that tell nothing of their maps, nothing is ever let go of."""

    def __init__(self, path: Path, *, most_held: int = MOST_HELD) -> None:
        self._most = most_held
        self._range = _range_of(path)
        self._looks = 0

    def looked(self, times: int) -> None:
        """So many places of the file were looked at."""
        self._looks += times
        if self._looks >= _LOOKS:
            self._looks = 0
            self.trim()

    def trim(self) -> bool:
        """Let go of the map where more than the bound is held. Whether that was so."""
        if self._range is None or held() <= self._most:
            return False
        start, length = self._range
        return bool(ctypes.CDLL(None).madvise(ctypes.c_void_p(start), ctypes.c_size_t(length), _DONT_NEED) == 0)


def held() -> int:
    """Bytes of files that are in this process's memory; 0 where the system does not tell."""
    try:
        shared = Path("/proc/self/statm").read_bytes().split()[2]
    except OSError:
        return 0
    return int(shared) * os.sysconf("SC_PAGE_SIZE")


def _range_of(path: Path) -> tuple[int, int] | None:
    """Where a file is mapped that is only read, and how much of it."""
    with suppress(OSError):
        name = str(path.resolve())
        for line in Path("/proc/self/maps").read_text(encoding="utf-8", errors="surrogateescape").splitlines():
            place, rights, _, _, _, *mapped = line.split(maxsplit=5)
            if mapped == [name] and rights == "r--s":
                start, end = (int(bound, 16) for bound in place.split("-"))
                return start, end - start
    return None
