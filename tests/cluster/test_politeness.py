"""Politeness across shards, checked in the log of real servers that share IP addresses between hosts of two shards.

Some hosts redirect their robots.txt to a host of the other shard, and one shard is killed during the crawl. In both
cases two requests must not be closer together than the delays of host and address.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import uvloop
from aiohttp import web

from motherlode.cluster.driver import ShardedCrawl
from motherlode.cluster.partitioner import owner_of_host
from motherlode.cluster.ray_runtime import running_ray
from motherlode.crawler import CrawlFolder, Job
from tests.cluster.conftest import Nodes
from tests.servers import serving

SHARDS = 2
HOSTS = 24
ADDRESSES = ["127.0.4.1", "127.0.4.2", "127.0.4.3"]
DELAY, ADDRESS_DELAY = 0.5, 0.25
KILL_AFTER_VISITS = 60
VISITS_AFTER_RESTART = 60
DEADLINE_SECONDS = 300
"""Time limit of the crawl: generous, for a loaded machine."""


@dataclass
class LogEntry:
    at: float
    host: str
    address: str
    path: str


@dataclass
class Servers:
    log: list[LogEntry] = field(default_factory=list)
    port: int = 0

    def name(self, number: int) -> str:
        return f"h{number % HOSTS}.example"

    def table(self) -> dict[str, str]:
        return {self.name(n): f"{ADDRESSES[n % len(ADDRESSES)]}:{self.port}" for n in range(HOSTS)}

    def senders(self, address: str) -> list[int]:
        """Return the shards that sent the requests to an address, in order."""
        entries = [entry for entry in self.log if entry.address == address and entry.path != "/rules.txt"]
        return [owner_of_host(entry.host, SHARDS) for entry in entries]

    def alternate(self) -> bool:
        """Return whether the sender has changed at least twice at every address."""
        changes = [sum(one != other for one, other in pairwise(self.senders(address))) for address in ADDRESSES]
        return min(changes) >= 2

    async def answer(self, request: web.BaseRequest) -> web.Response:
        at = time.monotonic()
        assert request.transport is not None
        self.log.append(LogEntry(at, request.host, request.transport.get_extra_info("sockname")[0], request.path))
        number = int(request.host.partition(".")[0].removeprefix("h"))
        if request.path == "/robots.txt":
            if number % 4 == 0:  # the host three numbers higher has the same address
                return web.Response(status=301, headers={"Location": f"http://{self.name(number + 3)}/rules.txt"})
            return web.Response(status=404)
        if request.path == "/rules.txt":
            return web.Response(text="User-agent: *\nDisallow: /private\n")
        links = "".join(f'<a href="http://{self.name(number + step)}/{step}">x</a>' for step in range(1, HOSTS))
        own = "".join(f'<a href="/own/{number}">x</a>' for number in range(100))
        return web.Response(text=f"<html><body>{links}{own}</body></html>", content_type="text/html")


async def crawl(servers: Servers, path: Path) -> list[str]:
    """Crawl with two shards, kill one of them, continue until all cases have occurred, and return the warnings."""
    warnings: list[str] = []
    async with serving(servers, ADDRESSES):
        job = Job(
            seeds=tuple(f"http://{servers.name(number)}/" for number in range(HOSTS)),
            hosts=servers.table(),
            allow=("127.0.0.0/8",),
            policy="bfs",
            delay=DELAY,
            address_delay=ADDRESS_DELAY,
            retry_wait=1.0,
            workers=1,
            words=False,
            shards=SHARDS,
        )
        folder = CrawlFolder(path)
        folder.create(job)
        sharded = ShardedCrawl(job, folder, warn=warnings.append)
        count = count_after_restart = 0
        async with asyncio.timeout(DEADLINE_SECONDS):
            async for _ in sharded.visits():
                count += 1
                count_after_restart += bool(warnings)
                if count == KILL_AFTER_VISITS:
                    os.kill((await sharded.process_ids())[1], signal.SIGKILL)
                if count_after_restart >= VISITS_AFTER_RESTART and servers.alternate():
                    sharded.stop()
        folder.unlock()
    return warnings


def test_two_shards_keep_the_delays_of_hosts_and_addresses(nodes: Nodes, tmp_path: Path) -> None:
    servers = Servers()
    with running_ray(nodes.address, shards=SHARDS):
        warnings = uvloop.run(crawl(servers, tmp_path / "crawl"))
    assert any("shard 1 died" in text for text in warnings)
    servers.log.sort(key=lambda entry: entry.at)
    for name in {entry.host for entry in servers.log}:
        for before, after in pairwise(entry for entry in servers.log if entry.host == name):
            assert after.at - before.at >= DELAY, (name, before, after)
    for address in ADDRESSES:
        entries = [entry for entry in servers.log if entry.address == address]
        for before, after in pairwise(entries):
            assert after.at - before.at >= ADDRESS_DELAY, (before, after)
        assert set(servers.senders(address)) == set(range(SHARDS)), "both shards have hosts at every address"
    assert servers.alternate()
    assert any(entry.path == "/rules.txt" for entry in servers.log)
