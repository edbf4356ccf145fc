"""A Scrapy scheduler in which a policy of Motherlode picks the next request.

Requests are rated when they are scheduled. All requests of one page are rated together, because the policy learns from
the number of links of a page. So the requests that a callback yields are collected until the callback has ended, or
until nothing else can be sent.

The result of a request has three sources: `LearningMiddleware` reports responses; a request that Scrapy's
downloader middlewares schedule in place of another is a retry (same URL) or a redirect; and a request that the engine
no longer processes without any of these has failed.

With JOBDIR, requests are stored in an LMDB file. After a kill, requests that were being processed are sent again, and
those whose pages were saved are not.
"""

from __future__ import annotations

import logging
import pickle
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider, signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.dupefilters import BaseDupeFilter, RFPDupeFilter
from scrapy.exceptions import CloseSpider
from scrapy.utils.asyncio import CallLaterResult, call_later
from scrapy.utils.job import job_dir
from scrapy.utils.misc import build_from_crawler, load_object
from scrapy.utils.request import request_from_dict

from motherlode.integrations.scrapy.addon import LEARNING, LEARNING_ORDER, MotherlodeSettings
from motherlode.integrations.selector import FetchResult, LinkSelector
from motherlode.integrations.selector_storage import WaitingLink
from motherlode.model import FailureKind, Link, LinkSource, Outcome
from motherlode.policies import hint_about_target, reward_from, target_from
from motherlode.www.urls import canonical

if TYPE_CHECKING:
    from scrapy.core.downloader import Downloader
    from scrapy.crawler import Crawler
    from twisted.internet.defer import Deferred

_LOGGER = logging.getLogger("motherlode.integrations.scrapy")
LEASE = "motherlode_lease"
"""Key in `Request.meta`: the number by which the selector knows the link. Retries and redirects inherit it."""
PARENT = "motherlode_parent"
"""Key in `Request.meta`: number of the link to the page that a request was found on. Removed when it is scheduled."""
LINK = "motherlode_link"
"""Key in `Request.meta`: the link as it is on the page. Removed when the request is scheduled."""
FOLDER = "motherlode"
"""Name of the scheduler's folder in JOBDIR."""
_OTHER_SCHEME_URL = "http://other-scheme.invalid/"
"""URL under which the policy sees requests that are not for http or https."""
_SAVE_SHARE = 0.05
"""Maximum share of the time that is spent on saving, unless the user wants every page to be saved at once."""
_NO_RESPONSE = FetchResult(failure=FailureKind.CONNECT)
_NOT_ENABLED = (
    f"MotherlodeScheduler cannot learn without its spider middleware: add {LEARNING!r}: {LEARNING_ORDER} to "
    "SPIDER_MIDDLEWARES, or enable the add-on motherlode.integrations.scrapy.MotherlodeAddon"
)


@dataclass(slots=True, kw_only=True)
class _Lease:
    """A request that was handed out, and what is known about its page."""

    link: WaitingLink
    request: Request
    result: FetchResult | None = None
    """None until the response has arrived."""
    outcome: Outcome | None = None
    """None until the policy has learned from the result."""
    found: list[tuple[Request, Link]] = field(default_factory=list)
    """Requests that the page led to and that are not rated yet."""
    scheduled: int = 0
    """Number of requests of the page that reached the scheduler, with those that were filtered."""
    yielded: int | None = None
    """Number of requests that the callback yielded; None until it has ended."""


