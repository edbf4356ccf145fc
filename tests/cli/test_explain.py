"""The command `explain`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from motherlode.cli import application
from motherlode.cluster.partitioner import owner_of
from motherlode.crawler import CrawlFolder, Job
from tests.crawler.small_web import HOME, crawled, small_web

RUN = CliRunner()


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> str:
    place = tmp_path_factory.mktemp("explain")
    return str(crawled(place / "out", small_web(place / "web.warc.gz"), pages=15)[0].path)


def _run(*arguments: str) -> tuple[int, str]:
    result = RUN.invoke(application(["explain", "stats"]), ["explain", *arguments], env={"COLUMNS": "200"})
    return result.exit_code, " ".join(result.output.split())


def test_explain_prints_tables(out: str) -> None:
    code, text = _run(out, HOME)
    assert code == 0
    for part in ("fetched as request 1", "as seed", "the policy now", "features, strongest first", "reward"):
        assert part in text


def test_explain_prints_json(out: str) -> None:
    code, text = _run(out, HOME, "--json")
    assert code == 0
    told = json.loads(text)
    assert (told["state"], told["found"]["source"], told["policy"]) == ("fetched", "seed", "motherlode")
    assert {"url", "because", "arm", "score", "rank", "explanation", "outcome", "checks", "nearest"} <= told.keys()


def test_explain_of_unknown_url_shows_its_checks(out: str) -> None:
    code, text = _run(out, "a.example/private/z")
    assert code == 0
    assert "STOPS: its host's robots.txt has the line `Disallow: /private`" in text.replace("│ │ ", "")
    assert "similar known URLs of the host" in text


def test_explain_in_a_shard_names_the_owner_of_the_url(tmp_path: Path) -> None:
    web, whole = small_web(tmp_path / "web.warc.gz"), CrawlFolder(tmp_path / "out")
    whole.create(Job(seeds=(HOME,), shards=2))
    whole.unlock()
    hosts = (f"http://h{number}.example/" for number in range(50))
    foreign = next(url for url in hosts if owner_of(url, 2) == 0)
    own = next(url for url in hosts if owner_of(url, 2) == 1)
    shard = str(crawled(whole.path / "shards" / "0001", web, pages=3)[0].path)
    _, text = _run(shard, foreign, "--json")
    owner = whole.path / "shards" / "0000"
    assert (
        f"belongs to another shard: `motherlode explain {owner} {foreign}` explains it" in json.loads(text)["because"]
    )
    _, text = _run(shard, own, "--json")
    assert "unknown: no fetched page" in json.loads(text)["because"]


@pytest.mark.parametrize("part", ["/md3", "./md3", "?q", "#top", "//a.example/x"])
def test_explain_of_a_partial_url_is_wrong_usage(out: str, part: str) -> None:
    code, text = _run(out, part)
    assert code == 2
    assert "is only a part of a URL: give the whole" in text


def test_explain_without_crawl_is_wrong_usage(tmp_path: Path) -> None:
    code, text = _run(str(tmp_path), HOME)
    assert code == 2
    assert "has no crawl" in text


def test_stats_show_the_estimate(out: str) -> None:
    result = RUN.invoke(application(["explain", "stats"]), ["stats", out, "--json"])
    left = json.loads(result.output)["estimated_left"]
    assert 0 <= left["low"] <= left["finds"] <= left["high"] <= left["waiting_urls"]
    assert "left to find" in RUN.invoke(application(["explain", "stats"]), ["stats", out]).output
