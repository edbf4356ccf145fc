"""Expansion of whole objects, keyword entries and maps."""

from __future__ import annotations

from typing import Any

import pytest

from motherlode.transform.jsonld.jsonld_errors import JsonLdError
from motherlode.transform.jsonld.processor_options import Mode

from .helpers import TYPE, objects, process, statements

P = "http://p/"


INVALID_OBJECTS: list[tuple[Any]] = [
    ({P: {"@value": 1, "@language": "en"}}, "invalid language-tagged value"),
    ({P: {"@value": "x", "@type": "http://t/", "@language": "en"}}, "invalid value object"),
    ({P: {"@value": "x", P: "y"}}, "invalid value object"),
    ({P: {"@value": "x", "@type": "_:b"}}, "invalid typed value"),
    ({P: {"@value": "x", "@type": ["http://t/"]}}, "invalid typed value"),
    ({P: {"@list": [], "@id": "http://x/"}}, "invalid set or list object"),
    ({P: {"@set": [], P: 1}}, "invalid set or list object"),
    ({"@value": "x", P: "y"}, "invalid value object"),
    ({"@reverse": {P: "x"}}, "invalid reverse property value"),
    ({"@reverse": {P: {"@list": []}}}, "invalid reverse property value"),
]
INVALID_ENTRIES: list[tuple[Any]] = [
    ({"@id": 1}, "invalid @id value"),
    ({"@type": 1}, "invalid type value"),
    ({"@type": [1]}, "invalid type value"),
    ({P: {"@value": {}}}, "invalid value object value"),
    ({P: {"@value": "x", "@language": 1}}, "invalid language-tagged string"),
    ({P: {"@value": "x", "@direction": "up"}}, "invalid base direction"),
    ({P: {"@value": "x", "@index": 1}}, "invalid @index value"),
    ({"@reverse": "x"}, "invalid @reverse value"),
    ({"@reverse": {"@id": "x"}}, "invalid reverse property map"),
    ({"@included": "x"}, "invalid @included value"),
    ({"@included": {"@value": "x"}}, "invalid @included value"),
    ({"@nest": "x"}, "invalid @nest value"),
    ({"@nest": {"@value": "x"}}, "invalid @nest value"),
    ({"@context": {"id": "@id"}, "@id": "a", "id": "b"}, "colliding keywords"),
    (
        {"@context": {"l": {"@id": P, "@container": "@language"}}, "l": {"en": 1}},
        "invalid language map value",
    ),
    (
        {"@graph": [{"@id": "a", P: 1, "@index": "1"}, {"@id": "a", P: 1, "@index": "2"}]},
        "conflicting indexes",
    ),
]
INVALID = [*INVALID_OBJECTS, *INVALID_ENTRIES]


@pytest.mark.parametrize(("document", "code"), INVALID, ids=lambda value: str(value)[:60])
def test_strict_invalid_object_or_entry_raises_its_error_code(document: Any, code: str) -> None:
    with pytest.raises(JsonLdError) as caught:
        process(document)
    assert caught.value.code == code


@pytest.mark.parametrize(("document", "code"), INVALID, ids=lambda value: str(value)[:60])
def test_tolerant_invalid_object_or_entry_loses_only_itself(document: Any, code: str) -> None:
    found = process([document, {"@id": "http://s/", "http://good/": "kept"}], strict=False)
    assert ("<http://s/>", "<http://good/>", '"kept"', "") in found.statements
    assert found.notes


def test_tolerant_text_in_reverse_property_keeps_its_nodes() -> None:
    context = {"r": {"@reverse": "http://r/"}}
    for document in (
        {"@context": context, "@id": "http://s/", "r": ["text", {"@id": "http://o/"}]},
        {"@id": "http://s/", "@reverse": {"http://r/": ["text", {"@id": "http://o/"}]}},
    ):
        found = process(document, strict=False)
        assert [s[:3] for s in found.statements] == [("<http://o/>", "<http://r/>", "<http://s/>")]
        assert len(found.notes) == 1


# Keyword entries


def test_repeated_keyword_collides_in_1_0_and_merges_in_1_1() -> None:
    document = {"@context": {"type": "@type"}, "@id": "x", "@type": "http://a/", "type": "http://b/"}
    assert objects(document) == ["<http://a/>", "<http://b/>"]
    with pytest.raises(JsonLdError) as caught:
        process(document, mode=Mode.V1_0)
    assert caught.value.code == "colliding keywords"


