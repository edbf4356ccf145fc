"""Shards on Ray: pages per second with one and two shards, messages between them, and the cost of Ray calls.

    python bench/cluster.py [--pages 6000] [--rounds 2] [--remote-parsers-only]

The pages of a synthetic web are recorded and read in the shards' own processes, so no server shares the cores. A shard
represents a machine with one core: it and its parser processes are pinned to one core, and two shards have both cores.
The last row shows the gain of two shards on a machine whose cores one shard would use alone. Every crawl has a budget
of two thirds of the pages, so that both shards are busy to the end. Each round runs all crawls, and the best round of
each counts, from its first tenth to near its end. CPU is that of the shards and their parser processes; on a busy
machine it is more reliable than wall-clock time. Messages between shards are measured on the real pages of
../shared/corpus.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shutil
import signal
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import uvloop

from motherlode.cluster.driver import ShardedCrawl
from motherlode.cluster.merge import merge_shards
from motherlode.cluster.outbox import make_page_links, pack
from motherlode.cluster.ray_runtime import running_ray
from motherlode.crawler import CrawlFolder, Job, read_stats
from motherlode.fetch.warc.writer import WarcFile, WarcResponse
from motherlode.model import Link, LinkSource, Outcome, Rating
from motherlode.policies import policy_from
from motherlode.sim.synthetic.synthetic_web import SyntheticWeb
from motherlode.www.urls import host_of
from remote_parsers import ACTORS, Measured, describe
from remote_parsers import measure as measure_remote
from results import FOLDER, record, table

CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpus"
BATCHES = (1, 10, 100, 1000, 5000)
WANTED = 1.8
BUSY = (
    "**The machine was busy with other work during this run.** Ratios of wall-clock times are not reliable then (a "
    "ratio above 2 cannot be right), and ratios of CPU times only roughly: run it again on an idle machine."
)
POLICIES = ("bandit:success-rate", "ldcoc:head=no", "motherlode")
"""Policies that share their statistics."""


@dataclass(frozen=True)
class Setup:
    """A crawl to measure: the number of shards, and the cores of each."""

    name: str
    shards: int
    cores: dict[int, tuple[int, ...]]


SETUPS = (
    Setup("1 shard on one core", 1, {0: (0,)}),
    Setup("2 shards, a core each", 2, {0: (0,), 1: (1,)}),
    Setup("1 shard on both cores", 1, {}),
    Setup("2 shards on both cores", 2, {}),
)


def recorded(path: Path, pages: int) -> list[str]:
    """Write the finite part of a synthetic web as a WARC file; return the home pages of its hosts."""
    web = SyntheticWeb(pages, 5)
    hosts = [host for host in web.hosts() if web.profile(host).trap is None]
    file = WarcFile(path)
    for host in hosts:
        for url in web.urls(host):
            answer = web.answer(url, attempt=1)
            file.append(
                WarcResponse(url=url, at=0.0, status=answer.status, headers=dict(answer.headers), body=answer.body)
            )
    file.close()
    return [web.home(host) for host in hosts]


@dataclass(frozen=True)
class Moment:
    """Progress and CPU time of a crawl at one moment."""

    fetched: int
    at: float
    cpu: float


def cpu_of(processes: Iterable[int]) -> float:
    """Return the CPU seconds of processes and their children."""
    total, tick = 0.0, os.sysconf("SC_CLK_TCK")
    for number in processes:
        place = Path(f"/proc/{number}")
        times = place.joinpath("stat").read_text().rpartition(")")[2].split()[11:13]
        total += sum(map(int, times)) / tick
        children = {int(one) for task in place.glob("task/*/children") for one in task.read_text().split()}
        total += cpu_of(children)
    return total


async def crawl(job: Job, folder: CrawlFolder, setup: Setup) -> dict[str, Any]:
    sharded = ShardedCrawl(job, folder, cores=setup.cores)
    moments: list[Moment] = []
    processes: list[int] = []
    async for _ in sharded.visits():
        if not moments or sharded.totals.fetched > moments[-1].fetched:
            processes = processes or await sharded.process_ids()
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # a parser process that has just ended
                moments.append(Moment(sharded.totals.fetched, time.perf_counter(), cpu_of(processes)))
    pages = sharded.totals.fetched
    first = next(moment for moment in moments if moment.fetched >= 0.1 * pages)
    last = next(moment for moment in reversed(moments) if moment.fetched <= 0.95 * pages)
    counted = last.fetched - first.fetched
    return {
        "traffic": sharded.traffic,
        "fetched": pages,
        "rate": counted / (last.at - first.at),
        "cpu": (last.cpu - first.cpu) / counted,
    }


def measure(setup: Setup, job: Job, path: Path) -> dict[str, Any]:
    job = replace(job, shards=setup.shards)
    folder = CrawlFolder(path)
    folder.create(job)
    found = uvloop.run(crawl(job, folder, setup))
    began = time.perf_counter()
    merge_shards(folder, words=False)
    found["merge_seconds"] = time.perf_counter() - began
    folder.unlock()
    found["known"] = read_stats(folder).known_urls
    return found


@dataclass(frozen=True)
class Loss:
    """The cost of a killed shard."""

    name: str
    again: int
    """Pages that were fetched again."""


def losses(job: Job, path: Path) -> list[Loss]:
    """Kill one of two shards during a crawl: once its folder remains, once only its checkpoints remain."""
    found = [uvloop.run(_lose("its folder remains", replace(job, shards=2), path / "left"))]
    for seconds in (2.0,):
        saved = replace(job, shards=2, state=f"file://{path}/state-{seconds}", checkpoint=seconds)
        found.append(uvloop.run(_lose(f"a checkpoint every {seconds:.0f} s remains", saved, path / f"saved-{seconds}")))
    return found


def _forget(path: Path) -> None:
    """Remove the local folder of the first shard before it restarts."""
    for place in path.glob("nodes/*/0000"):
        shutil.rmtree(place, ignore_errors=True)


async def _lose(name: str, job: Job, path: Path) -> Loss:
    folder = CrawlFolder(path)
    folder.create(job)
    warnings: list[str] = []
    sharded = ShardedCrawl(job, folder, warn=warnings.append)
    killed = False
    async for _ in sharded.visits():
        if not killed and sharded.totals.fetched >= 0.6 * (job.pages or 0):
            killed = True
            os.kill((await sharded.process_ids())[0], signal.SIGKILL)
            _forget(path)
    folder.unlock()
    again = [int(match[1].replace(",", "")) for text in warnings if (match := re.search(r"([\d,]+) pages are", text))]
    return Loss(name, sum(again))


def calls() -> list[tuple[int, float, float, float]]:
    """Return for each batch size: bytes, µs of the call and µs of packing, all per link."""
    import ray

    class Receiver:
        async def deliver(self, batch: bytes) -> bool:
            return bool(batch)

    receiver: Any = ray.remote(Receiver).options(num_cpus=0).remote()
    ray.get(receiver.deliver.remote(b"x"))
    rows = []
    for size in BATCHES:
        pages = [make_page_links(page, _parent(n)) for n, page in enumerate(_pages_of_links(size))]
        began = time.process_time()
        for _ in range(20):
            batch = pack(pages)
        packing = (time.process_time() - began) / 20
        began = time.perf_counter()
        for _ in range(200):
            ray.get(receiver.deliver.remote(batch))
        calling = (time.perf_counter() - began) / 200
        rows.append((size, len(batch) / size, 1e6 * calling / size, 1e6 * packing / size))
    ray.kill(receiver)
    return rows


def _parent(number: int) -> Outcome:
    host = f"www.site-{number}.example"
    return Outcome(url=f"https://{host}/a/page", host=host, depth=3, relevant=True)


def _pages_of_links(count: int) -> Iterable[list[Link]]:
    """Return links from one shard to another: five per page, on a few hosts."""
    links = [
        Link(
            url=f"https://data.river-{n % 50}.example/catalogue/open-data-{n}.html",
            source=LinkSource.ANCHOR,
            anchor=f"open data of river {n}",
            tag_path="html body main.content ul.list li a",
            context="the annual report on the quality of water at all stations",
        )
        for n in range(count)
    ]
    return [links[start : start + 5] for start in range(0, count, 5)]


def merges() -> list[tuple[str, float, float, float]]:
    """Return the cost of sharing what was learned from 450 pages (three seconds): bytes, ms to send, ms to receive."""
    rows = []
    for name in POLICIES:
        teller: Any = policy_from(name)
        taker: Any = policy_from(name)
        for number, links in enumerate(_pages_of_links(450 * 5)):
            for link, rating in zip(links, teller.rate(links, _parent(number)), strict=True):
                teller.learn(_outcome(link, rating, relevant=number % 3 == 0))
        began = time.process_time()
        delta = teller.delta()
        telling = time.process_time() - began
        began = time.process_time()
        taker.absorb(delta)
        rows.append((name, len(delta), 1000 * telling, 1000 * (time.process_time() - began)))
    return rows


def _outcome(link: Link, rating: Rating, *, relevant: bool) -> Outcome:
    host = host_of(link.url)
    return Outcome(
        url=link.url,
        host=host,
        arm=rating.arm,
        policy_state=rating.policy_state,
        score=rating.score,
        reward=float(relevant),
        relevant=relevant,
    )


def real_job(job: Job) -> Job:
    """Return the job with real pages, whose links are realistic."""
    seeds = (CORPUS / "seeds.txt").read_text().split()
    return replace(job, seeds=tuple(seeds), web=str(CORPUS / "sites.warc.gz"), pages=2000)


def remote_parsers(job: Job, path: Path, rounds: int) -> list[Measured]:
    """Return the figures of one fetching process with a local parser and with remote ones, the best of all rounds."""
    job = real_job(job) if CORPUS.exists() else job
    best: dict[int, Measured] = {}
    for number in range(rounds):
        for actors in (0, *ACTORS):
            found = measure_remote(job, CrawlFolder(path / f"{number}-{actors}"), actors)
            print(f"{actors or 'local'} parsers: {found}", flush=True)
            if actors not in best or found.fetching + found.parsing < best[actors].fetching + best[actors].parsing:
                best[actors] = found
    return list(best.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=6000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--remote-parsers-only", action="store_true", help="print only the table of remote parsers")
    options = parser.parse_args()
    best: dict[str, dict[str, Any]] = {}
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as name:
        homes = recorded(Path(name) / "web.warc.gz", options.pages)
        job = Job(
            seeds=tuple(homes),
            web=str(Path(name) / "web.warc.gz"),
            pages=options.pages * 2 // 3,
            delay=0.0,
            policy="bfs",
            workers=1,
            words=False,
        )
        with running_ray("", shards=2):
            remote = remote_parsers(job, Path(name) / "remote", options.rounds)
            if options.remote_parsers_only:
                print(describe(remote))
                return
            for number in range(options.rounds):
                for setup in SETUPS:
                    found = measure(setup, job, Path(name) / f"{setup.name}-{number}")
                    print(f"{setup.name}: {found['rate']:.1f} pages/s", flush=True)
                    if setup.name not in best or found["rate"] > best[setup.name]["rate"]:
                        best[setup.name] = found
            real = measure(SETUPS[1], real_job(job), Path(name) / "real") if CORPUS.exists() else best[SETUPS[1].name]
            lost = losses(job, Path(name) / "lost")
            costs = calls()
    print_and_record(best, real, lost, costs, merges(), remote, load)


def print_and_record(
    best: dict[str, dict[str, Any]],
    real: dict[str, Any],
    lost: Sequence[Loss],
    costs: Sequence[tuple[int, float, float, float]],
    deltas: Sequence[tuple[str, float, float, float]],
    remote: list[Measured],
    load: float,
) -> None:
    rates = {name: found["rate"] for name, found in best.items()}
    cpu = {name: 1000 * found["cpu"] for name, found in best.items()}
    one, two, both, shared = (rates[setup.name] for setup in SETUPS)
    by_cpu = 2 * cpu[SETUPS[0].name] / cpu[SETUPS[1].name]
    fetched, traffic = real["fetched"], real["traffic"]
    crawls = table(
        ("crawl", "pages", "pages/s", "CPU ms per page", "merge of the folders, s"),
        [
            (n, f"{f['fetched']:,}", f"{rates[n]:.0f}", f"{cpu[n]:.2f}", f"{f['merge_seconds']:.1f}")
            for n, f in best.items()
        ],
    )
    sizes = table(
        ("links per batch", "bytes per link", "Ray call, µs per link", "packing, µs per link"),
        [(f"{size:,}", f"{length:.0f}", f"{call:.1f}", f"{packing:.1f}") for size, length, call, packing in costs],
    )
    merging = table(
        ("statistics learned in 3 s by", "bytes", "sending, ms", "receiving, ms"),
        [(what, f"{size:,}", f"{make:.2f}", f"{absorb:.2f}") for what, size, make, absorb in deltas],
    )
    deaths = table(
        ("one of two shards is killed", "pages fetched again"),
        [(one.name, f"{one.again:,}") for one in lost],
    )
    doubt = f"\n{BUSY}\n" if load > 1 or two > 2 * one else ""
    text = f"""## Shards on Ray (`bench/cluster.py`)

