from __future__ import annotations

from pathlib import Path

import pytest

from motherlode.sim.calibration import Calibration, expected_error
from motherlode.sim.experiment import ExperimentSetup, run_experiment
from motherlode.sim.report import make_charts, write_outputs


def test_calibration_merges_bins_and_score() -> None:
    one, other = Calibration(), Calibration()
    one.add(0.25, True)
    other.add(0.21, False)
    other.add(1.0, True)
    one.merge(other)
    assert one.bins() == [(0.23, 0.5, 2), (1.0, 1.0, 1)]
    assert one.brier_score == pytest.approx((0.75**2 + 0.21**2) / 3)


def test_simulation_reports_calibration_of_policies_that_predict(tmp_path: Path) -> None:
    study = run_experiment(
        ExperimentSetup(web="synthetic:1000", policies=("motherlode", "pld"), share=0.3), processes=1
    )
    ours, other = (row.as_json() for row in study.rows)
    assert sum(count for *_, count in ours["calibration"]) == ours["fetched"]
    assert 0 < ours["brier_score"] < 0.25, "better than a constant probability of 1/2"
    assert (other["calibration"], other["brier_score"], other["calibration_error"]) == ([], None, None)
    assert ours["calibration_error"] == expected_error(ours["calibration"])
    (chart,) = [one for one in make_charts(study) if one.name == "calibration"]
    assert [bool(curve.points) for curve in chart.curves][:2] == [True, False]
    assert chart.curves[-1].points == ((0, 0), (100, 100)), "the diagonal"
    page = write_outputs(tmp_path, study).read_text(encoding="utf-8")
    assert f'<td class="number">{ours["brier_score"]:.3f}</td>' in page.partition("<h2>Reliability")[2]
    lines = (tmp_path / "calibration.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1 + len(ours["calibration"])
    assert lines[1].startswith("motherlode,any,0,")
