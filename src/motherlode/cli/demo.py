"""`demo`: a small web of data on this machine, crawled before your eyes, breadth-first and focused."""

from __future__ import annotations

import dataclasses
import shutil
import time
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer
import uvloop

from motherlode.cli.progress import CrawlProgress, watch
from motherlode.cli.query import answer_table
from motherlode.cli.terminal import FAILED, print_table, say, stop
from motherlode.crawler import CrawlFolder, CrawlStats, Job, JobError, read_stats
from motherlode.crawler.engine.factory import assemble
from motherlode.crawler.report.figures import report_of
from motherlode.crawler.report.page import write_report
from motherlode.crawler.report.plot import Curve
from motherlode.index import QuadStore
from motherlode.sim.synthetic.server_process import WebServer

FOCUSED = "motherlode"
ENOUGH_PAGES = 1000
"""With so many requests a crawl comes to what the question asks for."""
QUESTION = """
SELECT ?name ?euros ?page {
  GRAPH ?page { ?thing schema:name ?name ; schema:offers [ schema:price ?euros ; schema:priceCurrency "EUR" ] }
} ORDER BY xsd:decimal(?euros) ?name LIMIT 8
""".strip()


def demo(
    *,
    folder: Annotated[
        Path,
        typer.Option("-o", "--output", metavar="DIR", help="Where the two crawls go; an earlier demo is replaced."),
    ] = Path("demo"),
    pages: Annotated[int, typer.Option(metavar="N", min=1, help="Budget of each crawl.")] = ENOUGH_PAGES,
    port: Annotated[
        int, typer.Option(metavar="PORT", min=0, max=65535, help="Where the web is served; 0 takes a free port.")
    ] = 0,
    seed: Annotated[int, typer.Option(metavar="S", help="Another seed gives another web.")] = 1,
) -> None:
    """Show what the crawler does, on a web of its own.

    A small web of data is generated, served on loopback, and crawled twice on the same budget: breadth-first, and by
    the default policy.
    """
    _clear(folder)
    try:
        with WebServer(pages=5000, seed=seed, port=port) as web:
            say(f"a web of 5,000 pages on {web.host_count} hosts is served on this machine; most pages hold no data")
            job = _job(web, pages=pages, seed=seed)
            found = {}
            for policy in ("bfs", FOCUSED):
                say(f"crawling {pages:,} pages with --policy {policy}")
                found[policy] = _crawl(dataclasses.replace(job, policy=policy), folder / policy.partition(":")[0])
    except OSError as error:
        stop(f"{error}; --port 0 takes a free port", code=FAILED)
    _compare(found)
    focused = folder / FOCUSED.partition(":")[0]
    curves = [Curve(name=name, points=tuple(stats.totals.curve)) for name, stats in found.items()]
    _report(focused, job, found[FOCUSED], curves)
    say(f"\nmotherlode query {quote(str(focused))} {quote(QUESTION)}")
    if not answer_table(QuadStore(CrawlFolder(focused).store, read_only=True).query(QUESTION), QUESTION):
        say(
            f"the crawl came to nothing with a price in euros in {pages:,} pages: a larger budget, as in --pages "
            f"{max(ENOUGH_PAGES, 2 * pages)}, comes to some"
        )
    say(f"report with the harvest curves: {CrawlFolder(focused).report}")


def _job(web: WebServer, *, pages: int, seed: int) -> Job:
    return Job(
        seeds=tuple(web.seeds),
        pages=pages,
        delay=0.0,
        allow=("127.0.0.0/8",),
        hosts={name: f"{address}:{port}" for name, (address, port) in web.hosts.items()},
        retry_wait=0.05,
        seed=seed,
    )


def _clear(folder: Path) -> None:
    """Remove an earlier demo, and nothing else."""
    if not folder.exists():
        return
    crawls = [CrawlFolder(inner) for inner in folder.iterdir()] if folder.is_dir() else []
    if not folder.is_dir() or not all(crawl.holds_a_crawl for crawl in crawls):
        stop(f"{folder} holds something that is not an earlier demo: choose another folder with -o")
    shutil.rmtree(folder)


def _crawl(job: Job, path: Path) -> CrawlStats:
    folder = CrawlFolder(path)
    try:
        folder.create(job)
    except JobError as error:
        stop(str(error))
    stopped = _run(job, folder)
    stats = read_stats(folder)
    write_report(folder.report, report_of(job, stats, made_at=time.time()))
    if stopped:  # the user has seen enough: there is nothing to compare
        say(f"stopped, and the web of the demo is gone with it; what was found is in {quote(str(path))}")
        raise typer.Exit(FAILED)
    return stats


def _run(job: Job, folder: CrawlFolder) -> bool:
    """A crawl that nobody can resume, because its web ends with this command; True where the user stopped it."""
    try:
        return uvloop.run(_visit_all(job, folder))
    except OSError as error:
        stop(str(error), code=FAILED)
    finally:
        folder.unlock()


async def _visit_all(job: Job, folder: CrawlFolder) -> bool:
    assembled = assemble(job, folder)
    crawl = assembled.engine
    progress = CrawlProgress(job, crawl.totals, assembled.frontier, quiet=False)
    try:
        return await watch(crawl.visits(assembled.seeds), progress, stop=crawl.stop)
    finally:
        assembled.store.close()


def _compare(found: dict[str, CrawlStats]) -> None:
    rows = [
        (
            name,
            f"{stats.totals.fetched:,}",
            f"{stats.totals.relevant:,}",
            f"{stats.totals.harvest_rate:.3f}",
            f"{stats.totals.quads:,}",
            f"{stats.totals.seconds:.1f} s",
        )
        for name, stats in found.items()
    ]
    print_table(("policy", "fetched", "relevant", "harvest rate", "quads", "time"), rows)
    plain, focused = (stats.totals.relevant for stats in found.values())
    say(f"the focused crawl found {focused / max(1, plain):.1f} times as many pages with data")


def _report(path: Path, job: Job, stats: CrawlStats, curves: list[Curve]) -> None:
    folder = CrawlFolder(path)
    report = report_of(dataclasses.replace(job, policy=FOCUSED), stats, made_at=time.time())
    write_report(folder.report, dataclasses.replace(report, curves=tuple(curves)))
