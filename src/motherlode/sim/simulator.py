"""A simulated crawl: the frontier and policy of a live crawl on a known web, in virtual time.

By default there is one request in flight, without latency and delay: outcomes come in order, and only the number of
requests matters. With a `Timing`, every request takes its time, hosts have their delays, and outcomes come late, as in
a live crawl. Each host is asked for its robots.txt first, as in a live crawl, and has none.
"""

from __future__ import annotations

import gc
import heapq
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import msgspec
import xxhash

from motherlode.crawler.engine.scheduler import Scheduler
from motherlode.fetch import content_type_of, replaces_get
from motherlode.frontier import End, Frontier, Lease, MemoryStorage, Politeness
from motherlode.model import ContentKind, Failure, FailureKind, Outcome, Policy, RequestKind
from motherlode.model.policy import MAX_UNTRIED_HOSTS, PredictsRelevance, Stops
from motherlode.model.usage import NO_PREFERENCES, UsagePreferences
from motherlode.policies import Reward
from motherlode.sim.calibration import Calibration
from motherlode.sim.kept_crawl import KeptCrawl
from motherlode.sim.web_protocol import SimPage, SimulatedWeb
from motherlode.www.media_types import MEDIA
from motherlode.www.urls import Scope

MOMENT = 1e-6
"""Minimum duration of a request in seconds, so that each response comes after its request."""
_TIMEOUT = 30.0
"""Seconds until a request without a response fails."""
_STEPS = 1000
"""Approximate number of points of a curve."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Durations and limits of requests. By default a request takes no time: requests are counted, not seconds."""

    in_flight: int = 1
    per_host: int = 4
    """Maximum number of requests to one host at the same time if the delay is 0."""
    delay: float = 0.0
    """Seconds between the end of a request to a host and the start of the next."""
    latency: float = 0.0
    """Factor by which the latency of each page in the web is multiplied."""
    bandwidth: float = float("inf")
    """Bytes per second of each request."""
    failure_rate: float = 0.0
    """Share of requests that time out or end with a server error. Seed, URL and attempt determine which ones."""

    @property
    def counts_seconds(self) -> bool:
        return bool(self.delay or self.latency or self.bandwidth != float("inf"))


@dataclass(slots=True)
class SimResult:
    """The result of a simulated crawl."""

    fetched: int = 0
    """Number of GET requests, including failures and redirects."""
    relevant: int = 0
    heads: int = 0
    """Number of HEAD requests. They count towards the budget, too."""
    seconds: float = 0.0
    """Duration of the crawl in seconds of virtual time."""
    wall_seconds: float = 0.0
    select_seconds: float = 0.0
    """Real seconds that the policy spent in picking URLs."""
    known_urls: int = 0
    failures: dict[str, int] = field(default_factory=dict)
    """Number of failed requests by the value of their FailureKind. Redirects count as failures."""
    curve: list[tuple[int, int]] = field(default_factory=list)
    """Pairs of the number of GET requests and the relevant pages found by then."""
    heads_by_point: list[int] = field(default_factory=list)
    """For each point of `curve`: the number of HEAD requests by then."""
    hosts: dict[str, list[int]] = field(default_factory=dict)
    """Host → [number of requests, number of relevant pages found]."""
    picking: list[tuple[int, float]] = field(default_factory=list)
    """Per regular point of `curve`: number of waiting URLs, and mean seconds per pick since the previous point."""
    picks: list[str] = field(default_factory=list)
    """The requested URLs in order, if the caller wants them."""
    headed: list[str] = field(default_factory=list)
    """The URLs that got a HEAD request, in order, if the caller wants the picks."""
    calibration: Calibration = field(default_factory=Calibration)
    """Predicted probabilities and results, if the policy predicts any."""
    starts: list[tuple[float, float]] = field(default_factory=list)
    """Start and end of each request of `picks`, in virtual time."""

    @property
    def request_curve(self) -> list[tuple[int, int]]:
        """The curve over all requests, GET and HEAD. Policies are compared on it, because both count to the budget."""
        points = zip(self.curve, self.heads_by_point, strict=True)
        return [(fetched + heads, relevant) for (fetched, relevant), heads in points]

    @property
    def harvest_rate(self) -> float:
        requests = self.fetched + self.heads
        return self.relevant / requests if requests else 0.0

    def add_point(self) -> None:
        """Add the present numbers of requests and relevant pages to the curve."""
        self.curve.append((self.fetched, self.relevant))
        self.heads_by_point.append(self.heads)

    @property
    def relevant_hosts(self) -> int:
        """Number of hosts on which at least one relevant page was found."""
        return sum(found > 0 for _, found in self.hosts.values())

    @property
    def select_us_mean(self) -> float:
        return 1e6 * self.select_seconds / self.fetched if self.fetched else 0.0


