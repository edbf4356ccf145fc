"""Measure the CPU that other processes use while a benchmark runs."""

from __future__ import annotations

import ctypes
import os
import resource
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

MOST_CORES = 0.1
"""Above this many cores for others, on average, a measurement does not count as quiet."""
_TICKS = os.sysconf("SC_CLK_TCK")
_PR_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A command that has ended."""

    exit_code: int
    seconds: float
    cores_of_others: float
    """Cores that processes outside the command's own tree used on average, with the time that the host took (steal)."""

    @property
    def was_quiet(self) -> bool:
        return self.cores_of_others <= MOST_CORES


def run(command: Sequence[str]) -> Run:
    """Run a command, and measure what all other processes use meanwhile.

    Children of the command that outlive it become children of this process, which waits for them: their CPU time is
    known only then.
    """
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    began, used, own = time.monotonic(), _used_by_all(), _used_by_children()
    exit_code = subprocess.run(command, check=False).returncode
    _wait_for_orphans()
    seconds = time.monotonic() - began
    others = _used_by_all() - used - (_used_by_children() - own)
    return Run(exit_code=exit_code, seconds=seconds, cores_of_others=max(0.0, others / seconds))


def _used_by_all() -> float:
    """Return the seconds of CPU used since the machine started, with steal, without interrupts."""
    user, nice, system, _idle, _iowait, _irq, _softirq, steal = map(
        int, Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]
    )
    return (user + nice + system + steal) / _TICKS


def _used_by_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _wait_for_orphans() -> None:
    while True:
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return
