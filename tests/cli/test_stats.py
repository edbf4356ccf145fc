"""The command `stats` and the summary of a crawl."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from motherlode.cli.stats import _describe_unfinished, describe_estimate, print_summary
from motherlode.crawler import CrawlStats
from motherlode.crawler.stats.counters import Counters, Estimate, sum_of
from motherlode.frontier import HostRecord


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use a wide terminal, because lines are folded at its width."""
    monkeypatch.setenv("COLUMNS", "160")


def stats(totals: Counters | None = None, **more: object) -> CrawlStats:
    told: dict[str, object] = {
        "hosts": (HostRecord(name="a.example"),),
        "known_urls": 1_234,
        "refused": {},
        "disk": 2_000,
    }
    return CrawlStats(totals=totals or Counters(), **{**told, **more})  # type: ignore[arg-type]


def summary(capsys: pytest.CaptureFixture[str], shown: CrawlStats) -> dict[str, str]:
    """Return the rows of the summary, with folded lines joined."""
    print_summary(shown)
    lines: dict[str, str] = {}
    name = ""
    for line in capsys.readouterr().out.splitlines():
        cells = [cell.strip() for cell in line.split("│")]
        if len(cells) == 4:
            name = cells[1] or name
            lines[name] = f"{lines.get(name, '')} {cells[2]}".strip()
    return lines


def test_summary_has_the_most_frequent_problems(capsys: pytest.CaptureFixture[str]) -> None:
    totals = Counters(problems={"jsonld: context not loaded": 7, **{f"page: kind {letter}": 1 for letter in "abcdef"}})
    shown = summary(capsys, stats(totals))["problems"]
    assert shown.startswith("13 7 × jsonld: context not loaded 1 × page: kind a ")
    assert shown.endswith(" and 2 other kinds: --json")
    assert summary(capsys, stats())["problems"] == "none"


def test_summary_of_an_empty_crawl_has_no_optional_rows(capsys: pytest.CaptureFixture[str]) -> None:
    lines = summary(capsys, stats())
    assert lines["fetched"] == "0 pages in 0.0 s (0 per second)"
    assert (lines["failures"], lines["refused"], lines["known URLs"], lines["on disk"]) == (
        "none",
        "none",
        "1,234",
        "2.0 kB",
    )
    assert not {"heads", "refreshed", "sinks", "left to find"} & set(lines), "rows without data are left out"


def test_summary_has_all_optional_rows(capsys: pytest.CaptureFixture[str]) -> None:
    totals = Counters(
        fetched=2_000,
        relevant=500,
        seconds=10.0,
        heads=3,
        refreshed=1_000,
        unchanged=7,
        changed=2,
        gone=1,
        failures={"dns": 1, "timeout": 1_000},
        syntaxes={"rdfa": [1, 9], "jsonld": [20, 90]},
    )
    sink = {"kind": "update", "to": "http://127.0.0.1/", "waiting": 3, "refused": 0, "trouble": "401 who are you?"}
    lines = summary(capsys, stats(totals, sinks=(sink,), left=Estimate(urls=7), refused={"robots.txt": 2}))
    assert lines["fetched"] == "2,000 pages in 10.0 s (200 per second)"
    assert lines["relevant"] == "500 (harvest rate 0.499)", "HEAD requests count too"
    assert lines["refreshed"] == "1,000 revisits in all: 7 unchanged, 2 changed, 1 gone, 990 failed"
    assert lines["failures"] == "timeout 1,000, dns 1", "the most frequent first"
    assert lines["syntaxes"] == "jsonld on 20 pages, rdfa on 1 page"
    assert lines["sinks"] == "update http://127.0.0.1/: 3 waiting (401 who are you?), 0 refused"
    assert lines["left to find"].startswith("about 0 (0 to 2) among 7 waiting URLs")
    assert lines["heads"] == "3"


