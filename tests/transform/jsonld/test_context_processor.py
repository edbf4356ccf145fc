"""Entries of a context that are not terms."""

from __future__ import annotations

import json
from typing import Any

import pytest

from motherlode.transform.jsonld.errors import ErrorCode, JsonLdError
from motherlode.transform.jsonld.processor_options import Mode

from .helpers import BASE, objects, process, statements

EX = "http://example.com/"


REFUSED: list[tuple[Any, ErrorCode]] = [
    (7, ErrorCode.INVALID_LOCAL_CONTEXT),
    ({"@version": 1.0}, ErrorCode.INVALID_VERSION_VALUE),
    ({"@version": True}, ErrorCode.INVALID_VERSION_VALUE),
    ({"@base": 1}, ErrorCode.INVALID_BASE_IRI),
    ({"@vocab": 1}, ErrorCode.INVALID_VOCAB_MAPPING),
    ({"@vocab": "@later"}, ErrorCode.INVALID_VOCAB_MAPPING),
    ({"@language": 1}, ErrorCode.INVALID_DEFAULT_LANGUAGE),
    ({"@direction": "up"}, ErrorCode.INVALID_BASE_DIRECTION),
    ({"@propagate": "no"}, ErrorCode.INVALID_PROPAGATE_VALUE),
    ({"@protected": "yes"}, ErrorCode.INVALID_PROTECTED_VALUE),
    ({"@import": 1}, ErrorCode.INVALID_IMPORT_VALUE),
    ({"@import": EX + "none"}, ErrorCode.LOADING_REMOTE_CONTEXT_FAILED),
    (EX + "none", ErrorCode.LOADING_REMOTE_CONTEXT_FAILED),
]

FORBIDDEN_IN_1_0: list[tuple[Any, ErrorCode]] = [
    ({"@version": 1.1}, ErrorCode.PROCESSING_MODE_CONFLICT),
    ({"@import": EX}, ErrorCode.INVALID_CONTEXT_ENTRY),
    ({"@direction": "ltr"}, ErrorCode.INVALID_CONTEXT_ENTRY),
    ({"@propagate": True}, ErrorCode.INVALID_CONTEXT_ENTRY),
    ({"@vocab": "relative"}, ErrorCode.INVALID_VOCAB_MAPPING),
]


@pytest.mark.parametrize(("context", "code"), REFUSED, ids=lambda value: str(value)[:60])
def test_what_the_specification_forbids_is_refused_by_its_code(context: Any, code: ErrorCode) -> None:
    with pytest.raises(JsonLdError) as caught:
        process({"@context": context, "http://p/": "x"})
    assert caught.value.code is code


@pytest.mark.parametrize(("context", "code"), REFUSED, ids=lambda value: str(value)[:60])
def test_a_tolerant_reading_loses_only_the_fault(context: Any, code: ErrorCode) -> None:
    good = {"good": "http://good/"}
    contexts = [*context, good] if isinstance(context, list) else [context, good]
    found = process({"@context": contexts, "good": "x"}, strict=False)
    assert [statement[1:3] for statement in found.statements] == [("<http://good/>", '"x"')]
    assert found.notes


@pytest.mark.parametrize(("context", "code"), FORBIDDEN_IN_1_0, ids=lambda value: str(value)[:60])
def test_mode_1_0_refuses_what_came_later(context: Any, code: ErrorCode) -> None:
    with pytest.raises(JsonLdError) as caught:
        process({"@context": context}, mode=Mode.V1_0)
    assert caught.value.code is code


def test_base_is_that_of_the_document_again_after_null() -> None:
    document = {"@context": [{"@base": "http://other/"}, None], "@id": "x", "http://p/": {"@id": ""}}
    assert statements(document)[0][::2] == ("<http://example.org/dir/x>", f"<{BASE}>")


# SECTION Contexts as wholes: remote, missing, imported, and that sharing them changes nothing.


EX_PROCESSING = "http://example.com/"


def remote(**documents: Any) -> dict[str, bytes]:
    return {f"{EX_PROCESSING}{name}": json.dumps(document).encode() for name, document in documents.items()}


