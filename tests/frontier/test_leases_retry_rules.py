"""The tables of retry rules and of the ways to end a lease."""

from __future__ import annotations

import pytest

from motherlode.frontier.leases import (
    ENDINGS,
    HOST_GIVEN_UP_AFTER,
    HOST_SNOOZED_AFTER,
    TREATMENTS,
    End,
    host_snooze_units,
)
from motherlode.model import FailureKind


def test_retry_rules_cover_every_failure_kind() -> None:
    assert set(TREATMENTS) == set(FailureKind)


@pytest.mark.parametrize("kind", FailureKind, ids=lambda kind: kind.value)
def test_retry_rules_are_consistent(kind: FailureKind) -> None:
    row = TREATMENTS[kind]
    assert row.retries >= 0
    if kind is not FailureKind.NO_DNS:  # its wait is for the host: see Backoff.without_address
        assert (row.wait > 0) == (row.retries > 0), "a retry without a wait would hammer the host; a wait needs a retry"


@pytest.mark.parametrize(
    "kind",
    [
        *(FailureKind.NOT_FOUND, FailureKind.GUARD, FailureKind.REDIRECT, FailureKind.ROBOTS),
        FailureKind.CERTIFICATE,
    ],
)
def test_permanent_failure_is_not_retried(kind: FailureKind) -> None:
    assert TREATMENTS[kind].retries == 0


@pytest.mark.parametrize("kind", [FailureKind.TOO_MANY, FailureKind.UNAVAILABLE, FailureKind.TIMEOUT, FailureKind.DNS])
def test_failure_of_the_host_snoozes_it(kind: FailureKind) -> None:
    assert TREATMENTS[kind].snoozes_host
    assert TREATMENTS[kind].retries > 0


def test_slow_down_response_does_not_count_against_host() -> None:
    """A long delay slows a host down but never drops it."""
    assert not TREATMENTS[FailureKind.TOO_MANY].against_host
    assert not TREATMENTS[FailureKind.UNAVAILABLE].against_host


def test_retries_of_one_page_do_not_give_up_its_host() -> None:
    assert all(row.retries + 1 < HOST_GIVEN_UP_AFTER for row in TREATMENTS.values() if row.against_host)


def test_dead_host_is_snoozed_longer_and_longer_before_it_is_given_up() -> None:
    rests = [host_snooze_units(failures) for failures in range(HOST_SNOOZED_AFTER, HOST_GIVEN_UP_AFTER)]
    assert len(rests) >= 2
    assert sorted(set(rests)) == rests
    assert max(row.wait * 2**row.retries for row in TREATMENTS.values() if row.against_host) <= 2 * rests[0]


def test_table_of_endings_covers_every_end_of_a_page() -> None:
    others = {End.RESOLVED, End.ROBOTS_READ, End.ROBOTS_MOVED, End.SUBREQUEST_DONE}
    assert set(ENDINGS) | others == set(End)
    assert not set(ENDINGS) & others
