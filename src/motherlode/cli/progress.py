"""Progress of long work: a live display on a terminal, a log line every few seconds otherwise. Handling of Ctrl-C."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import time
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self

from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from motherlode.cli.stats import describe_stall, describe_wait
from motherlode.cli.terminal import replace_controls, say, say_above_progress, terminal
from motherlode.crawler import Counters, Job
from motherlode.crawler.config.values import format_moment, format_size
from motherlode.crawler.stats.counters import SlidingRate
from motherlode.model import Visit

if TYPE_CHECKING:
    from motherlode.sim.experiment import ExperimentProgress

_LOG_SECONDS = 10.0
"""Interval of log lines if stderr is not a terminal."""
_RATE_SECONDS = 30.0
"""Number of last seconds over which the shown rate is measured."""
_MIN_REPORTED_SECONDS = 5.0
"""Without a terminal, a wait is reported only if it ends at least this many seconds after the last reported one."""
_LIVE_SECONDS = 0.2
_BAR_COLUMNS = 24
_MIN_SHARE = 0.02
"""Share of the work after which the remaining time is shown, because earlier estimates are too inexact."""
_TICK_SECONDS = 1.0


class Queue(Protocol):
    """Figures of a frontier, or of the frontiers of all shards together."""

    @property
    def host_count(self) -> int: ...

    @property
    def waiting(self) -> int: ...

    @property
    def in_flight(self) -> int: ...


class _Display:
    """A live display on a terminal, or log lines elsewhere. Used as a context manager."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._began = self._updated_at = time.monotonic()
        self._live = Live(console=terminal, auto_refresh=False, transient=True) if terminal.is_terminal else None

    def __enter__(self) -> Self:
        if self._live is not None and not self._quiet:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def _update(self, now: float, draw: Callable[[], Table], format_line: Callable[[], str] | None = None) -> None:
        """Draw the live display again, or without a terminal print a log line, if it is due."""
        interval = _LOG_SECONDS if self._live is None else _LIVE_SECONDS
        if self._quiet or now - self._updated_at <= interval:
            return
        if self._live is not None:
            self._updated_at = now
            self._live.update(draw(), refresh=True)
        elif format_line is not None:
            self._updated_at = now
            say(format_line())


class CrawlProgress(_Display):
    """Progress of a crawl: pages, harvest rate, hosts, queue, rate and time left. Call `show` for each visit."""

    def __init__(self, job: Job, totals: Counters, frontier: Queue, *, quiet: bool) -> None:
        super().__init__(quiet=quiet)
        self._job = job
        self._totals = totals
        self._frontier = frontier
        self._rate = SlidingRate(_RATE_SECONDS, (self._began, totals.fetched))
        self._byte_rate = SlidingRate(_RATE_SECONDS, (self._began, totals.bytes))
        self._last_url = ""
        self._outage_reported = False
        self._reported_wait: float | None = None
        """End of the wait that was reported last, so that each wait is reported once."""

    def show(self, url: str) -> None:
        self._last_url = url
        now = time.monotonic()
        self._update(
            now, lambda: self._draw(now), lambda: " · ".join(f"{name} {value}" for name, value in self._figures(now))
        )

    def tick(self) -> None:
        """Update the live display, and report the begin and the end of an outage. Called every second."""
        if self._quiet:
            return
        outage = self._describe_outage()
        if bool(outage) is not self._outage_reported:
            self._outage_reported = bool(outage)
            say_above_progress(outage or "the network is back")
        if self._live is None:
            self._report_wait()
        now = time.monotonic()
        self._update(now, lambda: self._draw(now))

    def _report_wait(self) -> None:
        """Print, once per wait, until when nothing may be fetched: without a terminal there is no live display."""
        until = self._totals.waits_until
        if until is not None and until > (self._reported_wait or 0.0) + _MIN_REPORTED_SECONDS:
            self._reported_wait = until
            say(describe_wait(self._totals))

    def _describe_outage(self) -> str:
        since = self._totals.no_network_since
        return "" if since is None else f"no network since {format_moment(since)}: waiting"

    def _describe_stall(self) -> str:
        return "" if self._totals.stalled_since is None else describe_stall(self._totals)

    def _figures(self, now: float) -> list[tuple[str, str]]:
        totals, frontier = self._totals, self._frontier
        rate = self._rate.add(now, totals.fetched)
        budget = f" of {self._job.pages:,}" if self._job.pages else ""
        return [
            ("pages", f"{totals.fetched:,}{budget}"),
            ("harvest", f"{totals.harvest_rate:.3f}"),
            ("quads", f"{totals.quads:,}"),
            ("known hosts", f"{frontier.host_count:,}"),
            ("queue", f"{frontier.waiting:,}"),
            ("in flight", f"{frontier.in_flight:,}"),
            ("rate", f"{rate:,.1f}/s"),
            ("received", format_size(totals.bytes)),
            *([("memory", format_size(totals.memory))] if totals.memory else []),
            *([("links set aside", f"{links:,}")] if (links := totals.shed.get("links")) else []),
            ("left", self._time_left(rate, now)),
        ]

    def _time_left(self, rate: float, now: float) -> str:
        """Return the time until the first budget is spent."""
        job, totals = self._job, self._totals
        seconds = []
        if job.pages and rate > 0:
            seconds.append((job.pages - totals.fetched) / rate)
        if job.time:
            seconds.append(job.time - totals.seconds)
        if job.bytes and (byte_rate := self._byte_rate.add(now, totals.bytes)) > 0:
            seconds.append((job.bytes - totals.bytes) / byte_rate)
        return _format_minutes(min(seconds)) if seconds else "—"

    def _draw(self, now: float) -> Table:
        table = Table.grid(padding=(0, 2))
        figures = self._figures(now)
        for _ in figures:
            table.add_column(justify="right")
        table.add_row(*(Text(name, style="dim") for name, _ in figures))
        table.add_row(*(Text(value, style="bold") for _, value in figures))
        whole = Table.grid()
        whole.add_row(table)
        below = self._describe_outage() or self._describe_stall() or describe_wait(self._totals) or self._last_url
        whole.add_row(Text(below[: max(20, terminal.width - 2)], style="dim", no_wrap=True))
        return whole


