"""Actors without a Ray cluster: calls and results pass through, and a dead peer is a value, not an exception."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from motherlode.cluster.shard import CoordinatorClient, ShardResult, ShardSpec
from motherlode.cluster.shard_messages import Orders, ShardReport
from motherlode.crawler import Counters, Job

pytest.importorskip("ray", reason='these tests need Ray: pip install "motherlode[ray]"')

from ray.exceptions import RayActorError

from motherlode.cluster import driver
from motherlode.cluster.driver import TOKEN_FILE, CoordinatorActor, ShardActor

JOB = Job(seeds=("http://a.example/",), shards=2)
EMPTY_TOTALS = msgspec.msgpack.encode(Counters())


class Handle:
    """A handle like those of Ray: each method has a `remote` function that returns an awaitable."""

    def __init__(self, actor: object, *, dead: bool = False) -> None:
        self._actor = actor
        self.dead = dead

    def __getattr__(self, name: str) -> object:
        async def call(*arguments: object) -> object:
            if self.dead:
                raise RayActorError
            return await getattr(self._actor, name)(*arguments)

        return SimpleNamespace(remote=call)


class FakeShard:
    """A shard that joins, reports once, sends one batch to the other shard, and records delivered batches."""

    def __init__(self, spec: ShardSpec, *, node: str, make_parsers: object = None) -> None:
        self.number = spec.number
        self.node = node
        self.delivered: list[bytes] = []
        self.was_delivered: bool | None = None

    async def run(self, coordinator: CoordinatorClient, send: Callable[[int, bytes], Awaitable[bool]]) -> ShardResult:
        incarnation = await coordinator.join(self.number, EMPTY_TOTALS)
        orders = await coordinator.report(ShardReport(shard=self.number, incarnation=incarnation, totals=EMPTY_TOTALS))
        assert isinstance(orders, Orders)
        self.was_delivered = await send(1 - self.number, b"links")
        return ShardResult(totals=EMPTY_TOTALS, visits=[b"stopped" if orders.stop else b"running"])

    async def deliver(self, batch: bytes) -> bool:
        self.delivered.append(batch)
        return True


@pytest.fixture
def make(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., ShardActor]:
    monkeypatch.setattr(driver, "Shard", FakeShard)
    context = SimpleNamespace(get_node_id=lambda: "0123456789abcdef")
    monkeypatch.setattr(driver.ray, "get_runtime_context", lambda: context)

    def make_actor(number: int, **more: Any) -> ShardActor:
        return ShardActor(ShardSpec(number=number, shards=2, job=JOB, folder=tmp_path, **more))

    return make_actor


def inner(actor: ShardActor) -> FakeShard:
    shard = actor._shard
    assert isinstance(shard, FakeShard)
    return shard


async def test_shard_actor_reaches_coordinator_and_peers(make: Callable[..., ShardActor]) -> None:
    one, other, coordinator = make(0), make(1), Handle(CoordinatorActor(shards=2, job=JOB))
    result = await one.run(coordinator, [Handle(one), Handle(other)])
    assert result.visits == [b"running"]
    assert (inner(one).was_delivered, inner(other).delivered) == (True, [b"links"])
    assert inner(one).node == "0123456789ab", "the first 12 characters of the node id"


async def test_sending_to_a_dead_peer_returns_false(make: Callable[..., ShardActor]) -> None:
    one, other = make(0), make(1)
    await one.run(Handle(CoordinatorActor(shards=2, job=JOB)), [Handle(one), Handle(other, dead=True)])
    assert (inner(one).was_delivered, inner(other).delivered) == (False, [])


async def test_shard_actor_without_coordinator_raises(make: Callable[..., ShardActor]) -> None:
    one = make(0)
    with pytest.raises(RayActorError):
        await one.run(Handle(None, dead=True), [Handle(one), Handle(one)])


async def test_restarted_shard_is_a_new_incarnation_and_gives_a_warning() -> None:
    coordinator = CoordinatorActor(shards=2, job=JOB)
    assert await coordinator.join(0, EMPTY_TOTALS) == 0
    assert await coordinator.join(0, EMPTY_TOTALS) == 1
    old, new = (ShardReport(shard=0, incarnation=number, totals=EMPTY_TOTALS, hosts=3) for number in (0, 1))
    assert (await coordinator.report(old)).stop
    assert not (await coordinator.report(new)).stop
    progress = await coordinator.progress()
    assert progress.hosts == 3
    assert len(progress.warnings) == 1
    await coordinator.stop()
    assert (await coordinator.report(new)).stop


async def test_shard_actor_has_token_only_if_it_sees_the_folder_of_this_run(
    make: Callable[..., ShardActor], tmp_path: Path
) -> None:
    shard = make(0)
    assert not await shard.has_token("token")
    (tmp_path / TOKEN_FILE).write_text("token")
    assert await shard.has_token("token")
    assert not await shard.has_token("token of another run")
    assert await shard.process_id() == os.getpid()


def test_shard_actor_with_cores_sets_its_processor_affinity(
    make: Callable[..., ShardActor], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[tuple[int, tuple[int, ...]]] = []
    monkeypatch.setattr(os, "sched_setaffinity", lambda process, cores: calls.append((process, cores)))
    make(0)
    make(1, cores=(1,))
    assert calls == [(0, (1,))]
