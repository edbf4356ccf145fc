"""Counters of a crawl, the estimate of its remaining relevant pages, and its early stop, updated with each visit."""

from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from math import hypot, sqrt
from operator import add
from typing import Any

import msgspec

from motherlode.frontier import is_revisit_arm
from motherlode.model import ChallengeProduct, FailureKind, Visit

BEING_READ, BEING_FETCHED = "being read", "being fetched"
"""The last steps of pages that were in flight when the crawl reached its time limit."""


RATE_SECONDS = 60.0
"""Number of last seconds over which the rate in the statistics is measured."""


RESPONSE_SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
BODY_BYTES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
"""Upper bounds of the buckets of the histograms."""


class Counters(msgspec.Struct, kw_only=True):
    """Sums over all visits. They are part of the frontier's commit, so they are correct after a crash."""

    fetched: int = 0
    """Number of requests for pages, with failures."""
    relevant: int = 0
    quads: int = 0
    bytes: int = 0
    seconds: float = 0.0
    requests: int = 0
    """Number of all requests, with those for robots.txt."""
    heads: int = 0
    """Number of HEAD requests for pages."""
    head_visits: int = 0
    """Number of HEAD requests that ended as a visit, for example because of a redirect. `fetched` includes them."""
    refreshed: int = 0
    """Number of revisits, which `fetched` includes. The next three counters have their results."""
    unchanged: int = 0
    changed: int = 0
    gone: int = 0
    failures: dict[str, int] = {}
    challenged_by: dict[str, int] = {}
    """Number of challenge and block pages by product, those in place of a robots.txt included."""
    redirects: int = 0
    duplicates: int = 0
    """Number of pages with the same content as an earlier page at another URL."""
    script_applications: int = 0
    """Number of pages that are empty until a script fills them. First visits only."""
    syntaxes: dict[str, list[int]] = {}
    """Number of pages and number of statements by syntax."""
    problems: dict[str, int] = {}
    outages: int = 0
    """Number of network outages during which the crawl waited."""
    outage_seconds: float = 0.0
    no_network_since: float | None = None
    """Start of the current outage in seconds since the epoch. None if there is no outage."""
    waits_until: float | None = None
    """Time (seconds since the epoch) before which nothing may be fetched; None if the crawl does not wait."""
    waits_for: str = ""
    """Why nothing may be fetched before `waits_until`."""
    stalls: int = 0
    """How often no page was settled for a minute although work was pending (`engine.watchdog`)."""
    stalled_since: float | None = None
    """Time (seconds since the epoch) of the last settled page, if the crawl is stalled; otherwise None."""
    stalled_for: str = ""
    """What a stalled crawl waits for."""
    memory: int = 0
    """Anonymous bytes of all processes of the crawl at the last check, and the most so far; 0 without a ceiling."""
    memory_peak: int = 0
    shed: dict[str, int] = {}
    """What the memory ceiling shed: numbers of links, arms, hosts and so on (`engine.memory_limit`)."""
    rate: float = 0.0
    """Requests for pages per second in the last minute."""
    in_flight: int = 0
    """Leases in flight at the last commit."""
    response_times: list[int] = msgspec.field(default_factory=lambda: [0] * (len(RESPONSE_SECONDS) + 1))
    """Histogram of the seconds from request to end of response: visits per bucket, the last for slower ones."""
    response_seconds: float = 0.0
    """Sum of the seconds that `response_times` counts."""
    body_sizes: list[int] = msgspec.field(default_factory=lambda: [0] * (len(BODY_BYTES) + 1))
    """Histogram of the unpacked sizes of pages."""
    body_bytes: int = 0
    """Sum of the sizes that `body_sizes` counts."""
    unfinished: dict[str, str] = {}
    """URLs in flight when the crawl reached its time limit, with the step that was not finished. A resumed crawl starts
    with them and removes them."""
    links: int = 0
    curve: list[tuple[int, int]] = []
    """Pairs of the number of first visits and the number of relevant pages, thinned as their number grows."""

    def add(self, visit: Visit) -> None:
        self.fetched += 1
        self.requests += 1
        self.relevant += visit.relevant - visit.relevant_before
        self.quads += visit.quads - visit.quads_before
        self.bytes += visit.received
        self.links += visit.links
        self._add_to_histograms(visit)
        self.duplicates += visit.failure is None and bool(visit.detail)
        self.script_applications += visit.is_script_application and not visit.refresh
        if visit.refresh:
            self.refreshed += 1
            self.unchanged += visit.refresh == "unchanged"
            self.changed += visit.refresh == "changed"
            self.gone += visit.refresh == "gone"
        if visit.failure is FailureKind.REDIRECT:
            self.redirects += 1
        elif visit.failure is not None and visit.failure is not FailureKind.NOT_MODIFIED:
            self.failures[visit.failure.value] = self.failures.get(visit.failure.value, 0) + 1
        for sign, counts in ((1, visit.counts), (-1, visit.counts_before)):
            for syntax, statements in counts.items():
                pages = self.syntaxes.setdefault(syntax, [0, 0])
                pages[0] += sign
                pages[1] += sign * statements
        for problem in visit.problems:
            self.note_problem(f"{problem.syntax.value if problem.syntax else 'page'}: {_generalize(problem.message)}")
        if not visit.refresh:
            self._extend_curve()

    def _add_to_histograms(self, visit: Visit) -> None:
        if visit.status is not None:
            self.response_times[bisect_left(RESPONSE_SECONDS, visit.elapsed)] += 1
            self.response_seconds += visit.elapsed
        if visit.failure is None:
            self.body_sizes[bisect_left(BODY_BYTES, visit.size)] += 1
            self.body_bytes += visit.size

    def note_challenge(self, product: ChallengeProduct) -> None:
        self.challenged_by[product.value] = self.challenged_by.get(product.value, 0) + 1

    def note_problem(self, problem: str) -> None:
        """Count a problem. Problems of more than 200 kinds are counted as "others"."""
        kind = problem if problem in self.problems or len(self.problems) < 200 else "others"
        self.problems[kind] = self.problems.get(kind, 0) + 1

    def _extend_curve(self) -> None:
        """Add the current point to the curve, and keep the curve at a few hundred evenly spaced points."""
        step = max(1, 1 << max(0, self.first.bit_length() - 9))
        if self.first % step == 0:
            self.curve.append((self.first, self.relevant))
        if len(self.curve) > 1024:
            self.curve = [point for point in self.curve if point[0] % step == 0]

    @property
    def pages(self) -> int:
        """Number of requests that returned a page."""
        return self.fetched - self.redirects - sum(self.failures.values())

    @property
    def first(self) -> int:
        """Number of requests for pages that were not visited before."""
        return self.fetched - self.refreshed

    @property
    def harvest_rate(self) -> float:
        """Relevant pages per request. Revisits do not count, because they find no new pages."""
        requests = self.page_requests - self.refreshed
        return self.relevant / requests if requests else 0.0

    @property
    def page_requests(self) -> int:
        """Number of GET and HEAD requests for pages."""
        return self.fetched + self.heads - self.head_visits

    def summary(self) -> dict[str, Any]:
        """Return the counters for the JSON output."""
        sums = {name: getattr(self, name) for name in _COUNTERS if name not in ("links", "head_visits")}
        return sums | {
            "harvest_rate": round(self.harvest_rate, 4),
            "seconds": round(self.seconds, 3),
            "outage_seconds": round(self.outage_seconds, 3),
            "no_network_since": self.no_network_since,
            "waits_until": self.waits_until,
            "waits_for": self.waits_for,
            "stalled_since": self.stalled_since,
            "stalled_for": self.stalled_for,
            "rate": round(self.rate, 2),
            "unfinished": dict(sorted(Counter(self.unfinished.values()).items())),
            **{name: getattr(self, name) for name in ("memory", "memory_peak")},
            "shed": dict(sorted(self.shed.items())),
            "failures": dict(sorted(self.failures.items())),
            "challenged_by": dict(sorted(self.challenged_by.items())),
            "problems": dict(sorted(self.problems.items())),
            "syntaxes": {name: {"pages": p, "statements": s} for name, (p, s) in sorted(self.syntaxes.items())},
        }


