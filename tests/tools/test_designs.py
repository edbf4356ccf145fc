"""Other designs of the policy: what their models learn, and that each crawls a web as other policies do."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools.designs import __main__ as command
from tools.designs.__main__ import crawl, key_of, log_losses, measure, rows
from tools.designs.policies import DESIGNS, PRIOR_VARIANCES, LogisticPosterior, Normal, Thompson
from tools.focus.runs import RunCache, Web

from motherlode.model import Outcome
from motherlode.policies.motherlode import PolicyConfig
from motherlode.policies.motherlode.arm_key import ArmKey
from motherlode.policies.motherlode.posterior import RELEVANCE

WEB = Web(name="a", target="any", pages=600, seed=7001, order=3)
ARM = "a.example\tnews/*\t2\t.html\tanchor\tli a"
SIBLING = "a.example\tabout\t1\t.html\tanchor\tli a"
ELSEWHERE = "b.example\tnews/*\t2\t.html\tanchor\tli a"


def outcome(*, relevant: bool) -> Outcome:
    return Outcome(
        url="http://a.example/news/1.html", host="a.example", arm=ARM, relevant=relevant, reward=float(relevant)
    )


def test_logistic_posterior_learns_most_about_the_arm_itself_and_least_about_other_hosts() -> None:
    model = LogisticPosterior(PolicyConfig())
    before = [model.probability(arm) for arm in (ARM, SIBLING, ELSEWHERE)]
    for _ in range(4):
        model.learn(outcome(relevant=True))
    gains = [model.probability(arm) - was for arm, was in zip((ARM, SIBLING, ELSEWHERE), before, strict=True)]
    assert gains[0] > gains[1] > gains[2] > 0


def test_belief_after_a_success_is_what_an_update_gives() -> None:
    model = LogisticPosterior(PolicyConfig())
    key = ArmKey.parse(ARM)
    expected = model.belief(ARM, key, RELEVANCE).after_success()
    model.update(ARM, key, RELEVANCE, 1.0)
    assert model.belief(ARM, key, RELEVANCE).mean == pytest.approx(expected.mean)


def test_uncertain_belief_has_a_probability_nearer_to_one_half() -> None:
    assert Normal(-2.0, 0.0).probability < Normal(-2.0, 4.0).probability < 0.5


def test_thompson_draws_anew_after_each_pick_and_each_outcome() -> None:
    policy = Thompson(seed=1)
    drawn = [policy.value_now(ARM) for _ in range(2)]
    policy._in_flight[ARM] = 1
    drawn.append(policy.value_now(ARM))
    del policy._in_flight[ARM]
    policy.learn(outcome(relevant=False))
    drawn.append(policy.value_now(ARM))
    assert drawn[0] == drawn[1]
    assert len(set(drawn)) == 3


@pytest.mark.parametrize("in_flight", [1, 8])
def test_comparison_runs_all_designs_once_and_reports_pairs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_flight: int
) -> None:
    monkeypatch.setattr(command, "MIN_ORACLE_GAIN", 0)
    path = tmp_path / "designs.jsonl"
    measure(WEB, ("motherlode", *DESIGNS), in_flight, path)
    written = path.read_bytes()
    measure(WEB, ("motherlode", *DESIGNS), in_flight, path)
    assert path.read_bytes() == written, "nothing was missing"
    cache = RunCache(path)
    cache.read()
    assert all(cache.runs[key_of(WEB, name, in_flight)].found[1] > 0 for name in ("motherlode", *DESIGNS))
    found = list(rows(DESIGNS, in_flight, [WEB], cache))
    assert [row[:4] for row in found if row[2] == "all"] == [
        (f"`{name}`", str(in_flight), "all", "1") for name in DESIGNS
    ]


def test_log_loss_of_wide_variances_differs_from_that_of_narrow_ones() -> None:
    crawls = [(WEB, crawl(WEB))]
    narrow = {
        event: variances._replace(arm=1e-6, host=1e-6, shared=1e-6) for event, variances in PRIOR_VARIANCES.items()
    }
    assert log_losses(crawls, PRIOR_VARIANCES)[1] < log_losses(crawls, narrow)[1], "who cannot learn predicts worse"
