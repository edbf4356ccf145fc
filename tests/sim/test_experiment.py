from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from motherlode.crawler.engine.recovery import write_model
from motherlode.policies import policy_from
from motherlode.policies.model_io import Model
from motherlode.sim import runner as matrix
from motherlode.sim.experiment import (
    Experiment,
    ExperimentProgress,
    ExperimentSetup,
    area,
    focus,
    relevant_at,
    run_experiment,
)
from motherlode.sim.runner import open_web, synthetic_pages
from motherlode.sim.simulator import Simulation, Timing
from motherlode.sim.trace.recorder import record
from tests.sim.fakes import recorded_graph


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


TIMES = ("select_us_mean", "wall_seconds")


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trace")
    record([recorded_graph(folder / "w.warc.gz")[0]], folder / "trace", workers=1, progress=lambda done, of: None)
    return folder / "trace"


@pytest.fixture(scope="module")
def question(trace: Path) -> ExperimentSetup:
    return ExperimentSetup(web=str(trace), policies=("bfs", "bandit:success-rate", "random"), repeat=3, share=0.4)


def timeless(found: Experiment) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.as_json().items() if name not in TIMES} for row in found.rows]


def test_experiment_run_twice_gives_equal_rows(question: ExperimentSetup) -> None:
    side_by_side, alone = run_experiment(question, processes=2), run_experiment(question, processes=1)
    assert timeless(side_by_side) == timeless(alone)
    assert len(alone.rows) == 9
    assert [row.seed for row in alone.rows[:3]] == [0, 1, 2]


def test_experiment_with_failures_and_virtual_time_is_reproducible(question: ExperimentSetup) -> None:
    rough = replace(question, timing=Timing(in_flight=8, delay=1, latency=1, failure_rate=0.1))
    assert timeless(run_experiment(rough, processes=1)) == timeless(run_experiment(rough, processes=1))


def test_experiment_scores_are_correct(question: ExperimentSetup) -> None:
    found = run_experiment(question, processes=1)
    total = sum((found.available or {}).values())
    for row in found.rows:
        assert row.recall == row.result.relevant / total
    (bfs, oracle) = (found.baselines[name][0] for name in ("bfs", "oracle"))
    assert oracle.relevant > bfs.relevant
    by_policy = {row.policy: row for row in reversed(found.rows)}
    assert by_policy["bfs"].focus == by_policy["bfs"].area_focus == 0.0
    expected = (by_policy["random"].result.relevant - bfs.relevant) / (oracle.relevant - bfs.relevant)
    assert by_policy["random"].focus == pytest.approx(expected)
    assert found.focus_at(oracle, found.budget / 2) == pytest.approx(1.0)
    assert "oracle" not in by_policy


def test_experiment_reports_progress(question: ExperimentSetup) -> None:
    steps: list[ExperimentProgress] = []
    matrix._graphs.clear()
    found = run_experiment(replace(question, repeat=1), processes=1, progress=steps.append)
    assert (steps[0].what, steps[0].of, steps[0].unit) == ("looking through the web", found.page_count, "pages")
    last = steps[-1]
    assert (last.what, last.unit, last.of) == ("simulating, 3 of 4 runs ended", "requests", 4 * found.budget)
    assert last.under_way == (f"random (seed 0) 50 of {found.budget}",)
    assert last.done == 3 * found.budget + 50
    assert any("oracle (seed 0) looks at the whole web" in run for step in steps for run in step.under_way)


def test_experiment_accepts_oracle_by_name(question: ExperimentSetup) -> None:
    found = run_experiment(replace(question, policies=("oracle",), repeat=1), processes=1)
    (row,) = found.rows
    assert (row.policy, row.focus, row.area_focus) == ("oracle", 1.0, 1.0)


def test_experiment_share_is_of_web_pages(question: ExperimentSetup) -> None:
    found = run_experiment(replace(question, repeat=1), processes=1)
    assert found.budget == round(0.4 * found.page_count)
    assert {row.result.fetched for row in found.rows} == {found.budget}


def test_experiment_share_of_tiny_web_is_one_page(question: ExperimentSetup) -> None:
    few = replace(question, share=0.12)
    assert [few.budget(pages) for pages in (1, 4, 25)] == [1, 1, 3]
    with pytest.raises(ValueError, match="the web holds 0 pages"):
        few.budget(0)


def test_experiment_with_one_seed_starts_there(question: ExperimentSetup) -> None:
    found = run_experiment(
        replace(question, seeds=("http://h0.example/1",), policies=("bfs",), repeat=1, pages=5, share=None)
    )
    assert found.rows[0].result.fetched == 5
    assert not found.notes


