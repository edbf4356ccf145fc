"""Wishes of pages add up, and survive the log."""

from __future__ import annotations

import pytest

from motherlode.model import NOTHING_ASKED, Asked

ALL = [
    NOTHING_ASKED,
    Asked(noindex=True),
    Asked(nofollow=True),
    Asked(noindex=True, nofollow=True, ends_at=1_940_166_000.0),
    Asked(ends_at=-5.0),
]


@pytest.mark.parametrize("asked", ALL)
def test_words_say_all_of_it(asked: Asked) -> None:
    assert Asked.read(asked.text) == asked
    assert asked | NOTHING_ASKED == asked == NOTHING_ASKED | asked


def test_the_words_of_earlier_versions_are_understood() -> None:
    assert Asked.read("nofollow noindex none") == Asked(noindex=True, nofollow=True)


def test_of_two_days_the_earlier_counts() -> None:
    assert (Asked(ends_at=5.0) | Asked(ends_at=3.0)).ends_at == 3.0
    assert [Asked(ends_at=3.0).may_be_kept(at) for at in (2.9, 3.0)] == [True, False]
    assert not Asked(noindex=True, ends_at=3.0).may_be_kept(1.0)
