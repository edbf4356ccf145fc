import gc
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request
from scrapy.http import HtmlResponse
from scrapy.utils.test import get_crawler

from motherlode.integrations.scrapy import LearningMiddleware, MotherlodeScheduler
from motherlode.integrations.scrapy.request_scheduler import LEASE, LINK, PARENT
from motherlode.model import FailureKind, Outcome
from tests.integrations.scrapy.loopback_site import PRODUCT, page

START = "http://a.example/"


class Harness:
    """Scheduler and middleware of one crawler, without an engine that downloads."""

    def __init__(self, **settings: Any) -> None:
        self.crawler = get_crawler(settings_dict=settings)
        self.middleware = LearningMiddleware.from_crawler(self.crawler)
        self.scheduler = MotherlodeScheduler.from_crawler(self.crawler)
        in_progress: set[Request] = set()
        downloader = SimpleNamespace(get_slot_key=lambda request: "a.example", slots={}, active=())
        self.crawler.engine = SimpleNamespace(
            scheduler=self.scheduler,
            downloader=downloader,
            _slot=SimpleNamespace(inprogress=in_progress),
            scraper=SimpleNamespace(spidermw=SimpleNamespace(middlewares=[self.middleware])),
        )
        self.scheduler.open(None)
        self.outcomes: list[Outcome] = []
        learn = self.scheduler.selector._policy.learn
        self.scheduler.selector._policy.learn = lambda outcome: (self.outcomes.append(outcome), learn(outcome))  # type: ignore[method-assign]

    def fetch(self, body: str, *, status: int = 200, output: tuple[Any, ...] = ()) -> list[Any]:
        """Fetch the next request, let the spider yield `output`, and return what reaches the engine."""
        request = self.scheduler.next_request()
        assert request is not None
        self.crawler.engine._slot.inprogress.add(request)
        headers = {"Content-Type": "text/html"}
        response = HtmlResponse(request.url, status=status, headers=headers, body=body.encode(), request=request)
        self.middleware.process_spider_input(response)
        yielded = list(self.middleware.process_spider_output(response, output))
        for found in yielded:
            if isinstance(found, Request):
                self.scheduler.enqueue_request(found)
        self.crawler.engine._slot.inprogress.discard(request)
        return yielded


def test_relevant_page_is_reported_with_reward_and_links() -> None:
    harness = Harness(MOTHERLODE_TARGET="type:schema:Product")
    harness.scheduler.enqueue_request(Request(START))
    harness.fetch(page("/cups", data=PRODUCT))
    (outcome,) = harness.outcomes
    assert (outcome.url, outcome.relevant, outcome.reward) == (START, True, 1.0)
    assert [link.url for link in outcome.links] == ["http://a.example/cups"]


def test_yielded_request_gets_anchor_and_tag_path_of_its_link() -> None:
    harness = Harness()
    harness.scheduler.enqueue_request(Request(START))
    body = '<main><ul class="cups"><li><a href="/cups">Blue cups</a></li></ul></main>'
    request = Request("http://a.example/cups#top")
    marked: list[Any] = []
    enqueue = harness.scheduler.enqueue_request

    def note(found: Request) -> bool:
        marked.append((found.meta[LINK], found.meta[PARENT]))
        return enqueue(found)

    harness.scheduler.enqueue_request = note  # type: ignore[method-assign]
    harness.fetch(body, output=(request,))
    ((link, _),) = marked
    assert link.anchor == "Blue cups"
    assert "ul.cups li a" in link.tag_path
    assert not request.meta.keys() & {LINK, PARENT}, "the scheduler stores requests without our marks"


def test_links_of_response_without_callback_are_released_with_it() -> None:
    harness = Harness()
    harness.scheduler.enqueue_request(Request(START))
    request = harness.scheduler.next_request()
    response = HtmlResponse(START, body=page("/b").encode(), request=request)
    harness.middleware.process_spider_input(response)
    assert len(harness.middleware._links) == 1
    del response
    gc.collect()
    assert len(harness.middleware._links) == 0


def test_error_status_is_reported_as_failure() -> None:
    harness = Harness()
    harness.scheduler.enqueue_request(Request(START))
    harness.fetch("gone", status=410)
    assert [outcome.failure for outcome in harness.outcomes] == [FailureKind.NOT_FOUND]


@pytest.mark.parametrize(
    ("output", "relevant"), [(({"name": "Cup"},), True), ((Request("http://a.example/b"),), False)]
)
def test_target_items_takes_pages_with_an_item_as_relevant(output: tuple[Any, ...], *, relevant: bool) -> None:
    harness = Harness(MOTHERLODE_TARGET="items")
    harness.scheduler.enqueue_request(Request(START))
    harness.fetch(page(), output=output)
    assert [outcome.relevant for outcome in harness.outcomes] == [relevant]


def test_request_with_meta_of_the_response_is_a_new_request() -> None:
    harness = Harness()
    harness.scheduler.enqueue_request(Request(START))
    (found,) = harness.fetch(page("/b"), output=(Request("http://a.example/b", meta={LEASE: 1}),))
    assert harness.outcomes[0].failure is None, "a request of the spider is no redirect"
    assert harness.scheduler.next_request() is found


def test_request_without_response_is_learned_as_failure() -> None:
    harness = Harness()
    harness.scheduler.enqueue_request(Request(START))
    assert harness.scheduler.next_request() is not None
    assert harness.scheduler.next_request() is None
    assert [outcome.failure for outcome in harness.outcomes] == [FailureKind.CONNECT]


def test_requests_of_page_are_rated_together(monkeypatch: pytest.MonkeyPatch) -> None:
    harness = Harness()
    harness.scheduler.enqueue_request(Request(START))
    rated: list[int] = []
    policy = harness.scheduler.selector._policy
    rate = policy.rate
    monkeypatch.setattr(policy, "rate", lambda links, parent: rated.append(len(links)) or rate(links, parent))
    harness.fetch(page("/a", "/b", "/c"), output=tuple(Request(f"http://a.example/{name}") for name in "abc"))
    assert rated == [3]


def test_requests_of_running_callback_are_saved_with_their_fingerprints(tmp_path: Path) -> None:
    harness = Harness(JOBDIR=str(tmp_path), MOTHERLODE_SAVE_SECONDS=0)
    harness.scheduler.enqueue_request(Request(START))
    request = harness.scheduler.next_request()
    assert request is not None
    harness.crawler.engine._slot.inprogress.add(request)
    response = HtmlResponse(START, body=page("/b").encode(), request=request)
    harness.middleware.process_spider_input(response)
    callback = harness.middleware.process_spider_output(response, iter([Request("http://a.example/b"), None]))
    harness.scheduler.enqueue_request(next(iter(callback)))
    harness.scheduler._save_if_due()
    harness.scheduler.selector._storage.close()  # as after a kill
    harness.scheduler._leases.clear()  # a killed process does not learn that the callback has ended
    later = Harness(JOBDIR=str(tmp_path))
    urls = set()
    while (found := later.scheduler.next_request()) is not None:
        later.crawler.engine._slot.inprogress.add(found)
        urls.add(found.url)
    assert urls == {START, "http://a.example/b"}
    later.scheduler.close("finished")
