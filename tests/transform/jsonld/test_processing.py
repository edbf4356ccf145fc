"""Contexts: what they define, what they refuse, where remote ones come from, and that sharing them changes nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from motherlode.transform.jsonld.errors import ErrorCode, JsonLdError
from motherlode.transform.jsonld.settings import Mode

from .helpers import BASE, objects, process, statements

EX = "http://example.com/"


def remote(**documents: Any) -> dict[str, bytes]:
    return {f"{EX}{name}": json.dumps(document).encode() for name, document in documents.items()}


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


FORBIDDEN_IN_1_0: list[tuple[Any, ErrorCode]] = [
    ({"@version": 1.1}, ErrorCode.PROCESSING_MODE_CONFLICT),
    ({"@import": EX}, ErrorCode.INVALID_CONTEXT_ENTRY),
    ({"@direction": "ltr"}, ErrorCode.INVALID_CONTEXT_ENTRY),
    ({"@propagate": True}, ErrorCode.INVALID_CONTEXT_ENTRY),
    ({"@vocab": "relative"}, ErrorCode.INVALID_VOCAB_MAPPING),
    ({"@type": {"@container": "@set"}}, ErrorCode.KEYWORD_REDEFINITION),
    ({"a": {"@id": EX, "@container": "@graph"}}, ErrorCode.INVALID_CONTAINER_MAPPING),
    ({"a": {"@id": EX, "@container": ["@set"]}}, ErrorCode.INVALID_CONTAINER_MAPPING),
    ({"a": {"@id": EX, "@type": "@json"}}, ErrorCode.INVALID_TYPE_MAPPING),
    ({"a": {"@id": EX, "@context": {}}}, ErrorCode.INVALID_TERM_DEFINITION),
    ({"a": {"@id": EX, "@nest": "@nest"}}, ErrorCode.INVALID_TERM_DEFINITION),
    ({"a": {"@id": EX, "@prefix": True}}, ErrorCode.INVALID_TERM_DEFINITION),
    ({"a": {"@id": EX, "@protected": True}}, ErrorCode.INVALID_TERM_DEFINITION),
]


@pytest.mark.parametrize(("context", "code"), FORBIDDEN_IN_1_0, ids=lambda value: str(value)[:60])
def test_mode_1_0_refuses_what_came_later(context: Any, code: ErrorCode) -> None:
    with pytest.raises(JsonLdError) as caught:
        process({"@context": context}, mode=Mode.V1_0)
    assert caught.value.code is code


def test_remote_contexts_come_from_the_caller() -> None:
    contexts = remote(ctx={"@context": {"a": EX + "a"}})
    assert objects({"@context": EX + "ctx", "a": "x"}, contexts=contexts) == ['"x"']
    assert objects({"@context": "../ctx", "a": "x"}, base=EX + "dir/page", contexts=contexts) == ['"x"']


def test_what_a_remote_context_refers_to_starts_from_its_own_address() -> None:
    contexts = {
        EX + "dir/one": b'{"@context": ["two", {"@base": "http://ignored/"}]}',
        EX + "dir/two": json.dumps({"@context": {"a": {"@id": EX + "a", "@type": "@id"}}}).encode(),
    }
    assert objects({"@context": EX + "dir/one", "a": "x"}, contexts=contexts) == ["<http://example.org/dir/x>"]


@pytest.mark.parametrize("content", [b"[]", b"{}", b'"x"'])
def test_a_remote_document_without_context_is_refused(content: bytes) -> None:
    with pytest.raises(JsonLdError) as caught:
        process({"@context": EX + "ctx"}, contexts={EX + "ctx": content})
    assert caught.value.code is ErrorCode.INVALID_REMOTE_CONTEXT


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[" * 100_000, b" " * 3_000_000])
def test_a_remote_document_that_cannot_be_read_is_refused(content: bytes) -> None:
    with pytest.raises(JsonLdError) as caught:
        process({"@context": EX + "ctx"}, contexts={EX + "ctx": content})
    assert caught.value.code is ErrorCode.LOADING_REMOTE_CONTEXT_FAILED


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


def test_an_address_without_a_scheme_is_mended_where_it_is_known() -> None:
    found = process({"@context": "schema.org", "@id": "x", "name": "Ann"}, strict=False)
    assert [statement[1] for statement in found.statements] == ["<http://schema.org/name>"]
    assert found.notes[0].message == "context address without a scheme, read as https://schema.org"


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


def test_protected_terms_stay_until_a_property_scope_lets_them_go() -> None:
    protected = {"@protected": True, "a": EX + "a", "scope": {"@id": EX + "s", "@context": {"a": EX + "new"}}}
    document = {"@context": protected, "@id": "x", "scope": {"@id": "y", "a": "in"}, "a": "out"}
    assert {(s[1], s[2]) for s in statements(document)} >= {(f"<{EX}new>", '"in"'), (f"<{EX}a>", '"out"')}
    with pytest.raises(JsonLdError) as caught:
        process({"@context": protected, "scope": {"@context": None}, "a": {"@context": None, "b": 1}})
    assert caught.value.code is ErrorCode.INVALID_CONTEXT_NULLIFICATION


def test_a_scoped_context_may_refer_to_its_own_term() -> None:
    context = {"a": {"@id": EX + "a", "@context": {"b": {"@id": "a", "@type": "@id"}}}}
    found = statements({"@context": context, "@id": "x", "a": {"@id": "y", "b": "z"}})
    assert {s[1] for s in found} == {f"<{EX}a>"}


def test_a_term_may_look_like_a_path() -> None:
    document = {"@context": {"@vocab": EX, "a/b": {"@type": "@id"}}, "@id": "x", "a/b": "y"}
    assert statements(document)[0][1:3] == (f"<{EX}a/b>", "<http://example.org/dir/y>")


def test_the_expand_context_comes_first() -> None:
    document = {"@id": "x", "a": "1"}
    assert objects(document, expand_context={"a": EX + "a"}) == ['"1"']
    assert objects(document, expand_context={"@context": {"a": EX + "a"}}) == ['"1"']


def test_base_is_that_of_the_document_again_after_null() -> None:
    document = {"@context": [{"@base": "http://other/"}, None], "@id": "x", "http://p/": {"@id": ""}}
    assert statements(document)[0][::2] == ("<http://example.org/dir/x>", f"<{BASE}>")
