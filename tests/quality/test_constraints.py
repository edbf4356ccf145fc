"""Each constraint component of SHACL Core with a value that conforms and one that does not."""

from __future__ import annotations

import pytest

from motherlode.quality.constraints import _SIMPLE, show_term
from tests.quality.shacl_data import S, messages_of, results_of

CASES = {
    "class": ("sh:class :City", "<urn:c> . <urn:c> a :City", "<urn:d>", "is not a schema:City"),
    "datatype": (
        "sh:datatype xsd:integer",
        "1",
        '"x"^^xsd:integer',
        "is not a valid literal of the datatype xsd:integer",
    ),
    "nodeKind": ("sh:nodeKind sh:BlankNodeOrIRI", "<urn:c>, []", '"x"', "is not of the kind BlankNodeOrIRI"),
    "minCount": ("sh:minCount 2", "1, 2", "1", "has less than 2 values"),
    "maxCount": ("sh:maxCount 1", "1", "1, 2", "has more than 1 values"),
    "minExclusive": ("sh:minExclusive 1", "2", "1", 'is not greater than "1"'),
    "minInclusive": ("sh:minInclusive 1", "1", "0", 'is not at least "1"'),
    "maxExclusive": ("sh:maxExclusive 1", "0", "1", 'is not less than "1"'),
    "maxInclusive": ("sh:maxInclusive 1", "1", "2", 'is not at most "1"'),
    "minLength": ("sh:minLength 2", '"ab"', '"a"', "has less than 2 characters"),
    "maxLength": ("sh:maxLength 2", '"ab"', '"abc"', "has more than 2 characters"),
    "pattern": ('sh:pattern "^a" ; sh:flags "i"', '"Abc"', '"ba"', "does not match ^a"),
    "languageIn": ('sh:languageIn ( "en" )', '"x"@en-GB', '"x"@de', "is not in one of the languages en"),
    "uniqueLang": ("sh:uniqueLang true", '"a"@en, "b"@de', '"a"@en, "b"@en', "has several values in one language"),
    "equals": ("sh:equals :q", "1 ; :q 1", "1 ; :q 1, 2", "does not have the same values as schema:q"),
    "disjoint": ("sh:disjoint :q", "1 ; :q 2", "1 ; :q 1", "has a value that schema:q also has"),
    "lessThan": ("sh:lessThan :q", "1 ; :q 2", "2 ; :q 2", "is not less than the value of schema:q"),
    "lessThanOrEquals": ("sh:lessThanOrEquals :q", "2 ; :q 2", "3 ; :q 2", "is not at most the value of schema:q"),
    "not": ("sh:not [ sh:datatype xsd:string ]", "1", '"x"', "is not allowed"),
    "and": (
        "sh:and ( [ sh:minInclusive 1 ] [ sh:maxInclusive 3 ] )",
        "2",
        "4",
        "does not have all alternatives that it needs",
    ),
    "or": (
        "sh:or ( [ sh:datatype xsd:integer ] [ sh:datatype xsd:boolean ] )",
        "1, true",
        '"x"',
        "has none of the alternatives of which it needs one",
    ),
    "xone": (
        "sh:xone ( [ sh:minInclusive 1 ] [ sh:maxInclusive 3 ] )",
        "4",
        "2",
        "does not have exactly one of the alternatives",
    ),
    "node": ("sh:node [ sh:nodeKind sh:IRI ]", "<urn:c>", '"x"', "is not of the kind IRI"),
    "qualifiedMinCount": (
        "sh:qualifiedValueShape [ sh:datatype xsd:integer ] ; sh:qualifiedMinCount 1",
        '1, "x"',
        '"x"',
        "has less than 1 values that conform to the shape of values",
    ),
    "qualifiedMaxCount": (
        "sh:qualifiedValueShape [ sh:datatype xsd:integer ] ; sh:qualifiedMaxCount 1",
        '1, "x"',
        "1, 2",
        "has more than 1 values that conform to the shape of values",
    ),
    "hasValue": ("sh:hasValue 1", "1, 2", "2", 'does not have the value "1"'),
    "in": ("sh:in ( 1 2 )", "1, 2", "3", 'is not one of "1", "2"'),
}
"""Parameter → constraint, values that conform, values that do not, and the message."""


def property_shape(constraint: str) -> str:
    return f"<urn:s> sh:targetNode <urn:a> ; sh:property [ sh:path :p ; {constraint} ] ."


def test_cases_cover_all_components_with_one_parameter() -> None:
    assert set(_SIMPLE) <= set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_constraint_reports_only_values_that_violate_it(name: str) -> None:
    constraint, good, bad, message = CASES[name]
    assert results_of(property_shape(constraint), f"<urn:a> :p {good} .") == []
    found = results_of(property_shape(constraint), f"<urn:a> :p {bad} .")
    assert [(result.component, result.message) for result in found] == [(name[0].upper() + name[1:], message)]


def test_range_constraint_reports_each_value_that_is_outside() -> None:
    found = results_of(property_shape("sh:maxInclusive 3"), "<urn:a> :p 2, 4, 5 .")
    assert sorted(show_term(result.offence.value or "") for result in found) == ['"4"', '"5"']


def test_count_constraint_reports_no_single_value() -> None:
    assert [result.offence.value for result in results_of(property_shape("sh:maxCount 1"), "<urn:a> :p 1, 2 .")] == [
        None
    ]


def test_closed_shape_reports_other_properties_with_their_names() -> None:
    shape = (
        "<urn:s> sh:targetNode <urn:a> ; sh:closed true ; sh:ignoredProperties ( :r ) ; sh:property [ sh:path :p ] ."
    )
    assert messages_of(shape, "<urn:a> :p 1 ; :q 2 ; :r 3 .") == [("schema:q", "is not allowed here")]


def test_disjoint_qualified_shapes_do_not_count_values_of_their_siblings() -> None:
    integer = "sh:path :p ; sh:qualifiedValueShape [ sh:datatype xsd:integer ] ; sh:qualifiedMinCount 1"
    large = "sh:path :p ; sh:qualifiedValueShape [ sh:minInclusive 5 ] ; sh:qualifiedMinCount 1"
    target = "<urn:s> sh:targetNode <urn:a> ; sh:property"
    disjoint = f"{target} [ {integer} ; sh:qualifiedValueShapesDisjoint true ], [ {large} ] ."
    assert [result.component for result in results_of(disjoint, "<urn:a> :p 7 .")] == ["QualifiedMinCount"]
    assert results_of(disjoint, "<urn:a> :p 1, 7 .") == []
    assert results_of(f"{target} [ {integer} ], [ {large} ] .", "<urn:a> :p 7 .") == []


def test_node_constraint_message_names_the_property_of_the_inner_shape() -> None:
    shape = property_shape("sh:node [ sh:property [ sh:path :name ; sh:minCount 1 ] ]")
    assert messages_of(shape, "<urn:a> :p <urn:b> .") == [("schema:p", "schema:name is missing")]


def test_in_constraint_with_many_values_shows_the_first_ten() -> None:
    [(_, message)] = messages_of(property_shape("sh:in ( 0 1 2 3 4 5 6 7 8 9 10 )"), "<urn:a> :p 11 .")
    assert message.endswith('"8", "9", …')


@pytest.mark.parametrize(
    ("term", "shown"), [(f"<{S}name>", "schema:name"), ('"a"@en', '"a"'), ("_:b", "_:b"), ("<urn:x>", "urn:x")]
)
def test_show_term_gives_a_text_for_people(term: str, shown: str) -> None:
    assert show_term(term) == shown
