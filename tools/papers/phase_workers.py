"""MultiCrawler: several pipelines side by side on this machine, and more by simulation.

Each worker is a process that runs all phases after fetch on its share of the pages, with a store of its own, as the
shards of a crawl do. All workers begin a phase at the same time. The simulation has one process that hands out pages
and several remote transform workers, each with a core of its own.
"""

from __future__ import annotations

import time
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from pickle import dumps, loads
from random import Random
from typing import Any

from bench.pipeline_simulation import simulate
from tools.papers.phases import PHASES, fetch_pages, run_phases, temporary_store

from motherlode.model import Page

WORKERS = (1, 2, 4, 8)
SIMULATED = (1, 2, 4, 8, 16, 32)
_MAX_SENT_PAGES = 16
"""As in `cluster/remote_parsers.py`, which needs Ray."""
_SIMULATED_PAGES = 20_000
_START_SECONDS = 120.0
"""Maximum time until all workers have warmed up."""


def worker_times(*, web: str, pages: int, workers: int) -> dict[str, Any]:
    """Return pages per second of wall-clock time, and CPU seconds per page of all workers, for all phases after fetch.

    Each worker has its pages and has warmed up before the time begins.
    """
    fetched, _ = fetch_pages(web, pages)
    context = get_context("forkserver")
    barrier = context.Barrier(workers + 1)
    pipes = [context.Pipe(duplex=False) for _ in range(workers)]
    children = [
        context.Process(target=_work, args=(fetched[number::workers], barrier, pipes[number][1]), daemon=True)
        for number in range(workers)
    ]
    for child in children:
        child.start()
    barrier.wait(_START_SECONDS)
    began = time.perf_counter()
    spent = [receiving.recv() for receiving, _ in pipes]
    seconds = time.perf_counter() - began
    for child in children:
        child.join()
    cpu = {phase: sum(one[phase] for one in spent) / len(fetched) for phase in PHASES[1:]}
    return {"pages": len(fetched), "per_second": len(fetched) / seconds, "cpu_per_page": cpu}


def _work(fetched: list[Page], barrier: Barrier, sending: Connection) -> None:
    with temporary_store() as store:
        run_phases(fetched[:10], store)  # a warm-up
        barrier.wait(_START_SECONDS)
        measured = run_phases(fetched, store)
        sending.send({phase: sum(seconds) for phase, seconds in measured.seconds.items()})


def transform_rates(*, seconds: list[float], handing: float) -> dict[str, Any]:
    """Return the simulated pages per second of transform by the number of remote workers.

    `queue`: a free worker takes waiting pages. `hash`: each page has its worker from the start, as in the paper, and
    all workers must be done. `seconds` are the measured times of pages, and `handing` is the time to send one page.
    """
    by_queue = {
        workers: simulate(workers, fetching=handing, parsing=seconds, sent=_MAX_SENT_PAGES, pages=_SIMULATED_PAGES)
        for workers in SIMULATED
    }
    return {"queue": by_queue, "hash": {workers: _by_hash(workers, seconds) for workers in SIMULATED}}


def _by_hash(workers: int, seconds: list[float]) -> float:
    random = Random(0)
    load = [0.0] * workers
    for _ in range(_SIMULATED_PAGES):
        load[random.randrange(workers)] += random.choice(seconds)
    return _SIMULATED_PAGES / max(load)


def handing_time(*, web: str, pages: int) -> float:
    """Return the CPU seconds to encode and decode one page, which sending it to another process costs at least."""
    fetched, _ = fetch_pages(web, pages)
    began = time.process_time()
    for page in fetched:
        loads(dumps(page, protocol=5))
    return (time.process_time() - began) / len(fetched)
