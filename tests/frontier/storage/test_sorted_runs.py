"""Sorted runs: every record is found in order, and merging is bounded and drops only filtered records."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import lmdb
import numpy as np
import pytest

from motherlode.frontier.storage.sorted_runs import PARTITIONS, Array, SortedRun, SortedRuns

Table = tuple[lmdb.Environment, Any]


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    with lmdb.open(str(tmp_path), max_dbs=1, map_size=1 << 26) as environment:
        yield environment, environment.open_db(b"runs")


def append(runs: SortedRuns, txn: lmdb.Transaction, records: list[tuple[int, int]], *, head: int) -> None:
    heads = np.array([number for number, _ in records], f"u{head}")
    tails = np.array([tail for _, tail in records], ">u4").view(np.uint8).reshape(-1, 4)
    runs.append(txn, heads, tails)


def found(runs: SortedRuns, txn: lmdb.Transaction) -> list[tuple[int, int]]:
    """Return all records in the order of partitions and runs."""
    return [
        (head, int.from_bytes(run.tail(index), "big")) for run in runs.all(txn) for index, head in enumerate(run.heads)
    ]


@pytest.mark.parametrize("head", [4, 8])
def test_runs_are_sorted_and_contain_every_record_once(table: Table, head: int) -> None:
    environment, database = table
    runs, random, expected = SortedRuns(database, head=head, tail=4), Random(head), []
    for _ in range(40):
        records = [(random.randrange(500 << 8 * head - 12), random.randrange(1 << 32)) for _ in range(300)]
        expected += records
        with environment.begin(write=True, buffers=True) as txn:
            append(runs, txn, records, head=head)
    with environment.begin(buffers=True) as txn:
        assert sorted(found(runs, txn)) == sorted(expected)
        for run in runs.all(txn):
            records = [(number, run.tail(index)) for index, number in enumerate(run.heads)]
            assert records == sorted(records)
        for wanted, tail in random.sample(expected, 50):
            indexes = [(run, run.find(wanted)) for run in runs.of(txn, wanted)]
            assert tail in {int.from_bytes(run.tail(index), "big") for run, index in indexes if index is not None}
        assert all(run.find(1) is None for run in runs.of(txn, 1))
        assert max(len(runs.of(txn, partition)) for partition in range(PARTITIONS)) <= 8
        runs.forget_views()


def test_find_returns_the_first_of_equal_heads(table: Table) -> None:
    environment, database = table
    runs = SortedRuns(database, head=4, tail=4)
    with environment.begin(write=True, buffers=True) as txn:
        append(
            runs,
            txn,
            [(7 + PARTITIONS, 0), *((7, tail) for tail in range(300, 0, -1)), (7 - PARTITIONS % 7, 0)],
            head=4,
        )
        (run,) = runs.of(txn, 7)
        index = run.find(7)
        assert index is not None
        assert [int.from_bytes(run.tail(index + after), "big") for after in range(3)] == [1, 2, 3]
        runs.forget_views()
        del run


def test_append_merges_a_bounded_number_of_records(table: Table) -> None:
    """All partitions need a merge at the same time."""
    environment, database = table
    runs, merged = SortedRuns(database, head=4, tail=4, keep=lambda txn, run, records: note(run, records)), [0]

    def note(_run: SortedRun, records: Array) -> Array:
        merged[0] += len(records)
        return records

    most = 0
    for turn in range(64):
        merged[0] = 0
        with environment.begin(write=True, buffers=True) as txn:
            append(runs, txn, [(number, turn) for number in range(10 * PARTITIONS)], head=4)
        most = max(most, merged[0])
    assert 0 < most <= 5 * 10 * PARTITIONS, "four for each new one, and the last partition is finished"


def test_merge_drops_filtered_records(table: Table) -> None:
    environment, database = table
    runs = SortedRuns(database, head=4, tail=4, keep=lambda txn, run, records: records[1:])
    with environment.begin(write=True, buffers=True) as txn:
        append(runs, txn, [(0, 1), (0, 2)], head=4)
        append(runs, txn, [(0, 3), (0, 4)], head=4)
        assert found(runs, txn) == [(0, 2), (0, 4)]
        runs.forget_views()
