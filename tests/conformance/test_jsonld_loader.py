"""The strict loader for JSON-LD in HTML."""

from __future__ import annotations

import pytest

from motherlode.model import ContentKind, Detected, DetectionEvidence
from motherlode.transform.jsonld.errors import ErrorCode, JsonLdError
from motherlode.www.document import Document

from .jsonld_loader import load_scripts

SCRIPT = '<script type="application/ld+json" id="{}">{}</script>'


def page(html: str) -> Document:
    detected = Detected(kind=ContentKind.HTML, evidence=DetectionEvidence.CONTENT)
    return Document(url="http://example.org/", body=html.encode(), detected=detected)


def test_load_scripts_returns_first_all_or_named_script() -> None:
    html = page(SCRIPT.format("a", '{"a":1}') + SCRIPT.format("b c", '[{"b":2}]'))
    assert load_scripts(html) == {"a": 1}
    assert load_scripts(html, extract_all=True) == [{"a": 1}, {"b": 2}]
    assert load_scripts(html, fragment="b%20c") == [{"b": 2}]
    assert load_scripts(page("<p>")) == []


@pytest.mark.parametrize(
    ("html", "fragment", "code"),
    [
        (SCRIPT.format("a", "{}"), "b", ErrorCode.LOADING_DOCUMENT_FAILED),
        ('<p id="b">', "b", ErrorCode.LOADING_DOCUMENT_FAILED),
        (SCRIPT.format("a", "{,}"), "", ErrorCode.INVALID_SCRIPT_ELEMENT),
        (SCRIPT.format("a", "<!-- {} -->"), "a", ErrorCode.INVALID_SCRIPT_ELEMENT),
        (SCRIPT.format("a", "[" * 100_000), "", ErrorCode.INVALID_SCRIPT_ELEMENT),
    ],
)
def test_load_scripts_invalid_script_raises_its_error_code(html: str, fragment: str, code: ErrorCode) -> None:
    with pytest.raises(JsonLdError) as caught:
        load_scripts(page(html), fragment=fragment)
    assert caught.value.code is code
