"""Simulated sharded crawls keep their promises under faults, and the simulation finds bugs that are planted in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count, islice
from math import inf
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from motherlode.cluster.coordinator import AddressGrantTable, BudgetGrants, Coordinator
from motherlode.cluster.outbox import Outbox
from motherlode.cluster.shard import Shard, ShardSpec
from motherlode.cluster.shard_messages import IdleMark, Orders, ShardReport, TerminationDetector
from motherlode.crawler import Job
from motherlode.frontier import AddressGrant, Frontier
from tests.cluster.shard_simulation import Cluster, simulate
from tests.cluster.simulated_world import World
from tests.cluster.test_coordinator_grants import ADDRESS, make_host_queue

SEEDS = 20
MAX_SEEDS_FOR_BUG = 400
"""Seeds within which every planted bug must be found. One in 20 of the chosen worlds or more finds it."""


@pytest.mark.parametrize("seed", range(SEEDS))
def test_simulated_shards_with_faults_keep_all_promises(seed: int) -> None:
    assert simulate(seed) == []


def test_simulation_of_same_seed_repeats_every_request(monkeypatch: pytest.MonkeyPatch) -> None:
    worlds: list[World] = []
    real = Cluster.run

    async def run(self: Cluster) -> None:
        worlds.append(self.world)
        await real(self)

    monkeypatch.setattr(Cluster, "run", run)
    simulate(7)
    simulate(7)
    assert worlds[0].requests == worlds[1].requests
    assert len(worlds[0].requests) > 1


def find_violation(condition: Callable[[World], bool] = lambda world: True) -> str:
    """Return the first broken promise of the first seed that breaks one, of those whose world meets the condition."""
    seeds = (seed for seed in count() if condition(World.make(seed)))
    found = (violations[0] for seed in islice(seeds, MAX_SEEDS_FOR_BUG) if (violations := simulate(seed)))
    return next(found, "")


def has_busy_addresses(world: World) -> bool:
    """Return whether shards contend for one or two IP addresses with a long delay."""
    is_long = world.address_delay > 1.0 and len(world.links) > 20 and not world.is_chain and world.budget is None
    return is_long and len(set(world.addresses.values())) < 3 and not world.slow_reports


def test_simulation_acknowledgement_before_commit_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    async def acknowledge(self: Shard, outbox: Outbox) -> bool:
        return True

    monkeypatch.setattr(Shard, "_wait_until_durable", acknowledge)
    found = find_violation(lambda world: world.crashes > 0.0)
    assert "is lost" in found or "never fetched" in found


def test_simulation_end_with_links_in_transit_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Outbox, "is_empty", True)
    assert "never fetched" in find_violation()


def test_simulation_address_granted_to_two_shards_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def grant(self: AddressGrantTable, shard: int, addresses: list[str], now: float) -> None:
        self._grants.setdefault(shard, []).extend(AddressGrant(address, 0.0) for address in addresses)

    monkeypatch.setattr(AddressGrantTable, "request", grant)
    assert "s between two requests" in find_violation()


def test_simulation_address_of_a_dead_shard_granted_without_delay_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = AddressGrantTable.__init__

    def forget_delay(self: AddressGrantTable, *, delay: float, min_seconds: float) -> None:
        real(self, delay=0.0, min_seconds=min_seconds)

    monkeypatch.setattr(AddressGrantTable, "__init__", forget_delay)
    assert "s between two requests" in find_violation(lambda world: world.crashes > 0.0 and has_busy_addresses(world))


def test_simulation_address_passed_on_without_its_delay_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = AddressGrantTable.give_back

    def give_back(self: AddressGrantTable, shard: int, grants: Sequence[AddressGrant], now: float) -> None:
        real(self, shard, [AddressGrant(grant.address, 0.0) for grant in grants], now)

    monkeypatch.setattr(AddressGrantTable, "give_back", give_back)
    assert "s between two requests" in find_violation(has_busy_addresses)


def test_simulation_report_of_an_earlier_incarnation_that_counts_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = Coordinator.report

    def report(self: Coordinator, sent: ShardReport, now: float) -> Orders:
        return real(self, replace(sent, incarnation=self._incarnations[sent.shard]), now)

    def has_lost_grants(world: World) -> bool:
        """Return whether a grant may get lost that no other shard wants, without a later crash that repairs it."""
        are_own = len(set(world.addresses.values())) >= len(world.addresses) - 1
        return are_own and world.crashes == 0.02 and world.slow_reports > 0.0 and len(world.links) > 12

    monkeypatch.setattr(Coordinator, "report", report)
    assert find_violation(has_lost_grants)


def test_simulation_budget_granted_before_all_shards_have_reported_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = BudgetGrants.__init__

    def wait_for_none(self: BudgetGrants, budget: int | None, *, shards: int) -> None:
        real(self, budget, shards=shards)
        self._limits = dict.fromkeys(range(shards), 0)

    monkeypatch.setattr(BudgetGrants, "__init__", wait_for_none)
    found = find_violation(
        lambda world: world.budget is not None and 8.0 < world.killed_after < inf and max(world.late_starts) > 10.0
    )
    assert "with a budget of" in found


def test_simulation_confirmation_from_before_the_first_round_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = TerminationDetector.record_report

    def record_report(self: TerminationDetector, shard: int, mark: IdleMark | None, *, known_round: int) -> bool:
        return real(self, shard, mark, known_round=self.round)

    monkeypatch.setattr(TerminationDetector, "record_report", record_report)

    def has_late_reports(world: World) -> bool:
        """Return whether deliveries are fast and reports are slow, in a crawl where shards are often idle."""
        is_calm = world.crashes == 0.0 and world.max_delay < 1.0 and world.slow_reports > 0.0
        return is_calm and world.is_chain and world.shards == 2 and len(world.links) > 12 and world.budget is None

    assert "never fetched" in find_violation(has_late_reports)


def test_simulation_saved_times_that_are_not_checked_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Frontier, "check_clock", lambda self, now: "")
    found = find_violation(lambda world: world.are_times_unsaved and world.killed_after < inf)
    assert "did not end" in found


def test_shard_with_grant_and_recall_in_one_response_gives_the_address_back() -> None:
    frontier, host_queue = make_host_queue("http://a.example/", "http://b.example/")
    engine = SimpleNamespace(limit_pages=lambda pages: None, wake_up=lambda: None, pages_started=0)
    clock = SimpleNamespace(now=lambda: 10.0)
    assembled: Any = SimpleNamespace(engine=engine, frontier=frontier, clock=clock)
    shard = Shard(ShardSpec(number=0, shards=2, job=Job(seeds=("http://a.example/",)), folder=Path("unused")))
    outbox: Any = SimpleNamespace(is_full=False)
    shard._apply_orders(Orders(grants=[AddressGrant(ADDRESS, 0.0)], recalls=[ADDRESS]), assembled, outbox)
    assert [grant.address for grant in host_queue.take_returned_grants(10.0)] == [ADDRESS]
    assert frontier.lease(100.0) is None, "a peer may have the address now"
