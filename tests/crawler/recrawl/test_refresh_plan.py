"""Plans of a refresh for the shards of a crawl."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from motherlode.crawler import CrawlFolder, Job
from motherlode.crawler.recrawl.refresh_plan import RefreshKind, RefreshPlan, plan_shards
from motherlode.crawler.recrawl.revisits import DAY_SECONDS
from motherlode.frontier import End, LmdbStorage
from tests.crawler.recrawl.test_revisits import A, B, Crawl

LATER = 30 * DAY_SECONDS


@pytest.fixture
def shards(tmp_path: Path) -> CrawlFolder:
    """A crawl of two shards: the first has visited two pages, one of them relevant, and the second one page."""
    whole = CrawlFolder(tmp_path / "out")
    whole.create(Job(seeds=("http://a.example/",), shards=2))
    for number, (urls, relevant) in enumerate((((A, B), False), (("http://c.example/1",), True))):
        part = CrawlFolder(whole.path / "shards" / f"{number:04d}")
        part.create(Job(seeds=("http://a.example/",)))
        storage = LmdbStorage(part.frontier)
        crawl = Crawl(storage)
        crawl.visited(*urls, relevant=relevant)
        if number == 1:
            crawl.add_links("http://c.example/new")
        crawl.frontier.commit()
        storage.close()
        part.unlock()
    whole.unlock()
    return whole


def test_plan_of_shards_knows_whether_any_of_them_has_new_urls(shards: CrawlFolder) -> None:
    plans = plan_shards(shards, 2, RefreshKind.ALL, LATER)
    assert [plan.only_known for plan in plans] == [True, True]
    assert len({plan.identifier for plan in plans}) == 1
    assert plans[0].identifier != plan_shards(shards, 2, RefreshKind.ALL, LATER)[0].identifier


def test_round_with_allowance_has_the_most_valuable_revisits_of_all_shards(shards: CrawlFolder) -> None:
    plans = plan_shards(shards, 2, RefreshKind.ROUND, LATER, allowance=2)
    assert [plan.most for plan in plans] == [0, 1], (
        "the relevant page comes first, and a new URL needs the other request"
    )
    plans = plan_shards(shards, 2, RefreshKind.ROUND, LATER, allowance=3)
    assert [plan.most for plan in plans] == [1, 1]
    plans = plan_shards(shards, 2, RefreshKind.ROUND, LATER, allowance=3, always=frozenset({A, B}))
    assert [plan.most for plan in plans] == [2, 0], "sitemaps of sources are always due"


def test_round_without_allowance_is_not_limited(shards: CrawlFolder) -> None:
    assert [plan.most for plan in plan_shards(shards, 2, RefreshKind.ROUND, LATER)] == [None, None]


def test_shard_that_is_restarted_does_not_begin_refresh_again() -> None:
    crawl = Crawl()
    crawl.visited(A, B)
    plan = RefreshPlan(kind=RefreshKind.ALL, now=LATER, identifier="x", only_known=False)
    plan.begin(crawl.revisits, crawl.frontier)
    assert crawl.frontier.revisits_left == 2
    lease = crawl.next(LATER)
    crawl.frontier.end(lease, End.FETCHED, LATER, entry=crawl.revisits.entry_before(lease))
    crawl.frontier.commit()
    again = Crawl(crawl.storage)
    plan.begin(again.revisits, again.frontier)
    assert again.frontier.revisits_left == 1, "the page that was revisited is not queued again"
    msgspec.structs.replace(plan, identifier="y").begin(again.revisits, again.frontier)
    assert again.frontier.revisits_left == 2, "another refresh queues it"


def test_rest_of_refresh_leaves_new_urls_alone() -> None:
    crawl = Crawl()
    crawl.visited(A)
    crawl.add_links("http://a.example/new")
    RefreshPlan(kind=RefreshKind.REST, now=LATER).begin(crawl.revisits, crawl.frontier)
    assert crawl.revisits.is_over()
    assert crawl.frontier.lease(LATER) is None
