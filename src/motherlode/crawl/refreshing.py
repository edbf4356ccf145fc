"""Looking again at known pages: which, in what order, and what follows from what is found.

Every page has a record in the frontier's ledger (one put a visit, in the same transaction as the rest): the validators
that the server gave, the hash of the content, how often it was looked at and how often it had changed. A refresh puts
known pages back into the frontier, each in the revisit arm of its host with the probability that it has changed as its
score; `RefreshFirst` picks the arm with the highest. Requests are conditional (RFC 9110, 13), so an unchanged page
costs a 304; where a server gives no validators the hash tells, and nothing is read or written either.

Changes are taken for a Poisson process (Cho and Garcia-Molina, "Estimating frequency of change", 2003). A visit tells
only *whether* a page changed since the last one, so for a change the time that counts as observed is the expected time
up to the first change in the interval, not the whole interval: without that, the rate of pages that change faster than
we look would be underestimated. The rate is the mean of a Gamma posterior. The prior says one change in ten days, with
the weight of a single change; a page's own history soon outweighs it.
"""

from __future__ import annotations

import hashlib
import heapq
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import Enum

import msgspec

from motherlode.frontier import REVISIT, Frontier, Ledger, Ticket, UrlState
from motherlode.model import (
    Failure,
    FailureKind,
    Feedback,
    Fetched,
    Link,
    Page,
    Parent,
    Policy,
    Rating,
    Request,
    RequestKind,
    Visit,
)

DAY = 86_400.0
_PRIOR_CHANGES = 1.0
_PRIOR_SECONDS = 10 * DAY
SOONEST, LATEST = 3_600.0, 90 * DAY
"""Bounds of the wait between two visits to a page."""
GONE_FOR = LATEST / 3
"""Seconds before a page that is gone is looked at again."""
_ODDS = math.log(2)
"""A page is due when it has changed as likely as not."""
_MARK = "refresh-mark"
"""Note: the number of the last visit that the pages' records know."""
_MAX_VALIDATOR = 200
"""Characters of an ETag or a Last-Modified; honest ones are far shorter, and longer ones are not kept."""
FAILED_REFRESH = "failed"
"""Said of a visit to a known page that brought nothing: the page stays as it was."""
BEGUN = "refresh"
"""Note: there has been a refresh, and some of its revisits may still wait."""


class Outcome(Enum):
    """What a look at a known page can find."""

    UNCHANGED = "unchanged"
    CHANGED = "changed"
    GONE = "gone"
    """404, 410, moved elsewhere, or of no use now: its quads are removed, and its provenance says so."""


class PageMemory(msgspec.Struct, frozen=True, array_like=True, kw_only=True, gc=False):
    """What is known of a page for the next look at it."""

    url: str
    etag: str = ""
    last_modified: str = ""
    content_hash: str = ""
    visited_at: float = 0.0
    visits: int = 1
    changes: int = 0
    observed: float = 0.0
    """Seconds under observation, as the rate of change needs them."""
    due_at: float = 0.0
    gone: bool = False
    relevant: bool = False
    quads: int = 0
    arm: str = ""
    """With the score: how the page was rated when it was found."""
    score: float = 0.0
    counts: dict[str, int] = {}
    """Statements by syntax."""
    media_type: str = ""
    """As its header said; empty in records of earlier versions."""
    directives: str = ""
    """What its header asked of crawlers."""

    @property
    def rate(self) -> float:
        """Changes a second, as far as we know."""
        return (_PRIOR_CHANGES + self.changes) / (_PRIOR_SECONDS + self.observed)

    def change_expected(self, now: float) -> float:
        """The probability that the page has changed since it was last looked at.

        >>> page = PageMemory(url="http://a.example/", visited_at=0.0)
        >>> round(page.change_expected(10 * DAY), 3)
        0.632
        """
        return -math.expm1(-self.rate * max(0.0, now - self.visited_at))

    def looked_at(self, now: float, *, changed: bool) -> PageMemory:
        """The record after another visit, with the time of the next."""
        interval = max(0.0, now - self.visited_at)
        seen = msgspec.structs.replace(
            self,
            visited_at=now,
            visits=self.visits + 1,
            changes=self.changes + changed,
            observed=self.observed + (first_change(self.rate, interval) if changed else interval),
            gone=False,
        )
        return msgspec.structs.replace(seen, due_at=now + min(LATEST, max(SOONEST, _ODDS / seen.rate)))


