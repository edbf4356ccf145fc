"""Termination detection, and the messages between shards and coordinator, which Ray pickles."""

from __future__ import annotations

import pickle
from random import Random

import msgspec
import pytest

from motherlode.cluster.shard_messages import (
    IdleMark,
    Orders,
    ShardProgress,
    ShardReport,
    TerminationDetector,
    Traffic,
)
from motherlode.crawler.stats.counters import Counters
from motherlode.frontier import AddressGrant

SHARDS = 3
REPORT = ShardReport(
    shard=1,
    incarnation=2,
    totals=msgspec.msgpack.encode(Counters(fetched=3)),
    idle_mark=(2, 9),
    visits=(b"visit",),
    wanted=("10.0.0.1",),
    returned=(AddressGrant("10.0.0.1", 0.5, {"a.example": 1.0}),),
    traffic=Traffic(batches=1, links=2, bytes=3, suppressed=4),
)
ORDERS = Orders(limit=0, grants=(AddressGrant("10.0.0.1", 0.5),), recalls=("10.0.0.2",), deltas=(b"learned",))
PROGRESS = ShardProgress(
    visits=(b"v",), totals=b"", hosts=1, waiting=2, in_flight=3, traffic=Traffic(), warnings=("w",)
)


class SimulatedShards:
    """Shards that send work to each other. A report describes a shard at the time of sending and may arrive late."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self.work = [random.randrange(4) for _ in range(SHARDS)]
        self.deliveries = [0] * SHARDS
        self.known_rounds = [0] * SHARDS
        self.reports: list[tuple[int, IdleMark | None, int]] = []
        """Reports in transit: shard, mark and known round."""

    def has_ended(self) -> bool:
        return not any(self.work)

    def step(self, detector: TerminationDetector, *, send_probability: float) -> bool:
        """Do some work, send a report or deliver one. Return whether the detector says that the crawl is over."""
        shard = self._random.randrange(SHARDS)
        action = self._random.randrange(3)
        if action == 0 and self.work[shard]:
            self._do_work(shard, send_probability)
        elif action == 1 and not any(sender == shard for sender, _, _ in self.reports):
            mark = None if self.work[shard] else (0, self.deliveries[shard])
            self.reports.append((shard, mark, self.known_rounds[shard]))
        elif action == 2 and self.reports:
            sender, mark, known = self.reports.pop(self._random.randrange(len(self.reports)))
            ended = detector.record_report(sender, mark, known_round=known)
            self.known_rounds[sender] = detector.round
            return ended
        return False

    def _do_work(self, shard: int, send_probability: float) -> None:
        self.work[shard] -= 1
        if self._random.random() < send_probability:
            other = self._random.randrange(SHARDS)
            self.work[other] += 1
            self.deliveries[other] += 1


def test_termination_detector_with_late_reports_never_ends_early_and_always_ends() -> None:
    for seed in range(400):
        shards, detector = SimulatedShards(Random(seed)), TerminationDetector(SHARDS)
        for step in range(5000):
            if shards.step(detector, send_probability=0.8 if step < 300 else 0.0):
                assert shards.has_ended(), seed
                break
        else:
            raise AssertionError(f"seed {seed}: the end was not detected")


def test_termination_detector_after_restart_of_a_shard_begins_a_new_round() -> None:
    detector = TerminationDetector(2)
    detector.record_report(0, (0, 1), known_round=0)
    detector.record_report(1, (0, 1), known_round=0)
    assert not detector.record_report(0, (0, 1), known_round=1)
    assert not detector.record_report(1, (1, 0), known_round=1), "a new incarnation has a new mark"
    assert not detector.record_report(0, (0, 1), known_round=1)


@pytest.mark.parametrize("message", [REPORT, ORDERS, PROGRESS], ids=["report", "orders", "progress"])
def test_message_is_equal_after_pickling(message: ShardReport | Orders | ShardProgress) -> None:
    assert pickle.loads(pickle.dumps(message)) == message


def test_default_orders_let_the_shard_continue_without_limit() -> None:
    orders = Orders()
    assert (orders.stop, orders.limit, list(orders.grants), list(orders.recalls)) == (False, None, [], [])
    assert ORDERS.limit == 0, "a limit of 0 pages differs from no limit"


def test_default_report_describes_a_shard_that_is_not_idle() -> None:
    report = ShardReport(shard=0, incarnation=0, totals=b"")
    assert report.idle_mark is None
    assert report.traffic == Traffic()


def test_messages_are_immutable() -> None:
    with pytest.raises(AttributeError):
        ORDERS.stop = True  # type: ignore[misc]
