"""What follows from each kind of failure: one table."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from motherlode.frontier.host_queue import HostQueue
from motherlode.frontier.hosts import LONGEST_WAIT, MAX_JITTER, Host, HostDelay, retry_wait
from motherlode.frontier.lease import HostRecord, Politeness
from motherlode.model import FailureKind


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryRule:
    """How the frontier answers a failure."""

    retries: int = 0
    """How often the URL is tried again."""
    wait: float = 0.0
    """Before the first retry, in units of the configured retry wait; doubles with each attempt."""
    host_rests: bool = False
    """The whole host waits, not only this URL."""
    against_host: bool = False
    """Counts towards a long rest of the host, and towards giving it up: after many in a row it is of no use."""


_FINAL = RetryRule()

TREATMENTS: dict[FailureKind, RetryRule] = {
    FailureKind.REDIRECT: _FINAL,
    FailureKind.REDIRECT_BROKEN: _FINAL,
    FailureKind.NOT_FOUND: _FINAL,
    FailureKind.FORBIDDEN: _FINAL,
    FailureKind.CLIENT_ERROR: _FINAL,
    FailureKind.TOO_MANY: RetryRule(retries=6, wait=2, host_rests=True),
    FailureKind.UNAVAILABLE: RetryRule(retries=4, wait=2, host_rests=True),
    FailureKind.SERVER_ERROR: RetryRule(retries=2, wait=2),
    FailureKind.DNS: RetryRule(retries=1, wait=0.2, host_rests=True, against_host=True),
    FailureKind.NO_DNS: RetryRule(retries=4, wait=1, host_rests=True, against_host=True),
    FailureKind.CONNECT: RetryRule(retries=2, wait=4, host_rests=True, against_host=True),
    FailureKind.TLS: RetryRule(retries=1, wait=4, host_rests=True, against_host=True),
    FailureKind.CERTIFICATE: RetryRule(against_host=True),
    FailureKind.TIMEOUT: RetryRule(retries=2, wait=4, host_rests=True, against_host=True),
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
    """The request failed, or the prerequisite of a page could not be had. What follows is in TREATMENTS."""
    REFUSED = "refused"
    """A rule of ours forbade the request: nothing was sent."""
    NETWORK_DOWN = "network-down"
    """Our own network was down: neither the page nor its host is to blame."""
    NEXT_ADDRESS = "next-address"
    """Connecting to one of several IP addresses failed, and nothing was sent: the next address is tried."""
    PROBED = "probed"
    """The lease was used for a HEAD, and the page is worth a GET: that is the next request to the host."""
    RESOLVED = "resolved"
    """The host's IP address is known."""
    ROBOTS_READ = "robots-read"
    """The robots.txt was read, or there is none."""
    ROBOTS_MOVED = "robots-moved"
    """The robots.txt is on another URL."""
    ROBOTS_UNREADABLE = "robots-unreadable"
    """A server answered the request for robots.txt, but gave no rules."""
    SUBREQUEST_DONE = "subrequest-done"
    """A subrequest has its response, whatever it is."""


class HostEffect(Enum):
    """What the end of a page's lease means for the delays of its host."""

    NONE = "none"
    RECOVERS = "recovers"
    """No failures in a row; the slowdown decreases."""
    BACKS_OFF = "backs off"
    """By TREATMENTS."""
    FIRST_FAILURE = "first failure"
    """Wait as after a first failure, but count none."""
    RULES_UNREADABLE = "rules unreadable"
    RETRY_AFTER = "retry after"
    """Wait only if the server asked for it."""


class UrlEffect(Enum):
    """What the end of a page's lease means for its URL."""

    DONE = "done"
    RETRIED = "retried"
    """By TREATMENTS: it waits for the next attempt, or its last attempt has failed."""
    REFUSED = "refused"
    QUEUED = "queued"
    """It waits in its arm again."""
    HELD = "held"
    """It is the next request to its host."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """What follows from one way to end the lease of a page, or of a prerequisite for which a page waits."""

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
"""The other ways to end a lease leave the page where it is."""

ADDRESS_IN_DOUBT = frozenset(
    {
        *(FailureKind.CONNECT, FailureKind.DNS, FailureKind.NO_DNS, FailureKind.TLS, FailureKind.CERTIFICATE),
        FailureKind.TIMEOUT,
    }
)
"""Failures after which a host's IP address is looked up again. A wrong certificate may be that of another host, to
which the address belongs now."""

SLOW_DOWN = frozenset({FailureKind.TOO_MANY, FailureKind.UNAVAILABLE})
"""By these a host says that it is asked too much, whatever the request was for."""

HOST_RESTS_AFTER = 6
"""Failures in a row that count against a host, before it rests for long; then it wakes for one more try."""
HOST_GIVEN_UP_AFTER = 9
"""Failures in a row, before a host's waiting URLs are refused without a request."""
USUAL_UNIT = 15.0
"""Seconds of the configured retry wait, for what has to wait although the user wants no waits after failures."""
RULES_PATIENCE = 1440.0
"""Units of the configured retry wait, six hours by default, for which a robots.txt that cannot be read is asked for:
long enough for a night's maintenance, and a crawl that has nothing else left comes to its end."""
_FIRST_REST = 8.0
LONGEST_REST = 240.0
"""Units of the configured retry wait that a host rests at most."""
_FIRST_RULES_REST = 2.0


