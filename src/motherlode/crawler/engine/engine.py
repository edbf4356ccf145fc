"""The main loop of a crawl. The docstring of this package describes the life of a URL."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace

from motherlode.crawler.engine.checkpoint import MIN_SECONDS, Checkpointer
from motherlode.crawler.engine.components import Components, closing
from motherlode.crawler.engine.limits import Budget, EarlyStop, LeaseResult, Limits, Slots, WaitMonitor
from motherlode.crawler.engine.outage import Verdict
from motherlode.crawler.engine.pipeline import LeasePipeline
from motherlode.crawler.engine.recovery import restore_counters
from motherlode.crawler.engine.robots_and_dns import RobotsAndDns, ignore_rules, look_up_ahead, sitemap_adder
from motherlode.crawler.engine.scheduler import Scheduler
from motherlode.crawler.engine.settlement import FATAL_ERRORS, Settlement
from motherlode.crawler.engine.watchdog import STALL_SECONDS, Step, Watchdog, describe_leases
from motherlode.crawler.stats.counters import Estimator
from motherlode.model import Page, RequestKind, Visit
from motherlode.runtime import Clock

_GRACE_SECONDS = 4.0
"""Seconds after the time limit of a crawl in which requests in flight may end."""
_SETTLING_SECONDS = 6.0
"""Seconds after the time limit of a crawl until which results are settled. Four more are left for the store."""


class Engine:
    """Runs a crawl: iterate over `visits()`, which does all the work."""

    stall_seconds = STALL_SECONDS
    """Seconds without a settled page after which the watchdog reports a stall."""

    def __init__(self, parts: Components, *, budget: Budget, concurrency: int, clock: Clock) -> None:
        self._parts = parts
        self._frontier = parts.frontier
        self._outage = parts.outage_monitor
        self._clock = clock
        self._results: asyncio.Queue[LeaseResult | None] = asyncio.Queue()
        """Results to settle. None makes the main loop continue without a result."""
        self._broken: BaseException | None = None
        self._step = Step.RESULT
        """The step that the main loop is waiting for. The watchdog reports it."""
        self._estimator = estimator = Estimator()
        self.totals = restore_counters(
            parts.storage, policy=parts.policy, traps=parts.traps, estimator=estimator, reward=parts.reward
        )
        for problem in parts.problems:
            self.totals.note_problem(problem)
        self._early_stop = EarlyStop(after=budget.stop_after, below=budget.stop_below, policy=parts.policy)
        self._checkpointer = Checkpointer(parts, self.totals, estimator, self._early_stop)
        self._slots = Slots(concurrency, on_free=self.wake_up)
        self._limits = Limits(
            budget,
            self._early_stop,
            self.totals,
            self._slots,
            seconds=lambda: self._checkpointer.seconds,
            conditions=(self._outage.is_exhausted, *parts.stop_conditions),
        )
        self._waits = WaitMonitor(
            parts.frontier, self.totals, self._slots, self._limits, is_stalled=lambda: self._is_held_up
        )
        self._scheduler = Scheduler(parts.frontier, parts.policy, respell=parts.respell, simplify=parts.simplify)
        self.add_seeds = self._scheduler.add_seeds
        """A shard adds them before links of its peers arrive. Otherwise `visits` does it."""
        on_rules = sitemap_adder(self._scheduler, usual=parts.usual_sitemaps) if parts.sitemaps else ignore_rules
        self._pipeline = LeasePipeline(
            parts, self._scheduler, self._slots, self.totals, clock=clock, on_response=self.wake_up
        )
        self._settlement = Settlement(
            parts,
            self._scheduler,
            RobotsAndDns(parts.frontier, forget=parts.forget_response, on_rules=on_rules),
            counters=self.totals,
            estimator=estimator,
            early_stop=self._early_stop,
            clock=clock,
        )
        parts.notices.start(self.totals)
        self._outage.start(self.totals, wake_up=self.wake_up, is_ending=self._limits.is_ending)
        if self._limits.is_spent() and parts.revisits.finish():
            self._limits.budget = Budget()  # it was for the crawl's own pages, not for waiting revisits

    def stop(self) -> None:
        """Start no further requests; `visits` ends when the leases in flight have ended."""
        self._limits.is_stopping = True
        self._parts.index_query.stop()
        self.wake_up()

    def wake_up(self) -> None:
        """Let the main loop look at the frontier again. It does so anyway if it has a result to settle."""
        if self._results.empty():
            self._results.put_nowait(None)

    def limit_pages(self, pages: int) -> None:
        """Replace the page budget of the whole crawl."""
        self._limits.budget = replace(self._limits.budget, pages=pages)

    @property
    def pages_started(self) -> int:
        """Number of requests for pages so far, including those in flight."""
        return self.totals.page_requests + self._slots.pages_in_use

    @property
    def is_idle(self) -> bool:
        """True if no lease is in flight and no URL waits."""
        return self._slots.in_use == 0 and self._frontier.exhausted

    @property
    def is_early_stopped(self) -> bool:
        """True if no lease is in flight and none starts: few pages were relevant, or only revisits were wanted."""
        has_stopped = self._early_stop.is_reached or any(rule() for rule in self._parts.stop_conditions)
        return self._slots.in_use == 0 and has_stopped

    def _finished(self) -> bool:
        if self._limits.is_late_by(_SETTLING_SECONDS):
            self._slots.abandon_results(self._results, self.totals)
        if not self._parts.ends_when_idle:
            return self._slots.in_use == 0 and self._limits.is_stopping
        return self.is_idle or (self._slots.in_use == 0 and self._limits.is_over())

    async def visits(self, seeds: Sequence[str] = ()) -> AsyncGenerator[Visit, None]:
        """Crawl, and yield one visit per URL as it ends."""
        self._scheduler.add_seeds(seeds)
        watchdog = Watchdog(self.totals, self._describe_pending, seconds=self.stall_seconds)
        ending = closing(self._parts, self._slots.take_tasks, self._checkpointer.save_final)
        async with watchdog.running(), ending, self._parts.memory.running(self.totals, self._estimator.drop_half):
            while True:
                self._parts.control.follow(self, self._clock.now())
                self._outage.tick()
                self._parts.notices.note_network(self.totals.no_network_since)
                if self._limits.is_late_by(_GRACE_SECONDS):
                    await self._slots.abandon_requests(self.totals)
                self._start_requests()
                if not self._outage.is_stalled:
                    look_up_ahead(self._frontier.host_queue, self._parts.names)
                if self._waits.note(self._clock.now(), may_give_up=self._parts.ends_when_idle):
                    self._start_requests()  # refuses the URLs of hosts that were given up
                if self._finished() and not await self._query_index_again():
                    break
                self._step = Step.RESULT
                result = await self._next_result()
                self._step = Step.SETTLEMENT
                if result is not None and (visit := await self._settle(result)) is not None:
                    self._parts.index_query.note_change()
                    self._parts.notices.note_visit(visit)
                    self._step = Step.READER
                    yield visit
                if not self._limits.is_late_by(0.0):  # otherwise the final checkpoint is near
                    self._step = Step.CHECKPOINT
                    self.totals.in_flight = self._slots.in_use
                    await self._checkpointer.save_if_due()
                    self._parts.index_query.add_results(self._scheduler, self.totals)
            self._waits.clear()
            self.totals.in_flight = 0
            self._step = Step.CHECKPOINT
            await self._checkpointer.describe_rest()

    def _describe_pending(self) -> str:
        """Return what the crawl waits for; "" if nothing is pending, or if the wait is planned and reported as such."""
        if self._step is not Step.RESULT:
            return self._step.value
        now = self._clock.now()
        if self._outage.is_stalled or (self.totals.waits_until or 0.0) > now:
            return ""
        if self._slots.in_use:
            return describe_leases(self._slots.results, now)
        return "" if self._frontier.exhausted or self._limits.is_over() else "a host that is ready"

    async def _query_index_again(self) -> bool:
        """Run the query over the index before the crawl ends. Return whether there is a new URL to fetch."""
        index_query = self._parts.index_query
        if not index_query.is_pending or self._limits.is_stopping or self._limits.is_late_by(0.0):
            return False
        self._step = Step.INDEX_QUERY
        await self._parts.writer.flush()
        await index_query.run_now(seconds=self._limits.seconds_left())
        return index_query.add_results(self._scheduler, self.totals) > 0 and not self._limits.is_over()

    def _start_requests(self) -> None:
        """Lease URLs while there are slots, and start a task for each."""
        if self._is_held_up:
            return
        while not self._slots.is_full(self._clock.now()) and not self._limits.is_over():
            lease = self._frontier.lease(self._clock.now())
            if lease is None:
                return
            is_new_page = lease.kind is RequestKind.PAGE and not lease.is_revisit
            result = self._slots.take(lease, value=self._parts.value_of(lease.entry.arm) if is_new_page else None)
            if lease.kind is RequestKind.PAGE:
                self.totals.unfinished.pop(lease.url, None)
            result.task = asyncio.create_task(self._run(result))

    async def _next_result(self) -> LeaseResult | None:
        """Return the next result; None when it is time to look at the frontier or the clock again."""
        released = self._outage.next_released()
        if released is not None:
            return released
        if not self._results.empty():
            return self._results.get_nowait()
        if (error := self._broken or self._settlement.fatal_error) is not None:
            raise error
        wait, now = min(MIN_SECONDS, self._outage.idle_for()), self._clock.now()
        ready_at = self._frontier.idle_until()
        if self._slots.is_full(now):
            wait = min(wait, self._slots.next_slow(now))
        elif ready_at is not None and not self._limits.is_over() and not self._is_held_up:
            wait = min(wait, max(0.0, ready_at - now))
        timer = asyncio.get_running_loop().call_later(wait + 0.001, self.wake_up)  # a third of the cost of wait_for
        try:
            return await self._results.get()
        finally:
            timer.cancel()

    @property
    def _is_held_up(self) -> bool:
        """Whether no request may start: an outage, the user has paused the crawl, or memory is short."""
        return self._outage.is_stalled or self._parts.control.control.is_paused or self._parts.memory.is_full

    async def _run(self, result: LeaseResult) -> None:
        """Run one lease through the pipeline, and queue its result whatever happens."""
        try:
            await self._pipeline.run(result)
        except asyncio.CancelledError:
            if result.task is not None:  # not by the engine: its slot would stay taken
                self._broken = RuntimeError(f"internal error: the task for {result.lease.url} was cancelled")
                self.wake_up()
            raise
        except FATAL_ERRORS as error:
            self._broken = error
            self.wake_up()
            return
        except Exception as error:  # noqa: BLE001 - it is logged, and becomes the failure of its URL
            self._settlement.fail_internally(result, error)
        result.ended = self._clock.now()
        self._outage.observe(result)
        self._results.put_nowait(result)

    async def _settle(self, result: LeaseResult) -> Visit | None:
        """Hold a result whose failure may be due to our own network; otherwise free its slot and settle it."""
        verdict = self._outage.verdict(result)
        if verdict is Verdict.WAITS:
            self._outage.hold(result)
            return None
        self._slots.free(result)
        if isinstance(result.response, Page):
            self._waits.timeout.reset()
        return await self._settlement.settle(result, verdict)