def test_the_same_context_with_other_content_is_another_context() -> None:
    document = {"@context": EX_PROCESSING + "ctx", "a": "x"}
    for iri in (EX_PROCESSING + "one", EX_PROCESSING + "two", EX_PROCESSING + "one"):
        assert statements(document, contexts=remote(ctx={"@context": {"a": iri}}))[0][1] == f"<{iri}>"
    assert process(document, strict=False).wanted == (EX_PROCESSING + "ctx",)


def test_shared_contexts_do_not_remember_a_page() -> None:
    for context in ({"@base": "sub/"}, {"@vocab": ""}, {"@vocab": "#"}, {}):
        document = {"@context": context, "@id": "thing", "http://p/": "x", "key": {"@id": "other"}}
        for base in ("http://one/dir/a", "http://two/dir/b"):
            for _ in range(2):
                for subject, predicate, _o, _g in statements(document, base=base):
                    assert subject.startswith(f"<{base[:11]}")
                    assert predicate.startswith((f"<{base[:11]}", "<http://p/"))


@pytest.mark.parametrize(
    "context",
    [{"bad": 1, "a": EX_PROCESSING}, EX_PROCESSING + "none", "schema.org", [{"@base": 7}, {"a": EX_PROCESSING}]],
)
def test_what_is_wrong_with_a_context_is_told_for_every_document(context: Any) -> None:
    node = {"@context": context, "@id": "x", "a": "y"}
    for document in (node, [node, node], node):
        assert len(process(document, strict=False).notes) == 1


def test_a_missing_context_is_wanted_and_the_rest_is_read() -> None:
    document = {
        "@context": [EX_PROCESSING + "none", {"b": EX_PROCESSING + "b"}],
        "@id": "thing",
        "@type": ["Unknown", "http://known/Type"],
        "a": "lost",
        "b": "kept",
    }
    found = process(document, strict=False)
    assert found.wanted == (EX_PROCESSING + "none",)
    assert [note.message for note in found.notes] == [
        f"context not loaded: {EX_PROCESSING}none; the block was read without it"
    ]
    # `Unknown` may be a term of the missing context: to call it a relative IRI would be a guess.
    assert [statement[2] for statement in found.statements] == ["<http://known/Type>", '"kept"']


def test_only_web_addresses_are_wanted() -> None:
    for address in ("file:///etc/passwd", "http://a/{b}", "http://a/\ud800", "urn:x"):
        assert not process({"@context": address, "a": "x"}, strict=False).wanted


def test_contexts_that_refer_to_themselves_end() -> None:
    contexts = remote(
        me={"@context": [EX_PROCESSING + "me", {"a": EX_PROCESSING + "a"}]},
        one={"@context": EX_PROCESSING + "two"},
        two={"@context": EX_PROCESSING + "one"},
        scoped={"@context": {"a": {"@id": EX_PROCESSING + "a", "@context": EX_PROCESSING + "scoped"}}},
    )
    for name in ("me", "one"):
        with pytest.raises(JsonLdError) as caught:
            process({"@context": EX_PROCESSING + name, "a": "x"}, contexts=contexts)
        assert caught.value.code is ErrorCode.CONTEXT_OVERFLOW
    document = {"@context": EX_PROCESSING + "scoped", "@id": "x", "a": {"a": {"a": "deep"}}}
    assert '"deep"' in objects(document, contexts=contexts)


def test_imports_are_merged_under_what_imports_them() -> None:
    contexts = remote(
        ctx={"@context": {"a": EX_PROCESSING + "a", "b": EX_PROCESSING + "b"}},
        again={"@context": {"@import": EX_PROCESSING + "ctx"}},
    )
    document = {
        "@context": {"@import": EX_PROCESSING + "ctx", "b": EX_PROCESSING + "own"},
        "@id": "x",
        "a": "1",
        "b": "2",
    }
    assert [s[1] for s in statements(document, contexts=contexts)] == [f"<{EX_PROCESSING}a>", f"<{EX_PROCESSING}own>"]
    with pytest.raises(JsonLdError) as caught:
        process({"@context": {"@import": EX_PROCESSING + "again"}}, contexts=contexts)
    assert caught.value.code is ErrorCode.INVALID_CONTEXT_ENTRY
