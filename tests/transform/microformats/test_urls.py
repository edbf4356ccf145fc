from __future__ import annotations

import pytest

from motherlode.transform.microformats.urls import base_of, iri_of, resolve, tag_of

from .pages import document


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("", "http://e.org/a/b"),
        (" c ", "http://e.org/a/c"),
        ("http://x.org", "http://x.org"),
        ("mailto:a@b", "mailto:a@b"),
        ("geo:1,2", "geo:1,2"),
        ("//x.org/y", "http://x.org/y"),
        ("//[", "//["),
        ("?q", "http://e.org/a/b?q"),
    ],
)
def test_references_are_made_absolute(reference: str, expected: str) -> None:
    assert resolve("http://e.org/a/b", reference) == expected


def test_the_first_base_counts_and_is_itself_resolved() -> None:
    assert base_of(document('<base target="x"><base href="/d/"><base href="/e/">')) == "http://example.org/d/"
    assert base_of(document("<p>")) == "http://example.org/page"


def test_terms_of_addresses() -> None:
    assert iri_of("http://e.org/a b") == "<http://e.org/a%20b>"
    assert iri_of("http://a b/") is None


def test_tags() -> None:
    assert tag_of("http://e.org/tag/a+b%C3%A9/") == "a bé"
    assert tag_of("http://e.org/") == ""
