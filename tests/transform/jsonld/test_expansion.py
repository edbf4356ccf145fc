"""Contexts in the places where expansion puts them; the W3C suite is in tests/conformance."""

from __future__ import annotations

import pytest

from .helpers import process, statements

P = "http://p/"


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


def test_a_list_or_set_with_a_context_of_its_own_reads_its_members_by_it() -> None:
    """Step 13.4.11: the active property is looked up in the context that holds inside the object."""
    inner = {"p": {"@id": P, "@type": "@id"}}
    for keyword in ("@list", "@set"):
        document = {"@context": {"p": P}, "@id": "x", "p": {"@context": inner, keyword: ["http://e/a"]}}
        assert "<http://e/a>" in {s[2] for s in statements(document)}
        spoken = {"@id": "x", P: {"@context": {"@language": "de"}, keyword: ["a"]}}
        assert '"a"@de' in {s[2] for s in statements(spoken)}


def test_a_bad_member_of_an_array_costs_no_other() -> None:
    bad = {"@value": "b", "@type": "http://t/", "@language": "en"}
    found = process({"@id": "x", P: ["a", bad, "c"]}, strict=False)
    assert [s[2] for s in found.statements] == ['"a"', '"c"']
    assert [note.message for note in found.notes] == ["invalid value object: @language, @type, @value"]


@pytest.mark.parametrize("reference", ["@foo.bar", "@my_handle", "@", "@a1", "@foo/bar"])
def test_reference_with_an_at_sign_that_is_no_keyword_form_is_relative(reference: str) -> None:
    iri = f"<http://example.org/dir/{reference}>"
    assert statements({"@id": reference, P: 1})[0][0] == iri
    assert statements({"@id": "x", "@type": reference})[0][2] == iri
    assert statements({"@id": "x", P: {"@id": reference}})[0][2] == iri
    assert statements({"@context": {"p": {"@id": P, "@type": "@id"}}, "@id": "x", "p": reference})[0][2] == iri


def test_reference_of_keyword_form_is_ignored() -> None:
    assert statements({"@id": "x", P: [{"@id": "@ignoreMe"}, 1]}) == statements({"@id": "x", P: 1})
