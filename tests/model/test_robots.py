"""Wishes of pages add up, and survive the log."""

from __future__ import annotations

import pytest

from motherlode.model import NO_DIRECTIVES, CrawlerDirectives

ALL = [
    NO_DIRECTIVES,
    CrawlerDirectives(noindex=True),
    CrawlerDirectives(nofollow=True),
    CrawlerDirectives(noindex=True, nofollow=True, ends_at=1_940_166_000.0),
    CrawlerDirectives(ends_at=-5.0),
]


@pytest.mark.parametrize("asked", ALL)
def test_words_say_all_of_it(asked: CrawlerDirectives) -> None:
    assert CrawlerDirectives.read(asked.text) == asked
    assert asked | NO_DIRECTIVES == asked == NO_DIRECTIVES | asked


def test_the_words_of_earlier_versions_are_understood() -> None:
    assert CrawlerDirectives.read("nofollow noindex none") == CrawlerDirectives(noindex=True, nofollow=True)


def test_of_two_days_the_earlier_counts() -> None:
    assert (CrawlerDirectives(ends_at=5.0) | CrawlerDirectives(ends_at=3.0)).ends_at == 3.0
    assert [CrawlerDirectives(ends_at=3.0).may_be_kept(at) for at in (2.9, 3.0)] == [True, False]
    assert not CrawlerDirectives(noindex=True, ends_at=3.0).may_be_kept(1.0)