_SUMS = ("in_flight", "response_seconds", "body_bytes", "memory", "memory_peak")
"""Counters that are summed over shards like the others, but are no sums over visits."""
_COUNTERS = (
    *("fetched", "relevant", "quads", "bytes", "requests", "heads", "head_visits", "redirects", "duplicates", "links"),
    *("refreshed", "unchanged", "changed", "gone", "outages", "stalls"),
    "script_applications",
)


def sum_of(parts: Sequence[Counters]) -> Counters:
    """Return the sum of the counters of shards. Times are not added, because shards run at the same time."""
    waits = [(part.waits_until, part.waits_for) for part in parts if part.waits_until is not None]
    whole = Counters(
        seconds=max((part.seconds for part in parts), default=0.0),
        outage_seconds=max((part.outage_seconds for part in parts), default=0.0),
        no_network_since=min((since for part in parts if (since := part.no_network_since) is not None), default=None),
        waits_until=min(waits)[0] if len(waits) == len(parts) > 0 else None,
        waits_for=min(waits)[1] if len(waits) == len(parts) > 0 else "",
        stalled_since=min((since for part in parts if (since := part.stalled_since) is not None), default=None),
        stalled_for="; ".join(part.stalled_for for part in parts if part.stalled_for),
        rate=sum(part.rate for part in parts),
    )
    for part in parts:
        for name in (*_COUNTERS, *_SUMS):
            setattr(whole, name, getattr(whole, name) + getattr(part, name))
        whole.unfinished |= part.unfinished
        for field in ("failures", "challenged_by", "problems", "shed"):
            counts: dict[str, int] = getattr(whole, field)
            for name, count in getattr(part, field).items():
                counts[name] = counts.get(name, 0) + count
        for field in ("response_times", "body_sizes"):
            setattr(whole, field, list(map(add, getattr(whole, field), getattr(part, field))))
        for syntax, (pages, statements) in part.syntaxes.items():
            sums = whole.syntaxes.setdefault(syntax, [0, 0])
            sums[0] += pages
            sums[1] += statements
    return whole


