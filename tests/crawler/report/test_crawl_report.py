"""Contents of the report, from the statistics of a crawl."""

from __future__ import annotations

from pathlib import Path

import pytest

from motherlode.crawler.config.job import Job
from motherlode.crawler.report.crawl_report import (
    EXPLANATIONS,
    SYNTAX_NAMES,
    CrawlReport,
    Figure,
    build_harvest_curve,
    build_report,
    format_duration,
    write_report,
)
from motherlode.crawler.stats.counters import Counters
from motherlode.crawler.stats.reader import CrawlStats
from motherlode.frontier import HostRecord
from motherlode.model import FailureKind, Problem, Syntax, Visit

JOB = Job(seeds=("http://a.example/", "http://a.example/x", "b.example"), pages=2000, policy="bfs", time=1800.0)


def stats_of(totals: Counters, *hosts: HostRecord, **others: int) -> CrawlStats:
    return CrawlStats(
        totals=totals, hosts=hosts, known_urls=others.get("known_urls", 0), refused={}, disk=others.get("disk", 0)
    )


def visited() -> Counters:
    """Return the counters of 1,001 visits: every second is relevant, one redirect, three failures, one problem."""
    totals = Counters(seconds=10.0)
    kinds = {7: FailureKind.REDIRECT, 9: FailureKind.DNS, 11: FailureKind.NOT_FOUND, 13: FailureKind.NOT_FOUND}
    for number in range(1, 1002):
        failure = kinds.get(number)
        totals.add(
            Visit(
                number=number,
                url=f"http://a.example/{number}",
                host="a.example",
                failure=failure,
                relevant=number % 2 == 0,
                counts={} if failure else {"jsonld": 3, "page": 2},
                quads=0 if failure else 5,
                size=1000,
                received=1000,
                links=4,
                problems=(Problem(syntax=Syntax.JSON_LD, message="not JSON at all"),) if number == 1 else (),
            )
        )
    return totals


def figure(report: CrawlReport, label: str) -> Figure:
    (found,) = [figure for figure in report.figures if figure.label == label]
    return found


def test_every_kind_of_failure_has_an_explanation() -> None:
    assert set(EXPLANATIONS) >= {kind.value for kind in FailureKind}
    assert all(text[0].isupper() and text.endswith(".") for text in EXPLANATIONS.values())
    assert len(set(EXPLANATIONS.values())) == len(EXPLANATIONS)


def test_every_syntax_has_a_name() -> None:
    assert set(SYNTAX_NAMES) == {syntax.value for syntax in Syntax}
    assert len(set(SYNTAX_NAMES.values())) == len(SYNTAX_NAMES)


