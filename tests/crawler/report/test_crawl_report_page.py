"""The HTML page of the report: safety and contents."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser, LexborNode

from motherlode.crawler.report import open_templates
from motherlode.crawler.report.crawl_report import (
    MAX_COUNTS,
    MAX_HOSTS,
    Count,
    CrawlReport,
    Figure,
    SyntaxRow,
    write_report,
)
from motherlode.crawler.report.plot import Curve
from motherlode.frontier import HostRecord

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "javascript:alert(1)",
    "</title></style></svg></details><iframe src=//evil.example>",
    "<!--><svg onload=alert(1)>-->",
    "]]><![CDATA[<script>",
    "nul \x00 and \ud800 and \u202e turned",
)
REFERENCES = {"src", "href", "xlink:href", "srcset", "action", "formaction", "data", "poster", "background", "ping"}
FORBIDDEN = {"script", "iframe", "object", "embed", "img", "link", "base", "form", "a", "foreignobject", "image", "use"}


def told(text: str) -> CrawlReport:
    """Return a report in which every string is `text`."""
    count = Count(name=text, count=3, explanation=text)
    return CrawlReport(
        title=text,
        generated=text,
        settings=((text, text),),
        figures=(Figure(label=text, value=text, note=text),),
        curves=(Curve(name=text, points=((1, 1), (4, 2))), Curve(name=text, points=((4, 1),))),
        hosts=(HostRecord(name=text, fetched=4, relevant=2, quads=20, received=3000),),
        syntaxes=(SyntaxRow(name=text, pages=2, statements=20),),
        failures=(count,),
        refused=(count,),
        problems=(count,),
    )


def written(folder: Path, report: CrawlReport) -> str:
    path = folder / "report.html"
    write_report(path, report)
    return path.read_text(encoding="utf-8")


def nodes(page: str) -> list[LexborNode]:
    root = LexborHTMLParser(page).root
    assert root is not None
    return [node for node in root.traverse(include_text=False) if not (node.tag or "").startswith(("!", "-", "_"))]


def shape(page: str) -> list[tuple[str | None, list[str]]]:
    """Return the elements with the names of their attributes."""
    return [(node.tag, sorted(node.attributes)) for node in nodes(page)]


class TestSafety:
    @pytest.mark.parametrize("hostile", HOSTILE)
    def test_hostile_strings_are_escaped_in_every_field(self, tmp_path: Path, hostile: str) -> None:
        page = written(tmp_path, told(hostile))
        assert shape(page) == shape(written(tmp_path, told("tame")))
        seen = LexborHTMLParser(page).body
        assert seen is not None
        # title, generated, settings (2), figure (3), captions (2), host, syntax, three counts with explanations (6)
        assert seen.text().count(hostile_as_seen(hostile)) >= 17

    @pytest.mark.parametrize("hostile", HOSTILE)
    def test_page_has_no_scripts_and_no_external_resources(self, tmp_path: Path, hostile: str) -> None:
        for node in nodes(written(tmp_path, told(hostile))):
            assert node.tag not in FORBIDDEN
            for name, value in node.attributes.items():
                assert not name.lower().startswith("on")
                assert name not in REFERENCES
                if name == "style":
                    assert re.fullmatch(r"width:[\d.]+%", value or "")

    @settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(text=st.text(st.characters(codec=None, categories=None), min_size=1, max_size=400))
    def test_strings_do_not_change_the_structure(self, tmp_path: Path, text: str) -> None:
        assert shape(written(tmp_path, told(text))) == shape(written(tmp_path, told("tame")))

    def test_content_security_policy_comes_first(self, tmp_path: Path) -> None:
        page = written(tmp_path, told("tame"))
        policy = LexborHTMLParser(page).css_first('meta[http-equiv="Content-Security-Policy"]')
        assert policy is not None
        assert policy.attributes["content"] == "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
        assert page.index("Content-Security-Policy") < page.index("<style")

    def test_style_has_no_external_resources(self, tmp_path: Path) -> None:
        (style,) = LexborHTMLParser(written(tmp_path, told("tame"))).css("style")
        assert "url(" not in style.text()
        assert "@import" not in style.text()
        assert "prefers-color-scheme: dark" in style.text()

    def test_long_strings_are_cut(self, tmp_path: Path) -> None:
        assert len(written(tmp_path, told("x" * 100_000))) < 40_000


def hostile_as_seen(text: str) -> str:
    escaped = open_templates("motherlode.crawler.report").from_string("<p>{{ text }}</p>")
    body = LexborHTMLParser(escaped.render(text=text)).body
    assert body is not None
    return body.text()


class TestContent:
    def test_report_of_an_empty_crawl_is_written(self, tmp_path: Path) -> None:
        page = LexborHTMLParser(written(tmp_path, CrawlReport(title="Nothing")))
        assert page.css_first("svg") is None
        text = page.body.text() if page.body else ""
        for sentence in (
            "Nothing was fetched.",
            "No request failed.",
            "No host was contacted.",
            "No link was refused.",
        ):
            assert sentence in text

    def test_figures_keep_their_order(self, tmp_path: Path) -> None:
        figures = (Figure(label="Harvest rate", value="61.7 %"), Figure(label="Fetched", value="2,000", note="all"))
        page = LexborHTMLParser(written(tmp_path, CrawlReport(title="t", figures=figures)))
        assert [node.text() for node in page.css(".figures .value")] == ["61.7 %", "2,000"]

    def test_page_has_a_wide_and_a_narrow_chart(self, tmp_path: Path) -> None:
        page = LexborHTMLParser(written(tmp_path, told("tame")))
        assert len(page.css("svg[role=img]")) == 2
        ids = [node.attributes["id"] for node in page.css("[id]")]
        assert len(set(ids)) == len(ids)
        for picture in page.css("svg"):
            names = (picture.attributes["aria-labelledby"] or "").split()
            assert set(names) <= set(ids)

    def test_curve_is_also_a_table(self, tmp_path: Path) -> None:
        curve = Curve(name="c", points=tuple((n, max(0, n - 50)) for n in range(1, 101)))
        page = LexborHTMLParser(written(tmp_path, CrawlReport(title="t", curves=(curve,))))
        rows = [[cell.text() for cell in row.css("td")] for row in page.css(".stretches tbody tr")]
        assert len(rows) == 10
        assert rows[4] == ["50", "0", "0 %", "0 %"]
        assert rows[9] == ["100", "50", "50.0 %", "100 %"]

    def test_hosts_are_sorted_by_relevant_pages(self, tmp_path: Path) -> None:
        hosts = (
            HostRecord(name="poor", fetched=100, relevant=1, quads=5, received=10),
            HostRecord(name="rich", fetched=8, relevant=6, quads=50, received=2000),
        )
        page = LexborHTMLParser(written(tmp_path, CrawlReport(title="t", hosts=hosts)))
        assert [node.text() for node in page.css(".hosts tbody th")] == ["rich", "poor"]
        assert [node.attributes["style"] for node in page.css(".hosts .bar i")] == ["width:75.0%", "width:1.0%"]
        assert [node.text() for node in page.css(".hosts tbody tr:first-child td.number")] == ["8", "50", "2.0 kB"]

    def test_many_hosts_are_folded_and_summed_up(self, tmp_path: Path) -> None:
        hosts = tuple(
            HostRecord(name=f"h{n}", fetched=2, relevant=1, quads=3, received=5) for n in range(MAX_HOSTS + 700)
        )
        text = written(tmp_path, CrawlReport(title="t", hosts=hosts))
        page = LexborHTMLParser(text)
        names = [node.text() for node in page.css(".hosts tbody th")]
        assert len(names) == MAX_HOSTS + 1
        assert names[-1] == "700 others together"
        last = page.css(".hosts tbody tr")[-1]
        assert [cell.text() for cell in last.css("td.number")] == ["1,400", "2,100", "3.5 kB"]
        assert len(page.css("section > .hosts tbody tr")) < 30
        assert len(text) < 200_000

    def test_syntaxes_are_sorted_by_pages_with_metadata_last(self, tmp_path: Path) -> None:
        syntaxes = (
            SyntaxRow(name="Titles", pages=100, statements=1, plain=True),
            SyntaxRow(name="RDFa", pages=1, statements=1),
            SyntaxRow(name="JSON-LD", pages=50, statements=1234),
        )
        page = LexborHTMLParser(written(tmp_path, CrawlReport(title="t", syntaxes=syntaxes)))
        assert [node.text() for node in page.css(".counts .name")] == ["JSON-LD", "RDFa", "Titles"]
        assert [node.text() for node in page.css(".counts .number")] == ["50 pages", "1 page", "100 pages"]
        assert [node.attributes["style"] for node in page.css(".counts .bar i")] == [
            "width:50.0%",
            "width:1.0%",
            "width:100.0%",
        ]
        assert "1,234 statements" in page.css(".counts .explanation")[0].text()

    def test_counts_are_sorted_and_the_rest_is_summed_up(self, tmp_path: Path) -> None:
        problems = tuple(Count(name=f"p{n}", count=n) for n in range(1, MAX_COUNTS + 4))
        page = LexborHTMLParser(written(tmp_path, CrawlReport(title="t", problems=problems)))
        names = [node.text() for node in page.css(".counts .name")]
        assert names[0] == f"p{MAX_COUNTS + 3}"
        assert names[-1] == "3 other kinds together"
        assert [node.text() for node in page.css(".counts .number")][-1] == "6"

    def test_huge_numbers_are_shortened(self, tmp_path: Path) -> None:
        big = 10**18
        report = CrawlReport(
            title="t",
            curves=(Curve(name="c", points=((big, big // 2),)),),
            hosts=(HostRecord(name="h", fetched=big, relevant=big, quads=big, received=big),),
            syntaxes=(SyntaxRow(name="s", pages=big, statements=big),),
            failures=(Count(name="f", count=big),),
        )
        page = LexborHTMLParser(written(tmp_path, report))
        assert [node.text() for node in page.css(".hosts tbody td.number")] == ["1E", "1E", "1.0 EB"]
        assert all(len(node.text()) <= 24 for node in page.css("td, .counts .number, svg text"))

    def test_share_of_zero_is_zero(self, tmp_path: Path) -> None:
        host = HostRecord(name="h", fetched=0, relevant=0, quads=0, received=0)
        page = LexborHTMLParser(written(tmp_path, CrawlReport(title="t", hosts=(host,))))
        assert [node.attributes["style"] for node in page.css(".bar i")] == ["width:0.0%"]