IN_ORDER = Timing()


class NoRules:
    """A host without a robots.txt."""

    delay: float | None = None

    def __init__(self, body: bytes) -> None:
        pass

    def allows(self, url: str) -> bool:
        return True

    def preferences(self, url: str) -> UsagePreferences:
        return NO_PREFERENCES


class Simulation:
    """One policy on one web, from seeds to the end of the budget."""

    def __init__(
        self,
        web: SimulatedWeb,
        policy: Policy,
        *,
        scope: Scope,
        timing: Timing = IN_ORDER,
        seed: int = 0,
        reward: Reward | None = None,
        max_untried_hosts: int = MAX_UNTRIED_HOSTS,
        on_request: Callable[[], None] = lambda: None,
        keep: KeptCrawl | None = None,
    ) -> None:
        self._web = web
        self._policy = policy
        self._keep = keep
        self._on_request = on_request
        self._reward = reward
        """Computes the reward that the policy learns from. None: the reward is 1 for a relevant page and 0
        otherwise."""
        self._timing = timing
        self._seed = seed
        self._frontier = Frontier(
            storage=MemoryStorage() if keep is None else keep.storage,
            policy=policy,
            scope=scope,
            read_rules=NoRules,
            politeness=Politeness(
                delay=timing.delay,
                per_host=timing.per_host,
                retries=timing.failure_rate > 0,  # otherwise a repeated request gets the same response
            ),
            max_untried_hosts=max_untried_hosts,
        )
        self._scheduler = Scheduler(self._frontier, policy)
        self._predicts = policy if isinstance(policy, PredictsRelevance) else None
        self._stops = policy if isinstance(policy, Stops) else None
        self._in_flight: list[tuple[float, int, Lease, SimPage | None, bool]] = []
        """A heap of requests: their end, number, lease, response (None for a robots.txt), and whether it is a HEAD."""
        self._started = 0
        self._pages_started = 0

    def run(self, seeds: Sequence[str], *, pages: int, keep_picks: bool = False) -> SimResult:
        """Crawl until the budget is spent or nothing is left.

        The garbage collector is off meanwhile, because a simulation makes millions of objects and no garbage in cycles.
        """
        collecting = gc.isenabled()
        gc.disable()
        try:
            return self._run(seeds, pages, keep_picks=keep_picks)
        finally:
            if collecting:
                gc.enable()
            if self._keep is not None:
                self._keep.close(self._frontier, self._policy)

    def _run(self, seeds: Sequence[str], pages: int, *, keep_picks: bool) -> SimResult:
        result = SimResult()
        began = time.perf_counter()
        self._scheduler.add_seeds(seeds)
        step = max(1, pages // _STEPS)
        now, picked_before = 0.0, 0.0
        while True:
            self._begin(now, pages, result, keep_picks=keep_picks)
            when = self._next_event(pages)
            if when is None:
                break
            now = max(now, when)
            while self._in_flight and self._in_flight[0][0] <= now:
                _, _, lease, page, is_head = heapq.heappop(self._in_flight)
                self._settle(lease, page, now, result, is_head=is_head)
                if page is not None and not is_head and result.fetched % step == 0:
                    result.add_point()
                    spent = result.select_seconds - picked_before
                    result.picking.append((self._frontier.waiting, spent / step))
                    picked_before = result.select_seconds
        if not result.curve or result.curve[-1][0] != result.fetched:
            result.add_point()
        result.heads_by_point[-1] = result.heads
        result.seconds = now if self._timing.counts_seconds else 0.0
        result.known_urls = self._frontier.known_urls
        result.wall_seconds = time.perf_counter() - began
        return result

    def _free(self, pages: int) -> bool:
        if self._stops is not None and self._stops.stop_reason:
            return False
        return len(self._in_flight) < self._timing.in_flight and self._pages_started < pages

    def _begin(self, now: float, pages: int, result: SimResult, *, keep_picks: bool) -> None:
        while self._free(pages):
            began = time.perf_counter()
            lease = self._frontier.lease(now)
            result.select_seconds += time.perf_counter() - began
            if lease is None:
                return
            self._started += 1
            is_head = self._scheduler.wants_header(lease)
            if lease.kind is RequestKind.ROBOTS:
                page, ends = None, now + MOMENT
            else:
                self._pages_started += 1
                if self._keep is not None and not is_head:
                    self._keep.begin(lease, self._policy)
                page = self._response(lease)
                ends = now + self._duration(page, is_head=is_head)
                if keep_picks and is_head:
                    result.headed.append(lease.url)
                elif keep_picks:
                    result.picks.append(lease.url)
                    result.starts.append((now, ends))
            heapq.heappush(self._in_flight, (ends, self._started, lease, page, is_head))

    def _response(self, lease: Lease) -> SimPage:
        self._on_request()
        url, timing = lease.url, self._timing
        page = self._web.page(url)
        if timing.failure_rate:
            bits = xxhash.xxh3_64_intdigest(f"{lease.entry.attempts} {url}".encode(), self._seed)
            if (bits >> 1) / 2**63 < timing.failure_rate:
                kind = FailureKind.TIMEOUT if bits & 1 else FailureKind.SERVER_ERROR
                return SimPage(url=url, failure=kind, latency=_TIMEOUT if bits & 1 else page.latency)
        return page

    def _duration(self, page: SimPage, *, is_head: bool) -> float:
        received = 0 if is_head else page.size
        return max(MOMENT, self._timing.latency * page.latency + received / self._timing.bandwidth)

    def _next_event(self, pages: int) -> float | None:
        """Return the time at which a request ends or a host becomes ready; None at the end of the crawl."""
        ends = self._in_flight[0][0] if self._in_flight else None
        ready = self._frontier.idle_until() if self._free(pages) else None
        return min((when for when in (ends, ready) if when is not None), default=None)

    def _settle(self, lease: Lease, page: SimPage | None, now: float, result: SimResult, *, is_head: bool) -> None:
        self._frontier.response_received(lease, now)
        if page is None:
            self._frontier.end(lease, End.ROBOTS_READ, now)
            return
        if is_head:
            self._settle_head(lease, page, now, result)
            return
        result.fetched += 1
        if self._predicts is not None:
            result.calibration.add(self._predicts.probability(lease.entry.arm), page.relevant)
        account = result.hosts.get(lease.host)
        if account is None:
            account = result.hosts[lease.host] = [0, 0]
        account[0] += 1
        if page.failure is not None:
            failure = Failure(url=page.url, kind=page.failure, location=page.location)
            failure = self._scheduler.settle_failure(lease, failure, now)
            result.failures[failure.kind.value] = result.failures.get(failure.kind.value, 0) + 1
            if self._keep is not None:
                self._keep.add(lease, failure, number=result.fetched, now=now)
            return
        result.relevant += page.relevant
        account[1] += page.relevant
        outcome = self._outcome(lease, page)
        new_links = self._scheduler.settle_page(lease, outcome, now)
        if self._keep is not None:
            self._keep.add(lease, outcome, number=result.fetched, now=now, new_links=new_links)

    def _settle_head(self, lease: Lease, page: SimPage, now: float, result: SimResult) -> None:
        result.heads += 1
        if page.failure is not None and replaces_get(page.failure):
            failure = Failure(url=page.url, kind=page.failure, location=page.location)
            kind = self._scheduler.settle_failure(lease, failure, now).kind.value
            result.failures[kind] = result.failures.get(kind, 0) + 1
            return
        self._scheduler.settle_header(lease, content_type_of(page.failure, _content_type(page)), now)

    def _outcome(self, lease: Lease, page: SimPage) -> Outcome:
        outcome = self._scheduler.page_outcome(
            lease,
            relevant=page.relevant,
            kind=page.kind,
            content_type=_content_type(page),
            counts=page.counts,
            links=page.links,
            size=page.size,
            statement_hashes=page.statement_hashes,
            page_score=page.page_score,
            is_unscored=page.is_unscored,
        )
        if self._reward is None:
            return outcome
        return msgspec.structs.replace(outcome, reward=self._reward(outcome))


def _content_type(page: SimPage) -> str:
    """Return the Content-Type header of a page, or the media type of its kind if the web does not know the header."""
    return page.content_type or ("" if page.failure is not None else MEDIA[ContentKind(page.kind)].media_types[0])
