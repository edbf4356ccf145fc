"""A priority queue of the arms that are ready, and the rule by which a policy waits for a better host.

`ReadyArms` finds the arm with the highest value, or a random arm, at a cost that hardly depends on the number of arms.
A heap of a million entries is slow because each of its twenty levels lies in another part of memory. So only the newest
entries are a heap, which is small enough for the processor's cache. A full heap becomes a sorted run, and runs of
similar size are merged, as in a log-structured merge tree. The best arm is the better one of the heap's first entry and
the best last entry of a run. An entry is stale if its arm has another value by now or is snoozed. Stale entries are
dropped when they come to the top.

`WaitRule`: a polite crawl may send a host one request per second or less. If it always fetched from the best ready
host, it would soon have tried all hosts, and it would spend its budget of pages on the worst of them. So the rule
stores the value of each snoozed host. If the best ready arm is worth much less, the policy picks nothing and waits."""

from __future__ import annotations

import heapq
from math import inf
from random import Random
from typing import Any

from motherlode.model import Policy
from motherlode.model.policy import Waits

_MAX_HEAP_ENTRIES = 512
_RUNS_PER_MERGE = 8
"""Runs of one level that are merged to one run of the next level."""
_WAIT_THRESHOLD, _WAIT_THRESHOLD_WITHOUT_DELAY = 0.65, 0.85
"""Default thresholds of a policy that `Waits`, for crawls that are limited by requests and not by time."""

Entry = tuple[float, int, str]
"""The negated value, a stamp that is unique to the entry, and the arm. The smallest entry is the best."""


class ReadyArms:
    """The ready arms by value. Among equal values, the arm that got its value first is the best.

    >>> arms = ReadyArms()
    >>> arms.put("a", 1.0); arms.put("b", 2.0); arms.best()
    'b'
    >>> arms.put("b", 0.5); arms.best()
    'a'
    >>> arms.remove("a"); arms.best()
    'b'
    """

    def __init__(self) -> None:
        self._current: dict[str, Entry] = {}
        """The valid entry of each ready arm. All other entries are stale."""
        self._heap: list[Entry] = []
        self._levels: list[list[list[Entry]]] = []
        """Sorted runs by level. Each run is sorted from its worst entry to its best."""
        self._tops: list[tuple[float, int, Any]] = []
        """A heap of the runs: value and stamp of the best entry of a run, then the run. The tuples are flat because
        they are compared often."""
        self._entries_in_runs = 0
        """Number of entries that the runs had when they were made. Entries that were removed since then are
        included."""
        self._names: list[str] = []
        """Each ready arm once, and some snoozed arms. Filled at the first call of `random`."""
        self._listed: set[str] | None = None
        self._stamp = 0

    def __contains__(self, arm: str) -> bool:
        return arm in self._current

    def __len__(self) -> int:
        return len(self._current)

    def put(self, arm: str, value: float) -> None:
        """Add an arm, or change its value. NaN counts as minus infinity."""
        if value != value:  # NaN: it would compare as unequal to itself and never leave the queue
            value = -inf
        known = self._current.get(arm)
        if known is not None and known[0] == -value:
            return
        if known is None and self._listed is not None and arm not in self._listed:
            self._listed.add(arm)
            self._names.append(arm)
        self._stamp += 1
        entry = self._current[arm] = (-value, self._stamp, arm)
        heapq.heappush(self._heap, entry)
        if len(self._heap) > _MAX_HEAP_ENTRIES:
            self._move_heap_to_runs()

    def remove(self, arm: str) -> None:
        """Remove an arm, if it is there."""
        self._current.pop(arm, None)

    def best(self) -> str | None:
        """Return the arm with the highest value, or None if no arm is ready."""
        heap, tops, current = self._heap, self._tops, self._current
        while heap or tops:
            if not tops or (heap and heap[0] < tops[0]):
                entry = heap[0]
                if current.get(entry[2]) is entry:
                    return entry[2]
                heapq.heappop(heap)
                continue
            run: list[Entry] = tops[0][2]
            entry = run[-1]
            if current.get(entry[2]) is entry:
                return entry[2]
            run.pop()
            if run:
                heapq.heapreplace(tops, (run[-1][0], run[-1][1], run))
            else:
                heapq.heappop(tops)
        return None

    def value(self, arm: str) -> float | None:
        """Return the value of an arm, or None if the arm is not ready."""
        entry = self._current.get(arm)
        return None if entry is None else -entry[0]

    def _move_heap_to_runs(self) -> None:
        """Turn the heap into a sorted run and merge runs. If most entries are stale, sort all valid ones anew."""
        run = sorted(self._heap, reverse=True)
        self._heap = []
        self._entries_in_runs += len(run)
        if self._entries_in_runs > 4 * (len(self._current) + _MAX_HEAP_ENTRIES):
            run = sorted(self._current.values(), reverse=True)
            self._levels, self._entries_in_runs = [], len(run)
        level = 0
        while True:
            if level == len(self._levels):
                self._levels.append([])
            runs = self._levels[level]
            runs.append(run)
            if len(runs) < _RUNS_PER_MERGE:
                break
            run = [entry for each in runs for entry in each]
            run.sort(reverse=True)
            self._levels[level] = []
            level += 1
        self._tops = [(run[-1][0], run[-1][1], run) for runs in self._levels for run in runs if run]
        heapq.heapify(self._tops)

    def random(self, random: Random) -> str | None:
        """Return a random ready arm, each with the same probability, or None if no arm is ready."""
        current = self._current
        if not current:
            return None
        if self._listed is None or len(self._names) > 2 * len(current) + 64:
            self._names = list(current)
            self._listed = set(current)
        while True:
            arm = self._names[random.randrange(len(self._names))]
            if arm in current:
                return arm


