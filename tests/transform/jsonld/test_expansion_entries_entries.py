"""Entries whose keys are keywords."""

from __future__ import annotations

from typing import Any

import pytest

from motherlode.transform.jsonld.errors import ErrorCode, JsonLdError
from motherlode.transform.jsonld.processor_options import Mode

from .helpers import objects, process, statements

P = "http://p/"


REFUSED: list[tuple[Any, ErrorCode]] = [
    ({"@id": 1}, ErrorCode.INVALID_ID_VALUE),
    ({"@type": 1}, ErrorCode.INVALID_TYPE_VALUE),
    ({"@type": [1]}, ErrorCode.INVALID_TYPE_VALUE),
    ({P: {"@value": {}}}, ErrorCode.INVALID_VALUE_OBJECT_VALUE),
    ({P: {"@value": "x", "@language": 1}}, ErrorCode.INVALID_LANGUAGE_TAGGED_STRING),
    ({P: {"@value": "x", "@direction": "up"}}, ErrorCode.INVALID_BASE_DIRECTION),
    ({P: {"@value": "x", "@index": 1}}, ErrorCode.INVALID_INDEX_VALUE),
    ({"@reverse": "x"}, ErrorCode.INVALID_REVERSE_VALUE),
    ({"@reverse": {"@id": "x"}}, ErrorCode.INVALID_REVERSE_PROPERTY_MAP),
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


def test_mode_1_0_collides_where_1_1_merges() -> None:
    document = {"@context": {"type": "@type"}, "@id": "x", "@type": "http://a/", "type": "http://b/"}
    assert objects(document) == ["<http://a/>", "<http://b/>"]
    with pytest.raises(JsonLdError) as caught:
        process(document, mode=Mode.V1_0)
    assert caught.value.code is ErrorCode.COLLIDING_KEYWORDS


def test_what_looks_like_a_keyword_is_ignored() -> None:
    document = {"@id": "@later", "@type": "@later", "@other": "x", P: ["y", {"@id": "@later"}]}
    assert objects(document) == ['"y"']


def test_reverse_terms_and_the_keyword_go_together_in_any_order() -> None:
    context = {"isPartOf": {"@reverse": P}, "r": "@reverse"}
    term, keyword = {"isPartOf": {"@id": "http://a/"}}, {"@reverse": {P: {"@id": "http://b/"}}}
    for entries in ({**term, **keyword}, {**keyword, **term}):
        found = statements({"@context": context, "@id": "http://s/", **entries})
        assert {s[0] for s in found} == {"<http://a/>", "<http://b/>"}
    with pytest.raises(JsonLdError) as caught:
        process({"@context": context, **keyword, "r": {}})
    assert caught.value.code is ErrorCode.COLLIDING_KEYWORDS


def test_a_value_that_can_be_none_leaves_no_blank_node() -> None:
    found = process({"@id": "x", P: {"@value": ["a"]}, f"{P}q": "kept"}, strict=False)
    assert [s[2] for s in found.statements] == ['"kept"']
    assert found.notes[0].message == "invalid value object value: an array"
