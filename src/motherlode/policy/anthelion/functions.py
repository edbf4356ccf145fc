"""The seven value functions: what a host is worth, from what its pages gave and what its best waiting page promises.

Each is a product of at most two factors (section 3.2). One comes from the record of the host: C_good and C_bad, the
pages of it that were fetched and did or did not belong to the target class, with priors α = β = 1. The other is *best
score*: the classifier's confidence in the page that would be fetched next.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Factor = Callable[[float, float], float]
"""From good and bad pages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueFunction:
    """One line of the table."""

    factor: Factor
    """The record's factor; for Thompson's sampling its expectation, in the place of which a draw is used."""
    by_record: bool = True
    by_best: bool = False
    drawn: bool = False
    """A draw from Beta(good + 1, bad + 1), a new one for every pick."""
    exploration: float = 0.0
    """λ, where the user gives none. Section 5.2: λ > 0 is of no use to functions with the best score, and sampling
    explores by itself."""

    def value(self, good: float, bad: float, best: float) -> float:
        """s(h); not for functions that are drawn."""
        return self.factor(good, bad) * (best if self.by_best else 1.0)


def _success_rate(good: float, bad: float) -> float:
    return (good + 1) / (bad + 1)


def _absolute_good(good: float, bad: float) -> float:
    return good


def _negative_bad(good: float, bad: float) -> float:
    return -bad


def _expected(good: float, bad: float) -> float:
    return (good + 1) / (good + bad + 2)


def _one(good: float, bad: float) -> float:
    return 1.0


FUNCTIONS = {
    "best-score": ValueFunction(factor=_one, by_record=False, by_best=True),
    "success-rate": ValueFunction(factor=_success_rate, exploration=0.1),
    "thompson": ValueFunction(factor=_expected, drawn=True),
    "negative-bad": ValueFunction(factor=_negative_bad),
    "good-best-score": ValueFunction(factor=_absolute_good, by_best=True),
    "thompson-best-score": ValueFunction(factor=_expected, by_best=True, drawn=True),
    "success-best-score": ValueFunction(factor=_success_rate, by_best=True),
}
"""By the names that users type."""
