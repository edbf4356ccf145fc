from __future__ import annotations

import msgspec
import pytest

from motherlode.cluster.coordinator import Coordinator
from motherlode.cluster.shard_messages import ShardReport
from motherlode.crawler import Counters, Job

JOB = Job(seeds=("http://a.example/",), shards=2)


def report(shard: int, *, incarnation: int = 0, totals: Counters | None = None, **changes: object) -> ShardReport:
    encoded = msgspec.msgpack.encode(totals or Counters())
    return ShardReport(shard=shard, incarnation=incarnation, totals=encoded, **changes)  # type: ignore[arg-type]


def begun(job: Job = JOB) -> Coordinator:
    coordinator = Coordinator(shards=2, job=job)
    for shard in range(2):
        assert coordinator.join(shard, msgspec.msgpack.encode(Counters()), 0.0) == 0
    return coordinator


def test_what_one_shard_learns_reaches_the_others_once() -> None:
    coordinator = begun()
    assert not coordinator.report(report(0, delta=b"one"), 1.0).deltas, "nobody gets back what he said"
    coordinator.report(report(0, delta=b"two"), 2.0)
    assert coordinator.report(report(1), 3.0).deltas == [b"one", b"two"]
    assert not coordinator.report(report(1), 4.0).deltas


def test_an_incarnation_that_was_replaced_is_told_to_stop() -> None:
    coordinator = begun()
    assert coordinator.join(0, msgspec.msgpack.encode(Counters(fetched=40)), 5.0) == 1
    assert coordinator.report(report(0), 6.0).stop
    assert not coordinator.report(report(0, incarnation=1), 6.0).stop


def test_a_death_is_told_with_what_it_cost() -> None:
    coordinator = begun()
    coordinator.report(report(0, totals=Counters(fetched=50)), 1.0)
    coordinator.join(0, msgspec.msgpack.encode(Counters(fetched=40)), 5.0)
    assert coordinator.take_progress().warnings == [
        "shard 0 died and was restarted at page 40; 10 pages are fetched again"
    ]
    assert not coordinator.take_progress().warnings


def test_it_is_over_when_all_rest_and_not_before() -> None:
    coordinator = begun()
    orders = [coordinator.report(report(shard, idle_mark=(0, 2)), 1.0) for shard in (0, 1)]
    assert not any(order.stop for order in orders)
    known = orders[1].round
    assert not coordinator.report(report(0, idle_mark=(0, 2), known_round=known), 2.0).stop
    assert coordinator.report(report(1, idle_mark=(0, 2), known_round=known), 2.0).stop
    assert coordinator.report(report(0, idle_mark=(0, 2), known_round=known), 2.0).stop, "everyone hears of it"


@pytest.mark.parametrize(
    ("limits", "totals"),
    [
        ({"bytes": 100}, Counters(bytes=60)),
        ({"time": 9.0}, Counters(seconds=9.5)),
        ({"pages": 20}, Counters(fetched=10)),
    ],
)
def test_budgets_count_over_all_shards(limits: dict[str, float], totals: Counters) -> None:
    coordinator = begun(Job(seeds=JOB.seeds, shards=2, **limits))  # type: ignore[arg-type]
    coordinator.report(report(0, totals=totals), 1.0)
    assert coordinator.report(report(1, totals=totals), 1.0).stop


def test_an_address_is_handed_from_shard_to_shard() -> None:
    coordinator = begun()
    assert [lease.address for lease in coordinator.report(report(0, wanted=["10.0.0.1"]), 0.0).grants] == ["10.0.0.1"]
    assert not coordinator.report(report(1, wanted=["10.0.0.1"]), 0.1).grants
    held = coordinator.report(report(0), 60.0)
    assert held.recalls == ["10.0.0.1"]
    coordinator.join(0, msgspec.msgpack.encode(Counters()), 61.0)
    orders = coordinator.report(report(1), 62.0)
    assert [(lease.address, lease.wait) for lease in orders.grants] == [("10.0.0.1", JOB.host_delay / 2)]
