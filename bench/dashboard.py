"""CPU cost of the live stream: a crawl with `--serve` alone, and the same crawl with 20 clients of `/events`.

The server is a process of its own. What counts is the CPU time of the crawl's own processes per page: the crawl, its
parsers and its store, without the server and the query processes. Both sides alternate.

    python bench/dashboard.py [--pairs 10] [--pages 400] [--clients 20]
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import aiohttp

from motherlode.crawler import CrawlFolder, Job, read_stats
from motherlode.crawler.config.job_file import job_to_toml
from motherlode.sim.synthetic.server_process import WebServer

_TICKS = os.sysconf("SC_CLK_TCK")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--pairs", type=int, default=10)
    options.add_argument("--pages", type=int, default=400)
    options.add_argument("--clients", type=int, default=20)
    options.add_argument("--listen", help="only run the clients of the server at this address")
    given = options.parse_args()
    if given.listen:
        asyncio.run(_listen(given.listen, given.clients))
        return
    ratios = []
    with WebServer(pages=5000, seed=1, port=0) as web:
        for pair in range(given.pairs):
            sides = {0: 0.0, given.clients: 0.0}
            for clients in sorted(sides, reverse=bool(pair % 2)):
                sides[clients] = measure(web, pages=given.pages, clients=clients)
            ratios.append(sides[given.clients] / sides[0])
            shown = ", ".join(f"{clients} clients {1000 * cpu:.2f} ms" for clients, cpu in sides.items())
            print(f"pair {pair + 1}: CPU per page: {shown}; ratio {ratios[-1]:.3f}", flush=True)
    error = statistics.stdev(ratios) / len(ratios) ** 0.5 if len(ratios) > 1 else float("nan")
    print(f"ratio {statistics.mean(ratios):.4f} ± {error:.4f} (standard error of {len(ratios)} pairs)")


def measure(web: WebServer, *, pages: int, clients: int) -> float:
    """Run one crawl, and return the CPU seconds of its own processes per page."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        hosts = {host: f"{address}:{port}" for host, (address, port) in web.hosts.items()}
        job = Job(seeds=tuple(web.seeds), pages=pages, delay=0.05, allow=("127.0.0.0/8",), hosts=hosts)
        (folder / "job.toml").write_text(job_to_toml(job))
        command = [sys.executable, "-m", "motherlode", "crawl", "--config", str(folder / "job.toml"), "--quiet"]
        process = subprocess.Popen(
            [*command, "-o", str(folder / "out"), "--serve", "0"],
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
        )
        watch = threading.Thread(target=_watch, args=(process, clients))
        watch.start()
        cpu = _sample_cpu(process)
        watch.join()
        return cpu / read_stats(CrawlFolder(folder / "out")).totals.fetched


def _watch(process: subprocess.Popen[str], clients: int) -> None:
    """Read the address of the server from stderr, and run the clients in a process until the crawl ends."""
    assert process.stderr is not None
    for line in process.stderr:
        if match := re.search(r"(http://127\.0\.0\.1:\d+)/", line):
            subprocess.run([sys.executable, __file__, "--clients", str(clients), "--listen", match[1]], check=True)


async def _listen(address: str, clients: int) -> None:
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None)) as session:
        await asyncio.gather(*(_read(session, f"{address}/events") for _ in range(clients)))


async def _read(session: aiohttp.ClientSession, url: str) -> None:
    with contextlib.suppress(aiohttp.ClientError):
        async with session.get(url) as response:
            async for _ in response.content.iter_any():
                pass


def _sample_cpu(process: subprocess.Popen[str]) -> float:
    """Return the CPU seconds of a process and its children, without the server, when the process has ended."""
    seconds: dict[int, float] = {}
    servers: set[int] = set()
    while process.poll() is None:
        for pid in _family(process.pid, servers):
            with contextlib.suppress(OSError):
                user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
                seconds[pid] = (int(user) + int(system)) / _TICKS
        time.sleep(0.05)
    return sum(seconds.values())


def _family(pid: int, servers: set[int]) -> list[int]:
    """Return a process and its children, recursively, without the server and the processes that it has started.

    The server is remembered in `servers`, because a process that has just ended has no command line.
    """
    found = [pid]
    with contextlib.suppress(OSError):
        if b"motherlode\0serve" in Path(f"/proc/{pid}/cmdline").read_bytes():
            servers.add(pid)
        if pid in servers:
            return []
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                found += _family(int(child), servers)
    return found


if __name__ == "__main__":
    main()
