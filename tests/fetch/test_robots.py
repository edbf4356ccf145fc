"""robots.txt: from a response to rules."""

from __future__ import annotations

import gzip
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motherlode.fetch import RobotsRules, robots_body, robots_lifetime
from motherlode.fetch.http.response import failure_from_status
from motherlode.fetch.robots import MAX_ROBOTS_BYTES
from motherlode.model import Failure, FailureKind, Page
from motherlode.project import PRODUCT_TOKEN

from ..support import shared

RULES = b"User-agent: *\nDisallow: /private\nAllow: /private/open\nCrawl-delay: 2.5\nSitemap: http://ex.org/map.xml\n"


def test_robots_default_group_applies() -> None:
    rules = RobotsRules(RULES)
    assert rules.allows("http://ex.org/")
    assert not rules.allows("http://ex.org/private/x")
    assert rules.allows("http://ex.org/private/open/x"), "the longest match wins (RFC 9309, 2.2.2)"
    assert (rules.delay, rules.sitemaps) == (2.5, ("http://ex.org/map.xml",))


def test_robots_own_group_wins_over_default() -> None:
    rules = RobotsRules(RULES + f"User-agent: {PRODUCT_TOKEN.upper()}\nDisallow: /only-this\n".encode())
    assert rules.allows("http://ex.org/private/x")
    assert not rules.allows("http://ex.org/only-this")
    assert rules.delay is None


@pytest.mark.parametrize(
    ("pattern", "url", "allowed"),
    [
        ("/*.pdf$", "http://ex.org/a.pdf", False),
        ("/*.pdf$", "http://ex.org/a.pdf?x", True),
        ("/a*c", "http://ex.org/abbbc", False),
        ("/?q=", "http://ex.org/?q=1", False),
        ("/%7Eann", "http://ex.org/~ann", False),
        ("/caf%C3%A9", "http://ex.org/caf%C3%A9", False),
        ("", "http://ex.org/", True),
    ],
)
def test_robots_patterns_match(pattern: str, url: str, *, allowed: bool) -> None:
    assert RobotsRules(f"User-agent: *\nDisallow: {pattern}".encode()).allows(url) == allowed


@pytest.mark.parametrize("start", [b"\xef\xbb\xbf", b"", b"\n\n# comment\n", b"\xff\xfe nonsense\n"])
def test_robots_byte_order_mark_does_not_hide_rules(start: bytes) -> None:
    assert not RobotsRules(start + RULES).allows("http://ex.org/private/x")


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_robots_any_line_end_is_accepted(end: bytes) -> None:
    assert not RobotsRules(RULES.replace(b"\n", end)).allows("http://ex.org/private/x")


@pytest.mark.parametrize("body", [b"", b"<html>not found</html>", b"\x00\x01\x02", b"Disallow: /"])
def test_robots_file_without_rules_allows_everything(body: bytes) -> None:
    rules = RobotsRules(body)
    assert rules.allows("http://ex.org/x")
    assert rules.delay is None


@pytest.mark.parametrize(
    ("value", "delay"),
    [("0", 0.0), ("1.5", 1.5), ("600", 600.0), ("-1", None), ("nan", None), ("inf", None), ("x", None)],
)
def test_robots_crawl_delay_is_read(value: str, delay: float | None) -> None:
    assert RobotsRules(f"User-agent: *\nCrawl-delay: {value}".encode()).delay == delay


@pytest.mark.parametrize("end", [b"\n", b"\r"])
def test_robots_long_file_is_cut_between_lines(end: bytes) -> None:
    """Half a rule could forbid everything."""
    start = b"User-agent: *" + end + b"Disallow: /first" + end
    filler = b"#" * (MAX_ROBOTS_BYTES - len(start) - len(b"Disallow: /") - 1) + end
    body = start + filler + b"Disallow: /last" + end
    rules = RobotsRules(body)
    assert rules.allows("http://ex.org/other")
    assert not rules.allows("http://ex.org/first")
    kept = robots_body(Page(url="http://ex.org/robots.txt", status=200, body=body))
    assert kept is not None
    assert len(kept) <= MAX_ROBOTS_BYTES
    assert kept.endswith(end)


def test_robots_utf16_with_mark_is_decoded() -> None:
    assert not RobotsRules(RULES.decode().encode("utf-16")).allows("http://ex.org/private/x")


def test_robots_txt_itself_is_always_allowed() -> None:
    rules = RobotsRules(b"User-agent: *\nDisallow: /")
    assert rules.allows("http://ex.org/robots.txt")
    assert not rules.allows("http://ex.org/robots.txt.bak")


