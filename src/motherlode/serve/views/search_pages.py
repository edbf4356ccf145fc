"""The search page."""

from __future__ import annotations

from collections.abc import Sequence

import pyoxigraph as ox

from motherlode.crawler.report.plot import Markup, element, joined
from motherlode.index.fulltext import Hit, Search, Snippet
from motherlode.index.query.diagnostics import query_form
from motherlode.index.query.query_worker import WorkerQuery
from motherlode.serve.query_pool import QueryFailure, QueryPool
from motherlode.serve.views.elements import (
    MAX_PAGE_RESULT_BYTES,
    Term,
    entity,
    field,
    inside,
    nothing,
    page,
    problem,
    read,
    short,
    shown,
    solutions,
    table,
    void,
)


def searching(asked: Search, hits: Sequence[Hit] | None, trouble: str = "") -> str:
    """The page; `hits` is None before anything was asked."""
    title = f"{asked.words} · Search" if asked.words else "Search"
    content = [element("h1", "Search"), _search_form(asked)]
    if trouble:
        content.append(problem(trouble))
    elif hits is not None:
        content.append(_hits(asked, hits))
    return page(title, *content, here="/search", words=asked.words)


def _search_form(asked: Search) -> Markup:
    words = void(
        "input",
        type="search",
        name="q",
        value=asked.words,
        placeholder="tomato soup",
        aria_label="Words",
        autofocus="on",
    )
    filters = element(
        "details",
        element("summary", "Filters"),
        element(
            "div",
            field("type", asked.type, "Type", placeholder="schema:Recipe"),
            field("predicate", asked.predicate, "Predicate", placeholder="schema:name"),
            field("host", asked.host, "Host", placeholder="example.org"),
            field("language", asked.language, "Language", placeholder="en"),
            class_="fields",
        ),
        **({"open": "open"} if any((asked.type, asked.predicate, asked.host, asked.language)) else {}),
    )
    hint = element("p", 'Words in "quotes" stand together; -word must be absent.', class_="note")
    line = element("div", words, element("button", "Search"), class_="big")
    return element("form", line, filters, hint, action="/search", class_="search")


def _hits(asked: Search, hits: Sequence[Hit]) -> Markup:
    if not hits:
        return element("p", "Nothing was found. Fewer or other words may find more.", class_="muted")
    count = f"{len(hits):,} {'find' if len(hits) == 1 else 'finds'}"
    more = nothing
    if len(hits) >= asked.limit:
        parameters = {"q": asked.words, "type": asked.type, "predicate": asked.predicate, "host": asked.host}
        parameters |= {"language": asked.language, "limit": str(asked.limit * 3)}
        more = element("p", inside("/search", parameters, "More"))
    return joined(element("p", count, class_="muted"), element("ol", *(_hit(hit) for hit in hits), class_="hits"), more)


def _hit(hit: Hit) -> Markup:
    types = [element("span", entity(name), class_="tag") for name in hit.types[:4]]
    return element(
        "li",
        element("h3", entity(hit.subject, hit.label or short(hit.subject), page=hit.graph)),
        element("div", *types, class_="tags") if types else nothing,
        element("p", element("span", f"{short(hit.predicate)}  ", class_="note"), marked(hit.snippet)),
        element(
            "p",
            "on ",
            inside("/page", {"url": hit.page}, element("bdi", hit.page)),
            hit.other_pages,
            class_="note source",
        ),
    )


def marked(snippet: Snippet) -> Markup:
    """A piece of text with its finds marked."""
    parts: list[str] = []
    last = 0
    for start, end in snippet.marks:
        parts += [snippet.text[last:start], element("mark", snippet.text[start:end])]
        last = end
    return element("bdi", *parts, snippet.text[last:])


# ── The page to write queries on. It works without scripts: the query is part of its address.

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


async def asking(pool: QueryPool, sparql: str, *, base: str, seconds: float) -> tuple[int, str]:
    """The page with the answer, if something was asked, and its status. `base` is the URL of the endpoint."""
    status, answer = 200, nothing
    if sparql.strip():
        try:
            answer = await _answer(pool, sparql, base, seconds)
        except QueryFailure as failed:
            status, answer = failed.status, problem(str(failed))
    return status, page("Query", element("h1", "Query"), _form(sparql), answer, here="/query")


def _form(sparql: str) -> Markup:
    text = element(
        "textarea",
        sparql or _EXAMPLES[0][1],
        name_="q",
        rows=min(24, max(6, sparql.count("\n") + 2)),
        spellcheck="false",
        aria_label="SPARQL query",
    )
    examples = [inside("/query", {"q": example}, name) for name, example in _EXAMPLES]
    note = (
        "Common prefixes are known. The default graph is the union of all pages; GRAPH ?page tells which page says it."
    )
    return element(
        "form",
        text,
        element("div", element("button", "Run"), element("span", "Examples: ", *_spaced(examples)), class_="row"),
        element("p", note, class_="note"),
        action="/query",
        class_="query",
    )


def _spaced(links: list[Markup]) -> list[Markup]:
    return [joined(link, " ") for link in links]


async def _answer(pool: QueryPool, sparql: str, base: str, seconds: float) -> Markup:
    is_graph = query_form(sparql) in ("CONSTRUCT", "DESCRIBE")
    order = WorkerQuery(sparql=sparql, base=base, graph="application/n-triples", max_bytes=MAX_PAGE_RESULT_BYTES)
    async with pool.ask(order, seconds=seconds) as found:
        content = b"".join([piece async for piece in found.chunks()])
    if is_graph:
        names, count, shown_rows = ("subject", "predicate", "object"), content.count(b"\n"), _triples(content)
        inner = table(names, shown_rows, class_="results") if count else element("p", "No triples.", class_="muted")
    else:
        rows = read(content)
        count, inner = len(rows.rows), solutions(rows, MAX_ROWS)
    told = f"{count:,} {'triples' if is_graph else 'rows'}"
    if count > MAX_ROWS:
        told += f", the first {MAX_ROWS:,} of them here"
    formats = ("turtle", "ntriples", "jsonld", "rdfxml") if is_graph else ("csv", "json", "tsv", "xml")
    links = [inside("/sparql", {"query": sparql, "format": form}, form) for form in formats]
    return element("section", element("p", told, " · as ", *_spaced(links), class_="muted"), inner)


def _triples(content: bytes) -> list[list[Markup]]:
    rows: list[list[Markup]] = []
    for quad in ox.parse(content, ox.RdfFormat.N_TRIPLES, lenient=True):
        if len(rows) == MAX_ROWS:
            break
        rows.append([shown(_term(term)) for term in (quad.subject, quad.predicate, quad.object)])
    return rows


def _term(term: ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple) -> Term:
    if isinstance(term, ox.NamedNode):
        return Term("uri", term.value)
    if isinstance(term, ox.BlankNode):
        return Term("bnode", f"_:{term.value}")
    if isinstance(term, ox.Literal):
        return Term("literal", term.value, term.language or "", term.datatype.value)
    return Term("triple", str(term))
