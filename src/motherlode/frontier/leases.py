"""How leases are given and how they end: prerequisites, retry rules, and the back-off of hosts.

The IP address and the robots.txt of a host are *prerequisites* of its pages. While one is requested, the page is *held*
and is the host's next request. Waits after failures are multiples of `Politeness.retry_wait` (15 seconds by default).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from motherlode.frontier.host_queue import HostQueue
from motherlode.frontier.records import (
    MAX_JITTER,
    MAX_WAIT_SECONDS,
    Entry,
    Host,
    HostDelay,
    HostRecord,
    HostRules,
    Lease,
    Politeness,
    RulesReader,
    is_secure,
    retry_wait,
)
from motherlode.model import Failure, FailureKind, RequestKind
from motherlode.model.usage import NO_PREFERENCES, UsagePreferences
from motherlode.www.urls import host_of, origin_of

MAX_RULES_HOPS = 5
"""Maximum number of redirects of a robots.txt (RFC 9309, 2.3.1.2)."""
RULES_LAST = 86_400.0
"""Seconds after which robots.txt is requested again (RFC 9309, 2.4)."""
RULES_LAST_AT_LEAST = 3_600.0
"""Minimum cache time of robots.txt, because many hosts send "no-cache" with all responses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryRule:
    """The reaction to one kind of failure."""

    retries: int = 0
    """Maximum number of retries of the URL."""
    wait: float = 0.0
    """Time before the first retry, in units of the configured retry wait. It doubles with each attempt."""
    snoozes_host: bool = False
    """True if no URL of the host is fetched during `wait`; False if only the failed URL waits."""
    against_host: bool = False
    """True if the failure counts towards a long snooze of the host and towards giving it up."""
    is_learned: bool = True
    """False if the policy learns nothing from the failure, because the response is not about the page."""


_FINAL = RetryRule()

TREATMENTS: dict[FailureKind, RetryRule] = {
    FailureKind.REDIRECT: _FINAL,
    FailureKind.REDIRECT_BROKEN: _FINAL,
    FailureKind.NOT_FOUND: _FINAL,
    FailureKind.FORBIDDEN: _FINAL,
    FailureKind.CHALLENGED: RetryRule(retries=1, wait=8, snoozes_host=True, against_host=True, is_learned=False),
    FailureKind.CLIENT_ERROR: _FINAL,
    FailureKind.TOO_MANY: RetryRule(retries=6, wait=2, snoozes_host=True),
    FailureKind.UNAVAILABLE: RetryRule(retries=4, wait=2, snoozes_host=True),
    FailureKind.SERVER_ERROR: RetryRule(retries=2, wait=2),
    FailureKind.DNS: RetryRule(retries=1, wait=0.2, snoozes_host=True, against_host=True),
    FailureKind.NO_DNS: RetryRule(wait=1),  # see Backoff.without_address
    FailureKind.CONNECT: RetryRule(retries=2, wait=4, snoozes_host=True, against_host=True),
    FailureKind.TLS: RetryRule(retries=1, wait=4, snoozes_host=True, against_host=True),
    FailureKind.CERTIFICATE: RetryRule(against_host=True),
    FailureKind.TIMEOUT: RetryRule(retries=2, wait=4, snoozes_host=True, against_host=True),
    FailureKind.RESET: RetryRule(retries=2, wait=2, against_host=True),
    FailureKind.PROTOCOL: RetryRule(retries=1, wait=2, against_host=True),
    FailureKind.GUARD: _FINAL,
    FailureKind.ROBOTS: _FINAL,
    FailureKind.SCHEME: _FINAL,
    FailureKind.NOT_MODIFIED: _FINAL,
    FailureKind.USELESS: _FINAL,
    FailureKind.TOO_LARGE: _FINAL,
    FailureKind.PROCESSING: _FINAL,
    FailureKind.INTERNAL: _FINAL,
}