class TestReportOf:
    def test_figures_are_those_of_the_counters(self) -> None:
        host = HostRecord(name="a.example", fetched=1001, relevant=500)
        idle = HostRecord(name="b.example")
        report = build_report(JOB, stats_of(visited(), host, idle, known_urls=12_345, disk=2_000_000))
        assert report.figures[0] == Figure(label="Harvest rate", value="50.0 %", note="of pages fetched")
        assert figure(report, "Fetched").value == "1,001"
        assert figure(report, "Fetched").note == "3 failed, 1 redirected"
        assert figure(report, "Relevant").value == "500"
        assert figure(report, "Relevant").note == "on 1 host"
        assert figure(report, "Quads").value == "4,985"
        assert figure(report, "Contacted hosts").value == "2"
        assert figure(report, "Known URLs").value == "12,345"
        assert figure(report, "Time").value == "10.0 s"
        assert figure(report, "Time").note == "100.1 pages per second"
        assert figure(report, "Received").value == "1.0 MB"
        assert figure(report, "Received").note == "2.0 MB on disk"

    def test_curve_ends_with_the_last_page(self) -> None:
        totals = visited()
        assert totals.curve[-1] != (1001, 500)
        (curve,) = build_report(JOB, stats_of(totals)).curves
        assert curve.name == "bfs"
        assert curve.points[-1] == (1001, 500)
        assert curve.points[:-1] == tuple(totals.curve)

    def test_complete_curve_gets_no_extra_point(self) -> None:
        totals = Counters(fetched=2, relevant=1, curve=[(1, 0), (2, 1)])
        assert build_harvest_curve("c", totals).points == ((1, 0), (2, 1))

    def test_only_contacted_hosts_are_listed(self) -> None:
        host = HostRecord(name="a.example", fetched=4, relevant=3, quads=20, received=999)
        report = build_report(JOB, stats_of(Counters(), host, HostRecord(name="never.example")))
        (row,) = report.hosts
        assert row is host

    def test_page_metadata_is_marked_as_plain(self) -> None:
        totals = visited()
        totals.syntaxes["later-syntax"] = [1, 2]
        rows = {row.name: row for row in build_report(JOB, stats_of(totals)).syntaxes}
        assert (rows["JSON-LD"].pages, rows["JSON-LD"].statements) == (997, 2991)
        assert [row.plain for row in rows.values()] == [
            row.name == SYNTAX_NAMES[Syntax.PAGE.value] for row in rows.values()
        ]
        assert rows["later-syntax"].statements == 2

    def test_failures_and_refusals_are_explained_without_redirects(self) -> None:
        stats = CrawlStats(
            totals=visited(), hosts=(), known_urls=0, refused={"out of scope": 9, "robots": 2, "dull": 1}, disk=0
        )
        report = build_report(JOB, stats)
        failures = {count.name: count for count in report.failures}
        assert {name: count.count for name, count in failures.items()} == {"dns": 1, "not-found": 2}
        assert failures["dns"].explanation == EXPLANATIONS[FailureKind.DNS.value]
        refused = {count.name: count for count in report.refused}
        assert refused["robots"].explanation == EXPLANATIONS[FailureKind.ROBOTS.value]
        assert "out of the scope" in refused["out of scope"].explanation
        assert refused["dull"].explanation == ""

    def test_problems_are_counted_by_kind(self) -> None:
        (problem,) = build_report(JOB, stats_of(visited())).problems
        assert (problem.name, problem.count) == ("jsonld: not JSON at all", 1)

    def test_report_of_an_empty_crawl_is_written(self, tmp_path: Path) -> None:
        report = build_report(Job(), stats_of(Counters()))
        assert report.title == "A crawl"
        assert report.figures[0].value == "0 %"
        assert report.curves[0].points == ()
        write_report(tmp_path / "report.html", report)
        assert "Nothing was fetched." in (tmp_path / "report.html").read_text(encoding="utf-8")

    def test_report_lists_the_settings(self) -> None:
        asked = dict(build_report(JOB, stats_of(Counters())).settings)
        assert asked == {
            "Policy": "bfs",
            "Target": "any",
            "Scope": "web",
            "Seeds": "3",
            "Budget": "2,000 pages, 30 min 0 s",
        }
        assert dict(build_report(Job(web="/far/away/sites.warc.gz"), stats_of(Counters())).settings)[
            "Recorded web"
        ] == ("sites.warc.gz")

    @pytest.mark.parametrize(
        ("seeds", "title"),
        [
            (("http://a.example/", "http://a.example/x"), "Crawl of a.example"),
            (("http://a.example/", "b.example"), "Crawl of a.example and 1 more host"),
            (("x://", "http://b.example/", "http://c.example/"), "Crawl of x:// and 2 more hosts"),
        ],
    )
    def test_title_names_the_seeds(self, seeds: tuple[str, ...], title: str) -> None:
        assert build_report(Job(seeds=seeds), stats_of(Counters())).title == title

    def test_report_has_the_time_if_known(self) -> None:
        assert build_report(JOB, stats_of(Counters()), made_at=0.0).generated.endswith(
            " on 1 January 1970 at 00:00 UTC"
        )
        assert " on " not in build_report(JOB, stats_of(Counters())).generated


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0.0 s"),
        (59.9, "59.9 s"),
        (61, "1 min 1 s"),
        (3599.7, "1 h 0 min"),
        (86_400, "1 d 0 h"),
        (1e9, "11,574 d 1 h"),
    ],
)
def test_duration_is_formatted(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text


def test_revisits_do_not_lower_the_harvest_rate() -> None:
    totals = Counters(fetched=150, relevant=50, refreshed=50)
    found = figure(build_report(JOB, stats_of(totals)), "Harvest rate")
    assert (found.value, found.note) == ("50.0 %", "without revisits")
