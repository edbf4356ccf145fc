"""The first page: what is shown of a crawl at rest, of one that runs, and of one that has nothing yet."""

from __future__ import annotations

import pytest
from selectolax.lexbor import LexborHTMLParser

from motherlode.crawler.report.page import Count, CrawlReport, Figure, HostRow, SyntaxRow
from motherlode.crawler.report.plot import Curve
from motherlode.index.query.diagnostics import query_form
from motherlode.serve.views.elements import Row, Term
from motherlode.serve.views.overview import TOP_TYPES, live_part, overview

HOSTILE = '"><script>alert(1)</script>'
EMPTY = CrawlReport(title="Crawl of a.test")
FULL = CrawlReport(
    title=HOSTILE,
    asked=((HOSTILE, HOSTILE),),
    figures=(Figure(label=HOSTILE, value="7", note=HOSTILE),),
    curves=(Curve(name=HOSTILE, points=((1, 1), (4, 2))),),
    hosts=tuple(HostRow(name=f"h{n}.test", fetched=20, relevant=n, quads=n, bytes=n) for n in range(20)),
    syntaxes=(SyntaxRow(name="page", pages=9, statements=9, plain=True), SyntaxRow(name="rdfa", pages=2, statements=5)),
    failures=tuple(Count(name=f"{HOSTILE}{n}", count=n) for n in range(12)),
)


def shown(
    report: CrawlReport,
    types: list[Row] | None = None,
    *,
    running: bool = False,
    done: tuple[int, int | None] = (0, None),
) -> LexborHTMLParser:
    return LexborHTMLParser(overview(report, types, running=running, done=done))


def typed(name: str, count: int, kind: str = "uri") -> Row:
    return {"type": Term(kind, name), "n": Term("literal", str(count))}


def headings(page: LexborHTMLParser) -> list[str]:
    return [node.text() for node in page.css("main h2")]


def test_a_crawl_that_has_just_begun_has_a_page() -> None:
    page = shown(EMPTY, [], running=True, done=(0, 10))
    assert "Nothing has been fetched yet." in page.css("#live")[0].text()
    assert headings(page) == ["Look inside", "Syntaxes", "Failures"]
    assert [node.text() for node in page.css(".pair p")] == ["None.", "None."]


@pytest.mark.parametrize("running", [True, False])
def test_only_a_crawl_that_runs_is_followed_and_shows_how_far_it_is(*, running: bool) -> None:
    page = shown(FULL, None, running=running, done=(1_234, 5_000))
    (live,) = page.css("#live")
    assert live.attributes["data-live"] == str(running).lower()
    assert ("1,234 of 5,000 pages" in live.text()) is running
    assert page.css("h1 .state")[0].text() == ("running" if running else "at rest")
    assert bool(page.css("noscript")) is running


def test_without_a_budget_there_is_no_share() -> None:
    assert " of " not in LexborHTMLParser(live_part(EMPTY, running=True, done=(7, None))).css("h1 ~ *")[0].text()
    assert "<svg" not in live_part(EMPTY, running=True, done=(7, None))


def test_the_best_of_everything_comes_first_and_the_rest_is_left_out() -> None:
    page = shown(FULL, [typed("http://schema.org/Recipe", 1_000), typed("_:b0", 3, kind="bnode"), {}])
    tables = {node.css("h2")[0].text(): node for node in page.css("section") if node.css("h2") and node.css("tbody")}
    hosts = [row.css("td")[0].text() for row in tables["Hosts that gave most"].css("tbody tr")]
    assert hosts == [f"h{n}.test" for n in range(19, 7, -1)]
    assert len(tables["Failures"].css("tbody tr")) == 8
    assert [row.css("td")[0].text() for row in tables["Syntaxes"].css("tbody tr")] == ["rdfa", "page"]
    types = tables["Most common types"].css("tbody tr")
    assert [row.css("td")[0].text() for row in types] == ["schema:Recipe", "_:b0"]
    assert types[0].css(".count")[0].text() == "1,000"


def test_types_that_could_not_be_counted_in_time_are_left_out() -> None:
    assert "Most common types" not in headings(shown(FULL, None))
    assert "Most common types" not in headings(shown(FULL, []))
    assert query_form(TOP_TYPES) == "SELECT"


def test_nothing_that_a_crawl_met_becomes_markup() -> None:
    page = shown(FULL, [typed(HOSTILE, 1)], running=True, done=(1, 2))
    assert [node.attributes.get("src") for node in page.css("script")] == ["/script.js"]
    assert HOSTILE in page.css("h1")[0].text()
