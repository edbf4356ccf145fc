"""What LDCOC thinks of a URI, for people: its named features with the weights of the places that they are hashed to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random

import msgspec
import numpy as np

from motherlode.model import Explanation, FailureKind, Link, LinkSource, Outcome, Parent, Rating, Reason, SummaryLine
from motherlode.policies.ftrl import Ftrl
from motherlode.policies.hashing import Hasher, Indices
from motherlode.policies.ldcoc.ldcoc_features import BEST_SETS, SETS, Hardness, hardness, page_features
from motherlode.policies.orders import random_state, set_random_state
from motherlode.policies.priority_queue import ReadyArms
from motherlode.www.urls import host_of

_NOTES = {
    b"+": "predicted positive, so it is fetched in the order of its probability",
    b"-": "predicted negative, and drawn as a sample of those; its label counts more",
    b"=": "its extension says RDF: taken for positive without a prediction",
    b".": "predicted negative and not drawn: it waits until nothing else is left",
}


def weigh_features(learner: Ftrl, hasher: Hasher, names: Iterable[str], policy_state: bytes) -> tuple[Reason, ...]:
    """Each feature with its weight. Features that the frontier has not kept have lost their names."""
    asked = list(dict.fromkeys(names))
    places = [int(hasher.row([name])[0]) for name in asked]
    kept = np.frombuffer(policy_state[1:], dtype="<u4").astype(np.int64)
    reasons = [
        Reason(name=name, weight=float(weight), about="is a find")
        for name, weight in zip(asked, learner.weights(places), strict=True)
        if weight
    ]
    unnamed = [place for place in kept.tolist() if place not in set(places)]
    weights: Sequence[float] = learner.weights(unnamed).tolist() if unnamed else ()
    reasons += [
        Reason(name=f"hashed feature {place}", weight=weight, about="is a find")
        for place, weight in zip(unnamed, weights, strict=True)
        if weight
    ]
    return tuple(sorted(reasons, key=lambda reason: -abs(reason.weight)))


def make_explanation(
    reasons: tuple[Reason, ...], *, chance: float, policy_state: bytes, redirects: int, others: int
) -> Explanation:
    """All that there is to say; the answers of a host tell how many requests a find there takes."""
    return Explanation(
        says="The URI with the highest probability for each request that it will take goes next, by logistic "
        "regression over hashed features (FTRL-Proximal); now and then a sample of those predicted negative.",
        reasons=reasons,
        prior=chance,
        posterior=chance,
        value=chance / (1 + redirects / (others + 1)),
        record={"redirects": redirects, "other_answers": others},
        notes=(_NOTES[policy_state[:1]],) if policy_state[:1] in _NOTES else (),
    )


# ── LDCOC, the crawler of Huang and Gandon (2020): an online classifier says of each URI whether it is worth a …

THRESHOLD = 0.5
"""τ of Algorithm 1 (section 4)."""
SAMPLED = 0.17
"""ε, "according to the ratio of the number of positive URIs to the number of negative URIs" (section 4)."""
NO_RDF = "ldcoc: its file extension or type tells that it is no RDF"
_MAX_RELEVANCES = 100_000
"""Fetched URIs whose relevance is remembered, for siblings."""
_PERMANENT_FAILURES = frozenset(
    {FailureKind.NOT_FOUND, FailureKind.FORBIDDEN, FailureKind.CLIENT_ERROR, FailureKind.USELESS}
)
"""Failures that tell of a URI that it holds nothing; the others tell of a moment."""
_POSITIVE, _NEGATIVE, _EASY, _RESERVE = b"+", b"-", b"=", b"."
"""How a URI was let through: the first byte of its policy_state. Hashed features follow."""
_SUFFIXES = {_POSITIVE: "", _NEGATIVE: " sampled", _EASY: "", _RESERVE: " reserve"}
"""Arms of a host: promising URIs, sampled negatives, and what waits for the end."""


class _State(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """What a crawl keeps."""

    learned: bytes
    random: bytes
    relevances: dict[str, bool]
    answers: dict[str, list[int]]
    easy: list[int]
    positives: int
    negatives: int


def default_learner(size: int = 1 << 20) -> Ftrl:
    """The learner with our settings: the paper gives none. A crawl has a few thousand examples, so it learns fast."""
    return Ftrl(size, alpha=0.5, beta=1.0, l1=0.1, l2=1.0)


class Ldcoc:
    """Three arms a host; see the module."""

    def __init__(
        self,
        *,
        random: Random,
        sets: str = BEST_SETS,
        learner: Ftrl | None = None,
        hash_seed: int = 0,
        threshold: float = THRESHOLD,
        sampled: float = SAMPLED,
    ) -> None:
        if not sets or not set(sets) <= set(SETS) or len(set(sets)) != len(sets):
            raise ValueError(f"feature sets are letters of {SETS!r}, each once; got {sets!r}")
        if not 0 < sampled <= 1:
            raise ValueError(f"ε is a share above 0 and at most 1; got {sampled}")
        self._random = random
        self._sets = sets
        self._learner = learner or default_learner()
        self._hasher = Hasher(self._learner.size, hash_seed)
        self._threshold = threshold
        self._sampled = sampled
        self._shared: Ftrl | None = None
        """What other shards know of this learner or have told it; None for nothing yet."""
        self._relevances: dict[str, bool] = {}
        self._easy = [0, 0]
        """URIs with an RDF extension that proved relevant, and those that did not."""
        self._admitted = {_POSITIVE: 0, _NEGATIVE: 0}
        self._answers: dict[str, list[int]] = {}
        """Of each host, the answers that were redirects, and the others."""
        self._ready = {suffix: ReadyArms() for suffix in ("", " sampled", " reserve")}

    def rate(self, links: Sequence[Link], parent: Parent | None) -> Sequence[Rating]:
        if parent is not None and parent.policy_state and len(links) == 1 and links[0].source is LinkSource.REDIRECT:
            return [self._rate_redirect_target(links[0], parent)]
        names = page_features(links, parent, self._sets, relevances=self._relevances)
        rows = self._hasher.rows(["bias", *row] for row in names)
        chances = self._learner.predict(rows).tolist()
        return [
            self._rate_link(link, chance, row, is_seed=parent is None)
            for link, chance, row in zip(links, chances, rows, strict=True)
        ]

    def _rate_link(self, link: Link, chance: float, row: Indices, *, is_seed: bool) -> Rating:
        host = host_of(link.url)
        hard = hardness(link)
        if hard is Hardness.NO_RDF and not is_seed:
            return Rating(arm=host, score=0.0, refused=NO_RDF)
        if hard is Hardness.RDF:
            good, bad = self._easy
            chance = (good + 1) / (good + bad + 1)
            how = _EASY if is_seed or chance > self._threshold else _RESERVE
        elif is_seed or chance >= self._threshold:  # equal only where nothing is known: then there is all to learn
            how = _POSITIVE
            self._admitted[how] += 1
        elif self._random.random() < self._sampled:
            how = _NEGATIVE
            self._admitted[how] += 1
        else:
            how = _RESERVE
        features = row.astype("<u4").tobytes() if how in (_POSITIVE, _NEGATIVE) else b""
        return Rating(arm=host + _SUFFIXES[how], score=chance, policy_state=how + features)

    def _rate_redirect_target(self, link: Link, parent: Parent) -> Rating:
        """A redirect's target stands for the URI that led to it: its label is that URI's label."""
        return Rating(
            arm=host_of(link.url) + _SUFFIXES[parent.policy_state[:1]], score=0.0, policy_state=parent.policy_state
        )

    def learn(self, outcome: Outcome) -> None:
        answers = self._answers.setdefault(outcome.host, [0, 0])
        answers[0 if outcome.failure is FailureKind.REDIRECT else 1] += 1
        if outcome.failure is not None and outcome.failure not in _PERMANENT_FAILURES:
            return
        if "x" in self._sets:
            self._remember(outcome)
        how, features = outcome.policy_state[:1], outcome.policy_state[1:]
        if how == _EASY:
            self._easy[0 if outcome.relevant else 1] += 1
        elif features:
            weight = 1 / self._sampled if how == _NEGATIVE else 1.0
            places = np.frombuffer(features, dtype="<u4").astype(np.int64)
            self._learner.learn(places, outcome.reward, weight)

    def _remember(self, outcome: Outcome) -> None:
        if len(self._relevances) >= _MAX_RELEVANCES:
            del self._relevances[next(iter(self._relevances))]  # the oldest
        self._relevances[outcome.url] = outcome.relevant

    def arm_ready(self, arm: str, best: float, waiting: int) -> None:
        redirects, others = self._answers.get(arm.partition(" ")[0], (0, 0))
        self._arms_of(arm).put(arm, best / (1 + redirects / (others + 1)))

    def arm_snoozed(self, arm: str) -> None:
        self._arms_of(arm).remove(arm)

    def _arms_of(self, arm: str) -> ReadyArms:
        _, space, suffix = arm.partition(" ")
        return self._ready[space + suffix]

    def pick(self) -> str | None:
        promising, sampled, reserve = (self._ready[suffix] for suffix in ("", " sampled", " reserve"))
        positives, negatives = self._admitted[_POSITIVE], self._admitted[_NEGATIVE]
        if sampled and self._random.random() * (positives + negatives) < negatives:
            return sampled.best()
        return promising.best() or sampled.best() or reserve.best()

    def delta(self) -> bytes:
        """What the learner has gathered since the last call, for other shards of the crawl; empty for nothing."""
        known = (self._shared or self._copy(None)).dump()
        now = self._learner.dump()
        if now == known:
            return b""
        self._shared = self._copy(now)
        return self._learner.since(known)

    def absorb(self, delta: bytes) -> None:
        """Add what the learner of another shard has gathered."""
        if not delta:
            return
        self._shared = self._shared or self._copy(None)
        for learner in (self._learner, self._shared):
            learner.merge(delta)

    def _copy(self, state: bytes | None) -> Ftrl:
        copy = Ftrl(self._learner.size)
        if state is not None:
            copy.load(state)
        return copy

    def merge(self, state: bytes) -> None:
        """Add all that another crawl had learned when it made this dump: z and n, and its counts."""
        read = msgspec.msgpack.decode(state, type=_State)
        self.absorb(read.learned)
        self._relevances.update(read.relevances)
        for host, (redirects, others) in read.answers.items():
            known = self._answers.setdefault(host, [0, 0])
            known[0] += redirects
            known[1] += others
        self._easy = [mine + theirs for mine, theirs in zip(self._easy, read.easy, strict=True)]
        self._admitted[_POSITIVE] += read.positives
        self._admitted[_NEGATIVE] += read.negatives

    def explain(self, link: Link, rating: Rating, parent: Parent | None) -> Explanation:
        names = ["bias", *page_features([link], parent, self._sets, relevances=self._relevances)[0]]
        redirects, others = self._answers.get(host_of(link.url), (0, 0))
        return make_explanation(
            weigh_features(self._learner, self._hasher, names, rating.policy_state),
            chance=self._learner.probability(self._hasher.row(names)),
            policy_state=rating.policy_state,
            redirects=redirects,
            others=others,
        )

    def summary(self, most: int) -> Sequence[SummaryLine]:
        """Counts: features are hashed, so their names are known only together with a URI."""
        good, bad = self._easy
        counts = {
            "features that were met": self._learner.touched(),
            "URIs let through as positive": self._admitted[_POSITIVE],
            "URIs let through as samples": self._admitted[_NEGATIVE],
            "URIs with an RDF extension that were finds": good,
            "URIs with an RDF extension that were none": bad,
            "hosts that answered": len(self._answers),
        }
        return [SummaryLine(title="learned", columns=("what", "how many"), rows=tuple(counts.items())[:most])]

    def dump(self) -> bytes:
        return msgspec.msgpack.encode(
            _State(
                learned=self._learner.dump(),
                random=random_state(self._random),
                relevances=self._relevances,
                answers=self._answers,
                easy=self._easy,
                positives=self._admitted[_POSITIVE],
                negatives=self._admitted[_NEGATIVE],
            )
        )

    def load(self, state: bytes) -> None:
        read = msgspec.msgpack.decode(state, type=_State)
        self._learner.load(read.learned)
        self._shared = self._copy(read.learned)
        set_random_state(self._random, read.random)
        self._relevances, self._answers, self._easy = read.relevances, read.answers, read.easy
        self._admitted = {_POSITIVE: read.positives, _NEGATIVE: read.negatives}
