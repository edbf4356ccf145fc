"""The policy as a component of any crawler: add links, get the next one, report its result, save, load.

The crawler keeps its own HTTP client, delays, robots.txt rules and retries. The selector keeps the links that wait and
says which one to fetch next.

>>> selector = LinkSelector(policy="motherlode", target="any")
>>> seeds = selector.add([Link(url="http://a.example/", source=LinkSource.SEED)])
>>> chosen = selector.next(busy={"b.example"})
>>> chosen.entry.url
'http://a.example/'
>>> found = [Link(url="http://a.example/recipes/1", source=LinkSource.ANCHOR, anchor="Lemon cake")]
>>> outcome = selector.report(chosen, FetchResult(relevant=True, links=found))
>>> selector.next().entry.parent_url
'http://a.example/'

A link belongs to a *queue*: the host of its URL, unless the crawler says otherwise. `next` does not return links of
busy queues. Nothing here opens a socket or reads a clock.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from heapq import heappop, heappush
from pathlib import Path
from typing import TypeVar

import msgspec

import motherlode.crawler  # noqa: F401 - adds the target valid:PROFILE
from motherlode.frontier.leases import TREATMENTS
from motherlode.frontier.records import entry_from
from motherlode.integrations.selector_storage import SelectorFolder, SelectorMemory, SelectorStorage, WaitingLink
from motherlode.model import FailureKind, Link, LinkSource, Outcome, Policy, Syntax, Waits
from motherlode.model.policy import ValuesArms
from motherlode.policies import policy_from, target_from
from motherlode.policies.priority_queue import set_wait_threshold
from motherlode.www.urls import host_of

_MAX_COMPARED_ARMS = 256
"""Maximum number of arms that are compared if waiting links have different priorities."""
_MAX_WAIT_SECONDS = 5.0
"""Seconds for which `next` may return None because the policy waits for a busy host."""
_Key = TypeVar("_Key")
_NO_COUNTS: Mapping[Syntax, int] = {}
_Heap = list[tuple[int, float, int]]
"""Negated priority, negated score and number of each waiting link of one arm and queue."""


class FetchResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of fetching a link, as the crawler reports it."""

    relevant: bool = False
    reward: float | None = None
    """From 0 to 1. If it is None, the reward is 1 for a relevant page and 0 otherwise."""
    failure: FailureKind | None = None
    """Why no page was fetched; None if a page was fetched."""
    kind: str = ""
    """The value of the page's ContentKind, if it is known."""
    content_type: str = ""
    counts: Mapping[Syntax, int] = _NO_COUNTS
    """Number of distinct statements per syntax."""
    size: int = 0
    """Number of bytes that crossed the network."""
    links: Sequence[Link] = ()
    """All links of the page, including those that are known."""


