"""The coordinator: deltas, incarnations, termination, budgets and address grants."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from motherlode.cluster.coordinator import Coordinator
from motherlode.cluster.shard_messages import ShardReport
from motherlode.crawler import Counters, Job

JOB = Job(seeds=("http://a.example/",), shards=2)


def make_report(shard: int, *, incarnation: int = 0, totals: Counters | None = None, **changes: object) -> ShardReport:
    encoded = msgspec.msgpack.encode(totals or Counters())
    return ShardReport(shard=shard, incarnation=incarnation, totals=encoded, **changes)  # type: ignore[arg-type]


def make_coordinator(job: Job = JOB) -> Coordinator:
    coordinator = Coordinator(shards=2, job=job)
    for shard in range(2):
        assert coordinator.join(shard, msgspec.msgpack.encode(Counters()), 0.0) == 0
    return coordinator


def test_delta_of_a_shard_reaches_each_peer_once() -> None:
    coordinator = make_coordinator()
    assert not coordinator.report(make_report(0, delta=b"one"), 1.0).deltas, "a shard does not get its own delta"
    coordinator.report(make_report(0, delta=b"two"), 2.0)
    assert coordinator.report(make_report(1), 3.0).deltas == [b"one", b"two"]
    assert not coordinator.report(make_report(1), 4.0).deltas


def test_changed_budget_raises_and_lowers_the_limits() -> None:
    coordinator = make_coordinator(replace(JOB, pages=10))
    for shard in (0, 1, 0, 1):
        limit = coordinator.report(make_report(shard, wants_more=True), 1.0).limit
    assert limit is not None and limit <= 4
    coordinator.change_budget(1000)
    limits = [coordinator.report(make_report(shard, limit=4, wants_more=True), 2.0).limit or 0 for shard in (0, 1)]
    assert min(limits) > 100 and sum(limits) <= 1000
    coordinator.change_budget(20)
    orders = [
        coordinator.report(make_report(shard, limit=limits[shard], pages_started=9, wants_more=True), 3.0)
        for shard in (0, 1, 0)
    ]
    assert (orders[2].limit or 0) + (orders[1].limit or 0) <= 20
    assert not any(order.stop for order in orders)
    used = Counters(fetched=12)
    assert not coordinator.report(make_report(0, totals=used, limit=9, pages_started=9), 4.0).stop
    assert coordinator.report(make_report(1, totals=used, limit=9, pages_started=9), 4.0).stop


def test_head_requests_count_for_the_budget() -> None:
    coordinator = make_coordinator(replace(JOB, pages=10))
    assert coordinator.report(make_report(0, totals=Counters(fetched=4, heads=6)), 1.0).stop


def test_replaced_incarnation_is_ordered_to_stop() -> None:
    coordinator = make_coordinator()
    assert coordinator.join(0, msgspec.msgpack.encode(Counters(fetched=40)), 5.0) == 1
    assert coordinator.report(make_report(0), 6.0).stop
    assert not coordinator.report(make_report(0, incarnation=1), 6.0).stop


def test_restart_of_a_shard_warns_with_the_number_of_lost_pages() -> None:
    coordinator = make_coordinator()
    coordinator.report(make_report(0, totals=Counters(fetched=50)), 1.0)
    coordinator.join(0, msgspec.msgpack.encode(Counters(fetched=40)), 5.0)
    assert coordinator.take_progress().warnings == [
        "shard 0 died and was restarted at page 40; 10 pages are fetched again"
    ]
    assert not coordinator.take_progress().warnings


def test_shards_stop_after_all_were_idle_in_two_rounds() -> None:
    coordinator = make_coordinator()
    orders = [coordinator.report(make_report(shard, idle_mark=(0, 2)), 1.0) for shard in (0, 1)]
    assert not any(order.stop for order in orders)
    known = orders[1].round
    assert not coordinator.report(make_report(0, idle_mark=(0, 2), known_round=known), 2.0).stop
    assert coordinator.report(make_report(1, idle_mark=(0, 2), known_round=known), 2.0).stop
    assert coordinator.report(make_report(0, idle_mark=(0, 2), known_round=known), 2.0).stop, (
        "all shards get the order to stop"
    )


@pytest.mark.parametrize(
    ("limits", "totals"),
    [
        ({"bytes": 100}, Counters(bytes=60)),
        ({"time": 9.0}, Counters(seconds=9.5)),
        ({"pages": 20}, Counters(fetched=10)),
    ],
)
def test_budget_used_up_by_all_shards_together_stops_the_crawl(limits: dict[str, float], totals: Counters) -> None:
    coordinator = make_coordinator(Job(seeds=JOB.seeds, shards=2, **limits))  # type: ignore[arg-type]
    coordinator.report(make_report(0, totals=totals), 1.0)
    assert coordinator.report(make_report(1, totals=totals), 1.0).stop


def test_time_limit_stops_shards_whose_totals_no_longer_change() -> None:
    coordinator = make_coordinator(Job(seeds=JOB.seeds, shards=2, time=9.0))
    assert not coordinator.report(make_report(0, totals=Counters(seconds=8.0)), 8.9).stop
    assert coordinator.report(make_report(0, totals=Counters(seconds=8.0)), 9.0).stop


def test_address_of_dead_shard_is_granted_to_its_peer_after_the_delay() -> None:
    coordinator = make_coordinator()
    assert [grant.address for grant in coordinator.report(make_report(0, wanted=["10.0.0.1"]), 0.0).grants] == [
        "10.0.0.1"
    ]
    assert not coordinator.report(make_report(1, wanted=["10.0.0.1"]), 0.1).grants
    orders = coordinator.report(make_report(0), 60.0)
    assert orders.recalls == ["10.0.0.1"]
    coordinator.join(0, msgspec.msgpack.encode(Counters()), 61.0)
    orders = coordinator.report(make_report(1), 62.0)
    assert [(grant.address, grant.wait) for grant in orders.grants] == [("10.0.0.1", JOB.host_delay / 2)]
