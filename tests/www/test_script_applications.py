"""Pages whose content only a script would insert."""

from __future__ import annotations

import pytest

from motherlode.model import ContentKind
from motherlode.www.script_applications import is_script_application

from .pages import document

SCRIPT = '<script src="/app.js"></script>'


@pytest.mark.parametrize(
    "markup",
    [
        f'<body><div id="root"></div>{SCRIPT}',
        f'<body><noscript><p>Enable <a href="/js">scripts</a>.</p></noscript><div id="app"></div>{SCRIPT}',
        '<head><script type="module">start()</script></head><body><app-root></app-root>',
        f'<body><main id="app"><div class="spinner">Loading …</div></main>{SCRIPT}',
        f'<title>A long title that says what the application is about</title><body><div id="x"><svg><text>{"a" * 99}'
        f"</text></svg></div>{SCRIPT}",
    ],
)
def test_script_application_without_content_is_recognised(markup: str) -> None:
    assert is_script_application(document(markup))


@pytest.mark.parametrize(
    "markup",
    [
        '<body><div id="root"></div>',
        f"<body>{SCRIPT}",
        f'<body><div id="root"><a href="/x">x</a></div>{SCRIPT}',
        f'<body><div id="root">{"text " * 20}</div>{SCRIPT}',
        f'<body><div id="root"></div><p>x</p>{SCRIPT}',
        f'<head><meta http-equiv="Refresh" content="0; url=/y"></head><body><div id="root"></div>{SCRIPT}',
        '<body><div id="root"></div><script>location.href = "/y"</script>',
        f'<body><div><span id="root"></span></div>{SCRIPT}',
        "",
    ],
)
def test_page_with_content_or_without_a_script_is_no_script_application(markup: str) -> None:
    assert not is_script_application(document(markup))


def test_document_other_than_html_is_no_script_application() -> None:
    assert not is_script_application(document(f'<svg><div id="root"/>{SCRIPT}</svg>', kind=ContentKind.SVG))
