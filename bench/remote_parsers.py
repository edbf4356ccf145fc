"""One fetching process with several remote parsers: measured with 1, 2 and 4, and simulated with more.

`bench/cluster.py` runs it. The fetching process and its store process are pinned to the first core and all remote
parsers to the second, so wall-clock time cannot show the gain of more than one parser here. CPU time per page can: if
it does not grow with the number of parsers, n parsers on n cores parse n times as many pages, until the core of the
fetching process is busy. The simulation adds what CPU time does not show: waiting for batches and for calls.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, replace
from pathlib import Path

import uvloop

from motherlode.cluster.remote_parsers import MAX_SENT_PAGES, RemoteParsers
from motherlode.crawler import CrawlFolder, Job
from motherlode.crawler.engine.factory import MakeParsers, assemble
from motherlode.crawler.parsing.messages import ParseOptions
from pipeline_simulation import simulate
from results import table

ACTORS = (1, 2, 4)
SIMULATED = (1, 2, 4, 8, 16, 32)


@dataclass(frozen=True)
class Measured:
    """Figures of one crawl. `actors` is 0 for a parser process beside the crawl."""

    actors: int
    pages: int
    rate: float
    fetching: float
    """CPU seconds per page of the fetching process."""
    parsing: float
    """CPU seconds per page of all parsers."""
    storing: float
    """CPU seconds per page of the store process."""
    calls: float = 0.0
    """Ray calls per page."""

    @property
    def possible(self) -> float:
        """Pages per second if the fetching process, the store process and each parser have a core."""
        busiest = max(self.fetching, self.storing, self.parsing / max(1, self.actors))
        return 1 / busiest


def tree_cpu(process: int) -> float:
    """Return the CPU seconds of a process and its children that are alive."""
    place = Path(f"/proc/{process}")
    try:
        times = place.joinpath("stat").read_text().rpartition(")")[2].split()[11:13]
        children = {int(one) for task in place.glob("task/*/children") for one in task.read_text().split()}
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return sum(map(int, times)) / os.sysconf("SC_CLK_TCK") + sum(map(tree_cpu, children))


def measure(job: Job, folder: CrawlFolder, actors: int) -> Measured:
    """Crawl once with remote parsers, or with one local parser process if `actors` is 0. Ray must be connected."""
    before = os.sched_getaffinity(0)
    try:
        return uvloop.run(_crawl(replace(job, workers=1), folder, actors))
    finally:
        os.sched_setaffinity(0, before)


async def _crawl(job: Job, folder: CrawlFolder, actors: int) -> Measured:
    started: list[RemoteParsers] = []

    def make_parsers(options: ParseOptions, seconds: float) -> RemoteParsers:
        started.append(RemoteParsers(options, actors=actors, seconds=seconds, cores=[(1,)] * actors))
        return started[0]

    folder.create(job)
    make: MakeParsers | None = make_parsers if actors else None
    assembled = assemble(job, folder, make_parsers=make)
    os.sched_setaffinity(0, {0})
    moments: list[tuple[int, float, float, float, float, int]] = []
    count = 0
    async for _ in assembled.engine.visits(assembled.seeds):
        count += 1
        if count % 100 == 0:
            processes = started[0].process_ids() if started else _children(b"parsing.worker")
            parsing, calls = sum(map(tree_cpu, processes)), started[0].calls if started else 0
            storing = sum(map(tree_cpu, _children(b"index.indexer")))
            moments.append((count, time.perf_counter(), time.process_time(), parsing, storing, calls))
    assembled.store.close()
    folder.unlock()
    first, last = moments[len(moments) // 10], moments[len(moments) * 9 // 10]
    pages, seconds, own, parsing, storing, calls = (after - then for after, then in zip(last, first, strict=True))
    return Measured(actors, int(pages), pages / seconds, own / pages, parsing / pages, storing / pages, calls / pages)


def _children(name: bytes) -> list[int]:
    """Return the children of this process whose command contains a name."""
    children = {int(one) for task in Path("/proc/self").glob("task/*/children") for one in task.read_text().split()}
    return [one for one in children if name in Path(f"/proc/{one}/cmdline").read_bytes()]


def describe(rows: list[Measured]) -> str:
    """Return the tables of measured and simulated figures as Markdown."""
    one = next(row for row in rows if row.actors == 1)
    measured = table(
        (
            *("parsers", "pages/s here", "fetching process, CPU ms per page", "store process", "parsers together"),
            *("calls per page", "pages/s with a core each", "× one remote parser"),
        ),
        [
            (
                str(row.actors) if row.actors else "1, local",
                f"{row.rate:.0f}",
                f"{1000 * row.fetching:.2f}",
                f"{1000 * row.storing:.2f}",
                f"{1000 * row.parsing:.2f}",
                f"{row.calls:.2f}" if row.actors else "–",
                f"{row.possible:.0f}",
                f"{row.possible / one.possible:.2f}",
            )
            for row in rows
        ],
    )
    remote = [row for row in rows if row.actors]
    fetching = sum(row.fetching for row in remote) / len(remote)
    parsing = sum(row.parsing for row in remote) / len(remote)
    rates = _simulated(fetching, parsing)
    ratio = parsing / fetching
    slow = _simulated(fetching, 10 * fetching)
    simulated = table(
        ("remote parsers, simulated", "pages/s", "× one", "parsing 10 × as expensive as fetching: pages/s", "× one"),
        [
            (n, f"{rates[n]:.0f}", f"{rates[n] / rates[1]:.2f}", f"{slow[n]:.0f}", f"{slow[n] / slow[1]:.2f}")
            for n in SIMULATED
        ],
    )
    return f"""### Remote parsers

{(__doc__ or "").partition("runs it. ")[2].strip()}

{measured}

{simulated}

Parsing a page costs {ratio:.1f} times as much as the rest, so one fetching process can use about {max(1, round(ratio))}
to {max(1, round(ratio)) + 1} parsers on pages of this kind. More are useful if pages are expensive to transform, or
with `--shards`.
"""


def _simulated(fetching: float, parsing: float) -> dict[int, float]:
    return {actors: simulate(actors, fetching=fetching, parsing=parsing, sent=MAX_SENT_PAGES) for actors in SIMULATED}
