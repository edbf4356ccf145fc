"""The two questions asked of every link, answered by one small online learner: will it give a page, and is that a find?

Logistic regression by FTRL-Proximal (McMahan et al. 2013, Algorithm 1, without L1 and L2), one example at a time. The
questions are kept apart because failures tell nothing about a host's pages, and are learned across all targets: an
image is never a page, a link to a host that no longer exists never answers, whatever is looked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, sqrt

from motherlode.policy.motherlode.evidence import ANSWERS, IS_FIND, Evidence
from motherlode.policy.motherlode.features import GENERAL, Features
from motherlode.policy.motherlode.settings import Settings

_FURTHEST = 30.0


def logistic(z: float) -> float:
    """
    >>> logistic(0.0), logistic(-1000.0) > 0
    (0.5, True)
    """
    return 1.0 / (1.0 + exp(-max(-_FURTHEST, min(_FURTHEST, z))))


class Chances:
    """Reads and updates the sums of features."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.hunches: Mapping[str, float] = {}
        """What features add to the log-odds of a find before anything was learned (`hunches`)."""

    def weight(self, evidence: Evidence, feature: str, question: int, *, general: bool) -> float:
        """What a feature adds to the log-odds of one question."""
        hunch = self.hunches.get(feature, 0.0) if question == IS_FIND else 0.0
        sums = evidence.features.get(feature)
        if sums is None:
            return hunch
        rate = self._settings.general_rate if general else self._settings.own_rate
        return hunch - sums[question] * rate / (self._settings.beta + sqrt(sums[question + 1]))

    def log_odds(self, evidence: Evidence, features: Features, question: int, lift: float = 0.0) -> float:
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

    def chance(self, evidence: Evidence, features: Features) -> float:
        """The probability that a request gives a page that is a find."""
        answers = logistic(self.log_odds(evidence, features, ANSWERS))
        return answers * logistic(self.log_odds(evidence, features, IS_FIND))

    def learn(
        self, books: Sequence[Evidence], features: Features, question: int, *, came_true: float, lift: float = 0.0
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