class _Arms:
    """The waiting links by arm and queue, and which of them are ready."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._heaps: dict[str, dict[str, _Heap]] = {}
        self._arms_of_queue: dict[str, set[str]] = {}
        self._by_priority: dict[int, dict[str, int]] = {}
        """Number of waiting links of each arm, by priority."""
        self._hosts: dict[str, dict[str, int]] = {}
        """Number of waiting links of each queue, by host."""
        self.busy: AbstractSet[str] = frozenset()
        self.count = 0

    def add(self, link: WaitingLink) -> None:
        entry = link.entry
        heaps = self._heaps.setdefault(entry.arm, {})
        heappush(heaps.setdefault(link.queue, []), (-link.priority, -entry.score, entry.sequence))
        self._arms_of_queue.setdefault(link.queue, set()).add(entry.arm)
        self._count(link, 1)

    def _count(self, link: WaitingLink, change: int) -> None:
        self.count += change
        _add_to(self._by_priority, link.priority, link.entry.arm, change)
        _add_to(self._hosts, host_of(link.entry.url), link.queue, change)

    def take(self, arm: str) -> int:
        """Remove the best link of an arm that is ready, and return its number."""
        heaps = self._heaps[arm]
        queue = min((queue for queue in heaps if queue not in self.busy), key=lambda queue: heaps[queue][0])
        number = heappop(heaps[queue])[2]
        if not heaps[queue]:
            del heaps[queue]
            self._arms_of_queue[queue].discard(arm)
            if not self._arms_of_queue[queue]:
                del self._arms_of_queue[queue]
        if not heaps:
            del self._heaps[arm]
        return number

    def forget(self, link: WaitingLink) -> None:
        """Remove a link that was taken from the counts."""
        self._count(link, -1)

    def announce(self, arm: str) -> None:
        """Tell the policy whether an arm is ready."""
        ready = [heap for queue, heap in self._heaps.get(arm, {}).items() if queue not in self.busy]
        if ready:
            self._policy.arm_ready(arm, -min(ready)[0][1], sum(map(len, ready)))
        else:
            self._policy.arm_snoozed(arm)

    def set_busy(self, busy: AbstractSet[str]) -> None:
        """Set the queues that are busy, and report the changed arms to the policy."""
        changed = self.busy ^ busy
        self.busy = busy
        for queue in sorted(changed):
            for arm in sorted(self._arms_of_queue.get(queue, ())):
                self.announce(arm)

    def is_awaited(self, host: str) -> bool:
        """Return whether links of a host wait in a busy queue."""
        return not self.busy.isdisjoint(self._hosts.get(host, ()))

    def best_of_highest_priority(self) -> str | None:
        """Return the best ready arm of the highest priority.

        Return None if only links of the lowest priority are ready. Then the policy picks among them.
        """
        priorities = sorted(self._by_priority, reverse=True)
        for priority in priorities[:-1]:
            ready = [arm for arm in self._by_priority[priority] if self._is_ready(arm, priority)]
            if ready:
                return max(ready[:_MAX_COMPARED_ARMS], key=self._value)
        return None

    def _is_ready(self, arm: str, priority: int) -> bool:
        return any(heap[0][0] == -priority for queue, heap in self._heaps[arm].items() if queue not in self.busy)

    def _value(self, arm: str) -> float:
        if isinstance(self._policy, ValuesArms):
            return self._policy.value(arm)
        return -min(heap[0][1] for heap in self._heaps[arm].values())


def _add_to(table: dict[_Key, dict[str, int]], key: _Key, name: str, change: int) -> None:
    """Change a count in a table of counts. A count of zero is removed."""
    counts = table.setdefault(key, {})
    counts[name] = counts.get(name, 0) + change
    if not counts[name]:
        del counts[name]
        if not counts:
            del table[key]


class LinkSelector:
    """Keeps the links that wait and chooses the next one by a policy, which learns from what is reported."""

    def __init__(
        self,
        *,
        policy: str = "motherlode",
        target: str = "any",
        seed: int = 0,
        wait_threshold: float = 0.0,
        folder: Path | None = None,
    ) -> None:
        """Make a selector. With a folder it goes on with what was saved there, and `save` makes changes durable.

        `policy` and `target` are names as in a job. With a `wait_threshold` from 0 to 1 the policy may wait for a busy
        host if the best ready link has less than this share of the value of the host's links.
        """
        self._policy = policy_from(policy, seed, target=target_from(target))
        set_wait_threshold(self._policy, wait_threshold)
        self._waits = self._policy if isinstance(self._policy, Waits) else None
        self._storage: SelectorStorage = SelectorMemory() if folder is None else SelectorFolder(folder)
        self._arms = _Arms(self._policy)
        self._in_flight: set[int] = set()
        self._number = 0
        self._awaited, self._awaited_since = "", 0.0
        self._restore(policy)

    @classmethod
    def load(cls, folder: Path, *, policy: str = "motherlode", target: str = "any") -> LinkSelector:
        """Return the selector that was saved in a folder. Links that were being fetched wait again."""
        if not (folder / "data.mdb").exists():
            raise FileNotFoundError(f"no selector was saved in {folder}")
        return cls(policy=policy, target=target, folder=folder)

    def _restore(self, policy: str) -> None:
        saved_policy, state = self._storage.state("policy"), self._storage.state("policy-state")
        if saved_policy not in (None, policy.encode()):
            self._storage.close()
            raise ValueError(f"the links were rated by the policy {saved_policy.decode()}; use it, or a new folder")
        self._storage.put_state("policy", policy.encode())
        if state is not None:
            self._policy.load(state)
        arms = set()
        for link in self._storage.links():
            self._arms.add(link)
            arms.add(link.entry.arm)
            self._number = max(self._number, link.entry.sequence)
        self._number = max(self._number, int(self._storage.state("number") or 0))
        for arm in sorted(arms):
            self._arms.announce(arm)

    def __len__(self) -> int:
        """Return the number of links that wait."""
        return self._arms.count

    def is_new(self, key: bytes) -> bool:
        """Return whether a key was not seen before, and remember it. Keys are saved together with the links."""
        return self._storage.add_key(key)

    def add(
        self,
        links: Sequence[Link],
        *,
        parent: Outcome | None = None,
        payloads: Sequence[bytes] = (),
        priorities: Sequence[int] = (),
        queues: Sequence[str] = (),
    ) -> list[int]:
        """Add links of one page, rated by the policy, and return their numbers; 0 for a link that the policy refuses.

        `parent` is what `report` returned for the page, None for seeds. The other sequences have one value per link.
        Equal URLs are not removed: the caller decides with `is_new` or a filter of its own.
        """
        numbers = []
        arms = set()
        for index, (link, rating) in enumerate(zip(links, self._policy.rate(links, parent), strict=True)):
            if rating.refused:
                numbers.append(0)
                continue
            self._number += 1
            entry = entry_from(link, rating, parent=parent, sequence=self._number)
            waiting = WaitingLink(
                entry=entry,
                queue=queues[index] if queues else host_of(link.url),
                priority=priorities[index] if priorities else 0,
                payload=payloads[index] if payloads else b"",
            )
            self._storage.put(waiting)
            self._arms.add(waiting)
            arms.add(entry.arm)
            numbers.append(self._number)
        for arm in sorted(arms):
            self._arms.announce(arm)
        return numbers

    def next(self, *, busy: Collection[str] = (), now: float = 0.0) -> WaitingLink | None:
        """Return the link to fetch next; None if no link waits in a queue that is not busy, or if the policy waits.

        The link is in flight until it is reported, put back or ended. `now` is a time in seconds, for the wait rule.
        """
        self._arms.set_busy(frozenset(busy))
        arm = self._arms.best_of_highest_priority() or self._pick(now)
        if arm is None:
            return None
        link = self._storage.get(self._arms.take(arm))
        self._arms.forget(link)
        self._arms.announce(arm)
        self._in_flight.add(link.entry.sequence)
        return link

    def _pick(self, now: float) -> str | None:
        while (arm := self._policy.pick()) is None and self._waits is not None and self._waits.awaited:
            awaited = self._waits.awaited
            if awaited != self._awaited:
                self._awaited, self._awaited_since = awaited, now
            if self._arms.is_awaited(awaited) and now < self._awaited_since + _MAX_WAIT_SECONDS:
                return None
            self._waits.leave(awaited)
        self._awaited = ""
        return arm

    def learn(self, link: WaitingLink, result: FetchResult) -> Outcome:
        """Let the policy learn from the result of a link in flight. Return the outcome, the `parent` of its links."""
        entry = link.entry
        outcome = Outcome(
            url=entry.url,
            host=host_of(entry.url),
            arm=entry.arm,
            score=entry.score,
            depth=entry.depth,
            hops=entry.hops,
            source=entry.source,
            policy_state=entry.policy_state,
            parent_url=entry.parent_url,
            requests=1 + entry.hops + entry.attempts,
            failure=result.failure,
            relevant=result.relevant,
            reward=float(result.relevant) if result.reward is None else result.reward,
            kind=result.kind,
            content_type=result.content_type,
            counts=result.counts,
            size=result.size,
            links=result.links,
        )
        if outcome.failure is None or TREATMENTS[outcome.failure].is_learned:
            self._policy.learn(outcome)
        return outcome

    def report(self, link: WaitingLink, result: FetchResult) -> Outcome:
        """Let the policy learn from the result of a link, add all links of its page, and end the link."""
        outcome = self.learn(link, result)
        self.add(result.links, parent=outcome)
        self.end(link)
        return outcome

    def report_redirect(self, link: WaitingLink, location: str) -> tuple[Outcome, Link]:
        """Let the policy learn that a link redirects, and end it. Return the outcome and the link to add for it."""
        outcome = self.report(link, FetchResult(failure=FailureKind.REDIRECT))
        target = Link(url=location, source=LinkSource.REDIRECT, anchor=link.entry.anchor, rel=link.entry.rel)
        return outcome, target

    def put_back(self, link: WaitingLink, *, payload: bytes | None = None) -> None:
        """Let a link that is in flight wait again with its rating, for a retry."""
        self._in_flight.discard(link.entry.sequence)
        again = msgspec.structs.replace(
            link,
            entry=msgspec.structs.replace(link.entry, attempts=link.entry.attempts + 1),
            payload=link.payload if payload is None else payload,
        )
        self._storage.put(again)
        self._arms.add(again)
        self._arms.announce(again.entry.arm)

    def end(self, link: WaitingLink) -> None:
        """End a link without learning from it. Ending it again has no effect."""
        number = link.entry.sequence
        if number in self._in_flight:
            self._in_flight.remove(number)
            self._storage.remove(number)

    def save(self) -> None:
        """Make the links, the keys and the learned state durable in the folder. Without a folder nothing happens."""
        self._storage.put_state("number", str(self._number).encode())
        self._storage.put_state("policy-state", self._policy.dump())
        self._storage.save()

    def close(self) -> None:
        """Save, and release the folder. Links in flight wait again when the folder is loaded."""
        self.save()
        self._storage.close()
