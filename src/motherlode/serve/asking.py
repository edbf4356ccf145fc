"""The page to write queries on. It works without scripts: the query is part of its address."""

from __future__ import annotations

import pyoxigraph as ox

from motherlode.index.queries.problems import form_of
from motherlode.index.queries.worker import Order
from motherlode.serve.html import Markup, element, inside, joined, nothing, page, problem, table
from motherlode.serve.pool import AnswerPool, QueryFailure
from motherlode.serve.results import MOST_BYTES, Term, read, shown, solutions

MOST_ROWS = 1_000

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


async def asking(pool: AnswerPool, sparql: str, *, base: str, seconds: float) -> tuple[int, str]:
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


async def _answer(pool: AnswerPool, sparql: str, base: str, seconds: float) -> Markup:
    is_graph = form_of(sparql) in ("CONSTRUCT", "DESCRIBE")
    order = Order(sparql=sparql, base=base, graph="application/n-triples", most=MOST_BYTES)
    async with pool.ask(order, seconds=seconds) as found:
        content = b"".join([piece async for piece in found.pieces()])
    if is_graph:
        names, count, shown_rows = ("subject", "predicate", "object"), content.count(b"\n"), _triples(content)
        inner = table(names, shown_rows, class_="results") if count else element("p", "No triples.", class_="muted")
    else:
        rows = read(content)
        count, inner = len(rows.rows), solutions(rows, MOST_ROWS)
    told = f"{count:,} {'triples' if is_graph else 'rows'}"
    if count > MOST_ROWS:
        told += f", the first {MOST_ROWS:,} of them here"
    formats = ("turtle", "ntriples", "jsonld", "rdfxml") if is_graph else ("csv", "json", "tsv", "xml")
    links = [inside("/sparql", {"query": sparql, "format": form}, form) for form in formats]
    return element("section", element("p", told, " · as ", *_spaced(links), class_="muted"), inner)


def _triples(content: bytes) -> list[list[Markup]]:
    rows: list[list[Markup]] = []
    for quad in ox.parse(content, ox.RdfFormat.N_TRIPLES, lenient=True):
        if len(rows) == MOST_ROWS:
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
