"""Validation of single pages and of a real crawl, its summary and the reports for providers."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pyoxigraph as ox
import pytest

import motherlode as ml
from motherlode.crawler.folder import CrawlFolder
from motherlode.crawler.report.provider_report import file_name, render_report
from motherlode.crawler.validation import CrawlValidator, PageFindings, report_quads, validate_page
from motherlode.crawler.validation_summary import ValidationSummary
from motherlode.quality.shape_profiles import load_validator
from tests.docs.shop import serve_pages

GOOD = {"@type": "Product", "name": "Lamp", "offers": {"@type": "Offer", "price": "12.50", "priceCurrency": "EUR"}}
BAD = {"@type": "Product", "discription": "<script>alert(1)</script>"}


def page(*things: dict[str, object]) -> str:
    data = json.dumps({"@context": "https://schema.org", "@graph": things}, indent=1)
    escaped = data.replace("</", r"<\/")
    return f'<html><head><script type="application/ld+json">\n{escaped}\n</script></head></html>'


PAGES = {
    "/": '<a href="/1">1</a><a href="/2">2</a><a href="/3">3</a>',
    "/1": page(GOOD),
    "/2": page(GOOD, BAD),
    "/3": page({"@type": "Person", "name": "Ann"}),
}


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CrawlFolder]:
    folder = tmp_path_factory.mktemp("crawl") / "out"
    with serve_pages(PAGES) as address:
        ml.crawl([address + "/"], output=folder, allow=["127.0.0.0/8"], delay=0.0).run()
    yield CrawlFolder(folder)


def validate_crawl(folder: CrawlFolder, *profiles: str, has_reports: bool = False) -> list[PageFindings]:
    """Return the findings of every page, found in this process."""
    with closing(CrawlValidator(folder, load_validator(*profiles), has_reports=has_reports)) as crawl:
        return [crawl.validate(graph) for graph in crawl.graphs()]


def summarize(crawl: CrawlFolder, *profiles: str) -> ValidationSummary:
    summary = ValidationSummary()
    for _ in summary.watch(validate_crawl(crawl, *profiles)):
        pass
    return summary


def test_validate_crawl_counts_pages_hosts_and_properties(crawl: CrawlFolder) -> None:
    summary = summarize(crawl, "google", "schema.org")
    assert (summary.pages, summary.conforming) == (3, 2)
    assert summary.severities["violation"] == 3
    found = {(kind.path, kind.pages) for kind in summary.kinds() if kind.severity == "violation"}
    assert {("schema:name", 1), ("schema:discription", 1)} < found
    assert summary.to_dict()["hosts"][0]["host"].startswith("127.0.0.1:")


def test_validate_crawl_with_saved_responses_gives_lines_and_columns(tmp_path: Path) -> None:
    with serve_pages(PAGES) as address:
        ml.crawl([address + "/"], output=tmp_path / "out", allow=["127.0.0.0/8"], delay=0.0, warc=True).run()
    found = validate_crawl(CrawlFolder(tmp_path / "out"), "schema.org")
    [finding] = [finding for page in found for finding in page.findings if finding.severity == "violation"]
    lines = PAGES["/2"].splitlines()
    assert finding.line is not None and finding.column is not None
    assert lines[finding.line - 1][finding.column - 1 :].startswith("discription")


def test_report_quads_of_a_crawl_are_queryable(crawl: CrawlFolder) -> None:
    store = ox.Store()
    store.extend(report_quads(validate_crawl(crawl, "google", has_reports=True), has_graph=True))
    query = """PREFIX sh: <http://www.w3.org/ns/shacl#> SELECT ?page { GRAPH <urn:motherlode:validation> {
        ?report <http://purl.org/dc/terms/source> ?page ; sh:result [ sh:resultPath <http://schema.org/name> ] } }"""
    assert [row["page"].value[-2:] for row in store.query(query)] == ["/2"]  # type: ignore[union-attr]


def test_render_report_escapes_text_of_pages(crawl: CrawlFolder) -> None:
    (host,) = summarize(crawl, "schema.org").hosts.values()
    host.host = "<b>&"
    text = render_report(host, profile="<i>")
    assert "<b>&" not in text and "<i>" not in text
    assert "did you mean description?" in text
    assert "http://" not in text.replace("http://127.0.0.1", "")  # no other files


def test_render_report_without_findings_says_so() -> None:
    summary = ValidationSummary()
    validator = load_validator("schema.org")
    name = ("_:a", "<http://schema.org/name>", '"x"')
    summary.add(validate_page(validator, "http://a.example/", [name]))
    (host,) = summary.hosts.values()
    assert "Nothing to improve" in render_report(host, profile="schema.org")


@pytest.mark.parametrize("host", ["../../etc/passwd", "..", "a/b", "x" * 300])
def test_file_name_of_hostile_host_stays_in_the_folder(host: str) -> None:
    assert "/" not in file_name(host)
    assert not file_name(host).startswith(".")
    assert len(file_name(host)) < 200
