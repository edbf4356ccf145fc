"""URLs of crawler traps, and honest ones that look similar."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motherlode.www import traps
from motherlode.www.traps import has_repetition, trap_reason, url_pattern
from motherlode.www.urls import canonical

from .corpus import corpus_urls

NOW = 2026
REASONS = {
    *("", traps.LONG, traps.DEEP, traps.REPEATED),
    *(traps.MANY_PARAMETERS, traps.SAME_PARAMETER, traps.CALENDAR),
}


def reason(path: str) -> str:
    return trap_reason("http://example.org" + path, year_now=NOW)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/" + "a" * 2000, traps.LONG),
        ("/" + "/".join(f"x{n}" for n in range(17)), traps.DEEP),
        ("/a/a/a", traps.REPEATED),
        ("/shop/a/a/a/b?x=1", traps.REPEATED),
        ("/a/b/a/b/a/b/", traps.REPEATED),
        ("/x/a/b/c/a/b/c/a/b/c", traps.REPEATED),
        ("/a/1/a/2/a/3/a", traps.REPEATED),
        ("/a/1/a/1/a/1", traps.REPEATED),
        ("/?" + "&".join(f"p{n}=1" for n in range(13)), traps.MANY_PARAMETERS),
        ("/filter?f=a&f=b&f=c&f=d&f=e", traps.SAME_PARAMETER),
        ("/calendar/2057-01", traps.CALENDAR),
        ("/calendar/9999/12", traps.CALENDAR),
        ("/events/day/2060/1/2", traps.CALENDAR),
        ("/2105/03/02/", traps.CALENDAR),
        ("/x/3000-03-02", traps.CALENDAR),
        ("/calendar/1200-05", traps.CALENDAR),
        ("/cal?date=2090-01-01", traps.CALENDAR),
        ("/cal/2090/1", traps.CALENDAR),
        ("/cal?view=1&start_date=20900101", traps.CALENDAR),
        ("/cal?Month=3&Year=2100", traps.CALENDAR),
        ("/cal?y=1066&m=10", traps.CALENDAR),
    ],
)
def test_trap_reason_of_traps(path: str, expected: str) -> None:
    assert reason(path) == expected


@pytest.mark.parametrize(
    "path",
    [
        *("/", "", "/a/a/b", "/a/a", "/2001/01/01/01", "/01/01/01", "/tiles/1/1/1/1", "/a/x/a/y/a"),
        "/" + "/".join(f"x{n}" for n in range(16)),
        "/" + "/".join(f"x{n}" for n in range(16)) + "/",
        "/x?u=http://a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s/t/a/a/a",
        "/?" + "&".join(f"p{n}=1" for n in range(12)),
        "/filter?f=a&f=b&f=c&f=d",
        *("/1789/07/14/bastille", "/calendar/2056-12", "/2026/11/15/", "/archive/1851-05-01", "/calendar/1605-01"),
        *("/article/view/4180/10", "/article/view/1234/10/12", "/article/view/4180/10/12", "/part/4180-10"),
        *("/map?x=3000&y=4000&w=256", "/?date=1700000000", "/?updated=3000", "/?year=3000", "/rfc/9309/01"),
        *("/calendar/20570-01", "/isbn/9780-11-22x/calendar", "/?day=9999", "/events/123456/1"),
    ],
)
def test_trap_reason_of_honest_urls_is_empty(path: str) -> None:
    assert reason(path) == ""


def test_trap_reason_of_corpus_urls_is_empty() -> None:
    refused = [(why, url) for url in corpus_urls() if (why := trap_reason(canonical(url) or "", year_now=NOW))]
    assert not refused


def test_trap_reason_years_count_from_now() -> None:
    assert trap_reason("http://example.org/calendar/2057-01", year_now=2027) == ""


SEGMENTS = st.lists(st.sampled_from(["a", "b", "c", "1"]), max_size=9)


def in_circles(segments: list[str]) -> bool:
    """A simple reference implementation."""
    if any(segments.count(word) > traps.MAX_IN_ALL for word in "abc"):
        return True
    for size in range(1, 4):
        for at in range(len(segments)):
            group = segments[at : at + size]
            if group * 3 == segments[at : at + 3 * size] and set(group) != {"1"} and len(group) == size:
                return True
    return False


@settings(deadline=None)
@given(SEGMENTS)
def test_has_repetition_finds_only_repeated_groups(segments: list[str]) -> None:
    assert has_repetition(segments) == in_circles(segments)


@settings(deadline=None)
@given(st.text(alphabet="a1/?&=-02date", max_size=60))
def test_trap_reason_accepts_any_url(rest: str) -> None:
    assert trap_reason("http://example.org/" + rest, year_now=NOW) in REASONS


@pytest.mark.parametrize("piece", ["2099-", "/2099/", "?date=", "&y=", "1", "month", "a/"])
def test_trap_reason_is_fast(piece: str) -> None:
    url = ("http://example.org/?" + piece * 2000)[:2000]
    began = time.process_time()
    for _ in range(100):
        trap_reason(url, year_now=NOW)
    assert time.process_time() - began < 2


def test_url_pattern_on_examples_gives_expected_values() -> None:
    assert (
        url_pattern("http://example.org/list/12?page=3&order=up"),
        url_pattern("http://example.org/s/9f0c2ae41b7d/cart"),
    ) == ("http://example.org/list/0?page=&order=", "http://example.org/s/0/cart")
