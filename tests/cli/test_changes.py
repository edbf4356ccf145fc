"""The command `changes`."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from motherlode.cli import application
from motherlode.crawler import CrawlFolder
from motherlode.index.page_record import PageRecord
from motherlode.index.quad_store import QuadStore
from tests.crawler.small_web import crawled, small_web

PAGE = "http://a.example/item/1"


def motherlode(*arguments: str | Path) -> Result:
    app = application(["changes", "stats"])  # with one command alone, its name would not be expected
    return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a crawl in which the statements of one page are removed in the year 2033."""
    room = tmp_path_factory.mktemp("changes")
    folder, _ = crawled(room / "out", small_web(room / "web.warc.gz", items=2, plain=1))
    assert motherlode("changes", folder.path).stdout_bytes == b""
    store = QuadStore(CrawlFolder(folder.path).store)
    store.write([PageRecord(url=PAGE, fetched_at=2e9, status=301, redirects_to="http://a.example/")])
    store.close()
    return folder.path


def test_changes_of_a_rewritten_page_are_one_transaction(crawl: Path) -> None:
    printed = motherlode("changes", crawl)
    assert printed.exit_code == 0
    lines = printed.stdout.splitlines()
    assert lines[0] == f"H page <{PAGE}> ."
    assert [line for line in lines if line.startswith("T")] == ["TX .", "TC ."]
    assert any(line.startswith("D ") and '<http://schema.org/name> "recipe 1"' in line for line in lines)
    assert "1 page changed" in printed.stderr


def test_changes_since_a_time_leave_out_earlier_ones(crawl: Path) -> None:
    everything = motherlode("changes", crawl).stdout_bytes
    assert motherlode("changes", crawl, "--since", "2033-01-01").stdout_bytes == everything
    later = motherlode("changes", crawl, "--since", "2034-01-01T00:00:00Z")
    assert later.stdout_bytes == b""
    assert "0 pages changed" in later.stderr


def test_changes_since_no_date_is_wrong_usage(crawl: Path) -> None:
    refused = motherlode("changes", crawl, "--since", "yesterday")
    assert refused.exit_code == 2
    assert "--since yesterday is not a date or a time" in " ".join(refused.stderr.split())


def test_changes_without_crawl_is_wrong_usage(tmp_path: Path) -> None:
    refused = motherlode("changes", tmp_path)
    assert refused.exit_code == 2
    assert "has no crawl" in " ".join(refused.stderr.split())
