"""The search page and the query page."""

from __future__ import annotations

from collections.abc import Sequence

import pyoxigraph as ox

from motherlode.crawler.report.plot import Markup, element, joined
from motherlode.index.fulltext import Hit, Search, Snippet
from motherlode.index.query.diagnostics import query_form
from motherlode.index.query.query_worker import QueryRequest
from motherlode.serve.query_pool import QueryFailure, QueryPool
from motherlode.serve.views.elements import (
    MAX_PAGE_RESULT_BYTES,
    NOTHING,
    Term,
    entity_link,
    error_section,
    labelled_input,
    own_link,
    parse_results,
    prefixed_name,
    render_page,
    render_solutions,
    render_term,
    table,
    void_element,
)


def render_search(search: Search, hits: Sequence[Hit] | None, problem: str = "") -> str:
    """Return the search page. `hits` is None if there was no search."""
    title = f"{search.words} · Search" if search.words else "Search"
    content = [element("h1", "Search"), _search_form(search)]
    if problem:
        content.append(error_section(problem))
    elif hits is not None:
        content.append(_hit_list(search, hits))
    return render_page(title, *content, here="/search", words=search.words)


def _search_form(search: Search) -> Markup:
    words = void_element(
        "input",
        type="search",
        name="q",
        value=search.words,
        placeholder="tomato soup",
        aria_label="Words",
        autofocus="on",
    )
    filters = element(
        "details",
        element("summary", "Filters"),
        element(
            "div",
            labelled_input("type", search.type, "Type", placeholder="schema:Recipe"),
            labelled_input("predicate", search.predicate, "Predicate", placeholder="schema:name"),
            labelled_input("host", search.host, "Host", placeholder="example.org"),
            labelled_input("language", search.language, "Language", placeholder="en"),
            class_="fields",
        ),
        **({"open": "open"} if any((search.type, search.predicate, search.host, search.language)) else {}),
    )
    hint = element("p", 'Words in "quotes" must match as a phrase; -word must be absent.', class_="note")
    line = element("div", words, element("button", "Search"), class_="big")
    return element("form", line, filters, hint, action="/search", class_="search")


def _hit_list(search: Search, hits: Sequence[Hit]) -> Markup:
    if not hits:
        return element("p", "Nothing was found. Fewer or other words may find more.", class_="muted")
    count = f"{len(hits):,} {'result' if len(hits) == 1 else 'results'}"
    more = NOTHING
    if len(hits) >= search.limit:
        parameters = {"q": search.words, "type": search.type, "predicate": search.predicate, "host": search.host}
        parameters |= {"language": search.language, "limit": str(search.limit * 3)}
        more = element("p", own_link("/search", parameters, "More"))
    return joined(element("p", count, class_="muted"), element("ol", *(_hit(hit) for hit in hits), class_="hits"), more)


def _hit(hit: Hit) -> Markup:
    types = [element("span", entity_link(name), class_="tag") for name in hit.types[:4]]
    return element(
        "li",
        element("h3", entity_link(hit.subject, hit.label or prefixed_name(hit.subject), page=hit.graph)),
        element("div", *types, class_="tags") if types else NOTHING,
        element("p", element("span", f"{prefixed_name(hit.predicate)}  ", class_="note"), render_snippet(hit.snippet)),
        element(
            "p",
            "on ",
            own_link("/page", {"url": hit.page}, element("bdi", hit.page)),
            hit.other_pages,
            class_="note source",
        ),
    )


def render_snippet(snippet: Snippet) -> Markup:
    """Return a snippet with its matches marked."""
    parts: list[str] = []
    last = 0
    for start, end in snippet.marks:
        parts += [snippet.text[last:start], element("mark", snippet.text[start:end])]
        last = end
    return element("bdi", *parts, snippet.text[last:])


# The query page. It works without JavaScript: the query is in the URL.

MAX_ROWS = 1_000

