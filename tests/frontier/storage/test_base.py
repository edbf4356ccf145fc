"""The contract of a ledger, run on both."""

from __future__ import annotations

from math import inf

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from motherlode.frontier import FrontierStorage, HostRecord, UrlState

from ..fakes import entry

SCORES = [2.5, -3.0, 0.0, 2.5, inf, -inf, 1e-300, -1e-300, 2.5, 0.0]


def pop_all(ledger: FrontierStorage, arm: str) -> list[int]:
    found = []
    while (popped := ledger.pop(arm)) is not None:
        found.append(popped.sequence)
    return found


def fill(ledger: FrontierStorage, scores: list[float], *, host: str = "a.example") -> None:
    for number, score in enumerate(scores):
        ledger.add(entry(f"http://{host}/{number}", score=score, sequence=number))


def test_the_best_score_comes_first_and_equals_in_order_of_discovery(ledger: FrontierStorage) -> None:
    fill(ledger, SCORES)
    expected = sorted(range(len(SCORES)), key=lambda number: (-SCORES[number], number))
    assert pop_all(ledger, "a.example") == expected


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(scores=st.lists(st.floats(allow_nan=False) | st.integers(-3, 3).map(float), max_size=12))
def test_any_scores_come_out_in_order(ledger: FrontierStorage, scores: list[float]) -> None:
    fill(ledger, scores)
    expected = sorted(range(len(scores)), key=lambda number: (-scores[number], number))
    assert pop_all(ledger, "a.example") == expected


def test_best_is_the_score_that_pop_would_give(ledger: FrontierStorage) -> None:
    fill(ledger, SCORES)
    while (best := ledger.best("a.example")) is not None:
        popped = ledger.pop("a.example")
        assert popped is not None
        assert popped.score == best
    assert ledger.pop("a.example") is None


def test_arms_do_not_mix(ledger: FrontierStorage) -> None:
    fill(ledger, [1, 2], host="a.example")
    fill(ledger, [3], host="b.example")
    assert ledger.pop("never.example") is None
    assert pop_all(ledger, "b.example") == [0]
    assert ledger.best("b.example") is None
    assert pop_all(ledger, "a.example") == [1, 0]


def test_an_integer_score_is_as_good_as_a_float(ledger: FrontierStorage) -> None:
    ledger.add(entry("http://a.example/1", score=-1, sequence=1))
    ledger.add(entry("http://a.example/2", score=-0.5, sequence=2))
    assert pop_all(ledger, "a.example") == [2, 1]


def test_every_state_is_on_record(ledger: FrontierStorage) -> None:
    fill(ledger, [3, 2, 1])
    ledger.refuse(entry("http://a.example/no"), "not wanted\nat all")
    done, failed = ledger.pop("a.example"), ledger.pop("a.example")
    assert done is not None
    assert failed is not None
    ledger.finish(done, UrlState.DONE, "")
    states = {}
    for name in ("0", "1", "2", "no"):
        found = ledger.find(f"http://a.example/{name}")
        assert found is not None
        states[name] = found[1]
    assert states == {"0": UrlState.DONE, "1": UrlState.IN_FLIGHT, "2": UrlState.WAITING, "no": UrlState.REFUSED}
    ledger.finish(failed, UrlState.FAILED, "timeout")
    found = ledger.find("http://a.example/1")
    assert found is not None
    assert found[1:] == (UrlState.FAILED, "timeout")
    assert ledger.find("http://a.example/other") is None


def test_the_reason_of_a_refusal_is_kept(ledger: FrontierStorage) -> None:
    ledger.refuse(entry("http://a.example/no"), "two\nlines")
    found = ledger.find("http://a.example/no")
    assert found is not None
    assert found[2].split() == ["two", "lines"]
    assert found[0].url == "http://a.example/no"


def test_known_covers_every_state(ledger: FrontierStorage) -> None:
    assert not ledger.known("http://a.example/0")
    fill(ledger, [1, 2])
    ledger.refuse(entry("http://a.example/no"), "reason")
    popped = ledger.pop("a.example")
    assert popped is not None
    assert all(ledger.known(f"http://a.example/{name}") for name in ("0", "1", "no"))
    ledger.finish(popped, UrlState.DONE, "")
    assert ledger.known(popped.url)
    assert not ledger.known("http://a.example/2")


def test_what_was_popped_can_be_put_back(ledger: FrontierStorage) -> None:
    fill(ledger, [1])
    popped = ledger.pop("a.example")
    assert popped is not None
    ledger.add(popped)
    assert list(ledger.waiting()) == [("a.example", "a.example", 1)]
    assert ledger.recover() == 0, "it is no longer in flight"
    assert pop_all(ledger, "a.example") == [0]


