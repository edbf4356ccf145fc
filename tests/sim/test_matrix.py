from __future__ import annotations

import pytest

from motherlode.sim import matrix
from motherlode.sim.matrix import Trial, WebSpec, open_web, run_trial, run_trials
from motherlode.sim.run import Timing


def trials(*policies: str) -> list[Trial]:
    seeds = tuple(open_web(WebSpec(web="synthetic:500")).home_pages())
    return [Trial(policy=policy, seed=1, pages=60, seeds=seeds) for policy in policies]


def test_side_by_side_is_the_same_as_one_after_the_other() -> None:
    spec, wanted = WebSpec(web="synthetic:500"), trials("bfs", "random", "oracle")
    alone = list(run_trials(spec, wanted, processes=1))
    beside = list(run_trials(spec, wanted, processes=2))
    assert [one.trial for one in beside] == wanted
    assert [one.result.curve for one in beside] == [one.result.curve for one in alone]


def test_the_oracle_leads() -> None:
    spec = WebSpec(web="synthetic:500")
    bfs, oracle = (run_trial(spec, trial).result.relevant for trial in trials("bfs", "oracle"))
    assert oracle > bfs


def test_our_policy_waits_for_good_hosts_where_hosts_must_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = WebSpec(web="synthetic:2000")
    timing = Timing(in_flight=16, delay=1.0)
    trial = Trial(policy="motherlode", seed=1, pages=240, seeds=tuple(open_web(spec).home_pages()), timing=timing)
    waiting = run_trial(spec, trial).result.relevant
    monkeypatch.setattr(matrix, "DEFAULT_CHOOSY", 0.0)
    assert waiting > 1.2 * run_trial(spec, trial).result.relevant


def test_another_seed_is_another_synthetic_web() -> None:
    webs = [open_web(WebSpec(web="synthetic:500", web_seed=seed)).home_pages() for seed in (1, 2)]
    assert webs[0] != webs[1]


@pytest.mark.parametrize("policy", ["bsf", ""])
def test_an_unknown_policy_is_said(policy: str) -> None:
    with pytest.raises(ValueError, match="unknown policy"):
        run_trial(WebSpec(web="synthetic:500"), trials(policy)[0])
