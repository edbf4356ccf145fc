"""The one rule for IRIs: resolution by the examples of RFC 3986, section 5.4, and repair by the grammar of RFC 3987."""

from __future__ import annotations

import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motherlode.www import iri
from motherlode.www.iri import check, is_absolute, join, repair_message, resolve, resolve_and_check, split, split_curie

BASE = "http://a/b/c/d;p?q"
RFC_3986 = {
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
    "../../../g": "http://a/g",
    "/./g": "http://a/g",
    "/../g": "http://a/g",
    "g.": "http://a/b/c/g.",
    ".g": "http://a/b/c/.g",
    "g..": "http://a/b/c/g..",
    "..g": "http://a/b/c/..g",
    "./../g": "http://a/b/g",
    "./g/.": "http://a/b/c/g/",
    "g/./h": "http://a/b/c/g/h",
    "g/../h": "http://a/b/c/h",
    "g;x=1/../y": "http://a/b/c/y",
    "g?y/../x": "http://a/b/c/g?y/../x",
    "g#s/../x": "http://a/b/c/g#s/../x",
    "g//.": "http://a/b/c/g//",
    "g//..": "http://a/b/c/g/",
    "http:g": "http:g",
}


@pytest.mark.parametrize(("reference", "expected"), RFC_3986.items())
def test_resolve_follows_rfc_3986_examples(reference: str, expected: str) -> None:
    assert resolve(BASE, reference) == expected
    assert resolve_and_check(BASE, reference).value == expected


@pytest.mark.parametrize(
    ("base", "reference", "expected"),
    [
        ("http://a", "b", "http://a/b"),
        ("http://a", "?b", "http://a?b"),
        ("urn:x:y", "z", "urn:z"),
        ("tag:example/foo/", "../../a", "tag:a"),
        ("http://a/b/../c", "#d", "http://a/b/../c#d"),
        ("http://a/b/../c/d", "e", "http://a/c/e"),
        ("http://a/b", "//c/d/../e", "http://c/e"),
        ("http://a/b", "HTTP://C/d/../e", "HTTP://C/d/../e"),
    ],
)
def test_resolve_against_unusual_base(base: str, reference: str, expected: str) -> None:
    assert resolve(base, reference) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://e.org/é x", "http://e.org/é%20x"),
        ('http://e.org/{a}|"b"^`<>\\', "http://e.org/%7Ba%7D%7C%22b%22%5E%60%3C%3E%5C"),
        ("http://e.org/a#b#c", "http://e.org/a#b%23c"),
        ("http://e.org/a[0]?b[1]#c[2]", "http://e.org/a%5B0%5D?b%5B1%5D#c%5B2%5D"),
        ("http://[::1]:80/a[0]", "http://[::1]:80/a%5B0%5D"),
        ("http://e.org/50%?a=%zz&b=%41", "http://e.org/50%25?a=%25zz&b=%41"),
        ("http://a b/", "http://a%20b/"),
        (" http://e.org/a\n", "http://e.org/a"),
        ("http://e.org/a\tb\nc", "http://e.org/a%09b%0Ac"),
        ("http://e.org/\x7f\x85\ufffd\ue000?\ue000", "http://e.org/%7F%C2%85%EF%BF%BD%EE%80%80?\ue000"),
        ("http://e.org/\ud800", "http://e.org/%EF%BF%BD"),
        ("mailto:Ann Lee <ann@e.org>", "mailto:Ann%20Lee%20%3Cann@e.org%3E"),
    ],
)
def test_check_forbidden_character_is_percent_encoded(text: str, expected: str) -> None:
    found = check(text)
    assert (found.value, found.term, found.is_valid, found.is_repaired) == (expected, f"<{expected}>", True, True)
    assert repair_message(found) == f"not a valid IRI, read as <{expected}>"
    assert not check(expected).is_repaired


