"""Crawls of a recorded web in which one domain has more hosts than may be contacted."""

from __future__ import annotations

from pathlib import Path

import pytest

from motherlode.cli.stats import print_summary
from motherlode.crawler import CrawlFolder, read_stats, read_visits
from motherlode.crawler.explain.explanation import explain_url
from tests.crawler.small_web import HOME, HTML, crawled, item, page
from tests.support import write_warc

HOSTS = 9
LIMIT = 3


def zone(path: Path, *, useful: int | None = None) -> Path:
    """A home page that links to hosts of one domain, one of which may have data on its second page."""
    names = [f"http://h{number}.zone.example/" for number in range(HOSTS)]
    pages = [(HOME, 200, HTML, page(*names, names="home"))]
    for number, name in enumerate(names):
        pages.append((name, 200, HTML, page(f"{name}more", names=name)))
        pages.append((f"{name}more", 200, HTML, item(name) if number == useful else page(names=f"more of {name}")))
    return write_warc(path, pages)


def asked(folder: CrawlFolder) -> set[str]:
    return {visit.host for visit in read_visits(folder) if visit.host.endswith("zone.example")}


def names(count: int) -> set[str]:
    return {f"h{number}.zone.example" for number in range(count)}


def test_withheld_hosts_are_counted_and_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, totals = crawled(tmp_path / "out", zone(tmp_path / "web.warc.gz"), max_untried_hosts=LIMIT, policy="bfs")
    assert asked(folder) == names(LIMIT)
    assert totals.fetched == 1 + 2 * LIMIT
    stats = read_stats(folder)
    assert stats.summary()["withheld"] == {"domains": 1, "hosts": HOSTS - LIMIT, "urls": HOSTS - LIMIT}
    print_summary(stats)
    assert "6 URLs on 6 untried hosts of 1 domain" in capsys.readouterr().out
    told = explain_url(folder, "http://h8.zone.example/")
    assert told.state == "waits"
    assert "zone.example has 3 other hosts that may be contacted, none relevant so far" in told.because
    assert "max_untried_hosts" in told.because
    assert "max_untried_hosts" not in explain_url(folder, "http://h0.zone.example/").because


def test_relevant_host_lets_the_crawl_go_on_and_the_limit_survives_a_resume(tmp_path: Path) -> None:
    web, settings = zone(tmp_path / "web.warc.gz", useful=1), {"max_untried_hosts": LIMIT, "policy": "bfs"}
    folder, _ = crawled(tmp_path / "out", web, **settings, pages=4)
    assert asked(folder) == names(3)
    assert read_stats(folder).withheld.hosts == HOSTS - LIMIT
    folder, _ = crawled(tmp_path / "out", web, **settings)
    assert asked(folder) == names(2 * LIMIT), "the relevant host allows three more"
    folder, _ = crawled(tmp_path / "out", web, **settings)
    assert asked(folder) == names(2 * LIMIT), "another resume contacts no more hosts"
    assert read_stats(folder).withheld.hosts == HOSTS - 2 * LIMIT


def test_hosts_of_seeds_are_contacted_whatever_the_limit(tmp_path: Path) -> None:
    seeds = (HOME, *(f"http://h{number}.zone.example/" for number in range(HOSTS)))
    web = zone(tmp_path / "web.warc.gz")
    folder, _ = crawled(tmp_path / "out", web, seeds=seeds, max_untried_hosts=1, policy="bfs")
    assert asked(folder) == names(HOSTS)
