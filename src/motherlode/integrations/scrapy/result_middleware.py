"""The spider middleware that reports the result of each request to the scheduler."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any
from weakref import WeakKeyDictionary

import msgspec
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response

from motherlode.crawler.parsing.messages import READ_HEADERS, PageBody, ParsedPage, ParseOptions
from motherlode.crawler.parsing.page_parser import PageParser
from motherlode.fetch.http.response import failure_from_status
from motherlode.integrations.scrapy.addon import ITEMS_TARGET, MotherlodeSettings
from motherlode.integrations.scrapy.request_scheduler import LEASE, LINK, PARENT, MotherlodeScheduler, policy_link
from motherlode.integrations.selector import FetchResult
from motherlode.model import FailureKind, Link, LinkSource, Outcome, Syntax
from motherlode.policies import Reward, reads_context_graph, reads_element_ids, reward_from
from motherlode.www.urls import canonical, host_of

_LOGGER = logging.getLogger("motherlode.integrations.scrapy")


@dataclass(slots=True)
class _Callback:
    """Counts of the requests and items that one callback of the spider has yielded so far."""

    links: dict[str, Link] = field(default_factory=dict)
    """The links of the page by URL."""
    requests: int = 0
    items: int = 0


class LearningMiddleware:
    """Reports the result of each request to `MotherlodeScheduler`, and the place of each new link on its page.

    A page is relevant if it matches MOTHERLODE_TARGET. With another scheduler the middleware does nothing.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._settings = MotherlodeSettings.read(crawler.settings)
        self._counts_items = self._settings.target == ITEMS_TARGET
        self._links: WeakKeyDictionary[Response, dict[str, Link]] = WeakKeyDictionary()
        """For each response that is being processed, the links of its page by URL. The keys are weak references,
        because the callbacks of some responses never run."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> LearningMiddleware:
        return cls(crawler)

    @cached_property
    def _reward(self) -> Reward:
        return reward_from(self._settings.reward)

    @cached_property
    def _parser(self) -> PageParser:
        """The parser. It is made at the first page, because the scheduler reports wrong settings to the user."""
        policy = self._settings.policy
        return PageParser(
            ParseOptions(
                target=self._settings.page_target,
                hashed=self._reward.hashed,
                element_ids=reads_element_ids(policy),
                context_graph=reads_context_graph(policy),
            )
        )

    @property
    def _scheduler(self) -> MotherlodeScheduler | None:
        scheduler = self._crawler.engine.scheduler
        return scheduler if isinstance(scheduler, MotherlodeScheduler) else None

    def process_spider_input(self, response: Response) -> None:
        number, scheduler = response.meta.get(LEASE), self._scheduler
        if number is None or scheduler is None:
            return
        result = self._result(response)
        self._links[response] = {link.url: link for link in result.links}
        scheduler.response_received(number, result)

    def _result(self, response: Response) -> FetchResult:
        headers = response_headers(response)
        failure = failure_from_status(response.url, response.status, headers)
        if failure is not None:
            return FetchResult(failure=failure.kind, size=len(response.body))
        try:
            page = self._parser.read(page_body(response, headers))
        except Exception:  # a page that cannot be parsed must not stop the spider
            _LOGGER.exception("The page %s cannot be parsed", response.url)
            return FetchResult(failure=FailureKind.PROCESSING, size=len(response.body))
        return self._parsed_result(response, page, headers)

    def _parsed_result(self, response: Response, page: ParsedPage, headers: dict[str, str]) -> FetchResult:
        counts = {Syntax(name): count for name, count in page.counts.items()}
        size = len(response.body)
        host, hashes = host_of(response.url), page.hashes
        outcome = Outcome(
            url=response.url, host=host, relevant=page.relevant, counts=counts, size=size, statement_hashes=hashes
        )
        return FetchResult(
            relevant=page.relevant,
            reward=self._reward(outcome),
            kind=page.kind,
            content_type=headers.get("content-type", ""),
            counts=counts,
            size=size,
            links=page.links,
        )

    def process_spider_output(self, response: Response, result: Iterable[Any]) -> Iterator[Any]:
        callback = self._begin(response)
        try:
            for found in result:
                yield self._mark(found, response, callback)
        finally:
            self._end(response, callback)

    async def process_spider_output_async(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        callback = self._begin(response)
        try:
            async for found in result:
                yield self._mark(found, response, callback)
        finally:
            self._end(response, callback)

    def _begin(self, response: Response) -> _Callback:
        return _Callback(self._links.pop(response, {}))

    def _mark(self, found: Any, response: Response, callback: _Callback) -> Any:
        if not isinstance(found, Request):
            callback.items += found is not None
            return found
        callback.requests += 1
        found.meta.pop(LEASE, None)  # a spider may pass on the meta of the response
        number = response.meta.get(LEASE)
        if number is not None:
            found.meta[PARENT] = number
            link = callback.links.get(canonical(found.url) or "")
            found.meta[LINK] = link or policy_link(found, LinkSource.ANCHOR)
        return found

    def _end(self, response: Response, callback: _Callback) -> None:
        number, scheduler = response.meta.get(LEASE), self._scheduler
        if number is not None and scheduler is not None:
            revise = partial(_by_items, callback.items) if self._counts_items else _unchanged
            scheduler.callback_ended(number, yielded=callback.requests, revise=revise)


def _unchanged(result: FetchResult) -> FetchResult:
    return result


def _by_items(items: int, result: FetchResult) -> FetchResult:
    """Return a result in which a page is relevant if its callback yielded an item."""
    return msgspec.structs.replace(result, relevant=items > 0, reward=float(items > 0))


def response_headers(response: Response) -> dict[str, str]:
    """Return the headers of a response with names in lower case, each with one value."""
    return {
        name.decode("latin-1").lower(): b", ".join(values).decode("latin-1")
        for name, values in response.headers.items()
    }


def page_body(response: Response, headers: dict[str, str]) -> PageBody:
    """Return the `PageBody` of a response: the input of the parser."""
    return PageBody(
        url=canonical(response.url) or response.url,
        content_type=headers.get("content-type", ""),
        body=response.body,
        headers={name: headers[name] for name in READ_HEADERS if name in headers},
        at=time.time(),
    )
