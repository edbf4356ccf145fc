"""A simulation of shards in one thread under virtual time, from a seed: coordinator, outboxes, grants and commits.

Real are the coordinator, the reporting and delivery of `Shard`, the outbox, and the frontier with its address grants.
Simulated are the web, the storage (a commit keeps a copy of it), the clocks, and the network between shards:

- Deliveries between shards are delayed, lost before or after they arrive, and duplicated.
- Calls to the coordinator are delayed, or wait for the end of a partition. A lost call ends its shard, as Ray does.
- Some messages are delayed much longer than others, and messages arrive although their sender has crashed.
- Shards crash, lose all that was not committed, and restart at once or later, with another clock offset.
- The whole crawl is killed, with its coordinator, and resumed. Then some shards start much later than others, and some
  folders are those of an earlier version, which did not save the time of the last commit.

`make simulate-shards` runs many seeds. A failing seed fails again in the same process, and with the same
PYTHONHASHSEED in another one, because the coordinator iterates over sets of addresses.
"""

from __future__ import annotations

import argparse
import asyncio
import copy
import logging
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

import msgspec

from motherlode.cluster import outbox as outbox_module
from motherlode.cluster import shard as shard_module
from motherlode.cluster.coordinator import Coordinator
from motherlode.cluster.outbox import LinkBatch, Outbox, unpack
from motherlode.cluster.partitioner import owner_of
from motherlode.cluster.shard import Shard, ShardSpec
from motherlode.cluster.shard_messages import Orders, ShardReport
from motherlode.crawler import Counters, Job
from motherlode.crawler.engine.limits import cancel
from motherlode.frontier import End, Frontier, Lease, MemoryStorage, Politeness, UrlState, leases
from motherlode.model import Link, LinkSource, RequestKind
from motherlode.www.urls import host_of
from tests.cluster.simulated_world import VirtualLoop, World
from tests.frontier.fakes import BestOf

HOST_DELAY = 1.0
MAX_SECONDS = 2_000.0
"""Virtual seconds within which every simulated crawl must end."""
_Result = TypeVar("_Result")
_SLOTS = 4
_MAX_WAIT_SECONDS = 60.0
"""Longest time for which a failure postpones a URL, and to which implausible saved times are cut."""
_MIN_WAIT_SECONDS = 0.001
_PROGRESS_SEEDS = 1_000
_RECENT_URLS = 1 << 8
"""Remembered URLs of an outbox. There are fewer than 50 pages, and each start of a shard makes a new list."""
_MAX_INCARNATIONS = 1_000_000
_MAX_DRIFT = 0.001


def copy_storage(storage: MemoryStorage) -> MemoryStorage:
    """Return the storage as a commit leaves it on disk."""
    kept = MemoryStorage()
    for name, value in vars(storage).items():
        setattr(kept, name, copy.copy(value))
    kept._queues = {arm: list(queue) for arm, queue in storage._queues.items()}
    kept._hosts = {name: copy.copy(host) for name, host in storage._hosts.items()}
    return kept


def forget_commit_time(storage: MemoryStorage) -> None:
    """Remove the time of the last commit, which earlier versions did not save."""
    saved = storage.note("frontier")
    if saved is not None:
        state = msgspec.msgpack.decode(saved)
        del state["now"]
        storage.put_note("frontier", msgspec.msgpack.encode(state))


