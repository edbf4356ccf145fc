"""LDCOC, the crawler of Huang and Gandon (2020): an online classifier predicts whether a URI is worth a request.

Algorithm 1 computes the features x of the target URI and p = σ(x·w) by FTRL-Proximal. A URI with p above τ is positive
and is fetched. A random share ε of the negative URIs is fetched, too, and their labels count 1/ε times (section 3.3,
subsampling). Only hard URIs are predicted and learned from. A URI with an RDF extension is taken as positive without a
prediction, as long as most of such URIs are relevant; for a target such as Microdata they are not. The label is the
target of the crawl.

The paper does not define the order of the requests. Here each host has three arms. Positive URIs go in the order of p
per expected request, because a relevant page behind redirects costs two or more requests. Sampled negatives go as often
as in the paper's stream of URIs: by their share among all admitted URIs. The other negatives are the reserve, which is
used if nothing else is ready.

With `head`, a hard URI gets a HEAD request before it is predicted (definitions 9 to 11): its content type is a feature,
and may show that the URI is not hard (definition 2). Such URIs wait in a fourth arm. They compete with the positive
ones by the probability without the content type, divided by two, because their page costs two requests. A redirect in
response to a HEAD needs no GET: its target is the next to get a HEAD, and its content type is that of the URI.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from random import Random

import msgspec
import numpy as np

from motherlode.model import Explanation, FailureKind, Link, LinkSource, Outcome, Rating, Reason, SummaryLine
from motherlode.policies.ftrl import EquationOneFtrl, Ftrl, Hasher, Indices
from motherlode.policies.ldcoc.ldcoc_features import (
    ALL_CROSSES,
    BEST_SETS,
    SETS,
    Crosses,
    Hardness,
    Known,
    content_type_feature,
    hardness,
    page_features,
)
from motherlode.policies.model_io import random_state, set_random_state
from motherlode.policies.priority_queue import ReadyArms
from motherlode.www.media_types import essence
from motherlode.www.urls import host_of

_SAYS = (
    "The URI with the highest probability per expected request is fetched next. The probability comes from logistic "
    "regression over hashed features (FTRL-Proximal). Sometimes a sample of the URIs that were predicted negative is "
    "fetched."
)
_NOTES = {
    b"+": "predicted positive: it is fetched in the order of its probability",
    b"-": "predicted negative and drawn as a sample: its label has a higher weight",
    b"=": "its extension says RDF: it is taken as positive without a prediction",
    b"?": "not predicted yet: a HEAD request for its content type goes first",
    b".": "predicted negative and not sampled: it waits until nothing else is left",
}
"""Notes of explanations, by the first byte of `policy_state`."""
THRESHOLD = 0.5
"""τ of Algorithm 1: a URI with a higher predicted probability is fetched."""
SAMPLED = 0.17
"""ε, "according to the ratio of the number of positive URIs to the number of negative URIs" (section 4)."""
NO_RDF = "ldcoc: its file extension or type tells that it is no RDF"
_MAX_RELEVANCES = 100_000
"""Maximum number of fetched URIs whose relevance is stored for their siblings."""
_MAX_MENTIONS = 20_000
"""Waiting URIs for which the features of further pages are stored."""
_MAX_MENTIONED = 512
"""Features of further pages that are stored per URI."""
_PERMANENT_FAILURES = frozenset(
    {FailureKind.NOT_FOUND, FailureKind.FORBIDDEN, FailureKind.CLIENT_ERROR, FailureKind.USELESS}
)
"""Failures after which a URI counts as irrelevant. Other failures are temporary and are not learned from."""
_POSITIVE, _NEGATIVE, _EASY, _RESERVE, _UNRATED = b"+", b"-", b"=", b".", b"?"
"""How a URI was classified: the first byte of its `policy_state`. Hashed features follow."""
_SUFFIXES = {_POSITIVE: "", _NEGATIVE: " sampled", _EASY: "", _RESERVE: " reserve", _UNRATED: " unrated"}
"""Suffixes of the four arms of a host."""
_HEADED_COST = 2.0
"""Number of requests that a page costs if a HEAD request is sent before its GET request."""


class _State(msgspec.Struct, kw_only=True, array_like=True):
    """All that changes during a crawl, as it is saved."""

    learned: bytes = b""
    """Dump of the learner. This and `random` are set only to save the state."""
    random: bytes = b""
    relevances: dict[str, bool] = {}
    """Fetched URIs, and whether they were relevant, for the features of their siblings."""
    answers: dict[str, list[int]] = {}
    """For each host, the number of responses that were redirects, and the number of other responses."""
    easy: list[int] = msgspec.field(default_factory=lambda: [0, 0])
    """Number of URIs with an RDF extension that were relevant, and of those that were not."""
    positives: int = 0
    """URIs that were admitted because they were predicted positive."""
    negatives: int = 0
    """URIs that were admitted as a sample of those that were predicted negative."""
    content_types: dict[str, str] = {}
    """URIs with a known Content-Type header, for the features of their siblings."""
    mentions: dict[str, bytes] = {}
    """Hashed features that further pages give to URIs that were known before."""


def default_learner(size: int = 1 << 20) -> Ftrl:
    """Return the learner with our settings, because the paper gives none. It learns fast: a crawl has few examples."""
    return Ftrl(size, alpha=0.5, beta=1.0, l1=0.1, l2=1.0)


def equation_one_learner(size: int = 1 << 20) -> EquationOneFtrl:
    """Return the learner of the paper's equation (1), with the λ₁ of `default_learner`."""
    return EquationOneFtrl(size, l1=0.1)


