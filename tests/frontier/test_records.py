"""Ready times and snoozed hosts."""

from __future__ import annotations

from motherlode.frontier.records import ReadyTimes, SnoozedHosts


def test_due_returns_earliest_hosts_first_and_once() -> None:
    times = ReadyTimes()
    for ready_at, host in ((5.0, "b"), (3.0, "c"), (9.0, "a"), (3.0, "a")):
        times.push(ready_at, host)
    assert times.next_time() == 3.0
    assert times.due(2.9) == []
    assert times.due(5.0) == ["a", "c", "b"]
    assert times.due(5.0) == []
    assert times.next_time() == 9.0


def test_due_returns_at_most_the_limit() -> None:
    times = ReadyTimes()
    for number in range(3):
        times.push(float(number), str(number))
    assert times.due(10.0, most=2) == ["0", "1"]
    assert times.due(10.0, most=2) == ["2"]
    assert times.next_time() is None


def test_snoozed_hosts_are_returned_oldest_first_and_taken_once() -> None:
    sleepers = SnoozedHosts()
    for name in ("d", "b", "c", "a"):
        assert sleepers.put(name, f"{name} arm")
    assert sleepers.put("b", "b arm")
    assert not sleepers.put("b", "another arm")
    assert sleepers.take("b") == "b arm"
    assert sleepers.take("b") is None
    assert len(sleepers) == 3
    assert sleepers.first(2) == ["d", "c"]
    assert [sleepers.take(name) for name in ("c", "d")] == ["c arm", "d arm"]
    assert sleepers.first(None) == ["a"]
