"""Scopes as users write them."""

from __future__ import annotations

import pytest

from motherlode.frontier import scope_from
from motherlode.frontier.scope import OUT_OF_SCOPE

SEEDS = ["http://www.example.co.uk/a", "https://data.example.org:8080/"]


@pytest.mark.parametrize(
    ("spec", "url", "inside"),
    [
        ("web", "http://anything.example/", True),
        ("host", "https://www.example.co.uk/other", True),
        ("host", "http://example.co.uk/", False),
        ("host", "https://data.example.org:8080/x", True),
        ("host", "https://data.example.org/x", False),
        ("pld", "http://shop.example.co.uk/", True),
        ("pld", "http://other.co.uk/", False),
        ("pld", "http://example.org/", True),
        ("pld", "http://example.org.evil.example/", False),
        (r"https?://[^/]*\.example\.org/", "http://x.example.org/", True),
        (r"https?://[^/]*\.example\.org/", "http://evil.example/?http://x.example.org/", False),
    ],
)
def test_scope(spec: str, url: str, *, inside: bool) -> None:
    assert scope_from(spec, SEEDS)(url) == ("" if inside else OUT_OF_SCOPE)


def test_a_pattern_that_cannot_be_read_is_explained() -> None:
    with pytest.raises(ValueError, match=r"host, pld, web or a regular expression; '\(' is none"):
        scope_from("(", SEEDS)
