"""Parsing of robots.txt, and the group for one product token."""

from __future__ import annotations

import time

import pytest

from motherlode.fetch.robots import MAX_DELAY_SECONDS, MAX_LINE_CHARACTERS, parse_robots


def rules(text: str, agent: str = "motherlode") -> dict[str, bool]:
    return parse_robots(text, agent)[0].rules


def test_parse_joins_groups_of_one_agent() -> None:
    text = "User-agent: Motherlode\nDisallow: /a\n\nUser-agent: *\nDisallow: /\n\nUSER-AGENT: MOTHERLODE\nDisallow: /b"
    assert rules(text) == {"/a": False, "/b": False}
    assert rules(text, "other") == {"/": False}


def test_parse_agents_before_first_rule_share_group() -> None:
    text = "User-agent: a\nUser-agent: motherlode\nDisallow: /x\nUser-agent: b\nDisallow: /y"
    assert rules(text) == rules(text, "a") == {"/x": False}
    assert rules(text, "b") == {"/y": False}


@pytest.mark.parametrize("between", ["Sitemap: http://ex.org/s.xml", "Crawl-delay: 3", "Host: ex.org", "", "# note"])
def test_parse_other_lines_do_not_end_group(between: str) -> None:
    assert rules(f"User-agent: motherlode\n{between}\nUser-agent: *\nDisallow: /x") == {"/x": False}


def test_parse_own_group_without_rules_wins_over_default() -> None:
    assert rules("User-agent: *\nDisallow: /\n\nUser-agent: motherlode\nDisallow:") == {}


def test_parse_rules_before_any_agent_are_ignored() -> None:
    assert rules("Disallow: /\nUser-agent: *\nDisallow: /x") == {"/x": False}


def test_parse_pattern_allowed_and_disallowed_is_allowed() -> None:
    assert rules("User-agent: *\nAllow: /x\nDisallow: /x") == {"/x": True}


@pytest.mark.parametrize(
    ("value", "ours"),
    [
        ("motherlode/2.1", True),
        ("Motherlode crawler", True),
        ("motherlode (+http://ex.org)", True),
        ("motherlode2", True),
        ("motherlode-images", False),
        ("mother", False),
        ("xmotherlode", False),
        ("", False),
    ],
)
def test_parse_product_token_matches_exactly(value: str, *, ours: bool) -> None:
    assert (rules(f"User-agent: {value}\nDisallow: /x") == {"/x": False}) is ours


@pytest.mark.parametrize(
    "line",
    [
        *("Disallow : /x", "  disallow:/x  ", "DISALLOW /x", "Disallow\t/x", "Disallow: /x # why", "Disalow: /x"),
        *("Dissallow: /x", "Diasllow: /x", "Dis-allow: /x", "disallows: /x", "Disallow: /x<br>", "<p>Disallow: /x</p>"),
    ],
)
def test_parse_accepts_variants_of_rule(line: str) -> None:
    assert rules(f"User-agent: *\n{line}\n") == {"/x": False}


@pytest.mark.parametrize("line", ["Disallow /x /y", "Disallow", "Noindex: /x", "isallow: /x", "sallow: /x", "Allowed"])
def test_parse_ignores_lines_that_are_no_rule(line: str) -> None:
    assert rules(f"User-agent: *\n{line}\n") == {}


@pytest.mark.parametrize("name", ["User-agent", "useragent", "User agent", "User_Agent", "User-agents", "Usr-agent"])
def test_parse_accepts_variants_of_user_agent(name: str) -> None:
    assert rules(f"{name}: motherlode\nDisallow: /x") == {"/x": False}


def test_parse_only_real_line_ends_end_lines() -> None:
    assert rules("User-agent: *\nDisallow: /a\u2028Disallow: /b\x0bc") == {"/a%E2%80%A8Disallow:%20/b%0Bc": False}


def test_parse_delay_applies_to_agents_named_so_far() -> None:
    text = "User-agent: *\nCrawl-delay: 3\nUser-agent: motherlode\nCrawl-delay: 1\nDisallow: /"
    assert parse_robots(text, "motherlode")[0].delay == 1.0
    assert parse_robots(text, "other")[0].delay == 3.0


@pytest.mark.parametrize(
    ("value", "delay"),
    [("10s", 10.0), (".5", 0.5), ("0,5", 0.5), ("1e9", 1.0), ("9" * 400, MAX_DELAY_SECONDS), ("", None), ("٣", None)],
)
def test_parse_delay_values(value: str, delay: float | None) -> None:
    assert parse_robots(f"User-agent: *\nCrawl-delay: {value}", "x")[0].delay == delay


def test_parse_longest_of_several_delays_counts() -> None:
    assert parse_robots("User-agent: *\nCrawl-delay: 2\nCrawl-delay: 9\nCrawl-delay: 5", "x")[0].delay == 9.0


def test_parse_sitemaps_are_found_anywhere_once() -> None:
    text = "Sitemap: http://a/1\nUser-agent: b\nSITEMAP:http://a/2 # new\nsite-map: http://a/1\nSitemap http://a/3"
    assert parse_robots(text, "x")[1] == ("http://a/1", "http://a/2", "http://a/3")


def test_parse_long_lines_are_cut() -> None:
    (pattern,) = rules("User-agent: *\nDisallow: /" + "a" * 100_000)
    assert len(pattern) < MAX_LINE_CHARACTERS


@pytest.mark.parametrize(
    "text", ["<" * 500_000, "\n".join(f"disalow{n:x}: /" for n in range(40_000)), "Disallow:" * 50_000, ":\n" * 250_000]
)
def test_parse_hostile_files_are_fast(text: str) -> None:
    began = time.process_time()
    parse_robots("User-agent: *\n" + text, "motherlode")
    assert time.process_time() - began < 10