def first_change(rate: float, interval: float) -> float:
    """The expected time up to the first change, given that there was one in the interval.

    >>> round(first_change(1e-9, 100.0), 3), round(first_change(1.0, 100.0), 3)
    (50.0, 1.0)
    """
    events = rate * interval
    if events < 1e-6:
        return interval / 2
    if events > 500:
        return 1 / rate
    return interval * (1 / events - 1 / math.expm1(events))


def memory_of(visit: Visit, *, arm: str, score: float) -> PageMemory:
    """The record of a page that was visited for the first time."""
    fresh = PageMemory(
        url=visit.url,
        etag=visit.etag,
        last_modified=visit.last_modified,
        content_hash=visit.content_hash,
        visited_at=visit.at,
        relevant=visit.relevant,
        quads=visit.quads,
        arm=arm,
        score=score,
        counts=dict(visit.counts),
        media_type=visit.media_type,
        directives=visit.directives,
    )
    return msgspec.structs.replace(fresh, due_at=visit.at + _ODDS / fresh.rate)


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(PageMemory).decode
_decode_visit = msgspec.msgpack.Decoder(Visit).decode


class Revisits:
    """The records of pages, and what a refresh does with them."""

    def __init__(self, ledger: Ledger, frontier: Frontier, policy: RefreshFirst) -> None:
        self._ledger = ledger
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

    def over(self) -> bool:
        """Everything that this run was for has been looked at."""
        return self._policy.only_known and self._frontier.revisits_left <= 0

    def request(self, ticket: Ticket) -> Request:
        """The request for a ticket: conditional where the page is known and the server gave validators.

        Not where a header asked something of crawlers: a 304 does not tell whether it still does.
        """
        memory = self.memory(ticket.url) if is_revisit(ticket) else None
        if memory is None or memory.gone or memory.directives:
            return Request(url=ticket.url, kind=ticket.kind)
        etag, modified = _sendable(memory.etag), _sendable(memory.last_modified)
        return Request(url=ticket.url, kind=ticket.kind, etag=etag, last_modified=modified)

    def judged(self, ticket: Ticket, fetched: Fetched) -> Fetched:
        """The answer, or that nothing has changed where the content is the same as before, and is meant as before."""
        if not isinstance(fetched, Page) or not is_revisit(ticket):
            return fetched
        memory = self.memory(ticket.url)
        if memory is None or memory.gone or memory.content_hash != content_hash(fetched.body):
            return fetched
        if memory.directives != header_requests(fetched) or not _is_same_type(memory.media_type, fetched.content_type):
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

    def outcome(self, ticket: Ticket, fetched: Fetched) -> Outcome | None:
        """What a revisit has found; None for a first visit, and for trouble after which the page stays as it was."""
        if not is_revisit(ticket):
            return None
        if isinstance(fetched, Page):
            return Outcome.CHANGED
        return _OUTCOMES.get(fetched.kind)

    def close(self, ticket: Ticket) -> Ticket:
        """The ticket of a revisit with the entry as it was before."""
        memory, entry = self.memory(ticket.url), ticket.entry
        if memory is not None:
            entry = msgspec.structs.replace(entry, arm=memory.arm, score=memory.score)
        return self._frontier.revisited(ticket, entry)

    def settle(self, outcome: Outcome, visit: Visit, headers: Callable[[str], str]) -> Visit:
        """Remember what was found; the visit with what the account needs to know of the page as it was."""
        before = self.memory(visit.url) or PageMemory(url=visit.url, visited_at=visit.at)
        is_same = outcome is Outcome.UNCHANGED
        after = before.looked_at(visit.at, changed=not is_same)
        after = msgspec.structs.replace(
            after,
            etag=validator(headers("etag")) or (before.etag if is_same else ""),
            last_modified=validator(headers("last-modified")) or (before.last_modified if is_same else ""),
        )
        if outcome is Outcome.GONE:
            after = msgspec.structs.replace(after, gone=True, content_hash="", relevant=False, quads=0, counts={})
            after = msgspec.structs.replace(after, due_at=visit.at + GONE_FOR)
        elif outcome is Outcome.CHANGED:
            after = msgspec.structs.replace(
                after,
                content_hash=visit.content_hash,
                relevant=visit.relevant,
                quads=visit.quads,
                counts=dict(visit.counts),
                media_type=visit.media_type,
                directives=visit.directives,
            )
        self._put(after)
        return replace(
            visit,
            refresh=outcome.value,
            relevant=after.relevant,
            quads=after.quads,
            relevant_before=before.relevant,
            quads_before=before.quads,
            counts_before={} if is_same else before.counts,
        )


