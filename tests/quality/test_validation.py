"""Tests of the SHACL engine beyond the W3C suite: selection, messages, recursion and invalid shapes."""

import pytest

from motherlode.model.terms import RDF_TYPE
from motherlode.quality.page_graph import PageGraph
from motherlode.quality.validation import ShapeError
from tests.quality.shacl_data import messages_of, validator_of


def test_validator_reports_path_and_message_of_a_missing_property() -> None:
    found = messages_of(
        "<urn:s> sh:targetClass :Product ; sh:property [ sh:path :name ; sh:minCount 1 ] .", "[] a :Product ."
    )
    assert found == [("schema:name", "is missing")]


def test_validator_with_https_data_applies_shapes_of_http() -> None:
    validator = validator_of("<urn:s> sh:targetClass :Product ; sh:property [ sh:path :name ; sh:minCount 1 ] .")
    graph = PageGraph([("_:a", RDF_TYPE, "<https://schema.org/Product>")])
    assert len(validator.validate(graph)) == 1
    assert not validator.validate(PageGraph([*graph.triples(), ("_:a", "<https://schema.org/name>", '"x"')]))


def test_validator_ignores_pages_without_target_types() -> None:
    assert messages_of("<urn:s> sh:targetClass :Product ; sh:nodeKind sh:IRI .", "[] a :Person .") == []


def test_validator_with_recursive_shapes_terminates() -> None:
    shapes = "<urn:s> sh:targetClass :Person ; sh:property [ sh:path :knows ; sh:node <urn:s> ; sh:minCount 1 ] ."
    assert messages_of(shapes, "<urn:a> a :Person ; :knows <urn:b> . <urn:b> a :Person ; :knows <urn:a> .") == []
    assert messages_of(shapes, "<urn:a> a :Person ; :knows <urn:b> .") == [("schema:knows", "schema:knows is missing")]


def test_validator_prefers_the_message_of_the_shape() -> None:
    named = 'sh:path :name ; sh:minCount 1 ; sh:message "Give it a name."'
    shapes = f"<urn:s> sh:targetClass :Product ; sh:property [ {named} ] ."
    assert messages_of(shapes, "[] a :Product .") == [("schema:name", "Give it a name.")]


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        ("<urn:s> sh:targetClass :P ; sh:property [ sh:minCount 1 ] .", "no sh:path"),
        ("<urn:s> sh:targetClass :P ; sh:property [ sh:path :a, :b ] .", "2 values of sh:path"),
        ("<urn:s> sh:targetClass :P ; sh:path [ :a :b ] .", "not a property path"),
        ('<urn:s> sh:targetClass :P ; sh:pattern "(" .', "not a regular expression"),
        ('<urn:s> sh:targetClass :P ; sh:property [ sh:path :a ; sh:minCount "many" ] .', "not a whole number"),
        ("<urn:s> sh:targetClass", "not valid Turtle"),
    ],
)
def test_validator_with_invalid_shapes_raises_an_error_with_the_reason(shapes: str, message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        validator_of(shapes)
