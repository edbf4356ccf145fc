"""A simulated crawl: the frontier and the policy of a live one, a known web in the place of the network, virtual time.

There is one loop for both clocks. With one request in flight, no latency and no delay, feedback comes in order and only
the number of requests matters. With a `Timing`, every request takes its time, hosts are treated politely, and feedback
comes late, as it does in life.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from motherlode.crawl.settling import PageOutcome, Settler
from motherlode.frontier import Frontier, MemoryLedger, Politeness, Scope, Ticket
from motherlode.model import Failure, FailureKind, Policy
from motherlode.sim.webs import SimPage, SimulatedWeb


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """How long things take. The default takes no time at all: requests are counted, not seconds."""

    in_flight: int = 1
    delay: float = 0.0
    """Seconds between two requests to one host."""
    latency: float = 0.0
    """Factor on each page's own latency."""
    bandwidth: float = float("inf")
    """Bytes a second and request."""
    failure_rate: float = 0.0
    """Share of requests that time out or give a server error."""


@dataclass(slots=True)
class SimResult:
    """What came of a simulated crawl."""

    fetched: int = 0
    """Requests; failures and redirects count."""
    relevant: int = 0
    heads: int = 0
    seconds: float = 0.0
    """Virtual time."""
    wall_seconds: float = 0.0
    select_seconds: float = 0.0
    """Real time spent in picking."""
    known_urls: int = 0
    curve: list[tuple[int, int]] = field(default_factory=list)
    picks: list[str] = field(default_factory=list)
    """The URLs in order, where the caller wanted them."""

    @property
    def harvest_rate(self) -> float:
        return self.relevant / self.fetched if self.fetched else 0.0

    @property
    def select_us_mean(self) -> float:
        return 1e6 * self.select_seconds / self.fetched if self.fetched else 0.0


IN_ORDER = Timing()


class Simulation:
    """One policy on one web, from seeds to the end of the budget."""

    def __init__(
        self, web: SimulatedWeb, policy: Policy, *, scope: Scope, timing: Timing = IN_ORDER, seed: int = 0
    ) -> None:
        self._web = web
        self._timing = timing
        self._random = Random(seed)
        politeness = Politeness(delay=timing.delay, per_host=max(4, timing.in_flight), retry_wait=15.0)
        self._frontier = Frontier(
            ledger=MemoryLedger(), policy=policy, scope=scope, read_rules=None, politeness=politeness
        )
        self._settler = Settler(self._frontier, policy)

    def run(self, seeds: Sequence[str], *, pages: int, keep_picks: bool = False) -> SimResult:
        """Crawl until the budget is spent or nothing is left."""
        result = SimResult()
        began = time.perf_counter()
        self._settler.seeds(seeds)
        step = max(1, pages // 1000)
        now, started = 0.0, 0
        under_way: list[tuple[float, int, Ticket, SimPage]] = []
        while True:
            while len(under_way) < self._timing.in_flight and started < pages:
                ticket = self._pick(now, result)
                if ticket is None:
                    break
                started += 1
                if keep_picks:
                    result.picks.append(ticket.url)
                page = self._answer(ticket.url)
                heapq.heappush(under_way, (now + self._duration(page), started, ticket, page))
            if under_way:
                now, _, ticket, page = heapq.heappop(under_way)
                self._settle(ticket, page, now, result)
                if result.fetched % step == 0:
                    result.curve.append((result.fetched, result.relevant))
                continue
            ripe = self._frontier.idle_until()
            if started >= pages or ripe is None:
                break
            now = max(now, ripe)
        if not result.curve or result.curve[-1][0] != result.fetched:
            result.curve.append((result.fetched, result.relevant))
        result.seconds = now
        result.known_urls = self._frontier.known_urls
        result.wall_seconds = time.perf_counter() - began
        return result

    def _pick(self, now: float, result: SimResult) -> Ticket | None:
        began = time.perf_counter()
        ticket = self._frontier.next(now)
        result.select_seconds += time.perf_counter() - began
        return ticket

    def _answer(self, url: str) -> SimPage:
        page = self._web.page(url)
        if self._timing.failure_rate and self._random.random() < self._timing.failure_rate:
            kind = FailureKind.TIMEOUT if self._random.random() < 0.5 else FailureKind.SERVER_ERROR
            return SimPage(url=url, failure=kind, latency=30.0 if kind is FailureKind.TIMEOUT else page.latency)
        return page

    def _duration(self, page: SimPage) -> float:
        return self._timing.latency * page.latency + page.size / self._timing.bandwidth

    def _settle(self, ticket: Ticket, page: SimPage, now: float, result: SimResult) -> None:
        self._frontier.answered(ticket, now)
        result.fetched += 1
        if page.failure is not None:
            failure = Failure(url=page.url, kind=page.failure, location=page.location)
            self._settler.failure(ticket, failure, now)
            return
        result.relevant += page.relevant
        outcome = PageOutcome(relevant=page.relevant, kind=page.kind, counts=page.counts, links=page.links)
        self._settler.page(ticket, outcome)
