from __future__ import annotations

import pytest

from motherlode.detect.charset import charset_of, unmistakable

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
def test_header_against_content(body: bytes, content_type: str, charset: str) -> None:
    assert charset_of(body, content_type) == charset


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
def test_the_document_says_it_itself(declaration: bytes) -> None:
    body = declaration + CYRILLIC
    assert charset_of(body, "text/html") == "cp1251"
    assert charset_of(body, "text/html; charset=koi8-r") == "koi8_r", "the header comes first"
    assert charset_of(body, "text/html; charset=utf-8") == "cp1251", "a header that cannot be right does not count"


def test_a_refuted_claim_makes_room_for_the_next() -> None:
    body = b"<?xml version='1.0' encoding='utf-8'?><html><meta charset=utf-8><meta charset=windows-1251>" + CYRILLIC
    assert charset_of(body, "text/html; charset=utf-8") == "cp1251"
    assert charset_of(body.replace(b"windows-1251", b"nonsense"), "text/html") == "cp1252"


def test_text_in_seven_bits_is_read_by_its_claim() -> None:
    body = b"<meta charset=iso-2022-jp>" + "日本".encode("iso2022_jp")
    assert charset_of(body, "text/html") == "iso2022_jp"
    assert charset_of(body.replace(b"\x1b", b""), "text/html") == "utf-8", "without escapes it is ASCII"
    assert charset_of(body.replace(b"2022", b"8859"), "text/html") == "utf-8"


def test_a_declaration_that_comes_late_in_the_head_counts() -> None:
    body = b"<html><head><script>" + b"x=1;" * 1500 + b"</script><meta charset=windows-1251></head><body>" + CYRILLIC
    assert charset_of(body, "text/html") == "cp1251"


def test_most_bodies_are_not_searched_for_a_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("motherlode.detect.charset.claims_in", lambda _: pytest.fail("it was searched"))
    for body in (UNICODE, b"<meta charset=koi8-r>" + UNICODE, b"<meta charset=utf-8> plain"):
        assert charset_of(body, "text/html") == "utf-8"


def test_some_broken_bytes_do_not_make_a_page_of_utf8_another() -> None:
    body = UNICODE * 10 + b"\xff\xfe" + UNICODE
    assert charset_of(body, "") == "utf-8"


def test_a_character_cut_in_two_by_the_sample_is_no_fault() -> None:
    assert charset_of("é".encode() * 20_000, "") == "utf-8"
    assert charset_of(b"x" + "é".encode() * 20_000, "") == "utf-8"


def test_what_comes_late_counts_too() -> None:
    assert charset_of(b"x" * 100_000 + LATIN, "text/html; charset=utf-8") == "cp1252"


@pytest.mark.parametrize("body", [b"\0\0\1\0\1\0\x20\0", b"\0a\0b", b"a\0b\0c\0\1\0", b"<\0\0\0p\0\0\0", b"\0", b""])
def test_other_bytes_with_nuls_are_not_taken_for_utf16(body: bytes) -> None:
    assert unmistakable(body) is None


def test_utf16_is_believed_only_where_it_can_be() -> None:
    assert charset_of(b"<\0p\0>\0", "text/html; charset=utf-16") == "utf-16-le"
    assert charset_of(b"<p>", "text/html; charset=utf-16") == "utf-8"
    assert charset_of(b"<meta charset=utf-16>", "") == "utf-8"
