"""A crawl as it goes: a live line on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Protocol

from rich.live import Live
from rich.table import Table
from rich.text import Text

from motherlode.cli.output import say, terminal
from motherlode.crawl import Job, Totals
from motherlode.crawl.amounts import size

_LOG_SECONDS = 10.0


class Queue(Protocol):
    """How a frontier stands: that of one crawl, or of all shards together."""

    @property
    def host_count(self) -> int: ...

    @property
    def waiting(self) -> int: ...

    @property
    def in_flight(self) -> int: ...


class Progress:
    """Shows pages, harvest rate, hosts, queue, rate and time left. Use as a context manager; call `show` often."""

    def __init__(self, job: Job, totals: Totals, frontier: Queue, *, quiet: bool) -> None:
        self._job = job
        self._totals = totals
        self._frontier = frontier
        self._quiet = quiet
        self._began = time.monotonic()
        self._before = totals.fetched
        self._shown_at = self._began
        self._last_url = ""
        self._live = Live(console=terminal, auto_refresh=False, transient=True) if terminal.is_terminal else None

    def __enter__(self) -> Progress:
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
        if self._live is not None and now - self._shown_at > 0.2:
            self._shown_at = now
            self._live.update(self._picture(now), refresh=True)
        elif self._live is None and now - self._shown_at > _LOG_SECONDS:
            self._shown_at = now
            say(" · ".join(f"{name} {value}" for name, value in self._figures(now)))

    def _figures(self, now: float) -> list[tuple[str, str]]:
        totals, frontier = self._totals, self._frontier
        rate = (totals.fetched - self._before) / max(0.001, now - self._began)
        of = f" of {self._job.pages:,}" if self._job.pages else ""
        return [
            ("pages", f"{totals.fetched:,}{of}"),
            ("harvest", f"{totals.harvest_rate:.3f}"),
            ("quads", f"{totals.quads:,}"),
            ("hosts", f"{frontier.host_count:,}"),
            ("queue", f"{frontier.waiting:,}"),
            ("in flight", f"{frontier.in_flight:,}"),
            ("rate", f"{rate:,.1f}/s"),
            ("received", size(totals.bytes)),
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
        minutes, seconds = divmod(max(0, int(min(ends))), 60)
        return f"{minutes}:{seconds:02d}"

    def _picture(self, now: float) -> Table:
        table = Table.grid(padding=(0, 2))
        figures = self._figures(now)
        for _ in figures:
            table.add_column(justify="right")
        table.add_row(*(Text(name, style="dim") for name, _ in figures))
        table.add_row(*(Text(value, style="bold") for _, value in figures))
        whole = Table.grid()
        whole.add_row(table)
        whole.add_row(Text(self._last_url[: max(20, terminal.width - 2)], style="dim", no_wrap=True))
        return whole
