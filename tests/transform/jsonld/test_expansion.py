"""Expansion and what becomes of it, case by case; the W3C suite is in tests/conformance."""

from __future__ import annotations

from typing import Any

import pytest

from motherlode.transform.jsonld.errors import ErrorCode, JsonLdError
from motherlode.transform.jsonld.settings import Limits, Mode, RdfDirection

from .helpers import TYPE, objects, process, statements

P = "http://p/"
XSD = "http://www.w3.org/2001/XMLSchema#"

REFUSED: list[tuple[Any, ErrorCode]] = [
    ({"@id": 1}, ErrorCode.INVALID_ID_VALUE),
    ({"@type": 1}, ErrorCode.INVALID_TYPE_VALUE),
    ({"@type": [1]}, ErrorCode.INVALID_TYPE_VALUE),
    ({P: {"@value": {}}}, ErrorCode.INVALID_VALUE_OBJECT_VALUE),
    ({P: {"@value": "x", "@language": 1}}, ErrorCode.INVALID_LANGUAGE_TAGGED_STRING),
    ({P: {"@value": 1, "@language": "en"}}, ErrorCode.INVALID_LANGUAGE_TAGGED_VALUE),
    ({P: {"@value": "x", "@direction": "up"}}, ErrorCode.INVALID_BASE_DIRECTION),
    ({P: {"@value": "x", "@index": 1}}, ErrorCode.INVALID_INDEX_VALUE),
    ({P: {"@value": "x", "@type": "http://t/", "@language": "en"}}, ErrorCode.INVALID_VALUE_OBJECT),
    ({P: {"@value": "x", P: "y"}}, ErrorCode.INVALID_VALUE_OBJECT),
    ({P: {"@value": "x", "@type": "_:b"}}, ErrorCode.INVALID_TYPED_VALUE),
    ({P: {"@value": "x", "@type": ["http://t/"]}}, ErrorCode.INVALID_TYPED_VALUE),
    ({P: {"@list": [], "@id": "http://x/"}}, ErrorCode.INVALID_SET_OR_LIST_OBJECT),
    ({P: {"@set": [], P: 1}}, ErrorCode.INVALID_SET_OR_LIST_OBJECT),
    ({"@value": "x", P: "y"}, ErrorCode.INVALID_VALUE_OBJECT),
    ({"@reverse": "x"}, ErrorCode.INVALID_REVERSE_VALUE),
    ({"@reverse": {"@id": "x"}}, ErrorCode.INVALID_REVERSE_PROPERTY_MAP),
    ({"@reverse": {P: "x"}}, ErrorCode.INVALID_REVERSE_PROPERTY_VALUE),
    ({"@reverse": {P: {"@list": []}}}, ErrorCode.INVALID_REVERSE_PROPERTY_VALUE),
    ({"@included": "x"}, ErrorCode.INVALID_INCLUDED_VALUE),
    ({"@included": {"@value": "x"}}, ErrorCode.INVALID_INCLUDED_VALUE),
    ({"@nest": "x"}, ErrorCode.INVALID_NEST_VALUE),
    ({"@nest": {"@value": "x"}}, ErrorCode.INVALID_NEST_VALUE),
    ({"@context": {"id": "@id"}, "@id": "a", "id": "b"}, ErrorCode.COLLIDING_KEYWORDS),
    ({"@context": {"l": {"@id": P, "@container": "@language"}}, "l": {"en": 1}}, ErrorCode.INVALID_LANGUAGE_MAP_VALUE),
    ({"@graph": [{"@id": "a", P: 1, "@index": "1"}, {"@id": "a", P: 1, "@index": "2"}]}, ErrorCode.CONFLICTING_INDEXES),
]


@pytest.mark.parametrize(("document", "code"), REFUSED, ids=lambda value: str(value)[:60])
def test_what_the_specification_forbids_is_refused_by_its_code(document: Any, code: ErrorCode) -> None:
    with pytest.raises(JsonLdError) as caught:
        process(document)
    assert caught.value.code is code


@pytest.mark.parametrize(("document", "code"), REFUSED, ids=lambda value: str(value)[:60])
def test_a_tolerant_reading_loses_only_the_fault(document: Any, code: ErrorCode) -> None:
    found = process([document, {"@id": "http://s/", "http://good/": "kept"}], strict=False)
    assert ("<http://s/>", "<http://good/>", '"kept"', "") in found.statements
    assert found.notes


