"""Tests of the overview of a finished, a running and a new crawl, and of `CrawlView`."""

from __future__ import annotations

import re
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser

from motherlode.crawler import CrawlFolder, Job
from motherlode.crawler.explain.policy_summary import ArmSummary, Example, PolicySummary
from motherlode.crawler.report.crawl_report import CrawlReport, Figure, SyntaxRow
from motherlode.crawler.report.plot import Curve
from motherlode.crawler.stats.counters import Counters
from motherlode.crawler.stats.reader import CrawlStats
from motherlode.frontier import HostRecord
from motherlode.index.query.diagnostics import query_form
from motherlode.index.query.query_pool import Row, Term
from motherlode.serve.crawl_view import CrawlState, CrawlView, FailureRow
from motherlode.serve.pages import TOP_TYPES, render_overview, render_parts

HOSTILE = '"><script>alert(1)</script>'
EMPTY = CrawlReport(title="Crawl of a.test")
FULL = CrawlReport(
    title=HOSTILE,
    settings=((HOSTILE, HOSTILE),),
    figures=(Figure(label=HOSTILE, value="7", note=HOSTILE),),
    curves=(Curve(name=HOSTILE, points=((1, 1), (4, 2))),),
    syntaxes=(SyntaxRow(name="page", pages=9, statements=9, plain=True), SyntaxRow(name="rdfa", pages=2, statements=5)),
)
HOSTS = tuple(HostRecord(name=f"h{n}.test", fetched=20, relevant=n, quads=n, received=n) for n in range(20))
FAILURES = tuple(FailureRow(name=f"{HOSTILE}{n}", count=n, explanation=HOSTILE) for n in range(3))
POLICY = PolicySummary(
    name=HOSTILE,
    says=HOSTILE,
    arms=(
        ArmSummary(
            arm=HOSTILE,
            name=HOSTILE,
            host=HOSTILE,
            waiting=3,
            value=0.5,
            probability=0.25,
            uncertainty=0.125,
            tries=4,
            examples=(Example(url=HOSTILE, relevant=True),),
        ),
    ),
    waiting=1_234,
)


def make_state(
    report: CrawlReport, *, is_running: bool = False, done: tuple[int, int | None] = (0, None)
) -> CrawlState:
    is_full = report is FULL
    return CrawlState(
        report=report,
        stats=CrawlStats(
            totals=Counters(fetched=done[0], rate=3.25, in_flight=5),
            hosts=HOSTS if is_full else (),
            known_urls=0,
            refused={HOSTILE: 2} if is_full else {},
            disk=0,
        ),
        is_running=is_running,
        ended_at=None if is_running else 1_000_000_000.0,
        page_budget=done[1],
        concurrency=64,
        policy=POLICY if is_full else PolicySummary(name="bfs"),
        changes={HOSTILE: -0.5},
        failures=FAILURES if is_full else (),
        log=(HOSTILE,) if is_full else (),
    )


def shown(
    report: CrawlReport,
    types: list[Row] | None = None,
    *,
    is_running: bool = False,
    done: tuple[int, int | None] = (0, None),
) -> LexborHTMLParser:
    state = make_state(report, is_running=is_running, done=done)
    return LexborHTMLParser(render_overview(state, render_parts(state, types)))


def typed(name: str, count: int, kind: str = "uri") -> Row:
    return {"type": Term(kind, name), "n": Term("literal", str(count))}


def part(page: LexborHTMLParser, name: str) -> str:
    return page.css(f"[data-part={name}]")[0].text()


def test_overview_of_new_crawl_has_all_parts() -> None:
    page = shown(EMPTY, [], is_running=True, done=(0, 10))
    assert "Nothing has been fetched yet." in part(page, "harvest")
    assert all("None." in part(page, name) for name in ("types", "syntaxes", "failures"))
    assert "Nothing is logged yet." in part(page, "log")


