"""The job of a refresh: keys that it may change, and its budgets."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from motherlode.cli.crawl import refresh_job, refresh_starter
from motherlode.crawler import CrawlFolder, Job, JobError
from motherlode.crawler.recrawl.revisits import RefreshFirst, Revisits
from motherlode.crawler.stats.counters import Counters
from motherlode.frontier import End, LmdbStorage, MemoryStorage, UrlState
from motherlode.model import Link, LinkSource, Visit
from motherlode.policies import policy_from
from tests.frontier.fakes import frontier_on


def finished(path: Path, **job: object) -> CrawlFolder:
    """Return the folder of a finished crawl of a hundred pages."""
    folder = CrawlFolder(path)
    folder.create(Job(seeds=("http://a.example/",), **job))  # type: ignore[arg-type]
    storage = LmdbStorage(folder.frontier)
    storage.put_note("totals", msgspec.msgpack.encode(Counters(fetched=100, seconds=60.0, bytes=5_000)))
    storage.commit()
    storage.close()
    folder.unlock()
    return folder


def test_refresh_without_budget_ignores_the_budgets_of_the_crawl(tmp_path: Path) -> None:
    folder = finished(tmp_path / "out", pages=100, time=60.0, bytes=5_000)
    job = refresh_job(folder, {"pages": None, "delay": None, "policy": None})
    assert (job.pages, job.time, job.bytes) == (None, None, None)
    assert job.seeds == ("http://a.example/",)


def test_refresh_budget_is_added_to_the_counters_of_the_crawl(tmp_path: Path) -> None:
    folder = finished(tmp_path / "out", pages=100)
    job = refresh_job(folder, {"pages": 7, "time": 30.0, "bytes": 1})
    assert (job.pages, job.time, job.bytes) == (107, 90.0, 5_001)


def test_refresh_budget_of_zero_is_refused(tmp_path: Path) -> None:
    with pytest.raises(JobError, match="pages must be greater than 0"):
        refresh_job(finished(tmp_path / "out", pages=100), {"pages": 0})


def test_refresh_may_change_delay_but_not_target(tmp_path: Path) -> None:
    folder = finished(tmp_path / "out", delay=2.0)
    assert refresh_job(folder, {"delay": 0.5}).delay == 0.5
    assert folder.read_job().delay == 2.0, "the saved job is unchanged"
    with pytest.raises(JobError, match="policy cannot be changed"):
        refresh_job(folder, {"policy": "bfs", "target": "rdf"})


def test_refresh_without_crawl_is_refused(tmp_path: Path) -> None:
    with pytest.raises(JobError, match="has no crawl"):
        refresh_job(CrawlFolder(tmp_path / "none"), {})


def test_refresh_of_sharded_crawl_keeps_number_of_shards(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason='this test needs Ray: pip install "motherlode[ray]"')
    assert refresh_job(finished(tmp_path / "out", shards=2), {}).shards == 2


@pytest.mark.parametrize(
    ("due_only", "quiet", "said"), [(False, False, "2 known pages"), (True, False, "0 due pages"), (False, True, "")]
)
def test_refresh_announces_the_number_of_pages_unless_quiet(
    capsys: pytest.CaptureFixture[str], said: str, *, due_only: bool, quiet: bool
) -> None:
    storage, policy = MemoryStorage(), RefreshFirst(policy_from("bfs", 0))
    frontier = frontier_on(storage, policy=policy, delay=0.0)
    for number in (1, 2):
        url = f"http://a.example/{number}"
        frontier.add_links([Link(url=url, source=LinkSource.SEED)], parent=None)
        lease = frontier.lease(0.0)
        assert lease is not None
        frontier.response_received(lease, 0.0)
        frontier.end(lease, End.FETCHED, 0.0)
        visit = Visit(number=number, url=url, host="a.example", at=4e9)  # in the future, so that no revisit is due
        storage.append_visit(number, msgspec.msgpack.encode(visit))
    refresh_starter(due_only=due_only, quiet=quiet)(Revisits(storage, frontier, policy), frontier)
    told = capsys.readouterr().err
    assert said in told
    assert bool(told) is not quiet
    waiting = [found[1] for number in (1, 2) if (found := storage.find(f"http://a.example/{number}"))]
    assert waiting == [UrlState.DONE if due_only else UrlState.WAITING] * 2
