"""The overview page, and `CrawlView`, which reads the folder of a running or finished crawl."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path

from motherlode.crawler.folder import CrawlFolder
from motherlode.crawler.report.figures import build_report
from motherlode.crawler.report.page import CrawlReport
from motherlode.crawler.report.plot import Markup, element, joined, line_chart
from motherlode.crawler.stats.reader import CrawlStats, read_stats
from motherlode.index.fulltext import Hit, Search, WordSearcher
from motherlode.serve.views.elements import NOTHING, Row, bar, entity_link, own_link, render_page, table

_MAX_AGE_SECONDS = 1.0
_FRONTIER_LOCK = threading.Lock()
"""Held while the frontier is read, because py-lmdb (3.0) cannot open a file twice in one process."""


class CrawlView:
    """Reads the folder of a crawl, without writing and without locks. Its methods block: call them in a thread."""

    def __init__(self, folder: CrawlFolder) -> None:
        self.folder = folder
        self._job = folder.read_job()
        self._cached_stats: tuple[float, CrawlStats] | None = None
        self._searcher: WordSearcher | None = None
        self._searcher_lock = threading.Lock()

    def is_running(self) -> bool:
        """Return whether a process holds the folder's lock.

        It is looked up in /proc/locks, because trying to take the lock could keep a crawl from starting.
        """
        try:
            inode = (self.folder.path / "lock").stat().st_ino
            locks = Path("/proc/locks").read_text(encoding="ascii", errors="replace")
        except OSError:
            return False
        return any(f":{inode} " in line for line in locks.splitlines() if "FLOCK" in line)

    def _stats(self) -> CrawlStats:
        """Return the statistics, read again if they are older than a second. Concurrent threads share one read."""
        with _FRONTIER_LOCK:
            if self._cached_stats is None or time.monotonic() - self._cached_stats[0] > _MAX_AGE_SECONDS:
                read = read_stats(self.folder)
                self._cached_stats = time.monotonic(), read
            return self._cached_stats[1]

    def report(self) -> CrawlReport:
        """Return the report of the crawl as of its last checkpoint."""
        return build_report(self._job, self._stats())

    def progress(self) -> tuple[int, int | None]:
        """Return the number of fetched pages and the page budget; None if there is no budget."""
        return self._stats().totals.fetched, self._job.pages

    def search(self, search: Search) -> list[Hit]:
        """Search the word index. FileNotFoundError if the crawl has none."""
        with self._searcher_lock:
            if self._searcher is None:
                self._searcher = WordSearcher(self.folder.words)
            self._searcher.refresh()
        return self._searcher.search(search)


# The overview page.

TOP_TYPES = """
SELECT ?type (COUNT(?s) AS ?n) { ?s a ?type } GROUP BY ?type ORDER BY DESC(?n) ?type LIMIT 12
"""
_MAX_HOSTS, _MAX_FAILURES = 12, 8


def render_overview(
    report: CrawlReport, types: Sequence[Row] | None, *, is_running: bool, done: tuple[int, int | None]
) -> str:
    """Return the overview page. `types` is None if they could not be counted in time."""
    content = element(
        "div", render_live_part(report, is_running=is_running, done=done), id="live", data_live=str(is_running).lower()
    )
    start = element(
        "section",
        element("h2", "Explore"),
        _search_form(),
        element(
            "p",
            "or ",
            own_link("/query", {}, "write a SPARQL query"),
            "; the SPARQL endpoint is ",
            element("code", "/sparql"),
            ".",
            class_="muted",
        ),
    )
    return render_page(
        report.title,
        content,
        start,
        _types_section(types),
        _hosts_section(report),
        _details_section(report),
        here="/",
        live=is_running,
    )


def render_live_part(report: CrawlReport, *, is_running: bool, done: tuple[int, int | None]) -> Markup:
    """Return the part that changes while the crawl runs. The script of the page fetches it repeatedly."""
    state = element("span", "running" if is_running else "not running", class_="state on" if is_running else "state")
    asked = [element("div", element("dt", name), element("dd", value)) for name, value in report.settings]
    tiles = [
        element(
            "div",
            element("dt", figure.label),
            element("dd", figure.value, class_="value"),
            element("dd", figure.note, class_="note"),
        )
        for figure in report.figures
    ]
    fetched, most = done
    share = (
        joined(bar(fetched, most), element("p", f"{fetched:,} of {most:,} pages", class_="note")) if most else NOTHING
    )
    return joined(
        element("h1", report.title, " ", state),
        element("dl", *asked, class_="asked"),
        share if is_running else NOTHING,
        element("dl", *tiles, class_="figures"),
        _harvest_section(report),
    )


def _harvest_section(report: CrawlReport) -> Markup:
    curves = [curve for curve in report.curves if curve.end[0]]
    if not curves:
        return element("p", "Nothing has been fetched yet.", class_="muted")
    title = "Harvest: relevant pages found by pages fetched"
    return element(
        "section",
        element("h2", "Harvest"),
        element("div", line_chart(curves, title=title, width=860, height=320, name="wide"), class_="wide"),
        element("div", line_chart(curves, title=title, width=350, height=300, name="narrow"), class_="narrow"),
    )


def _search_form() -> Markup:
    box = Markup('<input type="search" name="q" placeholder="Words: tomato soup" aria-label="Words" required>')
    return element("form", box, element("button", "Search"), action="/search", class_="big", role="search")


def _types_section(types: Sequence[Row] | None) -> Markup:
    if types is None:
        return NOTHING
    counts = [(row["type"].value, int(row["n"].value)) for row in types if "type" in row]
    if not counts:
        return NOTHING
    most = counts[0][1]
    rows = [
        (
            entity_link(name) if not name.startswith("_:") else name,
            joined(element("span", f"{count:,}", class_="count"), bar(count, most)),
            own_link("/query", {"q": f"SELECT * {{ GRAPH ?page {{ ?s a <{name}> }} }} LIMIT 100"}, "list"),
        )
        for name, count in counts
    ]
    return element("section", element("h2", "Most common types"), table(("Type", "Subjects", ""), rows, class_="bars"))


def _hosts_section(report: CrawlReport) -> Markup:
    hosts = sorted(report.hosts, key=lambda host: (-host.relevant, -host.fetched, host.name))[:_MAX_HOSTS]
    if not hosts:
        return NOTHING
    rows = [
        (
            element("bdi", host.name),
            joined(element("span", f"{host.relevant:,}", class_="count"), bar(host.relevant, host.fetched)),
            f"{host.fetched:,}",
            f"{host.quads:,}",
        )
        for host in hosts
    ]
    heads = ("Host", "Relevant", "Fetched", "Quads")
    return element("section", element("h2", "Hosts with most relevant pages"), table(heads, rows, class_="bars"))


def _details_section(report: CrawlReport) -> Markup:
    syntaxes = sorted(report.syntaxes, key=lambda row: (row.plain, -row.pages))
    first = table(("Syntax", "Pages", "Statements"), ([r.name, f"{r.pages:,}", f"{r.statements:,}"] for r in syntaxes))
    failures = sorted(report.failures, key=lambda count: -count.count)[:_MAX_FAILURES]
    second = table(("Failure", "Times"), ([element("bdi", count.name), f"{count.count:,}"] for count in failures))
    none = element("p", "None.", class_="muted")
    return element(
        "div",
        element("section", element("h2", "Syntaxes"), first if syntaxes else none),
        element("section", element("h2", "Failures"), second if failures else none),
        class_="pair",
    )
