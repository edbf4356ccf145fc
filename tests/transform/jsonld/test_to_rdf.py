from __future__ import annotations

from typing import Any

import pytest

from motherlode.transform.jsonld.processor_options import ProcessorLimits, RdfDirection
from motherlode.transform.jsonld.to_rdf import canonical_double, canonical_json

from .helpers import TYPE, objects, process, statements

# Appendix B of RFC 8785, and the seams between Python's and ECMAScript's notation.
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
def test_numbers_are_spelled_as_ecmascript_does(number: float, expected: str) -> None:
    assert canonical_json(number) == expected


def test_keys_are_ordered_by_utf_16() -> None:
    # U+1F600 is two code units from D83D on, so it comes before U+FB33.
    assert canonical_json({"\ufb33": 1, "\U0001f600": 2, "a": 3}) == '{"a":3,"\U0001f600":2,"\ufb33":1}'


def test_strings_escape_only_what_they_must() -> None:
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
def test_doubles_have_one_digit_before_the_point(number: float, expected: str) -> None:
    assert canonical_double(number) == expected


# SECTION One document from end to end.


P = "http://p/"
EX = "http://example.com/"


def test_one_bad_property_does_not_cost_its_neighbours() -> None:
    document = {"@id": "http://s/", "@type": ["http://T/", 7], "http://a/": {"@id": 1, P: "in"}, "http://b/": "out"}
    found = process(document, strict=False)
    assert {s[1:3] for s in found.statements} >= {(TYPE, "<http://T/>"), (f"<{P}>", '"in"'), ("<http://b/>", '"out"')}
    assert len(found.notes) == 2


def test_a_graph_at_the_top_is_the_default_graph() -> None:
    assert {s[3] for s in statements({"@graph": [{"@id": "x", P: "y"}]})} == {""}
    assert {s[3] for s in statements([{"@graph": [{"@id": "x", P: "y"}]}])} != {""}


def test_statements_are_bounded_and_what_was_found_stays() -> None:
    document = [{"@id": f"http://s/{number}", P: "x"} for number in range(100)]
    found = process(document, strict=False, limits=ProcessorLimits(statements=10))
    assert len(found.statements) == 10
    assert [note.message for note in found.notes] == ["loading document failed: more than 10 statements"]


def test_every_statement_once() -> None:
    assert len(statements([{"@id": "x", P: ["y", "y"]}, {"@id": "x", P: "y"}])) == 1


def test_the_expand_context_comes_first() -> None:
    document = {"@id": "x", "a": "1"}
    assert objects(document, expand_context={"a": EX + "a"}) == ['"1"']
    assert objects(document, expand_context={"@context": {"a": EX + "a"}}) == ['"1"']


# SECTION Expanded values become terms, or are lost aloud.


P_RDF = "http://p/"
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
def test_values_become_terms(value: Any, term: str | None) -> None:
    json_term = '"{\\"a\\":null,\\"b\\":[1]}"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#JSON>'
    assert objects({"@id": "x", P_RDF: value}) == [term or json_term]


@pytest.mark.parametrize("value", [None, [], {"@value": None}, {"@set": []}, {"@language": "en"}, [[None]]])
def test_nothing_becomes_nothing(value: Any) -> None:
    assert not statements({"@id": "x", P_RDF: value})


def test_lists_of_lists() -> None:
    document = {"@context": {"l": {"@id": P_RDF, "@container": "@list"}}, "@id": "x", "l": [["a"], []]}
    found = statements(document)
    assert len(found) == 7
    assert {s[2] for s in found if s[1].endswith("first>")} >= {
        '"a"',
        "<http://www.w3.org/1999/02/22-rdf-syntax-ns#nil>",
    }


def test_a_lost_item_leaves_its_place_in_the_list() -> None:
    found = process({"@id": "x", P_RDF: {"@list": [{"@id": "http://a/{b}"}, "c"]}})
    assert [s[2] for s in found.statements if s[1].endswith("first>")] == ['"c"']
    assert len([s for s in found.statements if s[1].endswith("rest>")]) == 2
    assert [note.sample for note in found.notes] == ["http://a/{b}"]


@pytest.mark.parametrize(
    ("document", "sample"),
    [
        ({"@id": "http://a/{b}", P_RDF: "x"}, "http://a/{b}"),
        ({"@id": "x", "http://a/{b}": "x"}, "http://a/{b}"),
        ({"@id": "x", P_RDF: {"@id": "http://a b/"}}, "http://a b/"),
        ({"@id": "x", "@type": "http://a/<b>"}, "http://a/<b>"),
        ({"@id": "x", P_RDF: {"@value": "x", "@language": "en_US"}}, "en_US"),
        ({"@id": "http://g/ h", "@graph": [{"@id": "x", P_RDF: "y"}]}, "http://g/ h"),
        ({"@context": {"@language": "not a tag"}, "@id": "x", P_RDF: "y"}, "not a tag"),
    ],
)
def test_what_rdf_cannot_hold_is_lost_aloud(document: Any, sample: str) -> None:
    found = process({**document, "@included": {"@id": "http://s/", "http://good/": {"@id": "http://o/"}}})
    assert found.statements == (("<http://s/>", "<http://good/>", "<http://o/>", ""),)
    assert [note.sample for note in found.notes] == [sample]
    assert sample in found.notes[0].message


def test_what_hangs_on_a_lost_statement_stays() -> None:
    nested = {"@id": "http://n/", "http://good/": "kept"}
    for document in (
        {"@id": "a b", P_RDF: nested},
        {"@id": "x", "a:{": [nested]},
        {"@id": "x", "a:{": {"@list": [nested]}},
    ):
        assert statements(document) == (("<http://n/>", "<http://good/>", '"kept"', ""),)


def test_named_graphs_and_blank_labels() -> None:
    document = {"@id": "_:g", "@graph": [{"@id": "_:a", P_RDF: {"@id": "_:b"}}], "http://q/": {"@id": "_:a"}}
    inside, outside = statements(document)
    assert inside[3] == outside[0]
    assert inside[0] == outside[2] != inside[2]


def test_base_direction_needs_an_option() -> None:
    document = {"@id": "x", P_RDF: {"@value": "y", "@language": "ar-EG", "@direction": "rtl"}}
    assert objects(document) == ['"y"@ar-eg']
    assert objects(document, rdf_direction=RdfDirection.I18N_DATATYPE) == [
        '"y"^^<https://www.w3.org/ns/i18n#ar-eg_rtl>'
    ]
    compound = statements(document, rdf_direction=RdfDirection.COMPOUND_LITERAL)
    assert {s[2] for s in compound if s[0].startswith("_:")} == {'"y"', '"ar-eg"', '"rtl"'}


def test_blank_predicates_need_an_option() -> None:
    document = {"@context": {"@vocab": "_:v"}, "@id": "x", "a": "y"}
    assert not statements(document)
    assert statements(document, produce_generalized=True)[0][1].startswith("_:")


def test_a_list_in_a_graph_container_is_dropped_but_not_its_nodes() -> None:
    context = {"g": {"@id": "http://g/", "@container": "@graph"}}
    document = {"@context": context, "@id": "x", "g": {"@list": [{"@id": "http://n/", "http://p/": "said"}]}}
    assert ("<http://n/>", "<http://p/>", '"said"') in {s[:3] for s in statements(document)}


def test_no_typed_value_has_the_datatype_of_text_in_a_language() -> None:
    """`"x"^^rdf:langString` is no RDF: nothing could read it again."""
    type_ = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"
    assert objects({"@id": "x", "http://p/": {"@value": "x", "@type": type_}}) == ['"x"']
