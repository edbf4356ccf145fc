"""The pages about an entity (IRI or blank node) and about a crawled page: statements and their sources."""

from __future__ import annotations

from collections.abc import Sequence

import pyoxigraph as ox

from motherlode.crawler.report.plot import Markup, element, joined
from motherlode.index.fulltext.documents import LABELS, local_name
from motherlode.index.page_record import PROVENANCE
from motherlode.model.terms import PREFIXES, RDF, iri, page_iri
from motherlode.serve.query_pool import QueryPool
from motherlode.serve.views.elements import (
    NOTHING,
    Row,
    Term,
    entity_link,
    error_section,
    group_rows,
    own_link,
    prefixed_name,
    render_page,
    render_term,
    select,
    table,
    truncate,
    web_link,
)

_MAX_STATEMENTS, _MAX_MENTIONS, _MAX_PAGE_STATEMENTS = 2_000, 200, 3_000
_MAX_VALUES = 50
_ORDER = {
    name: position
    for position, name in enumerate(
        ("generatedAtTime", "status", "redirectsTo", "referrer", "format", "kind", "size", "syntax", "contentHash")
    )
}
"""Order of the provenance properties of a page."""
_RANKS = {name: rank for rank, name in enumerate(LABELS)}


async def entity_page(pool: QueryPool, name: str, *, seconds: float) -> tuple[int, str]:
    """Return status and page with the statements of all pages about an IRI."""
    term = iri(name)
    if term is None:
        return 400, render_page("Not an IRI", error_section(f"{truncate(name)} is not an absolute IRI"))
    it, which = _query_term(name, term)
    apart = f"FILTER(?g != <{PROVENANCE}>) {which}"
    sparql = f"SELECT ?p ?o ?g {{ GRAPH ?g {{ {it} ?p ?o }} {apart} }} LIMIT {_MAX_STATEMENTS}"
    said = await select(pool, sparql, seconds=seconds)
    sparql = f"SELECT ?s ?p ?g {{ GRAPH ?g {{ ?s ?p {it} }} {apart} }} LIMIT {_MAX_MENTIONS}"
    incoming = await select(pool, sparql, seconds=seconds)
    crawled = await select(pool, f"ASK {{ GRAPH <{PROVENANCE}> {{ {it} a ml:Page }} {which} }}", seconds=seconds)
    status = 200 if said.rows or incoming.rows or crawled.truth else 404
    return status, _render_entity(name, said.rows, incoming.rows, is_page=bool(crawled.truth))


def _query_term(name: str, term: str) -> tuple[str, str]:
    """Return the term for an IRI in a query, and a filter. An IRI that SPARQL rejects is compared as a string."""
    try:
        ox.NamedNode(name)
    except ValueError:
        return "?it", f"FILTER(isIRI(?it) && STR(?it) = {ox.Literal(name)})"
    return term, ""


async def blank_node_page(pool: QueryPool, node: str, graph: str, *, seconds: float) -> tuple[int, str]:
    """Return status and page with the statements of one crawled page about a blank node."""
    term = iri(graph)
    if term is None:
        return 400, render_page("No page", error_section("a blank node needs its page: ?node=_:…&page=http://…"))
    label = str(ox.Literal(node))
    pattern = f"GRAPH {term} {{ ?s ?p ?o }}"
    sparql = f"SELECT ?p ?o (<{graph}> AS ?g) {{ {pattern} FILTER(ml:node(?s) = {label}) }} LIMIT {_MAX_STATEMENTS}"
    said = await select(pool, sparql, seconds=seconds)
    sparql = f"SELECT ?s ?p (<{graph}> AS ?g) {{ {pattern} FILTER(ml:node(?o) = {label}) }} LIMIT {_MAX_STATEMENTS}"
    incoming = await select(pool, sparql, seconds=seconds)
    status = 200 if said.rows or incoming.rows else 404
    return status, _render_entity(node, said.rows, incoming.rows)


def _render_entity(name: str, said: Sequence[Row], incoming: Sequence[Row], *, is_page: bool = False) -> str:
    sources = _Sources()
    facts = _property_table(said, sources)
    mentions = _mentions_table(incoming, sources)
    label = best_label(said)
    head = [element("h1", element("bdi", label or prefixed_name(name)))]
    if not name.startswith("_:"):
        head.append(element("p", web_link(name, element("bdi", truncate(name))), class_="iri"))
    else:
        head.append(element("p", "a blank node", class_="muted"))
    if is_page:
        head.append(
            element("p", own_link("/page", {"url": name}, "This page was crawled: show its statements"), class_="note")
        )
    if not said and not incoming:
        return render_page(name, *head, element("p", "No crawled page has a statement about it.", class_="muted"))
    return render_page(label or name, *head, facts, mentions, sources.section())


def best_label(rows: Sequence[Row]) -> str:
    """Return the best name in the statements about a subject; "" if there is no name."""
    named = [row for row in rows if row["o"].kind == "literal" and local_name(row["p"].value) in _RANKS]
    if not named:
        return ""
    chosen = min(named, key=lambda row: (_RANKS[local_name(row["p"].value)], len(row["o"].value)))
    return truncate(" ".join(chosen["o"].value.split()), 160)


