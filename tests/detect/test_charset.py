"""Charset detection: labels, declarations in documents, choice by header and content."""

from __future__ import annotations

import codecs
import time

import pytest
import webencodings

from motherlode.detect.charset import (
    OTHER_CODECS,
    OTHER_LABELS,
    detect_charset,
    detect_unicode_signature,
    iter_declared_codecs,
    lookup_codec,
)
from motherlode.www.xml import parse_xml

STANDARD_LABEL_COUNT = 228
"""Labels of the WHATWG Encoding Standard, section 4.2."""


def test_every_standard_label_has_the_codec_of_its_encoding() -> None:
    assert len(webencodings.LABELS) == STANDARD_LABEL_COUNT
    for label, encoding in webencodings.LABELS.items():
        assert lookup_codec(label) == lookup_codec(encoding) is not None


@pytest.mark.parametrize(
    ("label", "codec"),
    [
        *(("utf8", "utf-8"), ("unicode", "utf-16-le"), ("unicodefffe", "utf-16-be"), ("ascii", "cp1252")),
        *(("gb2312", "gb18030"), ("big5", "big5hkscs"), ("shift_jis", "cp932"), ("euc-kr", "cp949")),
        *(("hz-gb-2312", "utf-8"), ("x-user-defined", "cp1252"), ("iso-8859-9", "cp1254"), ("koi8-ru", "koi8-u")),
        *(("latin-1", "cp1252"), ("latin-9", "iso8859-15"), ("iso_8859-16", "iso8859-16"), ("mac", "mac-roman")),
    ],
)
def test_label_has_expected_codec(label: str, codec: str) -> None:
    assert lookup_codec(label) == codec


def test_every_codec_is_a_text_codec() -> None:
    for label in (*webencodings.LABELS, *OTHER_LABELS):
        codec = lookup_codec(label) or ""
        assert codecs.lookup(codec)._is_text_encoding
        assert isinstance(b"a\xe4\x00".decode(codec, "replace"), str)


def test_own_tables_do_not_repeat_webencodings() -> None:
    assert OTHER_LABELS.keys().isdisjoint(webencodings.LABELS)
    for encoding, codec in OTHER_CODECS.items():
        assert webencodings.lookup(encoding).codec_info.name != codecs.lookup(codec).name


@pytest.mark.parametrize(
    ("label", "text"),
    [
        *(("greek", "Καλημέρα"), ("cyrillic", "Привет"), ("arabic", "مرحبا"), ("hebrew", "שלום"), ("logical", "שלום")),
        *(("csisolatin2", "Zażółć"), ("latin3", "Ĉu"), ("latin4", "Ķīna"), ("latin6", "Ŋ"), ("iso-8859-6-i", "مرحبا")),
        *(("ks_c_5601-1987", "한국어"), ("x-x-big5", "中文"), ("ms932", "日本語①"), ("tis-620", "ไทย"), ("l9", "€")),
    ],
)
def test_label_has_a_codec_for_the_text_of_its_language(label: str, text: str) -> None:
    codec = lookup_codec(label)
    assert codec is not None
    assert text.encode(codec).decode(codec) == text


@pytest.mark.parametrize("label", ["utf-7", "rot13", "hex", "idna", "unicode_escape", "zip", "", "nonsense", "utf_8\0"])
def test_label_that_is_not_a_web_charset_has_no_codec(label: str) -> None:
    assert lookup_codec(label) is None


REAL = "<meta charset=windows-1251>"
FALSE = "<meta charset=koi8-r>"


def declared(markup: str) -> list[str]:
    return list(iter_declared_codecs(markup.encode()))


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
def test_declaration_in_each_notation_is_found(meta: str) -> None:
    assert declared(f"<!doctype html><html><head>{meta}")[:1] == ["cp1251"]


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
def test_markup_before_the_declaration_does_not_hide_it(before: str) -> None:
    assert declared(f"<html><head>{before}{REAL}</head>") in (["cp1251"], ["cp1251", "cp1251"])


def test_several_declarations_come_in_document_order() -> None:
    assert declared(f"<html>{REAL}{FALSE}") == ["cp1251", "koi8-r"]


