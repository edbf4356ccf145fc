"""Between frontier and policy: how links are rated, arms picked, and outcomes learned from.

An *arm* is a group of waiting URLs of one host that a policy treats alike: the host itself, or one of its path
patterns. The frontier keeps a queue for each arm and tells the policy which arms may be fetched from now; the policy
picks an arm, the frontier takes the arm's best URL. No policy ever sees the whole frontier.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

import msgspec

from motherlode.model.content import Syntax
from motherlode.model.links import Link
from motherlode.model.pages import FailureKind

MAX_UNTRIED_HOSTS = 20
"""Hosts of one registrable domain that are contacted before one of them was relevant, by default."""


class Rating(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A policy's word on one link."""

    arm: str
    """Never spans two hosts."""
    score: float
    """Order inside the arm: the highest goes first, equals in order of discovery."""
    policy_state: bytes = b""
    """What the policy wants back with the outcome (hashed features, say). The frontier keeps it with the URL."""
    refused: str = ""
    """A reason, where the policy wants the link left out; counted, never silent."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """What became of one URL, as far as policies, rewards, the simulator and other shards may know it.

    A policy learns from it (`Policy.learn`). It is also the parent that `Policy.rate` gets with the links of the page,
    or with the target of a redirect: then `failure` is REDIRECT.
    """

    url: str
    host: str
    arm: str = ""
    """The arm from which the URL was picked."""
    score: float = 0.0
    """The score that the policy gave when the URL was found."""
    depth: int = 0
    """Number of links between the nearest seed and this URL."""
    hops: int = 0
    """Number of redirects in a row that led to this URL."""
    source: str = ""
    """The value of the LinkSource by which the URL was found."""
    policy_state: bytes = b""
    """The bytes that the policy returned with the rating of the URL."""
    parent_url: str = ""
    """The page on which the URL was found."""
    failure: FailureKind | None = None
    """None for a page. A redirect has no reward of its own."""
    relevant: bool = False
    reward: float = 0.0
    """From 0 to 1. By default 1 for a relevant page and 0 otherwise; the user may choose a graded reward."""
    kind: str = ""
    """The value of the page's ContentKind; empty for a failure."""
    counts: Mapping[Syntax, int] = {}
    """Number of distinct statements per syntax."""
    links: Sequence[Link] = ()
    """All links of the page, including those that were known before: the siblings of the links to be rated."""
    size: int = 0
    """Number of bytes that crossed the network."""
    requests: int = 1
    """Number of requests that led here: this one, the redirects before it and the failed attempts."""
    statement_hashes: bytes = b""
    """64-bit hashes of the page's statements, if the reward needs them."""


@runtime_checkable
class Mergeable(Protocol):
    """A policy may also be this: then shards of one crawl share what they learn."""

    def delta(self) -> bytes:
        """What `learn` has brought since the last call, not what was absorbed; empty where that is nothing."""
        ...

    def absorb(self, delta: bytes) -> None:
        """Add what another policy of the same kind has learned."""
        ...


class Reason(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One thing that counts for or against a link, with its weight."""

    name: str
    weight: float
    about: str = ""
    """Which question the weight is part of, where a policy asks several."""


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """Why a policy thinks of a link as it does, for a person to read and a program to parse."""

    says: str
    """How the policy decides, in a sentence or two."""
    reasons: tuple[Reason, ...] = ()
    """Features with their weights, the strongest first; in log-odds where a policy has them."""
    prior: float | None = None
    """What the link promises by its features alone."""
    posterior: float | None = None
    """The same together with the record of its arm."""
    value: float | None = None
    """What the arm is worth now, on the scale by which arms are picked."""
    record: Mapping[str, float] = msgspec.field(default_factory=dict)
    """What came of the arm so far."""
    notes: tuple[str, ...] = ()


@runtime_checkable
class Explains(Protocol):
    """A policy may also be this: then `motherlode explain` tells what a URL's rating comes from."""

    def explain(self, link: Link, rating: Rating, parent: Outcome | None) -> Explanation:
        """Of a link as far as the frontier keeps it, and the rating that it got when it was found."""
        ...


@runtime_checkable
class ValuesArms(Protocol):
    """A policy may also be this: then a visit tells what its arm was thought to be worth when it was picked."""

    def value(self, arm: str) -> float: ...


@runtime_checkable
class Waits(Protocol):
    """A policy may also be this: then it may rather wait for a host that rests than pick what is awake."""

    wait_threshold: float
    """It waits where what is awake is worth less than this share of what a resting host promises; 0 for never."""
    awaited: str
    """The host for whose sake the last pick gave nothing, or ""."""

    def leave(self, host: str) -> None:
        """Not to be waited for: it is not known when it will be awake, or not soon."""
        ...


@runtime_checkable
class Combines(Protocol):
    """A policy may also be this: then models of several crawls become one, and a crawl may start from a model."""

    def merge(self, state: bytes) -> None:
        """Add all that another policy of the same kind had learned when it made this `dump`; its randomness stays."""
        ...


class SummaryLine(msgspec.Struct, frozen=True, kw_only=True):
    """One table of what a policy has learned."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | float, ...], ...]


@runtime_checkable
class Summarizes(Protocol):
    """A policy may also be this: then `motherlode model show` tells what it has learned."""

    def summary(self, most: int) -> Sequence[SummaryLine]:
        """At most so many rows a table, the strongest first."""
        ...


class Policy(Protocol):
    """Rates links when they are found, keeps the arms that are ready, picks one, and learns from what came of it."""

    def rate(self, links: Sequence[Link], parent: Outcome | None) -> Sequence[Rating]:
        """Return one rating for each link, in order. `parent` is None for seeds."""
        ...

    def learn(self, outcome: Outcome) -> None: ...

    def arm_ready(self, arm: str, best: float, waiting: int) -> None:
        """The arm has `waiting` URLs and may be fetched from now; `best` is the score of its first."""
        ...

    def arm_snoozed(self, arm: str) -> None:
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
