from __future__ import annotations

from random import Random

import pytest

from motherlode.cluster.grants import BudgetGrants


@pytest.mark.parametrize("budget", [1, 7, 100, 5000])
def test_the_budget_is_never_exceeded_and_always_used_up(budget: int) -> None:
    random, shards = Random(budget), 5
    leases = BudgetGrants(budget, shards=shards)
    begun, limits = [0] * shards, [0] * shards
    busy = set(range(shards))
    for turn in range(4000):
        shard = random.randrange(shards)
        if turn == 50:
            busy = {0, 1}  # the others run out of work and give back what they have
        if shard in busy:
            begun[shard] += random.randint(0, limits[shard] - begun[shard])
        else:
            limits[shard] = begun[shard]
        limit = leases.renew(shard, begun=begun[shard], limit=limits[shard], hungry=shard in busy)
        assert limit is not None
        limits[shard] = limit
        assert sum(limits) <= budget
    assert sum(begun) == budget


def test_without_a_budget_there_is_no_limit() -> None:
    assert BudgetGrants(None, shards=2).renew(0, begun=10**9, limit=0, hungry=True) is None


def test_what_was_spent_before_a_resume_counts() -> None:
    leases = BudgetGrants(100, shards=2)
    assert leases.renew(0, begun=45, limit=45, hungry=True) == 45, "the other may have spent the rest"
    assert leases.renew(1, begun=55, limit=55, hungry=True) == 55
    assert leases.renew(0, begun=45, limit=45, hungry=True) == 45