class End(Enum):
    """How a lease may end."""

    UNRESOLVED = "unresolved"
    """No name server answered. It counts neither against the page nor against its host: see `waits_for_address`."""
    FETCHED = "fetched"
    """The page arrived and was parsed."""
    FAILED = "failed"
    """The request failed, or a prerequisite of the page failed. TREATMENTS has the rules."""
    REFUSED = "refused"
    """A rule of the crawl forbids the request. Nothing was sent."""
    NETWORK_DOWN = "network-down"
    """Our own network was down. It counts neither against the page nor against its host."""
    NEXT_ADDRESS = "next-address"
    """Connecting to one of several IP addresses failed. Nothing was sent, and the next address is tried."""
    PROBED = "probed"
    """The lease was used for a HEAD, and the page is worth a GET, which is the next request to the host."""
    HEADER_READ = "header-read"
    """The lease was used for a HEAD, and the URL waits again with a new rating, or is refused by it."""
    RESOLVED = "resolved"
    """The host's IP address is known."""
    ROBOTS_READ = "robots-read"
    """The robots.txt was read, or the host has no robots.txt."""
    ROBOTS_MOVED = "robots-moved"
    """The robots.txt redirects to another URL."""
    ROBOTS_UNREADABLE = "robots-unreadable"
    """The response to the request for robots.txt has no rules, for example because of a server error."""
    SUBREQUEST_DONE = "subrequest-done"
    """A subrequest has its response, successful or not."""


class UrlEffect(Enum):
    """The effect of the end of a page's lease on its URL."""

    DONE = "done"
    RETRIED = "retried"
    """The URL waits for a retry, or has failed if TREATMENTS allows no more retries."""
    REFUSED = "refused"
    QUEUED = "queued"
    """The URL waits in its arm again."""
    HELD = "held"
    """The URL is the next request to its host."""


_TLS = (FailureKind.TLS, FailureKind.CERTIFICATE)
ADDRESS_IN_DOUBT = frozenset({FailureKind.CONNECT, FailureKind.DNS, FailureKind.NO_DNS, FailureKind.TIMEOUT, *_TLS})
"""Failures after which a host's IP address is looked up again. A wrong certificate may be another host's."""
SLOW_DOWN = frozenset({FailureKind.TOO_MANY, FailureKind.UNAVAILABLE, FailureKind.CHALLENGED})
"""Failures by which a host says that it gets too many requests, for any kind of request."""
HOST_SNOOZED_AFTER = 6
"""Consecutive failures of a host after which it is snoozed for long. It then gets one more attempt."""
HOST_GIVEN_UP_AFTER = 9
"""Consecutive failures of a host after which its waiting URLs are refused without a request."""
DEFAULT_UNIT_SECONDS = 15.0
"""Retry wait for an unreadable robots.txt if the configured retry wait is zero."""
MAX_UNREADABLE_RULES_UNITS = 1440.0
"""An unreadable robots.txt is requested again for this long, in units of the configured retry wait: six hours by
default. That covers a maintenance window at night, and a crawl that waits only for such hosts still ends."""
_FIRST_SNOOZE_UNITS = 8.0
MAX_SNOOZE_UNITS = 240.0
"""Longest snooze of a host in units of the configured retry wait."""
_FIRST_RULES_SNOOZE_UNITS = 2.0
MAX_UNRESOLVED_UNITS = 40.0
"""A name for which no name server answers is looked up again for this long, in units of the configured retry wait: ten
minutes by default."""


def host_snooze_units(failures: int) -> float:
    """Return the snooze of a host after consecutive failures, in units of the configured retry wait.

    >>> [host_snooze_units(failures) for failures in (1, 6, 7, 8, 99)]
    [0.0, 8.0, 16.0, 32.0, 240.0]
    """
    if failures < HOST_SNOOZED_AFTER:
        return 0.0
    return float(min(_FIRST_SNOOZE_UNITS * 2 ** min(failures - HOST_SNOOZED_AFTER, 10), MAX_SNOOZE_UNITS))


