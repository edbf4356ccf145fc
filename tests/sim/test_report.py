from __future__ import annotations

import pytest

from motherlode.sim.experiment import Experiment, ExperimentSetup, run_experiment
from motherlode.sim.report import Picture, pictures, results_by_policy


@pytest.fixture(scope="module")
def found() -> Experiment:
    return run_experiment(
        ExperimentSetup(web="synthetic:1000", policies=("random", "bfs"), repeat=3, share=0.5), processes=1
    )


@pytest.fixture(scope="module")
def drawn(found: Experiment) -> dict[str, Picture]:
    return {picture.name: picture for picture in pictures(found)}


def test_report_lists_policies_before_baselines(found: Experiment) -> None:
    assert list(results_by_policy(found)) == ["random", "bfs", "oracle"]


def test_report_harvest_is_mean_within_band(found: Experiment, drawn: dict[str, Picture]) -> None:
    random = drawn["harvest"].curves[0]
    ends = [row.result.relevant for row in found.rows if row.policy == "random"]
    assert random.end == (found.budget, round(sum(ends) / 3))
    assert random.band[-1] == (found.budget, min(ends), max(ends))
    assert all(low <= y <= high for (_, y), (_, low, high) in zip(random.points, random.band, strict=True))
    assert drawn["harvest"].curves[2].band == ()


def test_report_focus_is_0_for_bfs_and_100_for_oracle(drawn: dict[str, Picture]) -> None:
    _, bfs, oracle = drawn["focus"].curves
    assert {y for _, y in bfs.points} == {0}
    assert {y for _, y in oracle.points} == {100}


def test_report_hosts_are_sorted_by_result(found: Experiment, drawn: dict[str, Picture]) -> None:
    for curve in drawn["hosts"].curves:
        shares = [y for _, y in curve.points]
        assert shares == sorted(shares, reverse=True)
        assert len(shares) == len(found.available or {})
        assert all(0 <= share <= 100 for share in shares)


def test_report_pick_times_are_sorted(drawn: dict[str, Picture]) -> None:
    for curve in drawn["picking"].curves:
        sizes = [x for x, _ in curve.points]
        assert sizes == sorted(set(sizes))
        assert all(time > 0 for _, time in curve.points)
