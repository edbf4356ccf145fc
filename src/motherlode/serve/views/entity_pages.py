"""Pages about things and pages about pages: what is known, and which page says so."""

from __future__ import annotations

from collections.abc import Sequence

import pyoxigraph as ox

from motherlode.crawler.report.plot import Markup, element, joined
from motherlode.index.fulltext.documents import LABELS, local_name
from motherlode.index.page_record import PROVENANCE
from motherlode.model.terms import PREFIXES, RDF, iri, page_iri
from motherlode.serve.query_pool import QueryPool
from motherlode.serve.views.elements import (
    Row,
    Term,
    entity,
    grouped,
    inside,
    nothing,
    outside,
    page,
    problem,
    select,
    short,
    shortened,
    shown,
    table,
)

_MOST, _MOST_INCOMING, _MOST_ON_PAGE = 2_000, 200, 3_000
_MOST_VALUES = 50
_ORDER = {
    name: place
    for place, name in enumerate(
        ("generatedAtTime", "status", "redirectsTo", "referrer", "format", "kind", "size", "syntax", "contentHash")
    )
}
"""How the provenance of a page is told."""
_RANKS = {name: rank for rank, name in enumerate(LABELS)}


async def about_entity(pool: QueryPool, name: str, *, seconds: float) -> tuple[int, str]:
    """What all pages say about an IRI."""
    term = iri(name)
    if term is None:
        return 400, page("No IRI", problem(f"{shortened(name)} is no absolute IRI"))
    it, which = _spelled(name, term)
    apart = f"FILTER(?g != <{PROVENANCE}>) {which}"
    sparql = f"SELECT ?p ?o ?g {{ GRAPH ?g {{ {it} ?p ?o }} {apart} }} LIMIT {_MOST}"
    said = await select(pool, sparql, seconds=seconds)
    sparql = f"SELECT ?s ?p ?g {{ GRAPH ?g {{ ?s ?p {it} }} {apart} }} LIMIT {_MOST_INCOMING}"
    incoming = await select(pool, sparql, seconds=seconds)
    crawled = await select(pool, f"ASK {{ GRAPH <{PROVENANCE}> {{ {it} a ml:Page }} {which} }}", seconds=seconds)
    status = 200 if said.rows or incoming.rows or crawled.truth else 404
    return status, _entity_page(name, said.rows, incoming.rows, is_page=bool(crawled.truth))


def _spelled(name: str, term: str) -> tuple[str, str]:
    """How a query names a thing: by its IRI, or, where it is one that no query can spell, by the text of it."""
    try:
        ox.NamedNode(name)
    except ValueError:
        return "?it", f"FILTER(isIRI(?it) && STR(?it) = {ox.Literal(name)})"
    return term, ""


async def about_node(pool: QueryPool, node: str, graph: str, *, seconds: float) -> tuple[int, str]:
    """What one page says about a thing that it gives no name."""
    term = iri(graph)
    if term is None:
        return 400, page("No page", problem("a nameless thing is known by its page: ?node=_:…&page=http://…"))
    label = str(ox.Literal(node))
    one = (
        f"SELECT ?p ?o (<{graph}> AS ?g) {{ GRAPH {term} {{ ?s ?p ?o }} FILTER(ml:node(?s) = {label}) }} LIMIT {_MOST}"
    )
    other = (
        f"SELECT ?s ?p (<{graph}> AS ?g) {{ GRAPH {term} {{ ?s ?p ?o }} FILTER(ml:node(?o) = {label}) }} LIMIT {_MOST}"
    )
    said, incoming = await select(pool, one, seconds=seconds), await select(pool, other, seconds=seconds)
    status = 200 if said.rows or incoming.rows else 404
    return status, _entity_page(node, said.rows, incoming.rows)


def _entity_page(name: str, said: Sequence[Row], incoming: Sequence[Row], *, is_page: bool = False) -> str:
    sources = _Sources()
    facts = _facts(said, sources)
    mentions = _mentions(incoming, sources)
    label = best_label(said)
    head = [element("h1", element("bdi", label or short(name)))]
    if not name.startswith("_:"):
        head.append(element("p", outside(name, element("bdi", shortened(name))), class_="iri"))
    else:
        head.append(element("p", "a thing without a name of its own", class_="muted"))
    if is_page:
        head.append(
            element("p", inside("/page", {"url": name}, "This page was crawled: all that it says"), class_="note")
        )
    if not said and not incoming:
        nobody = element("p", "No page that was crawled says anything about it.", class_="muted")
        return page(name, *head, nobody)
    return page(label or name, *head, facts, mentions, sources.section())


def best_label(rows: Sequence[Row]) -> str:
    """The name that the statements give their subject."""
    named = [row for row in rows if row["o"].kind == "literal" and local_name(row["p"].value) in _RANKS]
    if not named:
        return ""
    chosen = min(named, key=lambda row: (_RANKS[local_name(row["p"].value)], len(row["o"].value)))
    return shortened(" ".join(chosen["o"].value.split()), 160)


