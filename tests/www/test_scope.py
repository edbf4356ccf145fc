"""Scopes as users write them."""

from __future__ import annotations

import msgspec
import pytest

from motherlode.www.scope import OUT_OF_SCOPE, ScopeRule, scope_from, scope_rule

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


@pytest.mark.parametrize("spec", ["web", "host", "pld", r"https?://www\."])
def test_a_rule_is_the_same_after_a_journey(spec: str) -> None:
    rule = scope_rule(spec, SEEDS)
    sent = msgspec.msgpack.decode(msgspec.msgpack.encode(rule), type=ScopeRule)
    assert sent == rule
    assert rule.is_everything == (spec == "web")
    for url in ("http://www.example.co.uk/b", "http://example.org/", "http://far.example/"):
        assert sent.scope()(url) == scope_from(spec, SEEDS)(url)
