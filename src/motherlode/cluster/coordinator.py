"""The coordinator: what all shards must agree on. It fetches nothing, decides little, and never makes a shard wait.

Shards report a few times a second and are answered with orders: how many pages they may begin, what the others have
learned, which addresses are theirs to ask, and whether to stop. Nothing is sent to a shard but as such an answer, so a
shard that was started again can never get what was meant for the one before it.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import asdict
from typing import TYPE_CHECKING

import msgspec

from motherlode.cluster.grants import AddressGrant, BudgetGrants, GrantBook
from motherlode.cluster.shard_messages import Orders, ShardProgress, ShardReport, TerminationDetector, Traffic
from motherlode.crawler.stats.counters import Counters, sum_of

if TYPE_CHECKING:
    from motherlode.crawler import Job

MOST_VISITS = 20_000
"""Visits kept for whoever watches; the oldest are let go. Every visit is on record in its shard."""
MERGE_SECONDS = 3.0
"""Between two deltas of a shard, while they are few and small."""
MERGE_BYTES = 25e6
"""A second, that the coordinator sends: every delta goes to every other shard, so with many they must come seldom."""
_TENURE = 4.0
"""Seconds that a shard may keep an address which others want."""


class Coordinator:
    """Pure: time comes with each call."""

    def __init__(self, *, shards: int, job: Job) -> None:
        self._shards = shards
        self._job = job
        rest = job.host_delay / 2 if job.address_delay is None else job.address_delay
        self._book = GrantBook(rest=rest, tenure=max(_TENURE, 8 * rest))
        self._pages = BudgetGrants(job.pages, shards=shards)
        self._quiet = TerminationDetector(shards)
        self._incarnations: dict[int, int] = {}
        self._reports: dict[int, ShardReport] = {}
        self._totals: dict[int, Counters] = {}
        self._deltas: dict[int, list[bytes]] = {number: [] for number in range(shards)}
        self._leases: dict[int, list[AddressGrant]] = {}
        self._recalls: dict[int, list[str]] = {}
        self._visits: deque[bytes] = deque(maxlen=MOST_VISITS)
        self._warnings: list[str] = []
        self._traffic_before: dict[int, list[Traffic]] = {}
        self._delta_bytes = 0.0
        """Of a delta, lately."""
        self._stopping = False

    def stop(self) -> None:
        self._stopping = True

    def joined(self, shard: int, totals: bytes, now: float) -> int:
        """A shard begins, or begins again after it died; the number of its incarnation."""
        number = self._incarnations[shard] = self._incarnations.get(shard, -1) + 1
        fresh = msgspec.msgpack.decode(totals, type=Counters)
        if number:
            self._book.gone(shard, now)
            self._leases.pop(shard, None)
            self._recalls.pop(shard, None)
            self._quiet.heard(shard, None, knows=0)
            before = self._totals.get(shard, Counters())
            lost = before.fetched - fresh.fetched
            self._warnings.append(
                f"shard {shard} died and goes on from page {fresh.fetched:,}; "
                + (f"{lost:,} pages are fetched again" if lost > 0 else "nothing is fetched again but what was open")
            )
            if shard in self._reports:
                self._traffic_before.setdefault(shard, []).append(self._reports[shard].traffic)
        self._totals[shard] = fresh
        return number

    def report(self, report: ShardReport, now: float) -> Orders:
        shard = report.shard
        if report.incarnation != self._incarnations.get(shard):
            return Orders(stop=True)  # another has taken its place
        self._reports[shard] = report
        self._totals[shard] = msgspec.msgpack.decode(report.totals, type=Counters)
        self._visits.extend(report.visits)
        if report.delta:
            self._delta_bytes = max(len(report.delta), self._delta_bytes * 0.9)
            for other, deltas in self._deltas.items():
                if other != shard:
                    deltas.append(report.delta)
        limit = self._pages.renew(shard, begun=report.pages_begun, limit=report.limit, hungry=report.hungry)
        over = self._quiet.heard(shard, report.rest, knows=report.knows)
        self._stopping = self._stopping or over or self._spent()
        deltas, self._deltas[shard] = self._deltas[shard], []
        leases, recalls = self._leases_of(report, now)
        return Orders(
            stop=self._stopping,
            limit=limit,
            round=self._quiet.round,
            deltas=deltas,
            merge_seconds=merge_seconds(self._shards, self._delta_bytes),
            leases=leases,
            recalls=recalls,
        )

    def _leases_of(self, report: ShardReport, now: float) -> tuple[list[AddressGrant], list[str]]:
        self._book.give_back(report.shard, report.returned, now)
        self._book.want(report.shard, report.wanted, now)
        post = self._book.post(now)
        for shard, leases in post.leases.items():
            self._leases.setdefault(shard, []).extend(leases)
        for shard, addresses in post.recalls.items():
            self._recalls.setdefault(shard, []).extend(addresses)
        return self._leases.pop(report.shard, []), self._recalls.pop(report.shard, [])

    def _spent(self) -> bool:
        """A budget has been used up, over all shards."""
        totals, job = self._totals.values(), self._job
        if job.bytes is not None and sum(one.bytes for one in totals) >= job.bytes:
            return True
        if job.time is not None and max(one.seconds for one in totals) >= job.time:
            return True
        return job.pages is not None and sum(one.fetched for one in totals) >= job.pages

    def progress(self) -> ShardProgress:
        """What has happened since the last call, and how things stand."""
        visits, self._visits = list(self._visits), deque(maxlen=MOST_VISITS)
        warnings, self._warnings = self._warnings, []
        reports = self._reports.values()
        return ShardProgress(
            visits=visits,
            totals=msgspec.msgpack.encode(sum_of(list(self._totals.values()))),
            hosts=sum(report.hosts for report in reports),
            waiting=sum(report.waiting for report in reports),
            in_flight=sum(report.in_flight for report in reports),
            traffic=self._traffic(),
            warnings=warnings,
        )

    def _traffic(self) -> Traffic:
        sums: Counter[str] = Counter()
        for report in self._reports.values():
            sums.update(asdict(report.traffic))
        for before in self._traffic_before.values():
            for traffic in before:
                sums.update(asdict(traffic))
        return Traffic(**sums)


def merge_seconds(shards: int, delta_bytes: float) -> float:
    """How far apart the deltas of a shard must be, so that handing them on takes no more than `MERGE_BYTES` a second.

    >>> merge_seconds(4, 100_000), merge_seconds(100, 1_000_000)
    (3.0, 396.0)
    """
    return max(MERGE_SECONDS, shards * (shards - 1) * delta_bytes / MERGE_BYTES)
