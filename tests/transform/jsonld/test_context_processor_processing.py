"""Contexts as wholes: remote, missing, imported, and that sharing them changes nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from motherlode.transform.jsonld.errors import ErrorCode, JsonLdError

from .helpers import objects, process, statements

EX = "http://example.com/"


def remote(**documents: Any) -> dict[str, bytes]:
    return {f"{EX}{name}": json.dumps(document).encode() for name, document in documents.items()}


def test_the_same_context_with_other_content_is_another_context() -> None:
    document = {"@context": EX + "ctx", "a": "x"}
    for iri in (EX + "one", EX + "two", EX + "one"):
        assert statements(document, contexts=remote(ctx={"@context": {"a": iri}}))[0][1] == f"<{iri}>"
    assert process(document, strict=False).wanted == (EX + "ctx",)


def test_shared_contexts_do_not_remember_a_page() -> None:
    for context in ({"@base": "sub/"}, {"@vocab": ""}, {"@vocab": "#"}, {}):
        document = {"@context": context, "@id": "thing", "http://p/": "x", "key": {"@id": "other"}}
        for base in ("http://one/dir/a", "http://two/dir/b"):
            for _ in range(2):
                for subject, predicate, _o, _g in statements(document, base=base):
                    assert subject.startswith(f"<{base[:11]}")
                    assert predicate.startswith((f"<{base[:11]}", "<http://p/"))


@pytest.mark.parametrize("context", [{"bad": 1, "a": EX}, EX + "none", "schema.org", [{"@base": 7}, {"a": EX}]])
def test_what_is_wrong_with_a_context_is_told_for_every_document(context: Any) -> None:
    node = {"@context": context, "@id": "x", "a": "y"}
    for document in (node, [node, node], node):
        assert len(process(document, strict=False).notes) == 1


def test_a_missing_context_is_wanted_and_the_rest_is_read() -> None:
    document = {
        "@context": [EX + "none", {"b": EX + "b"}],
        "@id": "thing",
        "@type": ["Unknown", "http://known/Type"],
        "a": "lost",
        "b": "kept",
    }
    found = process(document, strict=False)
    assert found.wanted == (EX + "none",)
    assert [note.message for note in found.notes] == [f"context not loaded: {EX}none; the block was read without it"]
    # `Unknown` may be a term of the missing context: to call it a relative IRI would be a guess.
    assert [statement[2] for statement in found.statements] == ["<http://known/Type>", '"kept"']


def test_only_web_addresses_are_wanted() -> None:
    for address in ("file:///etc/passwd", "http://a/{b}", "http://a/\ud800", "urn:x"):
        assert not process({"@context": address, "a": "x"}, strict=False).wanted


def test_contexts_that_refer_to_themselves_end() -> None:
    contexts = remote(
        me={"@context": [EX + "me", {"a": EX + "a"}]},
        one={"@context": EX + "two"},
        two={"@context": EX + "one"},
        scoped={"@context": {"a": {"@id": EX + "a", "@context": EX + "scoped"}}},
    )
    for name in ("me", "one"):
        with pytest.raises(JsonLdError) as caught:
            process({"@context": EX + name, "a": "x"}, contexts=contexts)
        assert caught.value.code is ErrorCode.CONTEXT_OVERFLOW
    document = {"@context": EX + "scoped", "@id": "x", "a": {"a": {"a": "deep"}}}
    assert '"deep"' in objects(document, contexts=contexts)


def test_imports_are_merged_under_what_imports_them() -> None:
    contexts = remote(ctx={"@context": {"a": EX + "a", "b": EX + "b"}}, again={"@context": {"@import": EX + "ctx"}})
    document = {"@context": {"@import": EX + "ctx", "b": EX + "own"}, "@id": "x", "a": "1", "b": "2"}
    assert [s[1] for s in statements(document, contexts=contexts)] == [f"<{EX}a>", f"<{EX}own>"]
    with pytest.raises(JsonLdError) as caught:
        process({"@context": {"@import": EX + "again"}}, contexts=contexts)
    assert caught.value.code is ErrorCode.INVALID_CONTEXT_ENTRY
