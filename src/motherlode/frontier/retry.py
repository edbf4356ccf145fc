"""What follows from each kind of failure: one table."""

from __future__ import annotations

from dataclasses import dataclass

from motherlode.model import FailureKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Treatment:
    """How the frontier answers a failure."""

    retries: int = 0
    """How often the URL is tried again."""
    wait: float = 0.0
    """Before the first retry, in units of the configured retry wait; doubles with each attempt."""
    host_rests: bool = False
    """The whole host waits, not only this URL."""
    against_host: bool = False
    """Counts towards a long rest of the host, and towards giving it up: after many in a row it is of no use."""


_FINAL = Treatment()

TREATMENTS: dict[FailureKind, Treatment] = {
    FailureKind.REDIRECT: _FINAL,
    FailureKind.REDIRECT_BROKEN: _FINAL,
    FailureKind.NOT_FOUND: _FINAL,
    FailureKind.FORBIDDEN: _FINAL,
    FailureKind.CLIENT_ERROR: _FINAL,
    FailureKind.TOO_MANY: Treatment(retries=6, wait=2, host_rests=True),
    FailureKind.UNAVAILABLE: Treatment(retries=4, wait=2, host_rests=True),
    FailureKind.SERVER_ERROR: Treatment(retries=2, wait=2),
    FailureKind.DNS: Treatment(retries=1, wait=0.2, host_rests=True, against_host=True),
    FailureKind.NO_DNS: Treatment(retries=4, wait=1, host_rests=True, against_host=True),
    FailureKind.CONNECT: Treatment(retries=2, wait=4, host_rests=True, against_host=True),
    FailureKind.TLS: Treatment(retries=1, wait=4, host_rests=True, against_host=True),
    FailureKind.CERTIFICATE: Treatment(against_host=True),
    FailureKind.TIMEOUT: Treatment(retries=2, wait=4, host_rests=True, against_host=True),
    FailureKind.RESET: Treatment(retries=2, wait=2, against_host=True),
    FailureKind.PROTOCOL: Treatment(retries=1, wait=2, against_host=True),
    FailureKind.GUARD: _FINAL,
    FailureKind.ROBOTS: _FINAL,
    FailureKind.SCHEME: _FINAL,
    FailureKind.NOT_MODIFIED: _FINAL,
    FailureKind.USELESS: _FINAL,
    FailureKind.PROCESSING: _FINAL,
}

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
