"""The queues of the arms, compared with sorted lists."""

from __future__ import annotations

from pathlib import Path
from random import Random

import lmdb
import pytest

from motherlode.frontier.storage.sorted_runs import Queues

ARMS = 200
"""More arms than partitions, so that several arms share a partition."""


@pytest.mark.parametrize("seed", range(4))
def test_queues_with_random_operations_equal_sorted_lists(tmp_path: Path, seed: int) -> None:
    random, row = Random(seed), 0
    expected: dict[int, list[tuple[float, int]]] = {arm: [] for arm in range(ARMS)}
    with lmdb.open(str(tmp_path), max_dbs=2, map_size=1 << 26) as environment:
        tables = environment.open_db(b"waiting"), environment.open_db(b"used")
        queues = Queues(*tables)
        for _ in range(ARMS):
            queues.new_arm()
        for _ in range(60):
            with environment.begin(write=True, buffers=True) as txn:
                for _ in range(40):
                    arms = [min(random.randrange(ARMS), random.randrange(ARMS)) for _ in range(random.randrange(6))]
                    scores = [random.choice([0.0, -1.5, 2.0, random.random()]) for _ in arms]
                    queues.push_all(arms, scores, row)
                    for arm, score in zip(arms, scores, strict=True):
                        expected[arm].append((-score, row))
                        row += 1
                    check_one(queues, txn, expected, random)
                if random.random() < 0.4:
                    queues.flush(txn)
                    queues.forget_views()
                    if random.random() < 0.3:
                        queues = Queues(*tables)
                        queues.load(txn, ARMS)
                    assert queues.counts == [len(expected[arm]) for arm in range(ARMS)]
                queues.forget_views()


def check_one(
    queues: Queues, txn: lmdb.Transaction, expected: dict[int, list[tuple[float, int]]], random: Random
) -> None:
    arm = random.randrange(ARMS)
    items = expected[arm] = sorted(expected[arm])
    assert queues.counts[arm] == len(items)
    assert queues.best(txn, arm) == (-items[0][0] if items else None)
    if items:
        score, row = random.choice(items)
        assert queues.count_ahead(txn, arm, -score, row) == items.index((score, row))
    assert queues.pop(txn, arm) == (items.pop(0)[1] if items else None)
