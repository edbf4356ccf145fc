"""The ready arms of a policy in a priority queue, and the rule by which a policy waits for a better host."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from math import inf
from random import Random

from motherlode.model import Policy
from motherlode.model.policy import Waits

_MIN_STALE_ENTRIES = 512
"""The heap is made anew when it has this many entries more than twice the number of ready arms."""
_WAIT_THRESHOLD, _WAIT_THRESHOLD_WITHOUT_DELAY = 0.65, 0.85
"""Default thresholds of a policy that `Waits`, for crawls that are limited by requests and not by time."""

Entry = tuple[float, int, str]
"""The negated value, a stamp that is unique to the entry, and the arm. The smallest entry is the best."""


class ReadyArms:
    """The ready arms by value. Among equal values, the arm that got its value first is the best.

    They are a heap. If the value of an arm changes or the arm is snoozed, its old entry becomes stale: it stays in the
    heap until it comes to the top, or until the heap is made anew.

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
        self._stamp = 0
        self._names: list[str] = []
        """Each ready arm once, and some snoozed arms. Filled at the first call of `random`."""
        self._listed: set[str] | None = None
        """The arms in `_names`; None before the first call of `random`."""

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
        heappush(self._heap, entry)
        if len(self._heap) > 2 * len(self._current) + _MIN_STALE_ENTRIES:
            self._heap = list(self._current.values())
            heapify(self._heap)

    def remove(self, arm: str) -> None:
        self._current.pop(arm, None)

    def best(self) -> str | None:
        """Return the arm with the highest value, or None if no arm is ready."""
        heap, current = self._heap, self._current
        while heap:
            entry = heap[0]
            if current.get(entry[2]) is entry:
                return entry[2]
            heappop(heap)
        return None

    def value(self, arm: str) -> float | None:
        """Return the value of an arm, or None if the arm is not ready."""
        entry = self._current.get(arm)
        return None if entry is None else -entry[0]

    def values(self, limit: int) -> dict[str, float]:
        """Return the values of at most `limit` arms, in the order in which the arms got them."""
        entries = sorted(self._current.values(), key=lambda entry: entry[1])[:limit]
        return {arm: -value for value, _, arm in entries}

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


class BestScorePolicy:
    """Base class of policies that pick the ready arm whose best waiting URL has the highest score."""

    def __init__(self) -> None:
        self._ready = ReadyArms()

    def arm_ready(self, arm: str, best: float, waiting: int) -> None:
        self._ready.put(arm, best)

    def arm_snoozed(self, arm: str) -> None:
        self._ready.remove(arm)

    def pick(self) -> str | None:
        return self._ready.best()


class WaitRule:
    """Base class of policies that implement `Waits`: they may wait for a snoozed host instead of picking a ready arm.

    A polite crawl may send a host one request per second or less. If it always fetched from the best ready host, it
    would soon have tried all hosts, and it would spend its budget of pages on the worst of them. So the rule stores the
    value of each snoozed host. If the value of the best ready arm is much lower, the policy picks nothing and waits.

    The policy calls `_on_ready` and `_on_snoozed` for each arm that becomes ready or snoozed, and `_pick_or_wait` with
    the arm that it would pick.
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
        """Return the best ready arm, or None with `awaited` set if the policy waits for a better snoozed host."""
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
