"""The W3C test suite of SHACL Core: our engine, and pySHACL beside it if it is installed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pyoxigraph as ox

from motherlode.model.terms import literal
from motherlode.quality.page_graph import PageGraph, Triple
from motherlode.quality.property_paths import compile_path, sh
from motherlode.quality.validation import Validator, parse_triples
from motherlode.quality.validation_report import build_report

from .runner import Case, CaseResult, isomorphic, shared

FLOORS = {"shacl-core": 1.0}
"""No exceptions. pySHACL 0.40.1 fails three of the 98 cases: rdflib rewrites ill-formed literals in two, and it reads
"1"^^xsd:boolean as true in the third."""
_MF = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
_SHT = "http://www.w3.org/ns/shacl-test#"
_REPORTED = frozenset(
    sh(name)
    for name in ("focusNode", "resultSeverity", "sourceConstraintComponent", "sourceShape", "value", "resultPath")
)


def cases() -> Iterable[Case]:
    for path in sorted(shared("shacl-core").glob("*/*.ttl")):
        graph = _read(path)
        for subject, _ in graph.pairs(f"<{_MF}action>"):
            name = f"{path.parent.name}/{path.stem}"
            yield Case(id=name, row="shacl-core", data={"path": path, "node": subject})
            if _pyshacl() is not None:
                yield Case(id=name, row="shacl-core by pySHACL", data={"path": path, "node": subject, "peer": True})


def run(case: Case) -> CaseResult:
    path, node = case.data["path"], case.data["node"]
    graph = _read(path)
    (action,) = graph.objects(node, f"<{_MF}action>")
    data, shapes = (_file(graph, action, name, path) for name in ("dataGraph", "shapesGraph"))
    (expected,) = graph.objects(node, f"<{_MF}result>")
    if case.data.get("peer"):
        found, report = _validate_by_pyshacl(data, shapes)
    else:
        validator = Validator(_read(shapes))
        found = PageGraph(build_report(validator.validate(_read(data)), validator.shapes_graph))
        report = "_:report"
    wants_messages = bool(graph.pairs(sh("resultMessage")))
    left, right = (_normal_form(*each, wants_messages=wants_messages) for each in ((graph, expected), (found, report)))
    return isomorphic(left, right) or f"{len(list(left))} triples expected, {len(list(right))} found"


def _file(graph: PageGraph, action: str, name: str, path: Path) -> Path:
    (term,) = graph.objects(action, f"<{_SHT}{name}>")
    return path.parent / term[1:-1].rpartition("/")[2]


def _read(path: Path) -> PageGraph:
    return PageGraph(parse_triples(path.read_bytes(), base=f"http://suite.example/{path.name}"))


def _normal_form(graph: PageGraph, report: str, *, wants_messages: bool) -> list[tuple[str, str, str, str]]:
    """Return the triples of a report that the suite compares. A shape without a name is reported as such."""
    return [(s, p, o, "") for s, p, o in _walk(graph, report, wants_messages=wants_messages)]


def _walk(graph: PageGraph, report: str, *, wants_messages: bool) -> Iterator[Triple]:
    for value in graph.objects(report, sh("conforms")):
        yield report, sh("conforms"), value
    for result in graph.objects(report, sh("result")):
        yield report, sh("result"), result
        for predicate, values in graph.properties(result).items():
            if predicate in _REPORTED or (wants_messages and predicate == sh("resultMessage")):
                for value in values:
                    yield result, predicate, _show(graph, predicate, value)


def _show(graph: PageGraph, predicate: str, value: str) -> str:
    """Return a value. A shape without a name is reported as such, and a path by its text.

    The text is compared, because pySHACL uses the blank nodes of a path in several results.
    """
    if predicate == sh("sourceShape") and value.startswith("_:"):
        return "<urn:unnamed-shape>"
    return literal(compile_path(graph, value).text) if predicate == sh("resultPath") else value


@cache
def _pyshacl() -> Any:
    try:
        import pyshacl
    except ImportError:
        return None
    return pyshacl


def _validate_by_pyshacl(data: Path, shapes: Path) -> tuple[PageGraph, str]:
    import pyshacl

    data_graph, shapes_graph = (_rdflib(path, "http://suite.example/") for path in (data, shapes))
    _, report, _ = pyshacl.validate(data_graph, shacl_graph=shapes_graph, inference="none", advanced=False)
    text = report.serialize(format="nt")
    graph = PageGraph(parse_triples(text.encode(), rdf_format=ox.RdfFormat.N_TRIPLES))
    ((node, _),) = graph.pairs(sh("conforms"))
    return graph, node


def _rdflib(path: Path, base: str) -> Any:
    import rdflib

    return rdflib.Graph().parse(path, format="turtle", publicID=base + path.name)
