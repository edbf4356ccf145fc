"""Statements as node objects of expanded JSON-LD."""

from __future__ import annotations

import pytest

from motherlode.model.terms import RDF, RDF_TYPE, XSD, literal
from motherlode.transform.node_objects import build_node_objects, split_literal, value_object

P = "<http://e.example/p>"


def test_build_node_objects_groups_statements_by_subject() -> None:
    found = build_node_objects(
        [
            ("<http://e.example/a>", RDF_TYPE, "<http://e.example/T>", ""),
            ("_:b", P, '"x"', ""),
            ("<http://e.example/a>", P, '"y"@en', ""),
            ("<http://e.example/a>", P, "_:b", ""),
        ]
    )
    assert found == [
        {
            "@id": "http://e.example/a",
            "@type": ["http://e.example/T"],
            "http://e.example/p": [{"@language": "en", "@value": "y"}, {"@id": "_:b"}],
        },
        {"@id": "_:b", "http://e.example/p": [{"@value": "x"}]},
    ]


def test_build_node_objects_collection_becomes_a_list() -> None:
    first, rest, nil = f"<{RDF}first>", f"<{RDF}rest>", f"<{RDF}nil>"
    statements = [
        ("<http://e.example/a>", P, "_:1", ""),
        ("_:1", first, '"x"', ""),
        ("_:1", rest, "_:2", ""),
        ("_:2", first, '"y"', ""),
        ("_:2", rest, nil, ""),
    ]
    assert build_node_objects(statements) == [
        {"@id": "http://e.example/a", "http://e.example/p": [{"@list": [{"@value": "x"}, {"@value": "y"}]}]}
    ]


def test_build_node_objects_cyclic_collection_stays_as_statements() -> None:
    first, rest = f"<{RDF}first>", f"<{RDF}rest>"
    statements = [("_:1", first, '"x"', ""), ("_:1", rest, "_:1", "")]
    assert build_node_objects(statements) == [
        {"@id": "_:1", f"{RDF}first": [{"@value": "x"}], f"{RDF}rest": [{"@id": "_:1"}]}
    ]


@pytest.mark.parametrize(
    ("text", "datatype", "value"),
    [("7", "integer", 7), ("1.5E0", "double", 1.5), ("true", "boolean", True), ("x", "integer", "x")],
)
def test_value_object_of_number_or_boolean_is_native(text: str, datatype: str, value: object) -> None:
    assert value_object(literal(text, datatype=XSD + datatype)) == {"@type": XSD + datatype, "@value": value}


@pytest.mark.parametrize("text", ['a "b"', "back\\slash", "line\nbreak\r", "tab\t", "\\n"])
def test_split_literal_returns_the_text_that_was_written(text: str) -> None:
    assert split_literal(literal(text)) == (text, "", "")
