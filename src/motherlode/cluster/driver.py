"""The driver: starts the shards, starts them again when they die, and gives one stream of visits.

Ray does the placing and the restarting; the driver only asks each shard to run until it says that it has come to its
end. It looks like a `Engine` from outside: `visits`, `totals`, `stop`.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec
import ray
from ray.exceptions import RayActorError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from motherlode.cluster.actors import PLACE, CoordinatorActor, ShardActor
from motherlode.cluster.checkpoint_storage import CheckpointStorage
from motherlode.cluster.shard import ShardResult, ShardSpec
from motherlode.cluster.shard_messages import ShardProgress, Traffic
from motherlode.crawler import Counters, CrawlFolder, Job
from motherlode.crawler.stats.counters import sum_of
from motherlode.model import Visit

_PROGRESS_SECONDS = 0.3
_RESTART_SECONDS = 0.5
MOST_DEATHS = 20
"""Of one shard within `_DEATHS_SECONDS`: then something is wrong that starting it again does not mend."""
_DEATHS_SECONDS = 300.0
_SHARE = 0.01
"""Of a processor that Ray sets aside for a shard: next to nothing, so that survivors can take in a lost node's."""


@dataclass(slots=True)
class Overview:
    """How the frontiers of all shards stand, together."""

    host_count: int = 0
    waiting: int = 0
    in_flight: int = 0


class ShardedCrawl:
    """Ray must have been started (starting.py). Iterate over `visits()` once."""

    def __init__(
        self,
        job: Job,
        folder: CrawlFolder,
        *,
        cores: Mapping[int, Sequence[int]] | None = None,
        warn: Callable[[str], None] = lambda text: None,
    ) -> None:
        self._job = job
        self._folder = folder
        self._cores = cores or {}
        self._warn = warn
        self.totals = Counters()
        self.overview = Overview()
        self.traffic = Traffic()
        self._coordinator: Any = None
        self._shards: list[Any] = []
        self._outcomes: dict[int, ShardResult] = {}
        self._stopping = False
        self._number = 0
        self._token = secrets.token_hex(16)

    def stop(self) -> None:
        """Begin nothing new; `visits` ends when what is under way has ended."""
        self._stopping = True
        if self._coordinator is not None:
            self._coordinator.stop.remote()

    async def processes(self) -> list[int]:
        """The ids of the shards' processes."""
        found: list[int] = await asyncio.gather(*(shard.process.remote() for shard in self._shards))
        return found

    async def visits(self) -> AsyncGenerator[Visit, None]:
        """One visit for each URL that was asked for, from all shards, a moment after it ended."""
        self._start()
        running = [asyncio.create_task(self._keep_running(number)) for number in range(self._job.shards)]
        try:
            while not all(task.done() for task in running):
                await asyncio.wait(running, timeout=_PROGRESS_SECONDS, return_when=asyncio.FIRST_EXCEPTION)
                for task in running:
                    if task.done():
                        task.result()  # a shard that broke ends the crawl
                for visit in self._take(await self._progress()):
                    yield visit
            for visit in self._last():
                yield visit
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)
            for actor in (*self._shards, self._coordinator):
                ray.kill(actor)
        await asyncio.to_thread(self._gather)

    def _start(self) -> None:
        job = self._job
        (self._folder.path / PLACE).write_text(self._token)
        here = NodeAffinitySchedulingStrategy(node_id=ray.get_runtime_context().get_node_id(), soft=False)
        options: dict[str, Any] = {"num_cpus": 0, "scheduling_strategy": here}
        self._coordinator = ray.remote(CoordinatorActor).options(**options).remote(shards=job.shards, job=job)
        options = {"num_cpus": _SHARE, "scheduling_strategy": "SPREAD", "max_restarts": -1}
        nodes = [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU")]  # type: ignore[no-untyped-call]
        for number in range(job.shards):
            spec = ShardSpec(
                number=number,
                shards=job.shards,
                job=job,
                folder=self._folder.path.resolve(),
                nodes=max(1, len(nodes)),
                cores=tuple(self._cores.get(number, ())),
            )
            self._shards.append(ray.remote(ShardActor).options(**options).remote(spec))
        if self._stopping:
            self._coordinator.stop.remote()

    async def _keep_running(self, number: int) -> None:
        """Let a shard run, again and again, until it has come to its end."""
        deaths: list[float] = []
        while True:
            try:
                await self._check_place(number)
                self._outcomes[number] = await self._shards[number].run.remote(self._coordinator, self._shards)
                return
            except RayTaskError as error:  # an error of the shard's own, and no death
                raise OSError(f"shard {number} broke: {error.cause or error}") from error
            except RayActorError as error:
                now = time.monotonic()
                deaths = [when for when in deaths if now - when < _DEATHS_SECONDS] + [now]
                if len(deaths) > MOST_DEATHS:
                    raise OSError(f"shard {number} died {MOST_DEATHS} times in a row: {error}") from error
                await asyncio.sleep(_RESTART_SECONDS)

    async def _check_place(self, number: int) -> None:
        """Without checkpoints a shard must work in the folder that we see: its part of the crawl would be lost else."""
        if not self._job.state and not await self._shards[number].sees.remote(self._token):
            raise OSError(
                f"shard {number} runs on a machine that does not see {self._folder.path}: put the folder on a shared "
                'file system, or name a place for checkpoints in the job file, as in state = "s3://bucket/crawl"'
            )

    async def _progress(self) -> ShardProgress:
        try:
            progress: ShardProgress = await self._coordinator.progress.remote()
        except RayActorError as error:
            raise OSError(f"the coordinator of the shards has died: {error}") from error
        return progress

    def _take(self, progress: ShardProgress) -> list[Visit]:
        for text in progress.warnings:
            self._warn(text)
        # in place: whoever shows progress holds on to these objects
        fresh = msgspec.msgpack.decode(progress.totals, type=Counters)
        self._set_totals(fresh)
        self.overview.host_count = progress.hosts
        self.overview.waiting = progress.waiting
        self.overview.in_flight = progress.in_flight
        self.traffic = progress.traffic
        return self._numbered(progress.visits)

    def _set_totals(self, fresh: Counters) -> None:
        for name in Counters.__struct_fields__:
            setattr(self.totals, name, getattr(fresh, name))

    def _numbered(self, encoded: Sequence[bytes]) -> list[Visit]:
        decode = msgspec.msgpack.Decoder(Visit).decode
        visits = []
        for data in encoded:
            self._number += 1
            visits.append(replace(decode(data), number=self._number))
        return visits

    def _last(self) -> list[Visit]:
        """Visits that came after the shards' last reports."""
        ends = self._outcomes.values()
        self._set_totals(sum_of([msgspec.msgpack.decode(end.totals, type=Counters) for end in ends]))
        return self._numbered([data for end in ends for data in end.visits])

    def _gather(self) -> None:
        """Where shards worked on folders of their own machines, fetch their last checkpoints."""
        for number in range(self._job.shards) if self._job.state else ():
            CheckpointStorage(self._job.state, number).restore(
                CrawlFolder(self._folder.path / "shards" / f"{number:04d}")
            )
