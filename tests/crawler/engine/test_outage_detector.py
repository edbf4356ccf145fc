"""Outage detector with times given by the tests: which failures count, wait or are not counted, and when it ends."""

from __future__ import annotations

from itertools import pairwise

import pytest

from motherlode.crawler.engine import outage as module
from motherlode.crawler.engine.outage import MIN_RESPONDING_HOSTS, OutageDetector, Verdict, network_of

UNIT = 15.0
DAY = 86_400.0


def doubted(*, at: float = 100.0, responded: float | None = 90.0) -> OutageDetector:
    """Return a detector that suspects an outage: no host has responded after failures in several networks."""
    detector = OutageDetector(unit=UNIT)
    if responded is not None:
        detector.record_response(responded)
    for number in range(MIN_RESPONDING_HOSTS):
        detector.record_silence(str(number), at)
    return detector


def run_silent_round(detector: OutageDetector, *, enough: bool = True) -> float:
    """Let a round of requests to reference hosts end without a response. Return its time."""
    now = detector.next_round_at
    assert now < float("inf")
    detector.begin_round()
    detector.end_round(now, has_enough_hosts=enough)
    return now


def verdict(detector: OutageDetector, *, ended: float, now: float) -> Verdict:
    return detector.verdict(began=ended - 1, ended=ended, now=now)


def test_silence_counts_when_another_host_has_responded() -> None:
    detector = OutageDetector(unit=UNIT)
    detector.record_response(90.0)
    detector.record_silence("a", 100.0)
    assert verdict(detector, ended=100.0, now=100.1) is Verdict.WAITS
    detector.record_response(100.2)
    assert verdict(detector, ended=100.0, now=100.2) is Verdict.COUNTS


@pytest.mark.parametrize("networks", range(1, MIN_RESPONDING_HOSTS))
def test_silence_of_few_networks_counts_after_one_unit(networks: int) -> None:
    detector = OutageDetector(unit=UNIT)
    for time in range(100):
        for number in range(networks):
            detector.record_silence(str(number), float(time))
    assert not detector.is_stalled and detector.next_round_at == float("inf")
    assert verdict(detector, ended=50.0, now=50.0 + UNIT - 0.1) is Verdict.WAITS
    assert verdict(detector, ended=50.0, now=50.0 + UNIT) is Verdict.COUNTS


def test_adjacent_addresses_are_one_network() -> None:
    assert len({network_of(f"198.51.100.{number}", f"{number}.example") for number in range(256)}) == 1
    assert network_of("198.51.101.1", "") != network_of("198.51.100.1", "")
    assert network_of("2001:db8:1::1", "") == network_of("2001:db8:1:5::1", "") != network_of("2001:db8:2::1", "")
    assert network_of("", "a.b.example") == network_of("", "c.b.example:81")
    assert network_of("behind-a-proxy", "x") == "behind-a-proxy"


def test_suspicion_gives_other_hosts_some_seconds_before_the_crawl_is_stalled() -> None:
    detector = doubted(at=100.0)
    assert detector.next_round_at == 105.0
    assert not detector.is_stalled
    assert verdict(detector, ended=100.0, now=999.0) is Verdict.WAITS
    detector.record_response(102.0)
    assert detector.next_round_at == float("inf")
    assert verdict(detector, ended=100.0, now=102.0) is Verdict.COUNTS
    detector.record_silence("0", 103.0)
    assert verdict(detector, ended=103.0, now=103.0) is Verdict.WAITS, "an answer in passing does not make us believe"


def test_response_of_a_reference_host_makes_the_silence_of_others_count() -> None:
    detector = doubted()
    detector.begin_round()
    assert detector.is_stalled
    detector.record_response(106.0)
    assert not detector.is_stalled
    assert detector.since is None and detector.outages == 0
    assert verdict(detector, ended=100.0, now=106.0) is Verdict.COUNTS
    detector.end_round(107.0, has_enough_hosts=True)
    assert detector.since is None, "the others of the round come too late"


