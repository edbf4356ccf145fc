"""How long a host rests after trouble, and when it is given up.

Three things are told apart. Who fails counts its failures, rests longer and longer, and is given up after so many in a
row. Who says that it is asked too much is asked less, and that never counts against it. Whose robots.txt cannot be read
is left alone meanwhile, since nothing is allowed there (RFC 9309, 2.3.1.4), and is asked again at growing intervals;
the standard lets a crawler take it for a host without rules after thirty days, and we never do.
"""

from __future__ import annotations

from motherlode.frontier.clocks import Clocks
from motherlode.frontier.entries import HostRecord
from motherlode.frontier.hosts import Host
from motherlode.frontier.pace import LONGEST_WAIT, MAX_JITTER, Pace, retry_wait
from motherlode.frontier.retry import (
    HOST_GIVEN_UP_AFTER,
    LONGEST_REST,
    RULES_PATIENCE,
    SLOW_DOWN,
    TREATMENTS,
    USUAL_UNIT,
    long_rest,
    rules_rest,
)
from motherlode.frontier.tickets import Politeness
from motherlode.model import FailureKind

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


class Rests:
    """Puts hosts off. Where answers never change there is nothing to wait for."""

    def __init__(self, *, clocks: Clocks, pace: Pace, politeness: Politeness) -> None:
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
