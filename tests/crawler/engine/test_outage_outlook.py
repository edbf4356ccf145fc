"""Whether there is a network, by made-up clocks: what counts, what waits, what does not, and that it ends."""

from __future__ import annotations

from itertools import pairwise

import pytest

from motherlode.crawler.engine import outage as module
from motherlode.crawler.engine.outage import MIN_RESPONDING_HOSTS, OutageDetector, Verdict, network_of

UNIT = 15.0
DAY = 86_400.0


def doubted(*, at: float = 100.0, heard: float | None = 90.0) -> OutageDetector:
    """Enough networks were silent at a time, after which nobody has answered."""
    outlook = OutageDetector(unit=UNIT)
    if heard is not None:
        outlook.heard(heard)
    for number in range(MIN_RESPONDING_HOSTS):
        outlook.silent(str(number), at)
    return outlook


def asked_in_vain(outlook: OutageDetector, *, enough: bool = True) -> float:
    """Witnesses are asked when they are to be, and say nothing; when that was."""
    now = outlook.ask_at
    assert now < float("inf")
    outlook.asking()
    outlook.asked_in_vain(now, enough_witnesses=enough)
    return now


def verdict(outlook: OutageDetector, *, ended: float, now: float) -> Verdict:
    return outlook.verdict(began=ended - 1, ended=ended, now=now)


def test_a_silence_counts_once_somebody_else_has_answered() -> None:
    outlook = OutageDetector(unit=UNIT)
    outlook.heard(90.0)
    outlook.silent("a", 100.0)
    assert verdict(outlook, ended=100.0, now=100.1) is Verdict.WAITS
    outlook.heard(100.2)
    assert verdict(outlook, ended=100.0, now=100.2) is Verdict.COUNTS


@pytest.mark.parametrize("networks", range(1, MIN_RESPONDING_HOSTS))
def test_where_few_networks_are_asked_nobody_can_tell_and_silence_counts_soon(networks: int) -> None:
    outlook = OutageDetector(unit=UNIT)
    for time in range(100):
        for number in range(networks):
            outlook.silent(str(number), float(time))
    assert not outlook.stands_still and outlook.ask_at == float("inf")
    assert verdict(outlook, ended=50.0, now=50.0 + UNIT - 0.1) is Verdict.WAITS
    assert verdict(outlook, ended=50.0, now=50.0 + UNIT) is Verdict.COUNTS


def test_neighbours_are_one_network() -> None:
    assert len({network_of(f"198.51.100.{number}", f"{number}.example") for number in range(256)}) == 1
    assert network_of("198.51.101.1", "") != network_of("198.51.100.1", "")
    assert network_of("2001:db8:1::1", "") == network_of("2001:db8:1:5::1", "") != network_of("2001:db8:2::1", "")
    assert network_of("", "a.b.example") == network_of("", "c.b.example:81")
    assert network_of("behind-a-proxy", "x") == "behind-a-proxy"


def test_doubt_gives_others_some_seconds_before_anything_stands_still() -> None:
    outlook = doubted(at=100.0)
    assert outlook.ask_at == 105.0
    assert not outlook.stands_still
    assert verdict(outlook, ended=100.0, now=999.0) is Verdict.WAITS
    outlook.heard(102.0)
    assert outlook.ask_at == float("inf")
    assert verdict(outlook, ended=100.0, now=102.0) is Verdict.COUNTS
    outlook.silent("0", 103.0)
    assert verdict(outlook, ended=103.0, now=103.0) is Verdict.WAITS, "an answer in passing does not make us believe"


def test_a_witness_that_answers_says_that_the_others_are_dead() -> None:
    outlook = doubted()
    outlook.asking()
    assert outlook.stands_still
    outlook.heard(106.0)
    assert not outlook.stands_still
    assert outlook.since is None and outlook.outages == 0
    assert verdict(outlook, ended=100.0, now=106.0) is Verdict.COUNTS
    outlook.asked_in_vain(107.0, enough_witnesses=True)
    assert outlook.since is None, "the others of the round come too late"