def test_one_bad_property_does_not_cost_its_neighbours() -> None:
    document = {"@id": "http://s/", "@type": ["http://T/", 7], "http://a/": {"@id": 1, P: "in"}, "http://b/": "out"}
    found = process(document, strict=False)
    assert {s[1:3] for s in found.statements} >= {(TYPE, "<http://T/>"), (f"<{P}>", '"in"'), ("<http://b/>", '"out"')}
    assert len(found.notes) == 2


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
        (10**4000, f'"INF"^^<{XSD}double>'),
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
    assert objects({"@id": "x", P: value}) == [term or json_term]


@pytest.mark.parametrize("value", [None, [], {"@value": None}, {"@set": []}, {"@language": "en"}, [[None]]])
def test_nothing_becomes_nothing(value: Any) -> None:
    assert not statements({"@id": "x", P: value})


def test_lists_of_lists() -> None:
    document = {"@context": {"l": {"@id": P, "@container": "@list"}}, "@id": "x", "l": [["a"], []]}
    found = statements(document)
    assert len(found) == 7
    assert {s[2] for s in found if s[1].endswith("first>")} >= {
        '"a"',
        "<http://www.w3.org/1999/02/22-rdf-syntax-ns#nil>",
    }


def test_reverse_terms_and_the_keyword_go_together_in_any_order() -> None:
    context = {"isPartOf": {"@reverse": P}, "r": "@reverse"}
    term, keyword = {"isPartOf": {"@id": "http://a/"}}, {"@reverse": {P: {"@id": "http://b/"}}}
    for entries in ({**term, **keyword}, {**keyword, **term}):
        found = statements({"@context": context, "@id": "http://s/", **entries})
        assert {s[0] for s in found} == {"<http://a/>", "<http://b/>"}
    with pytest.raises(JsonLdError) as caught:
        process({"@context": context, **keyword, "r": {}})
    assert caught.value.code is ErrorCode.COLLIDING_KEYWORDS


def test_a_lost_item_leaves_its_place_in_the_list() -> None:
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
def test_what_rdf_cannot_hold_is_lost_aloud(document: Any, sample: str) -> None:
    found = process({**document, "@included": {"@id": "http://s/", "http://good/": {"@id": "http://o/"}}})
    assert found.statements == (("<http://s/>", "<http://good/>", "<http://o/>", ""),)
    assert [note.sample for note in found.notes] == [sample]
    assert sample in found.notes[0].message


def test_what_hangs_on_a_lost_statement_stays() -> None:
    nested = {"@id": "http://n/", "http://good/": "kept"}
    for document in (
        {"@id": "a b", P: nested},
        {"@id": "x", "a:{": [nested]},
        {"@id": "x", "a:{": {"@list": [nested]}},
    ):
        assert statements(document) == (("<http://n/>", "<http://good/>", '"kept"', ""),)


def test_named_graphs_and_blank_labels() -> None:
    document = {"@id": "_:g", "@graph": [{"@id": "_:a", P: {"@id": "_:b"}}], "http://q/": {"@id": "_:a"}}
    inside, outside = statements(document)
    assert inside[3] == outside[0]
    assert inside[0] == outside[2] != inside[2]


def test_a_graph_at_the_top_is_the_default_graph() -> None:
    assert {s[3] for s in statements({"@graph": [{"@id": "x", P: "y"}]})} == {""}
    assert {s[3] for s in statements([{"@graph": [{"@id": "x", P: "y"}]}])} != {""}


def test_type_scoped_contexts_end_at_the_next_node() -> None:
    context = {"@vocab": "http://v/", "T": {"@context": {"a": "http://scoped/a"}}, "n": {"@type": "@id"}}
    document = {"@context": context, "@type": "T", "a": "in", "n": {"a": "out"}}
    assert {s[1:3] for s in statements(document)} >= {("<http://scoped/a>", '"in"'), ("<http://v/a>", '"out"')}
    context["T"] = {"@context": {"a": "http://scoped/a", "@propagate": True}}
    assert ("<http://scoped/a>", '"out"') in {s[1:3] for s in statements(document)}


