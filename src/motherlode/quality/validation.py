"""Validation of pages with SHACL Core: shapes are compiled once, and selected by the types and properties of a page.

validator = Validator.from_turtle(path.read_bytes())
results = validator.validate(PageGraph(triples))
"""

from collections.abc import Iterable, Iterator, Sequence

import pyoxigraph as ox

from motherlode.model.terms import RDF_TYPE
from motherlode.quality.constraints import compile_constraints
from motherlode.quality.page_graph import PageGraph, Superclasses, Triple, no_superclasses
from motherlode.quality.property_paths import ShapeError
from motherlode.quality.shapes import Result, Shape, ShapeCompiler

__all__ = ["Result", "ShapeError", "Validator", "parse_triples"]


def parse_triples(
    body: bytes, *, base: str = "", rdf_format: ox.RdfFormat = ox.RdfFormat.TURTLE, prefix: str = ""
) -> list[Triple]:
    """Parse an RDF document. With `prefix`, blank nodes are named by it and a number, the same in every process."""
    quads = ox.parse(body, rdf_format, base_iri=base or None)
    found = [(str(quad.subject), str(quad.predicate), str(quad.object)) for quad in quads]
    if not prefix:
        return found
    names: dict[str, str] = {}

    def rename(term: str) -> str:
        return names.setdefault(term, f"_:{prefix}b{len(names)}") if term.startswith("_:") else term

    return [(rename(subject), predicate, rename(object_)) for subject, predicate, object_ in found]


class Validator:
    """Validates page graphs with compiled shapes."""

    def __init__(self, graph: PageGraph) -> None:
        self.shapes_graph = graph
        self.shapes = ShapeCompiler(graph, compile_constraints).compile_targeted()
        self._by_class: dict[str, list[Shape]] = {}
        self._by_subject_of: dict[str, list[Shape]] = {}
        self._by_object_of: dict[str, list[Shape]] = {}
        self._by_node: dict[str, list[Shape]] = {}
        for shape in self.shapes:
            self._index(shape)

    @classmethod
    def from_turtle(cls, body: bytes, *, base: str = "", superclasses: Superclasses = no_superclasses) -> "Validator":
        """Compile a shapes graph in Turtle. Raise ShapeError if it is invalid."""
        try:
            triples = parse_triples(body, base=base)
        except SyntaxError as error:
            raise ShapeError(f"the shapes are not valid Turtle: {error}") from error
        return cls(PageGraph(triples, superclasses))

    def _index(self, shape: Shape) -> None:
        targets = shape.targets
        for index, keys in (
            (self._by_class, targets.classes),
            (self._by_subject_of, targets.subjects_of),
            (self._by_object_of, targets.objects_of),
            (self._by_node, targets.nodes),
        ):
            for key in keys:
                index.setdefault(key, []).append(shape)

    def validate(self, graph: PageGraph) -> list[Result]:
        """Return a result for each violation on a page."""
        return self.validate_and_count(graph)[0]

    def validate_and_count(self, graph: PageGraph) -> tuple[list[Result], int]:
        """Return the results for a page, and how many checks were made: the pairs of a shape and a focus node."""
        results: list[Result] = []
        selected = dict.fromkeys(self._select(graph))
        for shape, focus in selected:
            results += shape.validate(graph, focus)
        return results, len(selected)

    def _select(self, graph: PageGraph) -> Iterator[tuple[Shape, str]]:
        """Yield each shape with its focus nodes, some of them repeatedly."""
        for node, shapes in self._by_node.items():
            yield from ((shape, node) for shape in shapes)
        if self._by_class:
            for node in graph.nodes():
                if graph.objects(node, RDF_TYPE):
                    yield from self._select_by_class(graph.types(node), node)
        for predicate, shapes in self._by_subject_of.items():
            yield from ((shape, subject) for subject, _ in graph.pairs(predicate) for shape in shapes)
        for predicate, shapes in self._by_object_of.items():
            yield from ((shape, object_) for _, object_ in graph.pairs(predicate) for shape in shapes)

    def _select_by_class(self, types: Iterable[str], node: str) -> Iterator[tuple[Shape, str]]:
        for type_ in types:
            shapes: Sequence[Shape] = self._by_class.get(type_, ())
            for shape in shapes:
                yield shape, node
