"""Shapes: targets, recursion, and what a result says."""

from __future__ import annotations

import pytest

from motherlode.quality.shapes import is_true
from tests.quality.shacl_data import S, graph_of, messages_of, results_of, validator_of


def test_compiler_returns_only_shapes_with_targets() -> None:
    shapes = "<urn:s> sh:targetNode <urn:a> ; sh:node <urn:t> . <urn:t> sh:property [ sh:path :p ; sh:minCount 1 ] ."
    assert [shape.id for shape in validator_of(shapes).shapes] == ["<urn:s>"]
    assert messages_of(shapes, "<urn:a> :q 1 .") == [("", "schema:p is missing")]


@pytest.mark.parametrize(
    ("target", "focus"),
    [
        ("<urn:s> sh:targetNode <urn:a>", ["<urn:a>"]),
        ("<urn:s> sh:targetClass :Person", ["<urn:a>", "<urn:b>"]),
        ("<urn:s> sh:targetSubjectsOf :knows", ["<urn:a>"]),
        ("<urn:s> sh:targetObjectsOf :knows", ["<urn:b>"]),
        (":Person a sh:NodeShape, rdfs:Class", ["<urn:a>", "<urn:b>"]),
        (":Person a rdfs:Class", []),
    ],
)
def test_target_selects_its_focus_nodes(target: str, focus: list[str]) -> None:
    data = "<urn:a> a :Person ; :knows <urn:b> . <urn:b> a :Person . <urn:c> a :Place ."
    found = results_of(f"{target} ; sh:nodeKind sh:Literal .", data)
    assert sorted(result.focus for result in found) == focus


def test_shapes_that_refer_to_each_other_in_a_circle_are_recursive() -> None:
    validator = validator_of(
        "<urn:s> sh:targetNode <urn:a> ; sh:property [ sh:path :p ; sh:node <urn:t> ] ."
        "<urn:t> sh:targetNode <urn:b> ; sh:property [ sh:path :q ; sh:node <urn:s> ] ."
        "<urn:u> sh:targetNode <urn:c> ; sh:node <urn:s> ."
    )
    assert {shape.id: shape.is_recursive for shape in validator.shapes} == {
        "<urn:s>": True,
        "<urn:t>": True,
        "<urn:u>": False,
    }
    graph = graph_of("<urn:a> :p <urn:b> . <urn:b> :q <urn:a> .")
    assert validator.validate(graph) == []
    assert graph.active == set()


def test_deactivated_shape_has_no_results() -> None:
    shape = "<urn:s> sh:targetNode <urn:a> ; sh:nodeKind sh:Literal"
    assert len(results_of(f"{shape} .", "<urn:a> :p 1 .")) == 1
    assert results_of(f"{shape} ; sh:deactivated true .", "<urn:a> :p 1 .") == []


@pytest.mark.parametrize(("severity", "name"), [("", "violation"), ("; sh:severity sh:Warning", "warning")])
def test_result_has_the_severity_of_its_shape(severity: str, name: str) -> None:
    [result] = results_of(f"<urn:s> sh:targetNode <urn:a> ; sh:nodeKind sh:Literal {severity} .", "<urn:a> :p 1 .")
    assert (result.severity, result.component, result.path) == (name, "NodeKind", "")


def test_message_of_a_missing_alternative_is_about_all_of_them() -> None:
    shape = "<urn:s> sh:targetNode <urn:a> ; sh:property [ sh:path [ sh:alternativePath ( :p :q ) ] ; sh:minCount 1 ] ."
    assert messages_of(shape, "<urn:a> :r 1 .") == [("schema:p|schema:q", "none of these is present")]


@pytest.mark.parametrize(("value", "expected"), [("true", True), ("false", False), (":true", False)])
def test_is_true_reads_a_literal(value: str, expected: bool) -> None:  # noqa: FBT001
    assert is_true(graph_of(f"<{S}s> sh:closed {value} ."), f"<{S}s>", "closed") is expected