def rules_snooze_units(elapsed: float) -> float:
    """Return for how long to snooze a host whose robots.txt was unreadable for `elapsed`: as long again, within limits.

    Both are in units of the configured retry wait.

    >>> [rules_snooze_units(elapsed) for elapsed in (0, 2, 4, 8, 999)]
    [2.0, 2.0, 4.0, 8.0, 240.0]
    """
    return float(min(max(elapsed, _FIRST_RULES_SNOOZE_UNITS), MAX_SNOOZE_UNITS))


TOO_MANY_FAILURES = "host given up after failures in a row"
NO_RULES = "the host's robots.txt could not be read"
NO_ADDRESS = "the host's name servers gave no answer"


def given_up(record: HostRecord) -> str:
    """Return why a host is given up, or "" if it is not.

    >>> given_up(HostRecord(name="a.example", failures=9)), given_up(HostRecord(name="a.example", failures=8))
    ('host given up after failures in a row', '')
    """
    if record.failures < HOST_GIVEN_UP_AFTER:
        return ""
    if record.unresolved_since is not None:
        return NO_ADDRESS
    return TOO_MANY_FAILURES if record.unread_since is None else NO_RULES


class Backoff:
    """Snoozes hosts after failures. In a replay (`retries` off) a retry would not help, so no host waits."""

    def __init__(self, *, host_queue: HostQueue, host_delay: HostDelay, politeness: Politeness) -> None:
        self._host_queue = host_queue
        self._host_delay = host_delay
        self._unit = politeness.retry_wait
        self._retries = politeness.retries

    @property
    def longest(self) -> float:
        """The longest time in seconds for which any failure snoozes a host or postpones a URL."""
        return (1 + MAX_JITTER) * max(MAX_WAIT_SECONDS, MAX_SNOOZE_UNITS * (self._unit or DEFAULT_UNIT_SECONDS))

    def snooze(self, host: Host, until: float) -> None:
        """Snooze a host at least until a time. A host that is given up is not delayed: its URLs are only refused."""
        if not given_up(host.record):
            host.record.ready_at = max(host.record.ready_at, until)
        self._host_queue.snooze(host)

    def after_failure(self, host: Host, failure: Failure, now: float, attempts: int) -> float:
        """Snooze the host of a page that has failed `attempts` times. Return the seconds until it may be retried."""
        kind, retry_after, record = failure.kind, failure.retry_after, host.record
        treatment = TREATMENTS[kind]
        if kind is FailureKind.NO_DNS:  # `waits_for_address` said that it has waited long enough
            record.failures, record.unresolved_since = HOST_GIVEN_UP_AFTER, record.unresolved_since or now
        else:
            record.failures = record.failures + 1 if treatment.against_host else 0
        wait = retry_wait(retry_after, treatment.wait * self._unit * 2 ** (attempts - 1))
        if not self._retries:
            return wait
        if kind in SLOW_DOWN:
            wait = self._host_delay.add_jitter(wait)
            self._host_delay.slow_down(record)
        snooze = self._unit * host_snooze_units(record.failures)
        if treatment.snoozes_host or retry_after:  # for any kind of failure, Retry-After holds for the whole host
            snooze = max(wait, snooze)
        if snooze:
            self.snooze(host, now + snooze)
        return wait

    def after_outage(self, host: Host, failure: Failure, now: float, _attempts: int) -> float:
        """Snooze the host as after a first failure, and count no failure, because our own network was down."""
        self.snooze(host, now + TREATMENTS[failure.kind].wait * self._unit)
        return 0.0

    def waits_for_address(self, host: Host, now: float) -> bool:
        """Return whether a host for which no name server answers is looked up again later."""
        since, unit = host.record.unresolved_since, self._unit or DEFAULT_UNIT_SECONDS
        return self._retries and (since is None or now < since + MAX_UNRESOLVED_UNITS * unit)

    def without_address(self, host: Host, failure: Failure, now: float, _attempts: int) -> float:
        """Snooze a host for as long as its name servers have not answered so far, but at least one unit of retries."""
        since = host.record.unresolved_since
        host.record.unresolved_since = since = now if since is None else since
        self.snooze(host, now + max(self._unit or DEFAULT_UNIT_SECONDS, now - since))
        return 0.0

    def after_probe(self, host: Host, failure: Failure, now: float, _attempts: int) -> float:
        """Snooze the host only if the server sent Retry-After."""
        if failure.retry_after and self._retries:
            self.snooze(host, now + retry_wait(failure.retry_after, 0.0))
        return 0.0

    def slow_down(self, host: Host, now: float, *, retry_after: float | None) -> None:
        """Snooze the host and increase its delay, because it said that it gets too many requests."""
        if not self._retries:
            return
        self._host_delay.slow_down(host.record)
        backoff = TREATMENTS[FailureKind.TOO_MANY].wait * self._unit
        self.snooze(host, now + self._host_delay.add_jitter(retry_wait(retry_after, backoff)))
        self._host_queue.schedule(host)

    def without_rules(self, host: Host, failure: Failure, now: float, _attempts: int) -> float:
        """Snooze a host whose robots.txt could not be read. Only failures of the host itself count against it."""
        kind, record = failure.kind, host.record
        since = now if record.unread_since is None else record.unread_since
        record.unread_since, record.unread_for = since, kind.value
        elapsed, unit = now - since, self._unit or DEFAULT_UNIT_SECONDS
        record.failures = record.failures + 1 if TREATMENTS[kind].against_host else 0
        if not self._retries or elapsed >= MAX_UNREADABLE_RULES_UNITS * unit:
            record.failures = HOST_GIVEN_UP_AFTER
        snooze = unit * max(rules_snooze_units(elapsed / unit), host_snooze_units(record.failures))
        self.snooze(host, now + self._host_delay.add_jitter(retry_wait(failure.retry_after, snooze)))
        return 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """The effects of one way to end the lease of a page, or of a prerequisite for which a page waits."""

    url: UrlEffect
    delay: Callable[[Backoff, Host, Failure, float, int], float] | None = None
    """The back-off of the host after a failure. It returns the seconds until the next attempt."""
    uncounted: bool = False
    """True if the request does not count in the host's budget."""
    drops_address: bool = False
    """True if the host's IP address is looked up again before the next request."""


