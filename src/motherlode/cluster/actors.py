"""Shard and coordinator as Ray actors: a thin layer between `shard` and `coordinator` and Ray."""

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

TOKEN_FILE = "place"
"""Name of a file in the crawl folder that contains the random token of this run."""


class CoordinatorActor:
    """The coordinator of all shards."""

    def __init__(self, *, shards: int, job: Job) -> None:
        self._coordinator = Coordinator(shards=shards, job=job)

    async def join(self, shard: int, totals: bytes) -> int:
        return self._coordinator.join(shard, totals, time.monotonic())

    async def report(self, report: ShardReport) -> Orders:
        return self._coordinator.report(report, time.monotonic())

    async def progress(self) -> ShardProgress:
        return self._coordinator.take_progress()

    async def stop(self) -> None:
        self._coordinator.stop()


class ShardActor:
    """One shard. Ray restarts a dead actor on any node with the same `spec`. The driver then calls `run` again."""

    def __init__(self, spec: ShardSpec) -> None:
        if spec.cores:
            os.sched_setaffinity(0, spec.cores)
        self._folder = spec.folder
        self._shard = Shard(spec, node=ray.get_runtime_context().get_node_id()[:12])

    async def run(self, coordinator: Any, peers: Sequence[Any]) -> ShardResult:
        async def send(to: int, batch: bytes) -> bool:
            try:
                return bool(await peers[to].deliver.remote(batch))
            except RayActorError:  # the peer died or is being restarted
                return False

        return await self._shard.run(_CoordinatorHandle(coordinator), send)

    async def deliver(self, batch: bytes) -> bool:
        return await self._shard.deliver(batch)

    async def has_token(self, token: str) -> bool:
        """Return whether this node sees the same crawl folder as the driver, which wrote the token there."""
        try:
            return (self._folder / TOKEN_FILE).read_text() == token
        except OSError:
            return False

    async def process_id(self) -> int:
        return os.getpid()


class _CoordinatorHandle:
    """A typed wrapper of the coordinator's Ray handle."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    async def join(self, shard: int, totals: bytes) -> int:
        number: int = await self._handle.join.remote(shard, totals)
        return number

    async def report(self, report: ShardReport) -> Orders:
        orders: Orders = await self._handle.report.remote(report)
        return orders
