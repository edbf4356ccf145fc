"""The two questions asked of every link, answered by one small online learner: will it give a page, and is that a find?

Logistic regression by FTRL-Proximal (McMahan et al. 2013, Algorithm 1, without L1 and L2), one example at a time. The
questions are kept apart because failures tell nothing about a host's pages, and are learned across all targets: an
image is never a page, a link to a host that no longer exists never answers, whatever is looked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, sqrt
from typing import NamedTuple

from motherlode.model import FailureKind, Outcome
from motherlode.policies.motherlode.arm_key import (
    GENERAL,
    TAB,
    Features,
    family_of,
    features_of,
    is_cross_host,
    is_inner_seed,
    kind_of,
)
from motherlode.policies.motherlode.config import PolicyConfig
from motherlode.policies.motherlode.statistics import ANSWERS, IS_FIND, ArmStatistics, PolicyStatistics

_FURTHEST = 30.0


def logistic(z: float) -> float:
    """
    >>> logistic(0.0), logistic(-1000.0) > 0
    (0.5, True)
    """
    return 1.0 / (1.0 + exp(-max(-_FURTHEST, min(_FURTHEST, z))))


class ResponseModel:
    """Reads and updates the sums of features."""

    def __init__(self, settings: PolicyConfig) -> None:
        self._settings = settings
        self.hunches: Mapping[str, float] = {}
        """What features add to the log-odds of a find before anything was learned (`hunches`)."""

    def weight(self, evidence: PolicyStatistics, feature: str, question: int, *, general: bool) -> float:
        """What a feature adds to the log-odds of one question."""
        hunch = self.hunches.get(feature, 0.0) if question == IS_FIND else 0.0
        sums = evidence.features.get(feature)
        if sums is None:
            return hunch
        rate = self._settings.general_rate if general else self._settings.own_rate
        return hunch - sums[question] * rate / (self._settings.beta + sqrt(sums[question + 1]))

    def log_odds(self, evidence: PolicyStatistics, features: Features, question: int, lift: float = 0.0) -> float:
        """What features say, and the lift that something else gives."""
        settings, known = self._settings, evidence.features
        beta = settings.beta
        rate = settings.general_rate
        total = lift + (settings.answers_bias if question == ANSWERS else settings.find_bias)
        if self.hunches and question == IS_FIND:
            total += sum(self.hunches.get(feature, 0.0) for feature in features[:GENERAL])
        for place, feature in enumerate(features):
            if place == GENERAL:
                rate = settings.own_rate
            sums = known.get(feature)
            if sums is not None:
                total -= sums[question] * rate / (beta + sqrt(sums[question + 1]))
        return total

    def chance(self, evidence: PolicyStatistics, features: Features) -> float:
        """The probability that a request gives a page that is a find."""
        answers = logistic(self.log_odds(evidence, features, ANSWERS))
        return answers * logistic(self.log_odds(evidence, features, IS_FIND))

    def learn(
        self,
        books: Sequence[PolicyStatistics],
        features: Features,
        question: int,
        *,
        came_true: float,
        lift: float = 0.0,
    ) -> None:
        """One outcome. The first book is what is known; all of them get the same additions.

        What the lift explains is not put down to the features.
        """
        known = books[0]
        gradient = logistic(self.log_odds(known, features, question, lift)) - came_true
        beta = self._settings.beta
        rate = self._settings.general_rate
        for place, feature in enumerate(features):
            if place == GENERAL:
                rate = self._settings.own_rate
            sums = known.sums(feature)
            root = sqrt(sums[question + 1])
            weight = -sums[question] * rate / (beta + root)
            more_n = gradient * gradient
            more_z = gradient - (sqrt(sums[question + 1] + more_n) - root) / rate * weight
            for book in books:
                own = book.sums(feature)
                own[question] += more_z
                own[question + 1] += more_n


# ── What the policy believes of an arm's next link: that it gives a page, and that the page is a find.

_MOST_CACHED = 1 << 14


class ArmPosterior(NamedTuple):
    """Two chances."""

    answers: float
    """That a request gives a page."""
    find: float
    """That the page is a find."""

    @property
    def chance(self) -> float:
        return self.answers * self.find


class PosteriorModel:
    """Learns from outcomes, and says what to expect."""

    def __init__(self, settings: PolicyConfig) -> None:
        self._settings = settings
        self.chances = ResponseModel(settings)
        self.evidence = PolicyStatistics()
        self.news = PolicyStatistics()
        """What was learned since somebody was told."""
        self._features: dict[str, Features] = {}

    def tries(self, arm: str) -> int:
        """Of the arm's own links."""
        evidence = self.evidence
        record = evidence.arms.get(arm) if arm == kind_of(arm) else evidence.lists.get(arm)
        return record.tries if record is not None else 0

    # ── what is expected ─────────────────────────────────────────────────────────────────────────────

    def expected(self, kind: str) -> ArmPosterior:
        """Before the arm's own record is heard."""
        evidence, features, host = self.evidence, self._features_of(kind), kind.partition(TAB)[0]
        answers = self._presence(kind, host)
        if self._settings.asks_apart:
            answers *= logistic(self.chances.log_odds(evidence, features, ANSWERS))
        return ArmPosterior(answers, logistic(self.chances.log_odds(evidence, features, IS_FIND, self.lift(host))))

    def lift(self, host: str) -> float:
        """How much better than its features a host is, in log-odds."""
        record = self.evidence.hosts.get(host)
        return record.lift(self._settings.host_pages) if record is not None else 0.0

    def _presence(self, kind: str, host: str) -> float:
        """The chance that there is such a host: 1 for all that have answered."""
        settings, record = self._settings, self.evidence.hosts.get(host)
        presence = 1.0
        if record is not None:
            if record.answers:
                return presence
            presence = settings.silent_tries / (settings.silent_tries + record.tries)
        if settings.stranger_tries and is_cross_host(kind):
            presence *= self.evidence.strangers.chance(settings.stranger_answers, tries=settings.stranger_tries)
        return presence

    def chance(self, arm: str) -> float:
        """That the arm's next link is a find."""
        settings, kind = self._settings, kind_of(arm)
        belief = self.expected(kind)
        record = self.evidence.arms.get(kind)
        if record is not None:
            find_tries = settings.seed_tries if is_inner_seed(kind) else settings.prior_tries
            belief = _heard(belief, record, answer_tries=settings.prior_tries, find_tries=find_tries)
        record = self.evidence.lists.get(arm)
        if record is not None:
            belief = _heard(belief, record, answer_tries=settings.list_tries, find_tries=settings.list_tries)
        return belief.chance

    def _features_of(self, kind: str) -> Features:
        features = self._features.get(kind)
        if features is None:
            if len(self._features) >= _MOST_CACHED:
                self._features.clear()
            features = self._features[kind] = features_of(kind)
        return features

    # ── what is learned ──────────────────────────────────────────────────────────────────────────────

    def learn(self, outcome: Outcome) -> None:
        kind = kind_of(outcome.arm)
        record = self.evidence.hosts.get(outcome.host)
        unanswered = is_cross_host(kind) and not (record is not None and record.answers)
        if unanswered and record is None:
            came = outcome.failure in (None, FailureKind.REDIRECT)
            for book in self._books:
                book.strangers.count(came, keep=1.0, turn=1.0)
        self._count(outcome, kind)
        hoped = 0.0
        if self._settings.learns_features:
            is_explained = unanswered and self._settings.stranger_tries > 0
            hoped = self._learn_features(outcome, kind, is_explained=is_explained)
        self._count_host(outcome, kind, hoped)

    @property
    def _books(self) -> tuple[PolicyStatistics, PolicyStatistics]:
        return self.evidence, self.news

    def _count(self, outcome: Outcome, kind: str) -> None:
        """The arm, the list on which the link stood, if it did, and the family, of which only pages are counted.

        For its arm the second link of a list counts for half, the third for a third: they say the same.
        """
        arm = outcome.arm
        share = 1.0 / (self.tries(arm) + 1) if arm != kind else 1.0
        for book in self._books:
            self._count_one(book.arm(kind), outcome, share)
            book.family(family_of(kind)).count(reward=outcome.reward, keep=self._settings.keep)
            if arm != kind:
                self._count_one(book.list(arm), outcome, 1.0)

    def _count_one(self, record: ArmStatistics, outcome: Outcome, share: float) -> None:
        keep, answered, apart = self._settings.keep, outcome.failure is None, self._settings.asks_apart
        record.count(reward=outcome.reward, keep=keep)
        if apart:
            record.answered.count(answered, keep=keep, turn=self._settings.keep_answers, share=share)
        if answered or not apart:
            record.found.count(outcome.reward, keep=keep, turn=keep, share=share)

    def _learn_features(self, outcome: Outcome, kind: str, *, is_explained: bool) -> float:
        """Gives the reward that features alone had promised. A host's silence explains that a link was dead."""
        features, answered, books = self._features_of(kind), outcome.failure is None, self._books
        apart = self._settings.asks_apart
        if apart and (answered or not is_explained):
            self.chances.learn(books, features, ANSWERS, came_true=answered)
        if not answered and (apart or is_explained):
            return 0.0
        hoped = logistic(self.chances.log_odds(self.evidence, features, IS_FIND))
        lift = self.lift(outcome.host)
        self.chances.learn(books, features, IS_FIND, came_true=outcome.reward, lift=lift)
        return hoped

    def _count_host(self, outcome: Outcome, kind: str, hoped: float) -> None:
        share = 1.0 / self.evidence.arms[kind].tries
        for book in self._books:
            record = book.host(outcome.host)
            record.answers += outcome.failure in (None, FailureKind.REDIRECT)
            record.tries += outcome.failure is not FailureKind.REDIRECT  # which shows nothing of the host yet
            if outcome.failure is None:
                record.seen += share
                record.found += outcome.reward * share
                record.hoped += hoped * share


def _heard(belief: ArmPosterior, record: ArmStatistics, *, answer_tries: float, find_tries: float) -> ArmPosterior:
    """A belief after a record, as if what was believed before were so many tries of it."""
    return ArmPosterior(
        record.answered.chance(belief.answers, tries=answer_tries), record.found.chance(belief.find, tries=find_tries)
    )