def long_rest(failures: int) -> float:
    """Units of the configured retry wait that a host rests after so many failures in a row.

    >>> [long_rest(failures) for failures in (1, 6, 7, 8, 99)]
    [0.0, 8.0, 16.0, 32.0, 240.0]
    """
    if failures < HOST_RESTS_AFTER:
        return 0.0
    return float(min(_FIRST_REST * 2 ** min(failures - HOST_RESTS_AFTER, 10), LONGEST_REST))


def rules_rest(elapsed: float) -> float:
    """Units that a host rests whose robots.txt could not be read for so many units: as long again, within bounds.

    >>> [rules_rest(elapsed) for elapsed in (0, 2, 4, 8, 999)]
    [2.0, 2.0, 4.0, 8.0, 240.0]
    """
    return float(min(max(elapsed, _FIRST_RULES_REST), LONGEST_REST))


# ── How long a host rests after trouble, and when it is given up.

TOO_MANY_FAILURES = "host given up after failures in a row"
NO_RULES = "the host's robots.txt could not be read"


def given_up(record: HostRecord) -> str:
    """Why nothing more of a host is fetched, or "".

    >>> given_up(HostRecord(name="a.example", failures=9)), given_up(HostRecord(name="a.example", failures=8))
    ('host given up after failures in a row', '')
    """
    if record.failures < HOST_GIVEN_UP_AFTER:
        return ""
    return TOO_MANY_FAILURES if record.unread_since is None else NO_RULES


class Backoff:
    """Puts hosts off. Where answers never change there is nothing to wait for."""

    def __init__(self, *, clocks: HostQueue, pace: HostDelay, politeness: Politeness) -> None:
        self._clocks = clocks
        self._pace = pace
        self._unit = politeness.retry_wait
        self._retries = politeness.retries

    @property
    def longest(self) -> float:
        """Seconds that a host or a URL rests at most, whatever went wrong."""
        return (1 + MAX_JITTER) * max(LONGEST_WAIT, LONGEST_REST * (self._unit or USUAL_UNIT))

    def put_off(self, host: Host, until: float) -> None:
        """A host rests; not one that is given up, since all that is left to do is to refuse its URLs."""
        if not given_up(host.record):
            host.record.ready_at = max(host.record.ready_at, until)
        self._clocks.rest(host)

    def after_failure(
        self, host: Host, kind: FailureKind, now: float, *, attempts: int, retry_after: float | None
    ) -> float:
        """A page of the host has failed so many times; the seconds after which it may be tried again."""
        treatment, record = TREATMENTS[kind], host.record
        record.failures = record.failures + 1 if treatment.against_host else 0
        wait = retry_wait(retry_after, treatment.wait * self._unit * 2 ** (attempts - 1))
        if not self._retries:
            return wait
        if kind in SLOW_DOWN:
            wait = self._pace.jittered(wait)
            self._pace.slow_down(record)
        rests = treatment.host_rests or bool(retry_after)  # whatever is wrong, the server says how long it wants peace
        rest = max(wait if rests else 0.0, self._unit * long_rest(record.failures))
        if rest:
            self.put_off(host, now + rest)
        return wait

    def after_silence(self, host: Host, kind: FailureKind, now: float) -> None:
        """The network was gone, and not the host: it rests as after a first failure, and nothing is counted."""
        self.put_off(host, now + TREATMENTS[kind].wait * self._unit)

    def slow_down(self, host: Host, now: float, *, retry_after: float | None) -> None:
        """The host said that we ask too much."""
        if not self._retries:
            return
        self._pace.slow_down(host.record)
        backoff = TREATMENTS[FailureKind.TOO_MANY].wait * self._unit
        self.put_off(host, now + self._pace.jittered(retry_wait(retry_after, backoff)))
        self._clocks.settle(host)

    def without_rules(self, host: Host, kind: FailureKind, now: float, *, retry_after: float | None) -> None:
        """The host's robots.txt could not be read. Only what is a failure of the host itself counts against it."""
        record = host.record
        since = now if record.unread_since is None else record.unread_since
        record.unread_since, record.unread_for = since, kind.value
        elapsed, unit = now - since, self._unit or USUAL_UNIT
        if not self._retries or elapsed >= RULES_PATIENCE * unit:
            record.failures = HOST_GIVEN_UP_AFTER
        elif TREATMENTS[kind].against_host:
            record.failures += 1
        else:
            record.failures = 0
        rest = unit * max(rules_rest(elapsed / unit), long_rest(record.failures))
        self.put_off(host, now + self._pace.jittered(retry_wait(retry_after, rest)))
