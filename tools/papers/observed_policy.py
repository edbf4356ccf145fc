"""A policy that delegates to another one and reports the outcome of every link."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from motherlode.model import FailureKind, Link, LinkSource, Outcome, Policy, Rating

Seen = Callable[[Link, Outcome | None, Outcome], None]
"""Callback for every fetched URL except redirects: the link that led to it, the page of the link, and the outcome."""


class ObservedPolicy:
    """Delegates all methods. The target of a redirect counts for the link that led to the redirect."""

    def __init__(self, policy: Policy, seen: Seen) -> None:
        self._policy = policy
        self._seen = seen
        self._found: dict[str, tuple[Link, Outcome | None]] = {}

    def rate(self, links: Sequence[Link], parent: Outcome | None) -> Sequence[Rating]:
        for link in links:
            found = (link, parent)
            if link.source is LinkSource.REDIRECT and parent is not None:
                found = self._found.get(parent.url, found)
            self._found[link.url] = found
        return self._policy.rate(links, parent)

    def learn(self, outcome: Outcome) -> None:
        found = self._found.pop(outcome.url, None)
        if outcome.failure is FailureKind.REDIRECT:
            if found is not None:
                self._found[outcome.url] = found  # its target may be rated after this
        elif found is not None:
            self._seen(*found, outcome)
        self._policy.learn(outcome)

    def arm_ready(self, arm: str, best: float, waiting: int) -> None:
        self._policy.arm_ready(arm, best, waiting)

    def arm_snoozed(self, arm: str) -> None:
        self._policy.arm_snoozed(arm)

    def pick(self) -> str | None:
        return self._policy.pick()

    def dump(self) -> bytes:
        return self._policy.dump()

    def load(self, state: bytes) -> None:
        self._policy.load(state)
