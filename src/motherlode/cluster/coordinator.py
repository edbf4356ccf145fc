"""The coordinator: budgets, address grants, learned statistics and the end of a sharded crawl.

It fetches nothing, and no shard waits for it. Each shard reports a few times per second. The response to a report
contains orders: how many pages the shard may start, what the policies of its peers have learned, which IP addresses it
may use, and whether to stop. The coordinator sends nothing except these responses. Therefore a restarted shard never
receives orders that were meant for its previous incarnation.

A *grant* is the right of a shard to start a number of pages or to send requests to an IP address. The coordinator
grants the page budget in portions (`BudgetGrants`) and IP addresses one shard at a time (`AddressGrantTable`). Shards
hold grants in advance, so no request has to wait for the coordinator.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import msgspec

from motherlode.cluster.shard_messages import Orders, ShardProgress, ShardReport, TerminationDetector, Traffic
from motherlode.crawler.stats.counters import Counters, sum_of
from motherlode.frontier import AddressGrant

if TYPE_CHECKING:
    from motherlode.crawler import Job

MAX_PENDING_VISITS = 20_000
"""Maximum number of visits kept for the driver. Older visits are dropped here, but each shard records its visits."""
MIN_MERGE_SECONDS = 3.0
"""Minimum seconds between two deltas of a shard."""
MERGE_BYTES_PER_SECOND = 25e6
"""Maximum rate at which the coordinator sends deltas. Every delta goes to every other shard."""
_MIN_GRANT_SECONDS = 4.0
"""Minimum seconds that a shard keeps an IP address before it is recalled for another shard."""
MAX_GRANT_PAGES = 500
"""Maximum number of pages granted at once."""


class BudgetGrants:
    """Divide the page budget among shards. The sum of all limits never exceeds the budget.

    A shard without work returns its unused pages by reporting a lower limit.

    >>> grants = BudgetGrants(10, shards=2)
    >>> grants.renew(0, started=0, limit=0, wants_more=True), grants.renew(1, started=0, limit=0, wants_more=True)
    (0, 2)
    >>> grants.renew(0, started=0, limit=0, wants_more=True), grants.renew(1, started=1, limit=1, wants_more=False)
    (2, 1)
    """

    def __init__(self, budget: int | None, *, shards: int) -> None:
        self._budget = budget
        self._shards = shards
        self._limits: dict[int, int] = {}

    def change(self, budget: int) -> None:
        """Replace the budget. If it is less than what was granted, the next renewals lower the limits."""
        self._budget = budget

    def renew(self, shard: int, *, started: int, limit: int, wants_more: bool) -> int | None:
        """Return the new limit of a shard that has started `started` pages under `limit`. None means no limit."""
        if self._budget is None:
            return None
        self._limits[shard] = max(limit, started)
        if len(self._limits) < self._shards:
            return self._limits[shard]  # in a resumed crawl, shards that have not reported may have used the budget
        left = self._budget - sum(self._limits.values())
        if left < 0:
            self._limits[shard] = max(started, self._limits[shard] + left)
        if wants_more and left > 0 and self._limits[shard] - started < MAX_GRANT_PAGES / 2:
            self._limits[shard] += max(1, min(MAX_GRANT_PAGES, left // (2 * self._shards)))
        return self._limits[shard]


class _HeldAddress(msgspec.Struct):
    holder: int
    since: float
    queue: deque[int] = msgspec.field(default_factory=deque)
    """Shards that wait for the address."""
    recalled: bool = False


class AddressGrantTable:
    """The holder of each IP address, and the shards that wait for it. The caller passes the time."""

    def __init__(self, *, delay: float, min_seconds: float) -> None:
        self._delay = delay
        """Seconds between two requests to an address."""
        self._min_seconds = min_seconds
        """Seconds that a shard keeps an address before it is recalled for another shard."""
        self._held: dict[str, _HeldAddress] = {}
        self._contested: set[str] = set()
        """Addresses for which a shard waits."""
        self._grants: dict[int, list[AddressGrant]] = {}
        self._recalls: dict[int, list[str]] = {}

    def request(self, shard: int, addresses: Sequence[str], now: float) -> None:
        """Grant free addresses to the shard, and append it to the queue of the others."""
        for address in addresses:
            held = self._held.get(address)
            if held is None:
                self._held[address] = _HeldAddress(shard, now)
                self._grants.setdefault(shard, []).append(AddressGrant(address, 0.0))
            elif held.holder != shard and shard not in held.queue:
                held.queue.append(shard)
                self._contested.add(address)

    def give_back(self, shard: int, grants: Sequence[AddressGrant], now: float) -> None:
        """Pass the grants on to the next shards. Grants that the shard does not hold are ignored."""
        for grant in grants:
            held = self._held.get(grant.address)
            if held is not None and held.holder == shard:
                self._pass_on(held, grant, now)

    def _pass_on(self, held: _HeldAddress, grant: AddressGrant, now: float) -> None:
        if not held.queue:  # no shard waits for the address any more: the holder gets it again
            held.queue.append(held.holder)
        held.holder = held.queue.popleft()
        held.since, held.recalled = now, False
        self._grants.setdefault(held.holder, []).append(grant)
        if not held.queue:
            self._contested.discard(grant.address)

    def release_shard(self, shard: int, now: float) -> None:
        """Drop all grants and requests of a shard that died and was restarted."""
        self._grants.pop(shard, None)
        self._recalls.pop(shard, None)
        for address, held in list(self._held.items()):
            if shard in held.queue:
                held.queue.remove(shard)
            if held.holder == shard:
                self._pass_on(held, AddressGrant(address, self._delay), now)

    def take_changes(self, shard: int, now: float) -> tuple[list[AddressGrant], list[str]]:
        """Return the new grants of a shard since its last call, and the addresses that it must give back."""
        for address in self._contested:
            held = self._held[address]
            if not held.recalled and now - held.since >= self._min_seconds:
                held.recalled = True
                self._recalls.setdefault(held.holder, []).append(address)
        return self._grants.pop(shard, []), self._recalls.pop(shard, [])


class Coordinator:
    """Merge the reports of all shards and make their orders. The caller passes the time."""

    def __init__(self, *, shards: int, job: Job) -> None:
        self._shards = shards
        self._job = job
        delay = job.host_delay / 2 if job.address_delay is None else job.address_delay
        self._address_grants = AddressGrantTable(delay=delay, min_seconds=max(_MIN_GRANT_SECONDS, 8 * delay))
        self._pages = BudgetGrants(job.pages, shards=shards)
        self._termination = TerminationDetector(shards)
        self._incarnations: dict[int, int] = {}
        self._reports: dict[int, ShardReport] = {}
        self._totals: dict[int, Counters] = {}
        self._time_origins: dict[int, float] = {}
        """Time at which the crawl time of each shard was 0."""
        self._deltas: dict[int, list[bytes]] = {number: [] for number in range(shards)}
        self._visits: deque[bytes] = deque(maxlen=MAX_PENDING_VISITS)
        self._warnings: list[str] = []
        self._earlier_traffic: Counter[str] = Counter()
        """Traffic of restarted shards before their last restart."""
        self._delta_bytes = 0.0
        """Largest size of a recent delta in bytes, less a tenth for each smaller one since. It determines the interval
        between deltas."""
        self._stopping = False

    def stop(self) -> None:
        """Order all shards to stop in the responses to their next reports."""
        self._stopping = True

    def change_budget(self, pages: int) -> None:
        """Replace the page budget of the whole crawl."""
        self._job = replace(self._job, pages=pages)
        self._pages.change(pages)

    def join(self, shard: int, totals: bytes, now: float) -> int:
        """Register a shard that was started, or restarted after it died. Return the number of its incarnation."""
        number = self._incarnations[shard] = self._incarnations.get(shard, -1) + 1
        fresh = msgspec.msgpack.decode(totals, type=Counters)
        if number:
            self._address_grants.release_shard(shard, now)
            self._termination.record_report(shard, None, known_round=0)
            before = self._totals.get(shard, Counters())
            lost = before.fetched - fresh.fetched
            self._warnings.append(
                f"shard {shard} died and was restarted at page {fresh.fetched:,}; "
                + (f"{lost:,} pages are fetched again" if lost > 0 else "only pages in flight are fetched again")
            )
            if shard in self._reports:
                self._earlier_traffic.update(asdict(self._reports[shard].traffic))
        self._totals[shard] = fresh
        self._time_origins[shard] = now - fresh.seconds
        return number

    def report(self, report: ShardReport, now: float) -> Orders:
        """Record a report and return the orders for its shard."""
        shard = report.shard
        if report.incarnation != self._incarnations.get(shard):
            return Orders(stop=True)  # a newer incarnation of the shard runs
        self._reports[shard] = report
        self._totals[shard] = msgspec.msgpack.decode(report.totals, type=Counters)
        self._visits.extend(report.visits)
        if report.delta:
            self._delta_bytes = max(len(report.delta), self._delta_bytes * 0.9)
            for other, deltas in self._deltas.items():
                if other != shard:
                    deltas.append(report.delta)
        limit = self._pages.renew(shard, started=report.pages_started, limit=report.limit, wants_more=report.wants_more)
        has_ended = self._termination.record_report(shard, report.idle_mark, known_round=report.known_round)
        self._stopping = self._stopping or has_ended or self._is_budget_used_up(now)
        deltas, self._deltas[shard] = self._deltas[shard], []
        self._address_grants.give_back(shard, report.returned, now)
        self._address_grants.request(shard, report.wanted, now)
        grants, recalls = self._address_grants.take_changes(shard, now)
        return Orders(
            stop=self._stopping,
            limit=limit,
            round=self._termination.round,
            deltas=deltas,
            merge_seconds=compute_merge_seconds(self._shards, self._delta_bytes),
            grants=grants,
            recalls=recalls,
        )

    def _is_budget_used_up(self, now: float) -> bool:
        """Return whether all shards together have used up a budget of the job.

        The coordinator measures the crawl time itself, because a shard updates its totals only when it commits, and it
        makes no commit between the end of its time and the order to stop.
        """
        totals, job = self._totals.values(), self._job
        if job.bytes is not None and sum(shard.bytes for shard in totals) >= job.bytes:
            return True
        if job.time is not None:
            measured = now - min(self._time_origins.values())
            if max(measured, *(shard.seconds for shard in totals)) >= job.time:
                return True
        return job.pages is not None and sum(shard.page_requests for shard in totals) >= job.pages

    def take_progress(self) -> ShardProgress:
        """Return the state of all shards, with the visits and warnings since the last call."""
        visits, self._visits = list(self._visits), deque(maxlen=MAX_PENDING_VISITS)
        warnings, self._warnings = self._warnings, []
        reports = self._reports.values()
        return ShardProgress(
            visits=visits,
            totals=msgspec.msgpack.encode(sum_of(list(self._totals.values()))),
            hosts=sum(report.hosts for report in reports),
            waiting=sum(report.waiting for report in reports),
            in_flight=sum(report.in_flight for report in reports),
            traffic=self._sum_traffic(),
            warnings=warnings,
        )

    def _sum_traffic(self) -> Traffic:
        sums = Counter(self._earlier_traffic)
        for report in self._reports.values():
            sums.update(asdict(report.traffic))
        return Traffic(**sums)


def compute_merge_seconds(shards: int, delta_bytes: float) -> float:
    """Return the seconds between two deltas of a shard that keep the coordinator within `MERGE_BYTES_PER_SECOND`.

    >>> compute_merge_seconds(4, 100_000), compute_merge_seconds(100, 1_000_000)
    (3.0, 396.0)
    """
    return max(MIN_MERGE_SECONDS, shards * (shards - 1) * delta_bytes / MERGE_BYTES_PER_SECOND)