class _Sources:
    """Pages, numbered as they come, as in a list of references."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def mark(self, rows: Sequence[Row]) -> Markup:
        graphs = dict.fromkeys(row["g"].value for row in rows if "g" in row)
        marks = [self._one(graph) for graph in list(graphs)[:4]]
        more = f"+{len(graphs) - 4}" if len(graphs) > 4 else ""
        for graph in graphs:
            self._number(graph)
        return element("sup", *marks, more)

    def _number(self, graph: str) -> int:
        return self._numbers.setdefault(graph, len(self._numbers) + 1)

    def _one(self, graph: str) -> Markup:
        return element(
            "a", str(self._number(graph)), href=f"#source-{self._number(graph)}", title=shortened(graph, 200)
        )

    def section(self) -> Markup:
        items = [
            element(
                "li", inside("/page", {"url": url.partition("#graph=")[0]}, element("bdi", url)), id=f"source-{number}"
            )
            for url, number in list(self._numbers.items())[:500]
        ]
        return element("section", element("h2", "Pages that say so"), element("ol", *items, class_="sources"))


def _facts(rows: Sequence[Row], sources: _Sources) -> Markup:
    if not rows:
        return nothing
    by_predicate = grouped(rows, "p")
    ordered = sorted(by_predicate, key=lambda name: (name != RDF + "type", _RANKS.get(local_name(name), 99), name))
    lines = []
    for predicate in ordered:
        values: dict[Term, list[Row]] = {}
        for row in by_predicate[predicate]:
            values.setdefault(row["o"], []).append(row)
        cells = [
            element("li", shown(group[0]["o"], page=_graph(group[0])), sources.mark(group))
            for group in list(values.values())[:_MOST_VALUES]
        ]
        if len(values) > _MOST_VALUES:
            cells.append(element("li", f"and {len(values) - _MOST_VALUES:,} more", class_="muted"))
        lines.append((entity(predicate), element("ul", *cells, class_="values")))
    return element("section", table(("Property", "Value"), lines, class_="facts"))


def _graph(row: Row) -> str:
    return row["g"].value if "g" in row else ""


def _mentions(rows: Sequence[Row], sources: _Sources) -> Markup:
    if not rows:
        return nothing
    lines = [
        (shown(row["s"], page=_graph(row)), entity(row["p"].value), sources.mark([row]))
        for row in rows[:_MOST_INCOMING]
    ]
    return element(
        "section", element("h2", "Mentioned by"), table(("Subject", "Property", "Source"), lines, class_="facts")
    )


async def about_page(pool: QueryPool, url: str, *, seconds: float) -> tuple[int, str]:
    """When and how a page was fetched, and what it says."""
    term = page_iri(url)
    if iri(term[1:-1]) is None:
        return 400, page("No URL", problem(f"{shortened(url)} is no URL"))
    sparql = f"SELECT ?p ?o {{ GRAPH <{PROVENANCE}> {{ {term} ?p ?o }} FILTER(?p != ml:says) }} LIMIT 200"
    known = await select(pool, sparql, seconds=seconds)
    own = (row["o"].value for row in known.rows if row["p"].value == PREFIXES["ml"] + "graph")
    graphs = " ".join([term, *(spelled for name in own if (spelled := iri(name)))])
    sparql = f"SELECT ?s ?p ?o ?g {{ VALUES ?g {{ {graphs} }} GRAPH ?g {{ ?s ?p ?o }} }} LIMIT {_MOST_ON_PAGE}"
    said = await select(pool, sparql, seconds=seconds)
    status = 200 if known.rows or said.rows else 404
    return status, _page_page(url, known.rows, said.rows)


def _page_page(url: str, known: Sequence[Row], said: Sequence[Row]) -> str:
    subjects = grouped(said, "s")
    own = subjects.get(page_iri(url)[1:-1], [])
    title = best_label(own) or url
    head = joined(
        element("h1", element("bdi", title)), element("p", outside(url, element("bdi", shortened(url))), class_="iri")
    )
    if not known and not said:
        return page(url, head, element("p", "This page was not crawled.", class_="muted"))
    told_first = sorted(known, key=lambda row: (_ORDER.get(local_name(row["p"].value), 99), row["p"].value))
    lines = [(entity(row["p"].value), _provenance(row)) for row in told_first if row["p"].value != RDF + "type"]
    ranked = sorted(subjects.items(), key=lambda item: (item[0] != page_iri(url)[1:-1], -len(item[1])))
    cards = [_card(name, rows) for name, rows in ranked[:200]]
    told = f"{len(said):,} statements about {len(subjects):,} things"
    if len(said) >= _MOST_ON_PAGE:
        told = f"The first {told}"
    return page(
        title,
        head,
        element("section", element("h2", "How it came here"), table(("Property", "Value"), lines, class_="facts")),
        element("section", element("h2", "What it says"), element("p", told, class_="muted"), *cards),
    )


def _provenance(row: Row) -> Markup:
    linked = row["o"].kind == "uri" and row["o"].value.startswith(("http://", "https://"))
    return inside("/page", {"url": row["o"].value}, element("bdi", row["o"].value)) if linked else shown(row["o"])


def _card(name: str, rows: Sequence[Row]) -> Markup:
    label = best_label(rows) or short(name)
    types = [element("span", entity(row["o"].value), class_="tag") for row in rows if row["p"].value == RDF + "type"][
        :4
    ]
    graph = _graph(rows[0])
    lines = [(entity(row["p"].value), shown(row["o"], page=graph)) for row in rows if row["p"].value != RDF + "type"]
    return element(
        "article",
        element("h3", entity(name, element("bdi", label), page=graph)),
        element("div", *types, class_="tags") if types else nothing,
        table(("Property", "Value"), lines[:100], class_="facts") if lines else nothing,
    )
