"""A crawl and its servers in a network namespace whose network fails and comes back:

    unshare --net python -m tests.crawler.outage_web DIR < a line of JSON with the `Script`

The network of the machine is not changed. The servers have addresses in four networks. `events` are pairs of a time in
seconds and an event: "down", "up", "stop" or "kill". The output is one line of JSON with the visits and with all
requests that the servers received.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import signal
import socket
import struct
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import web

from motherlode.crawler import CrawlFolder, Job, read_stats
from motherlode.crawler.engine.factory import assemble
from tests.servers import serving

ADDRESSES = [f"127.0.{network}.2" for network in range(1, 5)]
PAGES = 200
_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 1


@dataclass
class Script:
    """Settings of the crawl and the events during it."""

    events: list[tuple[float, str]]
    hosts: int = 4
    dead: int = 0
    """Number of hosts with unused addresses, each in a different network."""
    retry_wait: float = 0.3
    delay: float = 0.1
    seconds: float | None = None
    resume: bool = False
    options: dict[str, Any] = field(default_factory=dict)


def set_loopback(*, up: bool) -> None:
    """Switch the loopback interface of the network namespace on or off."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        request = struct.pack("16sH14x", b"lo", 0)
        flags = struct.unpack("16sH14x", fcntl.ioctl(asked, _GET_FLAGS, request))[1]
        fcntl.ioctl(asked, _SET_FLAGS, struct.pack("16sH14x", b"lo", flags | _UP if up else flags & ~_UP))


class Servers:
    """Servers whose pages link to the next page each."""

    def __init__(self) -> None:
        self.port = 0
        self.log: list[tuple[float, str, str]] = []

    async def answer(self, request: web.BaseRequest) -> web.Response:
        self.log.append((time.time(), request.host, request.path))
        if request.path == "/robots.txt":
            return web.Response(text="User-agent: *\nDisallow: /private\n")
        number = int(request.path[1:])
        links = "".join(f'<a href="/{other}">x</a>' for other in range(number + 1, min(number + 4, PAGES)))
        return web.Response(text=f"<html><body>{request.host}{links}</body></html>", content_type="text/html")


def job_of(script: Script, port: int) -> Job:
    living = {f"h{number}.example": f"{ADDRESSES[number % 4]}:{port}" for number in range(script.hosts)}
    dead = {f"dead{number}.example": f"240.0.{number}.2:{port}" for number in range(script.dead)}
    names = [*living, *dead]
    return Job(
        seeds=tuple(f"http://{name}/0" for name in names),
        hosts=living | dead,
        allow=("127.0.0.0/8", "240.0.0.0/4"),
        policy="bfs",
        delay=script.delay,
        retry_wait=script.retry_wait,
        time=script.seconds,
        workers=1,
        words=False,
        timeout=1.0,
        **script.options,
    )


async def happen(script: Script, stop: Any) -> None:
    began = time.monotonic()
    for at, event in script.events:
        await asyncio.sleep(max(0.0, began + at - time.monotonic()))
        if event == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        elif event == "stop":
            stop()
        else:
            set_loopback(up=event == "up")


async def run(script: Script, folder: CrawlFolder) -> dict[str, Any]:
    set_loopback(up=True)
    servers = Servers()
    servers.port = 8099  # a resumed crawl must find the same ports
    async with serving(servers, ADDRESSES):
        job = job_of(script, servers.port)
        if script.resume:
            folder.lock()
        else:
            folder.create(job)
        assembled = assemble(job, folder)
        events = asyncio.create_task(happen(script, assembled.engine.stop))
        began = time.time()
        visits = [visit async for visit in assembled.engine.visits(assembled.seeds)]
        ended = time.time()
        await events
        assembled.store.close()
        folder.unlock()
    stats = read_stats(folder)
    return {
        "began": began,
        "seconds": ended - began,
        "log": servers.log,
        "visits": [(visit.url, None if visit.failure is None else visit.failure.value) for visit in visits],
        "hosts": {host.name: host.failures for host in stats.hosts},
        "stats": stats.summary(),
    }


if __name__ == "__main__":
    told = Script(**json.loads(sys.stdin.readline()))
    print(json.dumps(asyncio.run(run(told, CrawlFolder(Path(sys.argv[1]))))), flush=True)
