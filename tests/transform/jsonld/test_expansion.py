"""Contexts during expansion. The W3C test suite is in tests/conformance."""

from __future__ import annotations

import pytest

from .helpers import process, statements

P = "http://p/"


def test_type_scoped_context_ends_at_next_node() -> None:
    context = {"@vocab": "http://v/", "T": {"@context": {"a": "http://scoped/a"}}, "n": {"@type": "@id"}}
    document = {"@context": context, "@type": "T", "a": "in", "n": {"a": "out"}}
    assert {s[1:3] for s in statements(document)} >= {("<http://scoped/a>", '"in"'), ("<http://v/a>", '"out"')}
    context["T"] = {"@context": {"a": "http://scoped/a", "@propagate": True}}
    assert ("<http://scoped/a>", '"out"') in {s[1:3] for s in statements(document)}


def test_type_of_embedded_context_applies_its_scoped_context() -> None:
    inner = {"T": {"@id": "http://t/", "@context": {"name": "http://scoped/name"}}}
    document = {"@id": "x", P: {"@context": inner, "@id": "y", "@type": "T", "name": "Ann"}}
    assert ("<http://scoped/name>", '"Ann"') in {s[1:3] for s in statements(document)}


def test_nesting_term_applies_its_scoped_context() -> None:
    context = {"n": {"@id": "@nest", "@context": {"a": "http://scoped/a"}}, "a": "http://plain/a"}
    document = {"@context": context, "@id": "x", "a": "1", "n": [{"a": "2"}, {"n": {"a": "3"}}]}
    assert {s[1:3] for s in statements(document)} == {
        ("<http://plain/a>", '"1"'),
        ("<http://scoped/a>", '"2"'),
        ("<http://scoped/a>", '"3"'),
    }


def test_list_or_set_with_own_context_expands_members_in_it() -> None:
    """The active property is looked up in the context inside the object (step 13.4.11)."""
    inner = {"p": {"@id": P, "@type": "@id"}}
    for keyword in ("@list", "@set"):
        document = {"@context": {"p": P}, "@id": "x", "p": {"@context": inner, keyword: ["http://e/a"]}}
        assert "<http://e/a>" in {s[2] for s in statements(document)}
        spoken = {"@id": "x", P: {"@context": {"@language": "de"}, keyword: ["a"]}}
        assert '"a"@de' in {s[2] for s in statements(spoken)}


def test_tolerant_bad_array_member_does_not_affect_others() -> None:
    bad = {"@value": "b", "@type": "http://t/", "@language": "en"}
    found = process({"@id": "x", P: ["a", bad, "c"]}, strict=False)
    assert [s[2] for s in found.statements] == ['"a"', '"c"']
    assert [note.message for note in found.notes] == ["invalid value object: @language, @type, @value"]


@pytest.mark.parametrize("reference", ["@foo.bar", "@my_handle", "@", "@a1", "@foo/bar"])
def test_reference_with_at_sign_without_keyword_form_is_relative(reference: str) -> None:
    iri = f"<http://example.org/dir/{reference}>"
    assert statements({"@id": reference, P: 1})[0][0] == iri
    assert statements({"@id": "x", "@type": reference})[0][2] == iri
    assert statements({"@id": "x", P: {"@id": reference}})[0][2] == iri
    assert statements({"@context": {"p": {"@id": P, "@type": "@id"}}, "@id": "x", "p": reference})[0][2] == iri


def test_reference_with_keyword_form_is_ignored() -> None:
    assert statements({"@id": "x", P: [{"@id": "@ignoreMe"}, 1]}) == statements({"@id": "x", P: 1})
