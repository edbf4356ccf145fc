"""Scripts with data in HTML and XHTML."""

from __future__ import annotations

import pytest

from motherlode.model import ContentKind
from tests.www.pages import document


def contents(body: str, kind: ContentKind) -> list[str]:
    return [script.content for script in document(body, kind=kind).find_scripts(lambda written: written == "t/t")]


def xhtml(content: str, rest: str = "") -> str:
    return (
        f'<html xmlns="http://www.w3.org/1999/xhtml"><head><script type="js">&amp;</script><script type="t/t">{content}'
        f"</script></head><body>{rest}</body></html>"
    )


@pytest.mark.parametrize(
    ("written", "in_xml", "in_html"),
    [
        ("a &amp; b", "a & b", "a &amp; b"),
        ("&lt;b&gt; &#233; &#xe9; &eacute;", "<b> é é é", "&lt;b&gt; &#233; &#xe9; &eacute;"),
        ("a &amp; <![CDATA[b &amp; &nbsp; <i>]]>", "a & b &amp; &nbsp; <i>", "a &amp; <![CDATA[b &amp; &nbsp; <i>]]>"),
        ("//<![CDATA[\n&\n//]]>", "//<![CDATA[\n&\n//]]>", "//<![CDATA[\n&\n//]]>"),
        ("<!-- a &amp; b -->", " a &amp; b ", "<!-- a &amp; b -->"),
        ("plain", "plain", "plain"),
        ("<b>a &amp; b</b>", "<b>a &amp; b</b>", "<b>a &amp; b</b>"),
    ],
)
def test_find_scripts_content_is_xml_in_xhtml_and_raw_text_in_html(written: str, in_xml: str, in_html: str) -> None:
    assert contents(xhtml(written), ContentKind.XHTML) == [in_xml]
    assert contents(xhtml(written), ContentKind.HTML) == [in_html]


def test_find_scripts_end_tag_in_cdata_section_ends_no_xhtml_script() -> None:
    assert contents(xhtml("<![CDATA[a </script> b]]>"), ContentKind.XHTML) == ["a </script> b"]


def test_find_scripts_malformed_xhtml_is_read_as_html() -> None:
    assert contents(xhtml("a &amp; b", rest="<p>"), ContentKind.XHTML) == ["a &amp; b"]


def test_find_scripts_keeps_type_and_identifier() -> None:
    body = '<html xmlns="http://www.w3.org/1999/xhtml"><body><script id="i" type="t/t">&amp;</script></body></html>'
    for kind in (ContentKind.HTML, ContentKind.XHTML):
        (script,) = document(body, kind=kind).find_scripts(lambda _: True)
        assert (script.media_type, script.identifier) == ("t/t", "i")
