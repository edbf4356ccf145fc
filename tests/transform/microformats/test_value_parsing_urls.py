from __future__ import annotations

import pytest

from motherlode.transform.microformats.value_parsing import resolve, tag_of


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("", "http://e.org/a/b"),
        (" c ", "http://e.org/a/c"),
        ("http://x.org", "http://x.org"),
        ("mailto:a@b", "mailto:a@b"),
        ("geo:1,2", "geo:1,2"),
        ("//x.org/y", "http://x.org/y"),
        ("//[", "http://["),
        ("?q", "http://e.org/a/b?q"),
    ],
)
def test_references_are_made_absolute(reference: str, expected: str) -> None:
    assert resolve("http://e.org/a/b", reference) == expected


def test_tags() -> None:
    assert tag_of("http://e.org/tag/a+b%C3%A9/") == "a bé"
    assert tag_of("http://e.org/") == ""
