"""Templates escape every value."""

from __future__ import annotations

from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from motherlode.crawler.report import open_templates

ELEMENT = open_templates("motherlode.crawler.report").from_string('<b title="{{ text }}">{{ text }}</b>')


def test_template_escapes_text_and_attributes_and_not_markup() -> None:
    assert ELEMENT.render(text='"><i>') == '<b title="&#34;&gt;&lt;i&gt;">&#34;&gt;&lt;i&gt;</b>'
    assert ELEMENT.render(text=Markup("&lt;")) == '<b title="&lt;">&lt;</b>'


def test_illegal_and_bidirectional_characters_are_replaced() -> None:
    assert ">a\ufffdb\ufffdc\ufffdd\ufffde\tf\n<" in ELEMENT.render(text="a\x00b\ud800c\u202ed\uffffe\tf\n")


@given(st.text(st.characters(codec=None, categories=None)))
def test_escaped_text_is_well_formed_xml(text: str) -> None:
    parsed = ElementTree.fromstring(ELEMENT.render(text=text))
    assert len(parsed) == 0
    assert set(parsed.attrib) == {"title"}
    ELEMENT.render(text=text).encode("utf-8")
