"""When a crawl stops."""

from __future__ import annotations

from pathlib import Path

import pytest

from motherlode.crawler.engine.limits import Budget
from tests.crawler.small_web import crawled, small_web


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_web(tmp_path_factory.mktemp("web") / "web.warc.gz")


def test_without_a_word_there_is_no_limit() -> None:
    budget = Budget()
    assert (budget.pages, budget.seconds, budget.bytes, budget.stop_after) == (None, None, None, None)


@pytest.mark.parametrize(("budget", "most"), [({"bytes": 1}, 1), ({"time": 1e-6}, 1), ({"pages": 2}, 2)])
def test_each_budget_ends_a_crawl_and_what_was_begun_is_finished(
    web: Path, tmp_path: Path, budget: dict[str, float], most: int
) -> None:
    _, totals = crawled(tmp_path / "out", web, **budget)
    assert totals.fetched <= most
    assert totals.fetched == most or "time" in budget
