"""What documents say of their own charset."""

from __future__ import annotations

import time

import pytest

from motherlode.detect.charset import claims_in

REAL = "<meta charset=windows-1251>"
FALSE = "<meta charset=koi8-r>"


def claims(markup: str) -> list[str]:
    return list(claims_in(markup.encode()))


@pytest.mark.parametrize(
    "meta",
    [
        *(
            REAL,
            REAL.upper(),
            '<meta charset="windows-1251">',
            "<meta charset=' windows-1251 '>",
            "<meta charset = cp1251>",
        ),
        *("<meta/charset=windows-1251/>", "<meta/charset=windows-1251>", "<meta name=a content='x>y' charset=cp1251>"),
        "<meta http-equiv=Content-Type content='text/html; charset=windows-1251'>",
        '<meta content="text/html;charset = &quot;" http-equiv="content-type" charset="windows-1251">',
        "<meta http-equiv=content-type content='text/html; charset=\"windows-1251\"'>",
        "<meta http-equiv=content-type content='charset; charset=windows-1251; x'>",
        "<meta charset=windows-1251 charset=koi8-r>",
        "<meta charset=nonsense http-equiv=content-type content='text/html; charset=windows-1251'>",
        "<meta charset='windows-1251",
    ],
)
def test_the_ways_to_say_it(meta: str) -> None:
    assert claims(f"<!doctype html><html><head>{meta}")[:1] == ["cp1251"]


@pytest.mark.parametrize(
    "before",
    [
        *("<meta name=description content='on charset=koi8-r pages'>", "<meta charset='win-1251'>", "<meta charset>"),
        *(f"<!-- {FALSE} -->", f"<!----!>{REAL}<!-- {FALSE}-->", "<!-->", "<!--->", "<? <meta charset=koi8-r >"),
        *(f"<script>document.write('{FALSE}')</script>", f"<STYLE>{FALSE}</style >", f"<title>'{FALSE}</title>"),
        *(f"<textarea>{FALSE}</textarea>", f"<p title='{FALSE}'>", f'<p title = "{FALSE}" >', f"</p title='{FALSE}'>"),
        *("<p title=it's>", '<p title=a"b>', "<metadata charset=koi8-r>", "<meta content='text/html; charset=koi8-r'>"),
        *("<meta http-equiv=refresh content='0;?charset=koi8-r'>", "<meta http-equiv=content-type content=charset>"),
        "a < b <3 </>",
    ],
)
def test_what_is_no_declaration_does_not_hide_one(before: str) -> None:
    assert claims(f"<html><head>{before}{REAL}</head>") in (["cp1251"], ["cp1251", "cp1251"])


def test_the_first_of_several_counts_most() -> None:
    assert claims(f"<html>{REAL}{FALSE}") == ["cp1251", "koi8_r"]


def test_html_goes_by_its_meta_before_its_xml_declaration() -> None:
    xml = "<?xml version='1.0' encoding='koi8-r'?>"
    assert claims(f"{xml}<html><head>{REAL}") == ["cp1251", "koi8_r"]
    assert claims(f" {xml}<rss><![CDATA[{REAL}]]></rss>") == ["koi8_r"], "which in XML is but text"


def test_the_head_is_read_to_its_end() -> None:
    long = "<script>" + "x=1;" * 5_000 + "</script><link rel=x><noscript></noscript>"
    assert claims(f"<html><head>{long}{REAL}</head><body>") == ["cp1251"]
    assert claims(f"<html><head>{long}</head><body>{REAL}") == []
    assert claims(f"<html><body><p>{REAL}") == ["cp1251"], "at the beginning it may stand anywhere"


@pytest.mark.parametrize("label", ["utf-16", "utf-16be", "utf-16le", "unicode"])
def test_a_declaration_that_can_be_read_is_not_in_utf16(label: str) -> None:
    assert claims(f"<meta charset={label}>") == ["utf-8"]


@pytest.mark.parametrize(
    "hostile",
    [
        *("<", "<a ", "<meta ", "<!--", "<script>", "<a b='", '<a b="', "</", "<?", "<meta charset=", "<title></title"),
        *("<meta charset=x ", "<a =", "<a '=\"", "charset=", "<?xml encoding ", "<link>", "<meta content=charset "),
    ],
)
def test_hostile_documents_end_soon(hostile: str) -> None:
    began = time.process_time()
    claims(hostile * (1_000_000 // len(hostile)))
    claims("<?xml " + hostile * (1_000_000 // len(hostile)))
    assert time.process_time() - began < 2
