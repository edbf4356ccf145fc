"""Leases in flight with their slots, and the limits at which a crawl stops.

A lease takes a slot until it is settled, and there are `concurrency` slots; this bounds the memory. A request whose
response has not come after SLOW_SECONDS costs next to nothing, and a few dozen slow servers would stop a crawl. So a
slow request does not count until its response is there, and a request to a host that was slow before does not count
from the start. At most three slow requests per slot are left out of the count.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from math import inf
from typing import Any, Protocol

import msgspec

from motherlode.crawler.control import Control, control_path
from motherlode.crawler.folder import CrawlFolder
from motherlode.crawler.parsing.messages import ParsedPage
from motherlode.crawler.stats.counters import BEING_FETCHED, BEING_READ, Counters
from motherlode.frontier import Frontier, Lease
from motherlode.model import Fetched, Policy, RequestKind, Visit
from motherlode.model.policy import Stops

_LOG = logging.getLogger("motherlode.crawler")
SLOW_SECONDS = 0.5
_SLOW_PER_SLOT = 3
_LOOKUP_SECONDS = 0.02
"""Seconds after which a DNS look-up takes no slot any more. Answers from the resolver's cache come sooner."""
_MAX_SLOW_LOOKUPS = 512
MAX_REQUESTS_PER_SLOT = 1 + _SLOW_PER_SLOT
"""Maximum number of requests in flight per slot: one that counts, and slow ones that do not."""


async def cancel(running: Iterable[asyncio.Task[Any]]) -> None:
    """Cancel tasks and wait until they have ended."""
    tasks = list(running)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


class NoCeiling:
    """Stands for a crawl without a memory ceiling."""

    is_full = False

    def is_exhausted(self) -> bool:
        return False

    def running(self, counters: Counters, *caches: Callable[[], object]) -> AbstractAsyncContextManager[None]:
        return nullcontext()


@dataclass(slots=True, eq=False)
class LeaseResult:
    """The state of one lease, from taking a slot to the end of the lease. Times are those of the engine's clock."""

    lease: Lease
    value: float | None = None
    """The policy's value of the arm when the URL was picked; None if the policy gives none."""
    task: asyncio.Task[None] | None = None
    """The task that fetches and parses; None after the engine has cancelled it."""
    began: float = 0.0
    """When the request was sent."""
    ended: float = 0.0
    """When fetching and parsing ended."""
    response: Fetched | None = None
    """The page or the failure; None until it has arrived, and after a successful DNS lookup."""
    address: str = ""
    """The IP address that a DNS lookup found."""
    parsed: ParsedPage | None = None
    is_arrived: bool = False
    """True if the page has arrived and its parsing has begun."""
    is_head: bool = False
    """True if the lease was used for a HEAD."""
    is_header_read: bool = False
    """True if the lease was used for a HEAD and the policy rates the URL again."""
    is_probe_passed: bool = False
    """True if the lease was used for a HEAD and a GET may follow."""
    is_released: bool = False
    """True if `Frontier.response_received` was called."""
    is_ended: bool = False
    """True if `Frontier.end` was called."""