def _format_minutes(seconds: float) -> str:
    minutes, left = divmod(max(0, int(seconds)), 60)
    return f"{minutes}:{left:02d}"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkProgress:
    """How much of some work with a known end is done."""

    what: str
    done: int
    of: int
    unit: str = "bytes"
    under_way: tuple[str, ...] = ()


class Meter(_Display):
    """Progress of work with a known end. Call `show` for each step."""

    def __init__(self) -> None:
        super().__init__()
        self._unit = ""

    def show(self, step: WorkProgress | ExperimentProgress) -> None:
        now = time.monotonic()
        if step.unit != self._unit:  # another part of the work, with a rate of its own
            self._unit, self._began = step.unit, now
        self._update(
            now,
            lambda: self._draw(step, now),
            lambda: " · ".join((step.what, *self._figures(step, now), *step.under_way)),
        )

    def for_bytes(self, what: str) -> Callable[[int, int], None]:
        """Return a callback that shows how many bytes of a total are done."""
        return lambda done, total: self.show(WorkProgress(what=what, done=done, of=total))

    def _figures(self, step: WorkProgress | ExperimentProgress, now: float) -> list[str]:
        done, total = (format_size(count) if step.unit == "bytes" else f"{count:,}" for count in (step.done, step.of))
        amount = f"{done} of {total}" if step.unit == "bytes" else f"{done} of {total} {step.unit}"
        if step.done <= step.of * _MIN_SHARE:
            return [amount]
        return [amount, f"left {_format_minutes((now - self._began) * (step.of - step.done) / step.done)}"]

    def _draw(self, step: WorkProgress | ExperimentProgress, now: float) -> Table:
        line = Table.grid(padding=(0, 2))
        bar = ProgressBar(total=max(1, step.of), completed=step.done, width=_BAR_COLUMNS)
        line.add_row(bar, *(Text(figure) for figure in self._figures(step, now)))
        whole = Table.grid()
        whole.add_row(line)
        below = " · ".join((step.what, *step.under_way))
        whole.add_row(Text(replace_controls(below), style="dim", no_wrap=True, overflow="ellipsis"))
        return whole


async def watch(visits: AsyncGenerator[Visit, None], progress: CrawlProgress, *, stop: Callable[[], None]) -> bool:
    """Show the progress of all visits. Return whether the user interrupted the crawl.

    The first Ctrl-C, SIGTERM or SIGHUP calls `stop`, and requests in flight are finished. The second Ctrl-C or SIGTERM
    cancels them.
    """
    interrupts = 0
    task = asyncio.current_task()

    def interrupt() -> None:
        nonlocal interrupts
        interrupts += 1
        if interrupts == 1:
            stop()
            say_above_progress("stopping: waiting for requests in flight (Ctrl-C again: at once)")
        elif task is not None:
            task.cancel()

    def hang_up() -> None:
        leave_terminal()
        if interrupts == 0:  # SIGHUP often comes twice, from the terminal and from the shell
            interrupt()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, interrupt)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # nohup ignores SIGHUP
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
    """Redirect stdout and stderr to /dev/null if they are terminals. Writing to a closed terminal fails."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (1, 2):
        status = os.fstat(descriptor)
        if stat.S_ISCHR(status.st_mode) and status.st_rdev != os.fstat(null).st_rdev:
            os.dup2(null, descriptor)
    os.close(null)


async def _tick(progress: CrawlProgress) -> None:
    while True:
        await asyncio.sleep(_TICK_SECONDS)
        progress.tick()
