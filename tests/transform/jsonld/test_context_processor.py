"""Context processing: entries that are not terms, remote, missing and imported contexts, and caching."""

from __future__ import annotations

import json
from typing import Any

import pytest

from motherlode.transform.jsonld.jsonld_errors import JsonLdError

from .helpers import BASE, check_1_0_error, check_strict_error, check_tolerant_loss, objects, process, statements

EX = "http://example.com/"


INVALID: list[tuple[Any]] = [
    (7, "invalid local context"),
    ({"@version": 1.0}, "invalid @version value"),
    ({"@version": True}, "invalid @version value"),
    ({"@base": 1}, "invalid base IRI"),
    ({"@vocab": 1}, "invalid vocab mapping"),
    ({"@vocab": "@later"}, "invalid vocab mapping"),
    ({"@language": 1}, "invalid default language"),
    ({"@direction": "up"}, "invalid base direction"),
    ({"@propagate": "no"}, "invalid @propagate value"),
    ({"@protected": "yes"}, "invalid @protected value"),
    ({"@import": 1}, "invalid @import value"),
    ({"@import": EX + "none"}, "loading remote context failed"),
    (EX + "none", "loading remote context failed"),
]

FORBIDDEN_IN_1_0: list[tuple[Any]] = [
    ({"@version": 1.1}, "processing mode conflict"),
    ({"@import": EX}, "invalid context entry"),
    ({"@direction": "ltr"}, "invalid context entry"),
    ({"@propagate": True}, "invalid context entry"),
    ({"@vocab": "relative"}, "invalid vocab mapping"),
]


@pytest.mark.parametrize(("context", "code"), INVALID, ids=lambda value: str(value)[:60])
def test_strict_invalid_context_entry_raises_its_error_code(context: Any, code: str) -> None:
    check_strict_error(context, code)


@pytest.mark.parametrize("context", [context for context, _ in INVALID], ids=lambda value: str(value)[:60])
def test_tolerant_invalid_context_entry_loses_only_itself(context: Any) -> None:
    check_tolerant_loss(context)


@pytest.mark.parametrize(("context", "code"), FORBIDDEN_IN_1_0, ids=lambda value: str(value)[:60])
def test_mode_1_0_rejects_entries_of_1_1(context: Any, code: str) -> None:
    check_1_0_error(context, code)


def test_null_context_restores_document_base() -> None:
    document = {"@context": [{"@base": "http://other/"}, None], "@id": "x", "http://p/": {"@id": ""}}
    assert statements(document)[0][::2] == ("<http://example.org/dir/x>", f"<{BASE}>")


# Whole contexts


def remote(**documents: Any) -> dict[str, bytes]:
    return {f"{EX}{name}": json.dumps(document).encode() for name, document in documents.items()}


def test_changed_remote_context_is_processed_again() -> None:
    document = {"@context": EX + "ctx", "a": "x"}
    for iri in (EX + "one", EX + "two", EX + "one"):
        assert statements(document, contexts=remote(ctx={"@context": {"a": iri}}))[0][1] == f"<{iri}>"
    assert process(document, strict=False).wanted == (EX + "ctx",)


def test_cached_context_does_not_depend_on_document() -> None:
    for context in ({"@base": "sub/"}, {"@vocab": ""}, {"@vocab": "#"}, {}):
        document = {"@context": context, "@id": "thing", "http://p/": "x", "key": {"@id": "other"}}
        for base in ("http://one/dir/a", "http://two/dir/b"):
            for _ in range(2):
                for subject, predicate, _o, _g in statements(document, base=base):
                    assert subject.startswith(f"<{base[:11]}")
                    assert predicate.startswith((f"<{base[:11]}", "<http://p/"))


@pytest.mark.parametrize(
    "context",
    [{"bad": 1, "a": EX}, EX + "none", "schema.org", [{"@base": 7}, {"a": EX}]],
)
def test_invalid_context_is_reported_for_every_document(context: Any) -> None:
    node = {"@context": context, "@id": "x", "a": "y"}
    for document in (node, [node, node], node):
        assert len(process(document, strict=False).notes) == 1


def test_missing_context_is_reported_and_rest_is_read() -> None:
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
    # `Unknown` may be a term of the missing context, so it must not be treated as a relative IRI.
    assert [statement[2] for statement in found.statements] == ["<http://known/Type>", '"kept"']


def test_missing_context_only_http_urls_are_wanted() -> None:
    for address in ("file:///etc/passwd", "http://a/{b}", "http://a/\ud800", "urn:x"):
        assert not process({"@context": address, "a": "x"}, strict=False).wanted


def test_recursive_contexts_terminate() -> None:
    contexts = remote(
        me={"@context": [EX + "me", {"a": EX + "a"}]},
        one={"@context": EX + "two"},
        two={"@context": EX + "one"},
        scoped={"@context": {"a": {"@id": EX + "a", "@context": EX + "scoped"}}},
    )
    for name in ("me", "one"):
        with pytest.raises(JsonLdError) as caught:
            process({"@context": EX + name, "a": "x"}, contexts=contexts)
        assert caught.value.code == "context overflow"
    document = {"@context": EX + "scoped", "@id": "x", "a": {"a": {"a": "deep"}}}
    assert '"deep"' in objects(document, contexts=contexts)


def test_imported_context_is_overridden_by_importing_one() -> None:
    contexts = remote(
        ctx={"@context": {"a": EX + "a", "b": EX + "b"}},
        again={"@context": {"@import": EX + "ctx"}},
    )
    document = {
        "@context": {"@import": EX + "ctx", "b": EX + "own"},
        "@id": "x",
        "a": "1",
        "b": "2",
    }
    assert [s[1] for s in statements(document, contexts=contexts)] == [f"<{EX}a>", f"<{EX}own>"]
    with pytest.raises(JsonLdError) as caught:
        process({"@context": {"@import": EX + "again"}}, contexts=contexts)
    assert caught.value.code == "invalid context entry"


SPACED: dict[str, Any] = {
    "@base": "\n" + EX + "base/ ",
    "@vocab": " " + EX + "vocab# ",
    "e": EX + "e/ ",
    "f": {"@id": " e:f", "@type": "@id "},
    "r": {"@reverse": "\te:r"},
}


def test_white_space_around_iris_of_context_is_left_out() -> None:
    document = {"@context": SPACED, "@id": "s", "e:p": 1, "v": 2, "f": "o", "r": {"@id": "t"}}
    for _ in range(2):  # a repaired context is not cached, because each page reports it
        found = process(document, strict=False)
        short = [" ".join(it[1:-1].removeprefix(EX) for it in statement[:2]) for statement in found.statements]
        assert sorted(short) == ["base/s e/f", "base/s e/p", "base/s vocab#v", "base/t e/r"]
        assert f"<{EX}base/o>" in [statement[2] for statement in found.statements]
        assert [(note.sample, note.repaired) for note in found.notes] == [(name, True) for name in SPACED]


def test_white_space_around_iris_of_context_is_no_iri_with_strict_iris() -> None:
    document = {"@context": {"p": " " + EX + "p"}, "p": 1}
    assert not process(document, strict=False, strict_iris=True).statements
    assert process(document, strict=False).statements