class Slots:
    """The leases in flight. `take` and `free` are the only places where a slot is taken or freed.

    >>> slots = Slots(1)
    >>> one = slots.take(Lease(url="", host="", entry=None))
    >>> with slots.waiting(one, now=0.0):
    ...     [slots.is_full(now) for now in (0.4, 0.6)]
    [True, False]
    """

    def __init__(self, most: int, *, on_free: Callable[[], None] = lambda: None) -> None:
        self._most = most
        self._on_free = on_free
        """Called when a slot becomes free because a request turns out to be slow."""
        self.results: dict[LeaseResult, None] = {}
        """The leases in flight, in the order in which they began."""
        self.pages_in_use = 0
        """Number of slots that leases for pages take."""
        self._waiting: dict[LeaseResult, float] = {}
        """Lease → time at which its request was sent, for requests that are not slow yet, oldest first."""
        self._slow: set[LeaseResult] = set()
        self._looking_up: dict[LeaseResult, float] = {}
        """Lease → time at which its DNS look-up began, for look-ups that still take a slot, oldest first."""
        self._slow_lookups: set[LeaseResult] = set()

    def take(self, lease: Lease, *, value: float | None = None) -> LeaseResult:
        result = LeaseResult(lease, value)
        self.results[result] = None
        self.pages_in_use += lease.kind is RequestKind.PAGE
        return result

    def free(self, result: LeaseResult) -> None:
        del self.results[result]
        self.pages_in_use -= result.lease.kind is RequestKind.PAGE

    def take_tasks(self) -> list[asyncio.Task[None]]:
        """Return the tasks in flight, which may be cancelled from now on."""
        tasks = [result.task for result in self.results if result.task is not None]
        for result in self.results:
            result.task = None
        return tasks

    @property
    def in_use(self) -> int:
        return len(self.results)

    @contextmanager
    def waiting(self, result: LeaseResult, now: float, *, usual: float = 0.0) -> Iterator[None]:
        """Context manager around the wait for a response. `usual` is the host's usual response time, 0 if unknown."""
        if usual < SLOW_SECONDS:
            self._waiting[result] = now
        else:
            self._slow.add(result)
            self._on_free()
        try:
            yield
        finally:
            self._waiting.pop(result, None)
            self._slow.discard(result)

    @contextmanager
    def looking_up(self, result: LeaseResult, now: float) -> Iterator[None]:
        """Context manager around a DNS look-up, which takes no slot while it waits for a name server."""
        self._looking_up[result] = now
        try:
            yield
        finally:
            self._looking_up.pop(result, None)
            self._slow_lookups.discard(result)

    def is_full(self, now: float) -> bool:
        while self._looking_up and len(self._slow_lookups) < _MAX_SLOW_LOOKUPS:
            result, began = next(iter(self._looking_up.items()))
            if began > now - _LOOKUP_SECONDS:
                break
            del self._looking_up[result]
            self._slow_lookups.add(result)
        while self._waiting:
            result, began = next(iter(self._waiting.items()))
            if began > now - SLOW_SECONDS:
                break
            del self._waiting[result]
            self._slow.add(result)
        without_slot = min(len(self._slow), _SLOW_PER_SLOT * self._most) + len(self._slow_lookups)
        return len(self.results) - without_slot >= self._most

    def next_slow(self, now: float) -> float:
        """Return the seconds until another request becomes slow; infinite if there is none."""
        request = next(iter(self._waiting.values()), inf) + SLOW_SECONDS
        can_wait = len(self._slow_lookups) < _MAX_SLOW_LOOKUPS
        look_up = next(iter(self._looking_up.values()), inf) + _LOOKUP_SECONDS if can_wait else inf
        return max(0.0, min(request, look_up) - now)

    async def abandon_requests(self, counters: Counters) -> None:
        """Cancel the requests in flight. Their URLs stay leased, as after a kill: a resume begins with them."""
        running = {result: result.task for result in self.results}
        await cancel(self.take_tasks())
        for result, task in running.items():
            if task is not None and task.cancelled():  # others have ended and are in the queue
                self._abandon(result, BEING_READ if result.is_arrived else BEING_FETCHED, counters)

    def abandon_results(self, queue: asyncio.Queue[LeaseResult | None], counters: Counters) -> None:
        """Discard results that came too late. `motherlode resume` fetches their URLs again."""
        while not queue.empty():
            result = queue.get_nowait()
            if result is not None:
                self._abandon(result, BEING_READ, counters)

    def _abandon(self, result: LeaseResult, stage: str, counters: Counters) -> None:
        self.free(result)
        if result.lease.kind is RequestKind.PAGE:
            counters.unfinished[result.lease.url] = stage


