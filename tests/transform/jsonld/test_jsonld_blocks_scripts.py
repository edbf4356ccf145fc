from __future__ import annotations

import pytest

from motherlode.transform.jsonld.errors import ErrorCode, JsonLdError
from motherlode.transform.jsonld.jsonld_blocks import find_scripts, load_scripts
from motherlode.www.html_prefilter import Mark, marks_in

from .helpers import page

SCRIPT = '<script type="application/ld+json" id="{}">{}</script>'


@pytest.mark.parametrize(
    "tag",
    [
        '<script type="application/ld+json">',
        "<SCRIPT TYPE=Application/LD+JSON>",
        '<script type=" application/ld+json ">',
        '<script type="application/ld+json;charset=utf-8">',
        "<script type='application/ld+json; profile=\"http://www.w3.org/ns/json-ld#expanded\"'>",
        '<script type="application/ld&#43;json">',
        '<script type="application&#x2F;ld&#x2B;json">',
        '<script data-x="a > b" type="application/ld+json">',
    ],
)
def test_blocks_are_found_however_the_type_is_spelled(tag: str) -> None:
    html = f"<p>{tag}{{}}</script>"
    assert Mark.JSON_LD in marks_in(html.encode())
    assert [script.content for script in find_scripts(page(html))] == ["{}"]


@pytest.mark.parametrize(
    "html",
    [
        '<script type="application/json">{}</script>',
        '<script type="application/ld+jsonx">{}</script>',
        '<script type="x application/ld+json">{}</script>',
        "<script>application/ld+json</script>",
        '<pre type="application/ld+json">{}</pre>',
        '<!-- <script type="application/ld+json">{}</script> -->',
        '<textarea><script type="application/ld+json">{}</script></textarea>',
    ],
)
def test_other_elements_are_not_blocks(html: str) -> None:
    assert not list(find_scripts(page(html)))


def test_the_gate_is_shut_for_plain_pages() -> None:
    assert Mark.JSON_LD not in marks_in(b'<p>application/json</p><script type="text/javascript">')


def test_loading_takes_the_first_block_or_all_or_the_one_that_is_named() -> None:
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
def test_loading_refuses_by_the_code(html: str, fragment: str, code: ErrorCode) -> None:
    with pytest.raises(JsonLdError) as caught:
        load_scripts(page(html), fragment=fragment)
    assert caught.value.code is code
