"""Looking again at known pages: which, in what order, and what follows from what is found.

Every page has a record in the frontier's ledger (one put a visit, in the same transaction as the rest): the validators
that the server gave, the hash of the content, how often it was looked at and how often it had changed. A refresh puts
known pages back into the frontier, each in the revisit arm of its host with the probability that it has changed as its
score; `RefreshFirst` picks the arm with the highest. Requests are conditional (RFC 9110, 13), so an unchanged page
costs a 304; where a server gives no validators the hash tells, and nothing is read or written either.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import replace
from enum import Enum
from typing import Any

import msgspec

from motherlode.crawler.recrawl.schedule import (
    GONE_FOR,
    PageMemory,
    content_hash,
    header_asks,
    is_same_type,
    memory_of,
    sendable,
    validator,
)
from motherlode.frontier import REVISIT, Entry, Frontier, FrontierStorage, Lease, UrlState
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
"""Note: the number of the last visit that the pages' records know."""
FAILED_REFRESH = "failed"
"""Said of a visit to a known page that brought nothing: the page stays as it was."""
WITHDRAWN = "the same content as before, which asks not to be kept any longer"
BEGUN = "refresh"
"""Note: there has been a refresh, and some of its revisits may still wait."""


class RevisitResult(Enum):
    """What a look at a known page can find."""

    UNCHANGED = "unchanged"
    CHANGED = "changed"
    GONE = "gone"
    """404, 410, moved elsewhere, or of no use now: its quads are removed, and its provenance says so."""


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(PageMemory).decode
_decode_visit = msgspec.msgpack.Decoder(Visit).decode


