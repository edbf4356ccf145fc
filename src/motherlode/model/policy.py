"""The protocol between frontier and policy: rate links, pick arms, learn from outcomes.

An *arm* is a group of waiting URLs of one host that a policy treats alike: the host itself, or one of its path
patterns. The frontier keeps one queue per arm and tells the policy which arms are ready. The policy picks an arm, and
the frontier takes the arm's best URL. A policy never sees the whole frontier.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, runtime_checkable

import msgspec

from motherlode.model.content import Syntax
from motherlode.model.pages import FailureKind, Link

MAX_UNTRIED_HOSTS = 20
"""Default number of hosts of one registrable domain that are contacted before one of them has a relevant page."""


class Rating(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A policy's rating of one link."""

    arm: str
    """The arm in which the link waits. All URLs of an arm belong to one host."""
    score: float
    """Order within the arm: the highest score first, equal scores in order of discovery."""
    policy_state: bytes = b""
    """Bytes that the policy gets back with the outcome, for example hashed features. The frontier stores them."""
    refused: str = ""
    """The reason if the policy refuses the link, else "". The frontier counts refusals by reason."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The result of fetching one URL, as policies, rewards, the simulator and other shards see it.

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
    """Why there is no page; None for a page. A redirect has no reward of its own."""
    relevant: bool = False
    reward: float = 0.0
    """The reward that the policy learns from, from 0 to 1. By default 1 for a relevant page and 0 otherwise; the user
    may choose a graded reward."""
    kind: str = ""
    """The value of the page's ContentKind; empty for a failure."""
    content_type: str = ""
    """The Content-Type header, if it is known."""
    counts: Mapping[Syntax, int] = {}
    """Number of distinct statements per syntax."""
    links: Sequence[Link] = ()
    """All links of the page, including those that were known before: the siblings of the links to be rated."""
    size: int = 0
    """Number of bytes that crossed the network."""
    requests: int = 1
    """Number of requests that led here: this one, the redirects before it and the failed attempts."""
    statement_hashes: bytes = b""
    """64-bit hashes of the page's statements, subjects or types, if the reward needs them."""
    page_score: float | None = None
    """The score of the user's scorer that is the reward, from 0 to 1; None if there is none."""
    is_unscored: bool = False
    """Whether a scorer of the user failed for this page. Its reward is then the mean of the crawl."""


@runtime_checkable
class ReadsHeaders(Protocol):
    """A policy that wants the Content-Type header of waiting URLs, and rates them again when it is known.

    The first lease of such a URL is used for a HEAD request. Then the URL waits again, with its new rating.
    """

    def wants_header(self, policy_state: bytes) -> bool:
        """Return whether a HEAD is sent before the GET of a URL that was rated with this state."""

    def rate_again(self, url: str, rating: Rating, content_type: str | None) -> Rating:
        """Return the new rating of a URL.

        `content_type` is "" if the response to the HEAD has no page, and None if there is no usable response.
        """


@runtime_checkable
class RatesAgain(Protocol):
    """A policy that rates a waiting URL again if further pages mention it.

    The new rating counts when the URL is picked: then the URL is fetched, or waits again if the rating is worse.
    """

    def mention(self, links: Sequence[Link], parent: Outcome) -> None:
        """Note that a further page has links to URLs that are known. Some of them may have been fetched."""

    def rate_picked(self, url: str, rating: Rating) -> Rating | None:
        """Return the new rating of a URL that was picked; None if it was not mentioned since its last rating."""


@runtime_checkable
class PredictsRedirects(Protocol):
    """A policy that knows rules by which the URLs of a host redirect. The target is then added without a request."""

    def predict_redirect(self, url: str, arm: str) -> str:
        """Return the URL to which a picked URL of an arm redirects; "" if that is not known and it is to be fetched."""


@runtime_checkable
class Mergeable(Protocol):
    """A policy whose learned state can be shared between the shards of one crawl."""

    def delta(self) -> bytes:
        """Return what `learn` added since the last call, without what was absorbed; empty if nothing."""

    def absorb(self, delta: bytes) -> None:
        """Add the delta of another policy of the same kind."""