class IdleTimeout:
    """The timeout of a crawl at whose end only retries of failed URLs are left.

    >>> timeout = IdleTimeout(60.0)
    >>> [timeout.is_over(now, ready_at=ready_at) for now, ready_at in ((100.0, 130.0), (131.0, 150.0), (151.0, 190.0))]
    [False, False, True]
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._since: float | None = None
        """Time since which only retries are left; None if there is something else to fetch."""

    def reset(self) -> None:
        """Start the timeout again, because a page has arrived or a URL waits for its first attempt."""
        self._since = None

    def is_over(self, now: float, *, ready_at: float) -> bool:
        """Return whether the next retry, at `ready_at`, comes after the timeout. Then the crawl ends without it."""
        self._since = now if self._since is None else self._since
        return ready_at > self._since + self.seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The limits at which a crawl stops. None means no limit."""

    pages: int | None = None
    seconds: float | None = None
    bytes: int | None = None
    stop_after: int | None = None
    """Number of the last requests, of which at least the share `stop_below` must be relevant pages."""
    stop_below: float = 0.01
    idle: float = inf
    """Seconds to wait if only retries are left."""


class Limits:
    """Decides when no further request starts. `conditions` are the stop rules of optional parts."""

    def __init__(
        self,
        budget: Budget,
        early_stop: EarlyStop,
        counters: Counters,
        slots: Slots,
        *,
        seconds: Callable[[], float],
        conditions: Sequence[Callable[[], bool]] = (),
    ) -> None:
        self.budget = budget
        self._early_stop = early_stop
        self._counters = counters
        self._slots = slots
        self._seconds = seconds
        self._conditions = conditions
        self.is_stopping = False
        """True if nothing new may begin because the user wants the crawl to stop."""

    def is_spent(self, *, in_flight: int | None = None) -> bool:
        """Return whether the budget is spent. Every lease in flight may become a visit, also one of a prerequisite."""
        budget, pages = self.budget, self._counters.page_requests
        pages += self._slots.in_use if in_flight is None else in_flight
        return (
            (budget.pages is not None and pages >= budget.pages)
            or (budget.seconds is not None and self._seconds() >= budget.seconds)
            or (budget.bytes is not None and self._counters.bytes >= budget.bytes)
        )

    def is_ending(self) -> bool:
        """Return whether no further request will start, however the leases in flight end."""
        is_stopped = self.is_stopping or self._early_stop.is_reached or any(rule() for rule in self._conditions)
        return is_stopped or self.is_spent(in_flight=0)

    def is_over(self) -> bool:
        """Return whether no request may start now. That may change when a lease in flight ends without a visit."""
        return self.is_spent() or self.is_ending()

    def seconds_left(self) -> float:
        """Return the seconds until the time limit; infinite if there is none."""
        return inf if self.budget.seconds is None else self.budget.seconds - self._seconds()

    def is_late_by(self, seconds: float) -> bool:
        """Return whether the time limit was reached at least the given number of seconds ago."""
        return self.budget.seconds is not None and self.seconds_left() <= -seconds


class EarlyStop:
    """Early stop: reached if fewer than the share `below` of the last `after` requests gave relevant pages.

    It is also reached if a policy that `Stops` has a reason to end the crawl.

    >>> watch = EarlyStop(after=4, below=0.25)
    >>> for host, relevant in enumerate((1, 0, 0, 0, 0)):
    ...     watch.add(Visit(number=1, url="", host=str(host), relevant=bool(relevant)))
    ...     if watch.is_reached:
    ...         print(f"stop at host {host}")
    stop at host 4
    """

    def __init__(self, *, after: int | None, below: float, policy: Policy | None = None) -> None:
        self._after = after
        self._below = below
        self._policy: Stops | None = policy if isinstance(policy, Stops) else None
        self._last: deque[bool] = deque(maxlen=after)
        self._relevant = 0

    def add(self, visit: Visit) -> None:
        """Record a visit. Revisits do not count."""
        if self._after is None or visit.refresh:
            return
        if len(self._last) == self._after:
            self._relevant -= self._last[0]
        self._last.append(visit.relevant)
        self._relevant += visit.relevant

    @property
    def is_reached(self) -> bool:
        if self._policy is not None and self._policy.stop_reason:
            return True
        return self._after is not None and len(self._last) == self._after and self._relevant < self._below * self._after


