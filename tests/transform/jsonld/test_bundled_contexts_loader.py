"""Remote contexts come from the caller or from the bundle, and never from anywhere else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from motherlode.transform.jsonld.errors import ErrorCode, JsonLdError

from .helpers import objects, process

EX = "http://example.com/"


def remote(**documents: Any) -> dict[str, bytes]:
    return {f"{EX}{name}": json.dumps(document).encode() for name, document in documents.items()}


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


def test_an_address_without_a_scheme_is_mended_where_it_is_known() -> None:
    found = process({"@context": "schema.org", "@id": "x", "name": "Ann"}, strict=False)
    assert [statement[1] for statement in found.statements] == ["<http://schema.org/name>"]
    assert found.notes[0].message == "context URL without a scheme, read as https://schema.org"