class Reason(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One feature that counts for or against a link, with its weight."""

    name: str
    weight: float
    about: str = ""
    """The model to which the weight belongs, if a policy has several."""


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """The explanation of a link's rating, for people and programs."""

    says: str
    """How the policy decides, in one or two sentences."""
    reasons: tuple[Reason, ...] = ()
    """Features with their weights, strongest first; in log-odds if the policy has them."""
    prior: float | None = None
    """The link's value by its features alone."""
    posterior: float | None = None
    """The link's value by its features and the statistics of its arm."""
    value: float | None = None
    """The arm's current value, on the scale by which arms are picked."""
    record: Mapping[str, float] = msgspec.field(default_factory=dict)
    """The statistics of the arm, by name."""
    notes: tuple[str, ...] = ()


@runtime_checkable
class Explains(Protocol):
    """A policy that can explain a rating, for `motherlode explain`."""

    def explain(self, link: Link, rating: Rating, parent: Outcome | None) -> Explanation:
        """Explain the rating that a link got when it was found. `link` has only the fields that the frontier stores."""


@runtime_checkable
class ValuesArms(Protocol):
    """A policy with a value per arm. The crawler logs the value of the picked arm with each visit."""

    def value(self, arm: str) -> float:
        """Return the current value of an arm."""


@runtime_checkable
class PredictsRelevance(Protocol):
    """A policy that predicts probabilities, whose calibration a simulation measures."""

    def probability(self, arm: str) -> float:
        """Return the probability that a request for the next URL of an arm returns a relevant page."""


@runtime_checkable
class Waits(Protocol):
    """A policy that may wait for a snoozed host instead of picking a ready arm."""

    wait_threshold: float
    """Wait if the best ready arm has less than this share of the value of a snoozed host's arm; 0 for never."""
    awaited: str
    """The host for which the last `pick` waited and returned None, or ""."""

    def leave(self, host: str) -> None:
        """Do not wait for the host, because it will not be ready soon or the time is unknown."""


@runtime_checkable
class Combines(Protocol):
    """A policy whose models of several crawls can be merged. A crawl may also start from such a model."""

    def merge(self, state: bytes) -> None:
        """Add the learned state in another policy's `dump`. The random state does not change."""


@runtime_checkable
class Forgets(Protocol):
    """A policy whose learned state grows with the number of hosts, and that can forget a part of it to save memory."""

    def forget(self, is_needed: Callable[[str], bool]) -> int:
        """Forget caches, and hosts without reward for which `is_needed` returns False. Return the number of hosts."""


@runtime_checkable
class Stops(Protocol):
    """A policy that may end the crawl before its budget is spent."""

    @property
    def stop_reason(self) -> str:
        """Why no further request should start, or ""."""


class SummaryLine(msgspec.Struct, frozen=True, kw_only=True):
    """One table of a policy's summary."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | float, ...], ...]


@runtime_checkable
class Summarizes(Protocol):
    """A policy that can summarise what it has learned, for `motherlode model show`."""

    def summary(self, most: int) -> Sequence[SummaryLine]:
        """Return tables of at most `most` rows each, strongest first."""


class Policy(Protocol):
    """Rates links when they are found, picks one of the ready arms, and learns from outcomes."""

    def rate(self, links: Sequence[Link], parent: Outcome | None) -> Sequence[Rating]:
        """Return one rating for each link, in order. `parent` is None for seeds."""

    def learn(self, outcome: Outcome) -> None:
        """Update the policy with the outcome of one fetch."""

    def arm_ready(self, arm: str, best: float, waiting: int) -> None:
        """Mark an arm as ready. It has `waiting` URLs, and `best` is the highest score among them."""

    def arm_snoozed(self, arm: str) -> None:
        """Mark an arm as not ready: it is empty, or its host is snoozed."""

    def pick(self) -> str | None:
        """Return a ready arm, or None if no arm is ready or the policy waits."""

    def dump(self) -> bytes:
        """Serialize the learned state for a checkpoint."""

    def load(self, state: bytes) -> None:
        """Restore the state that `dump` of the same policy returned."""
