"""Results of validation as a SHACL validation report in RDF."""

from collections.abc import Iterable, Iterator

from motherlode.model.terms import RDF, RDF_TYPE, XSD, literal
from motherlode.quality.page_graph import PageGraph, Triple, is_iri
from motherlode.quality.property_paths import sh
from motherlode.quality.shapes import Result

_LIST = (f"<{RDF}first>", f"<{RDF}rest>")
"""Properties of a sequence path. A node that has them has no other path, even if it has other properties."""


def build_report(results: Iterable[Result], shapes: PageGraph, *, name: str = "report") -> Iterator[Triple]:
    """Yield the triples of a report. `name` starts the names of its blank nodes."""
    report = f"_:{name}"
    count = 0
    for count, result in enumerate(results, start=1):
        node = f"_:{name}r{count}"
        yield report, sh("result"), node
        yield from _describe(result, node, shapes)
    yield report, RDF_TYPE, sh("ValidationReport")
    yield report, sh("conforms"), literal("false" if count else "true", datatype=XSD + "boolean")


def _describe(result: Result, node: str, shapes: PageGraph) -> Iterator[Triple]:
    shape, offence = result.shape, result.offence
    yield node, RDF_TYPE, sh("ValidationResult")
    yield node, sh("focusNode"), result.focus
    yield node, sh("resultSeverity"), shape.severity
    yield node, sh("sourceConstraintComponent"), result.constraint.component
    yield node, sh("sourceShape"), shape.id
    if offence.value is not None:
        yield node, sh("value"), offence.value
    if offence.path:
        yield node, sh("resultPath"), offence.path
    elif shape.path:
        yield from _copy_path(shapes, shape.path.node, (node, sh("resultPath")), f"{node}p")
    for message in shape.messages or (literal(result.message),):
        yield node, sh("resultMessage"), message


def _copy_path(shapes: PageGraph, term: str, owner: tuple[str, str], name: str) -> Iterator[Triple]:
    """Yield the triples of a path with blank nodes of its own."""
    if is_iri(term):
        yield (*owner, term)
        return
    yield (*owner, name)
    properties = shapes.properties(term)
    used = _LIST if _LIST[0] in properties else properties
    parts = ((predicate, object_) for predicate in used for object_ in properties.get(predicate, ()))
    for number, (predicate, object_) in enumerate(parts):
        yield from _copy_path(shapes, object_, (name, predicate), f"{name}{number}")
