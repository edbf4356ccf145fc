"""Validation of a crawl in several processes, each with its own snapshot of the store.

The findings come in the order of the graphs in the store, as in one process. A small crawl is validated in the calling
process, because the start of another one takes longer.
"""

import os
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import closing
from itertools import chain, islice
from multiprocessing import get_context
from pathlib import Path

import msgspec

from motherlode.crawler.folder import CrawlFolder
from motherlode.crawler.validation import CrawlValidator, PageFindings
from motherlode.quality.shape_profiles import load_validator

MIN_PAGES = 2_000
"""Number of pages from which more than one process is used."""
_PAGES_PER_TASK = 50
_MAX_PROCESSES = 16
_TASKS_PER_PROCESS = 3
"""Number of tasks that are waiting or done for each process, so that memory is bounded."""
_decode = msgspec.msgpack.Decoder(list[PageFindings]).decode


def validate_in_processes(
    folder: CrawlFolder, shapes: Sequence[str], *, has_reports: bool = False, processes: int | None = None
) -> Iterator[PageFindings]:
    """Yield the findings of every page of a crawl.

    `shapes` are names of profiles and files. `processes` is the number of processes; the available CPUs if it is None.
    """
    count = processes or min(_MAX_PROCESSES, len(os.sched_getaffinity(0)))
    with closing(CrawlValidator(folder, load_validator(*shapes), has_reports=has_reports)) as crawl:
        graphs = crawl.graphs()
        first = list(islice(graphs, MIN_PAGES if processes is None else 1))
        if count == 1 or (processes is None and len(first) < MIN_PAGES):
            yield from map(crawl.validate, chain(first, graphs))
            return
        initial = str(folder.path), tuple(shapes), has_reports
        context = get_context("spawn")
        with ProcessPoolExecutor(count, mp_context=context, initializer=_begin, initargs=initial) as pool:
            try:
                yield from _collect(pool, chain(first, graphs), max_tasks=count * _TASKS_PER_PROCESS)
            finally:
                pool.shutdown(cancel_futures=True)


def _collect(pool: ProcessPoolExecutor, graphs: Iterator[str], *, max_tasks: int) -> Iterator[PageFindings]:
    """Give the graphs to the processes, and yield what they find in the same order."""
    tasks: deque[Future[bytes]] = deque()
    while True:
        while len(tasks) < max_tasks and (part := list(islice(graphs, _PAGES_PER_TASK))):
            tasks.append(pool.submit(_validate_part, part))
        if not tasks:
            return
        yield from _decode(tasks.popleft().result())


_crawl: CrawlValidator | None = None
"""The crawl that this process validates."""


def _begin(path: str, shapes: Sequence[str], has_reports: bool) -> None:  # noqa: FBT001 - the pool passes positions
    global _crawl
    _crawl = CrawlValidator(CrawlFolder(Path(path)), load_validator(*shapes), has_reports=has_reports)


def _validate_part(graphs: Sequence[str]) -> bytes:
    """Return the findings of some graphs, encoded."""
    if _crawl is None:
        raise RuntimeError("internal error: the process has no crawl to validate")
    return msgspec.msgpack.encode([_crawl.validate(graph) for graph in graphs])
