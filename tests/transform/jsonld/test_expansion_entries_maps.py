"""Objects whose keys are languages, indexes, identifiers or types."""

from __future__ import annotations

from typing import Any

import pytest

from motherlode.transform.jsonld.errors import ErrorCode, JsonLdError

from .helpers import TYPE, process, statements

P = "http://p/"


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


def test_a_bad_value_of_a_language_map_costs_no_other() -> None:
    context = {"l": {"@id": "http://l/", "@container": "@language"}}
    found = process({"@context": context, "@id": "x", "l": {"en": ["a", 5], "de": "b"}}, strict=False)
    assert [s[2] for s in found.statements] == ['"a"@en', '"b"@de']
    assert found.notes[0].message == "invalid language map value: a number"


def test_a_bad_member_of_an_index_map_costs_no_other() -> None:
    context = {"l": {"@id": "http://l/", "@container": "@id"}}
    document = {"@context": context, "@id": "x", "l": {"http://a/": "text", "http://b/": {"@type": "http://t/"}}}
    found = process(document, strict=False)
    assert ("<http://l/>", "<http://b/>") in {s[1:3] for s in found.statements}
    assert len(found.notes) == 1
