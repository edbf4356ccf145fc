"""The thin layer between shards and Ray, without a cluster: what crosses it arrives, and a death is a value."""

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

from motherlode.cluster import actors
from motherlode.cluster.actors import TOKEN_FILE, CoordinatorActor, ShardActor

JOB = Job(seeds=("http://a.example/",), shards=2)
NOTHING = msgspec.msgpack.encode(Counters())


class Handle:
    """An actor's handle as Ray makes one: each method has a `remote`, whose answer is awaited."""

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
    """Joins, reports once, sends one batch to the other shard, and keeps what is delivered."""

    def __init__(self, spec: ShardSpec, *, node: str) -> None:
        self.number = spec.number
        self.node = node
        self.delivered: list[bytes] = []
        self.arrived: bool | None = None

    async def run(self, board: CoordinatorClient, send: Callable[[int, bytes], Awaitable[bool]]) -> ShardResult:
        incarnation = await board.join(self.number, NOTHING)
        orders = await board.report(ShardReport(shard=self.number, incarnation=incarnation, totals=NOTHING))
        assert isinstance(orders, Orders)
        self.arrived = await send(1 - self.number, b"links")
        return ShardResult(totals=NOTHING, visits=[b"stopped" if orders.stop else b"going"])

    async def deliver(self, batch: bytes) -> bool:
        self.delivered.append(batch)
        return True


@pytest.fixture
def make(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., ShardActor]:
    monkeypatch.setattr(actors, "Shard", FakeShard)
    context = SimpleNamespace(get_node_id=lambda: "0123456789abcdef")
    monkeypatch.setattr(actors.ray, "get_runtime_context", lambda: context)

    def made(number: int, **more: Any) -> ShardActor:
        return ShardActor(ShardSpec(number=number, shards=2, job=JOB, folder=tmp_path, **more))

    return made


def inner(actor: ShardActor) -> FakeShard:
    shard = actor._shard
    assert isinstance(shard, FakeShard)
    return shard


async def test_shards_reach_the_coordinator_and_each_other(make: Callable[..., ShardActor]) -> None:
    one, other, board = make(0), make(1), Handle(CoordinatorActor(shards=2, job=JOB))
    outcome = await one.run(board, [Handle(one), Handle(other)])
    assert outcome.visits == [b"going"]
    assert (inner(one).arrived, inner(other).delivered) == (True, [b"links"])
    assert inner(one).node == "0123456789ab", "of the node's name, what tells it apart"


async def test_a_neighbour_that_has_died_is_no_error_but_an_answer(make: Callable[..., ShardActor]) -> None:
    one, other = make(0), make(1)
    await one.run(Handle(CoordinatorActor(shards=2, job=JOB)), [Handle(one), Handle(other, dead=True)])
    assert (inner(one).arrived, inner(other).delivered) == (False, [])


async def test_the_death_of_the_coordinator_ends_a_shard(make: Callable[..., ShardActor]) -> None:
    one = make(0)
    with pytest.raises(RayActorError):
        await one.run(Handle(None, dead=True), [Handle(one), Handle(one)])


async def test_a_shard_that_starts_again_is_a_new_incarnation_and_the_watcher_hears_of_it() -> None:
    coordinator = CoordinatorActor(shards=2, job=JOB)
    assert await coordinator.join(0, NOTHING) == 0
    assert await coordinator.join(0, NOTHING) == 1
    old, new = (ShardReport(shard=0, incarnation=number, totals=NOTHING, hosts=3) for number in (0, 1))
    assert (await coordinator.report(old)).stop
    assert not (await coordinator.report(new)).stop
    told = await coordinator.progress()
    assert told.hosts == 3
    assert len(told.warnings) == 1
    await coordinator.stop()
    assert (await coordinator.report(new)).stop


async def test_whether_all_see_the_same_folder(make: Callable[..., ShardActor], tmp_path: Path) -> None:
    shard = make(0)
    assert not await shard.has_token("token")
    (tmp_path / TOKEN_FILE).write_text("token")
    assert await shard.has_token("token")
    assert not await shard.has_token("that of another run")
    assert await shard.process_id() == os.getpid()


def test_a_shard_stays_on_its_cores(make: Callable[..., ShardActor], monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, tuple[int, ...]]] = []
    monkeypatch.setattr(os, "sched_setaffinity", lambda process, cores: asked.append((process, cores)))
    make(0)
    make(1, cores=(1,))
    assert asked == [(0, (1,))]
