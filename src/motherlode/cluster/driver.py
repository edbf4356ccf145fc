"""The driver: runs shards and coordinator as Ray actors, restarts dead shards, and merges all visits into one stream.

Ray chooses the nodes and restarts the actors. The driver calls `run` of each shard until the shard returns its result.
`ShardedCrawl` has the interface of an `Engine`: `visits`, `totals`, `stop`.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import ray
from ray.exceptions import RayActorError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from motherlode.cluster.checkpoint_storage import CheckpointStorage
from motherlode.cluster.coordinator import Coordinator
from motherlode.cluster.remote_parsers import parsers_on_ray
from motherlode.cluster.shard import CoordinatorClient, Shard, ShardResult, ShardSpec
from motherlode.cluster.shard_messages import Orders, ShardProgress, ShardReport, Traffic
from motherlode.crawler import Counters, CrawlFolder, Job
from motherlode.crawler.engine.limits import ControlFile
from motherlode.crawler.recrawl.refresh_plan import RefreshPlan
from motherlode.crawler.stats.counters import sum_of
from motherlode.model import Visit
from motherlode.policies.extensions import added_policies

_PROGRESS_SECONDS = 0.3
_RESTART_SECONDS = 0.5
MAX_DEATHS = 20
"""Maximum number of deaths of one shard within `_DEATH_WINDOW_SECONDS`. After more, the crawl ends with an error."""
_DEATH_WINDOW_SECONDS = 300.0
_SHARD_CPUS = 0.01
"""Processors that Ray reserves for a shard: few, so that the other nodes can take over the shards of a lost node."""
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

    async def change_budget(self, pages: int) -> None:
        self._coordinator.change_budget(pages)


class ShardActor:
    """One shard. Ray restarts a dead actor on any node with the same `spec`. The driver then calls `run` again."""

    def __init__(self, spec: ShardSpec) -> None:
        if spec.cores:
            os.sched_setaffinity(0, spec.cores)
        for policy in spec.policies:
            policy.register()
        self._folder = spec.folder
        make_parsers = parsers_on_ray(spec.job.ray_parsers) if spec.job.ray_parsers else None
        self._shard = Shard(spec, node=ray.get_runtime_context().get_node_id()[:12], make_parsers=make_parsers)

    async def run(self, coordinator: Any, peers: Sequence[Any]) -> ShardResult:
        async def send(to: int, batch: bytes) -> bool:
            try:
                return bool(await peers[to].deliver.remote(batch))
            except RayActorError:  # the peer died or is being restarted
                return False

        client = SimpleNamespace(join=coordinator.join.remote, report=coordinator.report.remote)
        return await self._shard.run(cast(CoordinatorClient, client), send)

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


# ── Driver ───────────────────────────────────────────────────────────────────────────────────────────


@dataclass(slots=True)
class Overview:
    """Numbers of hosts, waiting URLs and URLs in flight, summed over the frontiers of all shards."""

    host_count: int = 0
    waiting: int = 0
    in_flight: int = 0


class ShardedCrawl:
    """A crawl by several shards. Call it inside `running_ray`, and iterate over `visits()` once."""

    def __init__(
        self,
        job: Job,
        folder: CrawlFolder,
        *,
        cores: Mapping[int, Sequence[int]] | None = None,
        refresh: Sequence[RefreshPlan] = (),
        warn: Callable[[str], None] = lambda text: None,
    ) -> None:
        self._job = job
        self._folder = folder
        self._cores = cores or {}
        self._refresh = refresh
        """The plans of the shards by their numbers; empty if the run is no refresh."""
        self._control = ControlFile(folder)
        self._warn = warn
        self.totals = Counters()
        self.overview = Overview()
        self.traffic = Traffic()
        self._coordinator: Any = None
        self._shards: list[Any] = []
        self._results: dict[int, ShardResult] = {}
        self._stopping = False
        self._number = 0
        self._token = secrets.token_hex(16)

    def stop(self) -> None:
        """Start no new request. `visits` ends when the requests in flight have ended."""
        self._stopping = True
        if self._coordinator is not None:
            self._coordinator.stop.remote()

    def limit_pages(self, pages: int) -> None:
        """Replace the page budget of the whole crawl."""
        if self._coordinator is not None:
            self._coordinator.change_budget.remote(pages)

    async def process_ids(self) -> list[int]:
        found: list[int] = await asyncio.gather(*(shard.process_id.remote() for shard in self._shards))
        return found

    async def visits(self) -> AsyncGenerator[Visit, None]:
        """Yield one visit per requested URL, from all shards, shortly after its request has ended."""
        self._control.clear()
        self._start()
        running = [asyncio.create_task(self._keep_running(number)) for number in range(self._job.shards)]
        try:
            while not all(task.done() for task in running):
                await asyncio.wait(running, timeout=_PROGRESS_SECONDS, return_when=asyncio.FIRST_EXCEPTION)
                self._control.follow(self, time.monotonic())
                for task in running:
                    if task.done():
                        task.result()  # raises the error of a failed shard
                for visit in self._apply_progress(await self._fetch_progress()):
                    yield visit
            for visit in self._take_final_visits():
                yield visit
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)
            for actor in (*self._shards, self._coordinator):
                ray.kill(actor)
        await asyncio.to_thread(self._restore_checkpoints)

    def _start(self) -> None:
        job = self._job
        (self._folder.path / TOKEN_FILE).write_text(self._token)
        here = NodeAffinitySchedulingStrategy(node_id=ray.get_runtime_context().get_node_id(), soft=False)
        options: dict[str, Any] = {"num_cpus": 0, "scheduling_strategy": here}
        self._coordinator = ray.remote(CoordinatorActor).options(**options).remote(shards=job.shards, job=job)
        options = {"num_cpus": _SHARD_CPUS, "scheduling_strategy": "SPREAD", "max_restarts": -1}
        nodes = [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU")]  # type: ignore[no-untyped-call]
        for number in range(job.shards):
            spec = ShardSpec(
                number=number,
                shards=job.shards,
                job=job,
                folder=self._folder.path.resolve(),
                nodes=max(1, len(nodes)),
                cores=tuple(self._cores.get(number, ())),
                policies=added_policies([job.policy]),
                refresh=self._refresh[number] if self._refresh else None,
            )
            self._shards.append(ray.remote(ShardActor).options(**options).remote(spec))
        if self._stopping:
            self._coordinator.stop.remote()

    async def _keep_running(self, number: int) -> None:
        """Run a shard, again after each death, until it returns its result."""
        deaths: list[float] = []
        while True:
            try:
                await self._check_folder(number)
                self._results[number] = await self._shards[number].run.remote(self._coordinator, self._shards)
                return
            except RayTaskError as error:  # an exception in the shard, whose process is alive
                raise OSError(f"shard {number} failed: {error.cause or error}") from error
            except RayActorError as error:
                now = time.monotonic()
                deaths = [when for when in deaths if now - when < _DEATH_WINDOW_SECONDS] + [now]
                if len(deaths) > MAX_DEATHS:
                    raise OSError(
                        f"shard {number} died more than {MAX_DEATHS} times in {_DEATH_WINDOW_SECONDS:g} s: {error}"
                    ) from error
                await asyncio.sleep(_RESTART_SECONDS)

    async def _check_folder(self, number: int) -> None:
        """Raise OSError if the pages of a shard would be lost: no checkpoints, and no access to the crawl folder."""
        if not self._job.state and not await self._shards[number].has_token.remote(self._token):
            raise OSError(
                f"shard {number} runs on a machine that cannot read {self._folder.path}: put the folder on a shared "
                'file system, or set a URL for checkpoints in the job file, for example state = "s3://bucket/crawl"'
            )

    async def _fetch_progress(self) -> ShardProgress:
        try:
            progress: ShardProgress = await self._coordinator.progress.remote()
        except RayActorError as error:
            raise OSError(f"the coordinator of the shards died: {error}") from error
        return progress

    def _apply_progress(self, progress: ShardProgress) -> list[Visit]:
        for text in progress.warnings:
            self._warn(text)
        # updated in place, because the progress display keeps references to these objects
        fresh = msgspec.msgpack.decode(progress.totals, type=Counters)
        self._set_totals(fresh)
        self.overview.host_count = progress.hosts
        self.overview.waiting = progress.waiting
        self.overview.in_flight = progress.in_flight
        self.traffic = progress.traffic
        return self._number_visits(progress.visits)

    def _set_totals(self, fresh: Counters) -> None:
        for name in Counters.__struct_fields__:
            setattr(self.totals, name, getattr(fresh, name))

    def _number_visits(self, encoded: Sequence[bytes]) -> list[Visit]:
        decode = msgspec.msgpack.Decoder(Visit).decode
        visits = []
        for data in encoded:
            self._number += 1
            visit = decode(data)
            # no other reference to it exists; dataclasses.replace takes ten times as long as decoding (11 µs and 1 µs)
            object.__setattr__(visit, "number", self._number)
            visits.append(visit)
        return visits

    def _take_final_visits(self) -> list[Visit]:
        """Return the visits after the last reports of the shards, and set the final totals."""
        results = self._results.values()
        self._set_totals(sum_of([msgspec.msgpack.decode(result.totals, type=Counters) for result in results]))
        return self._number_visits([data for result in results for data in result.visits])

    def _restore_checkpoints(self) -> None:
        """Restore the last checkpoints into the crawl folder if the shards wrote checkpoints."""
        for number in range(self._job.shards) if self._job.state else ():
            CheckpointStorage(self._job.state, number).restore(
                CrawlFolder(self._folder.path / "shards" / f"{number:04d}")
            )
