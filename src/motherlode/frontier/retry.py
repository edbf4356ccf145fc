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
    """Counts towards giving the host up."""


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
    FailureKind.CONNECT: Treatment(retries=2, wait=4, host_rests=True, against_host=True),
    FailureKind.TLS: Treatment(retries=1, wait=4, host_rests=True, against_host=True),
    FailureKind.TIMEOUT: Treatment(retries=2, wait=4, host_rests=True, against_host=True),
    FailureKind.RESET: Treatment(retries=2, wait=2),
    FailureKind.PROTOCOL: Treatment(retries=1, wait=2),
    FailureKind.GUARD: _FINAL,
    FailureKind.ROBOTS: _FINAL,
    FailureKind.SCHEME: _FINAL,
    FailureKind.NOT_MODIFIED: _FINAL,
    FailureKind.USELESS: _FINAL,
    FailureKind.PROCESSING: _FINAL,
}

HOST_GIVEN_UP_AFTER = 6
"""Failures in a row that count against a host, before its waiting URLs fail without a request."""
