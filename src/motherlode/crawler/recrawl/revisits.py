"""Revisits of known pages: which pages are visited again, in which order, and how their results are stored.

The frontier storage has one record per page, which is written in the same transaction as the visit. It holds the
validators of the server, the content hash, the number of visits and the number of changes. A refresh puts known pages
back into the frontier, each into the revisit arm of its host. The score of a page is the probability that it has
changed, and `RefreshFirst` picks the arm with the highest score. Requests are conditional (RFC 9110, section 13), so an
unchanged page costs only a 304 response. If the server sends no validators, the content hash shows whether the page has
changed. An unchanged page is neither parsed nor written again.
`page_memory` has the record of a page and the estimates of its changes and new links.
"""

from __future__ import annotations

import hashlib
import heapq
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from itertools import takewhile

import msgspec

from motherlode.crawler.recrawl.page_memory import DAY_SECONDS as DAY_SECONDS
from motherlode.crawler.recrawl.page_memory import GONE_FOR as GONE_FOR
from motherlode.crawler.recrawl.page_memory import MAX_INTERVAL_SECONDS as MAX_INTERVAL_SECONDS
from motherlode.crawler.recrawl.page_memory import MAX_VALIDATOR_CHARACTERS as MAX_VALIDATOR_CHARACTERS
from motherlode.crawler.recrawl.page_memory import MIN_INTERVAL_SECONDS as MIN_INTERVAL_SECONDS
from motherlode.crawler.recrawl.page_memory import PageMemory as PageMemory
from motherlode.crawler.recrawl.page_memory import expect_first_change as expect_first_change
from motherlode.crawler.recrawl.page_memory import fields_of_visit
from motherlode.crawler.recrawl.page_memory import memory_of as memory_of
from motherlode.frontier import Entry, Frontier, FrontierStorage, Lease, UrlState, is_revisit_arm
from motherlode.model import (
    NO_DIRECTIVES,
    CrawlerDirectives,
    Failure,
    FailureKind,
    Fetched,
    Link,
    Outcome,
    Page,
    Policy,
    Rating,
    Request,
    Visit,
)

_MARK = "refresh-mark"
"""Storage note with the number of the last visit that is part of the page records."""
FAILED_REFRESH = "failed"
"""Value of `Visit.refresh` for a revisit that failed. The page keeps its statements."""
WITHDRAWN = "the same content as before, which asks not to be kept any longer"
BEGUN = "refresh"
"""Storage note with the identifier of the last refresh. Some of its revisits may still wait."""
DEFAULT_IDENTIFIER = "1"
"""Identifier of a refresh that is begun only once, because it has one process."""
ValueOfPage = Callable[[PageMemory, float], float]
"""Returns the value of a revisit of a page at a time; 0 if it is not worth a request."""


class RevisitResult(Enum):
    """Result of a revisit."""

    UNCHANGED = "unchanged"
    CHANGED = "changed"
    GONE = "gone"
    """Status 404 or 410, a redirect, or a useless page. The quads are removed, and the provenance says so."""


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(PageMemory).decode
_decode_visit = msgspec.msgpack.Decoder(Visit).decode


def _visits_since_refresh(storage: FrontierStorage) -> list[Visit]:
    """Return the visits that are not part of the page records yet, the newest first."""
    mark = int(storage.note(_MARK) or b"0")
    return list(takewhile(lambda visit: visit.number > mark, map(_decode_visit, storage.newest_visits())))


def read_memories(storage: FrontierStorage) -> Iterator[PageMemory]:
    """Yield the records of all visited pages. Those of visits since the last refresh are made, and not stored."""
    yield from map(_decode, storage.pages())
    for visit in _visits_since_refresh(storage):
        if visit.failure is None and not visit.refresh:
            yield memory_of(visit)


def rank_pages(
    memories: Iterable[PageMemory],
    now: float,
    *,
    is_limited: bool,
    always: frozenset[str] = frozenset(),
    value: ValueOfPage = PageMemory.revisit_value,
) -> list[tuple[float, str]]:
    """Return value and URL of the pages that a round of an endless refresh may revisit, the highest values first.

    If the number of revisits is not limited, these are only the pages that are due.
    """
    found = (
        (math.inf if memory.url in always else value(memory, now), memory.url)
        for memory in memories
        if memory.may_be_visited(now) and (is_limited or memory.url in always or memory.is_due(now))
    )
    return sorted((each for each in found if each[0] > 0), reverse=True)


