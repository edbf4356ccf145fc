"""What shards and coordinator say to each other crosses machines: it must arrive as it was sent."""

from __future__ import annotations

import pickle

import msgspec
import pytest

from motherlode.cluster.grants import AddressGrant
from motherlode.cluster.shard_messages import Orders, ShardProgress, ShardReport, Traffic
from motherlode.crawler.stats.counters import Counters

REPORT = ShardReport(
    shard=1,
    incarnation=2,
    totals=msgspec.msgpack.encode(Counters(fetched=3)),
    rest=(2, 9),
    visits=(b"visit",),
    wanted=("10.0.0.1",),
    returned=(AddressGrant("10.0.0.1", 0.5, {"a.example": 1.0}),),
    traffic=Traffic(letters=1, links=2, bytes=3, suppressed=4),
)
ORDERS = Orders(limit=0, leases=(AddressGrant("10.0.0.1", 0.5),), recalls=("10.0.0.2",), deltas=(b"learned",))
PROGRESS = ShardProgress(
    visits=(b"v",), totals=b"", hosts=1, waiting=2, in_flight=3, traffic=Traffic(), warnings=("w",)
)


@pytest.mark.parametrize("message", [REPORT, ORDERS, PROGRESS])
def test_a_message_survives_its_way(message: ShardReport | Orders | ShardProgress) -> None:
    assert pickle.loads(pickle.dumps(message)) == message


def test_silence_means_go_on() -> None:
    orders = Orders()
    assert (orders.stop, orders.limit, list(orders.leases), list(orders.recalls)) == (False, None, [], [])
    assert ORDERS.limit == 0, "no page at all is not the same as no limit"


def test_a_shard_that_says_nothing_of_its_rest_is_at_work() -> None:
    report = ShardReport(shard=0, incarnation=0, totals=b"")
    assert report.rest is None
    assert report.traffic == Traffic()


def test_no_message_can_be_changed_on_its_way() -> None:
    with pytest.raises(AttributeError):
        ORDERS.stop = True  # type: ignore[misc]
