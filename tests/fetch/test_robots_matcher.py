"""Matching of robots.txt patterns."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motherlode.fetch.robots import Matcher, normalize_path, normalize_pattern


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("/~ann", "/%7Eann"),
        ("/~ann", "/%7eann"),
        ("/café", "/caf%c3%a9"),
        ("/a b", "/a%20b"),
        ("/a|b", "/a%7Cb"),
        ("/x[1]", "/x%5B1%5D"),
        ("/it's", "/it%27s"),
        ("/100%", "/100%25"),
        ("/$5/", "/%245/"),
        ("/a?u=http://b/@c", "/a?u=http%3A%2F%2Fb%2F%40c"),
        ("/wiki/Special:Search", "/wiki/Special%3ASearch"),
        ("/@ann/a,b(c)!;d=e&f+g", "/%40ann/a%2Cb%28c%29%21%3Bd%3De%26f%2Bg"),
    ],
)
def test_normalize_path_equates_spellings(one: str, other: str) -> None:
    assert (
        normalize_path("http://ex.org" + one)
        == normalize_path("http://ex.org" + other)
        == normalize_pattern(one)
        == normalize_pattern(other)
    )


@pytest.mark.parametrize(("one", "other"), [("/a/b", "/a%2Fb"), ("/a?b", "/a%3Fb"), ("/?a=1&b", "/?a=1%26b")])
def test_normalize_path_keeps_escaped_delimiters(one: str, other: str) -> None:
    assert normalize_path("http://ex.org" + one) != normalize_path("http://ex.org" + other)


def test_normalize_pattern_non_utf8_bytes_match_themselves() -> None:
    latin = b"/caf\xe9".decode(errors="surrogateescape")
    assert normalize_pattern(latin) == "/caf%E9" == normalize_path("http://ex.org/caf%e9")


def test_matcher_escaped_star_is_literal() -> None:
    rules = Matcher({normalize_pattern("/a-%2A.html"): False})
    assert not rules.allows(normalize_path("http://ex.org/a-*.html"))
    assert not rules.allows(normalize_path("http://ex.org/a-%2a.html"))
    assert rules.allows(normalize_path("http://ex.org/a-b.html"))


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("/a$", "/a", True),
        ("/a$", "/ab", False),
        ("/a*$", "/ab", True),
        ("/a*b$", "/ab", True),
        ("/ab*b$", "/ab", False),
        ("/*b*b$", "/ab", False),
        ("*", "/x", True),
        ("*x$", "/x", True),
        ("$", "/", False),
        ("/**a", "/xa", True),
        ("a", "/a", False),
    ],
)
def test_matcher_wildcards_match(pattern: str, path: str, *, matches: bool) -> None:
    assert Matcher({pattern: False}).allows(path) is not matches


def test_matcher_longest_pattern_wins_and_allow_breaks_ties() -> None:
    rules = Matcher({"/a*c": False, "/abb": False, "/abc": True, "/a*cd": True, "/x*y": True, "/x/y": False})
    assert rules.allows("/abc")
    assert not rules.allows("/abbc")
    assert rules.allows("/axcd")
    assert rules.allows("/x/y")


def by_regex(rules: dict[str, bool], path: str) -> bool:
    """A slow reference implementation of the standard."""
    found = [(0, True)]
    for pattern, allowed in rules.items():
        body = "".join(".*" if c == "*" else re.escape(c) for c in pattern.removesuffix("$"))
        if re.match(body + (r"\Z" if pattern.endswith("$") else ""), path, re.DOTALL):
            found.append((len(pattern), allowed))
    return max(found)[1]


PATTERNS = st.from_regex(r"[/*][ab/*]{0,5}\$?", fullmatch=True)


@settings(deadline=None)
@given(st.dictionaries(PATTERNS, st.booleans(), max_size=6), st.from_regex(r"/[ab/]{0,8}", fullmatch=True))
def test_matcher_agrees_with_regular_expressions(rules: dict[str, bool], path: str) -> None:
    assert Matcher(rules).allows(path) == by_regex(rules, path)


@settings(deadline=None)
@given(st.text(max_size=30))
def test_normalize_accepts_any_text(text: str) -> None:
    assert normalize_path("http://ex.org/" + text).isascii()
    assert normalize_path(text).startswith("/")
    assert normalize_pattern(text).isascii()


def test_matcher_hostile_patterns_are_fast() -> None:
    path = "/" + "a" * 4000
    rules = Matcher({"/" + "*a" * 2000 + "*b": False, "/" + "*a" * 2000 + "*b$": False, "/*" * 2000: False})
    began = time.process_time()
    assert rules.allows(path)
    assert time.process_time() - began < 1, "backtracking would not end"


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("/private/x", "Disallow: /private"),
        ("/private/open/x", "Allow: /private/open"),
        ("/a/b.pdf", "Disallow: /*.pdf$"),
        ("/free", ""),
    ],
)
def test_deciding_rule_is_longest_matching_line(path: str, line: str) -> None:
    matcher = Matcher({"/private": False, "/private/open": True, "/*.pdf$": False})
    assert matcher.deciding_rule(path) == line
    assert matcher.allows(path) is not line.startswith("Disallow")
