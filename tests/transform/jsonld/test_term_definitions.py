"""Term definitions."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest

from motherlode.transform.jsonld import term_definitions
from motherlode.transform.jsonld.jsonld_errors import JsonLdError
from motherlode.transform.jsonld.processor_options import CONTAINERS

from .helpers import check_1_0_error, check_strict_error, check_tolerant_loss, process, statements

GRAPH_MAPS = [["@graph", "@id"], ["@graph", "@index"], ["@graph", "@id", "@set"], ["@graph", "@index", "@set"]]
WITH_SET = [[keyword, "@set"] for keyword in ("@graph", "@id", "@index", "@language", "@type")]


def allowed(entries: list[str]) -> bool:
    try:
        term_definitions.parse_container(entries, is_1_1=True)
    except JsonLdError as error:
        assert error.code == "invalid container mapping"
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


INVALID: list[tuple[Any]] = [
    ({"": EX}, "invalid term definition"),
    ({"@id": EX}, "keyword redefinition"),
    ({"@type": EX}, "keyword redefinition"),
    ({"@type": {"@container": "@list"}}, "keyword redefinition"),
    ({"a": 1}, "invalid term definition"),
    ({"a": {"@id": EX, "@other": 1}}, "invalid term definition"),
    ({"a": {"@id": 1}}, "invalid IRI mapping"),
    ({"a": {}}, "invalid IRI mapping"),
    ({"a": "relative"}, "invalid IRI mapping"),
    ({"a/b": {}}, "invalid IRI mapping"),
    ({"a:b": EX + "other"}, "invalid IRI mapping"),
    ({"a": "@context"}, "invalid keyword alias"),
    ({"a": "b:c", "b": "a:d"}, "cyclic IRI mapping"),
    ({"a": {"@id": EX, "@type": 1}}, "invalid type mapping"),
    ({"a": {"@id": EX, "@type": "relative"}}, "invalid type mapping"),
    ({"a": {"@id": EX, "@type": EX, "@container": "@type"}}, "invalid type mapping"),
    ({"a": {"@id": EX, "@container": "@other"}}, "invalid container mapping"),
    ({"a": {"@id": EX, "@container": []}}, "invalid container mapping"),
    ({"a": {"@id": EX, "@container": ["@list", "@set"]}}, "invalid container mapping"),
    ({"a": {"@id": EX, "@container": ["@id", "@index"]}}, "invalid container mapping"),
    ({"a": {"@id": EX, "@language": 1}}, "invalid language mapping"),
    ({"a": {"@id": EX, "@direction": "up"}}, "invalid base direction"),
    ({"a": {"@id": EX, "@index": EX}}, "invalid term definition"),
    ({"a": {"@id": EX, "@container": "@index", "@index": "@id"}}, "invalid term definition"),
    ({"a": {"@id": EX, "@nest": "@id"}}, "invalid @nest value"),
    ({"a": {"@id": EX, "@prefix": 1}}, "invalid @prefix value"),
    ({"a:b": {"@id": "a:b", "@prefix": True}}, "invalid term definition"),
    ({"a": {"@id": "@type", "@prefix": True}}, "invalid term definition"),
    ({"a": {"@id": EX, "@protected": 1}}, "invalid @protected value"),
    ({"a": {"@reverse": EX, "@id": EX}}, "invalid reverse property"),
    ({"a": {"@reverse": EX, "@nest": "@nest"}}, "invalid reverse property"),
    ({"a": {"@reverse": EX, "@container": "@list"}}, "invalid reverse property"),
    ({"a": {"@reverse": 1}}, "invalid IRI mapping"),
    ({"a": {"@reverse": "relative"}}, "invalid IRI mapping"),
    ({"a": {"@id": EX, "@context": {"b": 1}}}, "invalid scoped context"),
    ([{"@protected": True, "a": EX}, {"a": EX + "b"}], "protected term redefinition"),
    ([{"@protected": True, "a": EX}, {"a": {"@reverse": EX}}], "protected term redefinition"),
]

FORBIDDEN_IN_1_0: list[tuple[Any]] = [
    ({"@type": {"@container": "@set"}}, "keyword redefinition"),
    ({"a": {"@id": EX, "@container": "@graph"}}, "invalid container mapping"),
    ({"a": {"@id": EX, "@container": ["@set"]}}, "invalid container mapping"),
    ({"a": {"@id": EX, "@type": "@json"}}, "invalid type mapping"),
    ({"a": {"@id": EX, "@context": {}}}, "invalid term definition"),
    ({"a": {"@id": EX, "@nest": "@nest"}}, "invalid term definition"),
    ({"a": {"@id": EX, "@prefix": True}}, "invalid term definition"),
    ({"a": {"@id": EX, "@protected": True}}, "invalid term definition"),
]


@pytest.mark.parametrize(("context", "code"), INVALID, ids=lambda value: str(value)[:60])
def test_strict_invalid_term_definition_raises_its_error_code(context: Any, code: str) -> None:
    check_strict_error(context, code)


@pytest.mark.parametrize("context", [context for context, _ in INVALID], ids=lambda value: str(value)[:60])
def test_tolerant_invalid_term_definition_loses_only_itself(context: Any) -> None:
    check_tolerant_loss(context)


@pytest.mark.parametrize(("context", "code"), FORBIDDEN_IN_1_0, ids=lambda value: str(value)[:60])
def test_mode_1_0_rejects_definitions_of_1_1(context: Any, code: str) -> None:
    check_1_0_error(context, code)


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
    assert caught.value.code == "invalid context nullification"
