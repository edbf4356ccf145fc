"""Admission of links: rate new links in scope, store them, and queue them in their arms.

`Admission` connects the storage, which has the URLs, with the host queue, which knows when hosts are ready. It also
keeps the counters of known, waiting and refused URLs.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any

import msgspec

from motherlode.frontier.host_queue import HostQueue
from motherlode.frontier.hosts import Host
from motherlode.frontier.lease import REVISIT, Entry, UrlState, entry_from
from motherlode.frontier.storage.base import FrontierStorage
from motherlode.model import Link, LinkSource, Outcome, Policy
from motherlode.www.urls import Scope, host_of

KeepOwn = Callable[[Sequence[Link], Outcome | None], Sequence[Link]]
"""Returns the links to the hosts of this shard, and sends the other links to the shards that own their hosts."""

_SEED = LinkSource.SEED
_arm = attrgetter("arm")
_FORMAT_KEY = "format"
_COUNTERS_KEY = "frontier"
"""Key of the note with the counters."""


class Admission:
    """Adds every URL once. A URL leaves its queue by `take`."""

    def __init__(
        self, *, storage: FrontierStorage, policy: Policy, clocks: HostQueue, scope: Scope, keep_own: KeepOwn | None
    ) -> None:
        self._storage = storage
        self._policy = policy
        self._host_queue = clocks
        self._scope = scope
        self._keep_own = keep_own
        """None if this process owns all hosts."""
        self._postponed: list[tuple[float, int, Entry]] = []
        self._sequence = 0
        self.now = 0.0
        """The latest time that was passed to the frontier, in this run or the previous one."""
        self.refused: Counter[str] = Counter()
        self.known_urls = 0
        self.waiting = 0
        self.revisits_left = 0
        """Number of known pages that wait for a revisit."""

    def load(self) -> bool:
        """Restore the state of an earlier run from the storage. Return whether there was one."""
        account = self._storage.note(_COUNTERS_KEY)
        if account is not None:
            state: dict[str, Any] = msgspec.msgpack.decode(account)
            self.known_urls, self._sequence = state["known_urls"], state["sequence"]
            self.refused.update(state["refused"])
            self.now = state.get("now", 0.0)
        self._storage.recover()
        self._postponed = [(until, entry.sequence, entry) for until, entry in self._storage.postponed()]
        self.revisits_left = sum(entry.arm.startswith(REVISIT) for _, _, entry in self._postponed)
        heapq.heapify(self._postponed)
        for record in self._storage.hosts():
            self._host_queue.remember(record)
        expect = self._host_queue.add_waiting
        for arm, name, count in self._storage.waiting():
            expect(name, arm, count)
            self.waiting += count
            if arm.startswith(REVISIT):
                self.revisits_left += count
        return account is not None

    def save(self) -> None:
        """Write the counters to the storage."""
        state = {
            "known_urls": self.known_urls,
            "sequence": self._sequence,
            "refused": dict(self.refused),
            "now": self.now,
            "withheld": self._host_queue.domains.count_withheld(),
        }
        self._storage.put_note(_FORMAT_KEY, b"")  # only its version matters
        self._storage.put_note(_COUNTERS_KEY, msgspec.msgpack.encode(state))

    def add_links(self, links: Sequence[Link], *, parent: Outcome | None) -> int:
        """Rate and add the links that are not known yet. Return how many were new."""
        if self._keep_own is not None:
            links = self._keep_own(links, parent)
        for link in links:
            if link.source is _SEED:  # known seeds as well, because a restart forgets which hosts are exempt
                self._host_queue.exempt(host_of(link.url))
        fresh = self._new_links(links)
        if not fresh:
            return 0
        accepted = []
        sequence = self._sequence
        self._sequence += len(fresh)
        for link, rating in zip(fresh, self._policy.rate(fresh, parent), strict=True):
            sequence += 1
            entry = entry_from(link, rating, parent=parent, sequence=sequence)
            if rating.refused:
                self.refused[rating.refused] += 1
                self._storage.refuse(entry, rating.refused)
            else:
                accepted.append(entry)
        self.known_urls += len(fresh)
        self._storage.add_new(accepted)
        if parent is not None and parent.source == _SEED.value:
            self._exempt_redirects(accepted)
        self._announce(accepted)
        return len(fresh)

    def _new_links(self, links: Sequence[Link]) -> list[Link]:
        """Return the links that are new, in scope and not refused by the limit of their domain."""
        fresh: dict[str, Link] = {}
        scope, domains = self._scope, self._host_queue.domains
        for link, known in zip(links, self._storage.known_of([link.url for link in links]), strict=True):
            url = link.url
            if known or url in fresh:
                continue
            reason = scope(url) or domains.refusal(host_of(url)) if link.source is not _SEED else ""
            if reason:
                self.refused[reason] += 1
            else:
                fresh[url] = link
        return list(fresh.values())

    def enqueue(self, entry: Entry) -> None:
        """Put a URL that was taken, or has ended, into the queue of its arm again."""
        self._storage.add(entry)
        self._announce((entry,))

    def _announce(self, entries: Sequence[Entry]) -> None:
        """Count entries that the storage has queued, and announce them to the host queue."""
        self.waiting += len(entries)
        for arm, group in groupby(entries, key=_arm):  # links of one host are often adjacent
            first, *others = group
            self._host_queue.add_waiting(host_of(first.url), arm, 1 + len(others))

    def _exempt_redirects(self, entries: Sequence[Entry]) -> None:
        """Exempt the redirect targets of seeds from the limit on untried hosts, like the seeds themselves."""
        for entry in entries:
            if entry.hops:
                self._host_queue.exempt(host_of(entry.url))

    def enqueue_later(self, entry: Entry, when: float) -> None:
        """Queue an entry again at a later time."""
        heapq.heappush(self._postponed, (when, entry.sequence, entry))

    def ripen(self, now: float) -> None:
        """Put the postponed entries whose time has come into the queues of their arms."""
        while self._postponed and self._postponed[0][0] <= now:
            self.enqueue(heapq.heappop(self._postponed)[2])

    def turn_back(self, seconds: float) -> None:
        """Move the times of postponed entries back, because the machine's clock was set back."""
        self._postponed = [(when - seconds, sequence, entry) for when, sequence, entry in self._postponed]
        for when, _, entry in self._postponed:
            self._storage.postpone(entry, when)

    def cut_times(self, latest: float) -> int:
        """Reduce times of retries that are later than `latest` to `latest`. Return how many there were."""
        late = [entry for when, _, entry in self._postponed if when > latest]
        for entry in late:
            self._storage.postpone(entry, latest)
        if late:
            self._postponed = [(min(when, latest), sequence, entry) for when, sequence, entry in self._postponed]
            heapq.heapify(self._postponed)
        return len(late)

    def take(self, arm: str) -> tuple[Host, Entry]:
        """Pop the arm's best URL. Return its host and its entry."""
        entry = self._storage.pop(arm)
        if entry is None:
            raise ValueError(f"internal error: the policy picked the arm {arm!r}, which is empty")
        self.waiting -= 1
        return self._host_queue.remove_waiting(host_of(entry.url), arm), entry

    def refuse(self, entry: Entry, reason: str) -> None:
        """Refuse a URL that was taken."""
        self.revisits_left -= entry.arm.startswith(REVISIT)
        self.refused[reason] += 1
        self._storage.finish(entry, UrlState.REFUSED, reason)

    @property
    def empty(self) -> bool:
        """True if no URL waits, except those that the limit on untried hosts withholds."""
        return self.waiting == self._host_queue.domains.withheld_urls and not self._postponed

    def next_time(self) -> float | None:
        """Return the time of the next retry; None if nothing is postponed."""
        return self._postponed[0][0] if self._postponed else None
