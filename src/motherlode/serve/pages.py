"""The pages of the web site: overview, search, query and errors, rendered by templates, and the state that they show.

The templates escape every value. Links lead to our own pages, or to http and https URLs only, because a crawled URL may
have any scheme, such as `javascript:`.
"""

import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pyoxigraph as ox
from markupsafe import Markup

from motherlode.crawler.folder import CrawlFolder
from motherlode.crawler.report import open_templates
from motherlode.crawler.report.crawl_report import CrawlReport, build_report, draw_harvest
from motherlode.crawler.stats.reader import CrawlStats, read_stats
from motherlode.index.fulltext import Hit, Search, Snippet, WordSearcher
from motherlode.index.query.diagnostics import query_form
from motherlode.index.query.query_pool import MAX_PAGE_RESULT_BYTES, QueryFailure, QueryPool, Row, Term, parse_results
from motherlode.index.query.query_worker import QueryRequest
from motherlode.model.terms import prefixed_name

_MAX_HOSTS, _MAX_FAILURES = 12, 8
_STATS_FRESH_SECONDS = 1.0
_FRONTIER_LOCK = threading.Lock()
"""Held while the frontier is read, because py-lmdb (3.0) cannot open a file twice in one process."""
MAX_ROWS = 1_000
TOP_TYPES = "SELECT ?type (COUNT(?s) AS ?n) { ?s a ?type } GROUP BY ?type ORDER BY DESC(?n) ?type LIMIT 12"


def own_url(path: str, **parameters: str | int) -> str:
    """Return the URL of a page of this site. Empty parameters are left out."""
    query = urlencode({name: value for name, value in parameters.items() if value}, errors="replace")
    return f"{path}?{query}" if query else path


def entity_url(iri: str, page: str = "") -> str:
    """Return the URL of the page about an IRI, or about a blank node of `page`."""
    return own_url("/entity", node=iri, page=page) if iri.startswith("_:") else own_url("/entity", iri=iri)


def is_web_url(url: str) -> bool:
    return url.lower().startswith(("http://", "https://"))


def cut(text: str, max_length: int = 600) -> str:
    """Return the text, or its beginning with an ellipsis if it is too long."""
    return text if len(text) <= max_length else text[: max_length - 1] + "…"


def split_marks(snippet: Snippet) -> Iterator[tuple[str, bool]]:
    """Yield the parts of a snippet, each with whether it is a match."""
    last = 0
    for start, end in snippet.marks:
        yield snippet.text[last:start], False
        yield snippet.text[start:end], True
        last = end
    yield snippet.text[last:], False


templates = open_templates("motherlode.serve")
templates.filters.update(cut=cut, split_marks=split_marks, prefixed_name=lambda iri: cut(prefixed_name(iri), 120))
templates.tests["web_url"] = is_web_url
templates.globals.update(own_url=own_url, entity_url=entity_url)


def render(template: str, **values: Any) -> str:
    return templates.get_template(template).render(values)


def render_error(title: str, message: str) -> str:
    return render("error.html", title=title, message=message)


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlState:
    """The state of a crawl that the overview shows."""

    report: CrawlReport
    is_running: bool
    fetched: int = 0
    page_budget: int | None = None


class CrawlView:
    """Reads the folder of a crawl, without writing and without locks. Its methods block: call them in a thread."""

    def __init__(self, folder: CrawlFolder) -> None:
        self.folder = folder
        self._job = folder.read_job()
        self._cached_stats: tuple[float, CrawlStats] | None = None
        self._searcher: WordSearcher | None = None
        self._searcher_lock = threading.Lock()

    def read_state(self) -> CrawlState:
        """Return the state of the crawl as of its last checkpoint."""
        is_running, stats = self._is_running(), self._stats()
        report = build_report(self._job, stats)
        return CrawlState(
            report=report, is_running=is_running, fetched=stats.totals.fetched, page_budget=self._job.pages
        )

    def _is_running(self) -> bool:
        """Return whether a process holds the folder's lock. Trying to take it could keep a crawl from starting."""
        try:
            inode = (self.folder.path / "lock").stat().st_ino
            locks = Path("/proc/locks").read_text(encoding="ascii", errors="replace")
        except OSError:
            return False
        return any(f":{inode} " in line for line in locks.splitlines() if "FLOCK" in line)

    def _stats(self) -> CrawlStats:
        """Return the statistics, read again if they are older than a second. Concurrent threads share one read."""
        with _FRONTIER_LOCK:
            if self._cached_stats is None or time.monotonic() - self._cached_stats[0] > _STATS_FRESH_SECONDS:
                read = read_stats(self.folder)
                self._cached_stats = time.monotonic(), read
            return self._cached_stats[1]

    def search(self, search: Search) -> list[Hit]:
        """Search the word index. FileNotFoundError if the crawl has none."""
        with self._searcher_lock:
            if self._searcher is None:
                self._searcher = WordSearcher(self.folder.words)
            self._searcher.refresh()
        return self._searcher.search(search)