class MotherlodeScheduler(BaseScheduler):
    """Hands out the request that the policy picks among those whose download slot is not busy.

    Requests with a higher `priority` come first, whatever the policy says. Retries and redirects keep the priority of
    the original request here. Requests with equal fingerprints are filtered, unless they have `dont_filter`, in the
    same file as the queue; a DUPEFILTER_CLASS of your own is used instead.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._settings = MotherlodeSettings.read(crawler.settings)
        folder = job_dir(crawler.settings)
        self._folder = Path(folder) / FOLDER if folder else None
        filter_class = load_object(crawler.settings["DUPEFILTER_CLASS"])
        self._filter: BaseDupeFilter | None = (
            None if filter_class is RFPDupeFilter else build_from_crawler(filter_class, crawler)
        )
        self._selector: LinkSelector | None = None
        self._in_memory: dict[int, Request] = {}
        """Requests that are not stored in the file, by their number."""
        self._leases: dict[int, _Lease] = {}
        self._last_save = self._save_seconds = 0.0
        self._wake_up: CallLaterResult | None = None
        self._on_opened: Callable[[], None] | None = None
        """Handler of the signal spider_opened, if the spider is to be closed."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> MotherlodeScheduler:
        return cls(crawler)

    # ── start and end ────────────────────────────────────────────────────────────────────────────────

    def open(self, spider: Spider) -> Deferred[None] | None:
        """Open the queue. Without `LearningMiddleware` the spider is closed, with the reason."""
        from motherlode.integrations.scrapy.result_middleware import LearningMiddleware

        middlewares = self._crawler.engine.scraper.spidermw.middlewares
        if not any(isinstance(middleware, LearningMiddleware) for middleware in middlewares):
            self._refuse(_NOT_ENABLED)
            return None
        try:
            self._selector = self._open_selector()
        except ValueError as error:  # a setting has a wrong value, or the folder is in use
            self._refuse(str(error))
            return None
        if hint := hint_about_target(self._settings.page_target):
            _LOGGER.warning(hint)
        if len(self._selector):
            _LOGGER.info("Resuming crawl (%d requests scheduled)", len(self._selector))
        return None if self._filter is None else self._filter.open()

    def _open_selector(self) -> LinkSelector:
        settings = self._settings
        reward = reward_from(settings.reward)  # raises if it is unknown
        if reward.scorer is not None or target_from(settings.page_target).scorer is not None:
            raise ValueError("scorers work in crawls of Motherlode only: score items in the spider, and use `items`")
        return LinkSelector(
            policy=settings.policy,
            target=settings.page_target,
            seed=settings.seed,
            wait_threshold=settings.wait_threshold,
            folder=self._folder,
        )

    def _refuse(self, sentence: str) -> None:
        """Close the spider when it is open. If `open` raised CloseSpider, Scrapy 2.19 could not close its scraper."""
        _LOGGER.error(sentence)

        def close_spider() -> None:
            raise CloseSpider(sentence)

        self._on_opened = close_spider  # signals hold only weak references
        self._crawler.signals.connect(close_spider, signals.spider_opened)

    def close(self, reason: str) -> Deferred[None] | None:
        if self._wake_up is not None:
            self._wake_up.cancel()
        if self._selector is None:
            return None
        self._end_finished()
        self._add_found()
        self._selector.close()
        return None if self._filter is None else self._filter.close(reason)

    @property
    def selector(self) -> LinkSelector:
        if self._selector is None:
            raise RuntimeError("internal error: the scheduler is not open")
        return self._selector

    # ── requests come in ─────────────────────────────────────────────────────────────────────────────

    def has_pending_requests(self) -> bool:
        return len(self) > 0

    def __len__(self) -> int:
        return len(self.selector) + sum(len(lease.found) for lease in self._leases.values())

    def enqueue_request(self, request: Request) -> bool:
        """Store a request. Return False if an equal one was stored before."""
        parent = self._leases.get(request.meta.pop(PARENT, 0))
        link: Link | None = request.meta.pop(LINK, None)
        replaced = self._leases.get(request.meta.pop(LEASE, 0)) if parent is None else None
        is_new = request.dont_filter or not self._is_seen(request)
        if parent is not None:
            parent.scheduled += 1
            if is_new:
                parent.found.append((request, link or policy_link(request, LinkSource.ANCHOR)))
            self._add_if_complete(parent)
        elif replaced is not None:
            self._replace(replaced, request, is_new=is_new)
        elif is_new:
            self._add([(request, link or policy_link(request, LinkSource.SEED))], parent=None)
        return is_new

    def _is_seen(self, request: Request) -> bool:
        if self._filter is not None:
            seen = self._filter.request_seen(request)
        else:
            seen = not self.selector.is_new(self._crawler.request_fingerprinter.fingerprint(request))
            if seen:
                self._count("dupefilter/filtered")
        return seen

    def _replace(self, lease: _Lease, request: Request, *, is_new: bool) -> None:
        """Store a request that a downloader middleware scheduled in place of one that is being processed."""
        link = lease.link
        if request.url == lease.request.url:
            if is_new:
                del self._leases[link.entry.sequence]
                self.selector.put_back(link, payload=self._store(request, link.entry.sequence))
                self._count("scheduler/enqueued")
            return
        del self._leases[link.entry.sequence]
        outcome, target = self.selector.report_redirect(link, policy_link(request, LinkSource.REDIRECT).url)
        if is_new:
            self._add([(request, target)], parent=outcome, priority=link.priority)

    def _add(self, found: list[tuple[Request, Link]], *, parent: Outcome | None, priority: int | None = None) -> None:
        slot_key = self._downloader.get_slot_key
        payloads = [self._serialize(request) for request, _ in found]
        numbers = self.selector.add(
            [link for _, link in found],
            parent=parent,
            payloads=[payload or b"" for payload in payloads],
            priorities=[request.priority if priority is None else priority for request, _ in found],
            queues=[slot_key(request) for request, _ in found],
        )
        for number, (request, _), payload in zip(numbers, found, payloads, strict=True):
            if not number:
                self._count("scheduler/refused")
                continue
            if payload is None:
                self._in_memory[number] = request
            self._count(f"scheduler/enqueued/{'memory' if payload is None else 'disk'}")
            self._count("scheduler/enqueued")

    def _store(self, request: Request, number: int) -> bytes:
        payload = self._serialize(request)
        if payload is None:
            self._in_memory[number] = request
        return payload or b""

    def _serialize(self, request: Request) -> bytes | None:
        """Return a request as bytes; None if it stays in memory, because there is no JOBDIR or it has a closure."""
        if self._folder is None:
            return None
        try:
            return pickle.dumps(request.to_dict(spider=self._crawler.spider), protocol=4)
        except (ValueError, TypeError, AttributeError, pickle.PicklingError) as error:
            if self._crawler.settings.getbool("SCHEDULER_DEBUG"):
                _LOGGER.warning("%s stays in memory and is lost at the end of the process: %s", request, error)
            self._count("scheduler/unserializable")
            return None

    def _count(self, name: str, count: int = 1) -> None:
        if self._crawler.stats is not None:
            self._crawler.stats.inc_value(name, count)

    # ── requests go out ──────────────────────────────────────────────────────────────────────────────

    def next_request(self) -> Request | None:
        """Return the request that the policy picks; None if all waiting requests belong to busy slots."""
        self._end_finished()
        self._save_if_due()
        now = time.monotonic()
        busy, ready_at = self._busy_slots(now)
        while True:
            link = self.selector.next(busy=busy, now=now)
            if link is None and self._add_found():
                continue
            if link is None:
                if ready_at is not None and len(self.selector):
                    self._call_again(ready_at - now)
                return None
            request = self._load(link)
            if request is not None:
                request.meta[LEASE] = link.entry.sequence
                self._leases[link.entry.sequence] = _Lease(link=link, request=request)
                self._count("scheduler/dequeued")
                return request

    def _load(self, link: WaitingLink) -> Request | None:
        """Return the request of a link; None if it cannot be restored, which is logged."""
        request = self._in_memory.pop(link.entry.sequence, None)
        if request is not None:
            return request
        reason = "it was only in memory when the process ended"
        if link.payload:
            try:
                return request_from_dict(pickle.loads(link.payload), spider=self._crawler.spider)
            except (ValueError, AttributeError, ImportError, pickle.UnpicklingError) as error:  # the spider has changed
                reason = str(error)
        _LOGGER.warning("The request for %s cannot be restored: %s", link.entry.url, reason)
        self.selector.end(link)
        return None

    @property
    def _downloader(self) -> Downloader:
        return self._crawler.engine.downloader

    def _busy_slots(self, now: float) -> tuple[frozenset[str], float | None]:
        """Return the slots that can send no further request now, and when the first of them can by its delay."""
        downloader = self._downloader
        active = Counter(map(downloader.get_slot_key, downloader.active))
        busy: set[str] = set()
        times: list[float] = []
        for key, slot in downloader.slots.items():
            count = active.pop(key, 0)
            if count >= slot.concurrency or (slot.delay and count > len(slot.transferring)):
                busy.add(key)
            elif slot.delay and now < slot.lastseen + slot.delay:
                busy.add(key)
                times.append(slot.lastseen + slot.delay)
        for key, count in active.items():  # their first request waits for robots.txt
            options = downloader.per_slot_settings.get(key, {})
            delay = options.get("delay", self._crawler.settings.getfloat("DOWNLOAD_DELAY"))
            if delay or count >= options.get("concurrency", downloader.domain_concurrency):
                busy.add(key)
        return frozenset(busy), min(times, default=None)

    def _call_again(self, seconds: float) -> None:
        """Let the engine ask for a request when the delay of a slot is over. It would ask only every five seconds."""
        if self._wake_up is not None:
            self._wake_up.cancel()
        engine_slot = self._crawler.engine._slot  # Scrapy 2.19 has no public method for it
        if engine_slot is not None:
            self._wake_up = call_later(max(0.0, seconds), engine_slot.nextcall.schedule)

    # ── results ──────────────────────────────────────────────────────────────────────────────────────

    def response_received(self, number: int, result: FetchResult) -> None:
        """Note the result of a request. The policy learns from it when the callback has ended."""
        lease = self._leases.get(number)
        if lease is not None:
            lease.result = result

    def callback_ended(self, number: int, *, yielded: int, revise: Callable[[FetchResult], FetchResult]) -> None:
        """Note how many requests a callback yielded, and revise the result of its page."""
        lease = self._leases.get(number)
        if lease is not None:
            lease.yielded = yielded
            if lease.result is not None:
                lease.result = revise(lease.result)
            self._add_if_complete(lease)

    def _add_if_complete(self, lease: _Lease) -> None:
        if lease.yielded is not None and lease.scheduled >= lease.yielded:
            self._end(lease)

    def _end_finished(self) -> None:
        """End the leases of requests that the engine no longer processes."""
        engine_slot = self._crawler.engine._slot
        in_progress: Any = () if engine_slot is None else engine_slot.inprogress
        for lease in [lease for lease in self._leases.values() if lease.request not in in_progress]:
            self._end(lease)

    def _end(self, lease: _Lease) -> None:
        if lease.result is None:
            lease.result = _NO_RESPONSE
        self._learn_and_add(lease)
        self.selector.end(lease.link)
        del self._leases[lease.link.entry.sequence]

    def _learn_and_add(self, lease: _Lease) -> None:
        if lease.outcome is None and lease.result is not None:
            lease.outcome = self.selector.learn(lease.link, lease.result)
        if lease.found:
            found, lease.found = lease.found, []
            self._add(found, parent=lease.outcome)

    def _add_found(self) -> bool:
        """Add the requests of callbacks that still run. Return whether there were any."""
        leases = [lease for lease in self._leases.values() if lease.found]
        for lease in leases:
            self._learn_and_add(lease)
        return bool(leases)

    def _save_if_due(self) -> None:
        began, seconds = time.monotonic(), self._settings.save_seconds
        if self._folder is None or began - self._last_save < (
            seconds and max(seconds, self._save_seconds / _SAVE_SHARE)
        ):
            return
        self._add_found()  # their fingerprints are known, so they must not be missing
        self.selector.save()
        self._last_save = time.monotonic()
        self._save_seconds = self._last_save - began


def policy_link(request: Request, source: LinkSource) -> Link:
    """Return the link of a request about which nothing else is known."""
    return Link(url=canonical(request.url) or _OTHER_SCHEME_URL, source=source)