def test_types_of_an_embedded_context_bring_their_scope() -> None:
    inner = {"T": {"@id": "http://t/", "@context": {"name": "http://scoped/name"}}}
    document = {"@id": "x", P: {"@context": inner, "@id": "y", "@type": "T", "name": "Ann"}}
    assert ("<http://scoped/name>", '"Ann"') in {s[1:3] for s in statements(document)}


def test_nesting_terms_bring_their_scope() -> None:
    context = {"n": {"@id": "@nest", "@context": {"a": "http://scoped/a"}}, "a": "http://plain/a"}
    document = {"@context": context, "@id": "x", "a": "1", "n": [{"a": "2"}, {"n": {"a": "3"}}]}
    assert {s[1:3] for s in statements(document)} == {
        ("<http://plain/a>", '"1"'),
        ("<http://scoped/a>", '"2"'),
        ("<http://scoped/a>", '"3"'),
    }


MAPS: list[tuple[Any, Any, set[tuple[str, str]]]] = [
    ("@language", {"de": ["a", None], "@none": "b"}, {(P, '"a"@de'), (P, '"b"')}),
    ("@index", {"i": "a", "@none": ["b"]}, {(P, '"a"'), (P, '"b"')}),
    ("@id", {"http://i/": {"http://q/": "a"}}, {(P, "<http://i/>"), ("http://q/", '"a"')}),
    ("@type", {"http://T/": {"@id": "http://i/"}}, {(P, "<http://i/>"), (TYPE[1:-1], "<http://T/>")}),
    (["@graph", "@id"], {"http://g/": {"http://q/": "a"}}, {(P, "<http://g/>"), ("http://q/", '"a"')}),
]


@pytest.mark.parametrize(("container", "value", "expected"), MAPS, ids=lambda value: str(value)[:30])
def test_maps(container: Any, value: Any, expected: set[tuple[str, str]]) -> None:
    document = {"@context": {"m": {"@id": P, "@container": container}}, "@id": "x", "m": value}
    assert {(s[1][1:-1], s[2]) for s in statements(document)} == expected


def test_an_index_may_be_a_property() -> None:
    context = {"m": {"@id": P, "@container": "@index", "@index": "http://i/"}}
    found = statements({"@context": context, "@id": "x", "m": {"one": {"@id": "http://y/"}}})
    assert ("<http://y/>", "<http://i/>", '"one"', "") in found
    with pytest.raises(JsonLdError) as caught:
        process({"@context": context, "m": {"one": "text"}})
    assert caught.value.code is ErrorCode.INVALID_VALUE_OBJECT


def test_a_literal_in_a_map_of_nodes_is_refused() -> None:
    for container in ("@id", "@type"):
        with pytest.raises(JsonLdError) as caught:
            process({"@context": {"m": {"@id": P, "@container": container}}, "m": {"http://k/": {"@value": "x"}}})
        assert caught.value.code is ErrorCode.INVALID_VALUE_OBJECT


def test_base_direction_needs_an_option() -> None:
    document = {"@id": "x", P: {"@value": "y", "@language": "ar-EG", "@direction": "rtl"}}
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


def test_what_looks_like_a_keyword_is_ignored() -> None:
    document = {"@id": "@later", "@type": "@later", "@other": "x", P: ["y", {"@id": "@later"}]}
    assert objects(document) == ['"y"']


def test_mode_1_0_collides_where_1_1_merges() -> None:
    document = {"@context": {"type": "@type"}, "@id": "x", "@type": "http://a/", "type": "http://b/"}
    assert objects(document) == ["<http://a/>", "<http://b/>"]
    with pytest.raises(JsonLdError) as caught:
        process(document, mode=Mode.V1_0)
    assert caught.value.code is ErrorCode.COLLIDING_KEYWORDS


def test_statements_are_bounded_and_what_was_found_stays() -> None:
    document = [{"@id": f"http://s/{number}", P: "x"} for number in range(100)]
    found = process(document, strict=False, limits=Limits(statements=10))
    assert len(found.statements) == 10
    assert [note.message for note in found.notes] == ["loading document failed: more than 10 statements"]


def test_every_statement_once() -> None:
    assert len(statements([{"@id": "x", P: ["y", "y"]}, {"@id": "x", P: "y"}])) == 1
