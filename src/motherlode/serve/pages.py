"""The pages of the web site: overview, search, query and errors, rendered by templates, and the state that they show.

The templates escape every value. Links lead to our own pages, or to http and https URLs only, because a crawled URL may
have any scheme, such as `javascript:`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any
from urllib.parse import urlencode

import pyoxigraph as ox
from markupsafe import Markup

from motherlode.crawler.config.values import format_duration, format_moment, format_size
from motherlode.crawler.explain.explanation import PREDICTED_EVENTS, UrlExplanation, describe_statistics
from motherlode.crawler.report import open_templates
from motherlode.crawler.report.crawl_report import draw_harvest
from motherlode.crawler.stats.page_list import PageRow
from motherlode.frontier import HostRecord
from motherlode.index.fulltext import Hit, Search, Snippet
from motherlode.index.query.diagnostics import query_form
from motherlode.index.query.query_pool import MAX_PAGE_RESULT_BYTES, QueryFailure, QueryPool, Row, Term, parse_results
from motherlode.index.query.query_worker import QueryRequest
from motherlode.model.terms import prefixed_name
from motherlode.policies.motherlode.arm_key import describe_arm
from motherlode.serve.crawl_view import CrawlState

_MAX_HOSTS, _MAX_LISTED_HOSTS = 12, 1_000
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


def format_clock(seconds: float) -> str:
    """Return the local time of a moment, with the date if it is not today: `14:02`, or `18 Nov 14:02`."""
    moment, today = datetime.fromtimestamp(seconds).astimezone(), datetime.now().astimezone().date()
    return f"{moment:%H:%M}" if moment.date() == today else f"{moment:%d %b %H:%M}".removeprefix("0")


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
templates.filters.update(moment=format_moment, duration=format_duration, size=format_size, clock=format_clock)
templates.tests["web_url"] = is_web_url
templates.filters["statistics"] = describe_statistics
templates.globals.update(own_url=own_url, entity_url=entity_url, events=PREDICTED_EVENTS)


def render(template: str, **values: Any) -> str:
    return templates.get_template(template).render(values)


def render_error(title: str, message: str) -> str:
    return render("error.html", title=title, message=message)


PARTS = ("status", "figures", "now", "harvest", "sources", "types", "hosts", "syntaxes", "failures", "policy", "log")
"""Names of the parts of the overview. Each has a template, and all of them are sent again when they change."""


def render_parts(state: CrawlState, types: Sequence[Row] | None) -> dict[str, Markup]:
    """Return the parts of the overview. `types` is None if they could not be counted in time."""
    report, totals = state.report, state.stats.totals
    values = {
        "state": state,
        "totals": totals,
        "now": datetime.now(UTC).timestamp(),
        "charts": draw_harvest([curve for curve in report.curves if curve.end[0]], wide_height=320),
        "types": [(row["type"].value, int(row["n"].value)) for row in types or () if "type" in row],
        "hosts": sorted(state.stats.hosts, key=lambda host: (-host.relevant, -host.fetched, host.name))[:_MAX_HOSTS],
        "syntaxes": sorted(report.syntaxes, key=lambda row: (row.plain, -row.pages)),
    }
    return {name: Markup(render(f"part_{name}.html", **values)) for name in PARTS}


def render_overview(state: CrawlState, parts: Mapping[str, Markup], *, can_control: bool = False) -> str:
    """Return the overview page, which is made of parts."""
    return render("overview.html", title=state.report.title, state=state, parts=parts, can_control=can_control)


def render_hosts(hosts: Sequence[HostRecord], *, delay: float) -> str:
    """Return the page with all contacted hosts. `delay` is that of hosts without one of their own."""
    shown = hosts[:_MAX_LISTED_HOSTS]
    return render("hosts.html", hosts=shown, count=len(hosts), now=datetime.now(UTC).timestamp(), delay=delay)


def render_host(host: HostRecord, pages: Sequence[PageRow], *, delay: float) -> str:
    """Return the page about one host, with its first pages. `delay` is that of hosts without one of their own."""
    robots = (host.robots or host.secure_robots or b"").decode(errors="replace")
    return render("host.html", host=host, pages=pages, robots=robots, now=datetime.now(UTC).timestamp(), delay=delay)


def render_page_list(rows: Sequence[PageRow], filters: Mapping[str, Any], limit: int) -> str:
    """Return the page with requested URLs."""
    return render("pages.html", rows=rows, filters=filters, limit=limit)


def render_explanation(url: UrlExplanation) -> str:
    """Return the page that explains one URL."""
    return render("explain.html", title=f"Explain {url.url}", explained=url, arm=describe_arm(url.arm))


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
