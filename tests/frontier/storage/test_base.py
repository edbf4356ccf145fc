"""The contract of frontier storage, tested on each implementation."""

from __future__ import annotations

from math import inf

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from motherlode.frontier import FrontierStorage, HostRecord, UrlState

from ..fakes import entry

SCORES = [2.5, -3.0, 0.0, 2.5, inf, -inf, 1e-300, -1e-300, 2.5, 0.0]


def pop_all(storage: FrontierStorage, arm: str) -> list[int]:
    found = []
    while (popped := storage.pop(arm)) is not None:
        found.append(popped.sequence)
    return found


def fill(storage: FrontierStorage, scores: list[float], *, host: str = "a.example") -> None:
    for number, score in enumerate(scores):
        storage.add(entry(f"http://{host}/{number}", score=score, sequence=number))


def test_pop_returns_best_score_then_first_discovered(storage: FrontierStorage) -> None:
    fill(storage, SCORES)
    expected = sorted(range(len(SCORES)), key=lambda number: (-SCORES[number], number))
    assert pop_all(storage, "a.example") == expected


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(scores=st.lists(st.floats(allow_nan=False) | st.integers(-3, 3).map(float), max_size=12))
def test_pop_returns_any_scores_in_order(storage: FrontierStorage, scores: list[float]) -> None:
    fill(storage, scores)
    expected = sorted(range(len(scores)), key=lambda number: (-scores[number], number))
    assert pop_all(storage, "a.example") == expected


def test_best_is_the_score_of_the_next_pop(storage: FrontierStorage) -> None:
    fill(storage, SCORES)
    while (best := storage.best("a.example")) is not None:
        popped = storage.pop("a.example")
        assert popped is not None
        assert popped.score == best
    assert storage.pop("a.example") is None


def test_arms_have_separate_queues(storage: FrontierStorage) -> None:
    fill(storage, [1, 2], host="a.example")
    fill(storage, [3], host="b.example")
    assert storage.pop("never.example") is None
    assert pop_all(storage, "b.example") == [0]
    assert storage.best("b.example") is None
    assert pop_all(storage, "a.example") == [1, 0]


def test_integer_scores_sort_like_floats(storage: FrontierStorage) -> None:
    storage.add(entry("http://a.example/1", score=-1, sequence=1))
    storage.add(entry("http://a.example/2", score=-0.5, sequence=2))
    assert pop_all(storage, "a.example") == [2, 1]


def test_find_returns_every_state(storage: FrontierStorage) -> None:
    fill(storage, [3, 2, 1])
    storage.finish(entry("http://a.example/no"), UrlState.REFUSED, "not wanted\nat all")
    done, failed = storage.pop("a.example"), storage.pop("a.example")
    assert done is not None
    assert failed is not None
    storage.finish(done, UrlState.DONE, "")
    states = {}
    for name in ("0", "1", "2", "no"):
        found = storage.find(f"http://a.example/{name}")
        assert found is not None
        states[name] = found[1]
    assert states == {"0": UrlState.DONE, "1": UrlState.IN_FLIGHT, "2": UrlState.WAITING, "no": UrlState.REFUSED}
    storage.finish(failed, UrlState.FAILED, "timeout")
    found = storage.find("http://a.example/1")
    assert found is not None
    assert found[1:] == (UrlState.FAILED, "timeout")
    assert storage.find("http://a.example/other") is None


def test_reason_of_a_refusal_is_stored(storage: FrontierStorage) -> None:
    storage.finish(entry("http://a.example/no"), UrlState.REFUSED, "two\nlines")
    found = storage.find("http://a.example/no")
    assert found is not None
    assert found[2].split() == ["two", "lines"]
    assert found[0].url == "http://a.example/no"


def test_known_is_true_for_every_state(storage: FrontierStorage) -> None:
    assert not storage.known_of(["http://a.example/0"])[0]
    fill(storage, [1, 2])
    storage.finish(entry("http://a.example/no"), UrlState.REFUSED, "reason")
    popped = storage.pop("a.example")
    assert popped is not None
    assert all(storage.known_of([f"http://a.example/{name}"])[0] for name in ("0", "1", "no"))
    storage.finish(popped, UrlState.DONE, "")
    assert storage.known_of([popped.url])[0]
    assert not storage.known_of(["http://a.example/2"])[0]


def test_popped_entry_can_be_added_again(storage: FrontierStorage) -> None:
    fill(storage, [1])
    popped = storage.pop("a.example")
    assert popped is not None
    storage.add(popped)
    assert list(storage.waiting()) == [("a.example", "a.example", 1)]
    assert storage.recover() == 0, "it is no longer in flight"
    assert pop_all(storage, "a.example") == [0]


def test_waiting_lists_each_arm_with_its_host(storage: FrontierStorage) -> None:
    storage.add(entry("http://a.example:8080/1", arm="a.example:8080 /list", sequence=1))
    storage.add(entry("http://a.example:8080/2", arm="a.example:8080 /list", sequence=2))
    storage.add(entry("http://b.example/1", arm="b.example", sequence=3))
    emptied = entry("http://c.example/1", arm="c.example", sequence=4)
    storage.add(emptied)
    storage.pop("c.example")
    assert sorted(storage.waiting()) == [
        ("a.example:8080 /list", "a.example:8080", 2),
        ("b.example", "b.example", 1),
    ]