@pytest.mark.parametrize(
    ("left", "stopped_early", "said"),
    [
        (None, False, ""),
        (
            Estimate(relevant=1_000.4, urls=5_000, growth=2.0),
            False,
            "new links are still too many to estimate how many pages these link to",
        ),
        (
            Estimate(relevant=4.2, urls=50, growth=2.0, requests=7),
            False,
            "7 requests are too few to estimate how many pages these link to",
        ),
        (
            Estimate(relevant=4.2, urls=50, growth=0.5, requests=7),
            False,
            "7 requests are too few to estimate how many pages these link to",
        ),
        (
            Estimate(relevant=10.0, urls=5_000, growth=0.5),
            False,
            "about 20 together with pages that no link led to yet",
        ),
        (Estimate(relevant=10.0, urls=5_000), True, "; the crawl stopped early"),
        (Estimate(), False, "nothing: no URL is waiting"),
        (
            Estimate(relevant=0.5, urls=5_000, requests=300, found=0),
            False,
            "not known yet: none of 300 requests gave a relevant page; 0 to 454 may be among 5,000 waiting URLs",
        ),
    ],
)
def test_estimate_is_described(left: Estimate | None, said: str, *, stopped_early: bool) -> None:
    words = describe_estimate(stats(left=left, stopped_early=stopped_early))
    assert words.endswith(said)
    assert ("stopped early" in words) is stopped_early


def test_problems_that_differ_in_a_number_are_one_kind(capsys: pytest.CaptureFixture[str]) -> None:
    totals = Counters(problems={"page: 66 statements were left out": 6, "page: 1,064 statements were left out": 3})
    assert summary(capsys, stats(totals))["problems"] == "9 9 × page: N statements were left out"


def test_summary_of_one_page_uses_the_singular(capsys: pytest.CaptureFixture[str]) -> None:
    lines = summary(capsys, stats(Counters(fetched=1)))
    assert lines["fetched"].startswith("1 page in ")
    assert lines["syntaxes"] == "none"


def test_summary_counts_hosts_with_unread_robots_txt(capsys: pytest.CaptureFixture[str]) -> None:
    hosts = (
        HostRecord(name="a.example"),
        HostRecord(name="b.example", unread_since=1.0, unread_for="unavailable"),
        HostRecord(name="c.example", unread_since=1.0, unread_for="server-error"),
        HostRecord(name="d.example", unread_since=1.0, unread_for="unavailable"),
    )
    shown = stats(hosts=hosts)
    assert summary(capsys, shown)["robots.txt unread"] == (
        "of 3 hosts, from which nothing is fetched until then: unavailable 2, server-error 1"
    )
    assert shown.summary()["unread_rules"] == {"server-error": 1, "unavailable": 2}
    assert "robots.txt unread" not in summary(capsys, stats())


def test_unfinished_pages_are_counted_by_stage() -> None:
    totals = Counters(unfinished={"http://a.example/1": "being read", "http://a.example/2": "being fetched"})
    assert _describe_unfinished(totals) == (
        "1 being read and 1 being fetched when the time was up; `motherlode resume` begins with them"
    )
    assert totals.summary()["unfinished"] == {"being fetched": 1, "being read": 1}


def test_summary_has_duration_of_outages(capsys: pytest.CaptureFixture[str]) -> None:
    assert "network" not in summary(capsys, stats())
    once = Counters(outages=1, outage_seconds=3725.0)
    assert summary(capsys, stats(once))["network"] == "down once, for 1 h 2 min in all"
    now = Counters(outages=2, outage_seconds=90.0, no_network_since=60.0)
    assert summary(capsys, stats(now))["network"] == (
        "down 2 times, for 1 min 30 s in all; no network since 1970-01-01 00:01:00 UTC"
    )
    told = stats(now).summary()
    assert (told["outages"], told["outage_seconds"], told["no_network_since"]) == (2, 90.0, 60.0)


def test_summary_of_a_crawl_with_challenges_counts_them_by_product(capsys: pytest.CaptureFixture[str]) -> None:
    totals = Counters(fetched=3, failures={"challenged": 3}, challenged_by={"anubis": 1, "cloudflare": 2})
    lines = summary(capsys, stats(totals))
    assert lines["challenged by"] == "cloudflare 2, anubis 1"
    assert "challenged by" not in summary(capsys, stats())
    assert sum_of([totals, totals]).summary()["challenged_by"] == {"anubis": 2, "cloudflare": 4}


@pytest.mark.parametrize(("count", "said"), [(1, "1 page is empty"), (3, "3 pages are empty")])
def test_summary_says_how_many_pages_need_a_script(count: int, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    row = summary(capsys, stats(Counters(script_applications=count)))["scripts"]
    assert row == f"{said} until a script runs, which a crawl does not do"


def test_every_key_of_stats_json_is_documented() -> None:
    figures = {"unindexed_bytes": 1, "damaged_segments": ("a",), "sinks": ({},), "validation": {"pages": 1}}
    text = (Path(__file__).parents[2] / "docs/reference/metrics.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`[a-z_`, ]+) \|", text.partition("## For Prometheus")[0], re.MULTILINE)
    documented = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert documented == {*stats(**figures).summary(), "sources"}