@pytest.mark.parametrize(
    "text",
    [
        *("http://e.org", "HTTP://E.ORG/A/../b/./c", "http://e.org/%7Eann/%c3%a9", "http://e.org/日本語?q=é#ü"),
        *(
            "urn:isbn:1",
            "urn:",
            "mailto:a@b",
            "http:a",
            "file:///a",
            "http://u:p@e.org:8080/?a/b?c#d/e?f",
            "http://é.org:/",
        ),
        *("http://[2001:db8::1]/", "http://e.org/\U0001f600", "tag:a,2020:b'(c)*", "data:text/plain;base64,AA=="),
    ],
)
def test_check_valid_iri_stays_as_written(text: str) -> None:
    assert check(text) == (text, f"<{text}>", True, False)


@pytest.mark.parametrize(
    "text", ["", "a", "#a:b", "//x", "1:x", "ä:b", ":x", "http://[bad", "http://e.org:port/", "x y"]
)
def test_check_irreparable_text_is_not_valid(text: str) -> None:
    assert not check(text).is_valid


def test_check_long_reference_equals_short_one() -> None:
    path = "x" * 5_000
    assert resolve_and_check(BASE, f" ../{path} y ").value == f"http://a/b/{path}%20y"
    assert check(f"http://e.org/{path} ").value == f"http://e.org/{path}"


def test_is_absolute_recognizes_schemes() -> None:
    assert [is_absolute(it) for it in ("urn:x", "a+b.c-d:x", "1a:x", ":x", "/a:b", "x")] == [True, True, *[False] * 4]


@settings(deadline=None)
@given(st.text("ab/?#:@.;=&", max_size=12))
def test_join_reverses_split(text: str) -> None:
    assert join(split(text)) == text


_TEXTS = st.text(st.sampled_from("aZ0:/?#[]@!$&'()*+,;=-._~%{}|^` é\xa0\x7f\x85\ue000\ufffd\ufffe😀4"), max_size=8)


@settings(deadline=None, max_examples=500)
@given(st.sampled_from(["http://e.org/", "http://e.org/?", "http://e.org/#", "urn:", "http:"]), _TEXTS)
def test_check_agrees_with_parser_of_store(start: str, rest: str) -> None:
    if start == "http:" and rest.startswith("//"):  # the parser checks IP addresses more strictly than the grammar
        return
    found = check(start + rest)
    if found.is_valid:
        list(ox.parse(f"<urn:s> <urn:p> {found.term} .".encode(), ox.RdfFormat.N_TRIPLES))
    try:
        list(ox.parse(f"<urn:s> <urn:p> <{start}{rest}> .".encode(), ox.RdfFormat.N_TRIPLES))
    except SyntaxError:
        assert found.is_repaired or not found.is_valid
    else:
        assert found.is_valid
        assert not found.is_repaired


def test_split_curie_on_examples_gives_expected_values() -> None:
    assert (
        split_curie("foaf:name"),
        split_curie(":next"),
        split_curie("http://example.org/a:b"),
        split_curie("name"),
    ) == (("foaf", "name"), ("", "next"), None, None)


def test_resolve_and_check_on_examples_gives_expected_values() -> None:
    assert (
        resolve_and_check("http://a/b/c/d;p?q", "../g?y#s").term,
        resolve_and_check("http://a/b/c", " x y ").term,
    ) == ("<http://a/b/g?y#s>", "<http://a/b/x%20y>")


@given(st.text(st.characters(max_codepoint=0x7F)).map("http://".__add__))
@settings(max_examples=300, deadline=None)
def test_grammars_of_ascii_and_unicode_agree_on_ascii(text: str) -> None:
    ascii_only, unicode = iri._ASCII_GRAMMAR, iri._unicode_grammar()
    assert (ascii_only.iri.fullmatch(text) is None) == (unicode.iri.fullmatch(text) is None)
    assert iri._repair(text, ascii_only) == iri._repair(text, unicode)