LEARNERS: Mapping[str, Callable[[int], Ftrl]] = {"mcmahan": default_learner, "eq1": equation_one_learner}
"""The values of the argument `ftrl`: learning rates per coordinate (McMahan et al. 2013), or equation (1)."""


class Ldcoc:
    """The policy of Huang and Gandon (2020), as the docstring of the module describes it."""

    def __init__(
        self,
        *,
        random: Random,
        sets: str = BEST_SETS,
        learner: Ftrl | None = None,
        hash_seed: int = 0,
        threshold: float = THRESHOLD,
        sampled: float = SAMPLED,
        crosses: Crosses = ALL_CROSSES,
        head: bool = False,
    ) -> None:
        if not sets or not set(sets) <= set(SETS) or len(set(sets)) != len(sets):
            raise ValueError(f"feature sets are letters of {SETS!r}, each once; got {sets!r}")
        if not 0 < sampled <= 1:
            raise ValueError(f"ε is a share and must be above 0 and at most 1; got {sampled}")
        self._random = random
        self._sets = sets
        self._learner = learner or default_learner()
        self._hasher = Hasher(self._learner.size, hash_seed)
        self._threshold = threshold
        self._sampled = sampled
        self._crosses = crosses
        self._head = head and bool({"t", "x"} & set(sets))
        """Whether every hard URI gets a HEAD request before it is predicted."""
        self._shared = self._learner.blank()
        """The part of the learner's state that other shards have or have sent."""
        self._state = _State()
        self._ready = {suffix: ReadyArms() for suffix in ("", " sampled", " reserve")}

    def rate(self, links: Sequence[Link], parent: Outcome | None) -> Sequence[Rating]:
        if parent is not None and parent.policy_state and len(links) == 1 and links[0].source is LinkSource.REDIRECT:
            return [self._rate_redirect_target(links[0], parent)]
        names = page_features(links, parent, self._sets, known=self._known(), crosses=self._crosses)
        rows = self._hasher.rows(["bias", *row] for row in names)
        probabilities = self._learner.predict(rows).tolist()
        return [
            self._rate_uri(link.url, hardness(link), probability, row, is_seed=parent is None, is_headed=not self._head)
            for link, probability, row in zip(links, probabilities, rows, strict=True)
        ]

    def mention(self, links: Sequence[Link], parent: Outcome) -> None:
        """Store the features that the context graph of a further page gives to URIs that are known."""
        mentioned = [link for link in links if link.properties]
        if not mentioned:
            return
        names = page_features(mentioned, parent, self._sets, known=self._known(), crosses=self._crosses)
        for link, row in zip(mentioned, self._hasher.rows(names), strict=True):
            earlier = np.frombuffer(self._state.mentions.pop(link.url, b""), dtype="<u4")
            if len(self._state.mentions) >= _MAX_MENTIONS:
                del self._state.mentions[next(iter(self._state.mentions))]  # the oldest
            self._state.mentions[link.url] = np.union1d(earlier, row)[:_MAX_MENTIONED].astype("<u4").tobytes()

    def rate_picked(self, url: str, rating: Rating) -> Rating | None:
        """Predict a URI again with the features of all pages that mention it."""
        how = rating.policy_state[:1]
        if how not in (_POSITIVE, _NEGATIVE, _UNRATED) or url not in self._state.mentions:
            return None
        row = self._with_mentions(url, rating.policy_state)
        score = self._learner.probability(row)
        return Rating(arm=rating.arm, score=score, policy_state=how + row.astype("<u4").tobytes())

    def _with_mentions(self, url: str, policy_state: bytes) -> Indices:
        """Return the features of a URI, with those of further pages that mention it."""
        row = np.frombuffer(policy_state[1:], dtype="<u4")
        return np.union1d(row, np.frombuffer(self._state.mentions.pop(url, b""), dtype="<u4")).astype(np.int64)

    def wants_header(self, policy_state: bytes) -> bool:
        return policy_state[:1] == _UNRATED

    def rate_again(self, url: str, rating: Rating, content_type: str | None) -> Rating:
        """Predict a URI with its content type, which is one more feature of those that its rating stored."""
        row = self._with_mentions(url, rating.policy_state)
        if content_type is not None and "t" in self._sets:
            row = np.union1d(row, self._hasher.row([content_type_feature(content_type)]))
        if content_type:
            self._remember_type(url, content_type)
        link = Link(url=url, source=LinkSource.ANCHOR, type=content_type or "")
        return self._rate_uri(url, hardness(link), self._learner.probability(row), row, is_seed=False, is_headed=True)

    def _rate_uri(
        self, url: str, hard: Hardness, probability: float, row: Indices, *, is_seed: bool, is_headed: bool
    ) -> Rating:
        host = host_of(url)
        if hard is Hardness.NO_RDF and not is_seed:
            return Rating(arm=host, score=0.0, refused=NO_RDF)
        if hard is Hardness.RDF:
            good, bad = self._state.easy
            probability = (good + 1) / (good + bad + 1)
            how = _EASY if is_seed or probability > self._threshold else _RESERVE
        elif not is_seed and not is_headed:
            how = _UNRATED
        elif is_seed or probability >= self._threshold:  # equal only if nothing is known yet: then fetch to learn
            how = _POSITIVE
            self._state.positives += 1
        elif self._random.random() < self._sampled:
            how = _NEGATIVE
            self._state.negatives += 1
        else:
            how = _RESERVE
        features = row.astype("<u4").tobytes() if how in (_POSITIVE, _NEGATIVE, _UNRATED) else b""
        return Rating(arm=host + _SUFFIXES[how], score=probability, policy_state=how + features)

    def _rate_redirect_target(self, link: Link, parent: Outcome) -> Rating:
        """Rate the target of a redirect like the redirecting URI: its label is the label of that URI."""
        return Rating(
            arm=host_of(link.url) + _SUFFIXES[parent.policy_state[:1]], score=0.0, policy_state=parent.policy_state
        )

    def learn(self, outcome: Outcome) -> None:
        self._state.mentions.pop(outcome.url, None)
        answers = self._state.answers.setdefault(outcome.host, [0, 0])
        answers[0 if outcome.failure is FailureKind.REDIRECT else 1] += 1
        if outcome.failure is not None and outcome.failure not in _PERMANENT_FAILURES:
            return
        if "x" in self._sets:
            self._remember(outcome)
            if outcome.content_type:
                self._remember_type(outcome.url, outcome.content_type)
        how, features = outcome.policy_state[:1], outcome.policy_state[1:]
        if how == _EASY:
            self._state.easy[0 if outcome.relevant else 1] += 1
        elif features and how != _UNRATED:  # a HEAD that failed says nothing about a hard URI
            weight = 1 / self._sampled if how == _NEGATIVE else 1.0
            indices = np.frombuffer(features, dtype="<u4").astype(np.int64)
            self._learner.learn(indices, outcome.reward, weight)

    def _known(self) -> Known:
        return Known(relevances=self._state.relevances, content_types=self._state.content_types)

    def _remember(self, outcome: Outcome) -> None:
        if len(self._state.relevances) >= _MAX_RELEVANCES:
            del self._state.relevances[next(iter(self._state.relevances))]  # the oldest
        self._state.relevances[outcome.url] = outcome.relevant

    def _remember_type(self, url: str, content_type: str) -> None:
        """Store a Content-Type header for the features of siblings."""
        if "x" in self._sets:
            if len(self._state.content_types) >= _MAX_RELEVANCES:
                del self._state.content_types[next(iter(self._state.content_types))]  # the oldest
            self._state.content_types[url] = essence(content_type)

    def arm_ready(self, arm: str, best: float, waiting: int) -> None:
        value = self._per_request(best, arm.partition(" ")[0])
        self._arms_of(arm).put(arm, value / _HEADED_COST if arm.endswith(_SUFFIXES[_UNRATED]) else value)

    def _per_request(self, probability: float, host: str) -> float:
        """Divide a probability by the expected number of requests for a page of the host, which redirects increase."""
        redirects, others = self._state.answers.get(host, (0, 0))
        return probability / (1 + redirects / (others + 1))

    def arm_snoozed(self, arm: str) -> None:
        self._arms_of(arm).remove(arm)

    def _arms_of(self, arm: str) -> ReadyArms:
        _, space, suffix = arm.partition(" ")
        name = space + suffix
        return self._ready["" if name == _SUFFIXES[_UNRATED] else name]

    def pick(self) -> str | None:
        positive, sampled, reserve = (self._ready[suffix] for suffix in ("", " sampled", " reserve"))
        positives, negatives = self._state.positives, self._state.negatives
        if sampled and self._random.random() * (positives + negatives) < negatives:
            return sampled.best()
        return positive.best() or sampled.best() or reserve.best()

    def delta(self) -> bytes:
        shared, now = self._shared.dump(), self._learner.dump()
        if now == shared:
            return b""
        self._shared.load(now)
        return self._learner.since(shared)

    def absorb(self, delta: bytes) -> None:
        if delta:
            self._learner.merge(delta)
            self._shared.merge(delta)

    def merge(self, state: bytes) -> None:
        read = msgspec.msgpack.decode(state, type=_State)
        self.absorb(read.learned)
        self._state.relevances.update(read.relevances)
        for host, (redirects, others) in read.answers.items():
            known = self._state.answers.setdefault(host, [0, 0])
            known[0] += redirects
            known[1] += others
        self._state.easy = [own + other for own, other in zip(self._state.easy, read.easy, strict=True)]
        self._state.positives += read.positives
        self._state.negatives += read.negatives

    def explain(self, link: Link, rating: Rating, parent: Outcome | None) -> Explanation:
        names = ["bias", *page_features([link], parent, self._sets, known=self._known(), crosses=self._crosses)[0]]
        probability, host = self._learner.probability(self._hasher.row(names)), host_of(link.url)
        redirects, others = self._state.answers.get(host, (0, 0))
        how = rating.policy_state[:1]
        return Explanation(
            says=_SAYS,
            reasons=weigh_features(self._learner, self._hasher, names, rating.policy_state),
            prior=probability,
            posterior=probability,
            value=self._per_request(probability, host),
            record={"redirects": redirects, "other_answers": others},
            notes=(_NOTES[how],) if how in _NOTES else (),
        )

    def summary(self, most: int) -> Sequence[SummaryLine]:
        """Return counts only: features are hashed, so their names are not known."""
        good, bad = self._state.easy
        counts = {
            "features with examples": self._learner.touched(),
            "URIs admitted as positive": self._state.positives,
            "URIs admitted as samples": self._state.negatives,
            "relevant URIs with an RDF extension": good,
            "irrelevant URIs with an RDF extension": bad,
            "hosts with a response": len(self._state.answers),
        }
        return [SummaryLine(title="learned", columns=("what", "how many"), rows=tuple(counts.items())[:most])]

    def dump(self) -> bytes:
        learned, random = self._learner.dump(), random_state(self._random)
        return msgspec.msgpack.encode(msgspec.structs.replace(self._state, learned=learned, random=random))

    def load(self, state: bytes) -> None:
        self._state = msgspec.msgpack.decode(state, type=_State)
        self._learner.load(self._state.learned)
        self._shared.load(self._state.learned)
        set_random_state(self._random, self._state.random)
        self._state.learned = b""


def weigh_features(learner: Ftrl, hasher: Hasher, names: Iterable[str], policy_state: bytes) -> tuple[Reason, ...]:
    """Return each feature with its weight, strongest first.

    `names` are the features that can be computed from what the frontier stores. Other features of `policy_state` are
    shown by their number.
    """
    name_of = {int(hasher.row([name])[0]): name for name in names}
    for index in np.frombuffer(policy_state[1:], dtype="<u4").tolist():
        name_of.setdefault(index, f"hashed feature {index}")
    weights = learner.weights(list(name_of)).tolist()
    reasons = [
        Reason(name=name, weight=weight, about="is a find")
        for name, weight in zip(name_of.values(), weights, strict=True)
        if weight
    ]
    return tuple(sorted(reasons, key=lambda reason: -abs(reason.weight)))
