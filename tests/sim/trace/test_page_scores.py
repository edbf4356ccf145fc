"""Scorers and rewards of novelty in simulations of a recorded web."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from motherlode.crawler import read_visits
from motherlode.policies import reward_from, target_from
from motherlode.policies.baselines.orders import OrderPolicy
from motherlode.policies.scorers import ScorerLimits
from motherlode.sim.experiment import ExperimentSetup, run_experiment
from motherlode.sim.runner import Trial, WebSpec, run_trial
from motherlode.sim.trace.page_scores import PageScores, score_pages
from motherlode.sim.trace.recorder import record
from tests.crawler.small_web import HOME, crawled, small_web

SCORER = """
import json, sys
for line in sys.stdin:
    page = json.loads(line)
    if page["text"] is not None:
        raise SystemExit("traces have no text")
    bad = "/item/3" in page["url"]
    print("null" if bad else 0.9 if "Recipe" in page["quads"] else 0.1, flush=True)
"""
LIMITS = ScorerLimits(seconds=30)


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    web = small_web(tmp_path / "w.warc.gz")
    record([web], tmp_path / "trace", workers=1, progress=lambda done, of: None)
    return tmp_path / "trace"


@pytest.fixture
def scorer(tmp_path: Path) -> str:
    (tmp_path / "score.py").write_text(SCORER)
    return f"command:{sys.executable} {tmp_path / 'score.py'}"


def test_pages_of_a_trace_are_scored_by_their_statements(trace: Path, scorer: str, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    scores = score_pages(trace, target_from(scorer), reward_from(scorer), LIMITS, lambda *done: told.append(done))
    assert (scores.pages, scores.failed) == (26, 1)  # the home page, 12 items, 12 texts and robots.txt
    assert "no number from 0 to 1" in scores.example
    assert scores.target == scores.reward
    assert scores.target.count(0.9) == 11
    assert told[-1][0] == told[-1][1]
    scores.write(tmp_path / "scores")
    assert PageScores.read(tmp_path / "scores") == scores


def test_simulation_with_a_scorer_uses_its_labels_and_rewards(trace: Path, scorer: str) -> None:
    setup = ExperimentSetup(
        web=str(trace), policies=("pld",), pages=60, target=f"{scorer}>=0.8", reward=scorer, dead=0.0, seeds=(HOME,)
    )
    found = run_experiment(setup, processes=1)
    assert found.rows[0].result.relevant == 11
    assert found.available == {"a.example": 11}
    assert "the scorer gave 1 of 26 pages no score" in found.notes[0]


def test_scorer_that_needs_text_is_an_error_in_a_simulation(trace: Path, tmp_path: Path) -> None:
    (tmp_path / "score.py").write_text("import json, sys\nfor line in sys.stdin: print(len(json.loads(line)['text']))")
    scorer = f"command:{sys.executable} {tmp_path / 'score.py'}"
    with pytest.raises(ValueError, match=r"gave no page of the trace .* a score"):
        score_pages(trace, target_from("any"), reward_from(scorer), LIMITS, lambda done, of: None)


@pytest.mark.parametrize("reward", ["new-statements", "new-subjects", "new-types", "new-hosts"])
def test_simulated_novelty_equals_that_of_a_crawl(
    trace: Path, tmp_path: Path, reward: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, _ = crawled(tmp_path / "out", tmp_path / "w.warc.gz", reward=reward, policy="bfs")
    crawl = {visit.url: visit.reward for visit in read_visits(folder) if visit.failure is None}
    learned: dict[str, float] = {}
    monkeypatch.setattr(OrderPolicy, "learn", lambda self, outcome: learned.setdefault(outcome.url, outcome.reward))
    hashed = reward_from(reward).hashed
    run_trial(
        WebSpec(web=str(trace), hashed=hashed), Trial(policy="bfs", seed=0, pages=60, seeds=(HOME,), reward=reward)
    )
    pages = {url: value for url, value in learned.items() if url in crawl}
    assert pages == {url: pytest.approx(value) for url, value in crawl.items()}
    assert any(pages.values()) == (reward != "new-subjects"), "the subjects of this web are blank nodes"
