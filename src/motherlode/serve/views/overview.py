"""What a crawl's folder tells, running or over; asked for at most every second."""

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
from motherlode.serve.views.elements import Row, bar, entity, inside, nothing, page, table

_FRESH_SECONDS = 1.0
_FRONTIER = threading.Lock()
"""Held while the frontier is read, because py-lmdb (3.0) refuses to open a file that this process has open already."""


class CrawlView:
    """Reads; never writes, and never holds what the crawl needs. Its methods block: call them from a thread."""

    def __init__(self, folder: CrawlFolder) -> None:
        self.folder = folder
        self._job = folder.read_job()
        self._read: tuple[float, CrawlStats] | None = None
        self._searcher: WordSearcher | None = None
        self._opening = threading.Lock()

    def running(self) -> bool:
        """Whether a process holds the folder's lock. Looked up, not tried, which might keep a crawl from starting."""
        try:
            inode = (self.folder.path / "lock").stat().st_ino
            locks = Path("/proc/locks").read_text(encoding="ascii", errors="replace")
        except OSError:
            return False
        return any(f":{inode} " in line for line in locks.splitlines() if "FLOCK" in line)

    def _stats(self) -> CrawlStats:
        """The account, read anew if it is older than a second. Threads that ask meanwhile wait and share it."""
        with _FRONTIER:
            if self._read is None or time.monotonic() - self._read[0] > _FRESH_SECONDS:
                read = read_stats(self.folder)
                self._read = time.monotonic(), read
            return self._read[1]

    def report(self) -> CrawlReport:
        """The crawl's account as of its last commit."""
        return build_report(self._job, self._stats())

    def progress(self) -> tuple[int, int | None]:
        """Pages that were asked for, and how many may be."""
        return self._stats().totals.fetched, self._job.pages

    def search(self, asked: Search) -> list[Hit]:
        """FileNotFoundError where the crawl keeps no words."""
        with self._opening:
            if self._searcher is None:
                self._searcher = WordSearcher(self.folder.words)
            self._searcher.refresh()
        return self._searcher.search(asked)


# ── The first page: what the crawl is, how it goes, and what it has found.

TOP_TYPES = """
SELECT ?type (COUNT(?s) AS ?n) { ?s a ?type } GROUP BY ?type ORDER BY DESC(?n) ?type LIMIT 12
"""
_HOSTS, _COUNTS = 12, 8


def overview(report: CrawlReport, types: Sequence[Row] | None, *, running: bool, done: tuple[int, int | None]) -> str:
    """`types` is None where they could not be counted in time."""
    content = element("div", live_part(report, running=running, done=done), id="live", data_live=str(running).lower())
    start = element(
        "section",
        element("h2", "Look inside"),
        _search_form(),
        element(
            "p",
            "or ",
            inside("/query", {}, "write a SPARQL query"),
            "; programs ask at ",
            element("code", "/sparql"),
            ".",
            class_="muted",
        ),
    )
    return page(report.title, content, start, _types(types), _hosts(report), _details(report), here="/", live=running)


def live_part(report: CrawlReport, *, running: bool, done: tuple[int, int | None]) -> Markup:
    """What changes while the crawl runs; the script fetches it again and again."""
    state = element("span", "running" if running else "at rest", class_="state on" if running else "state")
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
        joined(bar(fetched, most), element("p", f"{fetched:,} of {most:,} pages", class_="note")) if most else nothing
    )
    return joined(
        element("h1", report.title, " ", state),
        element("dl", *asked, class_="asked"),
        share if running else nothing,
        element("dl", *tiles, class_="figures"),
        _harvest(report),
    )


def _harvest(report: CrawlReport) -> Markup:
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


def _types(types: Sequence[Row] | None) -> Markup:
    if types is None:
        return nothing
    counts = [(row["type"].value, int(row["n"].value)) for row in types if "type" in row]
    if not counts:
        return nothing
    most = counts[0][1]
    rows = [
        (
            entity(name) if not name.startswith("_:") else name,
            joined(element("span", f"{count:,}", class_="count"), bar(count, most)),
            inside("/query", {"q": f"SELECT * {{ GRAPH ?page {{ ?s a <{name}> }} }} LIMIT 100"}, "list"),
        )
        for name, count in counts
    ]
    return element("section", element("h2", "Most common types"), table(("Type", "Subjects", ""), rows, class_="bars"))


def _hosts(report: CrawlReport) -> Markup:
    hosts = sorted(report.hosts, key=lambda host: (-host.relevant, -host.fetched, host.name))[:_HOSTS]
    if not hosts:
        return nothing
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
    return element("section", element("h2", "Hosts that gave most"), table(heads, rows, class_="bars"))


def _details(report: CrawlReport) -> Markup:
    syntaxes = sorted(report.syntaxes, key=lambda row: (row.plain, -row.pages))
    first = table(("Syntax", "Pages", "Statements"), ([r.name, f"{r.pages:,}", f"{r.statements:,}"] for r in syntaxes))
    failures = sorted(report.failures, key=lambda count: -count.count)[:_COUNTS]
    second = table(("Failure", "Times"), ([element("bdi", count.name), f"{count.count:,}"] for count in failures))
    none = element("p", "None.", class_="muted")
    return element(
        "div",
        element("section", element("h2", "Syntaxes"), first if syntaxes else none),
        element("section", element("h2", "Failures"), second if failures else none),
        class_="pair",
    )
