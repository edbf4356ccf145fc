from __future__ import annotations

import pytest

from motherlode.sim.experiment import area, focus, relevant_at


def test_area_of_earlier_step_is_larger() -> None:
    early, late = [(10, 10), (100, 10)], [(90, 0), (100, 10)]
    assert area(early, 100) == 10 * 10 / 2 + 90 * 10
    assert area(late, 100) == 10 * 10 / 2
    assert area([], 100) == 0


@pytest.mark.parametrize(("policy", "share"), [(30, 0.0), (100, 1.0), (65, 0.5), (23, -0.1)])
def test_focus_is_share_of_oracle_gain(policy: float, share: float) -> None:
    assert focus(policy, 30, 100) == pytest.approx(share)


def test_focus_without_oracle_gain_is_none() -> None:
    assert focus(30, 30, 30) is None


def test_relevant_at_interpolates_between_points() -> None:
    assert relevant_at([(10, 4), (20, 8)], 15) == 6
    assert relevant_at([], 15) == 0
