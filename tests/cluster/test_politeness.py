"""Politeness across shards, from the servers' own log: hosts of two shards on the same addresses, really connected.

Some hosts redirect their robots.txt to a host that the other shard owns, and one shard is killed on the way: neither
may bring two requests closer together than the delays of host and address.
"""

from __future__ import annotations

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
SECONDS = 22.0


@dataclass
class Line:
    at: float
    host: str
    address: str
    path: str


@dataclass
class Servers:
    log: list[Line] = field(default_factory=list)
    port: int = 0

    def name(self, number: int) -> str:
        return f"h{number % HOSTS}.example"

    def table(self) -> dict[str, str]:
        return {self.name(n): f"{ADDRESSES[n % len(ADDRESSES)]}:{self.port}" for n in range(HOSTS)}

    async def answer(self, request: web.BaseRequest) -> web.Response:
        at = time.monotonic()
        assert request.transport is not None
        self.log.append(Line(at, request.host, request.transport.get_extra_info("sockname")[0], request.path))
        number = int(request.host.partition(".")[0].removeprefix("h"))
        if request.path == "/robots.txt":
            if number % 4 == 0:  # three further on is the same address
                return web.Response(status=301, headers={"Location": f"http://{self.name(number + 3)}/rules.txt"})
            return web.Response(status=404)
        if request.path == "/rules.txt":
            return web.Response(text="User-agent: *\nDisallow: /private\n")
        links = "".join(f'<a href="http://{self.name(number + step)}/{step}">x</a>' for step in range(1, HOSTS))
        own = "".join(f'<a href="/own/{number}">x</a>' for number in range(100))
        return web.Response(text=f"<html><body>{links}{own}</body></html>", content_type="text/html")


async def crawl(servers: Servers, path: Path) -> list[str]:
    """Crawl with two shards, of which one is killed; the warnings."""
    warnings: list[str] = []
    async with serving(servers, ADDRESSES):
        job = Job(
            seeds=tuple(f"http://{servers.name(number)}/" for number in range(HOSTS)),
            hosts=servers.table(),
            allow=("127.0.0.0/8",),
            policy="bfs",
            time=SECONDS,
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
        count = 0
        async for _ in sharded.visits():
            count += 1
            if count == 60:
                os.kill((await sharded.process_ids())[1], signal.SIGKILL)
        folder.unlock()
    return warnings


def test_hosts_and_addresses_rest_whoever_asks(nodes: Nodes, tmp_path: Path) -> None:
    servers = Servers()
    with running_ray(nodes.address, shards=SHARDS):
        warnings = uvloop.run(crawl(servers, tmp_path / "crawl"))
    assert any("shard 1 died" in text for text in warnings)
    servers.log.sort(key=lambda line: line.at)
    for name in {line.host for line in servers.log}:
        for before, after in pairwise(line for line in servers.log if line.host == name):
            assert after.at - before.at >= DELAY, (name, before, after)
    for address in ADDRESSES:
        lines = [line for line in servers.log if line.address == address]
        for before, after in pairwise(lines):
            assert after.at - before.at >= ADDRESS_DELAY, (before, after)
        askers = [owner_of_host(line.host, SHARDS) for line in lines if line.path != "/rules.txt"]
        assert set(askers) == set(range(SHARDS)), "both shards have hosts at every address"
        assert sum(one != other for one, other in pairwise(askers)) >= 2, "and they take turns"
    assert any(line.path == "/rules.txt" for line in servers.log)
    assert len(servers.log) > 100
