"""Serving a crawl: requests per second, latencies and refusals of `motherlode serve` for 1, 10 and 50 clients.

The crawl has synthetic pages (bench/index.py). The load generator is a process of its own with one connection per
client; each client sends its next request when it has the response to the last one. The CPU time of the server with
its query workers, and that of the load generator, are read from /proc. Queries: a look-up of one subject (`point`), a
join of three patterns (`star`), a keyword search as JSON (`search`), and the overview page (`overview`).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from urllib.parse import quote

from generated_pages import POINT, STAR, WORDS, batches, brand, url
from generated_pages import pages as generated
from motherlode.crawler import CrawlFolder, Job
from motherlode.frontier import LmdbStorage
from motherlode.index.indexer import BackgroundIndexer, IndexPaths
from motherlode.index.nquads_log import NQuadsLog
from results import record, table

SECONDS = 6.0
CLIENTS = (1, 10, 50)
PATHS = ("point", "star", "search", "overview")
_TICKS = os.sysconf("SC_CLK_TCK")


def make_crawl(path: Path, quads: int) -> int:
    """Make a crawl folder with this many quads. Return the number of its pages."""
    folder = CrawlFolder(path)
    folder.create(Job(seeds=("http://a.example/",)))
    storage = LmdbStorage(folder.frontier)
    storage.commit()
    storage.close()
    paths = IndexPaths(folder.quads, folder.store, folder.words)
    log = NQuadsLog(folder.quads, start_indexer=partial(BackgroundIndexer, paths))
    pages = 0
    for batch in batches(generated(quads)):
        log.write(batch)
        pages += len(batch)
    log.close()
    folder.unlock()
    return pages


def target(kind: str, dice: random.Random, pages: int) -> str:
    """Return the path of a random request of this kind."""
    number = dice.randint(1, pages)
    if kind == "search":
        return f"/search?q={dice.choice(WORDS)}+{dice.choice(WORDS)}&format=json"
    if kind == "overview":
        return "/"
    sparql = POINT % f"{url(number)}#0" if kind == "point" else STAR % brand(number, 1) + " LIMIT 20"
    return f"/sparql?query={quote(sparql)}&format=json"


async def client(port: int, kind: str, pages: int, seed: int, until: float) -> tuple[list[float], int]:
    """Send requests until a time. Return the latencies of successful ones in seconds, and the number of refusals."""
    dice, latencies, refused = random.Random(seed), [], 0
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while (began := time.perf_counter()) < until:
        writer.write(f"GET {target(kind, dice, pages)} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"(?i)content-length: (\d+)", head)
        if length is None:
            raise ValueError(f"the response has no Content-Length: {head[:200]!r}")
        await reader.readexactly(int(length[1]))
        if b" 200 " in head.split(b"\r\n", 1)[0]:
            latencies.append(time.perf_counter() - began)
        else:
            refused += 1
    writer.close()
    return latencies, refused


async def load(port: int, kind: str, pages: int, clients: int, seconds: float) -> None:
    """Print the latencies of all clients, the refusals and the CPU seconds of the requests in this process as JSON."""
    before = time.process_time()
    until = time.perf_counter() + seconds
    found = await asyncio.gather(*(client(port, kind, pages, seed, until) for seed in range(clients)))
    latencies = sorted(latency for one, _ in found for latency in one)
    print(json.dumps([latencies, sum(refused for _, refused in found), time.process_time() - before]))


def tree_cpu(root: int) -> float:
    """Return the CPU seconds of a process and of its children."""
    total = 0.0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(path.parent.name) == root or int(fields[1]) == root:
            total += (int(fields[11]) + int(fields[12])) / _TICKS
    return total


def measure(port: int, server: int, kind: str, pages: int, clients: int, seconds: float) -> tuple[object, ...]:
    """Run the load generator once. Return a row of the table."""
    before = tree_cpu(server)
    command = [sys.executable, __file__, "--load", str(port), kind, str(pages), str(clients), str(seconds)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    latencies, refused, own = json.loads(done.stdout)
    spent = tree_cpu(server) - before
    count = max(1, len(latencies))
    half, most = latencies[count // 2] * 1000, latencies[int(count * 0.95)] * 1000
    return (
        f"{kind}, {clients} clients",
        f"{count / seconds:,.0f}",
        refused,
        f"{half:.1f}",
        f"{most:.1f}",
        f"{spent / count * 1e3:.2f}",
        f"{own / count * 1e3:.2f}",
        f"{(os.cpu_count() or 1) * count / (spent + own):,.0f}",
    )


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--quads", type=int, default=1_000_000)
    arguments.add_argument("--seconds", type=float, default=SECONDS)
    arguments.add_argument("--folder", type=Path, help="a crawl folder that an earlier run of this benchmark made")
    arguments.add_argument("--load", nargs=5, help=argparse.SUPPRESS)
    given = arguments.parse_args()
    if given.load:
        port, kind, pages, clients, seconds = given.load
        asyncio.run(load(int(port), kind, int(pages), int(clients), float(seconds)))
        return
    with tempfile.TemporaryDirectory() as room:
        path = given.folder or Path(room) / "crawl"
        if not path.exists():
            (path / "pages").write_text(str(make_crawl(path, given.quads)))
        pages = int((path / "pages").read_text())
        command = [sys.executable, "-m", "motherlode", "serve", str(path), "--port", "0"]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
            assert server.stderr is not None
            found = re.search(r"http://127.0.0.1:(\d+)/", server.stderr.readline())
            assert found is not None
            port = int(found[1])
            measure(port, server.pid, "point", pages, 10, 1.0)  # starts the workers
            rows = [measure(port, server.pid, kind, pages, n, given.seconds) for kind in PATHS for n in CLIENTS]
            server.terminate()
    head = ("requests", "per second", "refused", "p50 ms", "p95 ms", "server CPU ms", "client CPU ms", "by CPU")
    text = (
        f"## Serving\n\n{given.quads:,} quads, two query workers, {given.seconds:g} s each. *By CPU* is the number of "
    )
    text += f"requests per second for which the cores of this machine have enough CPU time.\n\n{table(head, rows)}\n"
    load_average = os.getloadavg()[0]
    text += f"\nLoad average of the machine at the end: {load_average:.1f} on {os.cpu_count()} cores.\n"
    print(text)
    record("serve", text)


if __name__ == "__main__":
    main()
