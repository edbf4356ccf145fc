"""The command `demo`: generate a small web, serve it on loopback, and crawl it with two policies."""

import dataclasses
import shutil
import time
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer
import uvloop

from motherlode.cli.crawl_run import visit_all
from motherlode.cli.options import OUTPUT, option
from motherlode.cli.query import print_solutions
from motherlode.cli.terminal import FAILED, print_table, say, stop
from motherlode.crawler import CrawlFolder, CrawlStats, Job, read_stats
from motherlode.crawler.report.crawl_report import build_report, write_report
from motherlode.crawler.report.plot import Curve
from motherlode.index.quad_store import QuadStore
from motherlode.sim.synthetic.server_process import WebServer

FOCUSED = "motherlode"
DEFAULT_PAGES = 1000
"""Default budget of each crawl in pages: enough to reach the pages that the query of the demo selects."""
_WEB_PAGES = 5000
QUERY = """
SELECT ?name ?euros ?page {
  GRAPH ?page { ?thing schema:name ?name ; schema:offers [ schema:price ?euros ; schema:priceCurrency "EUR" ] }
} ORDER BY xsd:decimal(?euros) ?name LIMIT 8
""".strip()


def demo(
    *,
    folder: Annotated[Path, option("DIR", "Folder for the two crawls; an earlier demo is replaced.", *OUTPUT)] = Path(
        "demo"
    ),
    pages: Annotated[int, option("N", "Budget of each crawl.", min=1)] = DEFAULT_PAGES,
    port: Annotated[int, option("PORT", "Port of the generated web; 0 takes a free port.", min=0, max=65535)] = 0,
    seed: Annotated[int, option("S", "Another seed gives another web.")] = 1,
) -> None:
    """Show a focused crawl on a generated web.

    The command generates a small web of data, serves it on loopback, and crawls it twice with the same budget:
    breadth-first, and with the default policy. Nothing leaves this machine.

    \b
    Examples:
      motherlode demo
      motherlode demo --pages 300 --seed 2 -o demo2
    """
    _clear(folder)
    try:
        with WebServer(pages=_WEB_PAGES, seed=seed, port=port) as web:
            say(f"serving a web of {_WEB_PAGES:,} pages on {len(web.hosts)} hosts; most pages have no structured data")
            job = _job(web, pages=pages, seed=seed)
            found = {}
            for policy in ("bfs", FOCUSED):
                say(f"crawling {pages:,} pages with --policy {policy}")
                found[policy] = _crawl(dataclasses.replace(job, policy=policy), folder / policy)
    except OSError as error:
        stop(f"{error}; --port 0 takes a free port", code=FAILED)
    _print_comparison(found)
    focused = CrawlFolder(folder / FOCUSED)
    curves = tuple(Curve(name=name, points=tuple(stats.totals.curve)) for name, stats in found.items())
    _write_report(focused, dataclasses.replace(job, policy=FOCUSED), found[FOCUSED], curves)
    say(f"\nmotherlode query {quote(str(focused.path))} {quote(QUERY)}")
    if not print_solutions(QuadStore(focused.store, read_only=True).query(QUERY), QUERY):
        larger = max(DEFAULT_PAGES, 2 * pages)
        say(f"the crawl found no price in euros in {pages:,} pages: try a larger budget, as in --pages {larger}")
    say(f"report with the harvest curves: {focused.report}")


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
    """Remove the folder if it is an earlier demo. Exit with an error if it has anything else."""
    if not folder.exists():
        return
    crawls = [CrawlFolder(inner) for inner in folder.iterdir()] if folder.is_dir() else []
    if not folder.is_dir() or not all(crawl.has_crawl for crawl in crawls):
        stop(f"{folder} has files that are not from an earlier demo: choose another folder with -o")
    shutil.rmtree(folder)


def _crawl(job: Job, path: Path) -> CrawlStats:
    folder = CrawlFolder(path)
    folder.create(job)
    try:
        stopped = uvloop.run(visit_all(job, folder, quiet=False))
    except OSError as error:
        stop(str(error), code=FAILED)
    finally:
        folder.unlock()
    stats = read_stats(folder)
    _write_report(folder, job, stats)
    if stopped:
        say(f"stopped, and the web of the demo with it; the data found so far is in {quote(str(path))}")
        raise typer.Exit(FAILED)
    return stats


def _print_comparison(found: dict[str, CrawlStats]) -> None:
    rows = []
    for name, stats in found.items():
        totals = stats.totals
        counts = (f"{totals.fetched:,}", f"{totals.relevant:,}", f"{totals.harvest_rate:.3f}", f"{totals.quads:,}")
        rows.append((name, *counts, f"{totals.seconds:.1f} s"))
    print_table(("policy", "fetched", "relevant", "harvest rate", "quads", "time"), rows)
    plain, focused = (stats.totals.relevant for stats in found.values())
    say(f"the focused crawl found {focused / max(1, plain):.1f} times as many relevant pages")


def _write_report(folder: CrawlFolder, job: Job, stats: CrawlStats, curves: tuple[Curve, ...] = ()) -> None:
    """Write the report of a crawl. `curves` replaces its own harvest curve, to compare it with others."""
    report = build_report(job, stats, made_at=time.time())
    write_report(folder.report, dataclasses.replace(report, curves=curves or report.curves))