ENDINGS: dict[End, Ending] = {
    End.FETCHED: Ending(url=UrlEffect.DONE),
    End.FAILED: Ending(url=UrlEffect.RETRIED, delay=Backoff.after_failure),
    End.REFUSED: Ending(url=UrlEffect.REFUSED, uncounted=True),
    End.NETWORK_DOWN: Ending(url=UrlEffect.QUEUED, delay=Backoff.after_outage, uncounted=True, drops_address=True),
    End.UNRESOLVED: Ending(url=UrlEffect.QUEUED, delay=Backoff.without_address, uncounted=True, drops_address=True),
    End.NEXT_ADDRESS: Ending(url=UrlEffect.HELD, uncounted=True, drops_address=True),
    End.PROBED: Ending(url=UrlEffect.HELD, delay=Backoff.after_probe),
    End.HEADER_READ: Ending(url=UrlEffect.QUEUED, delay=Backoff.after_probe),
    End.ROBOTS_UNREADABLE: Ending(url=UrlEffect.QUEUED, delay=Backoff.without_rules),
}
"""Effects of each way to end a lease. Ways that are not in the table have no effect on a page."""


class Prerequisites:
    """Creates leases for prerequisites and pages, and stores the results of prerequisites."""

    def __init__(
        self,
        *,
        host_queue: HostQueue,
        read_rules: RulesReader | None,
        is_own: Callable[[str], bool] | None,
        is_stale: Callable[[str], bool] | None = None,
    ) -> None:
        self._host_queue = host_queue
        self._read_rules = read_rules
        """Parses the rules of a robots.txt; None if robots.txt is not used, as in simulations."""
        self._is_own = is_own or (lambda host: False)
        """Returns whether a host belongs to the user. The robots.txt of such hosts is not requested."""
        self._is_stale = is_stale or (lambda host: False)
        """Returns whether the TTL of a host's IP address has passed."""
        self.in_flight = 0

    def for_page(self, host: Host, entry: Entry, now: float) -> Lease | None:
        """Return a lease for a page or its next prerequisite; None if the host's rules disallow the page."""
        if not self._has_address(host):
            return self._resolve(host, entry, entry.url)
        if self.needs_rules(host, entry.url, now):
            rules_url = _rules_url(host, entry.url)
            server = self._host_queue.host(host_of(rules_url))
            if not self._has_address(server):
                return self._resolve(host, entry, rules_url)
            host.held = entry
            return self._send_for_rules(host, server, rules_url, entry)
        if not self.allows(host, entry.url):
            return None
        host.unaccounted += 1
        return self._send(host, host, entry.url, RequestKind.PAGE, entry)

    def for_subrequest(self, url: str, now: float, *, obey_robots: bool) -> Lease | float | None:
        """Return a lease for a request that a page needs to be parsed, or for its prerequisite.

        See `Frontier.lease_for`.
        """
        host = self._host_queue.host(host_of(url))
        needs_rules = obey_robots and self.needs_rules(host, url, now)
        if obey_robots and not needs_rules and not self.allows(host, url):
            return None
        wanted = _rules_url(host, url) if needs_rules else url
        server = self._host_queue.host(host_of(wanted))
        has_address = self._has_address(server)
        beside_held = has_address and not needs_rules  # a held page waits for the same prerequisites
        times = [self._host_queue.subrequest_time(one, now, beside_held=beside_held) for one in (host, server)]
        if max(times) > now:
            return max(times)
        if not has_address:
            return self._resolve(host, None, wanted, is_subrequest=True)
        entry = Entry(url=url, arm="", score=0.0, sequence=0)
        if needs_rules:
            return self._send_for_rules(host, server, wanted, entry, is_subrequest=True)
        return self._send(host, host, url, RequestKind.SUBREQUEST, entry, is_subrequest=True)

    def _send(
        self, host: Host, server: Host, url: str, kind: RequestKind, entry: Entry, *, is_subrequest: bool = False
    ) -> Lease:
        self.in_flight += 1
        server.is_fresh = False
        address = self._host_queue.start_request(server)
        name = host.record.name
        return Lease(url=url, host=name, kind=kind, entry=entry, address=address, is_subrequest=is_subrequest)

    def next_held(self, now: float) -> tuple[Host, Entry] | None:
        """Return a held page that may be requested now, or whose next prerequisite may; None if no page is held."""
        while names := self._host_queue.held_times.due(now, most=1):
            host = self._host_queue.hosts[names[0]]
            if host.held is None or host.asking:
                continue
            server = self._host_queue.host(host_of(host.rules_url)) if host.rules_url else host
            if self._host_queue.may_send(server, host.record.name, now):
                entry, host.held = host.held, None
                return host, entry
        return None

    def hold(self, host: Host, entry: Entry) -> None:
        """Hold a page, so that it is the host's next request."""
        host.held = entry
        self._host_queue.snooze(host)
        self._host_queue.hold_back(host)

    def _has_address(self, host: Host) -> bool:
        """Return whether the IP address is known and its TTL has not passed."""
        is_current = bool(host.record.address) and (host.is_fresh or not self._is_stale(host.record.name))
        return is_current or not self._host_queue.by_address

    def _resolve(self, host: Host, held: Entry | None, url: str, *, is_subrequest: bool = False) -> Lease:
        """Return a lease for the DNS look-up of a host. It sends no request to the host, so it starts no delay."""
        host.held = held
        host.asking = True
        self._host_queue.snooze(host)
        self.in_flight += 1
        entry = held or Entry(url=url, arm="", score=0.0, sequence=0)
        return Lease(url=url, host=host.record.name, kind=RequestKind.RESOLVE, entry=entry, is_subrequest=is_subrequest)

    def store_address(self, host: Host, server: Host, address: str) -> None:
        """Store the IP address of the host `server`; the page that `host` holds is next."""
        self.in_flight -= 1
        host.asking = False
        server.record.unresolved_since, server.is_fresh = None, True
        self._host_queue.set_address(server, address)
        if host.held is not None:
            self._host_queue.hold_back(host)
        self._host_queue.schedule(host)

    def _send_for_rules(
        self, host: Host, server: Host, url: str, entry: Entry, *, is_subrequest: bool = False
    ) -> Lease:
        """Return a lease for a host's robots.txt, which may be on another host (`server`)."""
        host.asking = True
        if server is not host:
            self._host_queue.start_request(host, connects=False)
        return self._send(host, server, url, RequestKind.ROBOTS, entry, is_subrequest=is_subrequest)

    def needs_rules(self, host: Host, url: str, now: float) -> bool:
        """Return whether robots.txt must be requested for a URL, because it is unknown or too old."""
        if self._read_rules is None:
            return False
        robots, read_at = host.record.rules_for(url)
        age = now - read_at
        if robots is not None and (age < RULES_LAST or age < 2 * self._host_queue.delay(host)):
            return False  # the second age allows pages of a host whose delay is longer than a day
        return not self._is_own(host.record.name)

    def allows(self, host: Host, url: str) -> bool:
        """Return whether the known rules of the host allow a URL; True if they are not known."""
        rules = host.rules.get(is_secure(url)) or self._rules(host, url)
        return rules is None or rules.allows(url) or self._is_own(host.record.name)

    def preferences(self, url: str) -> UsagePreferences:
        """Return what the robots.txt of the URL's host says about the use of the page, if it is known."""
        host = self._host_queue.hosts.get(host_of(url))
        rules = None if host is None or self._is_own(host.record.name) else self._rules(host, url)
        return NO_PREFERENCES if rules is None else rules.preferences(url)

    def _rules(self, host: Host, url: str) -> HostRules | None:
        """Return the rules for a URL of the host; None if they are unknown."""
        secure = is_secure(url)
        rules = host.rules.get(secure)
        if rules is None and self._read_rules is not None and (robots := host.record.rules_for(url)[0]) is not None:
            rules = host.rules[secure] = self._read_rules(robots)
        return rules

    def store_rules(
        self, host: Host, url: str, robots: bytes, now: float, *, read_from: str, lasts: float = RULES_LAST
    ) -> None:
        """Store the robots.txt for a URL of the host; the held page is next."""
        if self._read_rules is None:
            raise ValueError("internal error: this frontier requests no robots.txt")
        host.stop_asking()
        urls = {url}
        if read_from.partition("://")[2] == f"{host.record.name}/robots.txt":
            urls.add(read_from)  # most hosts redirect http to https: then the rules of both are known
        for known in urls:
            host.rules[is_secure(known)] = self._read_rules(robots)
        delays = [rules.delay for scheme in ("http:", "https:") if (rules := self._rules(host, scheme)) is not None]
        host.record.delay = max((delay for delay in delays if delay is not None), default=None)
        lasts = min(RULES_LAST, max(lasts, RULES_LAST_AT_LEAST, 2 * self._host_queue.delay(host)))
        for known in urls:
            host.record.keep_rules(known, robots, now - (RULES_LAST - lasts))
        if host.record.delay is not None:
            host.record.ready_at = max(host.record.ready_at, now + host.record.delay)
        self._host_queue.hold_back(host)
        self._host_queue.schedule(host)

    def follow_redirect(self, host: Host, location: str) -> bool:
        """Follow a redirect of robots.txt as soon as the delays allow. Return False after too many redirects."""
        if host.rules_hops >= MAX_RULES_HOPS:
            return False
        host.rules_hops += 1
        host.rules_url = location
        self.ask_again(host)
        return True

    def ask_again(self, host: Host) -> None:
        """Repeat the request for robots.txt as soon as the delays allow."""
        host.asking = False
        self._host_queue.hold_back(host)

    def give_up(self, lease: Lease) -> None:
        """End the request for a prerequisite that failed: it has no result, and no further request follows."""
        self.in_flight -= lease.kind is RequestKind.RESOLVE
        self._host_queue.hosts[lease.host].stop_asking()


def _rules_url(host: Host, url: str) -> str:
    """Return the URL of the robots.txt for a URL of the host, or the target of its redirect."""
    return host.rules_url or f"{origin_of(url)}/robots.txt"
