"""Statistics read from the folder of a crawl, with and without shards."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from motherlode.crawler import CrawlFolder, Job, JobError, read_stats, read_visits
from motherlode.crawler.stats.counters import Counters, Estimate
from motherlode.frontier import HostRecord, LmdbStorage
from motherlode.model import FailureKind
from tests.crawler.small_web import HOME, crawled, small_web


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[CrawlFolder, Counters]:
    path = tmp_path_factory.mktemp("finished")
    return crawled(path / "out", small_web(path / "web.warc.gz"), sinks=({"kind": "nquads"},))


def folder_with(
    path: Path,
    totals: Counters,
    *,
    hosts: int = 0,
    refused: dict[str, int] | None = None,
    left: Estimate | None = None,
    sinks: tuple[dict[str, str], ...] = (),
) -> CrawlFolder:
    """Create the folder of a crawl with the given counters."""
    folder = CrawlFolder(path)
    folder.create(Job(seeds=(HOME,), sinks=sinks))
    storage = LmdbStorage(folder.frontier)
    storage.put_note("totals", msgspec.msgpack.encode(totals))
    storage.put_note("frontier", msgspec.msgpack.encode({"known_urls": 10, "refused": refused or {}}))
    if left is not None:
        storage.put_note("estimate", msgspec.msgpack.encode((left, True)))
    for number in range(hosts):
        storage.put_host(HostRecord(name=f"{path.name}-{number}.example"))
    storage.commit()
    storage.close()
    folder.unlock()
    return folder


def test_read_stats_without_crawl_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(JobError, match="has no crawl"):
        read_stats(CrawlFolder(tmp_path))
    with pytest.raises(JobError, match="has no crawl"):
        next(read_visits(CrawlFolder(tmp_path)))


def test_read_stats_of_a_new_crawl_is_empty(tmp_path: Path) -> None:
    folder = CrawlFolder(tmp_path / "crawl")
    folder.create(Job(seeds=(HOME,)))
    stats = read_stats(folder)
    folder.unlock()
    assert (stats.totals, stats.hosts, stats.known_urls, stats.left) == (Counters(), (), 0, None)
    assert stats.disk > 0
    assert stats.summary()["harvest_rate"] == 0.0


def test_stats_agree_with_the_visits(finished: tuple[CrawlFolder, Counters]) -> None:
    folder, totals = finished
    stats, visits = read_stats(folder), list(read_visits(folder))
    assert stats.totals.fetched == totals.fetched == len(visits)
    assert stats.totals.relevant == sum(visit.relevant for visit in visits) == 12
    assert stats.totals.redirects == sum(visit.failure is FailureKind.REDIRECT for visit in visits) == 2
    assert stats.totals.quads == sum(visit.quads for visit in visits)
    assert stats.known_urls > len(visits), "disallowed URLs are known but not visited"
    assert stats.refused
    assert stats.store_bytes > 0
    assert {host.name for host in stats.hosts} >= {"a.example"}
    assert [visit.number for visit in visits] == sorted(visit.number for visit in visits)


def test_summary_is_json_and_has_sinks_only_if_configured(
    finished: tuple[CrawlFolder, Counters], tmp_path: Path
) -> None:
    folder, totals = finished
    summary = json.loads(json.dumps(read_stats(folder).summary()))
    assert [sink["kind"] for sink in summary["sinks"]] == ["nquads"]
    assert summary["fetched"] == totals.fetched
    plain = folder_with(tmp_path / "plain", Counters())
    assert "sinks" not in read_stats(plain).summary()


def test_folder_of_an_earlier_version_has_no_estimate(tmp_path: Path) -> None:
    stats = read_stats(folder_with(tmp_path / "old", Counters(fetched=5)))
    assert (stats.left, stats.stopped_early, stats.summary()["estimated_left"]) == (None, False, None)


def test_stats_of_running_shards_are_added_up(tmp_path: Path) -> None:
    folder = folder_with(tmp_path / "crawl", Counters(fetched=1))
    one = Counters(fetched=10, relevant=4, quads=50, seconds=3.0, heads=2, refreshed=2, changed=1, unchanged=1, gone=0)
    other = Counters(fetched=6, relevant=2, quads=5, seconds=5.0, heads=1, refreshed=4, changed=0, unchanged=3, gone=1)
    left = Estimate(relevant=3.0, urls=7)
    folder_with(folder.path / "shards" / "0", one, hosts=2, refused={"robots": 1, "scope": 1}, left=left)
    folder_with(folder.path / "shards" / "1", other, hosts=1, refused={"robots": 4}, left=left)
    stats = read_stats(folder)
    whole = stats.totals
    assert (whole.fetched, whole.relevant, whole.quads, whole.heads) == (16, 6, 55, 3)
    assert (whole.refreshed, whole.changed, whole.unchanged, whole.gone) == (6, 1, 4, 1)
    assert whole.harvest_rate == pytest.approx(6 / 13), "HEAD requests count, revisits do not"
    assert whole.seconds == 5.0, "shards run in parallel"
    assert (len(stats.hosts), stats.known_urls, stats.refused) == (3, 20, {"robots": 5, "scope": 1})
    assert stats.left is not None
    assert (stats.left.relevant, stats.left.urls) == (6.0, 14)


def test_sinks_of_shards_are_merged(tmp_path: Path) -> None:
    sinks = ({"kind": "update", "url": "http://127.0.0.1:9/"}, {"kind": "nquads"})
    folder = folder_with(tmp_path / "crawl", Counters(fetched=2), sinks=sinks)
    for name in ("0", "1"):
        shard = folder_with(folder.path / "shards" / name, Counters(fetched=1), sinks=sinks).path
        for path in (f"sinks/1/{name}.batch", f"segments/segment-{name}.nq.gz"):
            (shard / path).parent.mkdir(parents=True)
            (shard / path).touch()
    (shard / "sinks" / "1" / "trouble.txt").write_text("503 later", encoding="utf-8")
    (update, files) = read_stats(folder).sinks
    assert (update["to"], update["waiting"], update["trouble"]) == ("http://127.0.0.1:9/", 2, "503 later")
    assert files["files"] == 2
    assert files["to"] == f"{folder.path}/shards/0/segments, {folder.path}/shards/1/segments"


def test_stats_of_merged_shards_are_those_of_the_folder(tmp_path: Path) -> None:
    folder = folder_with(tmp_path / "crawl", Counters(fetched=16, relevant=9), hosts=4)
    folder_with(folder.path / "shards" / "0", Counters(fetched=16, relevant=1), left=Estimate(relevant=3.0))
    stats = read_stats(folder)
    assert (stats.totals.relevant, len(stats.hosts)) == (9, 4)
    assert stats.left == Estimate(relevant=3.0), "the estimate comes from the shards"


def test_problems_that_differ_in_a_number_are_one_kind(tmp_path: Path) -> None:
    told = {"page: 7 of RDFa 1.1 left out": 1, "page: 1,012 of RDFa 1.1 left out": 2, "n3: line 4": 9}
    stats = read_stats(folder_with(tmp_path / "out", Counters(problems=told)))
    assert list(stats.problem_kinds.items()) == [("n3: line 4", 9), ("page: N of RDFa N.N left out", 3)]
    assert stats.summary()["problems"] == told, "the JSON output has all problems"
