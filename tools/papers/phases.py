"""MultiCrawler: the five phases of one pipeline, measured page by page on the same pages."""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tools.papers.scale import RECORDED
from tools.papers.webs import CORPUS, web_spec

from motherlode.detect import Detected, detect
from motherlode.fetch import HttpFetcher, HttpOptions, RecordedWeb
from motherlode.index.fulltext import SearchableStore, WordIndex
from motherlode.index.page_record import PageRecord, serialize_page
from motherlode.index.quad_store import QuadStore
from motherlode.links.collect import collect_links
from motherlode.model import Page, Request, TransformResult
from motherlode.sim.runner import synthetic_pages
from motherlode.sim.synthetic import SyntheticWeb
from motherlode.sim.synthetic.server_process import hosts_table
from motherlode.transform import transform
from motherlode.www.document import Document
from motherlode.www.media_types import MEDIA

PHASES = ("fetch", "detect", "transform", "index", "extract")
BATCH = 100
"""Pages per batch for the index."""
_AT_ONCE = 16
Clock = Callable[[], float]


@dataclass(slots=True)
class Measured:
    """Seconds of each phase for each page, in the order of work. `index` has one entry per batch."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: {phase: [] for phase in PHASES})
    sizes: dict[str, list[int]] = field(default_factory=lambda: {phase: [] for phase in PHASES})
    """Bytes of the page, or quads of the batch."""
    links: int = 0

    def add(self, phase: str, seconds: float, size: int) -> None:
        self.seconds[phase].append(seconds)
        self.sizes[phase].append(size)


def phase_times(*, web: str, pages: int) -> dict[str, Any]:
    """Return the CPU seconds and sizes of every page by phase; the first batch is a warm-up."""
    fetched, measured = fetch_pages(web, pages + BATCH)
    with temporary_store() as store:
        for first in range(0, len(fetched), BATCH):
            batch = run_phases(fetched[first : first + BATCH], store)
            if first:
                for phase in PHASES[1:]:
                    measured.seconds[phase] += batch.seconds[phase]
                    measured.sizes[phase] += batch.sizes[phase]
                measured.links += batch.links
    return {"seconds": measured.seconds, "sizes": measured.sizes, "links": measured.links}


@contextmanager
def temporary_store() -> Iterator[SearchableStore]:
    """Open an empty store with its keyword index, which is deleted afterwards."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        quads, words = QuadStore(folder / "store"), WordIndex(folder / "words")
        try:
            yield SearchableStore(quads, words)
        finally:
            words.close()
            quads.close()


def run_phases(fetched: Sequence[Page], store: SearchableStore, clock: Clock = time.process_time) -> Measured:
    """Run a batch through all phases after fetch, one phase after the other."""
    measured = Measured()
    detected = [_timed(measured, "detect", len(page.body), clock, lambda page=page: _detect(page)) for page in fetched]
    # a document parses its HTML on first use, which is in transform; extract uses the same tree
    documents = [
        Document(url=page.url, body=page.body, detected=found)
        for page, found in zip(fetched, detected, strict=True)
        if MEDIA[found.kind].is_html or MEDIA[found.kind].is_rdf
    ]
    results = [_timed(measured, "transform", len(one.body), clock, lambda one=one: transform(one)) for one in documents]
    for one, result in zip(documents, results, strict=True):
        collect = lambda one=one, result=result: collect_links(one, result)  # noqa: E731
        measured.links += len(_timed(measured, "extract", len(one.body), clock, collect))
    began = clock()
    records = [_record(one.url, result) for one, result in zip(documents, results, strict=True)]
    store.write(records)
    store.flush()
    measured.add("index", clock() - began, sum(record.quads for record in records))
    return measured


def _timed(measured: Measured, phase: str, size: int, clock: Clock, work: Callable[[], Any]) -> Any:
    began = clock()
    done = work()
    measured.add(phase, clock() - began, size)
    return done


def _detect(page: Page) -> Detected:
    return detect(page.body, url=page.url, content_type=page.headers.get("content-type", ""))


def _record(url: str, result: TransformResult) -> PageRecord:
    graph_quads, quads, graphs = serialize_page(url, result)
    return PageRecord(
        url=url,
        fetched_at=0.0,
        status=200,
        graph_quads=graph_quads,
        quads=quads,
        graphs=graphs,
    )


def fetch_pages(web: str, pages: int) -> tuple[list[Page], Measured]:
    """Fetch random pages: from the archive of the recorded web, or by HTTP from a server in another process."""
    return _from_archive(pages) if web == RECORDED else _over_loopback(web, pages)


def _from_archive(pages: int) -> tuple[list[Page], Measured]:
    """Read random pages of the recorded web by their offset in the file."""
    web = RecordedWeb(CORPUS / "sites.warc.gz")
    urls = web.urls()
    random.Random(0).shuffle(urls)
    found: list[Page] = []
    measured = Measured()
    for url in urls:
        began = time.process_time()
        answer = web.read_response(url)
        if isinstance(answer, Page):
            measured.add("fetch", time.process_time() - began, len(answer.body))
            found.append(answer)
            if len(found) == pages:
                break
    return found, measured


def _over_loopback(web: str, pages: int) -> tuple[list[Page], Measured]:
    """Fetch random pages of the synthetic web by HTTP from a server in another process."""
    count, seed = synthetic_pages(web), web_spec(web).web_seed
    known = SyntheticWeb(count, seed)
    drawn = random.Random(0)
    hosts = [drawn.choice(known.hosts()) for _ in range(pages)]
    urls = list(dict.fromkeys(drawn.choice(list(known.urls(host))) for host in hosts))
    command = [sys.executable, "-m", "motherlode.sim.synthetic.server", "--pages", str(count), "--seed", str(seed)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None and server.stdin is not None
        port = json.loads(server.stdout.readline())["port"]
        options = HttpOptions(user_agent="motherlode", allow=("127.0.0.0/8",), hosts=hosts_table(known, port))
        try:
            return asyncio.run(_fetched(urls, options))
        finally:
            server.stdin.close()


async def _fetched(urls: Iterable[str], options: HttpOptions) -> tuple[list[Page], Measured]:
    """Fetch with several requests at the same time. A page is charged what was spent since the page before it."""
    fetcher = HttpFetcher(options)
    found: list[Page] = []
    measured = Measured()
    waiting = iter(urls)
    before = time.process_time()

    async def work() -> None:
        nonlocal before
        for url in waiting:
            answer = await fetcher.fetch(Request(url=url))
            if isinstance(answer, Page):
                now = time.process_time()
                measured.add("fetch", now - before, len(answer.body))
                before = now
                found.append(answer)

    await asyncio.gather(*(work() for _ in range(_AT_ONCE)))
    await fetcher.close()
    return found, measured
