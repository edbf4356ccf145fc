"""Entries of a context that are not terms."""

from __future__ import annotations

from typing import Any

import pytest

from motherlode.transform.jsonld.errors import ErrorCode, JsonLdError
from motherlode.transform.jsonld.processor_options import Mode

from .helpers import BASE, process, statements

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
