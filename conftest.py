"""Two settings for all tests: their folders are in memory, and the bytecode of all modules is kept."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

_MEMORY = Path("/dev/shm")
_NEEDED_BYTES = 4 << 30


def _has_room() -> bool:
    """Return whether folders in memory leave enough of it to the tests."""
    try:
        free = shutil.disk_usage(_MEMORY).free
        available = int(Path("/proc/meminfo").read_text().partition("MemAvailable:")[2].split()[0]) << 10
    except (OSError, LookupError):
        return False
    return os.access(_MEMORY, os.W_OK) and min(free, available) > _NEEDED_BYTES


# Tests kill processes and replace calls that fail, but none takes the power away. So the real syncs of a disk, which
# stores and journals wait for at every step, test nothing more.
if _has_room():
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))

# Without bytecode each process that a test starts compiles the whole package again, and pytest all tests.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
