"""Term definitions."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest

from motherlode.transform.jsonld import term_definitions
from motherlode.transform.jsonld.errors import ErrorCode, JsonLdError
from motherlode.transform.jsonld.processor_options import CONTAINERS, Mode

from .helpers import process, statements

GRAPH_MAPS = [["@graph", "@id"], ["@graph", "@index"], ["@graph", "@id", "@set"], ["@graph", "@index", "@set"]]
WITH_SET = [[keyword, "@set"] for keyword in ("@graph", "@id", "@index", "@language", "@type")]


def allowed(entries: list[str]) -> bool:
    try:
        term_definitions.parse_container(entries, is_1_1=True)
    except JsonLdError as error:
        assert error.code is ErrorCode.INVALID_CONTAINER_MAPPING
        return False
    return True


def test_parse_container_accepts_combinations_of_specification() -> None:
    found = [set(c) for size in (1, 2, 3) for c in combinations(sorted(CONTAINERS), size) if allowed(list(c))]
    listed = [{keyword} for keyword in sorted(CONTAINERS)] + [set(c) for c in [*GRAPH_MAPS, *WITH_SET]]
    assert sorted(map(sorted, found)) == sorted(map(sorted, listed))


def test_parse_container_repeated_entry_is_rejected() -> None:
    with pytest.raises(JsonLdError):
        term_definitions.parse_container(["@set", "@set"], is_1_1=True)


def test_parse_protected_entry_overrides_context_default() -> None:
    assert term_definitions.parse_protected({}, True, is_1_1=True)
    assert not term_definitions.parse_protected({"@protected": False}, True, is_1_1=True)


# Term definitions


EX = "http://example.com/"


INVALID: list[tuple[Any, ErrorCode]] = [
    ({"": EX}, ErrorCode.INVALID_TERM_DEFINITION),
    ({"@id": EX}, ErrorCode.KEYWORD_REDEFINITION),
    ({"@type": EX}, ErrorCode.KEYWORD_REDEFINITION),
    ({"@type": {"@container": "@list"}}, ErrorCode.KEYWORD_REDEFINITION),
    ({"a": 1}, ErrorCode.INVALID_TERM_DEFINITION),
    ({"a": {"@id": EX, "@other": 1}}, ErrorCode.INVALID_TERM_DEFINITION),
    ({"a": {"@id": 1}}, ErrorCode.INVALID_IRI_MAPPING),
    ({"a": {}}, ErrorCode.INVALID_IRI_MAPPING),
    ({"a": "relative"}, ErrorCode.INVALID_IRI_MAPPING),
    ({"a/b": {}}, ErrorCode.INVALID_IRI_MAPPING),
    ({"a:b": EX + "other"}, ErrorCode.INVALID_IRI_MAPPING),
    ({"a": "@context"}, ErrorCode.INVALID_KEYWORD_ALIAS),
    ({"a": "b:c", "b": "a:d"}, ErrorCode.CYCLIC_IRI_MAPPING),
    ({"a": {"@id": EX, "@type": 1}}, ErrorCode.INVALID_TYPE_MAPPING),
    ({"a": {"@id": EX, "@type": "relative"}}, ErrorCode.INVALID_TYPE_MAPPING),
    ({"a": {"@id": EX, "@type": EX, "@container": "@type"}}, ErrorCode.INVALID_TYPE_MAPPING),
    ({"a": {"@id": EX, "@container": "@other"}}, ErrorCode.INVALID_CONTAINER_MAPPING),
    ({"a": {"@id": EX, "@container": []}}, ErrorCode.INVALID_CONTAINER_MAPPING),
    ({"a": {"@id": EX, "@container": ["@list", "@set"]}}, ErrorCode.INVALID_CONTAINER_MAPPING),
    ({"a": {"@id": EX, "@container": ["@id", "@index"]}}, ErrorCode.INVALID_CONTAINER_MAPPING),
    ({"a": {"@id": EX, "@language": 1}}, ErrorCode.INVALID_LANGUAGE_MAPPING),
    ({"a": {"@id": EX, "@direction": "up"}}, ErrorCode.INVALID_BASE_DIRECTION),
    ({"a": {"@id": EX, "@index": EX}}, ErrorCode.INVALID_TERM_DEFINITION),
    ({"a": {"@id": EX, "@container": "@index", "@index": "@id"}}, ErrorCode.INVALID_TERM_DEFINITION),
    ({"a": {"@id": EX, "@nest": "@id"}}, ErrorCode.INVALID_NEST_VALUE),
    ({"a": {"@id": EX, "@prefix": 1}}, ErrorCode.INVALID_PREFIX_VALUE),
    ({"a:b": {"@id": "a:b", "@prefix": True}}, ErrorCode.INVALID_TERM_DEFINITION),
    ({"a": {"@id": "@type", "@prefix": True}}, ErrorCode.INVALID_TERM_DEFINITION),
    ({"a": {"@id": EX, "@protected": 1}}, ErrorCode.INVALID_PROTECTED_VALUE),
    ({"a": {"@reverse": EX, "@id": EX}}, ErrorCode.INVALID_REVERSE_PROPERTY),
    ({"a": {"@reverse": EX, "@nest": "@nest"}}, ErrorCode.INVALID_REVERSE_PROPERTY),
    ({"a": {"@reverse": EX, "@container": "@list"}}, ErrorCode.INVALID_REVERSE_PROPERTY),
    ({"a": {"@reverse": 1}}, ErrorCode.INVALID_IRI_MAPPING),
    ({"a": {"@reverse": "relative"}}, ErrorCode.INVALID_IRI_MAPPING),
    ({"a": {"@id": EX, "@context": {"b": 1}}}, ErrorCode.INVALID_SCOPED_CONTEXT),
    ([{"@protected": True, "a": EX}, {"a": EX + "b"}], ErrorCode.PROTECTED_TERM_REDEFINITION),
    ([{"@protected": True, "a": EX}, {"a": {"@reverse": EX}}], ErrorCode.PROTECTED_TERM_REDEFINITION),
]

FORBIDDEN_IN_1_0: list[tuple[Any, ErrorCode]] = [
    ({"@type": {"@container": "@set"}}, ErrorCode.KEYWORD_REDEFINITION),
    ({"a": {"@id": EX, "@container": "@graph"}}, ErrorCode.INVALID_CONTAINER_MAPPING),
    ({"a": {"@id": EX, "@container": ["@set"]}}, ErrorCode.INVALID_CONTAINER_MAPPING),
    ({"a": {"@id": EX, "@type": "@json"}}, ErrorCode.INVALID_TYPE_MAPPING),
    ({"a": {"@id": EX, "@context": {}}}, ErrorCode.INVALID_TERM_DEFINITION),
    ({"a": {"@id": EX, "@nest": "@nest"}}, ErrorCode.INVALID_TERM_DEFINITION),
    ({"a": {"@id": EX, "@prefix": True}}, ErrorCode.INVALID_TERM_DEFINITION),
    ({"a": {"@id": EX, "@protected": True}}, ErrorCode.INVALID_TERM_DEFINITION),
]


@pytest.mark.parametrize(("context", "code"), INVALID, ids=lambda value: str(value)[:60])
def test_strict_invalid_term_definition_raises_its_error_code(context: Any, code: ErrorCode) -> None:
    with pytest.raises(JsonLdError) as caught:
        process({"@context": context, "http://p/": "x"})
    assert caught.value.code is code


@pytest.mark.parametrize(("context", "code"), INVALID, ids=lambda value: str(value)[:60])
def test_tolerant_invalid_term_definition_loses_only_itself(context: Any, code: ErrorCode) -> None:
    good = {"good": "http://good/"}
    contexts = [*context, good] if isinstance(context, list) else [context, good]
    found = process({"@context": contexts, "good": "x"}, strict=False)
    assert [statement[1:3] for statement in found.statements] == [("<http://good/>", '"x"')]
    assert found.notes


@pytest.mark.parametrize(("context", "code"), FORBIDDEN_IN_1_0, ids=lambda value: str(value)[:60])
def test_mode_1_0_rejects_definitions_of_1_1(context: Any, code: ErrorCode) -> None:
    with pytest.raises(JsonLdError) as caught:
        process({"@context": context}, mode=Mode.V1_0)
    assert caught.value.code is code


def test_scoped_context_may_refer_to_its_own_term() -> None:
    context = {"a": {"@id": EX + "a", "@context": {"b": {"@id": "a", "@type": "@id"}}}}
    found = statements({"@context": context, "@id": "x", "a": {"@id": "y", "b": "z"}})
    assert {s[1] for s in found} == {f"<{EX}a>"}


def test_term_may_have_the_form_of_a_path() -> None:
    document = {"@context": {"@vocab": EX, "a/b": {"@type": "@id"}}, "@id": "x", "a/b": "y"}
    assert statements(document)[0][1:3] == (f"<{EX}a/b>", "<http://example.org/dir/y>")


def test_protected_terms_can_only_be_changed_by_property_scope() -> None:
    protected = {"@protected": True, "a": EX + "a", "scope": {"@id": EX + "s", "@context": {"a": EX + "new"}}}
    document = {"@context": protected, "@id": "x", "scope": {"@id": "y", "a": "in"}, "a": "out"}
    assert {(s[1], s[2]) for s in statements(document)} >= {(f"<{EX}new>", '"in"'), (f"<{EX}a>", '"out"')}
    with pytest.raises(JsonLdError) as caught:
        process({"@context": protected, "scope": {"@context": None}, "a": {"@context": None, "b": 1}})
    assert caught.value.code is ErrorCode.INVALID_CONTEXT_NULLIFICATION