def test_silence_does_not_count_while_no_reference_host_responds() -> None:
    detector = doubted(at=100.0)
    now = run_silent_round(detector)
    assert detector.is_stalled and (detector.since, detector.outages) == (100.0, 1)
    assert verdict(detector, ended=100.0, now=now) is Verdict.UNCOUNTED
    assert verdict(detector, ended=now + 500, now=now + 500) is Verdict.UNCOUNTED
    assert detector.seconds(400.0) == 300.0
    detector.record_response(1_000.0)
    assert not detector.is_stalled
    assert detector.outages == 1
    assert detector.seconds(9_999.0) == 900.0
    late = detector.verdict(began=990.0, ended=1_030.0, now=1_040.0)
    assert late is Verdict.UNCOUNTED, "it was asked while there was no network"


def test_rounds_become_rarer_up_to_a_bound() -> None:
    detector = doubted()
    times = [run_silent_round(detector) for _ in range(12)]
    pauses = [after - before for before, after in pairwise(times)]
    assert pauses[:5] == [UNIT, 2 * UNIT, 4 * UNIT, 8 * UNIT, 16 * UNIT]
    assert set(pauses[5:]) == {20 * UNIT}


def test_failures_count_at_once_for_longer_after_each_false_alarm() -> None:
    """Only dead hosts are left in the crawl, and a reference host responds in every round."""
    detector, now, rounds, counted = OutageDetector(unit=UNIT), 0.0, 0, 0
    detector.record_response(now)
    while counted < 100:
        now += 10.0
        for number in range(MIN_RESPONDING_HOSTS):
            detector.record_silence(str(number), now)
        if verdict(detector, ended=now, now=now) is Verdict.COUNTS:
            counted += 1
        elif detector.next_round_at <= now:
            rounds += 1
            detector.begin_round()
            detector.record_response(now + 0.5)
    assert rounds < 10, "few requests for many failures"
    assert now < 3_600


def test_failures_count_at_once_for_longer_after_each_outage() -> None:
    """If the delay of a reference host is long, dead hosts look like an outage again and again."""
    detector, now, outages = OutageDetector(unit=UNIT), 0.0, 0
    counted = 0
    while counted < 30:
        now += 70.0  # as long as dead hosts are snoozed
        for number in range(MIN_RESPONDING_HOSTS):
            detector.record_silence(str(number), now)
        if verdict(detector, ended=now, now=now) is Verdict.COUNTS:
            counted += 1
        elif detector.next_round_at <= now:
            run_silent_round(detector)
            outages += 1
            now += 200.0
            detector.record_response(now)
    assert outages < 20


def test_old_false_alarm_does_not_delay_the_next_suspicion() -> None:
    detector = doubted()
    run_silent_round(detector)
    detector.record_response(1_000.0)
    assert verdict(detector, ended=1_000.0 + UNIT, now=1_000.0 + UNIT) is Verdict.COUNTS, "believed for a while"
    later = 1_000.0 + 300 * UNIT
    for number in range(MIN_RESPONDING_HOSTS):
        detector.record_silence(str(number), later)
    assert verdict(detector, ended=later, now=later) is Verdict.WAITS


def test_hosts_count_as_dead_after_ten_minutes_if_none_has_ever_responded() -> None:
    detector = doubted(at=0.0, responded=None)
    now = 0.0
    while detector.next_round_at < float("inf"):
        now = run_silent_round(detector, enough=False)
        assert now < 1_200
    assert now >= 600
    assert not detector.is_stalled
    assert not detector.is_spent(now)
    detector.record_silence("0", now + 1)
    assert verdict(detector, ended=now + 1, now=now + 1) is Verdict.COUNTS
    detector.record_response(now + 2)
    for number in range(MIN_RESPONDING_HOSTS):
        detector.record_silence(str(number), now + 1_000)
    assert verdict(detector, ended=now + 1_000, now=now + 1_000) is Verdict.WAITS, "now there is a network to lose"


def test_crawl_waits_a_day_for_a_network_that_was_up_before() -> None:
    detector = doubted(at=100.0)
    while (now := run_silent_round(detector)) < 100.0 + DAY:
        assert not detector.is_spent(now)
    assert detector.is_spent(now)
    assert verdict(detector, ended=now, now=now) is Verdict.UNCOUNTED, "the frontier stays whole"
    assert module._MAX_OUTAGE * UNIT == DAY
