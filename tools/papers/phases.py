"""MultiCrawler, Table 2: pages per second of each phase on one core, and the ratio to the fastest."""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from tools.papers.lab import Lab
from tools.papers.markdown import claims, note, section, table
from tools.papers.scale import RECORDED
from tools.papers.webs import CORPUS, web_spec

from motherlode.detect import detect
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

PUBLISHED = {"fetch": 38, "detect": 460, "transform": 5, "index": 92, "extract": 260}
"""Table 2, one server: pages per second. With two and four further machines transform reaches 13 and 21."""
BATCH = 100
"""Pages per batch for the index."""
_AT_ONCE = 16


def phase_times(*, web: str, pages: int) -> dict[str, Any]:
    """Return counts and pages per CPU second of each phase for the same pages; the first batch is a warm-up."""
    fetched, fetching = _from_archive(pages + BATCH) if web == RECORDED else _over_loopback(web, pages + BATCH)
    spent = dict.fromkeys(PUBLISHED, 0.0)
    counts = dict.fromkeys(("fetched", "pages", "bytes", "quads", "links"), 0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        store = SearchableStore(QuadStore(folder / "store"), WordIndex(folder / "words"))
        for first in range(0, len(fetched), BATCH):
            times, found = _through(fetched[first : first + BATCH], store)
            if first:
                spent = {phase: seconds + times.get(phase, 0.0) for phase, seconds in spent.items()}
                counts = {what: count + found[what] for what, count in counts.items()}
    rates = {phase: counts["pages"] / spent[phase] for phase in ("transform", "index", "extract")}
    rates |= {"fetch": len(fetched) / fetching, "detect": counts["fetched"] / spent["detect"]}
    return {**counts, "per_second": rates}


def _through(fetched: Sequence[Page], store: SearchableStore) -> tuple[dict[str, float], dict[str, int]]:
    """Run one batch through all phases after fetch; return CPU seconds by phase, and counts."""
    spent: dict[str, float] = {}
    spent["detect"], detected = _timed(
        lambda page: detect(page.body, url=page.url, content_type=page.headers.get("content-type", "")), fetched
    )
    kept = [(page, found) for page, found in zip(fetched, detected, strict=True) if _read(found.kind)]
    # a document parses its HTML on first use, which is in transform; extract uses the same tree
    documents = [Document(url=page.url, body=page.body, detected=found) for page, found in kept]
    spent["transform"], facts = _timed(transform, documents)
    spent["extract"], found_links = _timed(lambda pair: collect_links(*pair), zip(documents, facts, strict=True))
    began = time.process_time()
    records = [_record(document.url, fact) for document, fact in zip(documents, facts, strict=True)]
    store.write(records)
    store.flush()
    spent["index"] = time.process_time() - began
    return spent, {
        "fetched": len(fetched),
        "pages": len(documents),
        "bytes": sum(len(page.body) for page in fetched),
        "quads": sum(record.quads for record in records),
        "links": sum(map(len, found_links)),
    }


def _record(url: str, facts: TransformResult) -> PageRecord:
    graph_quads, union_quads, quads, graphs = serialize_page(url, facts)
    return PageRecord(
        url=url,
        fetched_at=0.0,
        status=200,
        graph_quads=graph_quads,
        union_quads=union_quads,
        quads=quads,
        graphs=graphs,
    )


def _read(kind: Any) -> bool:
    return MEDIA[kind].is_html or MEDIA[kind].is_rdf


def _timed(work: Callable[[Any], Any], items: Iterable[Any]) -> tuple[float, list[Any]]:
    listed = list(items)
    began = time.process_time()
    done = [work(item) for item in listed]
    return time.process_time() - began, done


def _from_archive(pages: int) -> tuple[list[Page], float]:
    """Read random pages of the recorded web by their offset in the file."""
    web = RecordedWeb(CORPUS / "sites.warc.gz")
    urls = web.urls()
    random.Random(0).shuffle(urls)
    found: list[Page] = []
    spent = 0.0
    for url in urls:
        began = time.process_time()
        answer = web.read_response(url)
        if isinstance(answer, Page):
            spent += time.process_time() - began
            found.append(answer)
            if len(found) == pages:
                break
    return found, spent


def _over_loopback(web: str, pages: int) -> tuple[list[Page], float]:
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
        try:
            return asyncio.run(
                _fetched(
                    urls, HttpOptions(user_agent="motherlode", allow=("127.0.0.0/8",), hosts=hosts_table(known, port))
                )
            )
        finally:
            server.stdin.close()


async def _fetched(urls: Sequence[str], options: HttpOptions) -> tuple[list[Page], float]:
    fetcher = HttpFetcher(options)
    found: list[Page] = []
    waiting = iter(urls)

    async def work() -> None:
        for url in waiting:
            answer = await fetcher.fetch(Request(url=url))
            if isinstance(answer, Page):
                found.append(answer)

    began = time.process_time()
    await asyncio.gather(*(work() for _ in range(_AT_ONCE)))
    spent = time.process_time() - began
    await fetcher.close()
    return found, spent


def phases(lab: Lab) -> str:
    asked = [{"web": web.web, "pages": lab.scale.phase_pages} for web in lab.scale.webs]
    found = {web.name: answer for web, answer in zip(lab.scale.webs, lab.run(phase_times, asked), strict=True)}
    rates = {web: answer["per_second"] for web, answer in found.items()}
    most = max(PUBLISHED.values())
    rows = []
    for phase, published in PUBLISHED.items():
        cells = [(f"{rate[phase]:,.0f}", f"{rate[phase] / max(rate.values()):.3f}") for rate in rates.values()]
        rows.append((phase, published, f"{published / most:.3f}", *(cell for pair in cells for cell in pair)))
    told = "; ".join(
        f"{web}: {answer['fetched']:,} responses of {answer['bytes'] / max(1, answer['fetched']) / 1000:.0f} KB, "
        f"{answer['quads']:,} quads, {answer['links']:,} links"
        for web, answer in found.items()
    )
    published_order = sorted(PUBLISHED, key=lambda phase: PUBLISHED[phase])
    return section(
        "### Table 2: pages per second of each phase",
        f"CPU time of one core; batches of {BATCH} pages pass all phases, as in a crawl. *fetch* reads "
        "from the archive of the recorded "
        "web, and over loopback HTTP from a server in another process for the synthetic one; only "
        "our side counts, and "
        "the network itself costs nothing here. *transform* includes parsing the HTML. *index* stores quads with "
        f"provenance and the words of literals. {told}.",
        table(("phase", "published", "ratio", *(f"{web}{what}" for web in rates for what in ("", ", ratio"))), rows),
        claims(
            [
                (
                    "transform is the slowest phase",
                    {web: min(rate, key=rate.get) == "transform" for web, rate in rates.items()},
                ),
                (
                    "detect is the fastest phase",
                    {web: max(rate, key=rate.get) == "detect" for web, rate in rates.items()},
                ),
                ("extract is faster than index", {web: rate["extract"] > rate["index"] for web, rate in rates.items()}),
                (
                    f"the whole order ({' < '.join(published_order)})",
                    {web: sorted(rate, key=rate.get) == published_order for web, rate in rates.items()},
                ),
            ]
        ),
        note("multicrawler-table-2"),
    )
