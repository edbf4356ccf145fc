"""Conversion of JSON-LD to statements."""

from __future__ import annotations

from typing import Any

import pytest

from motherlode.transform.jsonld.processor_options import RdfDirection
from motherlode.transform.jsonld.to_rdf import canonical_double, canonical_json

from .helpers import TYPE, objects, process, statements

# Appendix B of RFC 8785, and the limits at which Python's and ECMAScript's notations differ
NUMBERS = {
    -0.0: "0",
    5e-324: "5e-324",
    1.7976931348623157e308: "1.7976931348623157e+308",
    9007199254740992: "9007199254740992",
    295147905179352830000: "295147905179352830000",
    9.999999999999997e22: "9.999999999999997e+22",
    1e23: "1e+23",
    999999999999999700000.0: "999999999999999700000",
    1e21: "1e+21",
    0.000001: "0.000001",
    0.0000012: "0.0000012",
    1e-7: "1e-7",
    333333333.33333325: "333333333.33333325",
    -0.0000033333333333333333: "-0.0000033333333333333333",
    1424953923781206.2: "1424953923781206.2",
    4.5: "4.5",
    10**400: "1" + "0" * 400,
    -(10**4000): "-1" + "0" * 4000,
}


@pytest.mark.parametrize(("number", "expected"), NUMBERS.items())
def test_canonical_json_numbers_are_serialized_as_in_ecmascript(number: float, expected: str) -> None:
    assert canonical_json(number) == expected


def test_canonical_json_keys_are_sorted_by_utf16() -> None:
    # U+1F600 has the code units D83D DE00, so it is sorted before U+FB33.
    assert canonical_json({"\ufb33": 1, "\U0001f600": 2, "a": 3}) == '{"a":3,"\U0001f600":2,"\ufb33":1}'


def test_canonical_json_strings_have_minimal_escapes() -> None:
    assert canonical_json('\u2028é"\\\x07\x7f\n') == '"\u2028é\\"\\\\\\u0007\x7f\\n"'


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (1, "1.0E0"),
        (1e21, "1.0E21"),
        (0.1, "1.0E-1"),
        (123.456, "1.23456E2"),
        (float("-inf"), "-INF"),
        (float("nan"), "NaN"),
    ],
)
def test_canonical_double_has_one_digit_before_the_point(number: float, expected: str) -> None:
    assert canonical_double(number) == expected


# Whole documents


P = "http://p/"
EX = "http://example.com/"


def test_to_rdf_bad_property_does_not_affect_others() -> None:
    document = {"@id": "http://s/", "@type": ["http://T/", 7], "http://a/": {"@id": 1, P: "in"}, "http://b/": "out"}
    found = process(document, strict=False)
    assert {s[1:3] for s in found.statements} >= {(TYPE, "<http://T/>"), (f"<{P}>", '"in"'), ("<http://b/>", '"out"')}
    assert len(found.notes) == 2


def test_to_rdf_top_level_graph_is_default_graph() -> None:
    assert {s[3] for s in statements({"@graph": [{"@id": "x", P: "y"}]})} == {""}
    assert {s[3] for s in statements([{"@graph": [{"@id": "x", P: "y"}]}])} != {""}


def test_to_rdf_statements_are_limited_and_earlier_ones_kept() -> None:
    document = [{"@id": f"http://s/{number}", P: "x"} for number in range(100)]
    found = process(document, strict=False, max_statements=10)
    assert len(found.statements) == 10
    assert [note.message for note in found.notes] == ["loading document failed: more than 10 statements"]


def test_to_rdf_statements_are_distinct() -> None:
    assert len(statements([{"@id": "x", P: ["y", "y"]}, {"@id": "x", P: "y"}])) == 1


def test_to_rdf_expand_context_is_applied_first() -> None:
    document = {"@id": "x", "a": "1"}
    assert objects(document, expand_context={"a": EX + "a"}) == ['"1"']
    assert objects(document, expand_context={"@context": {"a": EX + "a"}}) == ['"1"']


# Values and nodes


XSD = "http://www.w3.org/2001/XMLSchema#"


@pytest.mark.parametrize(
    ("value", "term"),
    [
        ("x", '"x"'),
        ('a"b\\c\nd', '"a\\"b\\\\c\\nd"'),
        (True, f'"true"^^<{XSD}boolean>'),
        (7, f'"7"^^<{XSD}integer>'),
        (7.0, f'"7"^^<{XSD}integer>'),
        (-0.0, f'"0"^^<{XSD}integer>'),
        (7.5, f'"7.5E0"^^<{XSD}double>'),
        (1e21, f'"1.0E21"^^<{XSD}double>'),
        (10**21, f'"1.0E21"^^<{XSD}double>'),
        (10**400, f'"1{"0" * 400}"^^<{XSD}integer>'),
        (-(10**4000), f'"-1{"0" * 4000}"^^<{XSD}integer>'),
        ({"@value": 10**400, "@type": XSD + "double"}, f'"INF"^^<{XSD}double>'),
        (10**20, f'"100000000000000000000"^^<{XSD}integer>'),
        ({"@value": 5, "@type": XSD + "double"}, f'"5.0E0"^^<{XSD}double>'),
        ({"@value": 5.5, "@type": "http://t/"}, '"5.5E0"^^<http://t/>'),
        ({"@value": True, "@type": "http://t/"}, '"true"^^<http://t/>'),
        ({"@value": "x", "@type": XSD + "string"}, '"x"'),
        ({"@value": "x", "@language": "de-AT"}, '"x"@de-at'),
        ({"@value": {"b": [1.0], "a": None}, "@type": "@json"}, None),
        ({"@id": "thing"}, "<http://example.org/dir/thing>"),
        ({"@id": ""}, "<http://example.org/dir/page>"),
        ({"@list": []}, "<http://www.w3.org/1999/02/22-rdf-syntax-ns#nil>"),
    ],
)
def test_emitter_values_give_expected_terms(value: Any, term: str | None) -> None:
    json_term = '"{\\"a\\":null,\\"b\\":[1]}"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#JSON>'
    assert objects({"@id": "x", P: value}) == [term or json_term]


