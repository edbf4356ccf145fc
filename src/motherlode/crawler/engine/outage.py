"""Outage monitor: decides from the responses of hosts whether our own network is down.

A failure without any response may be caused by the host or by our own network. It is therefore held until another host
has responded, which takes moments in a healthy crawl, and counts then. If hosts in several networks do not respond and
no other host responds for some more seconds, the crawl is *stalled*: no request starts, and hosts that have responded
before, the *reference hosts*, get a request. If one responds, the other hosts are dead, and their failures count. If
none responds, the network is down: the failed URLs go back to the frontier without being counted, and reference hosts
get requests from time to time until one responds.

Dead hosts must not keep a crawl from ending. Failures in fewer networks than `MIN_RESPONDING_HOSTS` never stall it.
After each false alarm and each outage, failures count at once for a time that doubles. If no host has ever responded,
or so few that all may have died, the hosts count as dead after ten minutes. Otherwise the crawl ends after a day, with
its frontier complete.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Container, Iterable, Iterator
from enum import Enum
from itertools import islice
from math import inf

from motherlode.crawler.engine.limits import LeaseResult, cancel
from motherlode.crawler.engine.robots_and_dns import PoliteFetcher, Resolve
from motherlode.crawler.stats.counters import Counters
from motherlode.frontier import Frontier, HostRecord
from motherlode.model import Failure, FailureKind, Fetched, Fetcher, Request, RequestKind
from motherlode.runtime import SYSTEM_CLOCK, Clock
from motherlode.www.urls import host_of, origin_of, registrable_domain

MIN_RESPONDING_HOSTS = 3
"""Minimum number of networks without a response before an outage is suspected. As many must have responded once."""
_GRACE = 1 / 3
"""Time in which other hosts may respond before reference hosts get requests (a round). Like the other times below, in
units of the configured retry wait; by default five seconds."""
_MAX_PAUSE = 20.0
"""Longest time between two rounds, and longest time in which failures count at once, in units of the retry wait."""
_ALARM_MEMORY = 240.0
"""Time after which a false alarm no longer delays the next suspicion of an outage, in units of the retry wait."""
_MAX_OUTAGE = 5760.0
"""Time for which the crawl waits for a network that was up before, in units of the retry wait; by default a day."""
_MAX_OUTAGE_WITHOUT_HOSTS = 40.0


class Verdict(Enum):
    """The meaning of a failure without a response for its page and its host."""

    COUNTS = "counts"
    WAITS = "waits"
    """The result waits, because it is not known yet whether the failure counts."""
    UNCOUNTED = "uncounted"


def network_of(address: str, host: str) -> str:
    """Return the network of an address, or the registrable domain if no address is known. These fail together.

    >>> network_of("198.51.100.7", "a.example"), network_of("2001:db8:1:2::7", ""), network_of("", "www.b.example:81")
    ('198.51.100', '2001:db8:1', 'b.example')
    """
    if not address:
        return registrable_domain(host)
    return ":".join(address.split(":")[:3]) if ":" in address else address.rpartition(".")[0] or address


class OutageDetector:
    """Collects responses and failures without a response. `unit` is the configured retry wait in seconds."""

    def __init__(self, *, unit: float) -> None:
        self.unit = unit
        self.reference_hosts = ReferenceHosts()
        self._last_response_at = -inf
        self.silent_networks: dict[str, float] = {}
        """Network → time of its first request without a response since any host responded last."""
        self._rounds = 0
        """Number of rounds without a response."""
        self.next_round_at = inf
        """Time of the next round; infinite if none is due."""
        self._is_round_running = False
        """Whether a round of requests is in flight."""
        self._false_alarms, self._false_alarm_at = 0, -inf
        self._counts_at_once_until = -inf
        self._outage_ended_at = -inf
        self._past_seconds = 0.0
        """Total seconds of past outages."""
        self._has_given_up = False
        """True if no host has ever responded and all hosts therefore count as dead."""
        self.since: float | None = None
        """Start of the current outage (engine's clock); None if there is none."""
        self.outages = 0

    def record_response(self, now: float) -> None:
        """Record a response: the network is up."""
        if self.since is not None:
            self._past_seconds, self._outage_ended_at = self.seconds(now), now
        if self.since is not None or self._is_round_running:
            self._count_failures_at_once(now)
        self._last_response_at, self.since, self._has_given_up = now, None, False
        self.silent_networks.clear()
        self._rounds, self.next_round_at, self._is_round_running = 0, inf, False

    def record_silence(self, network: str, now: float) -> None:
        """Record a request to a network without a response."""
        if now < self._counts_at_once_until or self._has_given_up:
            return
        self.silent_networks.setdefault(network, now)
        if self._is_suspected and self.next_round_at == inf and not self._is_round_running:
            self.next_round_at = now + _GRACE * self.unit

    def begin_round(self) -> None:
        """Record the start of a round of requests to reference hosts."""
        self._is_round_running, self.next_round_at = True, inf

    def end_round(self, now: float, *, has_enough_hosts: bool) -> None:
        """Record a round without a response, or without a reference host."""
        if not self._is_round_running:
            return  # a host has responded meanwhile
        self._is_round_running = False
        if self.since is None:
            self.since = min(self.silent_networks.values())
            self.outages += 1
        self._rounds += 1
        self.next_round_at = now + self.unit * min(2.0 ** (self._rounds - 1), _MAX_PAUSE)
        if not has_enough_hosts and now >= self.since + _MAX_OUTAGE_WITHOUT_HOSTS * self.unit:
            self._past_seconds, self.since, self._has_given_up = self.seconds(now), None, True
            self.silent_networks.clear()
            self.next_round_at = inf

    def _count_failures_at_once(self, now: float) -> None:
        """Let failures count at once for a time. It doubles if a false alarm follows soon after another."""
        forgotten = now - self._false_alarm_at > _ALARM_MEMORY * self.unit
        self._false_alarms, self._false_alarm_at = 1 if forgotten else self._false_alarms + 1, now
        self._counts_at_once_until = now + self.unit * min(2.0 ** min(self._false_alarms, 10), _MAX_PAUSE)

    @property
    def _is_suspected(self) -> bool:
        return len(self.silent_networks) >= MIN_RESPONDING_HOSTS

    @property
    def is_stalled(self) -> bool:
        """Whether no request may start: a round is in flight, or none has had a response."""
        return self._is_round_running or self.since is not None

    def is_spent(self, now: float) -> bool:
        """Return whether the crawl has waited long enough for a network that was up before."""
        return self.since is not None and now >= self.since + _MAX_OUTAGE * self.unit

    def seconds(self, now: float) -> float:
        """Return the total seconds without a network."""
        return self._past_seconds + (0.0 if self.since is None else now - self.since)

    def verdict(self, *, began: float, ended: float, now: float) -> Verdict:
        """Return the verdict on a request without a response, given its start and end."""
        if self.since is not None or began <= self._outage_ended_at:
            return Verdict.UNCOUNTED
        if self._has_given_up or self._last_response_at > ended or ended < self._counts_at_once_until:
            return Verdict.COUNTS
        if not self._is_suspected and now >= ended + self.unit:
            return Verdict.COUNTS  # too few networks to decide
        return Verdict.WAITS


_MAX_REFERENCE_HOSTS = 32
_FIRST_ROUND_REQUESTS, _LATER_ROUND_REQUESTS = 3, 2
"""Number of reference hosts that get a request in the first round, and in each round during an outage."""
_WAIT = 2.0
"""Longest time for which the delay of a reference host may postpone its request, in units of the retry wait."""
_ROUND_CHECK_SECONDS = 1.0
"""Seconds between two checks of a round in flight. When it ends, the engine is notified at once."""
_PROBLEM = "network: no host responded, and the crawl waited"
_INCONCLUSIVE = frozenset({FailureKind.DNS, FailureKind.GUARD, FailureKind.SCHEME})
"""Failures that do not prove that the network is up: a local name server or our own rules cause them without it."""


def shows_network_is_up(fetched: Fetched) -> bool:
    return not (isinstance(fetched, Failure) and (fetched.silent or fetched.kind in _INCONCLUSIVE))


class ReferenceHosts:
    """Candidates for reference hosts: one origin per network, last response first. A chosen one moves to the end.

    >>> reference_hosts = ReferenceHosts()
    >>> for network in "abc":
    ...     reference_hosts.keep(network, f"http://{network}.example")
    >>> reference_hosts.choose(2), reference_hosts.choose(2, unless={"a"})
    (['http://c.example', 'http://b.example'], ['http://c.example', 'http://b.example'])
    """

    def __init__(self) -> None:
        self._origins: OrderedDict[str, str] = OrderedDict()

    def __len__(self) -> int:
        return len(self._origins)

    def keep(self, network: str, origin: str) -> None:
        self._origins[network] = origin
        self._origins.move_to_end(network)
        if len(self._origins) > _MAX_REFERENCE_HOSTS:
            self._origins.popitem(last=False)

    def choose(self, count: int, *, unless: Container[str] = ()) -> list[str]:
        """Return the most recent origins. Those in the networks `unless` are used only if there are no others."""
        networks = [network for network in reversed(self._origins) if network not in unless]
        chosen = (networks or list(reversed(self._origins)))[:count]
        for network in chosen:
            self._origins.move_to_end(network, last=False)
        return [self._origins[network] for network in chosen]


class MonitoredFetcher:
    """A fetcher that records which hosts respond."""

    def __init__(self, inner: Fetcher, detector: OutageDetector, *, clock: Clock = SYSTEM_CLOCK) -> None:
        self._inner = inner
        self._detector = detector
        self._clock = clock

    async def fetch(self, request: Request) -> Fetched:
        fetched = await self._inner.fetch(request)
        if shows_network_is_up(fetched):
            self._detector.reference_hosts.keep(
                network_of(fetched.address, host_of(request.url)), origin_of(request.url)
            )
            self._detector.record_response(self._clock.now())
        return fetched

    async def close(self) -> None:
        await self._inner.close()


class OutageMonitor:
    """Decides whether failures count, holds results until that is known, and sends requests to reference hosts.

    In a recorded web there is no failure without a response, so the monitor has nothing to do.
    """

    def __init__(
        self,
        detector: OutageDetector,
        fetcher: Fetcher,
        frontier: Frontier,
        *,
        resolve: Resolve,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._detector = detector
        self._reference_hosts = detector.reference_hosts
        self._silent_hosts = ReferenceHosts()
        """Hosts that get a request if there is no reference host."""
        self._frontier = frontier
        self._polite = PoliteFetcher(frontier, fetcher, resolve=resolve, clock=clock)
        self._wait = _WAIT * detector.unit
        self._clock = clock
        self._round: asyncio.Task[None] | None = None
        self._held: list[LeaseResult] = []
        self._outages, self._seconds = 0, 0.0
        """Outages and seconds of this run that the counters already include."""
        self._counters = Counters()
        self._wake_up: Callable[[], None] = lambda: None
        self._is_ending: Callable[[], bool] = lambda: False

    def start(self, counters: Counters, *, wake_up: Callable[[], None], is_ending: Callable[[], bool]) -> None:
        """Start to update the counters. `wake_up` is called at changes. No result is held once `is_ending` is true."""
        self._counters, self._wake_up, self._is_ending = counters, wake_up, is_ending
        counters.no_network_since = None

    def observe(self, result: LeaseResult) -> None:
        """Record a result without a response. The fetcher records the others."""
        response, lease = result.response, result.lease
        if isinstance(response, Failure) and response.silent and not response.recalled and not result.is_probe_passed:
            network = network_of(lease.address, host_of(lease.url))
            self._silent_hosts.keep(network, origin_of(lease.url))
            self._detector.record_silence(network, self._clock.now())

    def verdict(self, result: LeaseResult) -> Verdict:
        """Decide whether a result counts."""
        response = result.response
        if not isinstance(response, Failure) or response.has_other_address or result.is_probe_passed:
            return Verdict.COUNTS
        if response.silent and response.recalled:
            return Verdict.UNCOUNTED  # the run that got it was killed before it could decide
        is_unknown_name = response.kind is FailureKind.DNS and self._detector.since is not None
        if not (response.silent or is_unknown_name):
            return Verdict.COUNTS
        verdict = self._detector.verdict(began=result.began, ended=result.ended, now=self._clock.now())
        return Verdict.UNCOUNTED if verdict is Verdict.WAITS and self._is_ending() else verdict

    def hold(self, result: LeaseResult) -> None:
        """Keep a result until it is known whether it counts. It keeps its slot."""
        self._held.append(result)

    def next_released(self) -> LeaseResult | None:
        """Return a held result that need not wait any longer."""
        found = next((result for result in self._held if self.verdict(result) is not Verdict.WAITS), None)
        if found is not None:
            self._held.remove(found)
        return found

    @property
    def is_stalled(self) -> bool:
        """True if no request may start, because the network may be down."""
        return self._detector.is_stalled

    def is_exhausted(self) -> bool:
        return self._detector.is_spent(self._clock.now())

    def idle_for(self) -> float:
        """Return the seconds until `tick` has something to do."""
        return (
            _ROUND_CHECK_SECONDS
            if self._round is not None
            else max(0.0, self._detector.next_round_at - self._clock.now())
        )

    def tick(self) -> None:
        """Send requests to reference hosts when they are due, and update the counters."""
        if self._round is not None and self._round.done():
            self._round.result()  # raises if the round failed
            self._round = None
        if self._round is None and self._clock.now() >= self._detector.next_round_at:
            self._detector.begin_round()
            self._round = asyncio.create_task(self._run_round())
            self._round.add_done_callback(lambda _: self._wake_up())
        if self._detector.outages:
            self._count()

    def _count(self) -> None:
        outages, seconds = self._detector.outages, self._detector.seconds(self._clock.now())
        for _ in range(outages - self._outages):
            self._counters.outages += 1
            self._counters.note_problem(_PROBLEM)
        self._counters.outage_seconds += seconds - self._seconds
        self._counters.no_network_since = self._detector.since
        self._outages, self._seconds = outages, seconds

    async def _run_round(self) -> None:
        if not self._reference_hosts:
            for network, origin in islice(_responding_hosts(self._frontier.host_records()), _MAX_REFERENCE_HOSTS):
                self._reference_hosts.keep(network, origin)
        until = self._clock.now() + self._wait
        requests = [Request(url=f"{origin}/robots.txt", kind=RequestKind.SUBREQUEST) for origin in self._choose()]
        await asyncio.gather(*(self._polite.fetch(request, wait_until=until) for request in requests))
        enough = len(self._reference_hosts) >= MIN_RESPONDING_HOSTS
        self._detector.end_round(self._clock.now(), has_enough_hosts=enough)

    def _choose(self) -> list[str]:
        is_first = self._detector.since is None
        if not self._reference_hosts:  # requests to hosts without a response must have ended before the next one
            return [] if is_first else self._silent_hosts.choose(_LATER_ROUND_REQUESTS)
        count = _FIRST_ROUND_REQUESTS if is_first else _LATER_ROUND_REQUESTS
        return self._reference_hosts.choose(count, unless=self._detector.silent_networks.keys())

    async def close(self) -> None:
        await cancel([self._round] if self._round is not None else [])


def _responding_hosts(records: Iterable[HostRecord]) -> Iterator[tuple[str, str]]:
    """Yield network and origin of the hosts that responded in an earlier run."""
    for record in records:
        if record.robots is not None or record.secure_robots is not None:
            scheme = "http" if record.secure_robots is None else "https"
            yield network_of(record.address, record.name), f"{scheme}://{record.name}"