def subtract_counters(before: Counters, after: Counters) -> Counters:
    """Return the differences of the counters between two times."""
    grown = {name: getattr(after, name) - getattr(before, name) for name in _COUNTERS}
    return Counters(seconds=after.seconds - before.seconds, **grown)


class SlidingRate:
    """The rate at which a count grows, over the last seconds.

    >>> rate = SlidingRate(60.0, (0.0, 0))
    >>> [rate.add(seconds, count) for seconds, count in ((30.0, 60), (60.0, 60), (90.0, 60), (100.0, 70))]
    [2.0, 1.0, 0.0, 0.14285714285714285]
    """

    def __init__(self, seconds: float, start: tuple[float, int]) -> None:
        self._seconds = seconds
        self._samples = deque([start])
        """Times and counts, the first one at the begin of the window or before."""

    def add(self, now: float, count: int) -> float:
        """Add the count at a time. Return its growth per second in the last seconds, or since the start."""
        self._samples.append((now, count))
        while self._samples[1][0] <= now - self._seconds:
            self._samples.popleft()
        since, first = self._samples[0]
        return (count - first) / max(0.001, now - since)


def _generalize(message: str) -> str:
    """Return the part of a problem message that does not depend on the page, so that equal problems can be counted."""
    head = message.partition(": ")[0]
    return (head if len(head) > 12 else message)[:80]


# Estimate of the remaining relevant pages

