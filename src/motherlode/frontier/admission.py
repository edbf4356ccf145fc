"""Links come in: what is not known and in scope is rated, written down, and waits in the queue of its arm.

The ledger keeps the URLs and the clocks tell when their hosts may be asked; here is what ties both together, and the
account of what came in.
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
"""Of links that are offered, those of our own hosts; the others are then on their way to who owns them."""

_SEED = LinkSource.SEED
_arm = attrgetter("arm")
_FORMAT = "format"
_ACCOUNT = "frontier"
"""The note that holds the account."""


class Admission:
    """Every known URL comes in once; `read_batch` and `refuse` are how it leaves the queue."""

    def __init__(
        self, *, storage: FrontierStorage, policy: Policy, clocks: HostQueue, scope: Scope, keep_own: KeepOwn | None
    ) -> None:
        self._ledger = storage
        self._policy = policy
        self._clocks = clocks
        self._scope = scope
        self._keep_own = keep_own
        """None where all hosts are ours."""
        self._later: list[tuple[float, int, Entry]] = []
        self._sequence = 0
        self.now = 0.0
        """The last moment that the frontier knows of, in this run or the one before it."""
        self.refused: Counter[str] = Counter()
        self.known_urls = 0
        self.waiting = 0
        self.revisits_left = 0
        """Known pages that are still to be looked at again."""

    def load(self) -> bool:
        """Take up what the ledger holds from an earlier run; whether there was one."""
        account = self._ledger.note(_ACCOUNT)
        if account is not None:
            state: dict[str, Any] = msgspec.msgpack.decode(account)
            self.known_urls, self._sequence = state["known_urls"], state["sequence"]
            self.refused.update(state["refused"])
            self.now = state.get("now", 0.0)
        self._ledger.recover()
        self._later = [(until, entry.sequence, entry) for until, entry in self._ledger.postponed()]
        self.revisits_left = sum(entry.arm.startswith(REVISIT) for _, _, entry in self._later)
        heapq.heapify(self._later)
        for record in self._ledger.hosts():
            self._clocks.remember(record)
        expect = self._clocks.expect
        for arm, name, count in self._ledger.waiting():
            expect(name, arm, count)
            self.waiting += count
            if arm.startswith(REVISIT):
                self.revisits_left += count
        return account is not None

    def save(self) -> None:
        state = {
            "known_urls": self.known_urls,
            "sequence": self._sequence,
            "refused": dict(self.refused),
            "now": self.now,
            "withheld": self._clocks.domains.summary(),
        }
        self._ledger.put_note(_FORMAT, b"")  # its version is what counts
        self._ledger.put_note(_ACCOUNT, msgspec.msgpack.encode(state))

    def add_links(self, links: Sequence[Link], *, parent: Outcome | None) -> int:
        """Take up the links that are not known yet, rated by the policy; how many there were."""
        if self._keep_own is not None:
            links = self._keep_own(links, parent)
        for link in links:
            if link.source is _SEED:  # those that are known, too: a restart forgets who is exempt
                self._clocks.exempt(host_of(link.url))
        fresh = self._fresh(links)
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
                self._ledger.refuse(entry, rating.refused)
            else:
                accepted.append(entry)
        self.known_urls += len(fresh)
        self._ledger.add_new(accepted)
        if parent is not None and parent.source == _SEED.value:
            self._exempt_redirects(accepted)
        self._wait(accepted)
        return len(fresh)

    def _fresh(self, links: Sequence[Link]) -> list[Link]:
        fresh: dict[str, Link] = {}
        scope, domains = self._scope, self._clocks.domains
        for link, known in zip(links, self._ledger.known_of([link.url for link in links]), strict=True):
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
        """A URL that was taken, or has come to its end, waits again."""
        self._ledger.add(entry)
        self._wait((entry,))

    def _wait(self, entries: Sequence[Entry]) -> None:
        """The ledger has the entries; now their hosts must be woken some time."""
        self.waiting += len(entries)
        for arm, together in groupby(entries, key=_arm):  # links of one host often stand together
            first, *others = together
            self._clocks.expect(host_of(first.url), arm, 1 + len(others))

    def _exempt_redirects(self, entries: Sequence[Entry]) -> None:
        """Seeds are always contacted, and so is what they redirect to."""
        for entry in entries:
            if entry.hops:
                self._clocks.exempt(host_of(entry.url))

    def enqueue_later(self, entry: Entry, when: float) -> None:
        heapq.heappush(self._later, (when, entry.sequence, entry))

    def ripen(self, now: float) -> None:
        """What was to wait for a while waits in its arm again, once the time has come."""
        while self._later and self._later[0][0] <= now:
            self.enqueue(heapq.heappop(self._later)[2])

    def turn_back(self, seconds: float) -> None:
        """As in `HostQueue`."""
        self._later = [(when - seconds, sequence, entry) for when, sequence, entry in self._later]
        for when, _, entry in self._later:
            self._ledger.postpone(entry, when)

    def cut_times(self, latest: float) -> int:
        """Cut times of retries that are later than `latest`. Returns how many there were."""
        late = [entry for when, _, entry in self._later if when > latest]
        for entry in late:
            self._ledger.postpone(entry, latest)
        if late:
            self._later = [(min(when, latest), sequence, entry) for when, sequence, entry in self._later]
            heapq.heapify(self._later)
        return len(late)

    def take(self, arm: str) -> tuple[Host, Entry]:
        """The arm's best URL, which waits no longer, and its host."""
        entry = self._ledger.pop(arm)
        if entry is None:
            raise ValueError(f"the policy picked the arm {arm!r}, which is empty")
        self.waiting -= 1
        return self._clocks.taken(host_of(entry.url), arm), entry

    def refuse(self, entry: Entry, reason: str) -> None:
        """A URL that was taken is not fetched after all."""
        self.revisits_left -= entry.arm.startswith(REVISIT)
        self.refused[reason] += 1
        self._ledger.finish(entry, UrlState.REFUSED, reason)

    @property
    def empty(self) -> bool:
        """Nothing waits but what the limit on untried hosts withholds."""
        return self.waiting == self._clocks.domains.withheld_urls and not self._later

    def next_time(self) -> float | None:
        return self._later[0][0] if self._later else None
