"""SHACL property paths: each operator against the same path in SPARQL, on random graphs."""

from __future__ import annotations

import random

import pyoxigraph as ox
import pytest

from motherlode.quality.page_graph import PageGraph, Triple
from motherlode.quality.property_paths import ShapeError, compile_path

NODES = [f"<http://e.example/{letter}>" for letter in "abcdef"]
P, Q = "<http://e.example/p>", "<http://e.example/q>"
PREFIX = "@prefix sh: <http://www.w3.org/ns/shacl#> .\n"
PATHS = {
    P: P,
    f"( {P} {Q} )": f"{P}/{Q}",
    f"[ sh:alternativePath ( {P} {Q} ) ]": f"{P}|{Q}",
    f"[ sh:inversePath {P} ]": f"^{P}",
    f"[ sh:inversePath ( {P} {Q} ) ]": f"^({P}/{Q})",
    f"[ sh:zeroOrMorePath {P} ]": f"{P}*",
    f"[ sh:oneOrMorePath [ sh:alternativePath ( {P} {Q} ) ] ]": f"({P}|{Q})+",
    f"[ sh:zeroOrOnePath {Q} ]": f"{Q}?",
    f"( [ sh:inversePath {P} ] [ sh:zeroOrMorePath {Q} ] )": f"^{P}/{Q}*",
}


def shapes(turtle: str) -> tuple[PageGraph, str]:
    """Return a shapes graph and the node of the path in it."""
    found = list(ox.parse(f"{PREFIX}<http://e.example/shape> sh:path {turtle} .", format=ox.RdfFormat.TURTLE))
    triples = [(str(quad.subject), str(quad.predicate), str(quad.object)) for quad in found]
    return PageGraph(triples), next(o for s, _, o in triples if s == "<http://e.example/shape>")


def random_triples(draw: random.Random) -> list[Triple]:
    return list({(draw.choice(NODES), draw.choice((P, Q)), draw.choice(NODES)) for _ in range(12)})


@pytest.mark.parametrize(("turtle", "sparql"), PATHS.items())
def test_compile_path_gives_same_values_as_sparql(turtle: str, sparql: str) -> None:
    graph_of_shapes, node = shapes(turtle)
    path = compile_path(graph_of_shapes, node)
    for seed in range(20):
        triples = random_triples(random.Random(seed))
        store = ox.Store()
        store.load("".join(f"{s} {p} {o} .\n" for s, p, o in triples).encode(), format=ox.RdfFormat.N_TRIPLES)
        for start in {term for s, _, o in triples for term in (s, o)}:
            rows = store.query(f"SELECT DISTINCT ?v {{ {start} {sparql} ?v }}")
            assert isinstance(rows, ox.QuerySolutions)
            values = path.evaluate(PageGraph(triples), start)
            assert len(values) == len(set(values))
            assert set(values) == {str(row["v"]) for row in rows}, (seed, start)


def test_compile_path_of_node_without_path_names_it() -> None:
    graph_of_shapes, node = shapes("[ sh:minCount 1 ]")
    with pytest.raises(ShapeError, match="is not a property path"):
        compile_path(graph_of_shapes, node)


def test_compile_path_that_contains_itself_is_refused() -> None:
    loop = PageGraph([("_:a", "<http://www.w3.org/ns/shacl#inversePath>", "_:a")])
    with pytest.raises(ShapeError, match="contains itself"):
        compile_path(loop, "_:a")