_NOTED_WAIT_SECONDS = 5.0
"""Shortest wait, in seconds, that is shown and logged."""


class WaitMonitor:
    """Notes until when and why nothing may be fetched, and gives up the last retries of a crawl (`idle_timeout`)."""

    def __init__(
        self, frontier: Frontier, counters: Counters, slots: Slots, limits: Limits, *, is_stalled: Callable[[], bool]
    ) -> None:
        self._frontier = frontier
        self._counters = counters
        self._slots = slots
        self._limits = limits
        self._is_stalled = is_stalled
        self.timeout = IdleTimeout(limits.budget.idle)
        self._logged_wait = 0.0
        """End of the wait that was logged last, so that each wait is logged once."""

    def note(self, now: float, *, may_give_up: bool) -> bool:
        """Update the counters. Return whether retries were given up, so that requests may start again."""
        ready_at = None if self._slots.in_use else self._frontier.idle_until()
        if ready_at is None or ready_at <= now + min(_NOTED_WAIT_SECONDS, self.timeout.seconds):
            self.clear()
            return False
        if may_give_up and self._gives_up(ready_at, now):
            return True
        wait = self._frontier.retries.next_wait() or (ready_at, "another response")
        self._counters.waits_until, self._counters.waits_for = wait
        if ready_at >= self._logged_wait + _NOTED_WAIT_SECONDS:
            self._logged_wait = ready_at
            _LOG.info("nothing may be fetched for %.0f s: %s", ready_at - now, self._counters.waits_for)
        return False

    def clear(self) -> None:
        """Note that the crawl does not wait."""
        self._counters.waits_until, self._counters.waits_for = None, ""

    def _gives_up(self, ready_at: float, now: float) -> bool:
        """Give up the retries if nothing else is left and the next one comes too late. Return whether it did."""
        retries = self._frontier.retries
        if self._is_stalled() or self._limits.is_over() or not retries.are_all_that_is_left:
            self.timeout.reset()
            return False
        if not self.timeout.is_over(now, ready_at=ready_at):
            return False
        for entry, failure in retries.give_up(now):
            _LOG.info("%s is given up after %s: nothing else is left (idle_timeout)", entry.url, failure)
            self._counters.note_problem("retries given up, because nothing else was left: see idle_timeout")
        return True


_POLL_SECONDS = 1.0
"""Seconds between two looks at the control file."""


class Controllable(Protocol):
    """A crawl that the control file can change: the engine."""

    def limit_pages(self, pages: int) -> None:
        """Replace the page budget."""
        ...

    def stop(self) -> None:
        """Start no further requests."""
        ...


class ControlFile:
    """Reads the control file of one crawl."""

    def __init__(self, folder: CrawlFolder) -> None:
        self._path = control_path(folder)
        self._next = 0.0
        self._stamp = 0
        self.control = Control()

    def clear(self) -> None:
        """Remove the file of an earlier run."""
        self._path.unlink(missing_ok=True)

    def follow(self, crawl: Controllable, now: float) -> None:
        """Apply what the user has changed since the last look at the file."""
        if not self.has_changed(now):
            return
        _LOG.info("control: %s", self.control)
        if self.control.pages is not None:
            crawl.limit_pages(self.control.pages)
        if self.control.is_stopped:
            crawl.stop()

    def has_changed(self, now: float) -> bool:
        """Read the file if it is time to. Return whether `control` has changed. Invalid files are ignored."""
        if now < self._next:
            return False
        self._next = now + _POLL_SECONDS
        try:
            stamp = self._path.stat().st_mtime_ns
            if stamp == self._stamp:
                return False
            self._stamp = stamp
            found = msgspec.json.decode(self._path.read_bytes(), type=Control)
        except (OSError, msgspec.MsgspecError):
            return False
        has_changed, self.control = found != self.control, found
        return has_changed
