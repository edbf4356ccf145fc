"""Retry rules per failure kind, the ways to end a lease, and the back-off of hosts.

Waits are given in units of the configured retry wait (`Politeness.retry_wait`, 15 seconds by default).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from motherlode.frontier.host_queue import HostQueue
from motherlode.frontier.hosts import MAX_JITTER, MAX_WAIT_SECONDS, Host, HostDelay, retry_wait
from motherlode.frontier.lease import HostRecord, Politeness
from motherlode.model import FailureKind


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryRule:
    """The reaction to one kind of failure."""

    retries: int = 0
    """Maximum number of retries of the URL."""
    wait: float = 0.0
    """Wait before the first retry, in units of the configured retry wait. It doubles with each attempt."""
    snoozes_host: bool = False
    """True if the host is snoozed for the wait, not only this URL."""
    against_host: bool = False
    """True if the failure counts towards a long snooze of the host and towards giving it up."""


_FINAL = RetryRule()

TREATMENTS: dict[FailureKind, RetryRule] = {
    FailureKind.REDIRECT: _FINAL,
    FailureKind.REDIRECT_BROKEN: _FINAL,
    FailureKind.NOT_FOUND: _FINAL,
    FailureKind.FORBIDDEN: _FINAL,
    FailureKind.CLIENT_ERROR: _FINAL,
    FailureKind.TOO_MANY: RetryRule(retries=6, wait=2, snoozes_host=True),
    FailureKind.UNAVAILABLE: RetryRule(retries=4, wait=2, snoozes_host=True),
    FailureKind.SERVER_ERROR: RetryRule(retries=2, wait=2),
    FailureKind.DNS: RetryRule(retries=1, wait=0.2, snoozes_host=True, against_host=True),
    FailureKind.NO_DNS: RetryRule(retries=4, wait=1, snoozes_host=True, against_host=True),
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
    FailureKind.PROCESSING: _FINAL,
    FailureKind.INTERNAL: _FINAL,
}


class End(Enum):
    """How a lease may end."""

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


class HostEffect(Enum):
    """The effect of the end of a page's lease on the delays of its host."""

    NONE = "none"
    RECOVERS = "recovers"
    """The count of consecutive failures is reset, and the slowdown decreases."""
    BACKS_OFF = "backs off"
    """The host waits as TREATMENTS says."""
    FIRST_FAILURE = "first failure"
    """The host waits as after a first failure, but no failure is counted."""
    RULES_UNREADABLE = "rules unreadable"
    RETRY_AFTER = "retry after"
    """The host waits only if the server sent Retry-After."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """The effects of one way to end the lease of a page, or of a prerequisite for which a page waits."""

    host: HostEffect = HostEffect.NONE
    url: UrlEffect
    uncounted: bool = False
    """The request does not count in the host's budget."""
    drops_address: bool = False
    """The host's IP address is looked up again."""


ENDINGS: dict[End, Ending] = {
    End.FETCHED: Ending(host=HostEffect.RECOVERS, url=UrlEffect.DONE),
    End.FAILED: Ending(host=HostEffect.BACKS_OFF, url=UrlEffect.RETRIED),
    End.REFUSED: Ending(url=UrlEffect.REFUSED, uncounted=True),
    End.NETWORK_DOWN: Ending(host=HostEffect.FIRST_FAILURE, url=UrlEffect.QUEUED, uncounted=True, drops_address=True),
    End.NEXT_ADDRESS: Ending(url=UrlEffect.HELD, uncounted=True, drops_address=True),
    End.PROBED: Ending(host=HostEffect.RETRY_AFTER, url=UrlEffect.HELD),
    End.ROBOTS_UNREADABLE: Ending(host=HostEffect.RULES_UNREADABLE, url=UrlEffect.QUEUED),
}
"""The other ways to end a lease have no effect on a page."""

ADDRESS_IN_DOUBT = frozenset(
    {
        *(FailureKind.CONNECT, FailureKind.DNS, FailureKind.NO_DNS, FailureKind.TLS, FailureKind.CERTIFICATE),
        FailureKind.TIMEOUT,
    }
)
"""Failures after which a host's IP address is looked up again. A wrong certificate may belong to another host that
has the IP address now."""

SLOW_DOWN = frozenset({FailureKind.TOO_MANY, FailureKind.UNAVAILABLE})
"""Failures by which a host says that it gets too many requests, for any kind of request."""

HOST_SNOOZED_AFTER = 6
"""Consecutive failures of a host after which it is snoozed for long. It then gets one more attempt."""
HOST_GIVEN_UP_AFTER = 9
"""Consecutive failures of a host after which its waiting URLs are refused without a request."""
DEFAULT_UNIT_SECONDS = 15.0
"""The retry wait that unreadable rules use if the configured retry wait is zero."""
MAX_UNREADABLE_RULES_UNITS = 1440.0
"""Units of the configured retry wait (six hours by default) for which an unreadable robots.txt is requested again and
again. That covers a maintenance window at night, and a crawl that waits only for such hosts still ends."""
_FIRST_SNOOZE_UNITS = 8.0
MAX_SNOOZE_UNITS = 240.0
"""Longest snooze of a host in units of the configured retry wait."""
_FIRST_RULES_SNOOZE_UNITS = 2.0


