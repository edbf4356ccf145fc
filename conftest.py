"""Settings of every test process: folders in memory, bytecode of all modules, handled signals."""

from __future__ import annotations

import os
import shutil
import signal
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

_HANDLERS = {signal.SIGINT: signal.default_int_handler, signal.SIGHUP: signal.SIG_DFL}


def pytest_configure() -> None:
    """Handle the signals that tests send. A shell that starts pytest in the background, and nohup, ignore them."""
    for number, handler in _HANDLERS.items():
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)
