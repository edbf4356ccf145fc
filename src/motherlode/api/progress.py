"""Progress of a crawl that a program runs: in a notebook as a line that changes, on a terminal as the last line."""

from __future__ import annotations

import sys
import time
from html import escape
from typing import Any, Protocol

from motherlode.crawler.config.job import Job
from motherlode.crawler.config.values import format_size
from motherlode.crawler.stats.counters import Counters

UPDATE_SECONDS = 0.5


class Progress(Protocol):
    """Shows the counters of a crawl from time to time."""

    def show(self, totals: Counters, *, is_last: bool = False) -> None:
        """Show the counters if the last time is long enough ago, or if they are the last ones."""


class NoProgress:
    """Shows nothing."""

    def show(self, totals: Counters, *, is_last: bool = False) -> None:
        """Ignore the counters."""


def make_progress(job: Job, *, wanted: bool | None) -> Progress:
    """Return a display for the place where the program runs. None means: only in a notebook or on a terminal."""
    if wanted is False:
        return NoProgress()
    if (display := _find_notebook()) is not None:
        return _NotebookProgress(job, display)
    return _LineProgress(job) if wanted or sys.stderr.isatty() else NoProgress()


def _find_notebook() -> Any:
    """Return IPython's module of displays if a notebook runs this program, else None. IPython is never imported."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is None or not hasattr(shell, "kernel"):  # IPython on a terminal has no kernel
        return None
    from IPython import display  # type: ignore[import-not-found]

    return display


class _Figures:
    """The counters of one crawl, as a line of text and as HTML."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._began = self._shown_at = time.monotonic()
        self.totals = Counters()

    def is_due(self, totals: Counters, *, is_last: bool) -> bool:
        now = time.monotonic()
        if not is_last and now - self._shown_at < UPDATE_SECONDS:
            return False
        self.totals, self._shown_at = totals, now
        return True

    def __repr__(self) -> str:
        totals = self.totals
        budget = f" of {self._job.pages:,}" if self._job.pages else ""
        rate = totals.fetched / max(0.001, self._shown_at - self._began)
        stall = f" · stalled: waiting for {totals.stalled_for}" if totals.stalled_since is not None else ""
        outage = " · no network: waiting" if totals.no_network_since is not None else stall
        return (
            f"pages {totals.fetched:,}{budget} · relevant {totals.relevant:,} · harvest {totals.harvest_rate:.3f} · "
            f"quads {totals.quads:,} · {rate:,.1f} pages per second · received {format_size(totals.bytes)}{outage}"
        )

    def _repr_html_(self) -> str:
        bar = f'<progress value="{self.totals.fetched}" max="{self._job.pages}"></progress> ' if self._job.pages else ""
        return f"<div>{bar}{escape(repr(self))}</div>"


class _NotebookProgress:
    """A display of a notebook that is updated in its place."""

    def __init__(self, job: Job, display: Any) -> None:
        self._figures = _Figures(job)
        self._handle = display.display(self._figures, display_id=True)

    def show(self, totals: Counters, *, is_last: bool = False) -> None:
        if self._figures.is_due(totals, is_last=is_last):
            self._handle.update(self._figures)


class _LineProgress:
    """The last line of stderr, or without a terminal one line at the end."""

    def __init__(self, job: Job) -> None:
        self._figures = _Figures(job)

    def show(self, totals: Counters, *, is_last: bool = False) -> None:
        if not self._figures.is_due(totals, is_last=is_last):
            return
        if sys.stderr.isatty():
            sys.stderr.write(f"\r{self._figures}\x1b[K" + ("\n" if is_last else ""))
            sys.stderr.flush()
        elif is_last:
            sys.stderr.write(f"{self._figures}\n")
