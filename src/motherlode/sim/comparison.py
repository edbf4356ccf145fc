"""Paired comparison of two policies: the mean difference of each figure over the repetitions, with its standard error.

The repetitions of an experiment have the same host order for every policy, so the difference of two policies within a
repetition varies much less than the figures themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import mean, stdev
from typing import Any

from motherlode.sim.experiment import Experiment, Row

FIGURES = ("harvest_rate", "focus", "area_focus", "recall", "relevant_hosts")
"""The compared figures: keys of `Row.as_json`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedDifference:
    """The difference of two policies in one figure."""

    figure: str
    means: tuple[float, float]
    difference: float
    """Mean of the second policy minus mean of the first."""
    standard_error: float | None
    """Standard error of the difference; None if there is only one pair."""
    pairs: int

    def as_json(self) -> dict[str, Any]:
        error = self.standard_error
        return {
            "means": [round(one, 6) for one in self.means],
            "difference": round(self.difference, 6),
            "standard_error": None if error is None else round(error, 6),
            "pairs": self.pairs,
        }


def paired_difference(figure: str, first: Sequence[float], second: Sequence[float]) -> PairedDifference:
    """Return the difference of two series of values that belong together pair by pair.

    >>> paired_difference("focus", [0.5, 0.6], [0.7, 0.7])
    PairedDifference(figure='focus', means=(0.55, 0.7), difference=0.15, standard_error=0.05, pairs=2)
    """
    differences = [other - one for one, other in zip(first, second, strict=True)]
    error = stdev(differences) / sqrt(len(differences)) if len(differences) > 1 else None
    return PairedDifference(
        figure=figure,
        means=(round(mean(first), 9), round(mean(second), 9)),
        difference=round(mean(differences), 9),
        standard_error=None if error is None else round(error, 9),
        pairs=len(differences),
    )


def compare(study: Experiment, first: str, second: str) -> list[PairedDifference]:
    """Return the differences of two policies of an experiment, for each figure that is known in some repetition."""
    rows = [{row.seed: row for row in study.rows if row.policy == name} for name in (first, second)]
    found = []
    for figure in FIGURES:
        pairs = [(_figure(rows[0][seed], figure), _figure(rows[1][seed], figure)) for seed in sorted(rows[0])]
        known = [(one, other) for one, other in pairs if one is not None and other is not None]
        if known:
            found.append(paired_difference(figure, [one for one, _ in known], [other for _, other in known]))
    return found


def _figure(row: Row, name: str) -> float | None:
    value: float | None = row.as_json()[name]
    return value
