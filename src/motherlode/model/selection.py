"""Between frontier and policy: how links are rated, arms picked, and outcomes learned from.

An *arm* is a group of waiting URLs of one host that a policy treats alike: the host itself, or one of its path
patterns. The frontier keeps a queue for each arm and tells the policy which arms may be fetched from now; the policy
picks an arm, the frontier takes the arm's best URL. No policy ever sees the whole frontier.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec

from motherlode.model.facts import Syntax
from motherlode.model.links import Link
from motherlode.model.pages import FailureKind


class Rating(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A policy's word on one link."""

    arm: str
    """Never spans two hosts."""
    score: float
    """Order inside the arm: the highest goes first, equals in order of discovery."""
    memo: bytes = b""
    """What the policy wants back with the outcome (hashed features, say). The frontier keeps it with the URL."""
    refused: str = ""
    """A reason, where the policy wants the link left out; counted, never silent."""


class Parent(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The page on which links were found, as far as a policy may know it."""

    url: str
    host: str
    depth: int
    relevant: bool
    counts: Mapping[Syntax, int] = msgspec.field(default_factory=dict)
    kind: str = ""
    """The value of its ContentKind."""
    memo: bytes = b""


class Feedback(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What became of a URL that was picked."""

    url: str
    host: str
    arm: str
    memo: bytes
    score: float
    """As rated when it was found."""
    reward: float
    relevant: bool
    failure: FailureKind | None = None
    """None for a page. A redirect has no reward of its own."""
    counts: Mapping[Syntax, int] = msgspec.field(default_factory=dict)
    links: int = 0
    parent_url: str = ""


class Policy(Protocol):
    """Rates links when they are found, keeps the arms that are ready, picks one, and learns from what came of it."""

    def rate(self, links: Sequence[Link], parent: Parent | None) -> Sequence[Rating]:
        """One rating for each link, in order. Parent is None for seeds."""
        ...

    def learn(self, feedback: Feedback) -> None: ...

    def wake(self, arm: str, best: float, waiting: int) -> None:
        """The arm has `waiting` URLs and may be fetched from now; `best` is the score of its first."""
        ...

    def rest(self, arm: str) -> None:
        """The arm is empty, or its host must wait."""
        ...

    def pick(self) -> str | None:
        """One of the arms that are awake, or None if none is."""
        ...

    def dump(self) -> bytes:
        """What was learned, to be kept with the crawl."""
        ...

    def load(self, state: bytes) -> None:
        """Take up what an earlier `dump` of the same policy gave."""
        ...
