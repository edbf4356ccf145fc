from __future__ import annotations

import pytest

from motherlode.model import ContentKind
from motherlode.transform.xslt import xslt_engine as engine
from motherlode.transform.xslt.stylesheets import to_xhtml

from .pages import XHTML, document


@pytest.mark.parametrize(
    "html",
    [
        "",
        "plain & simple < >",
        "<p>a<p>b<br>c<table><td>d",
        "<p @click=x :y='1' xml:lang=en xmlns:a=b 1=2 ok=\"&quot;<'\">x",
        "<foo:bar><x-y>z</x-y></foo:bar><svg><path d='M0'/></svg>",
        "<script>if (a < b && c) {}</script><style>a > b {}</style><!-- -- --><p>x",
        "a\x00b\x0b\ufffe&#xD800;&#1;\U0001f600",
        "<span>" * 1000 + "x",
        "<template><p>x</p></template>",
    ],
)
def test_every_page_becomes_well_formed(html: str) -> None:
    body = to_xhtml(document(html, ContentKind.HTML))
    root, problems = engine.read_xml(body, "http://e.org/")
    assert problems == []
    assert root.tag == f"{{{XHTML}}}html"


def test_text_and_attributes_survive() -> None:
    body = to_xhtml(document("<p id='a&amp;b'>x &lt; y<b>z</b>", ContentKind.HTML)).decode()
    assert '<p id="a&amp;b">x &lt; y<b>z</b></p>' in body


def test_text_below_the_deepest_level_is_kept() -> None:
    assert b"deep down" in to_xhtml(document("<span>" * 5000 + "deep down", ContentKind.HTML))
