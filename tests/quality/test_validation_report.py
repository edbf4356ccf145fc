"""Validation reports in RDF."""

from __future__ import annotations

from motherlode.model.terms import RDF_TYPE
from motherlode.quality.page_graph import PageGraph
from motherlode.quality.property_paths import compile_path, sh
from motherlode.quality.validation_report import build_report
from tests.quality.shacl_data import graph_of, results_of, validator_of

TRUE, FALSE = (f'"{value}"^^<http://www.w3.org/2001/XMLSchema#boolean>' for value in ("true", "false"))


def report_of(shapes: str, data: str, **options: str) -> PageGraph:
    validator = validator_of(shapes)
    return PageGraph(build_report(validator.validate(graph_of(data)), validator.shapes_graph, **options))


def test_build_report_without_results_conforms() -> None:
    triples = list(build_report([], PageGraph([])))
    assert triples == [("_:report", RDF_TYPE, sh("ValidationReport")), ("_:report", sh("conforms"), TRUE)]


def test_build_report_describes_each_result() -> None:
    report = report_of(
        "<urn:s> sh:targetNode <urn:a> ; sh:severity sh:Warning ; sh:class :Person .", "<urn:a> a :Place .", name="p1"
    )
    assert report.objects("_:p1", sh("conforms")) == [FALSE]
    assert report.objects("_:p1", sh("result")) == ["_:p1r1"]
    assert {predicate: list(objects) for predicate, objects in report.properties("_:p1r1").items()} == {
        RDF_TYPE: [sh("ValidationResult")],
        sh("focusNode"): ["<urn:a>"],
        sh("resultSeverity"): [sh("Warning")],
        sh("sourceConstraintComponent"): [sh("ClassConstraintComponent")],
        sh("sourceShape"): ["<urn:s>"],
        sh("value"): ["<urn:a>"],
        sh("resultMessage"): ['"is not a schema:Person"'],
    }


def test_build_report_copies_messages_of_the_shape_with_their_languages() -> None:
    report = report_of('<urn:s> sh:targetNode <urn:a> ; sh:nodeKind sh:Literal ; sh:message "no"@en, "nein"@de .', "")
    assert sorted(report.objects("_:reportr1", sh("resultMessage"))) == ['"nein"@de', '"no"@en']


def test_build_report_copies_complex_paths_with_blank_nodes_of_each_result() -> None:
    path = "( :p [ sh:alternativePath ( :q [ sh:inversePath :r ] ) ] )"
    shapes = f"<urn:s> sh:targetNode <urn:a>, <urn:b> ; sh:property [ sh:path {path} ; sh:minCount 1 ] ."
    report, [first, _] = report_of(shapes, ""), results_of(shapes, "")
    nodes = [report.objects(result, sh("resultPath"))[0] for result in report.objects("_:report", sh("result"))]
    assert len(set(nodes)) == 2
    assert {compile_path(report, node).text for node in nodes} == {first.path}


def test_build_report_names_the_property_that_a_closed_shape_refuses() -> None:
    report = report_of("<urn:s> sh:targetNode <urn:a> ; sh:closed true .", "<urn:a> :q 2 .")
    assert report.objects("_:reportr1", sh("resultPath")) == ["<http://schema.org/q>"]
