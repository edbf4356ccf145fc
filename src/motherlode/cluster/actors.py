"""Shard and coordinator as Ray actors: the thin layer between this room and Ray."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import Any

import ray
from ray.exceptions import RayActorError

from motherlode.cluster.coordinator import Coordinator
from motherlode.cluster.shard import Shard, ShardResult, ShardSpec
from motherlode.cluster.shard_messages import Orders, ShardProgress, ShardReport
from motherlode.crawler import Job

PLACE = "place"
"""A file in the crawl's folder with a token of this run."""


class CoordinatorActor:
    """One for all shards."""

    def __init__(self, *, shards: int, job: Job) -> None:
        self._coordinator = Coordinator(shards=shards, job=job)

    async def joined(self, shard: int, totals: bytes) -> int:
        return self._coordinator.joined(shard, totals, time.monotonic())

    async def report(self, report: ShardReport) -> Orders:
        return self._coordinator.report(report, time.monotonic())

    async def progress(self) -> ShardProgress:
        return self._coordinator.progress()

    async def stop(self) -> None:
        self._coordinator.stop()


class ShardActor:
    """One a shard. Ray starts it again, on any node, with the same `spec`; the driver then calls `run` anew."""

    def __init__(self, spec: ShardSpec) -> None:
        if spec.cores:
            os.sched_setaffinity(0, spec.cores)
        self._folder = spec.folder
        self._shard = Shard(spec, node=ray.get_runtime_context().get_node_id()[:12])

    async def run(self, coordinator: Any, peers: Sequence[Any]) -> ShardResult:
        async def send(to: int, batch: bytes) -> bool:
            try:
                return bool(await peers[to].deliver.remote(batch))
            except RayActorError:  # it has died, or is being started again
                return False

        return await self._shard.run(_Board(coordinator), send)

    async def deliver(self, batch: bytes) -> bool:
        return await self._shard.deliver(batch)

    async def sees(self, token: str) -> bool:
        """Whether the crawl's folder is the one that the driver sees."""
        try:
            return (self._folder / PLACE).read_text() == token
        except OSError:
            return False

    async def process(self) -> int:
        return os.getpid()


class _Board:
    """The coordinator's handle, with types."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    async def joined(self, shard: int, totals: bytes) -> int:
        number: int = await self._handle.joined.remote(shard, totals)
        return number

    async def report(self, report: ShardReport) -> Orders:
        orders: Orders = await self._handle.report.remote(report)
        return orders