_PRIOR_REQUESTS = 2.0
"""Weight, in requests, of the host's rate as prior of an arm, and of the general rate as prior of a host."""
_ARM_DECAY = 0.95
"""Factor by which each request reduces the weight of earlier ones of its arm: waiting URLs resemble recent pages."""
_GROWTH_DECAY = 0.99
"""Factor by which each request reduces the weight of earlier ones in the mean number of new links per request: a mean
over about 100 requests."""
_MIN_REQUESTS = 100
"""Requests needed for a statement about new links. Before, the mean mostly reflects its initial value."""
_MAX_GROWTH = 0.95
"""Mean number of new links per request above which the number of unseen pages is not estimated: it diverges at 1."""
_Z_95 = 1.96
"""Standard deviations on each side of the mean for a 95 % interval."""
_REQUESTS_PER_OBSERVATION = 10
"""Requests that count as one independent observation, because neighbouring pages are similar. In breadth-first crawls
of synthetic webs, the upper bound was too low in four of ten crawls without this factor and in one of ten with it."""
_MAX_ARMS = 200_000


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """Estimate of the number of relevant pages that remain to be found."""

    relevant: float = msgspec.field(default=0.0, name="finds")
    """Expected number of relevant pages among the waiting URLs. Saved states have the name `finds`."""
    deviation: float = 0.0
    tried: float = 0.0
    """Like `relevant`, but by the relevant pages of the same arm alone, with a prior of zero: a cautious estimate."""
    tried_deviation: float = 0.0
    urls: int = 0
    growth: float = 0.0
    """Recent number of new links per request."""
    requests: int = _MIN_REQUESTS
    """Number of requests on which the estimate is based. The default is for states of older versions."""
    found: int = 1
    """Number of relevant pages among these requests. The default is for states of older versions."""

    @property
    def is_early(self) -> bool:
        """Whether there are too few requests to estimate the number of new links."""
        return self.requests < _MIN_REQUESTS

    @property
    def low(self) -> float:
        """Lower end of the 95 % interval. It assumes no relevant pages in arms that have had none so far."""
        return max(0.0, self.tried - _Z_95 * self.tried_deviation)

    @property
    def high(self) -> float:
        return min(float(self.urls), max(self.relevant + _Z_95 * self.deviation, self._sample_upper_bound))

    @property
    def _sample_upper_bound(self) -> float:
        """Upper end of the 95 % interval (Agresti and Coull 1998) of the relevant pages among the waiting URLs.

        It stays above zero if no relevant page was found so far, because a small sample may have missed them.
        """
        if not self.urls:
            return 0.0
        seen = self.requests / _REQUESTS_PER_OBSERVATION
        probability = (seen * self.relevant / self.urls + 1) / (seen + 2)
        return self.urls * (probability + _Z_95 * sqrt(probability * (1 - probability) / (seen + 3)))

    @property
    def with_unseen(self) -> float | None:
        """Expected relevant pages, including those to which no link is known yet.

        None if new links are too many or requests too few for an estimate.
        """
        if not self.urls:
            return 0.0
        return None if self.is_early or self.growth >= _MAX_GROWTH else self.relevant / (1.0 - self.growth)

    def summary(self) -> dict[str, Any]:
        """Return the object under `estimated_left` in the output of `stats --json`."""
        return {
            "finds": round(self.relevant, 1),
            "low": round(self.low, 1),
            "high": round(self.high, 1),
            "waiting_urls": self.urls,
            "with_unseen": None if self.with_unseen is None else round(self.with_unseen, 1),
        }


def sum_of_estimates(parts: Iterable[Estimate]) -> Estimate:
    """Return the estimate of a crawl from those of its shards."""
    known = list(parts)
    sums: dict[str, Any] = {
        name: sum(getattr(part, name) for part in known) for name in ("relevant", "tried", "urls", "requests", "found")
    }
    deviations: dict[str, Any] = {
        name: hypot(*(getattr(part, name) for part in known)) for name in ("deviation", "tried_deviation")
    }
    urls = sums["urls"]
    growth = sum(part.growth * part.urls for part in known) / urls if urls else 0.0
    return Estimate(**sums, **deviations, growth=growth)


_Tally = list[float]
"""Number of requests and number of relevant pages. Those of an arm decay with each request."""


class _State(msgspec.Struct):
    arms: dict[str, _Tally] = {}
    hosts: dict[str, _Tally] = {}
    """Tallies without the requests for seeds."""
    seeds: _Tally = msgspec.field(default_factory=lambda: [0, 0])
    new_hosts: _Tally = msgspec.field(default_factory=lambda: [0, 0])
    """First requests to hosts that were found by links."""
    new_arms: _Tally = msgspec.field(default_factory=lambda: [0, 0])
    """First requests to arms of hosts that were contacted before."""
    growth: float = 1.0
    requests: int = 0


def _estimate_rate(tally: _Tally, expected: float) -> float:
    """Return the relevant pages per request: the posterior mean with `expected` as prior."""
    return (tally[1] + _PRIOR_REQUESTS * expected) / (tally[0] + _PRIOR_REQUESTS)


def _compute_beta_binomial(count: int, probability: float, *, known: float) -> tuple[float, float]:
    """Return mean and standard deviation of the relevant pages among `count` URLs, by the beta-binomial distribution.

    `probability` is their probability to be relevant, estimated from `known` requests.
    """
    return count * probability, sqrt(count * probability * (1 - probability) * (known + count) / (known + 1))


