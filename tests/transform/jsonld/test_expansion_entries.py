"""What an object may be as a whole."""

from __future__ import annotations

from typing import Any

import pytest

from motherlode.transform.jsonld.errors import ErrorCode, JsonLdError

from .helpers import process

P = "http://p/"


REFUSED: list[tuple[Any, ErrorCode]] = [
    ({P: {"@value": 1, "@language": "en"}}, ErrorCode.INVALID_LANGUAGE_TAGGED_VALUE),
    ({P: {"@value": "x", "@type": "http://t/", "@language": "en"}}, ErrorCode.INVALID_VALUE_OBJECT),
    ({P: {"@value": "x", P: "y"}}, ErrorCode.INVALID_VALUE_OBJECT),
    ({P: {"@value": "x", "@type": "_:b"}}, ErrorCode.INVALID_TYPED_VALUE),
    ({P: {"@value": "x", "@type": ["http://t/"]}}, ErrorCode.INVALID_TYPED_VALUE),
    ({P: {"@list": [], "@id": "http://x/"}}, ErrorCode.INVALID_SET_OR_LIST_OBJECT),
    ({P: {"@set": [], P: 1}}, ErrorCode.INVALID_SET_OR_LIST_OBJECT),
    ({"@value": "x", P: "y"}, ErrorCode.INVALID_VALUE_OBJECT),
    ({"@reverse": {P: "x"}}, ErrorCode.INVALID_REVERSE_PROPERTY_VALUE),
    ({"@reverse": {P: {"@list": []}}}, ErrorCode.INVALID_REVERSE_PROPERTY_VALUE),
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


def test_text_in_a_reverse_property_costs_none_of_its_nodes() -> None:
    context = {"r": {"@reverse": "http://r/"}}
    for document in (
        {"@context": context, "@id": "http://s/", "r": ["text", {"@id": "http://o/"}]},
        {"@id": "http://s/", "@reverse": {"http://r/": ["text", {"@id": "http://o/"}]}},
    ):
        found = process(document, strict=False)
        assert [s[:3] for s in found.statements] == [("<http://o/>", "<http://r/>", "<http://s/>")]
        assert len(found.notes) == 1
