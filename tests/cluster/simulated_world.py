"""The web, the network and the faults of a simulated sharded crawl, all made from a seed, and its virtual time."""

from __future__ import annotations

import asyncio
import selectors
from dataclasses import dataclass, field
from itertools import pairwise
from math import inf
from random import Random
from typing import Any

_SLOW_FACTOR = 20.0
_MAX_REPORT_SECONDS = 8.0


class _VirtualSelector(selectors.SelectSelector):
    """A selector that does not wait: it moves the time of its loop forward."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout is None:
            raise RuntimeError("the simulation waits for nothing: a deadlock")
        self.now += timeout
        return []  # no message comes from outside


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop with virtual time."""

    def __init__(self) -> None:
        self._virtual = _VirtualSelector()
        super().__init__(self._virtual)

    def time(self) -> float:
        return self._virtual.now


@dataclass
class World:
    """The simulated web and network, and the record of what happened."""

    random: Random
    shards: int
    links: dict[str, list[str]] = field(default_factory=dict)
    addresses: dict[str, str] = field(default_factory=dict)
    requests: list[tuple[float, int, int, str]] = field(default_factory=list)
    """Time, shard, incarnation and URL of each request."""
    violations: list[str] = field(default_factory=list)
    loss: float = 0.0
    duplication: float = 0.0
    address_delay: float = 0.5
    """Seconds between two requests to an IP address."""
    max_delay: float = 0.2
    slow: float = 0.0
    """Probability that a message is delayed `_SLOW_FACTOR` times as long."""
    crashes: float = 0.0
    """Probability of a crash of each shard per virtual second, in the first minute."""
    partition: tuple[int, float, float] = (-1, 0.0, 0.0)
    """A shard that cannot be reached from one time to another."""
    slow_reports: float = 0.0
    """Probability that a report or its response takes up to `_MAX_REPORT_SECONDS`."""
    is_chain: bool = False
    """Whether each page links only to the next one of its host or to the next host, so that one shard has work."""
    budget: int | None = None
    """Page budget of the crawl."""
    killed_after: float = inf
    """Seconds after which all shards and the coordinator are killed at once. Then the crawl is resumed."""
    late_starts: list[float] = field(default_factory=list)
    """Seconds after which each shard starts when the crawl is resumed."""
    are_times_unsaved: bool = False
    """Whether the folders of the killed crawl do not contain the time of the last commit, and clocks were set back."""
    clock_offsets: tuple[float, float] = (1e6, 2e6)
    """Range of the clocks of shards at the time 0."""
    last_crash: float = -1.0
    stopped_at: float | None = None

    @classmethod
    def make(cls, seed: int) -> World:
        random = Random(seed)
        world = cls(random, shards=random.randint(2, 4))
        hosts = [f"h{number}.example" for number in range(random.randint(3, 8))]
        addresses = random.choice([3, 3, 99])
        world.addresses = {host: f"10.0.0.{random.randint(1, addresses)}" for host in hosts}
        urls = [f"http://{host}/{page}" for host in hosts for page in range(random.randint(1, 5))]
        world.links = {url: random.sample(urls, min(len(urls), random.randint(1, 5))) for url in urls}
        world.loss, world.duplication = random.choice([0.0, 0.1, 0.4]), random.choice([0.0, 0.2])
        world.max_delay, world.crashes = random.choice([0.01, 0.3, 2.0]), random.choice([0.0, 0.02, 0.08])
        begin = random.uniform(0.0, 20.0)
        world.partition = (random.randrange(world.shards), begin, begin + random.choice([0.0, 3.0, 15.0]))
        world.address_delay, world.slow = random.choice([0.5, 0.5, 2.0]), random.choice([0.0, 0.05])
        world.killed_after = random.choice([inf, inf, random.uniform(1.0, 20.0)])
        world.budget = random.choice([None, None, None, len(urls) // 2 + 1])
        world.late_starts = [random.choice([0.0, 0.0, random.uniform(0.0, 20.0)]) for _ in range(world.shards)]
        world.are_times_unsaved = random.random() < 0.5
        world.slow_reports, world.is_chain = random.choice([0.0, 0.0, 0.4]), random.random() < 0.2
        if world.is_chain:
            world.links = {url: [next_url] for url, next_url in pairwise([*urls, urls[0]])}
        return world

    @property
    def seed_url(self) -> str:
        return next(iter(self.links))

    async def transmit(self, *shards: int) -> None:
        """Wait as a message between these shards does."""
        factor = _SLOW_FACTOR if self.random.random() < self.slow else 1.0
        await asyncio.sleep(self.random.uniform(0.0, self.max_delay) * factor)
        cut, begin, end = self.partition
        now = asyncio.get_running_loop().time()
        if cut in shards and begin <= now < end:
            await asyncio.sleep(end - now)

    async def transmit_report(self, shard: int) -> None:
        """Wait as a report or its response does."""
        await self.transmit(shard)
        if self.random.random() < self.slow_reports:
            await asyncio.sleep(self.random.uniform(0.0, _MAX_REPORT_SECONDS))

    def is_lost(self) -> bool:
        return self.random.random() < self.loss