class Estimator:
    """Estimates the number of remaining relevant pages from the visits.

    >>> watcher = Estimator()
    >>> for number in range(50):
    ...     watcher.add(Visit(number=number, url="", host="a.example", arm="a.example", relevant=number % 2 == 0))
    >>> found = watcher.estimate([("a.example", "a.example", 100)])
    >>> 45 < found.relevant < 55, found.low < 45, found.high > 55
    (True, True, True)
    """

    def __init__(self) -> None:
        self._state = _State()

    def add(self, visit: Visit) -> None:
        if visit.refresh:
            return
        state, relevant = self._state, int(visit.relevant)
        host, arm = state.hosts.get(visit.host), state.arms.get(visit.arm)
        recent = state.arms.setdefault(visit.arm, [0, 0])
        recent[:] = recent[0] * _ARM_DECAY + 1, recent[1] * _ARM_DECAY + relevant
        known = state.hosts.setdefault(visit.host, [0, 0])
        tallies = [known if visit.depth > 0 else state.seeds]
        if visit.depth > 0:
            if host is None:
                tallies.append(state.new_hosts)
            elif arm is None:
                tallies.append(state.new_arms)
        for tally in tallies:
            tally[0] += 1
            tally[1] += relevant
        state.requests += 1
        state.growth = state.growth * _GROWTH_DECAY + visit.new_links * (1 - _GROWTH_DECAY)
        for table in (state.arms, state.hosts):
            if len(table) > _MAX_ARMS:
                del table[next(iter(table))]

    def estimate(self, waiting: Iterable[tuple[str, str, int]]) -> Estimate:
        """Return the estimate for the waiting URLs, given as arm, host and number of URLs. Revisits do not count."""
        state, links = self._state, self._sum_linked()
        # a policy picks the best URLs first, so waiting URLs are not better
        base = min(0.5, _estimate_rate(links, _estimate_rate(state.seeds, 0.5)))
        untried: dict[str, int] = {}
        relevant = variance = untried_deviation = sure = sure_variance = 0.0
        urls = 0
        for arm, host, count in waiting:
            if is_revisit_arm(arm):
                continue
            urls += count
            record = state.arms.get(arm)
            if record is None:
                untried[host] = untried.get(host, 0) + count
                continue
            known = record[0] + _PRIOR_REQUESTS
            rate = _estimate_rate(record, self._expected_rate(host, base))
            mean, spread = _compute_beta_binomial(count, rate, known=known)
            relevant += mean
            variance += spread * spread
            mean, spread = _compute_beta_binomial(count, _estimate_rate(record, 0.0), known=known)
            sure += mean
            sure_variance += spread * spread
        for host, count in untried.items():
            mean, spread = _compute_beta_binomial(count, self._expected_rate(host, base), known=_PRIOR_REQUESTS)
            relevant += mean
            untried_deviation += spread
        return Estimate(
            relevant=relevant,
            deviation=sqrt(variance + untried_deviation * untried_deviation),
            tried=sure,
            tried_deviation=sqrt(sure_variance),
            urls=urls,
            growth=round(state.growth, 4),
            requests=state.requests,
            found=round(state.seeds[1] + links[1]),
        )

    def _sum_linked(self) -> _Tally:
        """Return the tally of all requests except those for seeds."""
        known = self._state.hosts.values()
        return [sum(tally[0] for tally in known), sum(tally[1] for tally in known)]

    def _expected_rate(self, host: str, base: float) -> float:
        """Return the prior probability for a link of a host. `base` is the probability for any link."""
        state = self._state
        if host not in state.hosts:
            return _estimate_rate(state.new_hosts, base)
        first_tries = [one + other for one, other in zip(state.new_arms, state.new_hosts, strict=True)]
        return _estimate_rate(state.hosts[host], _estimate_rate(first_tries, base))

    def drop_half(self) -> None:
        """Forget the arms and hosts that were visited first, to save memory."""
        for table in (self._state.arms, self._state.hosts):
            for name in list(table)[: len(table) // 2]:
                del table[name]

    def dump(self) -> bytes:
        return msgspec.msgpack.encode(self._state)

    def load(self, state: bytes) -> None:
        self._state = msgspec.msgpack.decode(state, type=_State)