class SimulatedEngine:
    """Fetches the pages of one incarnation. It has the interface of `Engine` that `Shard` uses."""

    is_early_stopped = False

    def __init__(self, world: World, number: int, storage: MemoryStorage, outbox: Outbox) -> None:
        self._world, self.number, self._storage, self._outbox = world, number, storage, outbox
        self._offset = world.random.uniform(*world.clock_offsets)
        self._drift = 1.0 + world.random.uniform(-_MAX_DRIFT, _MAX_DRIFT)
        saved = storage.note("totals")
        self.totals = msgspec.msgpack.decode(saved, type=Counters) if saved else Counters()
        self.incarnation = 0
        self._limit = 1 << 62
        self._pages_in_flight = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._has_changed = asyncio.Event()
        self.is_stopping = False
        politeness = Politeness(
            delay=HOST_DELAY,
            by_address=True,
            address_delay=world.address_delay,
            uses_grants=True,
            retry_wait=_MAX_WAIT_SECONDS / leases.MAX_SNOOZE_UNITS,
        )
        self.frontier = Frontier(
            storage=storage,
            policy=BestOf(),
            scope=lambda url: "",
            read_rules=None,
            politeness=politeness,
            keep_own=outbox.keep_own,
        )
        self.frontier.check_clock(self.now())

    def now(self) -> float:
        """Return the time of this shard's clock."""
        return self._offset + self._drift * asyncio.get_running_loop().time()

    @property
    def is_idle(self) -> bool:
        return not self._tasks and self.frontier.exhausted

    @property
    def pages_started(self) -> int:
        return self.totals.fetched + self._pages_in_flight

    def limit_pages(self, pages: int) -> None:
        self._limit = pages

    def wake_up(self) -> None:
        self._has_changed.set()

    def stop(self) -> None:
        self.is_stopping = True
        self.wake_up()

    async def run(self) -> MemoryStorage:
        """Crawl until stopped, and return the last commit. Cancelling it is a crash."""
        self.frontier.add_links([Link(url=self._world.seed_url, source=LinkSource.SEED)], parent=None)
        commit_at = 0.0
        try:
            while not self.is_stopping or self._tasks:
                while not self.is_stopping and len(self._tasks) < _SLOTS and self.pages_started < self._limit:
                    lease = self.frontier.lease(self.now())
                    if lease is None:
                        break
                    self._pages_in_flight += lease.kind is RequestKind.PAGE
                    task = asyncio.create_task(self._fetch(lease))
                    self._tasks.add(task)
                    task.add_done_callback(self._end_task)
                await self._wait_for_change(commit_at)
                if asyncio.get_running_loop().time() >= commit_at:
                    self.commit()
                    commit_at = asyncio.get_running_loop().time() + self._world.random.uniform(0.2, 2.0)
            self.commit()
            return self._storage
        finally:
            for task in self._tasks:
                task.cancel()

    def _end_task(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self.wake_up()

    async def _wait_for_change(self, commit_at: float) -> None:
        """Wait until a request may be made, or until the next commit."""
        loop = asyncio.get_running_loop()
        wait, ready_at = commit_at - loop.time(), self.frontier.idle_until()
        if ready_at is not None and len(self._tasks) < _SLOTS and self.pages_started < self._limit:
            wait = min(wait, ready_at - self.now())
        timer = loop.call_later(max(wait, 0.0) + _MIN_WAIT_SECONDS, self.wake_up)
        try:
            await self._has_changed.wait()
        finally:
            timer.cancel()
            self._has_changed.clear()

    def commit(self) -> None:
        self._outbox.prepare_commit(self._storage.put_note)
        self._storage.put_note("totals", msgspec.msgpack.encode(self.totals))
        self.frontier.commit()
        self.committed = copy_storage(self._storage)
        self._outbox.committed()

    async def _fetch(self, lease: Lease) -> None:
        world, address = self._world, self._world.addresses[lease.host]
        if lease.kind is RequestKind.RESOLVE:
            await asyncio.sleep(0.01)
            self.frontier.end(lease, End.RESOLVED, self.now(), address=address)
            return
        world.requests.append((asyncio.get_running_loop().time(), self.number, self.incarnation, lease.url))
        await asyncio.sleep(world.random.uniform(0.01, 0.5))
        self.frontier.response_received(lease, self.now(), address=address)
        links = [Link(url=url, source=LinkSource.ANCHOR) for url in world.links[lease.url]]
        self.frontier.add_links(links, parent=None)
        self.frontier.end(lease, End.FETCHED, self.now())
        self.totals.fetched += 1
        self._pages_in_flight -= 1


class Cluster:
    """All shards of a simulated crawl."""

    def __init__(self, world: World, job: Job) -> None:
        self.world = world
        self.job = job
        self.coordinator = Coordinator(shards=world.shards, job=job)
        self.running: dict[int, Shard] = {}
        self._messages: set[asyncio.Task[Any]] = set()
        self._resumes = 0
        self.disks = {number: MemoryStorage() for number in range(world.shards)}

    async def run(self) -> None:
        async with asyncio.timeout(MAX_SECONDS):
            if not await self._run_until_killed():
                await self._run_shards()

    async def _run_until_killed(self) -> bool:
        """Run all shards until the whole crawl is killed, and prepare its resume. Return whether it ended before."""
        try:
            async with asyncio.timeout(self.world.killed_after):
                await self._run_shards()
            return True
        except TimeoutError:
            await cancel(list(self._messages))
            self.coordinator = Coordinator(shards=self.world.shards, job=self.job)
            self.running = {}
            self._resumes += 1
            if self.world.are_times_unsaved:
                self.world.clock_offsets = (1e5, 1e6)
                for disk in self.disks.values():
                    forget_commit_time(disk)
            self.world.last_crash, self.world.stopped_at = asyncio.get_running_loop().time(), None
            return False

    async def _run_shards(self) -> None:
        await asyncio.gather(*(self._keep_running(number) for number in range(self.world.shards)))

    async def _keep_running(self, number: int) -> None:
        """Run the incarnations of a shard until one was ordered to stop."""
        if self._resumes:
            await asyncio.sleep(self.world.late_starts[number])
        while not await self._run_incarnation(number):
            self.world.last_crash = asyncio.get_running_loop().time()
            self.running.pop(number, None)
            await asyncio.sleep(self.world.random.choice((0.02, self.world.random.uniform(0.1, 5.0))))

    async def _run_incarnation(self, number: int) -> bool:
        """Run one incarnation. Return False if it crashed."""
        storage = copy_storage(self.disks[number])
        spec = ShardSpec(number=number, shards=self.world.shards, job=self.job, folder=Path("simulated"))
        shard, outbox = Shard(spec), Outbox(storage, own=number, shards=self.world.shards, reason=lambda url: "")
        engine = SimulatedEngine(self.world, number, storage, outbox)
        engine.committed = copy_storage(storage)
        assembled: Any = SimpleNamespace(
            engine=engine, frontier=engine.frontier, policy=BestOf(), clock=engine, storage=storage
        )
        shard._assembled, shard._outbox, shard._limit = assembled, outbox, engine.pages_started
        if self.job.pages is not None:
            engine.limit_pages(engine.pages_started)
        shard._incarnation = await self.join(number, msgspec.msgpack.encode(engine.totals))
        engine.incarnation = shard._incarnation + self._resumes * _MAX_INCARNATIONS
        self.running[number] = shard
        tasks = [
            asyncio.create_task(shard._report_periodically(self, assembled, outbox)),
            asyncio.create_task(
                outbox.run(lambda to, batch: self._send(number, to, batch), idle=lambda: engine.is_idle)
            ),
            asyncio.create_task(self._crash(), name="crash"),
            asyncio.create_task(engine.run()),
        ]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if tasks[0] not in done or tasks[0].exception() is not None:
                self._raise_unexpected(done)
                return False
            engine.stop()
            self.world.stopped_at = self.world.stopped_at or asyncio.get_running_loop().time()
            await tasks[3]
            return True
        finally:
            self.disks[number] = engine.committed
            shard._ended.set()
            outbox.close()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _raise_unexpected(self, done: set[asyncio.Task[Any]]) -> None:
        for task in done:
            if task.exception() is not None and not isinstance(task.exception(), ConnectionError):
                raise task.exception()  # type: ignore[misc]

    async def _crash(self) -> None:
        """Return when the shard shall crash."""
        while asyncio.get_running_loop().time() < 60.0:
            await asyncio.sleep(1.0)
            if self.world.random.random() < self.world.crashes:
                return
        await asyncio.Event().wait()

    async def join(self, shard: int, totals: bytes) -> int:
        """Register a started or restarted shard with the coordinator."""
        return self.coordinator.join(shard, totals, asyncio.get_running_loop().time())

    async def report(self, report: ShardReport) -> Orders:
        """Transmit a report to the coordinator and its orders back. The report arrives even if its shard crashes."""
        return await self._survive_sender(self._report(report))

    async def _survive_sender(self, message: Coroutine[Any, Any, _Result]) -> _Result:
        task = asyncio.create_task(message)
        self._messages.add(task)
        task.add_done_callback(self._finish_message)
        return await asyncio.shield(task)

    def _finish_message(self, task: asyncio.Task[Any]) -> None:
        self._messages.discard(task)
        if not task.cancelled():
            task.exception()  # marks it as seen: the sender, if it is there, has it

    async def _report(self, report: ShardReport) -> Orders:
        await self.world.transmit_report(report.shard)
        if self.world.random.random() < self.world.crashes / 10:
            raise ConnectionError("the coordinator cannot be reached")
        orders = self.coordinator.report(report, asyncio.get_running_loop().time())
        await self.world.transmit_report(report.shard)
        return orders

    async def _send(self, sender: int, to: int, batch: bytes) -> bool:
        return await self._survive_sender(self._deliver(sender, to, batch))

    async def _deliver(self, sender: int, to: int, batch: bytes) -> bool:
        await self.world.transmit(sender, to)
        if self.world.is_lost():
            return False
        shard = self.running.get(to)
        if shard is None:
            return False
        if self.world.random.random() < self.world.duplication:
            await shard.deliver(batch)
        is_durable = await shard.deliver(batch)
        await self.world.transmit(sender, to)
        return is_durable and not self.world.is_lost()


def find_violations(cluster: Cluster) -> Iterator[str]:
    """Yield a sentence for each broken promise."""
    world, disks = cluster.world, cluster.disks
    sent = {number: _batched_urls(disk) for number, disk in disks.items()}
    for number, disk in disks.items():
        for url, (_, state, _) in disk._urls.items():
            for link in world.links[url] if state is UrlState.DONE else ():
                if disks[owner_of(link, world.shards)].find(link) is None and link not in sent[number]:
                    yield f"the link {link} of the committed page {url} is lost"
    fetched: dict[str, set[int]] = {}
    runs: set[tuple[int, int, str]] = set()
    for _, number, incarnation, url in world.requests:
        fetched.setdefault(url, set()).add(number)
        if (number, incarnation, url) in runs:
            yield f"{url} was fetched twice by one incarnation of shard {number}"
        runs.add((number, incarnation, url))
    yield from (f"{url} was fetched by the shards {found}" for url, found in fetched.items() if len(found) > 1)
    yield from _find_short_gaps(world)
    if cluster.job.pages is not None:
        total = sum(_fetched(disk) for disk in disks.values())
        if total > cluster.job.pages:
            yield f"{total} pages were fetched with a budget of {cluster.job.pages}"
    elif world.last_crash < (world.stopped_at or 0.0):
        yield from (f"{url} was never fetched" for url in _reachable(world) - set(fetched))


def _fetched(disk: MemoryStorage) -> int:
    saved = disk.note("totals")
    return msgspec.msgpack.decode(saved, type=Counters).fetched if saved else 0


def _batched_urls(disk: MemoryStorage) -> set[str]:
    batches = (msgspec.msgpack.decode(data, type=LinkBatch) for _, data in disk.batches())
    return {link.url for batch in batches for page in unpack(batch.batch) for link in page.links}


def _reachable(world: World) -> set[str]:
    found, queue = {world.seed_url}, [world.seed_url]
    while queue:
        for url in world.links[queue.pop()]:
            if url not in found:
                found.add(url)
                queue.append(url)
    return found


def _find_short_gaps(world: World) -> Iterator[str]:
    by_key: dict[tuple[str, float], list[float]] = {}
    for at, _, _, url in world.requests:
        host = host_of(url)
        by_key.setdefault((host, HOST_DELAY), []).append(at)
        by_key.setdefault((world.addresses[host], world.address_delay), []).append(at)
    for (name, delay), times in by_key.items():
        for earlier, later in pairwise(sorted(times)):
            if later - earlier < delay * (1 - 3 * _MAX_DRIFT):
                yield f"{later - earlier:.3f} s between two requests to {name} at {earlier:.3f}"


@contextmanager
def _virtual_time(loop: VirtualLoop) -> Iterator[None]:
    modules: list[Any] = [outbox_module, shard_module]
    real, max_wait = [module.time for module in modules], leases.MAX_WAIT_SECONDS
    recent_urls = vars(outbox_module)["_RECENT_URLS"]
    for module in modules:
        module.time = SimpleNamespace(monotonic=loop.time)
    vars(leases)["MAX_WAIT_SECONDS"] = _MAX_WAIT_SECONDS
    vars(outbox_module)["_RECENT_URLS"] = _RECENT_URLS
    try:
        yield
    finally:
        vars(leases)["MAX_WAIT_SECONDS"] = max_wait
        vars(outbox_module)["_RECENT_URLS"] = recent_urls
        for module, time in zip(modules, real, strict=True):
            module.time = time


def simulate(seed: int) -> list[str]:
    """Run the crawl of a seed. Return the promises that it broke."""
    world = World.make(seed)
    cluster = Cluster(
        world, Job(seeds=(world.seed_url,), pages=world.budget, delay=HOST_DELAY, address_delay=world.address_delay)
    )
    loop = VirtualLoop()
    try:
        with _virtual_time(loop):
            loop.run_until_complete(cluster.run())
    except TimeoutError:
        return [f"the crawl did not end within {MAX_SECONDS:,.0f} s"]
    finally:
        loop.run_until_complete(cancel(asyncio.all_tasks(loop)))
        loop.close()
    return list(find_violations(cluster))


def main() -> None:
    parser = argparse.ArgumentParser(description="Simulate sharded crawls with faults.")
    parser.add_argument("--seeds", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0)
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)  # every restart changes the clock
    failed = 0
    for number, seed in enumerate(range(arguments.first, arguments.first + arguments.seeds)):
        if number and number % _PROGRESS_SEEDS == 0:
            print(f"{number:,} seeds, {failed:,} failed", flush=True)
        found = simulate(seed)
        failed += bool(found)
        for violation in found[:3]:
            print(f"seed {seed}: {violation}", flush=True)
    print(f"{arguments.seeds:,} seeds, {failed:,} failed")
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    main()
