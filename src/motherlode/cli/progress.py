"""A crawl as it goes, or another long piece of work: a live line on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import time
from collections.abc import AsyncGenerator, Callable
from types import TracebackType
from typing import TYPE_CHECKING, Protocol

from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from motherlode.cli.terminal import harmless, moment, say, tell, terminal
from motherlode.crawler import Counters, Job
from motherlode.crawler.config.units import format_size
from motherlode.model import Visit

if TYPE_CHECKING:
    from motherlode.sim.experiment import ExperimentProgress


_LOG_SECONDS = 10.0
"""Between two lines, where nobody watches a terminal."""
_LIVE_SECONDS = 0.2
_BAR_WIDTH = 24
_TOO_EARLY = 50
"""Before this part of the work is done, nobody can tell how long the rest takes."""


class Queue(Protocol):
    """How a frontier stands: that of one crawl, or of all shards together."""

    @property
    def host_count(self) -> int: ...

    @property
    def waiting(self) -> int: ...

    @property
    def in_flight(self) -> int: ...


class CrawlProgress:
    """Shows pages, harvest rate, hosts, queue, rate and time left. Use as a context manager; call `show` often."""

    def __init__(self, job: Job, totals: Counters, frontier: Queue, *, quiet: bool) -> None:
        self._job = job
        self._totals = totals
        self._frontier = frontier
        self._quiet = quiet
        self._began = time.monotonic()
        self._before = totals.fetched
        self._shown_at = self._began
        self._last_url = ""
        self._was_gone = False
        """The user was told that there is no network."""
        self._live = Live(console=terminal, auto_refresh=False, transient=True) if terminal.is_terminal else None

    def __enter__(self) -> CrawlProgress:
        if self._live is not None and not self._quiet:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def show(self, url: str) -> None:
        self._last_url = url
        now = time.monotonic()
        if self._quiet:
            return
        if self._live is not None and now - self._shown_at > _LIVE_SECONDS:
            self._shown_at = now
            self._live.update(self._picture(now), refresh=True)
        elif self._live is None and now - self._shown_at > _LOG_SECONDS:
            self._shown_at = now
            say(" · ".join(f"{name} {value}" for name, value in self._figures(now)))

    def tick(self) -> None:
        """A moment has passed, in which perhaps nothing came."""
        if self._quiet:
            return
        since = self._totals.no_network_since
        if (since is not None) is not self._was_gone:
            self._was_gone = since is not None
            tell("there is a network again" if since is None else f"no network since {moment(since)}: waiting")
        now = time.monotonic()
        if self._live is not None and now - self._shown_at > _LIVE_SECONDS:
            self._shown_at = now
            self._live.update(self._picture(now), refresh=True)

    def _figures(self, now: float) -> list[tuple[str, str]]:
        totals, frontier = self._totals, self._frontier
        rate = (totals.fetched - self._before) / max(0.001, now - self._began)
        of = f" of {self._job.pages:,}" if self._job.pages else ""
        return [
            ("pages", f"{totals.fetched:,}{of}"),
            ("harvest", f"{totals.harvest_rate:.3f}"),
            ("quads", f"{totals.quads:,}"),
            ("known hosts", f"{frontier.host_count:,}"),
            ("queue", f"{frontier.waiting:,}"),
            ("in flight", f"{frontier.in_flight:,}"),
            ("rate", f"{rate:,.1f}/s"),
            ("received", format_size(totals.bytes)),
            ("left", self._left(rate, now)),
        ]

    def _left(self, rate: float, now: float) -> str:
        """Time that the budgets leave, whichever ends first."""
        job, totals = self._job, self._totals
        ends = []
        if job.pages and rate > 0:
            ends.append((job.pages - totals.fetched) / rate)
        if job.time:
            ends.append(job.time - totals.seconds)
        if job.bytes and totals.bytes:
            ends.append((job.bytes - totals.bytes) / (totals.bytes / max(0.001, now - self._began)))
        if not ends:
            return "—"
        return _clock(min(ends))

    def _picture(self, now: float) -> Table:
        table = Table.grid(padding=(0, 2))
        figures = self._figures(now)
        for _ in figures:
            table.add_column(justify="right")
        table.add_row(*(Text(name, style="dim") for name, _ in figures))
        table.add_row(*(Text(value, style="bold") for _, value in figures))
        whole = Table.grid()
        whole.add_row(table)
        since = self._totals.no_network_since
        below = self._last_url if since is None else f"no network since {moment(since)}: waiting"
        whole.add_row(Text(below[: max(20, terminal.width - 2)], style="dim", no_wrap=True))
        return whole


def _clock(seconds: float) -> str:
    """
    >>> _clock(95.4)
    '1:35'
    """
    minutes, left = divmod(max(0, int(seconds)), 60)
    return f"{minutes}:{left:02d}"


class Meter:
    """How far a piece of work is that has an end: requests or pages done, and what is under way.

    Use as a context manager; call `show` often.
    """

    def __init__(self) -> None:
        self._unit = ""
        self._began = self._shown_at = time.monotonic()
        self._live = Live(console=terminal, auto_refresh=False, transient=True) if terminal.is_terminal else None

    def __enter__(self) -> Meter:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def show(self, step: ExperimentProgress) -> None:
        now = time.monotonic()
        if step.unit != self._unit:  # the next part of the work has a pace of its own
            self._unit, self._began = step.unit, now
        if self._live is not None and now - self._shown_at > _LIVE_SECONDS:
            self._shown_at = now
            self._live.update(self._picture(step, now), refresh=True)
        elif self._live is None and now - self._shown_at > _LOG_SECONDS:
            self._shown_at = now
            say(" · ".join((step.what, *self._figures(step, now), *step.under_way)))

    def _figures(self, step: ExperimentProgress, now: float) -> list[str]:
        done, of = (format_size(count) if step.unit == "bytes" else f"{count:,}" for count in (step.done, step.of))
        amount = f"{done} of {of}" if step.unit == "bytes" else f"{done} of {of} {step.unit}"
        if step.done <= step.of / _TOO_EARLY:
            return [amount]
        return [amount, f"left {_clock((now - self._began) * (step.of - step.done) / step.done)}"]

    def _picture(self, step: ExperimentProgress, now: float) -> Table:
        line = Table.grid(padding=(0, 2))
        bar = ProgressBar(total=max(1, step.of), completed=step.done, width=_BAR_WIDTH)
        line.add_row(bar, *(Text(figure) for figure in self._figures(step, now)))
        whole = Table.grid()
        whole.add_row(line)
        below = " · ".join((step.what, *step.under_way))
        whole.add_row(Text(harmless(below), style="dim", no_wrap=True, overflow="ellipsis"))
        return whole


# ── A crawl that runs before the user's eyes: every visit shown, and Ctrl-C obeyed, gently the first time.

_TICK_SECONDS = 1.0


async def watch(visits: AsyncGenerator[Visit, None], progress: CrawlProgress, *, stop: Callable[[], None]) -> bool:
    """Show all visits. The first interrupt calls `stop` and waits for what is under way, the second ends it at once.

    True where the user interrupted.
    """
    interrupts = 0
    task = asyncio.current_task()

    def interrupt() -> None:
        nonlocal interrupts
        interrupts += 1
        if interrupts == 1:
            stop()
            tell("stopping: waiting for what is under way (Ctrl-C again: at once)")
        elif task is not None:
            task.cancel()

    def hang_up() -> None:
        leave_terminal()
        if interrupts == 0:  # a hang-up is often sent twice, by the terminal and by the shell
            interrupt()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, interrupt)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # as nohup wants it
        loop.add_signal_handler(signal.SIGHUP, hang_up)
    ticking = asyncio.create_task(_tick(progress))
    try:
        with progress:
            async for visit in visits:
                progress.show(visit.url)
    except asyncio.CancelledError:
        if not interrupts:
            raise
    finally:
        ticking.cancel()
        await visits.aclose()
    return interrupts > 0


def leave_terminal() -> None:
    """Send what is said from here on to nowhere if it would go to a terminal: writing to one that is gone fails."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (1, 2):
        found = os.fstat(descriptor)
        if stat.S_ISCHR(found.st_mode) and found.st_rdev != os.fstat(nowhere).st_rdev:
            os.dup2(nowhere, descriptor)
    os.close(nowhere)


async def _tick(progress: CrawlProgress) -> None:
    while True:
        await asyncio.sleep(_TICK_SECONDS)
        progress.tick()