def test_where_no_witness_answers_nothing_counts_until_somebody_does() -> None:
    outlook = doubted(at=100.0)
    now = asked_in_vain(outlook)
    assert outlook.stands_still and (outlook.since, outlook.outages) == (100.0, 1)
    assert verdict(outlook, ended=100.0, now=now) is Verdict.UNCOUNTED
    assert verdict(outlook, ended=now + 500, now=now + 500) is Verdict.UNCOUNTED
    assert outlook.seconds(400.0) == 300.0
    outlook.heard(1_000.0)
    assert not outlook.stands_still
    assert outlook.outages == 1
    assert outlook.seconds(9_999.0) == 900.0
    late = outlook.verdict(began=990.0, ended=1_030.0, now=1_040.0)
    assert late is Verdict.UNCOUNTED, "it was asked while there was no network"


def test_questions_to_witnesses_grow_rarer_up_to_a_bound() -> None:
    outlook = doubted()
    times = [asked_in_vain(outlook) for _ in range(12)]
    pauses = [after - before for before, after in pairwise(times)]
    assert pauses[:5] == [UNIT, 2 * UNIT, 4 * UNIT, 8 * UNIT, 16 * UNIT]
    assert set(pauses[5:]) == {20 * UNIT}


def test_dead_hosts_are_believed_longer_each_time_so_that_they_are_given_up() -> None:
    """The others of a crawl have ended, and a witness answers whenever it is asked."""
    outlook, now, rounds, counted = OutageDetector(unit=UNIT), 0.0, 0, 0
    outlook.heard(now)
    while counted < 100:
        now += 10.0
        for number in range(MIN_RESPONDING_HOSTS):
            outlook.silent(str(number), now)
        if verdict(outlook, ended=now, now=now) is Verdict.COUNTS:
            counted += 1
        elif outlook.ask_at <= now:
            rounds += 1
            outlook.asking()
            outlook.heard(now + 0.5)
    assert rounds < 10, "few requests for many failures"
    assert now < 3_600


def test_an_outage_that_is_over_is_believed_in_the_same_way() -> None:
    """A witness that may not be asked soon enough makes dead hosts look like an outage, again and again."""
    outlook, now, outages = OutageDetector(unit=UNIT), 0.0, 0
    counted = 0
    while counted < 30:
        now += 70.0  # as long as dead hosts rest
        for number in range(MIN_RESPONDING_HOSTS):
            outlook.silent(str(number), now)
        if verdict(outlook, ended=now, now=now) is Verdict.COUNTS:
            counted += 1
        elif outlook.ask_at <= now:
            asked_in_vain(outlook)
            outages += 1
            now += 200.0
            outlook.heard(now)
    assert outages < 20


def test_what_was_long_ago_makes_no_doubt_less_likely() -> None:
    outlook = doubted()
    asked_in_vain(outlook)
    outlook.heard(1_000.0)
    assert verdict(outlook, ended=1_000.0 + UNIT, now=1_000.0 + UNIT) is Verdict.COUNTS, "believed for a while"
    later = 1_000.0 + 300 * UNIT
    for number in range(MIN_RESPONDING_HOSTS):
        outlook.silent(str(number), later)
    assert verdict(outlook, ended=later, now=later) is Verdict.WAITS


def test_where_nobody_has_ever_answered_the_hosts_are_taken_for_dead_after_ten_minutes() -> None:
    outlook = doubted(at=0.0, heard=None)
    now = 0.0
    while outlook.ask_at < float("inf"):
        now = asked_in_vain(outlook, enough=False)
        assert now < 1_200
    assert now >= 600
    assert not outlook.stands_still
    assert not outlook.is_spent(now)
    outlook.silent("0", now + 1)
    assert verdict(outlook, ended=now + 1, now=now + 1) is Verdict.COUNTS
    outlook.heard(now + 2)
    for number in range(MIN_RESPONDING_HOSTS):
        outlook.silent(str(number), now + 1_000)
    assert verdict(outlook, ended=now + 1_000, now=now + 1_000) is Verdict.WAITS, "now there is a network to lose"


def test_a_network_that_was_there_is_waited_for_a_day() -> None:
    outlook = doubted(at=100.0)
    while (now := asked_in_vain(outlook)) < 100.0 + DAY:
        assert not outlook.is_spent(now)
    assert outlook.is_spent(now)
    assert verdict(outlook, ended=now, now=now) is Verdict.UNCOUNTED, "the frontier stays whole"
    assert module._PATIENCE * UNIT == DAY
