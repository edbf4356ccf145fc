"""Calibration: how often requests were relevant, by the probability that the policy had predicted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

BINS = 10
Bin = tuple[float, float, int]
"""Mean predicted probability, share of relevant pages, and number of predictions."""


def expected_error(bins: Sequence[Bin]) -> float:
    """Return the mean difference of predicted and observed probability over all predictions; 0 without any.

    >>> expected_error([(0.1, 0.0, 30), (0.9, 0.8, 10)])
    0.1
    """
    total = sum(number for *_, number in bins)
    summed = sum(number * abs(predicted - observed) for predicted, observed, number in bins)
    return round(summed / total, 6) if total else 0.0


@dataclass(slots=True)
class Calibration:
    """Counts of predictions in ten bins of equal width, and the Brier score.

    >>> calibration = Calibration()
    >>> calibration.add(0.9, True); calibration.add(0.94, False); calibration.add(0.1, False)
    >>> calibration.bins()
    [(0.1, 0.0, 1), (0.92, 0.5, 2)]
    """

    _counts: list[int] = field(default_factory=lambda: [0] * BINS)
    _predicted: list[float] = field(default_factory=lambda: [0.0] * BINS)
    _relevant: list[int] = field(default_factory=lambda: [0] * BINS)
    _squares: float = 0.0

    def add(self, probability: float, relevant: bool) -> None:  # noqa: FBT001 - the second value of a pair
        """Add the predicted probability of a relevant page, and whether the request returned one."""
        number = min(BINS - 1, int(probability * BINS))
        self._counts[number] += 1
        self._predicted[number] += probability
        self._relevant[number] += relevant
        self._squares += (probability - relevant) ** 2

    def merge(self, other: Calibration) -> None:
        """Add the predictions of another crawl."""
        for number in range(BINS):
            self._counts[number] += other._counts[number]
            self._predicted[number] += other._predicted[number]
            self._relevant[number] += other._relevant[number]
        self._squares += other._squares

    @property
    def predictions(self) -> int:
        return sum(self._counts)

    @property
    def brier_score(self) -> float | None:
        """Mean squared difference of probability and result; None without predictions. A constant 1/2 has 0.25."""
        return self._squares / self.predictions if self.predictions else None

    @property
    def error(self) -> float | None:
        """Expected calibration error: the mean difference of predicted and observed probability, by bin."""
        return expected_error(self.bins()) if self.predictions else None

    def bins(self) -> list[Bin]:
        """Return mean probability, share of relevant pages and number of predictions of each bin that has any."""
        rows = zip(self._counts, self._predicted, self._relevant, strict=True)
        return [(round(p / n, 4), round(r / n, 4), n) for n, p, r in rows if n]
