"""Waking times."""

from __future__ import annotations

from motherlode.frontier.hosts import WakingTimes


def test_hosts_come_due_earliest_first_and_once() -> None:
    times = WakingTimes()
    for ready_at, host in ((5.0, "b"), (3.0, "c"), (9.0, "a"), (3.0, "a")):
        times.push(ready_at, host)
    assert times.next_time() == 3.0
    assert times.due(2.9) == []
    assert times.due(5.0) == ["a", "c", "b"]
    assert times.due(5.0) == []
    assert times.next_time() == 9.0


def test_most_leaves_the_rest_for_later() -> None:
    times = WakingTimes()
    for number in range(3):
        times.push(float(number), str(number))
    assert times.due(10.0, most=2) == ["0", "1"]
    assert times.due(10.0, most=2) == ["2"]
    assert times.next_time() is None