def render_overview(state: CrawlState, types: Sequence[Row] | None) -> str:
    """Return the overview page. `types` is None if they could not be counted in time."""
    report = state.report
    return render(
        "overview.html",
        title=report.title,
        state=state,
        charts=_draw(report),
        types=[(row["type"].value, int(row["n"].value)) for row in types or () if "type" in row],
        hosts=sorted(report.hosts, key=lambda host: (-host.relevant, -host.fetched, host.name))[:_MAX_HOSTS],
        syntaxes=sorted(report.syntaxes, key=lambda row: (row.plain, -row.pages)),
        failures=sorted(report.failures, key=lambda count: -count.count)[:_MAX_FAILURES],
    )


def render_live_part(state: CrawlState) -> str:
    """Return the part of the overview that changes while the crawl runs."""
    return render("live.html", state=state, charts=_draw(state.report))


def _draw(report: CrawlReport) -> list[tuple[str, Markup]]:
    return draw_harvest([curve for curve in report.curves if curve.end[0]], wide_height=320)


def render_search(search: Search, hits: Sequence[Hit] | None, problem: str = "") -> str:
    """Return the search page. `hits` is None if there was no search."""
    title = f"{search.words} · Search" if search.words else "Search"
    return render("search.html", title=title, search=search, hits=hits, problem=problem)


@dataclass(frozen=True, slots=True, kw_only=True)
class _ShownResult:
    """A query result as its page shows it."""

    unit: str
    formats: tuple[str, ...]
    """Values of the parameter `format` for downloads."""
    count: int
    heads: tuple[str, ...] = ()
    rows: Sequence[Sequence[Term | None]] = ()
    truth: bool | None = None


async def query_page(pool: QueryPool, sparql: str, *, base: str, seconds: float) -> tuple[int, str]:
    """Return status and query page, with the result if there is a query. `base` is the URL of the endpoint."""
    status, problem, result = 200, "", None
    if sparql.strip():
        try:
            result = await _run_query(pool, sparql, base, seconds)
        except QueryFailure as failed:
            status, problem = failed.status, str(failed)
    return status, render("query.html", sparql=sparql, problem=problem, result=result)


async def _run_query(pool: QueryPool, sparql: str, base: str, seconds: float) -> _ShownResult:
    worker_query = QueryRequest(
        sparql=sparql, base=base, graph="application/n-triples", max_bytes=MAX_PAGE_RESULT_BYTES
    )
    async with pool.ask(worker_query, seconds=seconds) as found:
        content = await found.read()
    if query_form(sparql) in ("CONSTRUCT", "DESCRIBE"):
        return _ShownResult(
            unit="triples",
            formats=("turtle", "ntriples", "jsonld", "rdfxml"),
            count=content.count(b"\n"),
            heads=("subject", "predicate", "object"),
            rows=_triple_rows(content),
        )
    result = parse_results(content)
    return _ShownResult(
        unit="rows",
        formats=("csv", "json", "tsv", "xml"),
        count=len(result.rows),
        heads=tuple(f"?{name}" for name in result.names),
        rows=[[row.get(name) for name in result.names] for row in result.rows[:MAX_ROWS]],
        truth=result.truth,
    )


def _triple_rows(content: bytes) -> list[list[Term]]:
    triples = islice(ox.parse(content, ox.RdfFormat.N_TRIPLES, lenient=True), MAX_ROWS)
    return [[_term(term) for term in (quad.subject, quad.predicate, quad.object)] for quad in triples]


def _term(term: ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple) -> Term:
    if isinstance(term, ox.NamedNode):
        return Term("uri", term.value)
    if isinstance(term, ox.BlankNode):
        return Term("bnode", f"_:{term.value}")
    if isinstance(term, ox.Literal):
        return Term("literal", term.value, term.language or "", term.datatype.value)
    return Term("triple", str(term))
