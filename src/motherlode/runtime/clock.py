"""A clock for delays and timeouts: it starts at the wall time and is monotonic from then on."""

from __future__ import annotations

import time


class Clock:
    """Seconds since the epoch that never go back while the process runs.

    The wall clock of a machine may be set while a crawl runs. Delays, back-offs and time limits must not change then,
    so they use this clock. Times that it gives may be stored: they are wall times, as of the start of the process, and
    the frontier corrects them if the wall clock was set back between two runs. CLOCK_MONOTONIC stands still while a
    machine is suspended, so a crawl that was suspended waits longer, never shorter.
    """

    def __init__(self) -> None:
        self._offset = time.time() - time.monotonic()

    def now(self) -> float:
        return self._offset + time.monotonic()


SYSTEM_CLOCK = Clock()
"""The clock of callers that run no crawl."""
