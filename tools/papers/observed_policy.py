"""A policy that delegates to another one and reports the outcome of every link."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from motherlode.model import FailureKind, Link, LinkSource, Outcome, Policy, Rating
from motherlode.model.policy import RatesAgain, ReadsHeaders, Stops

Seen = Callable[[Link, Outcome | None, Outcome], None]
"""Callback for every fetched URL except redirects: the link that led to it, the page of the link, and the outcome."""


def observe(policy: Policy, seen: Seen) -> Policy:
    """Return a policy that acts as the given one and reports outcomes. It has the same optional abilities.

    Without them a simulation would send no HEAD requests for LDCOC, for example, and rate no URL again.
    """
    abilities = tuple(mixin for protocol, mixin in _ABILITIES.items() if isinstance(policy, protocol))
    made: type[ObservedPolicy] = type("ObservedPolicy", (*abilities, ObservedPolicy), {})
    return made(policy, seen)


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


class _ReadsHeaders:
    _policy: ReadsHeaders

    def wants_header(self, policy_state: bytes) -> bool:
        return self._policy.wants_header(policy_state)

    def rate_again(self, url: str, rating: Rating, content_type: str | None) -> Rating:
        return self._policy.rate_again(url, rating, content_type)


class _RatesAgain:
    _policy: RatesAgain

    def mention(self, links: Sequence[Link], parent: Outcome) -> None:
        self._policy.mention(links, parent)

    def rate_picked(self, url: str, rating: Rating) -> Rating | None:
        return self._policy.rate_picked(url, rating)


class _Stops:
    _policy: Stops

    @property
    def stop_reason(self) -> str:
        return self._policy.stop_reason


_ABILITIES: dict[type, type] = {ReadsHeaders: _ReadsHeaders, RatesAgain: _RatesAgain, Stops: _Stops}
"""Protocols of optional abilities that matter without delays, and the methods that delegate them."""
