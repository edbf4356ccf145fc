"""The frontier compared with a simple model, for random sequences of links, responses and failures."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from motherlode.frontier import End, Lease
from motherlode.frontier.leases import (
    HOST_GIVEN_UP_AFTER,
    MAX_UNREADABLE_RULES_UNITS,
    TREATMENTS,
    host_snooze_units,
    rules_snooze_units,
)
from motherlode.model import Failure, FailureKind, RequestKind
from motherlode.www.urls import host_of

from .fakes import FakeRules, failure, frontier_on, offer

HOSTS = [f"h{number}.example" for number in range(4)]
ROBOTS = [b"", b"delay:3", b"no:/1", b"no:/", b"delay:0.5 no:/0"]
FAILURES = [
    *(FailureKind.NOT_FOUND, FailureKind.RESET, FailureKind.TIMEOUT, FailureKind.TOO_MANY, FailureKind.REDIRECT),
    *(FailureKind.GUARD, FailureKind.SERVER_ERROR, FailureKind.CONNECT),
]
RETRY_WAIT = 4.0
PER_HOST = 2


@dataclass
class ModelHost:
    rules: FakeRules | None = None
    ready_at: float = 0.0
    in_flight: int = 0
    asking: bool = False
    held: str = ""
    cleared: bool = False
    failures: int = 0
    unread_since: float | None = None
    last_end: float = float("-inf")


@dataclass
class Model:
    """The state of the frontier in plain lists. Every query is a linear search."""

    delay: float
    order: dict[str, int] = field(default_factory=dict)
    waiting: set[str] = field(default_factory=set)
    later: dict[str, float] = field(default_factory=dict)
    under_way: set[str] = field(default_factory=set)
    attempts: dict[str, int] = field(default_factory=dict)
    refused: int = 0
    hosts: dict[str, ModelHost] = field(default_factory=lambda: {name: ModelHost() for name in HOSTS})

    def host(self, url: str) -> ModelHost:
        return self.hosts[host_of(url)]

    def delay_of(self, host: ModelHost) -> float:
        return max(self.delay, (host.rules and host.rules.delay) or 0.0)

    def free(self, host: ModelHost) -> bool:
        limit = 1 if self.delay_of(host) > 0 else PER_HOST
        return host.in_flight < limit and not host.asking and not host.held

    def next(self, now: float) -> tuple[str, RequestKind] | None:
        cleared = sorted((host.ready_at, name) for name, host in self.hosts.items() if host.cleared)
        for ready_at, name in cleared:
            if ready_at <= now:
                host = self.hosts[name]
                url, host.held, host.cleared = host.held, "", False
                if (issued := self.issue(url)) is not None:
                    return issued
        for url in [url for url, time in self.later.items() if time <= now]:
            del self.later[url]
            self.waiting.add(url)
        while True:
            ripe = [u for u in self.waiting if self.host(u).ready_at <= now and self.free(self.host(u))]
            if not ripe:
                return None
            url = min(ripe, key=lambda url: self.order[url])
            self.waiting.remove(url)
            if (issued := self.issue(url)) is not None:
                return issued

    def forbids(self, url: str) -> bool:
        host = self.host(url)
        return host.rules is not None and not host.rules.allows(url)

    def issue(self, url: str) -> tuple[str, RequestKind] | None:
        host = self.host(url)
        if host.failures >= HOST_GIVEN_UP_AFTER or (host.rules and not host.rules.allows(url)):
            self.refused += 1
            return None
        host.in_flight += 1
        if host.rules is None:
            host.asking, host.held = True, url
            return url, RequestKind.ROBOTS
        self.under_way.add(url)
        return url, RequestKind.PAGE

    def next_ripe(self) -> float | None:
        """Return the next time at which a URL becomes ready without any other event."""
        times = list(self.later.values())
        times += [self.host(url).ready_at for url in self.waiting if self.free(self.host(url))]
        times += [host.ready_at for host in self.hosts.values() if host.cleared]
        return min(times, default=None)

    def ended(self) -> bool:
        held = any(host.held for host in self.hosts.values())
        return not (self.waiting or self.later or self.under_way or held)

    def fail(self, url: str, kind: FailureKind, now: float) -> bool:
        host, treatment = self.host(url), TREATMENTS[kind]
        self.under_way.discard(url)
        self.attempts[url] = self.attempts.get(url, 0) + 1
        host.failures = host.failures + 1 if treatment.against_host else 0
        if kind is FailureKind.NO_DNS:
            host.failures = HOST_GIVEN_UP_AFTER
        wait = treatment.wait * RETRY_WAIT * 2 ** (self.attempts[url] - 1)
        rest = max(wait if treatment.snoozes_host else 0.0, RETRY_WAIT * host_snooze_units(host.failures))
        if rest and host.failures < HOST_GIVEN_UP_AFTER:
            host.ready_at = max(host.ready_at, now + rest)
        again = self.attempts[url] <= treatment.retries
        if again:
            self.later[url] = now + wait
        return again


class FrontierMachine(RuleBasedStateMachine):
    """Every rule performs one operation on both and compares the results."""

    @initialize(delay=st.sampled_from([0.0, 2.0]))
    def begin(self, delay: float) -> None:
        self.now = 100.0
        self.frontier = frontier_on(delay=delay, per_host=PER_HOST, retry_wait=RETRY_WAIT, robots=True)
        self.model = Model(delay=delay)
        self.open: list[Lease] = []
        self.response_received: list[Lease] = []
        self.handed_out: dict[str, int] = {}

    @rule(picks=st.lists(st.tuples(st.sampled_from(HOSTS), st.integers(0, 3)), min_size=1, max_size=6))
    def add_links(self, picks: list[tuple[str, int]]) -> None:
        urls = [f"http://{host}/{number}" for host, number in picks]
        fresh = [url for url in dict.fromkeys(urls) if url not in self.model.order]
        allowed = [url for url in fresh if not self.model.forbids(url)]
        for url in fresh:
            self.model.order[url] = len(self.model.order)
        self.model.waiting.update(allowed)
        self.model.refused += len(fresh) - len(allowed)
        assert offer(self.frontier, *urls) == len(allowed)

    @rule(seconds=st.sampled_from([0.25, 1.0, 2.0, 7.0, 60.0]))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds

    @rule(most=st.integers(1, 5))
    def next(self, most: int) -> None:
        for _ in range(most):
            expected = self.model.next(self.now)
            lease = self.frontier.lease(self.now)
            assert (lease and (lease.entry.url, lease.kind)) == expected
            if lease is None:
                self.check_idle()
                return
            self.open.append(lease)
            self.check_politeness(lease)
            if lease.kind is RequestKind.PAGE:
                self.handed_out[lease.url] = self.handed_out.get(lease.url, 0) + 1
                assert self.handed_out[lease.url] <= 1 + self.model.attempts.get(lease.url, 0)

    def check_idle(self) -> None:
        told, ripe = self.frontier.idle_until(), self.model.next_ripe()
        assert told is None or told > self.now, "the frontier would be asked again at once"
        assert ripe is None or (told is not None and told <= ripe), "the caller would sleep past something ripe"

    def check_politeness(self, lease: Lease) -> None:
        host = self.model.hosts[lease.host]
        delay = self.model.delay_of(host)
        assert self.now >= host.last_end + delay
        assert host.in_flight <= (1 if delay else PER_HOST)

    @precondition(lambda self: self.open)
    @rule(data=st.data())
    def answer(self, data: st.DataObject) -> None:
        lease = self.open.pop(data.draw(st.integers(0, len(self.open) - 1)))
        self.response_received.append(lease)
        self.frontier.response_received(lease, self.now)
        host = self.model.hosts[lease.host]
        host.in_flight -= 1
        host.last_end = self.now
        host.ready_at = max(host.ready_at, self.now + self.model.delay_of(host))

    @precondition(lambda self: any(lease.kind is RequestKind.PAGE for lease in self.response_received))
    @rule(data=st.data(), failure=st.none() | st.sampled_from(FAILURES))
    def settle_page(self, data: st.DataObject, failure: FailureKind | None) -> None:
        pages = [lease for lease in self.response_received if lease.kind is RequestKind.PAGE]
        lease = data.draw(st.sampled_from(pages))
        self.response_received.remove(lease)
        if failure is not None:
            again = self.frontier.end(lease, End.FAILED, self.now, failure=Failure(url="", kind=failure))
            assert (again is not None) == self.model.fail(lease.url, failure, self.now)
        else:
            self.frontier.end(lease, End.FETCHED, 0.0)
            self.model.under_way.remove(lease.url)
            self.model.host(lease.url).failures = 0

    @precondition(lambda self: self.response_received)
    @rule(data=st.data(), kind=st.sampled_from([FailureKind.CONNECT, FailureKind.NO_DNS]))
    def put_back(self, data: st.DataObject, kind: FailureKind) -> None:
        lease = self.response_received.pop(data.draw(st.integers(0, len(self.response_received) - 1)))
        self.frontier.end(lease, End.NETWORK_DOWN, self.now, failure=failure(kind))
        host = self.model.hosts[lease.host]
        if lease.kind is RequestKind.ROBOTS:
            host.asking, host.held = False, ""
        else:
            self.model.under_way.remove(lease.url)
            self.handed_out[lease.url] -= 1  # a request that our own network lost is no attempt
        if host.failures < HOST_GIVEN_UP_AFTER:
            host.ready_at = max(host.ready_at, self.now + RETRY_WAIT * TREATMENTS[kind].wait)
        self.model.waiting.add(lease.entry.url)

    @precondition(lambda self: any(lease.kind is RequestKind.ROBOTS for lease in self.response_received))
    @rule(data=st.data(), robots=st.none() | st.sampled_from([*ROBOTS, FailureKind.CONNECT, FailureKind.GUARD]))
    def settle_robots(self, data: st.DataObject, robots: bytes | FailureKind | None) -> None:
        asked = [lease for lease in self.response_received if lease.kind is RequestKind.ROBOTS]
        lease = data.draw(st.sampled_from(asked))
        self.response_received.remove(lease)
        host = self.model.hosts[lease.host]
        host.asking = False
        if isinstance(robots, bytes):
            self.frontier.end(lease, End.ROBOTS_READ, self.now, robots=robots)
            host.rules = FakeRules(robots)
            forbidden = {url for url in self.model.waiting if self.model.host(url) is host and self.model.forbids(url)}
            self.model.waiting -= forbidden
            self.model.refused += len(forbidden)
            host.unread_since = None
            host.cleared = True
            if host.rules.delay is not None:
                host.ready_at = max(host.ready_at, self.now + host.rules.delay)
            return
        url, host.held = host.held, ""
        if isinstance(robots, FailureKind):
            again = self.frontier.end(lease, End.FAILED, self.now, failure=failure(robots))
            assert (again is not None) == self.model.fail(url, robots, self.now)
        else:
            self.frontier.end(lease, End.ROBOTS_UNREADABLE, self.now, failure=failure(FailureKind.SERVER_ERROR))
            host.unread_since = self.now if host.unread_since is None else host.unread_since
            unread = (self.now - host.unread_since) / RETRY_WAIT
            host.failures = HOST_GIVEN_UP_AFTER if unread >= MAX_UNREADABLE_RULES_UNITS else 0
            if not host.failures:
                host.ready_at = max(host.ready_at, self.now + RETRY_WAIT * rules_snooze_units(unread))
            self.model.waiting.add(url)

    @invariant()
    def the_counts_agree(self) -> None:
        assert self.frontier.known_urls == len(self.model.order)
        assert self.frontier.waiting == len(self.model.waiting)
        assert self.frontier.in_flight == len(self.open)
        assert self.frontier.exhausted == self.model.ended()
        assert sum(self.frontier.refused.values()) == self.model.refused


TestFrontierModel = FrontierMachine.TestCase
TestFrontierModel.settings = settings(
    max_examples=60,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)