class _Sources:
    """Numbered sources, like a list of references. A source gets its number when it is first used."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def references(self, rows: Sequence[Row]) -> Markup:
        graphs = dict.fromkeys(row["g"].value for row in rows if "g" in row)
        marks = [self._reference(graph) for graph in list(graphs)[:4]]
        more = f"+{len(graphs) - 4}" if len(graphs) > 4 else ""
        for graph in graphs:
            self._number(graph)
        return element("sup", *marks, more)

    def _number(self, graph: str) -> int:
        return self._numbers.setdefault(graph, len(self._numbers) + 1)

    def _reference(self, graph: str) -> Markup:
        return element("a", str(self._number(graph)), href=f"#source-{self._number(graph)}", title=truncate(graph, 200))

    def section(self) -> Markup:
        items = [
            element(
                "li",
                own_link("/page", {"url": url.partition("#graph=")[0]}, element("bdi", url)),
                id=f"source-{number}",
            )
            for url, number in list(self._numbers.items())[:500]
        ]
        return element("section", element("h2", "Sources"), element("ol", *items, class_="sources"))


def _property_table(rows: Sequence[Row], sources: _Sources) -> Markup:
    if not rows:
        return NOTHING
    by_predicate = group_rows(rows, "p")
    ordered = sorted(by_predicate, key=lambda name: (name != RDF + "type", _RANKS.get(local_name(name), 99), name))
    lines = []
    for predicate in ordered:
        values: dict[Term, list[Row]] = {}
        for row in by_predicate[predicate]:
            values.setdefault(row["o"], []).append(row)
        cells = [
            element("li", render_term(group[0]["o"], page=_graph_of(group[0])), sources.references(group))
            for group in list(values.values())[:_MAX_VALUES]
        ]
        if len(values) > _MAX_VALUES:
            cells.append(element("li", f"and {len(values) - _MAX_VALUES:,} more", class_="muted"))
        lines.append((entity_link(predicate), element("ul", *cells, class_="values")))
    return element("section", table(("Property", "Value"), lines, class_="facts"))


def _graph_of(row: Row) -> str:
    return row["g"].value if "g" in row else ""


def _mentions_table(rows: Sequence[Row], sources: _Sources) -> Markup:
    if not rows:
        return NOTHING
    lines = [
        (render_term(row["s"], page=_graph_of(row)), entity_link(row["p"].value), sources.references([row]))
        for row in rows[:_MAX_MENTIONS]
    ]
    return element(
        "section", element("h2", "Mentioned by"), table(("Subject", "Property", "Source"), lines, class_="facts")
    )


async def crawled_page(pool: QueryPool, url: str, *, seconds: float) -> tuple[int, str]:
    """Return status and page with the provenance and the statements of a crawled page."""
    term = page_iri(url)
    if iri(term[1:-1]) is None:
        return 400, render_page("No URL", error_section(f"{truncate(url)} is not a URL"))
    sparql = f"SELECT ?p ?o {{ GRAPH <{PROVENANCE}> {{ {term} ?p ?o }} FILTER(?p != ml:says) }} LIMIT 200"
    known = await select(pool, sparql, seconds=seconds)
    own = (row["o"].value for row in known.rows if row["p"].value == PREFIXES["ml"] + "graph")
    graphs = " ".join([term, *(spelled for name in own if (spelled := iri(name)))])
    sparql = f"SELECT ?s ?p ?o ?g {{ VALUES ?g {{ {graphs} }} GRAPH ?g {{ ?s ?p ?o }} }} LIMIT {_MAX_PAGE_STATEMENTS}"
    said = await select(pool, sparql, seconds=seconds)
    status = 200 if known.rows or said.rows else 404
    return status, _render_crawled_page(url, known.rows, said.rows)


def _render_crawled_page(url: str, known: Sequence[Row], said: Sequence[Row]) -> str:
    subjects = group_rows(said, "s")
    own = subjects.get(page_iri(url)[1:-1], [])
    title = best_label(own) or url
    head = joined(
        element("h1", element("bdi", title)), element("p", web_link(url, element("bdi", truncate(url))), class_="iri")
    )
    if not known and not said:
        return render_page(url, head, element("p", "This page was not crawled.", class_="muted"))
    told_first = sorted(known, key=lambda row: (_ORDER.get(local_name(row["p"].value), 99), row["p"].value))
    lines = [
        (entity_link(row["p"].value), _provenance_value(row)) for row in told_first if row["p"].value != RDF + "type"
    ]
    ranked = sorted(subjects.items(), key=lambda item: (item[0] != page_iri(url)[1:-1], -len(item[1])))
    cards = [_subject_card(name, rows) for name, rows in ranked[:200]]
    summary = f"{len(said):,} statements about {len(subjects):,} subjects"
    if len(said) >= _MAX_PAGE_STATEMENTS:
        summary = f"The first {summary}"
    return render_page(
        title,
        head,
        element("section", element("h2", "Provenance"), table(("Property", "Value"), lines, class_="facts")),
        element("section", element("h2", "Statements"), element("p", summary, class_="muted"), *cards),
    )


def _provenance_value(row: Row) -> Markup:
    linked = row["o"].kind == "uri" and row["o"].value.startswith(("http://", "https://"))
    return (
        own_link("/page", {"url": row["o"].value}, element("bdi", row["o"].value)) if linked else render_term(row["o"])
    )


def _subject_card(name: str, rows: Sequence[Row]) -> Markup:
    label = best_label(rows) or prefixed_name(name)
    types = [
        element("span", entity_link(row["o"].value), class_="tag") for row in rows if row["p"].value == RDF + "type"
    ][:4]
    graph = _graph_of(rows[0])
    lines = [
        (entity_link(row["p"].value), render_term(row["o"], page=graph))
        for row in rows
        if row["p"].value != RDF + "type"
    ]
    return element(
        "article",
        element("h3", entity_link(name, element("bdi", label), page=graph)),
        element("div", *types, class_="tags") if types else NOTHING,
        table(("Property", "Value"), lines[:100], class_="facts") if lines else NOTHING,
    )