class Revisits:
    """Starts revisits of known pages and stores their results."""

    def __init__(
        self,
        storage: FrontierStorage,
        frontier: Frontier,
        policy: RefreshFirst,
        *,
        always: frozenset[str] = frozenset(),
    ) -> None:
        self._storage = storage
        self._frontier = frontier
        self._policy = policy
        self._always = always
        """URLs that are due in every refresh: the sitemaps of sources."""

    def begin(
        self, now: float, *, due_only: bool, only_known: bool | None = None, identifier: str = DEFAULT_IDENTIFIER
    ) -> int:
        """Queue known pages for a revisit. Return their number.

        If the crawl was complete, it also follows the new links of the revisited pages. If it was interrupted, perhaps
        with millions of waiting URLs, it ends after the revisits. `only_known` says so for a shard, which sees only its
        own URLs. A refresh with an `identifier` of its own is begun once: a restarted shard queues nothing again.
        """
        self._remember_visits()
        has_new_urls = self._frontier.waiting > self._frontier.revisits_left
        self._policy.only_known = has_new_urls if only_known is None else only_known
        if self._has_begun(identifier):
            return 0
        queued = 0
        for record in self._storage.pages():
            memory = _decode(record)
            if memory.due_at > now and (due_only or memory.gone) and memory.url not in self._always:
                continue
            queued += self._queue(memory.url, memory.change_expected(now))
        self._storage.put_note(BEGUN, identifier.encode())
        self._frontier.commit()  # a crawl that is killed right after this goes on with the refresh
        return queued

    def _has_begun(self, identifier: str) -> bool:
        return identifier != DEFAULT_IDENTIFIER and self._storage.note(BEGUN) == identifier.encode()

    def begin_round(
        self,
        now: float,
        *,
        most: int | None = None,
        value: ValueOfPage | None = None,
        identifier: str = DEFAULT_IDENTIFIER,
    ) -> int:
        """Queue the pages of one round of an endless refresh. Return their number.

        Without `most`, these are the pages that are due by their change rate or by the expected new links. Otherwise
        they are the pages with the highest values, so that at most `most` revisits wait. The round also fetches new
        links. `value` replaces `PageMemory.revisit_value` in comparisons of schedules; pages of value 0 are left out.
        """
        self._remember_visits()
        self._policy.only_known = False
        if self._has_begun(identifier):
            return 0
        memories = map(_decode, self._storage.pages())
        value_of = PageMemory.revisit_value if value is None else value
        ranked = rank_pages(memories, now, is_limited=most is not None, always=self._always, value=value_of)
        room = len(ranked) if most is None else max(0, most - self._frontier.revisits_left)
        queued = 0
        for _, url in ranked:
            if queued >= room:
                break
            queued += self._queue(url, 1.0 - queued / len(ranked))
        self._storage.put_note(BEGUN, identifier.encode())
        self._frontier.commit()
        return queued

    def queue_modified(self, links: Sequence[Link]) -> int:
        """Queue the known pages that changed after their last visit, by the times in a sitemap. Return their number."""
        queued = 0
        for link in links:
            if link.modified is None or (memory := self.memory(link.url)) is None:
                continue
            if link.modified > memory.visited_at:
                queued += self._queue(link.url, 1.0)
        return queued

    def _queue(self, url: str, score: float) -> bool:
        """Queue a known page for a revisit, unless it waits already. Return whether it was queued."""
        found = self._storage.find(url)
        if found is None or found[1] in (UrlState.WAITING, UrlState.IN_FLIGHT):
            return False
        self._frontier.revisit(msgspec.structs.replace(found[0], score=score))
        return True

    def finish(self) -> bool:
        """Let the run fetch only the revisits that an earlier run has left. Return False if there are none."""
        self._policy.only_known = self._frontier.revisits_left > 0
        return self._policy.only_known

    def finish_shard(self) -> None:
        """Let a shard fetch only the revisits that an earlier run has left. Without any, its run ends at once."""
        self._policy.only_known = True

    def _remember_visits(self) -> None:
        """Create page records for the visits since the last refresh. The visit log is part of each commit."""
        fresh = _visits_since_refresh(self._storage)
        children: dict[str, list[int]] = {}
        for visit in reversed(fresh):
            if visit.refresh:
                continue
            if visit.failure is None:
                self._put(memory_of(visit))
            if visit.parent_url:
                counts = children.setdefault(visit.parent_url, [0, 0])
                counts[0] += 1
                counts[1] += visit.relevant
        self._credit_parents(children)
        if fresh:
            self._storage.put_note(_MARK, str(fresh[0].number).encode())

    def _credit_parents(self, children: Mapping[str, Sequence[int]]) -> None:
        """Count the visited URLs, and the relevant ones among them, that were first found on each page."""
        for url, (visited, relevant) in children.items():
            memory = self.memory(url)
            if memory is None:
                continue
            total, good = memory.children + visited, memory.relevant_children + relevant
            self._put(msgspec.structs.replace(memory, children=total, relevant_children=good))

    def _put(self, memory: PageMemory) -> None:
        self._storage.put_page(memory.url, _encode(memory))

    def memory(self, url: str) -> PageMemory | None:
        """Return the state of a page, or None if the page is not known."""
        record = self._storage.page(url)
        return None if record is None else _decode(record)

    def _memory_of(self, lease: Lease) -> PageMemory | None:
        return self.memory(lease.url) if lease.is_revisit else None

    def is_over(self) -> bool:
        """Return whether this run is only for known pages, and all have been revisited."""
        return self._policy.only_known and self._frontier.revisits_left <= 0

    def request(self, lease: Lease, now: float) -> Request:
        """Return the request for a lease. It is conditional if the page is known and has validators.

        It is not conditional if the page has an X-Robots-Tag header, because a 304 response need not show that the
        header was removed.
        """
        memory = self._memory_of(lease)
        if (
            memory is None
            or memory.gone
            or memory.header_directives.nofollow
            or not memory.header_directives.may_be_kept(now)
        ):
            return Request(url=lease.url, kind=lease.kind)
        etag, modified = _sendable(memory.etag), _sendable(memory.last_modified)
        return Request(url=lease.url, kind=lease.kind, etag=etag, last_modified=modified)

    def detect_unchanged(self, lease: Lease, fetched: Fetched) -> Fetched:
        """Return a NOT_MODIFIED failure if content, type and directives are unchanged, else the response."""
        memory = self._memory_of(lease)
        if memory is None:
            return fetched
        if not isinstance(fetched, Page):
            return replace(fetched, detail=WITHDRAWN) if _is_withdrawn(memory, fetched) else fetched
        if (
            memory.gone
            or memory.content_hash != content_hash(fetched.body)
            or memory.header_directives != (header_asks(fetched) or NO_DIRECTIVES)
            or _is_withdrawn(memory, fetched)
            or not is_same_type(memory.media_type, fetched.content_type)
        ):
            return fetched
        return Failure(
            url=fetched.url,
            kind=FailureKind.NOT_MODIFIED,
            detail="the same content as before",
            status=fetched.status,
            headers=fetched.headers,
            address=fetched.address,
            fetched_at=fetched.fetched_at,
            elapsed=fetched.elapsed,
            wire_bytes=fetched.wire_bytes,
            recalled=fetched.recalled,
        )

    def outcome(self, lease: Lease, fetched: Fetched) -> RevisitResult | None:
        """Return the result of a revisit. None for a first visit, and for a failure that leaves the page as it was."""
        if not lease.is_revisit:
            return None
        if isinstance(fetched, Page):
            return RevisitResult.CHANGED
        memory = self.memory(lease.url)
        if memory is not None and _is_withdrawn(memory, fetched):
            return RevisitResult.CHANGED
        return _OUTCOMES.get(fetched.kind)

    def failed(self, lease: Lease, failure: Failure, now: float) -> None:
        """Note a failed revisit.

        After a client error (400, 412 …) the validators are removed, because the condition may be its cause.
        """
        memory = self._memory_of(lease)
        if memory is None:
            return
        after = memory.revisit_failed(now)
        is_refused = failure.kind is FailureKind.CLIENT_ERROR
        self._put(msgspec.structs.replace(after, etag="", last_modified="") if is_refused else after)

    def entry_before(self, lease: Lease) -> Entry:
        """Return the entry of a revisited page as it was before the revisit."""
        memory, entry = self.memory(lease.url), lease.entry
        return entry if memory is None else msgspec.structs.replace(entry, arm=memory.arm, score=memory.score)

    def settle(self, outcome: RevisitResult, visit: Visit, response: Fetched) -> Visit:
        """Store the result of a revisit. Return the visit with the previous figures of the page for the counters."""
        before = self.memory(visit.url) or PageMemory(url=visit.url, visited_at=visit.at)
        is_same = isinstance(response, Failure) and response.kind is FailureKind.NOT_MODIFIED
        after = before.looked_at(visit.at, changed=not is_same)
        after = msgspec.structs.replace(after, **_fields_of_headers(response) if is_same else fields_of_visit(visit))
        if outcome is RevisitResult.GONE:
            after = msgspec.structs.replace(after, gone=True, content_hash="", relevant=False, quads=0, counts={})
            after = msgspec.structs.replace(after, due_at=visit.at + GONE_FOR)
        elif outcome is RevisitResult.CHANGED:
            counts = dict(visit.counts)
            after = msgspec.structs.replace(
                after,
                relevant=visit.relevant,
                quads=visit.quads,
                counts=counts,
                new_links=before.new_links + visit.new_links,
            )
        self._put(after.due_by_its_end())
        return replace(
            visit,
            refresh=outcome.value,
            relevant=after.relevant,
            quads=after.quads,
            relevant_before=before.relevant,
            quads_before=before.quads,
            counts_before={} if outcome is RevisitResult.UNCHANGED else before.counts,
        )