@pytest.mark.parametrize("value", [None, [], {"@value": None}, {"@set": []}, {"@language": "en"}, [[None]]])
def test_emitter_null_values_give_nothing(value: Any) -> None:
    assert not statements({"@id": "x", P: value})


def test_emitter_lists_of_lists_are_nested() -> None:
    document = {"@context": {"l": {"@id": P, "@container": "@list"}}, "@id": "x", "l": [["a"], []]}
    found = statements(document)
    assert len(found) == 7
    assert {s[2] for s in found if s[1].endswith("first>")} >= {
        '"a"',
        "<http://www.w3.org/1999/02/22-rdf-syntax-ns#nil>",
    }


def test_emitter_lost_list_item_leaves_a_gap() -> None:
    found = process({"@id": "x", P: {"@list": [{"@id": "http://a/{b}"}, "c"]}})
    assert [s[2] for s in found.statements if s[1].endswith("first>")] == ['"c"']
    assert len([s for s in found.statements if s[1].endswith("rest>")]) == 2
    assert [note.sample for note in found.notes] == ["http://a/{b}"]


@pytest.mark.parametrize(
    ("document", "sample"),
    [
        ({"@id": "http://a/{b}", P: "x"}, "http://a/{b}"),
        ({"@id": "x", "http://a/{b}": "x"}, "http://a/{b}"),
        ({"@id": "x", P: {"@id": "http://a b/"}}, "http://a b/"),
        ({"@id": "x", "@type": "http://a/<b>"}, "http://a/<b>"),
        ({"@id": "x", P: {"@value": "x", "@language": "en_US"}}, "en_US"),
        ({"@id": "http://g/ h", "@graph": [{"@id": "x", P: "y"}]}, "http://g/ h"),
        ({"@context": {"@language": "not a tag"}, "@id": "x", P: "y"}, "not a tag"),
    ],
)
def test_emitter_invalid_terms_are_reported_and_dropped(document: Any, sample: str) -> None:
    found = process({**document, "@included": {"@id": "http://s/", "http://good/": {"@id": "http://o/"}}})
    assert found.statements == (("<http://s/>", "<http://good/>", "<http://o/>", ""),)
    assert [note.sample for note in found.notes] == [sample]
    assert sample in found.notes[0].message


def test_emitter_nodes_inside_dropped_statement_are_kept() -> None:
    nested = {"@id": "http://n/", "http://good/": "kept"}
    for document in (
        {"@id": "a b", P: nested},
        {"@id": "x", "a:{": [nested]},
        {"@id": "x", "a:{": {"@list": [nested]}},
    ):
        assert statements(document) == (("<http://n/>", "<http://good/>", '"kept"', ""),)


def test_emitter_named_graphs_and_blank_labels_are_kept() -> None:
    document = {"@id": "_:g", "@graph": [{"@id": "_:a", P: {"@id": "_:b"}}], "http://q/": {"@id": "_:a"}}
    inside, outside = statements(document)
    assert inside[3] == outside[0]
    assert inside[0] == outside[2] != inside[2]


def test_emitter_base_direction_needs_an_option() -> None:
    document = {"@id": "x", P: {"@value": "y", "@language": "ar-EG", "@direction": "rtl"}}
    assert objects(document) == ['"y"@ar-eg']
    assert objects(document, rdf_direction=RdfDirection.I18N_DATATYPE) == [
        '"y"^^<https://www.w3.org/ns/i18n#ar-eg_rtl>'
    ]
    compound = statements(document, rdf_direction=RdfDirection.COMPOUND_LITERAL)
    assert {s[2] for s in compound if s[0].startswith("_:")} == {'"y"', '"ar-eg"', '"rtl"'}


def test_emitter_blank_predicates_need_an_option() -> None:
    document = {"@context": {"@vocab": "_:v"}, "@id": "x", "a": "y"}
    assert not statements(document)
    assert statements(document, produce_generalized=True)[0][1].startswith("_:")


def test_emitter_list_in_graph_container_is_dropped_and_its_nodes_kept() -> None:
    context = {"g": {"@id": "http://g/", "@container": "@graph"}}
    document = {"@context": context, "@id": "x", "g": {"@list": [{"@id": "http://n/", "http://p/": "said"}]}}
    assert ("<http://n/>", "<http://p/>", '"said"') in {s[:3] for s in statements(document)}


def test_emitter_language_datatype_without_language_is_dropped() -> None:
    """`"x"^^rdf:langString` is not valid RDF."""
    type_ = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"
    assert objects({"@id": "x", "http://p/": {"@value": "x", "@type": type_}}) == ['"x"']