_EXAMPLES = (
    ("Types", "SELECT ?type (COUNT(*) AS ?n) { ?s a ?type }\nGROUP BY ?type ORDER BY DESC(?n) LIMIT 25"),
    ("Names and their pages", "SELECT ?name ?page {\n  GRAPH ?page { ?s schema:name ?name }\n} LIMIT 50"),
    (
        "Words",
        "SELECT ?s ?score ?type {\n"
        '  SERVICE ml:search { ?s ml:matches "data" ; ml:score ?score }\n'
        "  OPTIONAL { ?s a ?type }\n} ORDER BY DESC(?score) LIMIT 25",
    ),
    (
        "Pages by syntax",
        "SELECT ?syntax (COUNT(?page) AS ?pages) {\n"
        "  GRAPH <urn:motherlode:provenance> { ?page ml:syntax ?syntax }\n} GROUP BY ?syntax ORDER BY DESC(?pages)",
    ),
    ("Predicates", "SELECT ?p (COUNT(*) AS ?n) { ?s ?p ?o }\nGROUP BY ?p ORDER BY DESC(?n) LIMIT 25"),
)


async def query_page(pool: QueryPool, sparql: str, *, base: str, seconds: float) -> tuple[int, str]:
    """Return status and query page, with the result if there is a query. `base` is the URL of the endpoint."""
    status, result = 200, NOTHING
    if sparql.strip():
        try:
            result = await _result_section(pool, sparql, base, seconds)
        except QueryFailure as failed:
            status, result = failed.status, error_section(str(failed))
    return status, render_page("Query", element("h1", "Query"), _query_form(sparql), result, here="/query")


def _query_form(sparql: str) -> Markup:
    text = element(
        "textarea",
        sparql or _EXAMPLES[0][1],
        name_="q",
        rows=min(24, max(6, sparql.count("\n") + 2)),
        spellcheck="false",
        aria_label="SPARQL query",
    )
    examples = [own_link("/query", {"q": example}, name) for name, example in _EXAMPLES]
    note = "Common prefixes are predefined. The default graph is the union of all pages; GRAPH ?page gives the page."
    return element(
        "form",
        text,
        element("div", element("button", "Run"), element("span", "Examples: ", *_with_spaces(examples)), class_="row"),
        element("p", note, class_="note"),
        action="/query",
        class_="query",
    )


def _with_spaces(links: list[Markup]) -> list[Markup]:
    return [joined(link, " ") for link in links]


async def _result_section(pool: QueryPool, sparql: str, base: str, seconds: float) -> Markup:
    is_graph = query_form(sparql) in ("CONSTRUCT", "DESCRIBE")
    worker_query = QueryRequest(
        sparql=sparql, base=base, graph="application/n-triples", max_bytes=MAX_PAGE_RESULT_BYTES
    )
    async with pool.ask(worker_query, seconds=seconds) as found:
        content = b"".join([chunk async for chunk in found.chunks()])
    if is_graph:
        names, count, shown_rows = ("subject", "predicate", "object"), content.count(b"\n"), _triple_rows(content)
        inner = table(names, shown_rows, class_="results") if count else element("p", "No triples.", class_="muted")
    else:
        rows = parse_results(content)
        count, inner = len(rows.rows), render_solutions(rows, MAX_ROWS)
    summary = f"{count:,} {'triples' if is_graph else 'rows'}"
    if count > MAX_ROWS:
        summary += f", the first {MAX_ROWS:,} of them here"
    formats = ("turtle", "ntriples", "jsonld", "rdfxml") if is_graph else ("csv", "json", "tsv", "xml")
    links = [own_link("/sparql", {"query": sparql, "format": form}, form) for form in formats]
    return element("section", element("p", summary, " · as ", *_with_spaces(links), class_="muted"), inner)


def _triple_rows(content: bytes) -> list[list[Markup]]:
    rows: list[list[Markup]] = []
    for quad in ox.parse(content, ox.RdfFormat.N_TRIPLES, lenient=True):
        if len(rows) == MAX_ROWS:
            break
        rows.append([render_term(_term(term)) for term in (quad.subject, quad.predicate, quad.object)])
    return rows


def _term(term: ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple) -> Term:
    if isinstance(term, ox.NamedNode):
        return Term("uri", term.value)
    if isinstance(term, ox.BlankNode):
        return Term("bnode", f"_:{term.value}")
    if isinstance(term, ox.Literal):
        return Term("literal", term.value, term.language or "", term.datatype.value)
    return Term("triple", str(term))
