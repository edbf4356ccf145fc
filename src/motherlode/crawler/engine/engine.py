"""The crawl: the whole life of a URL, on one page.

    frontier → fetch → read (detect, transform, extract, judge) → index → links, reward → frontier

Three things overlap: requests wait on the network in one event loop, readers work in processes of their own, a thread
writes the quads. Between them stand bounded queues, and at most `concurrency` URLs are anywhere between the frontier
and their end (requests that wait long for a server aside: see `places`), so memory is bounded whatever the web does.

The order of writes makes a crash harmless. A page's quads are handed to the writer before the page is settled; a
checkpoint waits until they are in the store, then commits frontier, totals and visits in one transaction
(`checkpoints`).
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace

import msgspec

from motherlode.crawler.engine.checkpoint import LEAST_SECONDS, Checkpointer, cancel, close
from motherlode.crawler.engine.components import Budget, Components
from motherlode.crawler.engine.limits import Slots
from motherlode.crawler.engine.outage import LeaseResult, OutageBuffer, Verdict
from motherlode.crawler.engine.recovery import restore_counters
from motherlode.crawler.engine.robots_and_dns import RobotsHandler, answered_in, ended_at
from motherlode.crawler.engine.scheduler import PageOutcome, Scheduler
from motherlode.crawler.engine.settlement import (
    body_of,
    failed_visit,
    given,
    page_record,
    page_visit,
    redirect_record,
    why_never_sent,
)
from motherlode.crawler.parsing.messages import ParsedPage
from motherlode.crawler.parsing.parser_pool import UnreadableError
from motherlode.crawler.recrawl.revisits import RevisitResult, is_revisit
from motherlode.crawler.stats.counters import BEING_FETCHED, BEING_READ, EarlyStop, Estimator
from motherlode.frontier import MAX_REDIRECTS, STORAGE_ERRORS, Lease
from motherlode.index import PageRecord
from motherlode.model import Failure, FailureKind, Page, Request, RequestKind, Syntax, Visit
from motherlode.www.urls import OUT_OF_SCOPE

_LOG = logging.getLogger(__package__)
_GRACE_SECONDS = 4.0
"""After the time of a crawl, for what is under way to come to its end."""
_SETTLING_SECONDS = 6.0
"""After the time of a crawl, for what has come to its end to be settled. The rest of ten seconds is for the store."""


class Engine:
    """Iterate over `visits()`; everything else only reads them."""

    def __init__(self, parts: Components, *, budget: Budget, concurrency: int) -> None:
        self._parts = parts
        self._frontier = parts.frontier
        self._settler = Scheduler(parts.frontier, parts.policy, parts.spelling, parts.simplify)
        self._budget = budget
        self._places = Slots(concurrency, freed=self.nudge)
        """Taken by tickets whose outcome frontier and policy do not know yet."""
        self._turns: asyncio.Queue[LeaseResult | None] = asyncio.Queue()
        """Turns that are over; None is a nudge to look at the frontier again."""
        self._running: dict[asyncio.Task[None], Lease] = {}
        self._reading: set[str] = set()
        """Pages that have come and are not handed to the writer yet."""
        self._pages_running = 0
        self._broken: BaseException | None = None
        self._spoiled = False
        """Something on disk failed us: what the last commit holds is all that is sure."""
        self._introductions = RobotsHandler(
            parts.frontier,
            self._settler,
            parts.journal,
            sitemaps=parts.sitemaps,
            usual_sitemaps=parts.usual_sitemaps,
        )
        self._estimator = Estimator()
        self._dry = EarlyStop(after=budget.dry_after, below=budget.dry_below)
        self._values: dict[str, float] = {}
        """Of pages that were picked: what the policy thought that their arms were worth."""
        self.totals = restore_counters(
            parts.storage, policy=parts.policy, traps=parts.traps, estimator=self._estimator, reward=parts.reward
        )
        for trouble in parts.troubles:
            self.totals.note_problem(trouble)
        self._stopping = False
        self._holding = OutageBuffer(parts.outage_monitor, self.totals, nudge=self.nudge, ending=self._ending)
        self._checkpoints = Checkpointer(parts, self.totals, self._estimator)
        if parts.revisits is not None and self._is_spent() and parts.revisits.finish():
            self._budget = Budget()  # that of the crawl was for its own pages, not for the rest of a refresh

    def stop(self) -> None:
        """Begin nothing new; `visits` ends when what is under way has ended."""
        self._stopping = True
        self._turns.put_nowait(None)

    def nudge(self) -> None:
        """Something came from outside: look at the frontier again."""
        self._turns.put_nowait(None)

    def limit_pages(self, pages: int) -> None:
        """A new budget of pages, for the whole crawl."""
        self._budget = replace(self._budget, pages=pages)

    @property
    def pages_begun(self) -> int:
        """Requests for pages so far, those under way included."""
        return self.totals.fetched + self._pages_running

    @property
    def idle(self) -> bool:
        """Nothing is under way, and nothing waits."""
        return self._places.open == 0 and self._frontier.exhausted

    @property
    def resting(self) -> bool:
        """Nothing is under way, and a budget or a stop lets nothing begin."""
        return self._places.open == 0 and self._over()

    def _finished(self) -> bool:
        if self._is_late_by(_SETTLING_SECONDS):
            self._leave_unsettled()
        if self._parts.peers is not None:  # they may always send more: only a stop ends a shard
            return self._places.open == 0 and self._stopping
        return self.resting or self.idle

    async def visits(self, seeds: Sequence[str] = ()) -> AsyncGenerator[Visit, None]:
        """One visit for each URL that was asked for, as it ends."""
        self._settler.seeds(seeds)
        try:
            while True:
                self._holding.tend()
                if self._is_late_by(_GRACE_SECONDS):
                    await self._cut_off()
                self._begin_turns()
                if self._finished():
                    break
                turn = await self._next_turn()
                if turn is not None:
                    visit = await self._settle(turn)
                    if visit is not None:
                        yield visit
                if not self._is_late_by(0.0):  # otherwise the last commit is near, and the store has enough to do
                    await self._checkpoints.take_when_due(dried_out=self._dry.dry)
        except STORAGE_ERRORS as error:
            self._spoiled = True
            raise OSError(f"the frontier could not be read or written: {error}") from error
        except OSError:
            self._spoiled = True
            raise
        finally:
            await cancel(self._let_go())
            await close(self._parts, self._checkpoints, dried_out=self._dry.dry, spoiled=self._spoiled)

    # ── turns begin ──────────────────────────────────────────────────────────────────────────────────

    def _over(self) -> bool:
        return self._is_spent() or self._ending()

    def _ending(self) -> bool:
        """Whatever becomes of what is under way, nothing begins any more."""
        revisits = self._parts.revisits
        is_stopped = self._stopping or self._dry.dry or self._holding.is_spent
        return is_stopped or (revisits is not None and revisits.over()) or self._is_spent(under_way=0)

    def _is_spent(self, *, under_way: int | None = None) -> bool:
        # whatever is under way may end as a visit: a page whose host is not there fails before it is asked for
        pages = self.totals.fetched + (self._places.open if under_way is None else under_way)
        return self._budget.is_spent(pages=pages, seconds=self._checkpoints.seconds, received=self.totals.bytes)

    # ── the end of the time ──────────────────────────────────────────────────────────────────────────

    def _is_late_by(self, seconds: float) -> bool:
        """Whether the time of the crawl has been over for so long."""
        limit = self._budget.seconds
        return limit is not None and self._checkpoints.seconds >= limit + seconds

    def _let_go(self) -> list[asyncio.Task[None]]:
        """The tasks under way, which from here on may end as they like."""
        tasks = list(self._running)
        self._running.clear()
        return tasks

    async def _cut_off(self) -> None:
        """End what is still under way. Its URLs stay handed out, as after a kill, so that a resume begins with them,
        and the journal keeps the pages that have come."""
        tickets, has_come = dict(self._running), frozenset(self._reading)
        await cancel(self._let_go())
        for task, ticket in tickets.items():
            if task.cancelled():  # others ended just before, and are settled
                self._leave(ticket, BEING_READ if ticket.url in has_come else BEING_FETCHED)

    def _leave_unsettled(self) -> None:
        """Let a resume settle what was read too late."""
        while not self._turns.empty():
            turn = self._turns.get_nowait()
            if turn is not None:
                self._leave(turn.lease, BEING_READ)

    def _leave(self, lease: Lease, stage: str) -> None:
        self._places.open -= 1
        if lease.kind is RequestKind.PAGE:
            self._pages_running -= 1
            self.totals.unfinished[lease.url] = stage

    @property
    def dried_out(self) -> bool:
        """The crawl ended, or would, because hardly a request of late was a find."""
        return self._dry.dry

    def _begin_turns(self) -> None:
        if self._holding.stands_still:
            return
        while not self._places.full(time.monotonic()) and not self._over():
            ticket = self._frontier.next(time.time())
            if ticket is None:
                return
            self._places.open += 1
            if ticket.kind is RequestKind.PAGE:
                self._pages_running += 1
                self.totals.unfinished.pop(ticket.url, None)
                self._note_value(ticket)
            task = asyncio.create_task(self._turn(ticket))
            self._running[task] = ticket
            task.add_done_callback(self._ended)

    def _note_value(self, lease: Lease) -> None:
        value = getattr(self._parts.policy, "value", None)  # not every policy `Values` its arms
        if value is not None and not is_revisit(lease):
            self._values[lease.url] = value(lease.entry.arm)

    def _ended(self, task: asyncio.Task[None]) -> None:
        """Notice a task that broke, or that something else than the crawl has cancelled: its place would stay taken."""
        error = None if task.cancelled() else task.exception()
        ticket = self._running.pop(task, None)
        if ticket is not None and task.cancelled():
            error = RuntimeError(f"internal error: the task for {ticket.url} was cancelled")
        if error is None:
            return
        if not isinstance(error, OSError):  # that is told to the user as it is: the disk is full, for one
            _LOG.error("internal error: a task of the crawl ended: %r", error)
        self._broken = error
        self._turns.put_nowait(None)

    async def _turn(self, lease: Lease) -> None:
        """Fetch, read and hand to the writer: what can be done for many URLs at a time."""
        if lease.kind is RequestKind.RESOLVE:
            await self._look_up(lease)
            return
        if self._is_probed(lease):
            await self._probe(lease)
            return
        revisits = self._parts.revisits
        plain = Request(url=lease.url, kind=lease.kind)
        request = plain if revisits is None else revisits.request(lease, time.time())
        began = time.monotonic()
        with self._places.asking(began, usual=self._frontier.response_time(lease)):
            fetched = await self._parts.fetcher.fetch(request)
        self._frontier.response_received(
            lease, ended_at(fetched), elapsed=answered_in(fetched), address=fetched.address
        )
        self._turns.put_nowait(None)  # its host may be free for another request
        if self._parts.archive is not None:
            await self._parts.archive.add(request, fetched)
        if revisits is not None:
            fetched = revisits.judged(lease, fetched)
        reading = None
        if isinstance(fetched, Page) and lease.kind is RequestKind.PAGE:
            self._reading.add(lease.url)
            try:
                reading = await self._read(lease, fetched)
            except UnreadableError as error:
                fetched = Failure(
                    url=fetched.url, kind=FailureKind.PROCESSING, detail=str(error), status=fetched.status
                )
            finally:
                self._reading.discard(lease.url)
        self._turns.put_nowait(self._holding.turn(lease, fetched, reading, began=began))

    async def _read(self, lease: Lease, fetched: Page) -> ParsedPage:
        """Read a page, a second time if it needs something from elsewhere, and hand it to the writer."""
        page = body_of(fetched)
        reading = await self._parts.readers.read(page)
        with self._places.asking(time.monotonic()):  # whoever has what it needs may be slow as well
            supplies = await self._parts.subrequests.supplies(fetched, reading)
        if supplies is not None:
            reading = await self._parts.readers.read(msgspec.structs.replace(page, supplies=supplies))
        await self._parts.writer.put(page_record(lease, fetched, reading))
        return reading

    def _is_probed(self, lease: Lease) -> bool:
        """A HEAD goes first. Not for a page that is known: its request is conditional, which is better."""
        prober = self._parts.prober
        return prober is not None and not is_revisit(lease) and prober.wants(lease.kind, lease.url)

    async def _probe(self, lease: Lease) -> None:
        """Use the ticket for a HEAD. If the page is worth a GET, it gets a ticket of its own for that."""
        if self._parts.prober is None:
            raise ValueError("nothing was said about probing")
        request = Request(url=lease.url, kind=RequestKind.PROBE)
        began = time.monotonic()
        with self._places.asking(began, usual=self._frontier.response_time(lease)):
            answer = await self._parts.fetcher.fetch(request)
        self._frontier.response_received(lease, ended_at(answer), elapsed=answered_in(answer), address=answer.address)
        self.totals.heads += 1
        verdict = self._parts.prober.verdict(lease.url, answer)
        if verdict is not None:
            if self._parts.archive is not None:  # otherwise the answer to the GET is kept
                await self._parts.archive.add(request, answer)
            self._turns.put_nowait(self._holding.turn(lease, verdict, began=began))
            return
        self.totals.requests += 1
        self._frontier.count(lease.host, relevant=False, quads=0, received=0)  # the host's budget pays for it
        retry_after = answer.retry_after if isinstance(answer, Failure) else None
        self._frontier.probed(lease, ended_at(answer), retry_after=retry_after)
        self._places.open -= 1
        self._pages_running -= 1
        self._turns.put_nowait(None)

    async def _look_up(self, lease: Lease) -> None:
        """Find the address whose clock the host's requests must pass."""
        if self._parts.resolve is None:
            raise ValueError("the frontier asks for addresses, but nobody can look them up")
        began = time.monotonic()
        found = await self._parts.resolve(lease.url)
        if isinstance(found, Failure):
            self._turns.put_nowait(self._holding.turn(lease, found, began=began))
        else:
            self._frontier.resolved(lease, found)
            self._places.open -= 1
            self._turns.put_nowait(None)

    async def _next_turn(self) -> LeaseResult | None:
        """The next turn that is over, or None when it is time to look at the frontier or the clock again."""
        released = self._holding.released()
        if released is not None:
            return released
        if not self._turns.empty():
            return self._turns.get_nowait()
        wait, now = min(LEAST_SECONDS, self._holding.idle_for()), time.monotonic()
        ripe = self._frontier.idle_until()
        if self._places.full(now):
            wait = min(wait, self._places.next_slow(now))
        elif ripe is not None and not self._over() and not self._holding.stands_still:
            wait = min(wait, max(0.0, ripe - time.time()))
        if self._broken is not None:
            raise self._broken  # a part of ours broke: let it be seen
        alarm = asyncio.get_running_loop().call_later(wait + 0.001, self.nudge)  # a third of the cost of a time limit
        try:
            return await self._turns.get()
        finally:
            alarm.cancel()

    # ── turns end ────────────────────────────────────────────────────────────────────────────────────

    async def _settle(self, turn: LeaseResult) -> Visit | None:
        """Let frontier and policy know what came of a ticket. One at a time, in the order in which turns end."""
        ticket, fetched, verdict = turn.lease, turn.fetched, self._holding.verdict(turn)
        if verdict is Verdict.WAITS:
            self._holding.keep(turn)
            return None
        self._places.open -= 1
        self._pages_running -= ticket.kind is RequestKind.PAGE
        if isinstance(fetched, Failure) and verdict is Verdict.UNCOUNTED:
            self._frontier.put_back(ticket, fetched.kind, ended_at(fetched))
            self._forget_answer(ticket)
            return None
        if isinstance(fetched, Failure) and fetched.elsewhere:
            self._frontier.elsewhere(ticket, ended_at(fetched))
            self._forget_answer(ticket)
            return None
        never_sent = why_never_sent(ticket, fetched)
        if never_sent:  # so there is no visit, and no budget pays
            self._frontier.refuse(ticket, never_sent)
            self._forget_answer(ticket)
            return None
        if ticket.kind is RequestKind.ROBOTS:
            return self._introduce(ticket, fetched)
        outcome = self._parts.revisits.outcome(ticket, fetched) if self._parts.revisits is not None else None
        if outcome is not None:
            visit = await self._settle_revisit(turn, outcome)
        elif isinstance(fetched, Page) and turn.reading is not None:
            visit = self._settle_page(ticket, fetched, turn.reading)
        elif isinstance(fetched, Failure):
            visit = await self._settle_failure(ticket, fetched)
        else:
            raise ValueError(f"{ticket.url} was fetched but not read")
        self._forget_answer(ticket)
        return self._account(visit)

    def _forget_answer(self, lease: Lease) -> None:
        """A turn is over: the journal need not keep its answer."""
        if self._parts.journal is not None:
            self._parts.journal.settled(lease.kind, lease.url)
        self._values.pop(lease.url, None)

    async def _settle_revisit(self, turn: LeaseResult, outcome: RevisitResult) -> Visit:
        """A known page was looked at again, and is as it was, another, or gone."""
        revisits, fetched = self._parts.revisits, turn.fetched
        if revisits is None:
            raise ValueError("nobody remembers the pages")
        ticket = revisits.close(turn.lease)
        if isinstance(fetched, Page) and turn.reading is not None:
            visit = self._settle_page(ticket, fetched, turn.reading)
        elif isinstance(fetched, Failure):
            if outcome is not RevisitResult.UNCHANGED and fetched.kind is not FailureKind.REDIRECT:
                at = fetched.fetched_at or time.time()  # a page that says nothing: its quads go, its provenance stays
                await self._parts.writer.put(PageRecord(url=ticket.url, fetched_at=at, status=fetched.status))
            if fetched.kind is FailureKind.NOT_MODIFIED:
                self._frontier.done(ticket)
                visit = self._failed(ticket, fetched)
            else:
                visit = await self._settle_failure(ticket, fetched)
        else:
            raise ValueError(f"{ticket.url} was fetched but not read")
        return revisits.settle(outcome, visit, fetched)

    def _introduce(self, lease: Lease, fetched: Page | Failure) -> Visit | None:
        self.totals.requests += 1
        failure = self._introductions.settle(lease, fetched)
        if failure is None:
            return None
        return self._account(self._failed(lease, failure))

    def _settle_page(self, lease: Lease, page: Page, reading: ParsedPage) -> Visit:
        entry = lease.entry
        counts = {Syntax(name): count for name, count in reading.counts.items()}
        reward = self._parts.reward(given(entry, page, reading))
        outcome = PageOutcome(
            relevant=reading.relevant, kind=reading.kind, counts=counts, links=reading.links, reward=reward
        )
        useful, parent = reading.relevant, entry.parent_url
        copy_of = self._parts.traps.saw(entry.url, page.body, useful=useful, gist=reading.gist, parent=parent)
        new = self._settler.page(lease, outcome)
        self._parts.traps.page_is_over()
        if reading.not_followed:
            self._frontier.refused["nofollow"] += reading.not_followed
        if reading.out_of_scope:
            self._frontier.refused[OUT_OF_SCOPE] += reading.out_of_scope
        return page_visit(
            lease,
            page,
            reading,
            number=self.totals.fetched + 1,
            value=self._values.get(lease.url),
            new_links=new,
            copy_of=copy_of,
            reward=reward,
        )

    async def _settle_failure(self, lease: Lease, failure: Failure) -> Visit:
        if failure.kind is FailureKind.REDIRECT and lease.entry.hops < MAX_REDIRECTS:
            await self._parts.writer.put(redirect_record(lease, failure))
            self._parts.traps.moved(lease.url, parent=lease.entry.parent_url)
        if self._parts.revisits is not None:
            self._parts.revisits.failed(lease, failure)
        return self._failed(lease, self._settler.failure(lease, failure, ended_at(failure)))

    def _failed(self, lease: Lease, failure: Failure) -> Visit:
        return failed_visit(lease, failure, number=self.totals.fetched + 1, value=self._values.get(lease.url))

    def _account(self, visit: Visit) -> Visit:
        self.totals.add(visit)
        self._estimator.add(visit)
        self._dry.add(visit)
        self._frontier.count(
            visit.host,
            relevant=visit.relevant - visit.relevant_before,
            quads=visit.quads - visit.quads_before,
            received=visit.size,
            is_known=bool(visit.refresh),
        )
        self._parts.storage.append_visit(visit.number, msgspec.msgpack.encode(visit))
        return visit