def test_meta_comes_before_xml_declaration_only_in_html() -> None:
    xml = "<?xml version='1.0' encoding='koi8-r'?>"
    assert declared(f"{xml}<html><head>{REAL}") == ["cp1251", "koi8-r"]
    assert declared(f" {xml}<rss><![CDATA[{REAL}]]></rss>") == ["koi8-r"], "in XML other than HTML, CDATA is text"


def test_declaration_is_found_up_to_the_end_of_a_long_head() -> None:
    long = "<script>" + "x=1;" * 5_000 + "</script><link rel=x><noscript></noscript>"
    assert declared(f"<html><head>{long}{REAL}</head><body>") == ["cp1251"]
    assert declared(f"<html><head>{long}</head><body>{REAL}") == []
    assert declared(f"<html><body><p>{REAL}") == ["cp1251"], "in the first kilobyte it counts in any element"


@pytest.mark.parametrize("label", ["utf-16", "utf-16be", "utf-16le", "unicode"])
def test_declaration_of_utf16_in_readable_markup_means_utf8(label: str) -> None:
    assert declared(f"<meta charset={label}>") == ["utf-8"]


@pytest.mark.parametrize(
    "hostile",
    [
        *("<", "<a ", "<meta ", "<!--", "<script>", "<a b='", '<a b="', "</", "<?", "<meta charset=", "<title></title"),
        *("<meta charset=x ", "<a =", "<a '=\"", "charset=", "<?xml encoding ", "<link>", "<meta content=charset "),
    ],
)
def test_hostile_document_is_searched_in_linear_time(hostile: str) -> None:
    began = time.process_time()
    declared(hostile * (1_000_000 // len(hostile)))
    declared("<?xml " + hostile * (1_000_000 // len(hostile)))
    assert time.process_time() - began < 2


LATIN = "<p>déjà vu, garçon</p>".encode("latin-1")
UNICODE = "<p>déjà vu, garçon</p>".encode()
CYRILLIC = "Привет, мир".encode("cp1251")
CHINESE = "你好，世界".encode("gb18030")


@pytest.mark.parametrize(
    ("body", "content_type", "charset"),
    [
        (UNICODE, "text/html", "utf-8"),
        (UNICODE, "text/html; charset=iso-8859-1", "utf-8"),
        (UNICODE, "text/html; charset=windows-1251", "utf-8"),
        (LATIN, "text/html", "cp1252"),
        (LATIN, "text/html; charset=utf-8", "cp1252"),
        (LATIN, 'text/html; charset="ISO-8859-1"', "cp1252"),
        (LATIN, "text/html; charset=nonsense", "cp1252"),
        (CYRILLIC, "text/plain; charset=windows-1251", "cp1251"),
        (CHINESE, "text/html;CharSet = gb2312", "gb18030"),
        (b"ascii", "text/html; charset=windows-1251", "utf-8"),
        (b"\x1b$B", "text/html; charset=iso-2022-jp", "iso2022_jp"),
    ],
)
def test_charset_depends_on_header_and_content(body: bytes, content_type: str, charset: str) -> None:
    assert detect_charset(body, content_type) == charset


@pytest.mark.parametrize(
    "declaration",
    [
        b'<meta charset="windows-1251">',
        b"<META http-equiv=content-type content='text/html; charset=windows-1251'>",
        b'<!-- <meta charset="koi8-r"> --><meta charset=windows-1251>',
        b'<?xml version="1.0" encoding="windows-1251"?>',
        b"<meta name=description content='my charset=koi8-r page'><meta charset=windows-1251>",
        b"<script>document.write('<meta charset=koi8-r>')</script><meta charset=windows-1251>",
        b"<meta charset=win-1251><meta charset=windows-1251>",
        b"<meta/charset=windows-1251>",
        b"<meta name=a content='x>y' charset=windows-1251>",
    ],
)
def test_declaration_in_document_counts_after_header(declaration: bytes) -> None:
    body = declaration + CYRILLIC
    assert detect_charset(body, "text/html") == "cp1251"
    assert detect_charset(body, "text/html; charset=koi8-r") == "koi8-r", "the header comes first"
    assert detect_charset(body, "text/html; charset=utf-8") == "cp1251", (
        "a header that contradicts the bytes does not count"
    )


def test_declaration_that_contradicts_the_bytes_is_skipped() -> None:
    body = b"<?xml version='1.0' encoding='utf-8'?><html><meta charset=utf-8><meta charset=windows-1251>" + CYRILLIC
    assert detect_charset(body, "text/html; charset=utf-8") == "cp1251"
    assert detect_charset(body.replace(b"windows-1251", b"nonsense"), "text/html") == "cp1252"


def test_iso_2022_jp_is_detected_by_declaration_and_escapes() -> None:
    body = b"<meta charset=iso-2022-jp>" + "日本".encode("iso2022_jp")
    assert detect_charset(body, "text/html") == "iso2022_jp"
    assert detect_charset(body.replace(b"\x1b", b""), "text/html") == "utf-8", "without escapes it is ASCII"
    assert detect_charset(body.replace(b"2022", b"8859"), "text/html") == "utf-8"


def test_declaration_after_a_long_script_counts() -> None:
    body = b"<html><head><script>" + b"x=1;" * 1500 + b"</script><meta charset=windows-1251></head><body>" + CYRILLIC
    assert detect_charset(body, "text/html") == "cp1251"


def test_ascii_and_utf8_bodies_are_not_searched_for_declarations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "motherlode.detect.charset.iter_declared_codecs", lambda _: pytest.fail("the body was searched")
    )
    for body in (UNICODE, b"<meta charset=koi8-r>" + UNICODE, b"<meta charset=utf-8> plain"):
        assert detect_charset(body, "text/html") == "utf-8"


def test_few_invalid_bytes_in_utf8_leave_it_utf8() -> None:
    body = UNICODE * 10 + b"\xff\xfe" + UNICODE
    assert detect_charset(body, "") == "utf-8"


def test_character_cut_by_the_end_of_the_sample_is_not_invalid() -> None:
    assert detect_charset("é".encode() * 20_000, "") == "utf-8"
    assert detect_charset(b"x" + "é".encode() * 20_000, "") == "utf-8"


def test_invalid_bytes_after_the_first_sample_count() -> None:
    assert detect_charset(b"x" * 100_000 + LATIN, "text/html; charset=utf-8") == "cp1252"


@pytest.mark.parametrize("body", [b"\0\0\1\0\1\0\x20\0", b"\0a\0b", b"a\0b\0c\0\1\0", b"<\0\0\0p\0\0\0", b"\0", b""])
def test_binary_bytes_with_nuls_have_no_unicode_signature(body: bytes) -> None:
    assert detect_unicode_signature(body) is None


def test_declared_utf16_counts_only_for_bytes_with_nuls() -> None:
    assert detect_charset(b"<\0p\0>\0", "text/html; charset=utf-16") == "utf-16-le"
    assert detect_charset(b"<p>", "text/html; charset=utf-16") == "utf-8"
    assert detect_charset(b"<meta charset=utf-16>", "") == "utf-8"


@pytest.mark.parametrize(
    ("label", "text"), [("koi8-r", "Привет"), ("iso-8859-2", "Zażółć"), ("windows-1251", "Привет")]
)
def test_codec_of_label_is_accepted_by_the_xml_parser(label: str, text: str) -> None:
    codec = lookup_codec(label)
    assert codec is not None
    assert parse_xml(f"<a>{text}</a>".encode(codec), charset=codec).root.text == text


def test_lookup_codec_gives_expected_results_for_short_texts() -> None:
    assert (lookup_codec(" ISO-8859-1 "), lookup_codec("GB2312"), lookup_codec("utf-7"), lookup_codec("rot13")) == (
        "cp1252",
        "gb18030",
        None,
        None,
    )


def test_iter_declared_codecs_gives_expected_results_for_short_texts() -> None:
    body = b"<title>charset</title><meta name=description content='charset=koi8-r'><meta charset=latin1>"
    assert (list(iter_declared_codecs(body))) == ["cp1252"]


def test_detect_unicode_signature_gives_expected_results_for_short_texts() -> None:
    assert (detect_unicode_signature("<p>1".encode("utf-16-be")), detect_unicode_signature(b"\xef\xbb\xbf<p>")) == (
        "utf-16-be",
        "utf-8-sig",
    )


def test_detect_charset_gives_expected_results_for_short_texts() -> None:
    assert (detect_charset("é".encode(), "text/html; charset=iso-8859-1")) == "utf-8"
    assert (detect_charset("é".encode("latin-1"), "text/html; charset=utf-8")) == "cp1252"