def test_recover_queues_in_flight_entries_with_their_score(storage: FrontierStorage) -> None:
    fill(storage, [5, 4, 3])
    first, second = storage.pop("a.example"), storage.pop("a.example")
    assert first is not None
    assert second is not None
    storage.finish(second, UrlState.DONE, "")
    assert storage.recover() == 1
    assert pop_all(storage, "a.example") == [0, 2]


def test_put_host_replaces_the_previous_record(storage: FrontierStorage) -> None:
    storage.put_host(HostRecord(name="a.example", failures=3))
    storage.put_host(HostRecord(name="b.example", delay=2.5, robots=b"rules"))
    storage.put_host(HostRecord(name="a.example", ready_at=12.5, fetched=7))
    found = {host.name: host for host in storage.hosts()}
    assert len(list(storage.hosts())) == 2
    assert (found["a.example"].failures, found["a.example"].ready_at, found["a.example"].fetched) == (0, 12.5, 7)
    assert (found["b.example"].delay, found["b.example"].robots) == (2.5, b"rules")


def test_visits_are_returned_in_order(storage: FrontierStorage) -> None:
    for number in range(1, 300):
        storage.append_visit(number, str(number).encode())
    assert list(storage.visits()) == [str(number).encode() for number in range(1, 300)]


def test_note_returns_the_last_value(storage: FrontierStorage) -> None:
    assert storage.note("totals") is None
    storage.put_note("totals", b"1")
    storage.put_note("policy", b"\x00\xff")
    storage.put_note("totals", b"2")
    assert (storage.note("totals"), storage.note("policy")) == (b"2", b"\x00\xff")


def test_queues_are_unchanged_by_commit(storage: FrontierStorage) -> None:
    fill(storage, [1, 2])
    storage.commit()
    assert storage.best("a.example") == 2
    storage.commit()
    assert pop_all(storage, "a.example") == [1, 0]


def test_postponed_entry_keeps_time_and_attempts(storage: FrontierStorage) -> None:
    fill(storage, [2, 1])
    first, second = storage.pop("a.example"), storage.pop("a.example")
    assert first is not None
    assert second is not None
    tried = msgspec.structs.replace(first, attempts=1)
    storage.postpone(tried, 12.5)
    assert storage.recover() == 1, "only the other one waits again at once"
    assert list(storage.postponed()) == [(12.5, tried)]
    found = storage.find(first.url)
    assert found is not None
    assert found[0].attempts == 1
    assert found[1] is UrlState.IN_FLIGHT
    storage.add(tried)
    assert list(storage.postponed()) == []
    popped = storage.pop("a.example")
    assert popped == tried


def test_postponed_entry_can_be_finished(storage: FrontierStorage) -> None:
    fill(storage, [1])
    popped = storage.pop("a.example")
    assert popped is not None
    storage.postpone(popped, 1.0)
    storage.add(popped)
    again = storage.pop("a.example")
    assert again is not None
    storage.finish(again, UrlState.FAILED, "timeout")
    assert list(storage.postponed()) == []
    assert storage.recover() == 0


def test_add_new_equals_single_adds(storage: FrontierStorage) -> None:
    entries = [
        entry(f"http://h{number % 7}.example/{number}", score=number % 4, sequence=number) for number in range(30)
    ]
    storage.add_new(entries[:17])
    storage.add_new([])
    for one in entries[17:]:
        storage.add(one)
    assert storage.known_of([entries[5].url, "http://h3.example/31", entries[17].url, entries[5].url]) == [
        True,
        False,
        True,
        True,
    ]
    for arm in sorted({one.arm for one in entries}):
        own = sorted((one for one in entries if one.arm == arm), key=lambda one: (-one.score, one.sequence))
        assert storage.count(arm) == len(own)
        assert [storage.pop(arm) for _ in own] == own
        assert storage.count(arm) == 0


def test_set_aside_removes_the_arm_and_keeps_its_entries_known(storage: FrontierStorage) -> None:
    fill(storage, [1, 2], host="a.example")
    fill(storage, [3], host="b.example")
    assert storage.arm_host("a.example") == "a.example"
    assert storage.set_aside("a.example") == 2
    assert storage.set_aside("a.example") == 0
    assert (storage.count("a.example"), storage.best("a.example"), storage.pop("a.example")) == (0, None, None)
    assert storage.arms() == ["b.example"]
    assert list(storage.waiting()) == [("b.example", "b.example", 1)]
    assert storage.known_of(["http://a.example/1"]) == [True]


def test_host_returns_the_stored_record(storage: FrontierStorage) -> None:
    assert storage.host("a.example") is None
    storage.put_host(HostRecord(name="a.example", fetched=3))
    found = storage.host("a.example")
    assert found is not None and (found.name, found.fetched) == ("a.example", 3)
