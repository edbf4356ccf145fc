"""Rounds of an endless refresh: which pages are queued."""

from __future__ import annotations

import msgspec

from motherlode.crawler.recrawl.revisits import DAY_SECONDS
from motherlode.model import Link, LinkSource, Visit
from tests.crawler.recrawl.test_revisits import A, B, Crawl


def test_round_with_a_limit_queues_the_hub_page_with_new_relevant_links_first() -> None:
    crawl = Crawl()
    crawl.visited(A, B)
    for number, parent in enumerate((A, A, B, B), start=3):
        child = Visit(number=number, url=f"{parent}/{number}", host="x", parent_url=parent, relevant=parent == B)
        crawl.storage.append_visit(number, msgspec.msgpack.encode(child))
    assert crawl.revisits.begin_round(5 * DAY_SECONDS, most=1) == 1
    assert crawl.next(5 * DAY_SECONDS).url == B
    hub = crawl.memory(B)
    assert (hub.children, hub.relevant_children) == (2, 2)


def test_round_without_a_limit_queues_only_due_pages() -> None:
    crawl = Crawl()
    crawl.visited(A, B)
    assert crawl.revisits.begin_round(DAY_SECONDS) == 0
    assert crawl.revisits.begin_round(30 * DAY_SECONDS) == 2
    assert crawl.revisits.begin_round(30 * DAY_SECONDS) == 0, "both wait already"


def test_pages_with_a_later_lastmod_are_queued_for_a_revisit() -> None:
    crawl = Crawl()
    crawl.visited(A, B)
    crawl.revisits.begin(DAY_SECONDS, due_only=True)
    links = [
        Link(url=A, source=LinkSource.SITEMAP, modified=5.0),
        Link(url=B, source=LinkSource.SITEMAP, modified=-5.0),
        Link(url="http://a.example/unknown", source=LinkSource.SITEMAP, modified=5.0),
    ]
    assert crawl.revisits.queue_modified(links) == 1
    assert crawl.next(DAY_SECONDS).url == A