{(__doc__ or "").partition("-only]")[2].strip()}

{crawls}

- two shards with a core each against one: **{two / one:.2f} times** the pages per second (at least {WANTED}); by CPU
  per page {by_cpu:.2f} times, which is what idle cores would give
- two shards against one, both with two cores: {shared / both:.2f} times
- load of the machine before the run: {load:.1f} (2 cores)
{doubt}- between two shards, per page: {traffic.batches / fetched:.4f} messages, {traffic.links / fetched:.2f} links, \
{traffic.bytes / fetched:.0f} bytes; {traffic.suppressed / fetched:.2f} links had been sent recently and were skipped

{sizes}

{merging}

{deaths}

{describe(remote)}"""
    print(text)
    record("cluster", text)
    figures = {
        "speedup": two / one,
        "speedup_by_cpu": by_cpu,
        "known_a_page": real["known"] / fetched,
        "letters_a_page": traffic.batches / fetched,
        "links_a_page": traffic.links / fetched,
        "bytes_a_page": traffic.bytes / fetched,
        "call_us": costs[0][2],
        "bytes_a_link": {size: length for size, length, _, _ in costs}[1000],
        "delta_bytes": max(size for _, size, _, _ in deltas),
        "absorb_ms": max(absorb for _, _, _, absorb in deltas),
    }
    (FOLDER / "cluster.json").write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
