"""The pages about an entity (IRI or blank node) and about a crawled page: statements and their sources."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any

import pyoxigraph as ox

from motherlode.crawler.explain.explanation import UrlExplanation
from motherlode.index.fulltext.documents import LABELS, local_name
from motherlode.index.page_record import OWN_GRAPHS, PROVENANCE
from motherlode.index.query.query_pool import QueryPool, Row, Term, select
from motherlode.model.terms import PREFIXES, RDF, iri, page_iri
from motherlode.policies.motherlode.arm_key import describe_arm
from motherlode.serve.pages import cut, render, render_error

_TYPE = RDF + "type"
_MAX_STATEMENTS, _MAX_MENTIONS, _MAX_PAGE_STATEMENTS = 2_000, 200, 3_000
_MAX_VALUES, _MAX_SOURCES, _MAX_SUBJECTS = 50, 500, 200
_ORDER = {
    name: position
    for position, name in enumerate(
        ("generatedAtTime", "status", "redirectsTo", "referrer", "format", "kind", "size", "syntax", "contentHash")
    )
}
_RANKS = {name: rank for rank, name in enumerate(LABELS)}


async def entity_page(pool: QueryPool, name: str, *, seconds: float) -> tuple[int, str]:
    """Return status and page with the statements of all pages about an IRI."""
    term = iri(name)
    if term is None:
        return 400, render_error("Not an IRI", f"{cut(name)} is not an absolute IRI")
    it, which = _query_term(name, term)
    own = ", ".join(f"<{name}>" for name in sorted(OWN_GRAPHS))
    filters = f"FILTER(?g NOT IN ({own})) {which}"
    sparql = f"SELECT ?p ?o ?g {{ GRAPH ?g {{ {it} ?p ?o }} {filters} }} LIMIT {_MAX_STATEMENTS}"
    outgoing = await select(pool, sparql, seconds=seconds)
    sparql = f"SELECT ?s ?p ?g {{ GRAPH ?g {{ ?s ?p {it} }} {filters} }} LIMIT {_MAX_MENTIONS}"
    incoming = await select(pool, sparql, seconds=seconds)
    crawled = await select(pool, f"ASK {{ GRAPH <{PROVENANCE}> {{ {it} a ml:Page }} {which} }}", seconds=seconds)
    status = 200 if outgoing.rows or incoming.rows or crawled.truth else 404
    return status, _render_entity(name, outgoing.rows, incoming.rows, is_page=bool(crawled.truth))


def _query_term(name: str, term: str) -> tuple[str, str]:
    """Return how a query refers to an IRI: a term, and a FILTER clause to add to the pattern.

    For a valid IRI, these are the IRI and "". For an invalid one, which a crawled page may contain, they are a variable
    and a filter that compares the variable with the IRI as a string.
    """
    try:
        ox.NamedNode(name)
    except ValueError:
        return "?it", f"FILTER(isIRI(?it) && STR(?it) = {ox.Literal(name)})"
    return term, ""


async def blank_node_page(pool: QueryPool, node: str, graph: str, *, seconds: float) -> tuple[int, str]:
    """Return status and page with the statements of one crawled page about a blank node."""
    term = iri(graph)
    if term is None:
        return 400, render_error("No page", "a blank node needs its page: ?node=_:…&page=http://…")
    label = str(ox.Literal(node))
    pattern = f"GRAPH {term} {{ ?s ?p ?o }}"
    sparql = f"SELECT ?p ?o (<{graph}> AS ?g) {{ {pattern} FILTER(ml:node(?s) = {label}) }} LIMIT {_MAX_STATEMENTS}"
    outgoing = await select(pool, sparql, seconds=seconds)
    sparql = f"SELECT ?s ?p (<{graph}> AS ?g) {{ {pattern} FILTER(ml:node(?o) = {label}) }} LIMIT {_MAX_STATEMENTS}"
    incoming = await select(pool, sparql, seconds=seconds)
    status = 200 if outgoing.rows or incoming.rows else 404
    return status, _render_entity(node, outgoing.rows, incoming.rows)


def _render_entity(name: str, outgoing: Sequence[Row], incoming: Sequence[Row], *, is_page: bool = False) -> str:
    sources: dict[str, int] = {}
    label = best_label(outgoing)
    return render(
        "entity.html",
        title=label or name,
        name=name,
        label=label,
        is_page=is_page,
        properties=_group_properties(outgoing, sources),
        mentions=[
            (row["s"], row["p"].value, _graph_of(row), _cite([row], sources)) for row in incoming[:_MAX_MENTIONS]
        ],
        sources=list(sources.items())[:_MAX_SOURCES],
    )


def best_label(rows: Sequence[Row]) -> str:
    """Return the best name in the statements about a subject; "" if there is no name."""
    named = [row for row in rows if row["o"].kind == "literal" and local_name(row["p"].value) in _RANKS]
    if not named:
        return ""
    chosen = min(named, key=lambda row: (_RANKS[local_name(row["p"].value)], len(row["o"].value)))
    return cut(" ".join(chosen["o"].value.split()), 160)


def group_rows(rows: Iterable[Row], key: str) -> dict[str, list[Row]]:
    """Group rows by the value of a variable, in the order of first occurrence."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row[key].value if key in row else "", []).append(row)
    return groups


