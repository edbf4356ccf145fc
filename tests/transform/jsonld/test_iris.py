"""RFC 3986 by its own examples (section 5.4), and what is an IRI at all."""

from __future__ import annotations

import pytest

from motherlode.transform.jsonld.iris import is_absolute, resolve, well_formed

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
}


@pytest.mark.parametrize(("reference", "expected"), RFC_3986.items())
def test_references_resolve_as_in_the_rfc(reference: str, expected: str) -> None:
    assert resolve(BASE, reference) == expected


def test_an_authority_without_a_path_gets_one() -> None:
    assert resolve("http://a", "b") == "http://a/b"
    assert resolve("urn:x:y", "z") == "urn:z"


@pytest.mark.parametrize("text", ["", "a", "#a:b", "//x", "1:x", "ä:b", ":x"])
def test_what_has_no_scheme_is_not_absolute(text: str) -> None:
    assert not is_absolute(text)


@pytest.mark.parametrize(
    "text",
    [
        "http://a/ b",
        "http://a/{x}",
        "http://a/\\",
        "http://a/#b#c",
        "rel",
        "http://a/\ud800",
        "http://a/" + "x" * 70_000,
    ],
)
def test_ill_formed_iris_have_no_term(text: str) -> None:
    assert well_formed(text) is None
