"""Scopes as users write them."""

from __future__ import annotations

import msgspec
import pytest

from motherlode.www.urls import OUT_OF_SCOPE, ScopeRule, scope_rule

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
def test_scope_accepts_and_rejects_urls(spec: str, url: str, *, inside: bool) -> None:
    assert scope_rule(spec, SEEDS).scope()(url) == ("" if inside else OUT_OF_SCOPE)


def test_scope_invalid_expression_raises_value_error() -> None:
    with pytest.raises(ValueError, match=r"host, pld, web or a regular expression; '\(' is not valid"):
        scope_rule("(", SEEDS)


@pytest.mark.parametrize("spec", ["web", "host", "pld", r"https?://www\."])
def test_scope_rule_survives_serialization(spec: str) -> None:
    rule = scope_rule(spec, SEEDS)
    sent = msgspec.msgpack.decode(msgspec.msgpack.encode(rule), type=ScopeRule)
    assert sent == rule
    assert rule.is_everything == (spec == "web")
    for url in ("http://www.example.co.uk/b", "http://example.org/", "http://far.example/"):
        assert sent.scope()(url) == scope_rule(spec, SEEDS).scope()(url)


@pytest.mark.parametrize("spec", ["hosts", "domain", "HOST", "site1"])
def test_scope_word_that_no_url_starts_with_raises_value_error(spec: str) -> None:
    with pytest.raises(ValueError, match=f"no URL begins with '{spec}'"):
        scope_rule(spec, SEEDS)


@pytest.mark.parametrize("spec", ["http", "https", "h", r"http.*example", ".*"])
def test_scope_expression_that_starts_like_url_is_accepted(spec: str) -> None:
    assert scope_rule(spec, SEEDS).scope()("https://www.example.co.uk/b") == ""


@pytest.mark.parametrize(
    ("seed", "url", "inside"),
    [
        ("http://127.0.0.1:8080/", "http://127.0.0.1:9090/", True),
        ("http://127.0.0.1/", "http://127.0.0.2/", False),
        ("http://[::1]:8080/", "http://[::1]/", True),
        ("http://localhost/", "http://a.localhost/", False),
        ("http://ann.github.io/", "http://bob.github.io/", False),
        ("http://github.io/", "http://ann.github.io/", False),
        ("http://www.xn--55qx5d.cn/", "http://shop.www.xn--55qx5d.cn/", True),
        ("http://a.xn--55qx5d.cn/", "http://b.xn--55qx5d.cn/", False),
    ],
)
def test_registrable_domain_of_odd_hosts(seed: str, url: str, *, inside: bool) -> None:
    assert (scope_rule("pld", [seed]).scope()(url) == "") == inside