def _graph_of(row: Row) -> str:
    return row["g"].value if "g" in row else ""


_Citation = list[tuple[int, str]]
"""Number and URL of each source of a statement. The page shows the numbers like footnotes."""


def _cite(rows: Sequence[Row], sources: dict[str, int]) -> _Citation:
    """Return the sources of rows with their numbers. A source gets its number when it is cited first."""
    graphs = dict.fromkeys(row["g"].value for row in rows if "g" in row)
    return [(sources.setdefault(graph, len(sources) + 1), graph) for graph in graphs]


def _group_properties(
    rows: Sequence[Row], sources: dict[str, int]
) -> list[tuple[str, list[tuple[Term, str, _Citation]], int]]:
    """Return the predicates of a subject, types first, with their first distinct values and the number of others."""
    by_predicate = group_rows(rows, "p")
    properties = []
    for predicate in sorted(by_predicate, key=lambda name: (name != _TYPE, _RANKS.get(local_name(name), 99), name)):
        values: dict[Term, list[Row]] = {}
        for row in by_predicate[predicate]:
            values.setdefault(row["o"], []).append(row)
        shown = islice(values.items(), _MAX_VALUES)
        cited = [(value, _graph_of(group[0]), _cite(group, sources)) for value, group in shown]
        properties.append((predicate, cited, len(values) - len(cited)))
    return properties


async def crawled_page(
    pool: QueryPool, url: str, explain: Callable[[str], UrlExplanation], *, seconds: float
) -> tuple[int, str]:
    """Return status and page with the provenance and the statements of a crawled page, or why there are none."""
    term = page_iri(url)
    if iri(term[1:-1]) is None:
        return 400, render_error("No URL", f"{cut(url)} is not a URL")
    sparql = f"SELECT ?p ?o {{ GRAPH <{PROVENANCE}> {{ {term} ?p ?o }} FILTER(?p != ml:says) }} LIMIT 200"
    known = await select(pool, sparql, seconds=seconds)
    own = (row["o"].value for row in known.rows if row["p"].value == PREFIXES["ml"] + "graph")
    graphs = " ".join([term, *(spelled for name in own if (spelled := iri(name)))])
    sparql = f"SELECT ?s ?p ?o ?g {{ VALUES ?g {{ {graphs} }} GRAPH ?g {{ ?s ?p ?o }} }} LIMIT {_MAX_PAGE_STATEMENTS}"
    outgoing = await select(pool, sparql, seconds=seconds)
    status = 200 if known.rows or outgoing.rows else 404
    has_page = outgoing.rows or any(row["o"].value == PREFIXES["ml"] + "Page" for row in known.rows)
    explained = None if has_page else await asyncio.to_thread(explain, url)
    return status, _render_crawled_page(url, known.rows, outgoing.rows, explained)


def _render_crawled_page(
    url: str, known: Sequence[Row], outgoing: Sequence[Row], explained: UrlExplanation | None
) -> str:
    subjects, own_name = group_rows(outgoing, "s"), page_iri(url)[1:-1]
    ranked = sorted(subjects.items(), key=lambda item: (item[0] != own_name, -len(item[1])))
    ordered = sorted(known, key=lambda row: (_ORDER.get(local_name(row["p"].value), 99), row["p"].value))
    return render(
        "page.html",
        title=best_label(subjects.get(own_name, [])) or url,
        url=url,
        explained=explained,
        arm=describe_arm(explained.arm) if explained is not None else "",
        is_known=bool(known or outgoing),
        provenance=[(row["p"].value, row["o"]) for row in ordered if row["p"].value != _TYPE],
        is_cut=len(outgoing) >= _MAX_PAGE_STATEMENTS,
        statement_count=len(outgoing),
        subject_count=len(subjects),
        subjects=[_subject(name, rows) for name, rows in ranked[:_MAX_SUBJECTS]],
    )


def _subject(name: str, rows: Sequence[Row]) -> dict[str, Any]:
    return {
        "name": name,
        "label": best_label(rows),
        "page": _graph_of(rows[0]),
        "types": [row["o"].value for row in rows if row["p"].value == _TYPE],
        "statements": [(row["p"].value, row["o"]) for row in rows if row["p"].value != _TYPE],
    }