class Revisits:
    """The records of pages, and what a refresh does with them."""

    def __init__(self, storage: FrontierStorage, frontier: Frontier, policy: RefreshFirst) -> None:
        self._ledger = storage
        self._frontier = frontier
        self._policy = policy

    def begin(self, now: float, *, due_only: bool) -> int:
        """Let known pages wait again; how many.

        A crawl that had come to its end goes on with the new links that it finds. One that was cut short has others
        waiting, perhaps millions: it ends when the known pages have been looked at.
        """
        self._remember_visits()
        self._policy.only_known = self._frontier.waiting > self._frontier.revisits_left
        queued = 0
        for record in self._ledger.pages():
            memory = _decode(record)
            if memory.due_at > now and (due_only or memory.gone):
                continue
            found = self._ledger.find(memory.url)
            if found is None or found[1] in (UrlState.WAITING, UrlState.IN_FLIGHT):
                continue
            self._frontier.revisit(msgspec.structs.replace(found[0], score=memory.change_expected(now)))
            queued += 1
        self._ledger.put_note(BEGUN, b"1")
        self._frontier.commit()  # whoever is killed in the next second has begun, too
        return queued

    def finish(self) -> bool:
        """Look at what an earlier run has left of its refresh, and at nothing else; False where nothing is left."""
        self._policy.only_known = self._frontier.revisits_left > 0
        return self._policy.only_known

    def _remember_visits(self) -> None:
        """Take up the visits since the last refresh. Their log is part of every commit, so none is missing."""
        mark = int(self._ledger.note(_MARK) or b"0")
        last = mark
        for record in self._ledger.visits():
            visit = _decode_visit(record)
            if visit.number <= mark:
                continue
            last = max(last, visit.number)
            if visit.failure is None and not visit.refresh:
                self._put(memory_of(visit, arm=visit.arm, score=visit.score))
        self._ledger.put_note(_MARK, str(last).encode())

    def _put(self, memory: PageMemory) -> None:
        self._ledger.put_page(memory.url, _encode(memory))

    def memory(self, url: str) -> PageMemory | None:
        record = self._ledger.page(url)
        return None if record is None else _decode(record)

    def is_over(self) -> bool:
        """Return whether this run is only for known pages, and all have been revisited."""
        return self._policy.only_known and self._frontier.revisits_left <= 0

    def request(self, lease: Lease, now: float) -> Request:
        """The request for a ticket: conditional where the page is known and the server gave validators.

        Not where a header asks something of crawlers: a 304 need not tell that it no longer does.
        """
        memory = self.memory(lease.url) if lease.is_revisit else None
        if memory is None or memory.gone:
            return Request(url=lease.url, kind=lease.kind)
        asked = memory.header_asked
        if asked.nofollow or not asked.may_be_kept(now):
            return Request(url=lease.url, kind=lease.kind)
        etag, modified = sendable(memory.etag), sendable(memory.last_modified)
        return Request(url=lease.url, kind=lease.kind, etag=etag, last_modified=modified)

    def judged(self, lease: Lease, fetched: Fetched) -> Fetched:
        """The answer, or that nothing has changed where the content is the same as before, and is meant as before."""
        memory = self.memory(lease.url) if lease.is_revisit else None
        if memory is None:
            return fetched
        if not isinstance(fetched, Page):
            return replace(fetched, detail=WITHDRAWN) if _is_withdrawn(memory, fetched) else fetched
        if memory.gone or memory.content_hash != content_hash(fetched.body):
            return fetched
        if memory.header_asked != (header_asks(fetched) or NO_DIRECTIVES):
            return fetched
        if _is_withdrawn(memory, fetched) or not is_same_type(memory.media_type, fetched.content_type):
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
        """What a revisit has found; None for a first visit, and for trouble after which the page stays as it was."""
        if not lease.is_revisit:
            return None
        if isinstance(fetched, Page):
            return RevisitResult.CHANGED
        memory = self.memory(lease.url)
        if memory is not None and _is_withdrawn(memory, fetched):
            return RevisitResult.CHANGED
        return _OUTCOMES.get(fetched.kind)

    def failed(self, lease: Lease, failure: Failure) -> None:
        """Where a server may not have understood the condition (400, 412 …), it is asked without one the next time."""
        if failure.kind is FailureKind.CLIENT_ERROR and lease.is_revisit:
            memory = self.memory(lease.url)
            if memory is not None:
                self._put(msgspec.structs.replace(memory, etag="", last_modified=""))

    def entry_before(self, lease: Lease) -> Entry:
        """Return the entry of a revisited page as it was before the revisit."""
        memory, entry = self.memory(lease.url), lease.entry
        return entry if memory is None else msgspec.structs.replace(entry, arm=memory.arm, score=memory.score)

    def settle(self, outcome: RevisitResult, visit: Visit, answer: Fetched) -> Visit:
        """Remember what was found; the visit with what the account needs to know of the page as it was."""
        before = self.memory(visit.url) or PageMemory(url=visit.url, visited_at=visit.at)
        is_same = isinstance(answer, Failure) and answer.kind is FailureKind.NOT_MODIFIED
        after = before.looked_at(visit.at, changed=not is_same)
        after = msgspec.structs.replace(after, **_said_anew(answer) if is_same else _all_said(answer, visit))
        if outcome is RevisitResult.GONE:
            after = msgspec.structs.replace(after, gone=True, content_hash="", relevant=False, quads=0, counts={})
            after = msgspec.structs.replace(after, due_at=visit.at + GONE_FOR)
        elif outcome is RevisitResult.CHANGED:
            after = msgspec.structs.replace(
                after, relevant=visit.relevant, quads=visit.quads, counts=dict(visit.counts)
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


class NoRevisits:
    """Stands for the revisits of a crawl without a refresh."""

    def is_over(self) -> bool:
        return False

    def finish(self) -> bool:
        return False

    def request(self, lease: Lease, now: float) -> Request:
        return lease

    def judged(self, lease: Lease, fetched: Fetched) -> Fetched:
        return fetched

    def outcome(self, lease: Lease, fetched: Fetched) -> RevisitResult | None:
        return None

    def failed(self, lease: Lease, failure: Failure) -> None: ...

    def entry_before(self, lease: Lease) -> Entry:
        return lease.entry

    def settle(self, outcome: RevisitResult, visit: Visit, answer: Fetched) -> Visit:
        return visit


def _all_said(answer: Fetched, visit: Visit) -> dict[str, Any]:
    """What is to be remembered of a page that has come anew."""
    return {
        **_validators(answer),
        "content_hash": visit.content_hash,
        "media_type": visit.media_type,
        "directives": visit.directives,
        "ends_at": visit.ends_at,
    }


def _said_anew(answer: Fetched) -> dict[str, Any]:
    """What the headers of a 304 say holds from now on; where they are silent, all is as it was (RFC 9110, 15.4.5)."""
    found = {name: value for name, value in _validators(answer).items() if value}
    asked = header_asks(answer)
    return found if asked is None else {**found, "directives": asked.text}


def _validators(answer: Fetched) -> dict[str, str]:
    given = answer.headers.get
    return {"etag": validator(given("etag", "")), "last_modified": validator(given("last-modified", ""))}


def _is_withdrawn(memory: PageMemory, answer: Fetched) -> bool:
    """Whether a page that was kept asks not to be, though its content is the same: by a header, or its day has come."""
    if isinstance(answer, Failure) and answer.kind is not FailureKind.NOT_MODIFIED:
        return False
    asked = header_asks(answer)
    now = memory.asked if asked is None else asked | CrawlerDirectives(ends_at=memory.ends_at)
    at = answer.fetched_at or memory.visited_at
    return memory.asked.may_be_kept(memory.visited_at) and not now.may_be_kept(at)


_OUTCOMES = {
    FailureKind.NOT_MODIFIED: RevisitResult.UNCHANGED,
    FailureKind.NOT_FOUND: RevisitResult.GONE,
    FailureKind.REDIRECT: RevisitResult.GONE,
    FailureKind.USELESS: RevisitResult.GONE,
}


class RefreshFirst:
    """A policy that picks revisits, the likeliest change first, and leaves all else to the policy of the job."""

    def __init__(self, inner: Policy) -> None:
        self._inner = inner
        self.only_known = False
        """Pick nothing else."""
        self._awake: dict[str, float] = {}
        self._heap: list[tuple[float, str]] = []

    def rate(self, links: Sequence[Link], parent: Outcome | None) -> Sequence[Rating]:
        return self._inner.rate(links, parent)

    def learn(self, feedback: Outcome) -> None:
        if not feedback.arm.startswith(REVISIT):
            self._inner.learn(feedback)

    def arm_ready(self, arm: str, best: float, waiting: int) -> None:
        if not arm.startswith(REVISIT):
            self._inner.arm_ready(arm, best, waiting)
        elif self._awake.get(arm) != best:
            self._awake[arm] = best
            heapq.heappush(self._heap, (-best, arm))

    def arm_snoozed(self, arm: str) -> None:
        if arm.startswith(REVISIT):
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