def test_key_with_keyword_form_is_ignored() -> None:
    document = {"@id": "@later", "@type": "@later", "@other": "x", P: ["y", {"@id": "@later"}]}
    assert objects(document) == ['"y"']


def test_reverse_terms_and_reverse_keyword_work_in_any_order() -> None:
    context = {"isPartOf": {"@reverse": P}, "r": "@reverse"}
    term, keyword = {"isPartOf": {"@id": "http://a/"}}, {"@reverse": {P: {"@id": "http://b/"}}}
    for entries in ({**term, **keyword}, {**keyword, **term}):
        found = statements({"@context": context, "@id": "http://s/", **entries})
        assert {s[0] for s in found} == {"<http://a/>", "<http://b/>"}
    with pytest.raises(JsonLdError) as caught:
        process({"@context": context, **keyword, "r": {}})
    assert caught.value.code == "colliding keywords"


def test_tolerant_invalid_value_leaves_no_blank_node() -> None:
    found = process({"@id": "x", P: {"@value": ["a"]}, f"{P}q": "kept"}, strict=False)
    assert [s[2] for s in found.statements] == ['"kept"']
    assert found.notes[0].message == "invalid value object value: an array"


# Maps


MAPS: list[tuple[Any, Any, set[tuple[str, str]]]] = [
    ("@language", {"de": ["a", None], "@none": "b"}, {(P, '"a"@de'), (P, '"b"')}),
    ("@index", {"i": "a", "@none": ["b"]}, {(P, '"a"'), (P, '"b"')}),
    ("@id", {"http://i/": {"http://q/": "a"}}, {(P, "<http://i/>"), ("http://q/", '"a"')}),
    ("@type", {"http://T/": {"@id": "http://i/"}}, {(P, "<http://i/>"), (TYPE[1:-1], "<http://T/>")}),
    (["@graph", "@id"], {"http://g/": {"http://q/": "a"}}, {(P, "<http://g/>"), ("http://q/", '"a"')}),
]


@pytest.mark.parametrize(
    ("container", "value", "expected"),
    MAPS,
    ids=lambda value: str(sorted(value) if isinstance(value, set) else value)[:30],
)
def test_maps_give_expected_statements(container: Any, value: Any, expected: set[tuple[str, str]]) -> None:
    document = {"@context": {"m": {"@id": P, "@container": container}}, "@id": "x", "m": value}
    assert {(s[1][1:-1], s[2]) for s in statements(document)} == expected


def test_index_map_index_may_be_a_property() -> None:
    context = {"m": {"@id": P, "@container": "@index", "@index": "http://i/"}}
    found = statements({"@context": context, "@id": "x", "m": {"one": {"@id": "http://y/"}}})
    assert ("<http://y/>", "<http://i/>", '"one"', "") in found
    with pytest.raises(JsonLdError) as caught:
        process({"@context": context, "m": {"one": "text"}})
    assert caught.value.code == "invalid value object"


def test_literal_in_id_or_type_map_is_rejected() -> None:
    for container in ("@id", "@type"):
        with pytest.raises(JsonLdError) as caught:
            process({"@context": {"m": {"@id": P, "@container": container}}, "m": {"http://k/": {"@value": "x"}}})
        assert caught.value.code == "invalid value object"


def test_tolerant_bad_language_map_value_does_not_affect_others() -> None:
    context = {"l": {"@id": "http://l/", "@container": "@language"}}
    found = process({"@context": context, "@id": "x", "l": {"en": ["a", 5], "de": "b"}}, strict=False)
    assert [s[2] for s in found.statements] == ['"a"@en', '"b"@de']
    assert found.notes[0].message == "invalid language map value: a number"


def test_tolerant_bad_index_map_member_does_not_affect_others() -> None:
    context = {"l": {"@id": "http://l/", "@container": "@id"}}
    document = {"@context": context, "@id": "x", "l": {"http://a/": "text", "http://b/": {"@type": "http://t/"}}}
    found = process(document, strict=False)
    assert ("<http://l/>", "<http://b/>") in {s[1:3] for s in found.statements}
    assert len(found.notes) == 1