def _fields_of_headers(response: Fetched) -> dict[str, str]:
    """Return the fields that the headers of a 304 response change. Absent headers change none (RFC 9110, 15.4.5)."""
    headers = {"etag": response.headers.get("etag", ""), "last_modified": response.headers.get("last-modified", "")}
    found = {name: value for name, value in headers.items() if 0 < len(value) <= MAX_VALIDATOR_CHARACTERS}
    asked = header_asks(response)
    return found if asked is None else {**found, "directives": asked.text}


def _sendable(value: str) -> str:
    return value if value.isascii() and value.isprintable() else ""


def header_asks(response: Fetched) -> CrawlerDirectives | None:
    """Return the directives of the X-Robots-Tag header, or None if the response has no such header.

    Dates are ignored in a recorded web, because it has no current time.
    """
    value = response.headers.get("x-robots-tag")
    if value is None:
        return None
    from motherlode.links.robots_meta import header_directives  # imported here, because few responses have this header

    asked = header_directives(value)
    return asked if response.fetched_at else msgspec.structs.replace(asked, ends_at=None)


def is_same_type(known: str, content_type: str) -> bool:
    """Return whether two content types are equal, apart from case, spaces and quotation marks.

    An unknown old type is equal to any type.

    >>> is_same_type("text/html; charset=UTF-8", 'text/html;charset="utf-8"'), is_same_type("text/plain", "text/n3")
    (True, False)
    """
    return not known or _normalize_type(known) == _normalize_type(content_type)