@pytest.mark.parametrize("is_running", [True, False])
def test_overview_says_whether_crawl_runs_or_when_it_ended(*, is_running: bool) -> None:
    page = shown(FULL, None, is_running=is_running, done=(1_234, 5_000))
    assert "1,234 of 5,000 pages" in part(page, "figures")
    state = page.css("h1 .state")[0].text()
    assert state == "running" if is_running else re.fullmatch(r"ended, \d?\d Sep \d\d:\d\d", state)
    assert bool(page.css("noscript")) is is_running
    assert ("3.2" in part(page, "now")) is is_running


def test_overview_without_page_budget_has_no_progress_bar() -> None:
    figures = render_parts(make_state(EMPTY, is_running=True, done=(7, None)), None)["figures"]
    assert " pages" not in LexborHTMLParser(figures).text()
    assert "<svg" not in figures


def test_overview_shows_what_policy_believes() -> None:
    text = " ".join(part(shown(FULL), "policy").split())
    assert "0.25\xa0±\xa0" in part(shown(FULL), "policy")
    assert "-0.50" in text
    assert "✓" in text


def test_overview_shows_top_entries_only() -> None:
    page = shown(FULL, [typed("http://schema.org/Recipe", 1_000), typed("_:b0", 3, kind="bnode"), {}])
    tables = {node.css("h2")[0].text(): node for node in page.css("section") if node.css("h2") and node.css("tbody")}
    hosts = [row.css("td")[0].text() for row in tables["Hosts with most relevant pages"].css("tbody tr")]
    assert hosts == [f"h{n}.test" for n in range(19, 7, -1)]
    assert len(tables["Failures"].css("tbody tr")) == 3
    assert [row.css("td")[0].text() for row in tables["Syntaxes"].css("tbody tr")] == ["rdfa", "page"]
    types = tables["Most common types"].css("tbody tr")
    assert [row.css("td")[0].text() for row in types] == ["schema:Recipe", "_:b0"]
    assert types[0].css(".count")[0].text() == "1,000"


def test_overview_without_counted_types_says_none() -> None:
    assert "None." in part(shown(FULL, None), "types")
    assert query_form(TOP_TYPES) == "SELECT"


def test_overview_escapes_crawled_text() -> None:
    page = shown(FULL, [typed(HOSTILE, 1)], is_running=True, done=(1, 2))
    assert [node.attributes.get("src") for node in page.css("script")] == ["/script.js"]
    assert HOSTILE in page.css("h1")[0].text()
    assert all(HOSTILE in part(page, name) for name in ("policy", "failures", "log", "now", "status"))


def test_crawl_with_locked_folder_is_running(tmp_path: Path) -> None:
    folder = CrawlFolder(tmp_path / "out")
    folder.create(Job(seeds=("http://a.test/",), pages=7))
    view = CrawlView(CrawlFolder(tmp_path / "out"))
    assert view.read_state().is_running
    folder.unlock()
    assert not view.read_state().is_running
    folder.lock()  # checking for a running crawl must not take the lock
    folder.unlock()


def test_report_of_new_crawl(tmp_path: Path) -> None:
    folder = CrawlFolder(tmp_path / "out")
    folder.create(Job(seeds=("http://a.test/",), pages=7))
    state = CrawlView(folder).read_state()
    assert state.report.title == "Crawl of a.test"
    assert (state.fetched, state.page_budget) == (0, 7)
    folder.unlock()


def test_report_from_many_threads_opens_frontier_once_at_a_time(folder: Path) -> None:
    def report(view: CrawlView, together: threading.Barrier) -> str:
        together.wait(30)
        return view.read_state().report.title

    with ThreadPoolExecutor(8) as threads:
        for _ in range(30):  # a single round hits the race in about one of three runs
            views = [CrawlView(CrawlFolder(folder)) for _ in range(2)]
            together = threading.Barrier(8)
            running = [threads.submit(report, view, together) for view in views * 4]
            assert {done.result(60) for done in running} == {"Crawl of evil.test"}
