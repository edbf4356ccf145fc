"""Resolution of references, by the examples of RFC 3986, section 5.4."""

from __future__ import annotations

import pytest

from motherlode.www.html_references import escaped, is_absolute, query_in, resolve_iri

BASE = "http://a/b/c/d;p?q"
NORMAL = {
    "g:h": "g:h",
    "g": "http://a/b/c/g",
    "./g": "http://a/b/c/g",
    "g/": "http://a/b/c/g/",
    "/g": "http://a/g",
    "//g": "http://g",
    "?y": "http://a/b/c/d;p?y",
    "g?y": "http://a/b/c/g?y",
    "#s": "http://a/b/c/d;p?q#s",
    "g#s": "http://a/b/c/g#s",
    "g?y#s": "http://a/b/c/g?y#s",
    ";x": "http://a/b/c/;x",
    "g;x?y#s": "http://a/b/c/g;x?y#s",
    "": "http://a/b/c/d;p?q",
    ".": "http://a/b/c/",
    "./": "http://a/b/c/",
    "..": "http://a/b/",
    "../": "http://a/b/",
    "../g": "http://a/b/g",
    "../..": "http://a/",
    "../../g": "http://a/g",
}
ABNORMAL = {
    "../../../g": "http://a/g",
    "../../../../g": "http://a/g",
    "/./g": "http://a/g",
    "/../g": "http://a/g",
    "g.": "http://a/b/c/g.",
    "..g": "http://a/b/c/..g",
    "./../g": "http://a/b/g",
    "./g/.": "http://a/b/c/g/",
    "g/./h": "http://a/b/c/g/h",
    "g/../h": "http://a/b/c/h",
    "g;x=1/../y": "http://a/b/c/y",
    "g?y/../x": "http://a/b/c/g?y/../x",
    "g#s/../x": "http://a/b/c/g#s/../x",
    "http:g": "http:g",
}


@pytest.mark.parametrize(("reference", "expected"), [*NORMAL.items(), *ABNORMAL.items()])
def test_the_examples_of_the_rfc(reference: str, expected: str) -> None:
    assert resolve_iri(BASE, reference) == expected


def test_white_space_around_a_reference_is_not_part_of_it() -> None:
    assert resolve_iri(BASE, " \n g \t") == "http://a/b/c/g"


def test_what_no_iri_can_hold_is_escaped_and_nothing_else() -> None:
    assert resolve_iri(BASE, 'é {x}|"y"') == "http://a/b/c/é%20%7Bx%7D%7C%22y%22"
    assert escaped("a\ud800b") == "a%3Fb"
    assert escaped("http://example.org/%7Eann") == "http://example.org/%7Eann"


def test_a_base_without_a_path() -> None:
    assert resolve_iri("http://example.org", "x") == "http://example.org/x"


def test_schemes() -> None:
    assert [is_absolute(it) for it in ("urn:x", "a+b.c-d:x", "1a:x", ":x", "/a:b", "x")] == [True, True, *[False] * 4]


@pytest.mark.parametrize(
    ("codec", "reference", "expected"),
    [
        ("cp1251", "/s?q=привет", "/s?q=%EF%F0%E8%E2%E5%F2"),
        ("cp1251", "/путь?q=а б&в=%D0#г?д", "/путь?q=%E0 %E1&%E2=%D0#г?д"),
        ("cp1251", "/путь#а?б", "/путь#а?б"),
        ("cp1251", "путь", "путь"),
        ("cp1252", "?q=€я", "?q=%80%26%231103%3B"),
        ("cp1252", "?q=\U0001f600", "?q=%26%23128512%3B"),
        ("cp932", "?q=ソ", "?q=%83\\"),
        ("gb18030", "?q=你好", "?q=%C4%E3%BA%C3"),
        ("iso2022_jp", "?q=日я本é", "?q=%1B$BF|%27qK\\%1B(B%26%23233%3B"),
        ("cp949", "?q=한국", "?q=%C7%D1%B1%B9"),
    ],
)
def test_queries_are_in_the_charset_of_their_page(codec: str, reference: str, expected: str) -> None:
    assert query_in(codec, reference) == expected
