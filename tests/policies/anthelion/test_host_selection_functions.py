"""The table of value functions."""

from __future__ import annotations

import pytest

from motherlode.policies.anthelion.host_selection import FUNCTIONS


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("best-score", 0.25),
        ("success-rate", 4 / 2),
        ("negative-bad", -1),
        ("good-best-score", 3 * 0.25),
        ("success-best-score", 4 / 2 * 0.25),
    ],
)
def test_the_formulas_of_the_paper(name: str, value: float) -> None:
    assert FUNCTIONS[name].value(3, 1, 0.25) == value


def test_there_are_seven() -> None:
    assert len(FUNCTIONS) == 7
    assert {name for name, line in FUNCTIONS.items() if line.is_sampled} == {"thompson", "thompson-best-score"}
    assert {name for name, line in FUNCTIONS.items() if line.uses_best_score} == {
        n for n in FUNCTIONS if "best-score" in n
    }
