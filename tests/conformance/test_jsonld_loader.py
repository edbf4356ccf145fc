"""The strict loader for JSON-LD in HTML."""

from __future__ import annotations

import pytest

from motherlode.model import ContentKind, Detected, DetectionEvidence
from motherlode.transform.jsonld.jsonld_errors import JsonLdError
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
        (SCRIPT.format("a", "{}"), "b", "loading document failed"),
        ('<p id="b">', "b", "loading document failed"),
        (SCRIPT.format("a", "{,}"), "", "invalid script element"),
        (SCRIPT.format("a", "<!-- {} -->"), "a", "invalid script element"),
        (SCRIPT.format("a", "[" * 100_000), "", "invalid script element"),
    ],
)
def test_load_scripts_invalid_script_raises_its_error_code(html: str, fragment: str, code: str) -> None:
    with pytest.raises(JsonLdError) as caught:
        load_scripts(page(html), fragment=fragment)
    assert caught.value.code == code
