"""The summary of a policy."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from motherlode.crawler import CrawlFolder, Job
from motherlode.crawler.explain.policy_summary import read_policy_summary
from tests.crawler.small_web import crawled, small_web


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> CrawlFolder:
    """A crawl that was stopped, so that some URLs are waiting."""
    place = tmp_path_factory.mktemp("summary")
    return crawled(place / "out", small_web(place / "web.warc.gz"), pages=14, policy="motherlode", scope="web")[0]


def test_summary_has_arms_with_probability_and_examples(folder: CrawlFolder) -> None:
    found = read_policy_summary(folder, most=5)
    assert found.name == "motherlode"
    assert found.waiting > 0
    assert 0 < len(found.arms) <= 5
    values = [arm.value for arm in found.arms if arm.value is not None]
    assert values == sorted(values, reverse=True)
    for arm in found.arms:
        assert arm.probability is not None and 0 <= arm.probability <= 1
        assert arm.uncertainty is not None and arm.uncertainty > 0
        assert "\t" not in arm.name
    visited = [example for arm in found.arms for example in arm.examples]
    assert all(example.relevant == ("/item/" in example.url) for example in visited)
    assert found.tables


def test_summary_of_shards_sums_their_queues_and_ranks_their_arms(folder: CrawlFolder, tmp_path: Path) -> None:
    whole = CrawlFolder(tmp_path / "out")
    whole.create(Job(seeds=("http://a.example/",), policy="motherlode", shards=2))
    whole.unlock()
    for number in range(2):
        shutil.copytree(folder.path, whole.path / "shards" / f"{number:04d}")
    one, both = read_policy_summary(folder, most=3), read_policy_summary(whole, most=3)
    assert both.waiting == 2 * one.waiting
    assert [arm.value for arm in both.arms[:2]] == [one.arms[0].value] * 2


def test_summary_before_the_start_is_empty(tmp_path: Path) -> None:
    folder = CrawlFolder(tmp_path / "out")
    folder.create(Job(seeds=("http://a.example/",)))
    folder.unlock()
    found = read_policy_summary(folder, most=3)
    assert (found.waiting, found.arms) == (0, ())


def test_summary_of_policy_without_probabilities_has_no_values(tmp_path: Path) -> None:
    folder, _ = crawled(tmp_path / "out", small_web(tmp_path / "web.warc.gz"), pages=5, policy="bfs")
    found = read_policy_summary(folder, most=3)
    assert found.arms
    assert {arm.probability for arm in found.arms} == {None}
