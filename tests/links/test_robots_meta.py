"""Directives of pages for crawlers."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest

from motherlode.links.robots_meta import header_directives, robots_directives
from motherlode.model import CrawlerDirectives
from tests.www.pages import document


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<p>robots", set()),
        ("<meta name=robots content='index, follow'>", set()),
        ("<META NAME=Robots CONTENT=NOINDEX>", {"noindex"}),
        ("<meta name=robots content=noindex><meta name=robots content=nofollow>", {"noindex", "nofollow"}),
        ("<meta name=robots content=none>", {"noindex", "nofollow"}),
        ("<meta name=motherlode content=nofollow>", {"nofollow"}),
        ("<meta name=otherbot content=nofollow>", set()),
        ("<meta name=robots content='noindex;nofollow'>", {"noindex", "nofollow"}),
        ("<meta name=robots content=index><meta name=motherlode content=noindex>", {"noindex"}),
        ("<meta name=robots content='max-snippet:-1, noarchive,nosnippet , NoFollow'>", {"nofollow"}),
        ("<meta name=robots content='max-image-preview:none, unavailable_after_all, no-index'>", set()),
        ("<meta/name='robots'/content='noindex'>", {"noindex"}),
        ("<meta data-note='a > b' name=robots content=noindex>", {"noindex"}),
        ("<body><meta name=' robots ' content=noindex>", {"noindex"}),
        ("<!-- <meta name=robots content=noindex> -->", set()),
    ],
)
def test_robots_directives_of_meta_elements(markup: str, expected: set[str]) -> None:
    assert set(robots_directives(document(markup)).text.split()) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("", set()),
        ("NoIndex", {"noindex"}),
        ("noindex; nofollow", {"noindex", "nofollow"}),
        ("otherbot: noindex, nofollow", set()),
        ("otherbot: noindex, , nofollow", {"nofollow"}),
        ("otherbot: noindex, , motherlode: nofollow", {"nofollow"}),
        ("otherbot: noindex, , thirdbot: nofollow", set()),
        ("max-snippet:-1, max-image-preview:large, nofollow", {"nofollow"}),
        ("max-of-the-future: 3, noindex", {"noindex"}),
        (" , NOARCHIVE ,, noindex ,", {"noindex"}),
        ("motherlode: noindex", {"noindex"}),
        ("Motherlode : NoFollow, otherbot: noindex", {"nofollow"}),
        ("motherlode/2.0: noindex", {"noindex"}),
        ("motherlode-news: noindex", set()),
        ("*: noindex", {"noindex"}),
        ("robots: none", {"noindex", "nofollow"}),
        ("otherbot:noindex,motherlode:nofollow", {"nofollow"}),
    ],
)
def test_header_directives_of_x_robots_tag(value: str, expected: set[str]) -> None:
    assert set(header_directives(value).text.split()) == expected


THEN = datetime(2031, 6, 25, 15, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("unavailable_after: Wed, 25 Jun 2031 15:00:00 GMT, noindex", CrawlerDirectives(noindex=True, ends_at=THEN)),
        (
            "nofollow, unavailable_after: Wednesday, 25-Jun-31 15:00:00 UTC",
            CrawlerDirectives(nofollow=True, ends_at=THEN),
        ),
        ("UNAVAILABLE_AFTER:2031-06-25T15:00:00Z", CrawlerDirectives(ends_at=THEN)),
        ("unavailable_after: 25 Jun 2031 10:00:00 EST", CrawlerDirectives(ends_at=THEN)),
        ("unavailable_after: 2031-07-25, , unavailable_after: 2031-06-25T15:00", CrawlerDirectives(ends_at=THEN)),
        ("unavailable_after: when it is over, nofollow", CrawlerDirectives(nofollow=True)),
    ],
)
def test_unavailable_after_sets_end_date(value: str, expected: CrawlerDirectives) -> None:
    assert header_directives(value) == expected
    assert header_directives(f"motherlode: {value}") == expected
    assert robots_directives(document(f'<meta name="robots" content="{value}">')) == expected


@pytest.mark.parametrize(
    "value",
    ["otherbot: unavailable_after: Wed, 25 Jun 2031 15:00:00 GMT", "otherbot: noindex, unavailable_after: 2031-06-25"],
)
def test_unavailable_after_for_other_crawler_is_ignored(value: str) -> None:
    assert header_directives(value) == CrawlerDirectives()


def test_robots_directives_many_dates_are_bounded() -> None:
    meta = '<meta name="robots" content="' + "unavailable_after: 25 Jun 2031 15:00," * 1000 + '">'
    began = time.process_time()
    assert robots_directives(document("<meta name=robots content=noindex>" + meta * 250)).noindex
    assert header_directives("unavailable_after: 25 Jun 2031 15:00," * 100_000).ends_at == THEN
    assert time.process_time() - began < 2.0