class WaitRule:
    """Base class of policies that implement `Waits`.

    The policy calls `_on_ready` and `_on_snoozed` for each arm that becomes ready or snoozed, and `_pick_or_wait` with
    the arm that it would pick.

    >>> rule = WaitRule()
    >>> rule.wait_threshold = 0.5
    >>> rule._on_snoozed("good.example", "an arm", 0.9)
    >>> rule._pick_or_wait("another", 0.2), rule.awaited, rule._pick_or_wait("another", 0.6)
    (None, 'good.example', 'another')
    """

    def __init__(self) -> None:
        self.wait_threshold = 0.0
        """Wait if the best ready arm has less than this share of the value of a snoozed host; 0 means never wait."""
        self.awaited = ""
        """The host because of which the last pick returned None, or ""."""
        self._snoozed_hosts = ReadyArms()
        """Snoozed hosts by the value of their best arm."""
        self._last_pick = ""
        """The arm that was picked last, until the frontier has said whether the arm has more links."""

    def leave(self, host: str) -> None:
        """Do not wait for this host: it will not be ready soon, or the time is unknown."""
        self._snoozed_hosts.remove(host)

    def _on_ready(self, host: str, arm: str) -> None:
        """Record that an arm has waiting links and its host may be fetched from."""
        if self.wait_threshold:
            self._snoozed_hosts.remove(host)
            if arm == self._last_pick:
                self._last_pick = ""

    def _on_snoozed(self, host: str, arm: str, value: float | None) -> None:
        """Record that an arm is empty or its host is snoozed. `value` is None if the arm was not ready before."""
        if not self.wait_threshold:
            return
        if arm == self._last_pick:  # the pick took its last link
            self._last_pick = ""
        elif value is not None and value > (self._snoozed_hosts.value(host) or 0.0):
            self._snoozed_hosts.put(host, value)

    def _pick_or_wait(self, arm: str | None, value: float) -> str | None:
        """Return the best ready arm, or None with `awaited` set if a snoozed host is worth waiting for."""
        self.awaited = ""
        if arm is not None and self.wait_threshold:
            host = self._snoozed_hosts.best()
            if host is not None and value < self.wait_threshold * (self._snoozed_hosts.value(host) or 0.0):
                self.awaited = host
                return None
            self._last_pick = arm
        return arm


def default_wait_threshold(delay: float) -> float:
    """Return the threshold for crawls whose job sets none.

    It is higher without a politeness delay, because then a host is ready again as soon as it has responded.

    >>> default_wait_threshold(1.0) < default_wait_threshold(0.0)
    True
    """
    return _WAIT_THRESHOLD if delay else _WAIT_THRESHOLD_WITHOUT_DELAY


def set_wait_threshold(policy: Policy, wait_threshold: float) -> None:
    """Set the threshold of a policy that `Waits`; do nothing for other policies."""
    if isinstance(policy, Waits):
        policy.wait_threshold = wait_threshold
