"""Names of hosts as users write them."""

from __future__ import annotations

import pytest

from motherlode.crawler.config.host_patterns import normalize_host


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("Example.ORG", "example.org"),
        ("example.org.", "example.org"),
        ("faß.example", "xn--fa-hia.example"),
        ("例え.テスト", "xn--r8jz45g.xn--zckzah"),
        ("_srv.example", "_srv.example"),
        ("127.1", "127.0.0.1"),
        ("[0:0::1]", "[::1]"),
    ],
)
def test_names_get_their_canonical_form(given: str, name: str) -> None:
    assert normalize_host(given) == name


@pytest.mark.parametrize(
    "given",
    ["", "*", "*.example", "a b", "a/b", "a?b", "a#b", "a:80", "ann@a", "a%2eb", "a\\b", "[::1", "[::1]:80", "ü*"],
)
def test_more_or_less_than_a_name_is_refused(given: str) -> None:
    assert normalize_host(given) is None
