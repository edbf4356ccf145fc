"""Tests of the overview of a finished, a running and a new crawl, and of `CrawlView`."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser

from motherlode.crawler import CrawlFolder, Job
from motherlode.crawler.report.crawl_report import Count, CrawlReport, Figure, SyntaxRow
from motherlode.crawler.report.plot import Curve
from motherlode.frontier import HostRecord
from motherlode.index.query.diagnostics import query_form
from motherlode.index.query.query_pool import Row, Term
from motherlode.serve.pages import TOP_TYPES, CrawlState, CrawlView, render_live_part, render_overview

HOSTILE = '"><script>alert(1)</script>'
EMPTY = CrawlReport(title="Crawl of a.test")
FULL = CrawlReport(
    title=HOSTILE,
    settings=((HOSTILE, HOSTILE),),
    figures=(Figure(label=HOSTILE, value="7", note=HOSTILE),),
    curves=(Curve(name=HOSTILE, points=((1, 1), (4, 2))),),
    hosts=tuple(HostRecord(name=f"h{n}.test", fetched=20, relevant=n, quads=n, received=n) for n in range(20)),
    syntaxes=(SyntaxRow(name="page", pages=9, statements=9, plain=True), SyntaxRow(name="rdfa", pages=2, statements=5)),
    failures=tuple(Count(name=f"{HOSTILE}{n}", count=n) for n in range(12)),
)


def shown(
    report: CrawlReport,
    types: list[Row] | None = None,
    *,
    is_running: bool = False,
    done: tuple[int, int | None] = (0, None),
) -> LexborHTMLParser:
    state = CrawlState(report=report, is_running=is_running, fetched=done[0], page_budget=done[1])
    return LexborHTMLParser(render_overview(state, types))


def typed(name: str, count: int, kind: str = "uri") -> Row:
    return {"type": Term(kind, name), "n": Term("literal", str(count))}


def headings(page: LexborHTMLParser) -> list[str]:
    return [node.text() for node in page.css("main h2")]


def test_overview_of_new_crawl() -> None:
    page = shown(EMPTY, [], is_running=True, done=(0, 10))
    assert "Nothing has been fetched yet." in page.css("#live")[0].text()
    assert headings(page) == ["Explore", "Syntaxes", "Failures"]
    assert [node.text() for node in page.css(".pair p")] == ["None.", "None."]


@pytest.mark.parametrize("is_running", [True, False])
def test_overview_of_running_crawl_refreshes_and_shows_progress(*, is_running: bool) -> None:
    page = shown(FULL, None, is_running=is_running, done=(1_234, 5_000))
    (live,) = page.css("#live")
    assert live.attributes["data-live"] == str(is_running).lower()
    assert ("1,234 of 5,000 pages" in live.text()) is is_running
    assert page.css("h1 .state")[0].text() == ("running" if is_running else "not running")
    assert bool(page.css("noscript")) is is_running


def test_overview_without_page_budget_has_no_progress_bar() -> None:
    live = render_live_part(CrawlState(report=EMPTY, is_running=True, fetched=7))
    assert " pages" not in LexborHTMLParser(live).text()
    assert "<svg" not in live


def test_overview_shows_top_entries_only() -> None:
    page = shown(FULL, [typed("http://schema.org/Recipe", 1_000), typed("_:b0", 3, kind="bnode"), {}])
    tables = {node.css("h2")[0].text(): node for node in page.css("section") if node.css("h2") and node.css("tbody")}
    hosts = [row.css("td")[0].text() for row in tables["Hosts with most relevant pages"].css("tbody tr")]
    assert hosts == [f"h{n}.test" for n in range(19, 7, -1)]
    assert len(tables["Failures"].css("tbody tr")) == 8
    assert [row.css("td")[0].text() for row in tables["Syntaxes"].css("tbody tr")] == ["rdfa", "page"]
    types = tables["Most common types"].css("tbody tr")
    assert [row.css("td")[0].text() for row in types] == ["schema:Recipe", "_:b0"]
    assert types[0].css(".count")[0].text() == "1,000"


def test_overview_omits_types_that_were_not_counted() -> None:
    assert "Most common types" not in headings(shown(FULL, None))
    assert "Most common types" not in headings(shown(FULL, []))
    assert query_form(TOP_TYPES) == "SELECT"


def test_overview_escapes_crawled_text() -> None:
    page = shown(FULL, [typed(HOSTILE, 1)], is_running=True, done=(1, 2))
    assert [node.attributes.get("src") for node in page.css("script")] == ["/script.js"]
    assert HOSTILE in page.css("h1")[0].text()


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
