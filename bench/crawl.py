"""From seeds to stored quads: Motherlode against Scrapy + extruct + PyLD, on the same pages, in one run.

    python bench/crawl.py [--pages 5000]

The pages are a random sample of ../shared/corpus, served by nginx on 24 loopback addresses. The seeds are 24 list
pages, one per address, which link to all its pages. Both crawlers follow the links to these pages, so both have to
collect the links of every page. There is no delay, and 64 requests run at a time. The peer appends N-Quads to a file.
Motherlode does the same in the row that is compared with it (`--index later`), with a durable frontier and provenance;
in the other rows it fills a store and a word index while it crawls.

nginx has one core, and in most rows the crawler has the other. In one row Motherlode has both cores, one of them shared
with the server; Scrapy cannot use a second core. In one row the peer gets all pages as seeds and collects no links. The
benchmark runs in a network namespace with loopback only (`isolation`).
"""

from __future__ import annotations

import argparse
import asyncio
import compileall
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

from isolation import run_alone
from motherlode.crawler.parsing.messages import PageBody, ParseOptions
from motherlode.crawler.parsing.page_parser import PageParser
from motherlode.detect import detect
from motherlode.fetch import HttpFetcher, HttpOptions
from motherlode.frontier import End, Frontier, LmdbStorage, Politeness
from motherlode.index.page_record import PageRecord, serialize_page
from motherlode.index.quad_store import QuadStore
from motherlode.links.collect import collect_links as extract_links
from motherlode.model import Link, LinkSource, Page, Request
from motherlode.policies import policy_from
from motherlode.sim.trace.recorder import Responses
from motherlode.transform import transform
from motherlode.transform.timeouts import shared_timer
from motherlode.www.document import Document
from results import record, table

SOURCES = Path(__file__).resolve().parents[1] / "src"
CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpus" / "sites.warc.gz"
ADDRESSES = [f"127.0.1.{last}" for last in range(1, 25)]
CRAWLER_CORE, SERVER_CORE = 0, 1
EXTENSIONS = {
    "text/html": "html",
    "text/turtle": "ttl",
    "application/rdf+xml": "rdf",
    "application/ld+json": "jsonld",
    "application/xml": "xml",
}
PORT = 18080
SCOPE = rf"http://127\.0\.1\.\d+:{PORT}/drawn-(list|\d+)\.({'|'.join(EXTENSIONS.values())})$"
SPIDER = Path(__file__).parent / "peers" / "scrapy_extruct.py"
FETCH_ONLY = Path(__file__).parent / "fetch_only.py"
PEER, PEER_FETCHING = "Scrapy + extruct + PyLD", "Scrapy, fetching only"
PEER_LINKLESS = "Scrapy + extruct + PyLD, no links"
OURS, OURS_FETCHING = "Motherlode, to N-Quads (index = later)", "Motherlode, fetching only"
OURS_INDEXED = "Motherlode, indexed while crawling, quads and words"
OURS_WORDLESS = "Motherlode, indexed while crawling, quads only"
OURS_ON_BOTH = "Motherlode, indexed while crawling, with the server's core as well"


def draw(pages: int) -> list[Page]:
    """Return a random sample of the HTML and RDF pages of the corpus."""
    found = [
        page
        for page in Responses(CORPUS)
        if isinstance(page, Page) and page.content_type.partition(";")[0] in EXTENSIONS
    ]
    random.Random(1).shuffle(found)
    return found[:pages]


class Nginx:
    """nginx on a core of its own that serves the pages on loopback."""

    def __init__(self, folder: Path, pages: list[Page]) -> None:
        self._folder = folder
        root = folder / "root"
        root.mkdir()
        self.urls = []
        for number, page in enumerate(pages):
            address = ADDRESSES[number % len(ADDRESSES)]
            name = f"drawn-{number}.{EXTENSIONS[page.content_type.partition(';')[0]]}"
            (root / address).mkdir(exist_ok=True)
            (root / address / name).write_bytes(page.body)
            self.urls.append(f"http://{address}:{PORT}/{name}")
        self.lists = [self._list(root, address) for address in ADDRESSES]
        (folder / "nginx.conf").write_text(self._configuration(root))

    def _list(self, root: Path, address: str) -> str:
        """Write a page that links to all other pages of an address, and return its URL."""
        links = "\n".join(f'<li><a href="{file.name}">{file.stem}</a>' for file in sorted((root / address).iterdir()))
        (root / address / "drawn-list.html").write_text(f"<!DOCTYPE html><title>{address}</title><ul>{links}</ul>")
        return f"http://{address}:{PORT}/drawn-list.html"

    def _configuration(self, root: Path) -> str:
        listen = "".join(f"listen {address}:{PORT}; " for address in ADDRESSES)
        types = "".join(f"{media} {extension}; " for media, extension in EXTENSIONS.items())
        return (
            f"worker_processes 1; daemon off; pid {self._folder}/pid; error_log {self._folder}/error.log;\n"
            f"user root; events {{ worker_connections 2048; }}\n"
            f"http {{ access_log off; sendfile on; keepalive_requests 100000; types {{ {types} }}\n"
            f"charset utf-8; server {{ {listen} root {root}/$server_addr; }} }}\n"
        )

    def __enter__(self) -> Nginx:
        command = [
            "taskset",
            "-c",
            str(SERVER_CORE),
            "nginx",
            "-p",
            str(self._folder),
            "-c",
            str(self._folder / "nginx.conf"),
        ]
        self._process = subprocess.Popen(command)
        time.sleep(1)
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(timeout=10)


