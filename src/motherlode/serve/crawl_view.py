"""Reads the folder of a crawl for the web site: its state, hosts, pages, log, and what its policy has learned."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from motherlode.crawler.control import read_control
from motherlode.crawler.explain.breadth_first import breadth_first_curve
from motherlode.crawler.explain.explanation import UrlExplanation, explain_url
from motherlode.crawler.explain.policy_summary import PolicySummary, read_policy_summary
from motherlode.crawler.folder import CrawlFolder
from motherlode.crawler.recrawl.forever import read_next_round
from motherlode.crawler.report.crawl_report import BREADTH_FIRST, EXPLANATIONS, CrawlReport, build_report
from motherlode.crawler.report.plot import Curve
from motherlode.crawler.stats.page_list import PageRow, read_pages
from motherlode.crawler.stats.reader import CrawlStats, read_stats
from motherlode.frontier import HostRecord
from motherlode.index.fulltext import Hit, Search, WordSearcher

_STATS_FRESH_SECONDS = 1.0
_POLICY_FRESH_SECONDS = 3.0
_ESTIMATE_SECONDS, _ESTIMATE_PAUSE = 10.0, 30.0
"""Shortest time between two estimates for a breadth-first crawl, in seconds and as a multiple of their duration."""
_CHANGE_SECONDS = 30.0
"""Minimum age in seconds of the probabilities with which the current ones are compared to show their changes."""
_FRONTIER_LOCK = threading.Lock()
"""Held while the frontier is read, because py-lmdb (3.0) cannot open a file twice in one process."""
_MAX_ARMS = 8
_MAX_FAILURES_READ = 500
_MAX_EXAMPLES = 3
_LOG_BYTES = 60_000
"""Number of bytes at the end of each log file that are read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureRow:
    """A kind of failure with its number and examples."""

    name: str
    count: int
    explanation: str
    examples: tuple[PageRow, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlState:
    """The state of a crawl that the overview, the API and the metrics show."""

    report: CrawlReport
    stats: CrawlStats
    is_running: bool
    is_paused: bool = False
    ended_at: float | None = None
    """When the crawl ended, in seconds since the epoch; None if it is running."""
    next_round: float | None = None
    """When the next round of an endless refresh begins, in seconds since the epoch; None if there is no such wait."""
    page_budget: int | None = None
    concurrency: int = 0
    host_delay: float = 0.0
    """Seconds between two requests to a host that has no delay of its own."""
    policy: PolicySummary
    changes: dict[str, float]
    """Change of the probability of each arm in about half a minute."""
    failures: tuple[FailureRow, ...] = ()
    log: tuple[str, ...] = ()
    """The last lines of the log."""
    recent_rate: float | None = None
    """Relevant pages per request among the latest requests; None if there are too few."""

    @property
    def fetched(self) -> int:
        return self.stats.totals.fetched


class CrawlView:
    """Reads the folder of a crawl, without writing and without locks. Its methods block: call them in a thread."""

    def __init__(self, folder: CrawlFolder) -> None:
        self.folder = folder
        self.job = folder.read_job()
        self._cached_stats: tuple[float, CrawlStats] | None = None
        self._cached_policy: tuple[float, PolicySummary, tuple[FailureRow, ...]] | None = None
        self._earlier: deque[tuple[float, dict[str, float]]] = deque()
        """Times and probabilities by arm, the first at least `_CHANGE_SECONDS` ago, if there are such."""
        self._estimate = Curve(name=BREADTH_FIRST)
        self._estimated_at = -1
        """Number of requests at the last estimate for a breadth-first crawl."""
        self._next_estimate = 0.0
        """Time, by the monotonic clock, before which that estimate is not made again."""
        self._searcher: WordSearcher | None = None
        self._searcher_lock = threading.Lock()

    def read_state(self) -> CrawlState:
        """Return the state of the crawl as of its last checkpoint."""
        is_running, control = self.is_running(), read_control(self.folder)
        with _FRONTIER_LOCK:
            stats = self._stats()
            policy, failures = self._policy(stats)
            changes = self._changes(policy)
            unfocused = self._breadth_first(stats)
        pages = control.pages or self.job.pages
        return CrawlState(
            report=build_report(replace(self.job, pages=pages), stats, others=(unfocused,)),
            stats=stats,
            is_running=is_running,
            is_paused=is_running and control.is_paused,
            ended_at=None if is_running else self._find_end(),
            next_round=read_next_round(self.folder.path) if is_running else None,
            page_budget=pages,
            concurrency=self.job.concurrency * max(1, self.job.shards),
            host_delay=self.job.host_delay,
            policy=policy,
            changes=changes,
            failures=failures,
            log=self.read_log(40),
            recent_rate=_recent_rate(stats.totals.curve),
        )

    def is_running(self) -> bool:
        """Return whether a process holds the folder's lock. Trying to take it could keep a crawl from starting."""
        try:
            inode = (self.folder.path / "lock").stat().st_ino
            locks = Path("/proc/locks").read_text(encoding="ascii", errors="replace")
        except OSError:
            return False
        return any(f":{inode} " in line for line in locks.splitlines() if "FLOCK" in line)

    def _find_end(self) -> float | None:
        """Return when the crawl wrote its last file: the report, or the log if it was killed."""
        times = [path.stat().st_mtime for path in (self.folder.report, self.folder.log) if path.exists()]
        return max(times, default=None)

    def _stats(self) -> CrawlStats:
        """Return the statistics, read again if they are older than a second."""
        if self._cached_stats is None or time.monotonic() - self._cached_stats[0] > _STATS_FRESH_SECONDS:
            read = read_stats(self.folder)
            self._cached_stats = time.monotonic(), read
        return self._cached_stats[1]

    def _policy(self, stats: CrawlStats) -> tuple[PolicySummary, tuple[FailureRow, ...]]:
        """Return policy and failures, read again if they are older than some seconds."""
        cached = self._cached_policy
        if cached is None or time.monotonic() - cached[0] > _POLICY_FRESH_SECONDS:
            policy = read_policy_summary(self.folder, most=_MAX_ARMS)
            cached = time.monotonic(), policy, _find_failures(self.folder, stats)
            self._cached_policy = cached
            known = {arm.arm: arm.probability for arm in policy.arms if arm.probability is not None}
            self._earlier.append((cached[0], known))
            while len(self._earlier) > 1 and self._earlier[1][0] < cached[0] - _CHANGE_SECONDS:
                self._earlier.popleft()
        return cached[1], cached[2]

    def _breadth_first(self, stats: CrawlStats) -> Curve:
        """Return the estimate for a breadth-first crawl. It is made again from time to time while requests come."""
        began = time.monotonic()
        if began >= self._next_estimate and stats.totals.fetched != self._estimated_at:
            self._estimate = breadth_first_curve(self.folder, stats)
            self._estimated_at, ended = stats.totals.fetched, time.monotonic()
            self._next_estimate = ended + max(_ESTIMATE_SECONDS, _ESTIMATE_PAUSE * (ended - began))
        return self._estimate

    def _changes(self, policy: PolicySummary) -> dict[str, float]:
        before = self._earlier[0][1] if self._earlier else {}
        return {
            arm.arm: arm.probability - before[arm.arm]
            for arm in policy.arms
            if arm.probability is not None and arm.arm in before
        }

    def read_log(self, most: int) -> tuple[str, ...]:
        """Return the last lines of the log, those of all shards in the order of their times."""
        lines: list[str] = []
        for part in self.folder.shard_folders() or [self.folder]:
            lines += _read_tail(part.log)[-most:]
        return tuple(sorted(lines)[-most:] if self.folder.shard_folders() else lines)

    def list_pages(self, *, limit: int, **filters: Any) -> list[PageRow]:
        """Return the first requested URLs that pass the filters of `read_pages`."""
        with _FRONTIER_LOCK:
            return list(islice(read_pages(self.folder, **filters), limit))

    def list_hosts(self) -> Sequence[HostRecord]:
        """Return all contacted hosts, those with most relevant pages first."""
        with _FRONTIER_LOCK:
            hosts = self._stats().hosts
        return sorted(hosts, key=lambda host: (-host.relevant, -host.fetched, host.name))

    def explain(self, url: str) -> UrlExplanation:
        """Explain a URL, known or not."""
        with _FRONTIER_LOCK:
            return explain_url(self.folder, url)

    def search(self, search: Search) -> list[Hit]:
        """Search the word index. FileNotFoundError if the crawl has none."""
        with self._searcher_lock:
            if self._searcher is None:
                self._searcher = WordSearcher(self.folder.words)
            self._searcher.refresh()
        return self._searcher.search(search)


def _recent_rate(curve: Sequence[tuple[int, int]]) -> float | None:
    """Return the relevant pages per request over about the last tenth of the harvest curve."""
    if len(curve) < 2:
        return None
    first, last = curve[max(0, len(curve) - 1 - max(10, len(curve) // 10))], curve[-1]
    return (last[1] - first[1]) / max(1, last[0] - first[0])


def _find_failures(folder: CrawlFolder, stats: CrawlStats) -> tuple[FailureRow, ...]:
    examples: dict[str, list[PageRow]] = {}
    for row in islice(read_pages(folder, failed=True), _MAX_FAILURES_READ):
        kind = examples.setdefault(row.failure or "", [])
        if len(kind) < _MAX_EXAMPLES:
            kind.append(row)
    counts = sorted(stats.totals.failures.items(), key=lambda item: -item[1])
    return tuple(
        FailureRow(
            name=name, count=count, explanation=EXPLANATIONS.get(name, ""), examples=tuple(examples.get(name, ()))
        )
        for name, count in counts
    )


def _read_tail(path: Path) -> list[str]:
    """Return the last whole lines of a file; none if there is no file."""
    try:
        with path.open("rb") as file:
            start = max(0, path.stat().st_size - _LOG_BYTES)
            file.seek(start)
            lines = file.read().decode(errors="replace").splitlines()
    except OSError:
        return []
    return lines[1:] if start else lines