_OUTCOMES = {
    FailureKind.NOT_MODIFIED: Outcome.UNCHANGED,
    FailureKind.NOT_FOUND: Outcome.GONE,
    FailureKind.REDIRECT: Outcome.GONE,
    FailureKind.USELESS: Outcome.GONE,
}


def is_revisit(ticket: Ticket) -> bool:
    """True for a page that is looked at again; not for the robots.txt or the address that it needs first."""
    return ticket.kind is RequestKind.PAGE and ticket.entry.arm.startswith(REVISIT)


def _sendable(value: str) -> str:
    """A validator as the server gave it, or "" where a header could not hold it."""
    return value if value.isascii() and value.isprintable() else ""


def header_requests(page: Page) -> str:
    """What a header asks of crawlers; where the page itself asks for something else, its content is another."""
    asked = page.headers.get("x-robots-tag")
    if asked is None:
        return ""
    from motherlode.extract import header_directives  # few pages have that header, and this process reads none

    return " ".join(sorted(header_directives(asked)))


def _is_same_type(known: str, content_type: str) -> bool:
    """Whether a body is to be read as before.

    >>> _is_same_type("text/html; charset=UTF-8", 'text/html;charset="utf-8"'), _is_same_type("text/plain", "text/n3")
    (True, False)
    """
    return not known or _bare(known) == _bare(content_type)


def _bare(content_type: str) -> str:
    return "".join(content_type.lower().replace('"', "").split())


def validator(value: str) -> str:
    """What a conditional request says later; a part of it would not be well-formed, and never match."""
    return value if len(value) <= _MAX_VALIDATOR else ""


def content_hash(body: bytes) -> str:
    return "sha256:" + hashlib.sha256(body).hexdigest()


class RefreshFirst:
    """A policy that picks revisits, the likeliest change first, and leaves all else to the policy of the job."""

    def __init__(self, inner: Policy) -> None:
        self._inner = inner
        self.only_known = False
        """Pick nothing else."""
        self._awake: dict[str, float] = {}
        self._heap: list[tuple[float, str]] = []

    def rate(self, links: Sequence[Link], parent: Parent | None) -> Sequence[Rating]:
        return self._inner.rate(links, parent)

    def learn(self, feedback: Feedback) -> None:
        if not feedback.arm.startswith(REVISIT):
            self._inner.learn(feedback)

    def wake(self, arm: str, best: float, waiting: int) -> None:
        if not arm.startswith(REVISIT):
            self._inner.wake(arm, best, waiting)
        elif self._awake.get(arm) != best:
            self._awake[arm] = best
            heapq.heappush(self._heap, (-best, arm))

    def rest(self, arm: str) -> None:
        if arm.startswith(REVISIT):
            self._awake.pop(arm, None)
        else:
            self._inner.rest(arm)

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