def host_snooze_units(failures: int) -> float:
    """Return the snooze of a host after consecutive failures, in units of the configured retry wait.

    >>> [host_snooze_units(failures) for failures in (1, 6, 7, 8, 99)]
    [0.0, 8.0, 16.0, 32.0, 240.0]
    """
    if failures < HOST_SNOOZED_AFTER:
        return 0.0
    return float(min(_FIRST_SNOOZE_UNITS * 2 ** min(failures - HOST_SNOOZED_AFTER, 10), MAX_SNOOZE_UNITS))


def rules_snooze_units(elapsed: float) -> float:
    """Return the snooze of a host whose robots.txt has been unreadable for `elapsed`, both in units: as long again.

    >>> [rules_snooze_units(elapsed) for elapsed in (0, 2, 4, 8, 999)]
    [2.0, 2.0, 4.0, 8.0, 240.0]
    """
    return float(min(max(elapsed, _FIRST_RULES_SNOOZE_UNITS), MAX_SNOOZE_UNITS))


# ── Back-off of hosts ────────────────────────────────────────────────────────────────────────────────

TOO_MANY_FAILURES = "host given up after failures in a row"
NO_RULES = "the host's robots.txt could not be read"


def given_up(record: HostRecord) -> str:
    """Return why a host is given up, or "" if it is not.

    >>> given_up(HostRecord(name="a.example", failures=9)), given_up(HostRecord(name="a.example", failures=8))
    ('host given up after failures in a row', '')
    """
    if record.failures < HOST_GIVEN_UP_AFTER:
        return ""
    return TOO_MANY_FAILURES if record.unread_since is None else NO_RULES


class Backoff:
    """Snoozes hosts after failures. In a replay (`retries` off) a retry would not help, so no host waits."""

    def __init__(self, *, clocks: HostQueue, pace: HostDelay, politeness: Politeness) -> None:
        self._host_queue = clocks
        self._host_delay = pace
        self._unit = politeness.retry_wait
        self._retries = politeness.retries

    @property
    def longest(self) -> float:
        """The longest time in seconds for which any failure snoozes a host or postpones a URL."""
        return (1 + MAX_JITTER) * max(MAX_WAIT_SECONDS, MAX_SNOOZE_UNITS * (self._unit or DEFAULT_UNIT_SECONDS))

    def put_off(self, host: Host, until: float) -> None:
        """Snooze a host until a time. A host that is given up is not delayed, because its URLs are only refused."""
        if not given_up(host.record):
            host.record.ready_at = max(host.record.ready_at, until)
        self._host_queue.rest(host)

    def after_failure(
        self, host: Host, kind: FailureKind, now: float, *, attempts: int, retry_after: float | None
    ) -> float:
        """Count a failure of a page of the host, and snooze the host if the rule says so.

        `attempts` is how often the page has failed. Return the seconds after which it may be retried.
        """
        treatment, record = TREATMENTS[kind], host.record
        record.failures = record.failures + 1 if treatment.against_host else 0
        wait = retry_wait(retry_after, treatment.wait * self._unit * 2 ** (attempts - 1))
        if not self._retries:
            return wait
        if kind in SLOW_DOWN:
            wait = self._host_delay.add_jitter(wait)
            self._host_delay.slow_down(record)
        rests = treatment.snoozes_host or bool(
            retry_after
        )  # for any kind of failure, Retry-After holds for the whole host
        rest = max(wait if rests else 0.0, self._unit * host_snooze_units(record.failures))
        if rest:
            self.put_off(host, now + rest)
        return wait

    def after_silence(self, host: Host, kind: FailureKind, now: float) -> None:
        """Snooze the host as after a first failure, and count no failure, because our own network was down."""
        self.put_off(host, now + TREATMENTS[kind].wait * self._unit)

    def slow_down(self, host: Host, now: float, *, retry_after: float | None) -> None:
        """Snooze the host and increase its delay, because it said that it gets too many requests."""
        if not self._retries:
            return
        self._host_delay.slow_down(host.record)
        backoff = TREATMENTS[FailureKind.TOO_MANY].wait * self._unit
        self.put_off(host, now + self._host_delay.add_jitter(retry_wait(retry_after, backoff)))
        self._host_queue.settle(host)

    def without_rules(self, host: Host, kind: FailureKind, now: float, *, retry_after: float | None) -> None:
        """Snooze a host whose robots.txt could not be read. Only failures of the host itself count against it."""
        record = host.record
        since = now if record.unread_since is None else record.unread_since
        record.unread_since, record.unread_for = since, kind.value
        elapsed, unit = now - since, self._unit or DEFAULT_UNIT_SECONDS
        if not self._retries or elapsed >= MAX_UNREADABLE_RULES_UNITS * unit:
            record.failures = HOST_GIVEN_UP_AFTER
        elif TREATMENTS[kind].against_host:
            record.failures += 1
        else:
            record.failures = 0
        rest = unit * max(rules_snooze_units(elapsed / unit), host_snooze_units(record.failures))
        self.put_off(host, now + self._host_delay.add_jitter(retry_wait(retry_after, rest)))