def test_robots_body_of_page_is_its_content() -> None:
    assert robots_body(Page(url="http://ex.org/robots.txt", status=200, body=RULES)) == RULES


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        (gzip.compress(RULES), RULES),
        (gzip.compress(RULES)[:-12], RULES[: len(RULES) // 2]),
        (b"\x1f\x8bno gzip", b"\x1f\x8bno gzip"),
        (gzip.compress(b"#\n" * MAX_ROBOTS_BYTES), b"#\n" * (MAX_ROBOTS_BYTES // 4)),
    ],
    ids=["whole", "cut", "other", "bomb"],
)
def test_robots_compressed_file_is_decompressed(body: bytes, kept: bytes) -> None:
    found = robots_body(Page(url="http://ex.org/robots.txt", status=200, body=body))
    assert found is not None
    assert found.startswith(kept)
    assert len(found) <= MAX_ROBOTS_BYTES


@pytest.mark.parametrize("kind", FailureKind, ids=lambda kind: kind.value)
def test_robots_body_of_failure_follows_standard(kind: FailureKind) -> None:
    """RFC 9309, 2.3.1: unavailable (4xx, a redirect to nowhere) allows all; unreachable allows nothing for now."""
    unavailable = {
        *(FailureKind.NOT_FOUND, FailureKind.FORBIDDEN, FailureKind.CLIENT_ERROR, FailureKind.REDIRECT_BROKEN),
    }
    found = robots_body(Failure(url="http://ex.org/robots.txt", kind=kind))
    assert found == (b"" if kind in unavailable else None)


@pytest.mark.parametrize(
    ("status", "found"), [(407, None), (408, b""), (421, b""), (425, b""), (429, None), (500, None), (503, None)]
)
def test_robots_body_of_retried_status_is_none(status: int, found: bytes | None) -> None:
    failure = failure_from_status("http://ex.org/robots.txt", status, {})
    assert failure is not None
    assert robots_body(failure) == found


@pytest.mark.parametrize("before", [b"\xef\xbb\xbf", b"\xef\xbb\xbf" * 2, b"User-agent: x\nAllow: /\n\xef\xbb\xbf"])
def test_robots_byte_order_marks_inside_file_are_ignored(before: bytes) -> None:
    assert not RobotsRules(before + RULES).allows("http://ex.org/private/x")


def test_robots_hostile_patterns_match_quickly() -> None:
    body = b"User-agent: *\n" + b"Disallow: /" + b"*a" * 200 + b"*b$\n" * 20
    assert RobotsRules(body).allows("http://ex.org/" + "a" * 4000)


@pytest.mark.parametrize(
    ("name", "cases", "floor"), [("google-robotstxt.json", 72, 62), ("crawler-commons.json", 234, 222)]
)
def test_robots_public_test_suites_pass(name: str, cases: int, floor: int) -> None:
    """Cases that follow RFC 9309 and match whole product tokens, with our token instead of each case's agent.

    The replacement also changes the subject of some cases. Without it, two more cases of crawler-commons pass.
    """
    chosen = json.loads(shared("conformance", "robots", name).read_bytes())
    chosen = [case for case in chosen if not case.get("google_only") and case.get("exact_agent", True)]
    right = 0
    for case in chosen:
        robots = case["robots"].replace(case["agent"], PRODUCT_TOKEN) if case["agent"] else case["robots"]
        right += RobotsRules(robots.encode("utf-8", "surrogateescape")).allows(case["url"]) == case["allowed"]
    assert len(chosen) == cases
    assert right >= floor


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 86_400.0),
        ({"cache-control": "public"}, 86_400.0),
        ({"cache-control": "public, Max-Age=7200"}, 7200.0),
        ({"cache-control": 'max-age="60"'}, 60.0),
        ({"cache-control": "max-age=7200", "age": "200"}, 7000.0),
        ({"cache-control": "max-age=10", "age": "200"}, 0.0),
        ({"cache-control": "max-age=10", "age": "\u00b2"}, 10.0),
        ({"cache-control": "max-age=31536000"}, 86_400.0),
        ({"cache-control": "s-maxage=5"}, 86_400.0),
        ({"cache-control": "no-cache"}, 0.0),
        ({"cache-control": "private, no-store, max-age=900"}, 0.0),
        ({"cache-control": "max-age=soon"}, 86_400.0),
    ],
)
def test_robots_lifetime_follows_cache_control_up_to_a_day(headers: dict[str, str], seconds: float) -> None:
    assert robots_lifetime(Page(url="http://ex.org/robots.txt", status=200, headers=headers)) == seconds
    assert robots_lifetime(Failure(url="x", kind=FailureKind.NOT_FOUND, status=404, headers=headers)) == seconds


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-16", "utf-8-sig"])
def test_robots_rules_of_any_writer_are_read(encoding: str) -> None:
    rules = RobotsRules("User-agent: *\r\nDisallow: /no\r\n".encode(encoding))
    assert [rules.allows(f"http://ex.org{path}") for path in ("/no", "/yes")] == [False, True]


Group = tuple[list[str], list[tuple[str, str]]]
AGENTS = st.sampled_from(["*", "motherlode", "MotherLode", "mother", "motherlode-news", "otherbot"])
PATHS = st.sampled_from(["", "/", "/a", "/a/b", "/b"])
GROUPS: st.SearchStrategy[list[Group]] = st.lists(
    st.tuples(
        st.lists(AGENTS, min_size=1, max_size=3),
        st.lists(st.tuples(st.sampled_from(["Allow", "disallow"]), PATHS), min_size=1, max_size=3),
    ),
    max_size=4,
)


def by_the_standard(groups: list[Group], path: str) -> bool:
    """A reference implementation of RFC 9309, 2.2: the groups for us, else those for `*`. The longest path decides."""
    ours = [rules for agents, rules in groups if "motherlode" in [agent.lower() for agent in agents]]
    every = [rules for agents, rules in groups if "*" in agents]
    rules = [rule for found in ours or every for rule in found if rule[1] and path.startswith(rule[1])]
    return max([(0, True), *((len(start), name == "Allow") for name, start in rules)])[1]


@settings(deadline=None)
@given(GROUPS, st.sampled_from(["\n", "\r\n", "\r"]), st.sampled_from(["", " # why", "\t"]), PATHS)
def test_robots_whole_files_follow_standard(groups: list[Group], end: str, after: str, path: str) -> None:
    lines = [
        f"{name}: {value}{after}"
        for agents, rules in groups
        for name, value in [*(("User-agent", agent) for agent in agents), *rules]
    ]
    body = end.join(["# of our site", "", *lines, "Sitemap: http://ex.org/map.xml", "of no meaning"]).encode()
    path = path or "/c"
    assert RobotsRules(body).allows(f"http://ex.org{path}") == by_the_standard(groups, path)
