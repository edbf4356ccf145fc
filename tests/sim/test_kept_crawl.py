"""Simulated crawls that are kept: `explain` reads them, and nothing goes online from them."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from motherlode.crawler import CrawlFolder, JobError, read_visits
from motherlode.crawler.engine.factory import check
from motherlode.crawler.explain.explanation import explain_url
from motherlode.frontier import LmdbStorage, UrlState
from motherlode.model import FailureKind
from motherlode.policies import target_from
from motherlode.sim.experiment import ExperimentSetup, run_experiment
from motherlode.sim.kept_crawl import folder_name
from motherlode.sim.synthetic.adapter import SyntheticSimWeb

WEB = "synthetic:300:5"


def keep(path: Path, *policies: str, pages: int = 60, seeds: tuple[str, ...] = ()) -> dict[str, CrawlFolder]:
    setup = ExperimentSetup(web=WEB, policies=policies, pages=pages, seeds=seeds, keep=str(path))
    run_experiment(setup, processes=1)
    return {name: CrawlFolder(path / folder_name(name)) for name in policies}


def test_kept_crawl_has_the_requests_of_the_first_repetition_and_explains_them(tmp_path: Path) -> None:
    setup = ExperimentSetup(web=WEB, policies=("motherlode",), pages=60, repeat=2, keep=str(tmp_path / "k"))
    result = run_experiment(setup, processes=1).rows[0].result
    folder = CrawlFolder(tmp_path / "k" / "motherlode")
    visits = list(read_visits(folder))
    assert len(visits) == result.fetched == 60
    assert sum(visit.relevant for visit in visits) == result.relevant > 0
    page = next(visit for visit in visits if visit.relevant and visit.parent_url)
    explained = explain_url(folder, page.url)
    assert explained.state == "fetched"
    assert explained.outcome is not None
    assert (explained.outcome.number, explained.outcome.relevant) == (page.number, True)
    assert explained.found is not None
    assert explained.found.parent == page.parent_url
    assert explained.value_at_pick == page.value is not None
    assert explained.explanation is not None, "the policy is restored with what it has learned"
    assert explained.explanation.record["host_tries"] > 0


def test_waiting_url_of_a_kept_crawl_has_a_rank_and_a_failure_its_kind(tmp_path: Path) -> None:
    home = SyntheticSimWeb(pages=300, seed=5, target=target_from("any")).home_pages()[0]
    (folder,) = keep(tmp_path, "bfs", pages=30, seeds=("http://nowhere.example/", home)).values()
    failed = next(visit for visit in read_visits(folder) if visit.failure is not None)
    outcome = explain_url(folder, failed.url).outcome
    assert outcome is not None
    assert (outcome.failure, failed.failure) == ("dns", FailureKind.DNS)
    with closing(LmdbStorage(folder.frontier, read_only=True)) as storage:
        waiting = next(entry.url for entry, state, _ in storage.entries() if state is UrlState.WAITING)
    rank = explain_url(folder, waiting).rank
    assert rank is not None
    assert rank.arms > 0


def test_each_policy_has_a_folder_and_the_baselines_have_none(tmp_path: Path) -> None:
    keep(tmp_path, "motherlode", "bandit:success-rate", pages=20)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bandit-success-rate", "motherlode"]


def test_kept_crawl_can_be_replaced_by_another_but_is_not_resumed(tmp_path: Path) -> None:
    keep(tmp_path, "pld", pages=20)
    (folder,) = keep(tmp_path, "pld", pages=30).values()
    assert len(list(read_visits(folder))) == 30
    with pytest.raises(JobError, match=r"the recorded web .*synthetic:300:5 cannot be read"):
        check(folder.read_job())


def test_folder_of_something_else_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "pld").mkdir()
    (tmp_path / "pld" / "notes.txt").write_text("mine")
    with pytest.raises(JobError, match="not an empty folder"):
        keep(tmp_path, "pld", pages=20)