def _normalize_type(content_type: str) -> str:
    return "".join(content_type.lower().replace('"', "").split())


def content_hash(body: bytes) -> str:
    """Return the hash of a body by which a revisit detects unchanged content."""
    return "sha256:" + hashlib.sha256(body).hexdigest()


def _is_withdrawn(memory: PageMemory, response: Fetched) -> bool:
    """Return whether an unchanged page must no longer be kept, because of a header or because its end date has come."""
    if isinstance(response, Failure) and response.kind is not FailureKind.NOT_MODIFIED:
        return False
    asked = header_asks(response)
    now = memory.current_directives if asked is None else asked | CrawlerDirectives(ends_at=memory.ends_at)
    at = response.fetched_at or memory.visited_at
    return memory.current_directives.may_be_kept(memory.visited_at) and not now.may_be_kept(at)


_OUTCOMES = {
    FailureKind.NOT_MODIFIED: RevisitResult.UNCHANGED,
    FailureKind.NOT_FOUND: RevisitResult.GONE,
    FailureKind.REDIRECT: RevisitResult.GONE,
    FailureKind.USELESS: RevisitResult.GONE,
}


class RefreshFirst:
    """Policy that picks revisits first, by descending probability of a change, and then calls the policy of the job."""

    def __init__(self, inner: Policy) -> None:
        self._inner = inner
        self.only_known = False
        """Whether only revisits are picked."""
        self._awake: dict[str, float] = {}
        self._heap: list[tuple[float, str]] = []

    def rate(self, links: Sequence[Link], parent: Outcome | None) -> Sequence[Rating]:
        return self._inner.rate(links, parent)

    def learn(self, feedback: Outcome) -> None:
        if not is_revisit_arm(feedback.arm):
            self._inner.learn(feedback)

    def arm_ready(self, arm: str, best: float, waiting: int) -> None:
        if not is_revisit_arm(arm):
            self._inner.arm_ready(arm, best, waiting)
        elif self._awake.get(arm) != best:
            self._awake[arm] = best
            heapq.heappush(self._heap, (-best, arm))

    def arm_snoozed(self, arm: str) -> None:
        if is_revisit_arm(arm):
            self._awake.pop(arm, None)
        else:
            self._inner.arm_snoozed(arm)

    def pick(self) -> str | None:
        while self._heap:
            best, arm = self._heap[0]
            if self._awake.get(arm) == -best:
                return arm
            heapq.heappop(self._heap)
        return None if self.only_known else self._inner.pick()

    def dump(self) -> bytes:
        return self._inner.dump()

    def load(self, state: bytes) -> None:
        self._inner.load(state)
