"""The memtable: rows of one arm can be taken, and the other rows keep their order."""

from __future__ import annotations

from motherlode.frontier.storage.sorted_runs import Memtable


def test_memtable_take_returns_all_rows_of_an_arm_once() -> None:
    arrivals = Memtable()
    arrivals.extend([1, 2, 1], [0.5, 2.0, 1.5], 10)
    arrivals.extend([1], [7.0], 5)
    assert sorted(arrivals.take(1)) == [(-7.0, 5), (-1.5, 12), (-0.5, 10)]
    assert arrivals.take(1) == []
    arrivals.extend([1, 3], [9.0, 8.0], 20)
    arms, scores, rows = arrivals.remaining()
    assert (arms.tolist(), scores.tolist(), rows.tolist()) == ([2, 1, 3], [2.0, 9.0, 8.0], [11, 20, 21])
    assert arrivals.take(1) == [(-9.0, 20)]
