"""The crawl: the whole life of a URL, on one page.

    frontier → fetch → read (detect, transform, extract, judge) → index → links, reward → frontier

Three things overlap: requests wait on the network in one event loop, readers work in processes of their own, a thread
writes the quads. Between them stand bounded queues, and at most `concurrency` URLs are anywhere between the frontier
and their end, so memory is bounded whatever the web does.

The order of writes makes a crash harmless. A page's quads are handed to the writer before the page is settled; a
checkpoint waits until they are in the store, then commits frontier, totals and visits in one transaction.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass

import msgspec

from motherlode.crawl.errands import Errands, Resolve
from motherlode.crawl.pool import ReaderPool, UnreadableError
from motherlode.crawl.reading import READ_HEADERS, Body, Reading, syntaxes
from motherlode.crawl.settling import PageOutcome, Settler
from motherlode.crawl.totals import Totals
from motherlode.crawl.trapping import TrapWatch
from motherlode.fetch import Archive, RobotsRules, robots_body
from motherlode.frontier import Frontier, Ledger, Ticket
from motherlode.index import PageRecord, Writer
from motherlode.model import Failure, FailureKind, Fetcher, Page, Policy, Request, RequestKind, Syntax, Visit

_CHECKPOINT_SECONDS = 1.0
_MODEL_SHARE = 100.0
"""Saving what was learned may take a hundredth of the time."""
_UNREACHABLE = frozenset(
    {FailureKind.DNS, FailureKind.CONNECT, FailureKind.TLS, FailureKind.TIMEOUT, FailureKind.GUARD, FailureKind.SCHEME}
)
"""Failures of a robots.txt that are failures of the host: the page behind it fails the same way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """When to stop; None means no limit."""

    pages: int | None = None
    seconds: float | None = None
    bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What a crawl is put together from; `assemble` does it."""

    ledger: Ledger
    frontier: Frontier
    policy: Policy
    fetcher: Fetcher
    readers: ReaderPool
    errands: Errands
    writer: Writer
    traps: TrapWatch
    archive: Archive | None = None
    """Where all answers are kept as WARC, if the user wants them."""
    sitemaps: bool = True
    """Offer the sitemaps that robots.txt files name."""
    spelling: Callable[[str], str] | None = None
    """How a recorded web spells its URLs; None on the live web."""
    resolve: Resolve | None = None
    """Where addresses come from; None where the frontier does not ask for them."""


@dataclass(frozen=True, slots=True)
class _Turn:
    """A ticket that has been fetched and read."""

    ticket: Ticket
    fetched: Page | Failure
    reading: Reading | None


class Crawl:
    """Iterate over `visits()`; everything else only reads them."""

    def __init__(self, parts: Parts, *, budget: Budget, concurrency: int) -> None:
        self._parts = parts
        self._frontier = parts.frontier
        self._settler = Settler(parts.frontier, parts.policy, parts.spelling)
        self._budget = budget
        self._concurrency = concurrency
        self._turns: asyncio.Queue[_Turn | None] = asyncio.Queue()
        """Turns that are over; None is a nudge to look at the frontier again."""
        self._running: set[asyncio.Task[None]] = set()
        self._open = 0
        """Tickets whose outcome frontier and policy do not know yet."""
        self._pages_running = 0
        self._broken: BaseException | None = None
        saved = parts.ledger.note("totals")
        self.totals = msgspec.msgpack.decode(saved, type=Totals) if saved else Totals()
        model = parts.ledger.note("policy")
        if model is not None:
            parts.policy.load(model)
        self._stopping = False
        self._checkpoint_at = self._model_at = self._clock_at = time.monotonic()
        self._model_wait = 0.0

    def stop(self) -> None:
        """Begin nothing new; `visits` ends when what is under way has ended."""
        self._stopping = True
        self._turns.put_nowait(None)

    async def visits(self, seeds: Sequence[str] = ()) -> AsyncIterator[Visit]:
        """One visit for each URL that was asked for, as it ends."""
        self._settler.seeds(seeds)
        try:
            while True:
                self._begin_turns()
                if self._open == 0 and (self._over() or self._frontier.exhausted):
                    break
                turn = await self._next_turn()
                if turn is not None:
                    visit = await self._settle(turn)
                    if visit is not None:
                        yield visit
                await self._checkpoint(now=time.monotonic())
        finally:
            await self._end()

    # ── turns begin ──────────────────────────────────────────────────────────────────────────────────

    def _over(self) -> bool:
        budget, totals = self._budget, self.totals
        return (
            self._stopping
            or (budget.pages is not None and totals.fetched + self._pages_running >= budget.pages)
            or (budget.bytes is not None and totals.bytes >= budget.bytes)
            or (budget.seconds is not None and self._seconds() >= budget.seconds)
        )

    def _seconds(self) -> float:
        return self.totals.seconds + time.monotonic() - self._clock_at

    def _begin_turns(self) -> None:
        while self._open < self._concurrency and not self._over():
            ticket = self._frontier.next(time.time())
            if ticket is None:
                return
            self._open += 1
            if ticket.kind is RequestKind.PAGE:
                self._pages_running += 1
            task = asyncio.create_task(self._turn(ticket))
            self._running.add(task)
            task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        if not task.cancelled() and task.exception() is not None:
            self._broken = task.exception()
            self._turns.put_nowait(None)

    async def _turn(self, ticket: Ticket) -> None:
        """Fetch, read and hand to the writer: what can be done for many URLs at a time."""
        if ticket.kind is RequestKind.RESOLVE:
            await self._look_up(ticket)
            return
        fetched = await self._parts.fetcher.fetch(Request(url=ticket.url, kind=ticket.kind))
        self._frontier.answered(ticket, time.time(), elapsed=fetched.elapsed, address=fetched.address)
        self._turns.put_nowait(None)  # its host may be free for another request
        if self._parts.archive is not None:
            await self._parts.archive.add(fetched)
        reading = None
        if isinstance(fetched, Page) and ticket.kind is RequestKind.PAGE:
            try:
                page = _body(fetched)
                reading = await self._parts.readers.read(page)
                supplies = await self._parts.errands.supplies(fetched, reading)
                if supplies is not None:
                    reading = await self._parts.readers.read(msgspec.structs.replace(page, supplies=supplies))
                await self._parts.writer.put(_page_record(ticket, fetched, reading))
            except UnreadableError as error:
                fetched = Failure(
                    url=fetched.url, kind=FailureKind.PROCESSING, detail=str(error), status=fetched.status
                )
        self._turns.put_nowait(_Turn(ticket, fetched, reading))

    async def _look_up(self, ticket: Ticket) -> None:
        """Find the address whose clock the host's requests must pass."""
        if self._parts.resolve is None:
            raise ValueError("the frontier asks for addresses, but nobody can look them up")
        found = await self._parts.resolve(ticket.url)
        if isinstance(found, Failure):
            self._turns.put_nowait(_Turn(ticket, found, None))
        else:
            self._frontier.resolved(ticket, found)
            self._open -= 1
            self._turns.put_nowait(None)

    async def _next_turn(self) -> _Turn | None:
        """The next turn that is over, or None when it is time to look at the frontier or the clock again."""
        if not self._turns.empty():
            return self._turns.get_nowait()
        wait = _CHECKPOINT_SECONDS
        ripe = self._frontier.idle_until()
        if ripe is not None and self._open < self._concurrency and not self._over():
            wait = min(wait, max(0.0, ripe - time.time()))
        if self._broken is not None:
            raise self._broken  # a part of ours broke: let it be seen
        try:
            async with asyncio.timeout(wait + 0.001):
                return await self._turns.get()
        except TimeoutError:
            return None

    # ── turns end ────────────────────────────────────────────────────────────────────────────────────

    async def _settle(self, turn: _Turn) -> Visit | None:
        """Let frontier and policy know what came of a ticket. One at a time, in the order in which turns end."""
        ticket, fetched = turn.ticket, turn.fetched
        self._open -= 1
        if ticket.kind is RequestKind.ROBOTS:
            return self._settle_robots(ticket, fetched)
        self._pages_running -= ticket.kind is RequestKind.PAGE
        if isinstance(fetched, Page) and turn.reading is not None:
            visit = self._settle_page(ticket, fetched, turn.reading)
        elif isinstance(fetched, Failure):
            visit = await self._settle_failure(ticket, fetched)
        else:
            raise ValueError(f"{ticket.url} was fetched but not read")
        self._account(visit)
        return visit

    def _settle_robots(self, ticket: Ticket, fetched: Page | Failure) -> Visit | None:
        self.totals.requests += 1
        body = robots_body(fetched)
        now = time.time()
        if isinstance(fetched, Failure) and fetched.kind is FailureKind.REDIRECT:
            if not self._frontier.reroute(ticket, fetched.location):
                self._frontier.introduce(ticket, b"", now)  # RFC 9309, 2.3.1.2: too many redirects mean no rules
        elif body is not None:
            self._frontier.introduce(ticket, body, now)
            if self._parts.sitemaps:
                self._settler.sitemaps(RobotsRules(body).sitemaps, base=ticket.url)
        elif isinstance(fetched, Failure) and fetched.kind in _UNREACHABLE:
            visit = self._failed_visit(ticket, self._settler.failure(ticket, fetched, now))
            self._account(visit)
            return visit
        elif isinstance(fetched, Failure):
            self._frontier.defer(ticket, now, retry_after=fetched.retry_after)
        return None

    def _settle_page(self, ticket: Ticket, page: Page, reading: Reading) -> Visit:
        entry = ticket.entry
        counts = {Syntax(name): count for name, count in reading.counts.items()}
        outcome = PageOutcome(relevant=reading.relevant, kind=reading.kind, counts=counts, links=reading.links)
        copy_of = self._parts.traps.saw(entry.url, page.body, useful=reading.relevant)
        new = self._settler.page(ticket, outcome)
        if reading.not_followed:
            self._frontier.refused["nofollow"] += reading.not_followed
        return Visit(
            number=self.totals.fetched + 1,
            url=entry.url,
            host=ticket.host,
            arm=entry.arm,
            depth=entry.depth,
            parent_url=entry.parent_url,
            score=entry.score,
            at=page.fetched_at or time.time(),
            status=page.status,
            kind=reading.kind,
            media_type=page.content_type,
            size=page.wire_bytes,
            elapsed=page.elapsed,
            relevant=reading.relevant,
            reward=float(reading.relevant),
            counts=reading.counts,
            quads=reading.quads,
            links=len(reading.links),
            new_links=new,
            problems=reading.problems,
            content_hash=reading.content_hash,
            detail=f"the same content as {copy_of}" if copy_of else "",
        )

    async def _settle_failure(self, ticket: Ticket, failure: Failure) -> Visit:
        failure = self._settler.failure(ticket, failure, time.time())
        if failure.kind is FailureKind.REDIRECT:
            record = PageRecord(
                url=ticket.url,
                fetched_at=failure.fetched_at or time.time(),
                status=failure.status,
                redirects_to=failure.location,
            )
            await self._parts.writer.put(record)
        return self._failed_visit(ticket, failure)

    def _failed_visit(self, ticket: Ticket, failure: Failure) -> Visit:
        entry = ticket.entry
        return Visit(
            number=self.totals.fetched + 1,
            url=entry.url,
            host=ticket.host,
            arm=entry.arm,
            depth=entry.depth,
            parent_url=entry.parent_url,
            score=entry.score,
            at=failure.fetched_at or time.time(),
            failure=failure.kind,
            detail=failure.detail,
            status=failure.status,
            size=failure.wire_bytes,
            elapsed=failure.elapsed,
            location=failure.location,
        )

    def _account(self, visit: Visit) -> None:
        self.totals.add(visit)
        self._frontier.count(visit.host, relevant=visit.relevant, quads=visit.quads, received=visit.size)
        self._parts.ledger.append_visit(visit.number, msgspec.msgpack.encode(visit))

    # ── what lasts ───────────────────────────────────────────────────────────────────────────────────

    async def _checkpoint(self, *, now: float) -> None:
        """Quads first, the frontier's commit last."""
        if now - self._checkpoint_at < _CHECKPOINT_SECONDS:
            return
        await self._parts.writer.flush()
        if now - self._model_at >= self._model_wait:
            self._save_model()
        self._save_totals()
        self._frontier.commit()
        self._checkpoint_at = time.monotonic()

    def _save_totals(self) -> None:
        now = time.monotonic()
        self.totals.seconds += now - self._clock_at
        self._clock_at = now
        self._parts.ledger.put_note("totals", msgspec.msgpack.encode(self.totals))

    def _save_model(self) -> None:
        """Keep what was learned: at every checkpoint while that is cheap, otherwise seldom enough to stay cheap."""
        began = time.monotonic()
        self._parts.ledger.put_note("policy", self._parts.policy.dump())
        self._model_at = time.monotonic()
        self._model_wait = _MODEL_SHARE * (self._model_at - began)

    async def _end(self) -> None:
        """Whatever ended the crawl, leave it so that it can be resumed."""
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
        await self._parts.readers.close()
        await self._parts.fetcher.close()
        if self._parts.archive is not None:
            self._parts.archive.close()
        try:
            await self._parts.writer.close()  # raises where quads could not be stored: then nothing is committed
            self._save_model()
            self._save_totals()
            self._frontier.commit()
        finally:
            self._parts.ledger.close()


def _body(page: Page) -> Body:
    headers = {name: page.headers[name] for name in READ_HEADERS if name in page.headers}
    return Body(url=page.url, content_type=page.content_type, body=page.body, headers=headers)


def _page_record(ticket: Ticket, page: Page, reading: Reading) -> PageRecord:
    return PageRecord(
        url=page.url,
        fetched_at=page.fetched_at or time.time(),
        status=page.status,
        lines=reading.lines,
        quads=reading.quads,
        graphs=reading.graphs,
        media_type=page.content_type,
        kind=reading.kind,
        syntaxes=syntaxes(reading),
        content_hash=reading.content_hash,
        size=len(page.body),
        referrer=ticket.entry.parent_url,
    )
