"""The estimate for a breadth-first crawl."""

from __future__ import annotations

from pathlib import Path

import pytest

from motherlode.crawler import read_stats
from motherlode.crawler.explain import breadth_first
from motherlode.crawler.explain.breadth_first import breadth_first_curve, estimate_breadth_first, sum_expectations
from tests.crawler.small_web import crawled, small_web


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(breadth_first, "_MIN_FETCHED", 1)


def test_estimate_of_complete_crawl_is_the_truth(tmp_path: Path, few: None) -> None:
    folder, totals = crawled(tmp_path / "out", small_web(tmp_path / "web.warc.gz"), policy="motherlode")
    points = estimate_breadth_first(folder, fetched=totals.fetched)
    assert points[-1][1] == totals.relevant == 12
    assert points[0] == (1, 0), "the home page comes first, and is not relevant"
    assert [fetched for fetched, _ in points] == sorted(fetched for fetched, _ in points)


def test_estimate_counts_waiting_urls_by_their_probability(tmp_path: Path, few: None) -> None:
    folder, totals = crawled(
        tmp_path / "out", small_web(tmp_path / "web.warc.gz"), pages=8, policy="motherlode", scope="web"
    )
    points = estimate_breadth_first(folder, fetched=25)
    assert totals.relevant < 12
    assert points[-1][0] == 25
    assert totals.relevant < points[-1][1] < 25


def test_there_is_no_estimate_without_probabilities_requests_or_bounds(
    tmp_path: Path, few: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    web = small_web(tmp_path / "web.warc.gz")
    plain, _ = crawled(tmp_path / "plain", web, policy="random")
    assert estimate_breadth_first(plain, fetched=10) == ()
    folder, _ = crawled(tmp_path / "out", web, policy="motherlode")
    assert breadth_first_curve(folder, read_stats(folder)).points
    assert estimate_breadth_first(folder, fetched=0) == ()
    monkeypatch.setattr(breadth_first, "MAX_URLS", 5)
    assert estimate_breadth_first(folder, fetched=10) == ()


def test_sum_of_shards_ends_with_all_urls() -> None:
    assert sum_expectations([[0.5, 1.0], [0.0, 0.0, 0.0, 1.0]], 99)[-1] == (6, 2)
    assert sum_expectations([], 5) == ()