class TestSentences:
    def test_experiment_with_budget_above_web_size_ends(self, question: ExperimentSetup) -> None:
        found = run_experiment(replace(question, policies=("bfs",), repeat=1, share=None, pages=10**6), processes=1)
        assert any("larger than the web" in note for note in found.notes)

    def test_experiment_with_unmatched_target_has_no_focus(self, question: ExperimentSetup) -> None:
        found = run_experiment(replace(question, target="type:schema:Unicorn", repeat=1), processes=1)
        assert found.notes == (
            "no page of this web matches the target 'type:schema:Unicorn': there is nothing to find",
        )
        assert {(row.result.relevant, row.recall, row.focus) for row in found.rows} == {(0, 0.0, None)}

    def test_experiment_with_unknown_seeds_gives_notice(self, question: ExperimentSetup) -> None:
        with pytest.raises(ValueError, match=r"none of the 1 seeds is in this web, for example https://x\.example/"):
            run_experiment(replace(question, seeds=("http://x.example/",)))
        found = run_experiment(
            replace(question, seeds=("http://x.example/", "http://h0.example/1"), repeat=1), processes=1
        )
        assert "1 of 2 seeds are not in this web" in found.notes[0]

    def test_experiment_without_budget_uses_default_share(self, question: ExperimentSetup) -> None:
        for wrong in ({"pages": 0, "share": None}, {"share": 0.0}, {"share": -1.0}):
            with pytest.raises(ValueError, match=r"is none|is too small"):
                run_experiment(replace(question, **wrong))  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="not both"):
            replace(question, pages=5)

    def test_experiment_with_unknown_names_is_refused(self, question: ExperimentSetup) -> None:
        with pytest.raises(ValueError, match="unknown policy"):
            replace(question, policies=("bsf",))
        with pytest.raises(ValueError, match="unknown target"):
            replace(question, target="microdta")

    @pytest.mark.parametrize("name", ["synthetic:abc", "synthetic:", "synthetic:-5", "synthetic:10", "synthetic:٣٣٣٣"])
    def test_experiment_with_invalid_page_count_is_refused(self, name: str) -> None:
        with pytest.raises(ValueError, match="should look like synthetic:100000"):
            synthetic_pages(name)


def test_experiment_with_unsupported_reward_is_refused() -> None:
    for reward in ("new-statements", "new-types", "command:cat"):
        with pytest.raises(ValueError, match="needs the statements of pages, which the web synthetic:300 does not"):
            ExperimentSetup(web="synthetic:300", policies=("bfs",), reward=reward)
    with pytest.raises(ValueError, match="a scorer needs the statements"):
        ExperimentSetup(web="anthelion:x", policies=("bfs",), target="command:cat")
    assert ExperimentSetup(web="synthetic:300", policies=("bfs",), reward="new-hosts").reward == "new-hosts"
    with pytest.raises(ValueError, match="unknown reward"):
        ExperimentSetup(web="synthetic:300", policies=("bfs",), reward="gold")


def test_experiment_graded_reward_and_model_improve_results(tmp_path: Path) -> None:
    plain = ExperimentSetup(web="synthetic:600", policies=("pld",), pages=200)
    graded = replace(plain, reward="statements")
    assert (
        run_experiment(plain, processes=1).rows[0].result.curve
        != run_experiment(graded, processes=1).rows[0].result.curve
    )
    home = run_experiment(plain, processes=1).rows[0]
    state = taught(plain)
    write_model(Model(policy="pld", target="any", state=state), tmp_path / "a.model")
    started = run_experiment(replace(plain, model=str(tmp_path / "a.model")), processes=1).rows[0]
    assert started.result.relevant > home.result.relevant
    with pytest.raises(ValueError, match="learned by the policy pld"):
        replace(plain, policies=("nb-online",), model=str(tmp_path / "a.model"))


def test_experiment_with_model_of_other_target_gives_notice(tmp_path: Path) -> None:
    question = ExperimentSetup(web="synthetic:300", policies=("pld",), pages=20, target="jsonld")
    write_model(Model(policy="pld", target="any", state=taught(question)), tmp_path / "a.model")
    found = run_experiment(replace(question, model=str(tmp_path / "a.model")), processes=1)
    assert "was learned for the target any, and this crawl has the target jsonld" in found.notes[0]


def taught(question: ExperimentSetup) -> bytes:
    """The model of a policy that has seen the whole web."""
    web, policy = open_web(question.spec), policy_from(question.policies[0])
    Simulation(web, policy, scope=lambda url: "").run(web.home_pages(), pages=10_000)
    return policy.dump()