def run(command: list[str], *, cores: str = str(CRAWLER_CORE)) -> tuple[float, float]:
    """Run a command on these cores; return its wall-clock and CPU seconds."""
    before = os.times()
    began = time.perf_counter()
    subprocess.run(["taskset", "-c", cores, *command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wall = time.perf_counter() - began
    after = os.times()
    return wall, after.children_user + after.children_system - before.children_user - before.children_system


def ours(
    seeds: Path, pages: int, out: Path, *, cores: str = str(CRAWLER_CORE), index: str = "now", words: bool = True
) -> tuple[float, float, int]:
    shutil.rmtree(out, ignore_errors=True)
    config = out.with_name("job.toml")
    config.write_text(f'index = "{index}"\nwords = {str(words).lower()}\n')
    motherlode = [sys.executable, "-m", "motherlode"]
    asked = ["--seeds", str(seeds), "--pages", str(pages), "--delay", "0", "--policy", "bfs", "--scope", SCOPE]
    wall, cpu = run(
        [*motherlode, "crawl", "--config", str(config), *asked, "--allow", "127.0.0.0/8", "-o", str(out), "--quiet"],
        cores=cores,
    )
    done = subprocess.run([*motherlode, "stats", str(out), "--json"], check=True, capture_output=True, text=True)
    stats = json.loads(done.stdout)
    assert stats["fetched"] == pages and not stats["failures"], stats
    return wall, cpu, stats["quads"]


def ours_fetching(seeds: Path) -> tuple[float, float, int]:
    return *run([sys.executable, str(FETCH_ONLY), str(seeds)]), 0


def scrapy(seeds: Path, out: Path, mode: str) -> tuple[float, float, int]:
    wall, cpu = run([sys.executable, str(SPIDER), str(seeds), str(out), SCOPE, mode])
    return wall, cpu, out.read_bytes().count(b"\n")


def phases(pages: list[Page], urls: list[str], folder: Path) -> list[tuple[str, float]]:
    """Return the CPU of each phase in µs per page, measured in this process."""
    spent: list[tuple[str, float]] = []

    def measure(name: str, work: object) -> None:
        began = time.process_time()
        work()  # type: ignore[operator]
        spent.append((name, 1e6 * (time.process_time() - began) / len(pages)))

    measure("fetch", lambda: asyncio.run(_fetch_all(urls)))
    reading: dict[str, float] = dict.fromkeys(("detect", "transform", "links", "quads as lines"), 0.0)
    links: list[list[Link]] = []
    records = []
    with shared_timer():
        for page, url in zip(
            pages, urls, strict=True
        ):  # page by page, because keeping every tree would add the cost of new memory
            moments = [time.process_time()]
            kind = detect(page.body, url=url, content_type=page.content_type)
            moments.append(time.process_time())
            document = Document(url=url, body=page.body, detected=kind)
            facts = transform(document)
            moments.append(time.process_time())
            links.append(extract_links(document, facts))
            moments.append(time.process_time())
            graph_quads, quads, graphs = serialize_page(url, facts)
            moments.append(time.process_time())
            for name, (began, ended) in zip(reading, pairwise(moments), strict=True):
                reading[name] += 1e6 * (ended - began) / len(pages)
            records.append(
                PageRecord(
                    url=url,
                    fetched_at=0.0,
                    status=200,
                    graph_quads=graph_quads,
                    quads=quads,
                    graphs=graphs,
                )
            )
    spent.extend(reading.items())
    store = QuadStore(folder / "phases-store")
    measure("index", lambda: [store.write(records[start : start + 250]) for start in range(0, len(records), 250)])
    measure("frontier", lambda: _frontier(links, folder / "phases-frontier"))
    reader = PageParser(ParseOptions(target="any"))
    measure(
        "parsing in total",
        lambda: [
            reader.read(PageBody(url=u, content_type=p.content_type, body=p.body))
            for p, u in zip(pages, urls, strict=True)
        ],
    )
    return spent


async def _fetch_all(urls: list[str]) -> None:
    fetcher = HttpFetcher(HttpOptions(user_agent="bench", allow=("127.0.0.0/8",)))
    gate = asyncio.Semaphore(64)

    async def one(url: str) -> None:
        async with gate:
            assert isinstance(await fetcher.fetch(Request(url=url)), Page)

    await asyncio.gather(*(one(url) for url in urls))
    await fetcher.close()


def _frontier(links: list[list[Link]], path: Path) -> None:
    policy = policy_from("bfs")
    storage = LmdbStorage(path)
    frontier = Frontier(
        storage=storage, policy=policy, scope=lambda url: "", read_rules=None, politeness=Politeness(delay=0.0)
    )
    frontier.add_links([Link(url="http://seed.example/", source=LinkSource.SEED)], parent=None)
    for number, found in enumerate(links):
        frontier.add_links(found, parent=None)
        lease = frontier.lease(float(number))
        if lease is not None:
            frontier.response_received(lease, float(number))
            frontier.end(lease, End.FETCHED, 0.0)
        if number % 500 == 0:
            frontier.commit()
    frontier.commit()
    storage.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=5000)
    options = parser.parse_args()
    if not CORPUS.exists():
        sys.exit("../shared/corpus is absent: this benchmark reads its pages from there")
    if shutil.which("nginx") is None:
        sys.exit("this benchmark needs nginx: apt-get install nginx")
    run_alone()
    compileall.compile_dir(SOURCES, quiet=1)  # installed packages, including the peers, are compiled too
    pages = draw(options.pages)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with Nginx(folder, pages) as server:
            seeds, everything, quads = (folder / name for name in ("seeds.txt", "everything.txt", "scrapy.nq"))
            seeds.write_text("\n".join(server.lists))
            everything.write_text("\n".join(server.urls))
            both = f"{CRAWLER_CORE},{SERVER_CORE}"
            all_pages = len(pages) + len(server.lists)
            rows = [
                (PEER, *scrapy(seeds, quads, "crawl")),
                (OURS, *ours(seeds, all_pages, folder / "out", index="later")),
                (OURS_INDEXED, *ours(seeds, all_pages, folder / "out")),
                (OURS_WORDLESS, *ours(seeds, all_pages, folder / "out", words=False)),
                (OURS_ON_BOTH, *ours(seeds, all_pages, folder / "out", cores=both)),
                (PEER_LINKLESS, *scrapy(everything, quads, "list")),
                (PEER_FETCHING, *scrapy(everything, quads, "fetch")),
                (OURS_FETCHING, *ours_fetching(everything)),
            ]
            spent = phases(pages, server.urls, folder)
    print_and_record(len(pages), rows, spent)


def print_and_record(pages: int, rows: list[tuple[str, float, float, int]], spent: list[tuple[str, float]]) -> None:
    rates = {name: pages / wall for name, wall, _, _ in rows}
    crawlers = table(
        ("crawler", "pages/s", "CPU ms per page", "quads"),
        [(name, f"{rates[name]:.0f}", f"{1000 * cpu / pages:.2f}", f"{quads:,}") for name, _, cpu, quads in rows],
    )
    by_phase = table(("phase", "CPU µs per page"), [(name, f"{microseconds:.0f}") for name, microseconds in spent])
    text = f"""## A crawl, from seeds to quads on disk (`bench/crawl.py`, {pages:,} pages)

{crawlers}

- from seeds to N-Quads on disk, on one core: **{rates[OURS] / rates[PEER]:.1f} times** the pages per second of Scrapy +
  extruct (at least 20); {rates[OURS] / rates[PEER_LINKLESS]:.1f} times those of the peer without links
- to a queryable store with words, on one core: {rates[OURS_INDEXED] / rates[PEER]:.1f} times; without words
  {rates[OURS_WORDLESS] / rates[PEER]:.1f} times; with the server's core in addition
  **{rates[OURS_ON_BOTH] / rates[PEER]:.1f} times**
- fetching only on both sides: **{rates[OURS_FETCHING] / rates[PEER_FETCHING]:.1f} times** Scrapy (at least 8)
- our whole crawl to N-Quads against Scrapy fetching only: {rates[OURS] / rates[PEER_FETCHING]:.2f} times

{by_phase}
"""
    print(text)
    record("crawl", text)


if __name__ == "__main__":
    main()
