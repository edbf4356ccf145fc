"""Models of crawls: read from folders, written to files, and used by other crawls."""

from __future__ import annotations

from pathlib import Path

import pytest

from motherlode.crawler import CrawlFolder, Job, JobError, read_visits
from motherlode.crawler.engine.recovery import check_model, make_policy, read_model, write_model
from motherlode.frontier import LmdbStorage
from motherlode.policies.model_io import ModelError, merge_models
from motherlode.policies.motherlode import Motherlode
from tests.crawler.small_web import HOME, crawled, small_web


def finds(folder: CrawlFolder, first: int) -> int:
    return sum(visit.relevant for visit in read_visits(folder) if visit.number <= first)


def test_crawl_with_a_model_finds_more_relevant_pages(tmp_path: Path) -> None:
    web = small_web(tmp_path / "web.warc.gz", items=40, plain=160)
    taught, _ = crawled(tmp_path / "taught", web)
    file = tmp_path / "a.model"
    write_model(read_model(taught.path), file)
    model = read_model(file)
    assert (model.policy, model.target, model.relevant) == ("motherlode", "any", 40)
    blank, _ = crawled(tmp_path / "blank", web, pages=40, target="jsonld")
    started, _ = crawled(tmp_path / "started", web, pages=40, target="jsonld", model=str(file))
    assert finds(started, 40) >= finds(blank, 40)
    assert finds(started, 40) >= 36


def test_resumed_crawl_reads_the_model_only_once(tmp_path: Path) -> None:
    """After the first run the model file is not needed."""
    web = small_web(tmp_path / "web.warc.gz")
    taught, _ = crawled(tmp_path / "taught", web, policy="pld")
    file = tmp_path / "a.model"
    write_model(read_model(taught.path), file)
    once, _ = crawled(tmp_path / "once", web, policy="pld", pages=5, model=str(file))
    before = read_model(once.path)
    file.unlink()
    crawled(tmp_path / "once", web, policy="pld", pages=5, model=str(file))
    assert read_model(once.path).state == before.state


def test_models_of_two_crawls_are_merged(tmp_path: Path) -> None:
    web = small_web(tmp_path / "web.warc.gz")
    parts = [(str(size), read_model(crawled(tmp_path / str(size), web, pages=size)[0].path)) for size in (8, 16)]
    whole = merge_models(parts, made_at="", version="")
    assert whole.requests == 24
    assert whole.crawls == 2


def test_unusable_model_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(JobError, match="cannot be read"):
        check_model(Job(seeds=("http://a.example/",), model=str(tmp_path / "absent")))
    folder, _ = crawled(tmp_path / "out", small_web(tmp_path / "web.warc.gz"), pages=3, policy="nb-online")
    with pytest.raises(JobError, match="use --policy nb-online"):
        check_model(Job(seeds=("http://a.example/",), model=str(folder.path)))
    asked = Job(seeds=("http://a.example/",), model=str(folder.path), policy="nb-online", target="rdf")
    assert "was learned for the target any" in check_model(asked)
    empty = CrawlFolder(tmp_path / "empty")
    empty.create(asked)
    empty.unlock()
    with pytest.raises(ModelError, match="saved no model"):
        read_model(empty.path)


def test_graded_rewards_are_learned_and_resumed(tmp_path: Path) -> None:
    web = small_web(tmp_path / "web.warc.gz")
    folder, _ = crawled(tmp_path / "out", web, reward="new-statements:2", pages=6)
    rewards = [visit.reward for visit in read_visits(folder) if visit.relevant]
    assert all(0 < reward < 1 for reward in rewards)
    assert rewards[0] == pytest.approx(0.5)
    assert all(
        reward == pytest.approx(1 / 3) for reward in rewards[1:]
    )  # one of the three statements, the type, was already known
    crawled(tmp_path / "out", web, reward="new-statements:2", pages=12)
    later = [visit.reward for visit in read_visits(folder) if visit.relevant and visit.number > 6]
    assert later
    assert all(reward == pytest.approx(1 / 3) for reward in later)


@pytest.mark.parametrize(
    ("budget", "wait_threshold"),
    [
        ({"pages": 100}, 0.65),
        ({"pages": 100, "delay": 0.0}, 0.85),
        ({"pages": 100, "delay": 0.0, "wait_threshold": 0.0}, 0.0),
        ({"bytes": 100, "wait_threshold": 0.8}, 0.8),
        ({"pages": 100, "time": 60.0}, 0.0),
        ({"time": 60.0}, 0.0),
        ({}, 0.0),
    ],
)
def test_make_policy_sets_a_wait_threshold_only_if_requests_are_limited_and_time_is_not(
    tmp_path: Path, budget: dict[str, float], wait_threshold: float
) -> None:
    storage = LmdbStorage(tmp_path / "frontier")
    policy = make_policy(Job(seeds=(HOME,), **budget), storage)  # type: ignore[arg-type]
    storage.close()
    assert isinstance(policy, Motherlode)
    assert policy.wait_threshold == wait_threshold


def test_make_policy_gives_target_priors_of_the_target(tmp_path: Path) -> None:
    storage = LmdbStorage(tmp_path)
    aimed, other = (make_policy(Job(seeds=(HOME,), target=target), storage) for target in ("rdf", "any"))
    assert isinstance(aimed, Motherlode) and isinstance(other, Motherlode)
    assert "ext .ttl" in aimed.posterior.target_priors
    assert not other.posterior.target_priors
    storage.close()
