"""The command `validate`: files, URLs and crawls, outputs, reports per provider, and exit codes."""

import json
from collections.abc import Iterator
from pathlib import Path

import polars
import pyoxigraph as ox
import pytest
import typer
from typer.testing import CliRunner

import motherlode as ml
from motherlode.cli.stats import describe_validation
from motherlode.cli.validate import validate
from motherlode.crawler.folder import CrawlFolder
from motherlode.crawler.stats.reader import read_stats
from motherlode.crawler.verification import verify
from tests.crawler.test_validation import BAD, GOOD, PAGES, page
from tests.docs.shop import serve_pages


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CrawlFolder]:
    folder = tmp_path_factory.mktemp("crawl") / "out"
    with serve_pages(PAGES) as address, serve_pages({"/": PAGES["/2"]}) as other:
        sources = [
            {"name": "Good shop", "seeds": [f"{address}/"], "contact": "data@shop.example"},
            {"name": "Other", "seeds": [f"{other}/"]},
        ]
        ml.crawl(sources=sources, output=folder, allow=["127.0.0.0/8"], delay=0.0).run()
    yield CrawlFolder(folder)


app = typer.Typer()
app.command()(validate)


def run(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    return result.exit_code, result.stdout


def test_validate_command_with_crawl_writes_summary_table_and_reports(crawl: CrawlFolder, tmp_path: Path) -> None:
    table, reports = tmp_path / "results.parquet", tmp_path / "reports"
    code, out = run(crawl.path, "--json", "-o", table, "--report", reports)
    summary = json.loads(out)
    assert code == 1
    assert (summary["pages"], summary["conforming_pages"], summary["violations"]) == (4, 2, 6)
    rows = polars.read_parquet(table)
    assert rows.filter(polars.col("severity") == "violation").height == 6
    assert len(summary["hosts"]) == 2
    assert sorted(path.name.partition("-")[0] for path in reports.iterdir()) == ["good", "other"]


def test_validate_command_with_file_prints_line_and_column(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(page(GOOD, BAD))
    code, out = run(path, "--shapes", "schema.org")
    assert code == 1
    [line] = [number for number, text in enumerate(path.read_text().splitlines(), 1) if "discription" in text]
    assert any(one.startswith(f"{path}:{line}:") and "did you mean description?" in one for one in out.splitlines())


def test_validate_command_exit_codes(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(page(GOOD))
    report = tmp_path / "report.ttl"
    assert run(path, "--shapes", "google", "-o", report)[0] == 0
    assert len(list(ox.parse(report.read_bytes(), ox.RdfFormat.TURTLE))) > 5
    assert run(path, "--shapes", "google", "--fail-on", "warning")[0] == 1
    assert run(path, "--shapes", "gogle")[0] == 2
    assert run(path, "-o", tmp_path / "x.unknown")[0] == 2


def test_validate_command_with_missing_file_says_so(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, [str(tmp_path / "missing.html")])
    assert done.exit_code == 1
    assert "missing.html cannot be read: No such file or directory" in " ".join(done.stderr.split())


def test_validate_command_counts_by_source_and_stats_shows_it(crawl: CrawlFolder) -> None:
    code, out = run(crawl.path, "--json", "--shapes", "schema.org")
    first, second = json.loads(out)["sources"]
    assert code == 1
    assert (first["name"], first["contact"], first["pages"], first["violations"]) == (
        *("Good shop", "data@shop.example", 3, 1),
    )
    assert (second["name"], second["pages"], second["conforming_pages"]) == ("Other", 1, 0)
    counts = read_stats(crawl).summary()["validation"]
    assert [source["violations"] for source in counts["sources"]] == [1, 1]
    assert "Other: 0 of 1 pages without violations; 1 violations" in describe_validation(counts)


def test_validate_command_with_store_writes_reports_that_can_be_queried(crawl: CrawlFolder) -> None:
    for _ in range(2):
        assert run(crawl.path, "--store", "--shapes", "schema.org")[0] == 1
    query = """PREFIX sh: <http://www.w3.org/ns/shacl#> SELECT ?page ?message { GRAPH <urn:motherlode:validation> {
        ?report dcterms:source ?page ; sh:result [ sh:resultSeverity sh:Violation ; sh:resultMessage ?message ] } }"""
    rows = ml.open(crawl.path).query(query)
    assert ["did you mean description?" in str(row["message"]) for row in rows] == [True, True]
    assert verify(crawl).is_good


def test_validate_command_with_a_file_refuses_options_of_crawls(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(page(GOOD))
    assert run(path, "--store")[0] == 2
    assert run(path, "--processes", "2")[0] == 2


def test_validate_command_without_profile_data_says_so(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text("<p>nothing</p>")
    code, out = run(path, "--json")
    assert (code, json.loads(out)["nodes"]) == (0, 0)
