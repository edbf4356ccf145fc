"""SHACL property paths, compiled to functions from a node to its values."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from motherlode.model.terms import RDF, prefixed_name
from motherlode.quality.page_graph import PageGraph, is_iri

SH = "http://www.w3.org/ns/shacl#"
Evaluate = Callable[[PageGraph, str], Sequence[str]]


class ShapeError(ValueError):
    """A shapes graph violates the syntax rules of SHACL. The message names the node."""


class Path(NamedTuple):
    """A SHACL property path, compiled to a function."""

    node: str
    """The node of the path in the shapes graph: the term of a property, or a blank node."""
    text: str
    """The path as in SPARQL, with common prefixes, for people."""
    evaluate: Evaluate
    """Function from a graph and a node to the values without repetitions."""

    @property
    def predicate(self) -> str:
        """The term of the property, or "" if the path has several steps."""
        return self.node if is_iri(self.node) else ""


def sh(name: str) -> str:
    """Return the IRI term of a name in the SHACL namespace, such as `minCount`."""
    return f"<{SH}{name}>"


def compile_path(shapes: PageGraph, node: str, _within: frozenset[str] = frozenset()) -> Path:
    """Compile a path, given by its node in the shapes graph."""
    if is_iri(node):
        return Path(node, prefixed_name(node[1:-1]), lambda graph, subject: graph.objects(subject, node))
    if node in _within:
        raise ShapeError(f"the path {node} contains itself")
    within = _within | {node}

    def read(part: str) -> Path:
        return compile_path(shapes, part, within)

    if shapes.objects(node, f"<{RDF}first>"):
        return _sequence(node, [read(part) for part in shapes.read_list(node)])
    for name, build in _OPERATORS.items():
        if operands := shapes.objects(node, sh(name)):
            parts = shapes.read_list(operands[0]) if name == "alternativePath" else operands[:1]
            return build(node, [read(part) for part in parts])
    raise ShapeError(f"{node} is not a property path")


def _group(path: Path) -> str:
    return path.text if path.predicate else f"({path.text})"


def _sequence(node: str, parts: Sequence[Path]) -> Path:
    def evaluate(graph: PageGraph, subject: str) -> Sequence[str]:
        values: Iterable[str] = (subject,)
        for part in parts:
            values = dict.fromkeys(value for start in values for value in part.evaluate(graph, start))
        return list(values)

    return Path(node, "/".join(map(_group, parts)), evaluate)


def _alternative(node: str, parts: Sequence[Path]) -> Path:
    def evaluate(graph: PageGraph, subject: str) -> Sequence[str]:
        return list(dict.fromkeys(value for part in parts for value in part.evaluate(graph, subject)))

    return Path(node, "|".join(map(_group, parts)), evaluate)


def _inverse(node: str, parts: Sequence[Path]) -> Path:
    (inner,) = parts
    if inner.predicate:
        return Path(node, f"^{inner.text}", lambda graph, subject: graph.subjects(inner.predicate, subject))

    def evaluate(graph: PageGraph, value: str) -> Sequence[str]:
        return [start for start in _all_nodes(graph) if value in inner.evaluate(graph, start)]

    return Path(node, f"^({inner.text})", evaluate)


def _all_nodes(graph: PageGraph) -> Iterable[str]:
    return dict.fromkeys(term for s, _, o in graph.triples() for term in (s, o))


def _walk(inner: Path, graph: PageGraph, starts: Iterable[str]) -> list[str]:
    """Return the nodes at any number of steps from the start nodes, which are included."""
    found = dict.fromkeys(starts)
    waiting = list(found)
    while waiting:
        new = [value for value in inner.evaluate(graph, waiting.pop()) if value not in found]
        found |= dict.fromkeys(new)
        waiting.extend(new)
    return list(found)


def _zero_or_more(node: str, parts: Sequence[Path]) -> Path:
    (inner,) = parts
    return Path(node, f"{_group(inner)}*", lambda graph, subject: _walk(inner, graph, (subject,)))


def _one_or_more(node: str, parts: Sequence[Path]) -> Path:
    (inner,) = parts
    return Path(node, f"{_group(inner)}+", lambda graph, subject: _walk(inner, graph, inner.evaluate(graph, subject)))


def _zero_or_one(node: str, parts: Sequence[Path]) -> Path:
    (inner,) = parts
    return Path(
        node,
        f"{_group(inner)}?",
        lambda graph, subject: list(dict.fromkeys((subject, *inner.evaluate(graph, subject)))),
    )


_OPERATORS: dict[str, Callable[[str, Sequence[Path]], Path]] = {
    "alternativePath": _alternative,
    "inversePath": _inverse,
    "zeroOrMorePath": _zero_or_more,
    "oneOrMorePath": _one_or_more,
    "zeroOrOnePath": _zero_or_one,
}