def test_waiting_lists_each_arm_with_its_host(ledger: FrontierStorage) -> None:
    ledger.add(entry("http://a.example:8080/1", arm="a.example:8080 /list", sequence=1))
    ledger.add(entry("http://a.example:8080/2", arm="a.example:8080 /list", sequence=2))
    ledger.add(entry("http://b.example/1", arm="b.example", sequence=3))
    emptied = entry("http://c.example/1", arm="c.example", sequence=4)
    ledger.add(emptied)
    ledger.pop("c.example")
    assert sorted(ledger.waiting()) == [
        ("a.example:8080 /list", "a.example:8080", 2),
        ("b.example", "b.example", 1),
    ]


def test_recover_lets_what_was_in_flight_wait_again_in_its_old_place(ledger: FrontierStorage) -> None:
    fill(ledger, [5, 4, 3])
    first, second = ledger.pop("a.example"), ledger.pop("a.example")
    assert first is not None
    assert second is not None
    ledger.finish(second, UrlState.DONE, "")
    assert ledger.recover() == 1
    assert pop_all(ledger, "a.example") == [0, 2]


def test_a_host_is_remembered_once_with_its_last_word(ledger: FrontierStorage) -> None:
    ledger.put_host(HostRecord(name="a.example", failures=3))
    ledger.put_host(HostRecord(name="b.example", delay=2.5, robots=b"rules"))
    ledger.put_host(HostRecord(name="a.example", ready_at=12.5, fetched=7))
    found = {host.name: host for host in ledger.hosts()}
    assert len(list(ledger.hosts())) == 2
    assert (found["a.example"].failures, found["a.example"].ready_at, found["a.example"].fetched) == (0, 12.5, 7)
    assert (found["b.example"].delay, found["b.example"].robots) == (2.5, b"rules")


def test_visits_come_back_in_order(ledger: FrontierStorage) -> None:
    for number in range(1, 300):
        ledger.append_visit(number, str(number).encode())
    assert list(ledger.visits()) == [str(number).encode() for number in range(1, 300)]


def test_notes(ledger: FrontierStorage) -> None:
    assert ledger.note("totals") is None
    ledger.put_note("totals", b"1")
    ledger.put_note("policy", b"\x00\xff")
    ledger.put_note("totals", b"2")
    assert (ledger.note("totals"), ledger.note("policy")) == (b"2", b"\x00\xff")


def test_the_work_goes_on_after_a_commit(ledger: FrontierStorage) -> None:
    fill(ledger, [1, 2])
    ledger.commit()
    assert ledger.best("a.example") == 2
    ledger.commit()
    assert pop_all(ledger, "a.example") == [1, 0]


def test_what_is_postponed_keeps_its_time_and_its_attempts(ledger: FrontierStorage) -> None:
    fill(ledger, [2, 1])
    first, second = ledger.pop("a.example"), ledger.pop("a.example")
    assert first is not None
    assert second is not None
    tried = msgspec.structs.replace(first, attempts=1)
    ledger.postpone(tried, 12.5)
    assert ledger.recover() == 1, "only the other one waits again at once"
    assert list(ledger.postponed()) == [(12.5, tried)]
    found = ledger.find(first.url)
    assert found is not None
    assert found[0].attempts == 1
    assert found[1] is UrlState.IN_FLIGHT
    ledger.add(tried)
    assert list(ledger.postponed()) == []
    popped = ledger.pop("a.example")
    assert popped == tried


def test_what_is_postponed_can_end(ledger: FrontierStorage) -> None:
    fill(ledger, [1])
    popped = ledger.pop("a.example")
    assert popped is not None
    ledger.postpone(popped, 1.0)
    ledger.add(popped)
    again = ledger.pop("a.example")
    assert again is not None
    ledger.finish(again, UrlState.FAILED, "timeout")
    assert list(ledger.postponed()) == []
    assert ledger.recover() == 0


def test_urls_that_are_added_together_wait_like_those_added_one_by_one(ledger: FrontierStorage) -> None:
    entries = [
        entry(f"http://h{number % 7}.example/{number}", score=number % 4, sequence=number) for number in range(30)
    ]
    ledger.add_new(entries[:17])
    ledger.add_new([])
    for one in entries[17:]:
        ledger.add(one)
    assert ledger.known_of([entries[5].url, "http://h3.example/31", entries[17].url, entries[5].url]) == [
        True,
        False,
        True,
        True,
    ]
    for arm in sorted({one.arm for one in entries}):
        own = sorted((one for one in entries if one.arm == arm), key=lambda one: (-one.score, one.sequence))
        assert ledger.count(arm) == len(own)
        assert [ledger.pop(arm) for _ in own] == own
        assert ledger.count(arm) == 0
