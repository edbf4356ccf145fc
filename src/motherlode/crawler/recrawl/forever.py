"""An endless refresh: the budget per day, how a round divides it, and the limits of the disk.

An endless refresh runs in rounds. Each round revisits known pages by value (`PageMemory.revisit_value`), and spends the
rest of its share of the day's budget on new links. The budget of a day is spread evenly over its rounds, so that
changes are noticed at any time of the day. The beginning of the day and its requests are saved in the crawl folder, so
a restart does not start a new day.
"""

from __future__ import annotations

import math
import shutil
from pathlib import Path

import msgspec

from motherlode.crawler.config.values import format_size

DAY_SECONDS = 86_400.0
STATE_FILE = "forever.json"
NEXT_ROUND_FILE = "next-round.json"
MIN_FREE_BYTES = 500_000_000
"""Free bytes of the disk below which no round starts."""
_WARN_SHARE = 0.9
"""Share of a disk limit at which the user is warned."""


class DailyBudget(msgspec.Struct, frozen=True, kw_only=True):
    """The requests of one day.

    >>> day = DailyBudget(began=0.0, fetched_before=1000)
    >>> day.allowance(3600.0, fetched=1000, per_day=240, round_seconds=3600.0)
    20
    >>> day.allowance(3600.0, fetched=1020, per_day=240, round_seconds=3600.0)
    0
    """

    began: float
    """Beginning of the day in seconds since the epoch."""
    fetched_before: int
    """Number of requests of the crawl before the day."""

    def at(self, now: float, fetched: int) -> DailyBudget:
        """Return the budget of the day that contains `now`. A clock that was set back starts a new day."""
        if self.began <= now < self.began + DAY_SECONDS:
            return self
        return DailyBudget(began=now, fetched_before=fetched)

    def allowance(self, now: float, *, fetched: int, per_day: int, round_seconds: float) -> int:
        """Return how many requests a round that starts now may make, with what earlier rounds of the day left over."""
        share = min(1.0, (now + round_seconds - self.began) / DAY_SECONDS)
        return max(0, math.floor(per_day * share + 1e-9) - (fetched - self.fetched_before))


def revisits_of(allowance: int, *, new_urls: int) -> int:
    """Return how many requests of a round are for revisits: those that new URLs do not need, and at least half.

    >>> revisits_of(100, new_urls=0), revisits_of(100, new_urls=30), revisits_of(100, new_urls=5000)
    (100, 70, 50)
    """
    return max(math.ceil(allowance / 2), allowance - new_urls)


def read_budget(folder: Path, *, now: float, fetched: int) -> DailyBudget:
    """Read the budget of the current day from a crawl folder. Without a readable file, a day starts now."""
    try:
        saved = msgspec.json.decode((folder / STATE_FILE).read_bytes(), type=DailyBudget)
    except (OSError, msgspec.DecodeError):
        saved = DailyBudget(began=now, fetched_before=fetched)
    return saved.at(now, fetched)


def save_budget(folder: Path, budget: DailyBudget) -> None:
    """Replace the saved budget in one step."""
    temporary = folder / (STATE_FILE + ".new")
    temporary.write_bytes(msgspec.json.encode(budget))
    temporary.replace(folder / STATE_FILE)


def save_next_round(folder: Path, at: float | None) -> None:
    """Save when the next round begins, for readers of the folder; None while a round runs."""
    path = folder / NEXT_ROUND_FILE
    if at is None:
        path.unlink(missing_ok=True)
    else:
        path.write_bytes(msgspec.json.encode(at))


def read_next_round(folder: Path) -> float | None:
    """Return when the next round of an endless refresh begins; None if a round runs, or if there is no such refresh."""
    try:
        return msgspec.json.decode((folder / NEXT_ROUND_FILE).read_bytes(), type=float)
    except (OSError, msgspec.MsgspecError):
        return None


class DiskState(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the disk has room for another round."""

    is_full: bool = False
    message: str = ""
    """A warning, or why the disk is full; "" if there is enough room."""


def check_disk(folder: Path, *, used: int, max_disk: int | None, free: int | None = None) -> DiskState:
    """Return the state of the disk.

    `used` are the bytes of the crawl folder, and `max_disk` is their limit. `free` replaces the measured free bytes.
    """
    free = shutil.disk_usage(folder).free if free is None else free
    if max_disk is not None and used >= max_disk:
        return DiskState(is_full=True, message=f"{_describe(used, max_disk)}: no round starts before there is room")
    if free < MIN_FREE_BYTES:
        text = f"only {format_size(free)} of the disk are free: no round starts below {format_size(MIN_FREE_BYTES)}"
        return DiskState(is_full=True, message=text)
    if max_disk is not None and used >= _WARN_SHARE * max_disk:
        return DiskState(message=_describe(used, max_disk))
    if free < 2 * MIN_FREE_BYTES:
        return DiskState(message=f"only {format_size(free)} of the disk are free")
    return DiskState()


def _describe(used: int, max_disk: int) -> str:
    return f"the crawl folder has {format_size(used)} of max_disk = {format_size(max_disk)}"
