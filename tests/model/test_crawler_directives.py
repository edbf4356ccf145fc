"""Robots directives of pages can be combined, and can be read from the log."""

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
def test_directives_text_and_read_are_inverse(asked: CrawlerDirectives) -> None:
    assert CrawlerDirectives.read(asked.text) == asked
    assert asked | NO_DIRECTIVES == asked == NO_DIRECTIVES | asked


def test_directives_text_of_earlier_versions_is_parsed() -> None:
    assert CrawlerDirectives.read("nofollow noindex none") == CrawlerDirectives(noindex=True, nofollow=True)


def test_combined_directives_have_the_earlier_end() -> None:
    assert (CrawlerDirectives(ends_at=5.0) | CrawlerDirectives(ends_at=3.0)).ends_at == 3.0
    assert [CrawlerDirectives(ends_at=3.0).may_be_kept(at) for at in (2.9, 3.0)] == [True, False]
    assert not CrawlerDirectives(noindex=True, ends_at=3.0).may_be_kept(1.0)
