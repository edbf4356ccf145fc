"""The arms that are awake, with their values: the best one, or any, at a cost that hardly grows with their number.

A heap of a million entries is slow because each of its twenty levels lies somewhere else in memory. So only the newest
entries are a heap, small enough for the processor's cache. When it is full it becomes a sorted run, and runs of like
size are merged, as in a log-structured store. The best arm is the best of the heap's first and the runs' last; taking
it from a run moves on to its neighbour. An entry whose arm got another value, or rests, is stale, and dropped when met.
"""

from __future__ import annotations

import heapq
from math import inf
from random import Random
from typing import Any

from motherlode.model import Policy

_YOUNG = 512
"""Entries in the heap."""
_FAN_IN = 8
"""Runs of one level that are merged to one of the next."""

Entry = tuple[float, int, str]
"""The value with its sign turned, a stamp that no other entry has, the arm: the least is the best."""


class ReadyArms:
    """Among equal values the arm that got its value first is best.

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
        """The entry of each awake arm; others are stale."""
        self._young: list[Entry] = []
        self._levels: list[list[list[Entry]]] = []
        """Runs by level, each from its worst entry to its best."""
        self._tops: list[tuple[float, int, Any]] = []
        """A heap: value and stamp of the best entry of each run, then the run. Flat, because it is compared a lot."""
        self._in_runs = 0
        """Entries in runs when they were made; more than there are now."""
        self._names: list[str] = []
        """Every awake arm once, and some that rest; kept from the first time that a random one is wanted."""
        self._listed: set[str] | None = None
        self._stamp = 0

    def __contains__(self, arm: str) -> bool:
        return arm in self._current

    def __len__(self) -> int:
        return len(self._current)

    def put(self, arm: str, value: float) -> None:
        """Add an arm, or change its value."""
        if value != value:  # not a number: comes last, and not never: nothing equals it
            value = -inf
        known = self._current.get(arm)
        if known is not None and known[0] == -value:
            return
        if known is None and self._listed is not None and arm not in self._listed:
            self._listed.add(arm)
            self._names.append(arm)
        self._stamp += 1
        entry = self._current[arm] = (-value, self._stamp, arm)
        heapq.heappush(self._young, entry)
        if len(self._young) > _YOUNG:
            self._age()

    def remove(self, arm: str) -> None:
        self._current.pop(arm, None)

    def best(self) -> str | None:
        young, tops, current = self._young, self._tops, self._current
        while young or tops:
            if not tops or (young and young[0] < tops[0]):
                entry = young[0]
                if current.get(entry[2]) is entry:
                    return entry[2]
                heapq.heappop(young)
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
        """The value of an arm that is awake."""
        entry = self._current.get(arm)
        return None if entry is None else -entry[0]

    def _age(self) -> None:
        """The heap becomes a run, and runs are merged; or all is sorted anew where most is stale."""
        fresh = sorted(self._young, reverse=True)
        self._young = []
        self._in_runs += len(fresh)
        if self._in_runs > 4 * (len(self._current) + _YOUNG):
            fresh = sorted(self._current.values(), reverse=True)
            self._levels, self._in_runs = [], len(fresh)
        level = 0
        while True:
            if level == len(self._levels):
                self._levels.append([])
            runs = self._levels[level]
            runs.append(fresh)
            if len(runs) < _FAN_IN:
                break
            fresh = [entry for run in runs for entry in run]
            fresh.sort(reverse=True)
            self._levels[level] = []
            level += 1
        self._tops = [(run[-1][0], run[-1][1], run) for runs in self._levels for run in runs if run]
        heapq.heapify(self._tops)

    def random(self, random: Random) -> str | None:
        """Any awake arm, each as likely as the others: those that rest are passed over, and struck off when many."""
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


# ── Whether to wait: hosts that rest between two requests may be worth more than all that are awake.

_CHOOSY, _CHOOSY_WITHOUT_DELAY = 0.65, 0.85
"""How choosy a policy that `Waits` is where requests are scarce, and time is not."""


class WaitRule:
    """The part of a policy that `Waits`. It must be told of every arm that wakes, rests, or would be picked.

    >>> patient = Patient()
    >>> patient.choosy = 0.5
    >>> patient._rests("good.example", "an arm", 0.9)
    >>> patient._taken("another", 0.2), patient.awaited, patient._taken("another", 0.6)
    (None, 'good.example', 'another')
    """

    def __init__(self) -> None:
        self.choosy = 0.0
        """Rather wait for a host than take what is worth less than this share of what it promises; 0 takes anything."""
        self.awaited = ""
        """The host for whose sake the last pick gave nothing."""
        self._promised = ReadyArms()
        """What the best link of each resting host is worth."""
        self._picked = ""
        """The arm that was picked last, until it is known whether links are left in it."""

    def leave(self, host: str) -> None:
        """Do not wait for the host: it will not be awake soon, or nobody knows when."""
        self._promised.remove(host)

    def _wakes(self, host: str, arm: str) -> None:
        """Links wait in an arm, and its host may be asked."""
        if self.choosy:
            self._promised.remove(host)
            if arm == self._picked:
                self._picked = ""

    def _rests(self, host: str, arm: str, value: float | None) -> None:
        """An arm of this value, if it was awake, is used up or its host must rest."""
        if not self.choosy:
            return
        if arm == self._picked:  # its last link was taken
            self._picked = ""
        elif value is not None and value > (self._promised.value(host) or 0.0):
            self._promised.put(host, value)

    def _taken(self, arm: str | None, value: float) -> str | None:
        """The arm that is the best of those awake, if any is, unless a resting host is worth waiting for."""
        self.awaited = ""
        if arm is not None and self.choosy:
            host = self._promised.best()
            if host is not None and value < self.choosy * (self._promised.value(host) or 0.0):
                self.awaited = host
                return None
            self._picked = arm
        return arm


def default_wait_threshold(delay: float) -> float:
    """How choosy a policy is if nobody says. Without a delay a host is back when it has answered: waiting costs little.

    >>> usual_choosiness(1.0) < usual_choosiness(0.0)
    True
    """
    return _CHOOSY if delay else _CHOOSY_WITHOUT_DELAY


def set_wait_threshold(policy: Policy, choosy: float) -> None:
    """Let the policy wait for hosts that are worth it, if it is one that can."""
    if hasattr(policy, "choosy"):
        policy.choosy = choosy
