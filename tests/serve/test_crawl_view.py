"""Tests of what is read from the folder of a crawl, also of one with shards."""

from __future__ import annotations

import shutil

import pytest

from motherlode.crawler import CrawlFolder, Job
from motherlode.crawler.control import Control, write_control
from motherlode.crawler.explain import breadth_first
from motherlode.serve import crawl_view
from motherlode.serve.crawl_view import CrawlView
from tests.crawler.small_web import crawled, small_web


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> CrawlFolder:
    place = tmp_path_factory.mktemp("view")
    web = small_web(place / "web.warc.gz")
    return crawled(place / "out", web, pages=20, policy="motherlode", scope="web", log_level="info")[0]


@pytest.fixture(scope="module")
def sharded(finished: CrawlFolder, tmp_path_factory: pytest.TempPathFactory) -> CrawlFolder:
    """A crawl of two shards that has not been merged; both are copies of the finished crawl."""
    whole = CrawlFolder(tmp_path_factory.mktemp("sharded") / "out")
    whole.create(Job(seeds=("http://a.example/",), policy="motherlode", shards=2, concurrency=10, delay=2.5))
    whole.unlock()
    for number in range(2):
        shutil.copytree(finished.path, whole.path / "shards" / f"{number:04d}")
    return whole


def test_state_of_finished_crawl_has_end_failures_and_log(finished: CrawlFolder) -> None:
    state = CrawlView(finished).read_state()
    assert not state.is_running and state.ended_at is not None
    assert state.fetched == 20
    assert {row.name for row in state.failures} == set(state.stats.totals.failures)
    assert all(row.examples for row in state.failures)
    assert state.log and "a.example" in state.log[-1]


def test_state_of_shards_is_the_sum_of_all(finished: CrawlFolder, sharded: CrawlFolder) -> None:
    one, both = CrawlView(finished).read_state(), CrawlView(sharded).read_state()
    assert both.fetched == 2 * one.fetched
    assert both.policy.waiting == 2 * one.policy.waiting
    assert (both.concurrency, both.host_delay) == (20, 2.5)
    assert both.report.curves[0].end == (40, 2 * one.stats.totals.relevant)
    assert len(both.report.curves[0].points) > 10, "the curves of the shards are added"
    assert len(CrawlView(sharded).list_pages(limit=100)) == 40
    lines = [line[:19] for line in both.log]
    assert lines == sorted(lines)


def test_running_crawl_is_paused_if_the_user_wishes_it(finished: CrawlFolder) -> None:
    view = CrawlView(finished)
    finished.lock()
    try:
        write_control(finished, Control(is_paused=True, pages=99))
        state = view.read_state()
        assert (state.is_running, state.is_paused, state.page_budget, state.ended_at) == (True, True, 99, None)
    finally:
        finished.unlock()
    assert not view.read_state().is_paused
    write_control(finished, Control())


def test_breadth_first_is_estimated_again_only_after_requests(
    finished: CrawlFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(breadth_first, "_MIN_FETCHED", 1)
    monkeypatch.setattr(crawl_view, "_ESTIMATE_SECONDS", 0.0)
    monkeypatch.setattr(crawl_view, "_ESTIMATE_PAUSE", 0.0)
    view = CrawlView(finished)
    first = view.read_state().report.curves[1]
    assert first.points
    assert view.read_state().report.curves[1] is first, "no request came since"


def test_controls_of_shards_keep_budget_and_end_for_the_driver(sharded: CrawlFolder) -> None:
    write_control(sharded, Control(is_paused=True, is_stopped=True, pages=7))
    parts = [(part.path / "control.json").read_text() for part in sharded.shard_folders()]
    assert parts == ['{"is_paused":true,"is_stopped":false,"pages":null}'] * 2
    assert '"pages":7' in (sharded.path / "control.json").read_text()


def test_unknown_host_and_search_without_words_are_no_errors(finished: CrawlFolder) -> None:
    view = CrawlView(finished)
    assert view.list_pages(limit=5, host="nowhere.example") == []
    assert view.explain("http://nowhere.example/").state == "unknown"
    assert next(iter(view.list_hosts())).name == "a.example", "the host with most relevant pages"
