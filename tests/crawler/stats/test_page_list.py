"""The list of requested URLs: the last visit of each, and selections by labels."""

from pathlib import Path

import msgspec
import pytest

from motherlode.crawler import CrawlFolder
from motherlode.crawler.config.job import Job
from motherlode.crawler.stats.page_list import read_pages
from motherlode.frontier import LmdbStorage
from motherlode.frontier.storage.tables import visit_key, visit_labels
from motherlode.model import FailureKind, Problem, Syntax, Visit


def make_visits() -> list[Visit]:
    broken = Problem(syntax=Syntax.JSON_LD, message="trailing comma", line=7, column=3)
    return [
        Visit(number=1, url="http://a.example/", host="a.example", status=200, relevant=True),
        Visit(number=2, url="http://a.example/1", host="a.example", failure=FailureKind.NOT_FOUND, parent_url="http://a.example/"),
        Visit(number=3, url="http://b.example/", host="b.example", status=200, problems=(broken,)),
        Visit(number=4, url="http://b.example/r", host="b.example", failure=FailureKind.REDIRECT, location="http://b.example/"),
        Visit(number=5, url="http://b.example/s", host="b.example", failure=FailureKind.TIMEOUT),
        Visit(number=6, url="http://b.example/s", host="b.example", status=200),
        Visit(number=7, url="http://a.example/", host="a.example", failure=FailureKind.NOT_MODIFIED, refresh="unchanged"),  # noqa: E501
    ]  # fmt: skip


@pytest.fixture(params=[True, False], ids=["with labels", "without labels"])
def folder(tmp_path: Path, request: pytest.FixtureRequest) -> CrawlFolder:
    """Return a crawl folder; without labels it is that of an earlier version."""
    folder = CrawlFolder(tmp_path / "out")
    folder.create(Job(seeds=("http://a.example/",)))
    folder.unlock()
    storage = LmdbStorage(folder.frontier)
    for visit in make_visits():
        storage.append_visit(
            visit.number, msgspec.msgpack.encode(visit), visit_key(visit) if request.param else b"", visit_labels(visit)
        )
    storage.commit()
    storage.close()
    return folder


def test_every_url_has_one_row_with_its_last_informative_visit(folder: CrawlFolder) -> None:
    assert [(row.number, row.url) for row in read_pages(folder)] == [
        (1, "http://a.example/"),
        (2, "http://a.example/1"),
        (3, "http://b.example/"),
        (4, "http://b.example/r"),
        (6, "http://b.example/s"),
    ]


def test_failed_omits_redirects_and_failures_that_a_retry_resolved(folder: CrawlFolder) -> None:
    rows = list(read_pages(folder, failed=True))
    assert [(row.number, row.failure, row.referrer) for row in rows] == [(2, "not-found", "http://a.example/")]


def test_problems_have_line_and_column(folder: CrawlFolder) -> None:
    [row] = read_pages(folder, problems=True)
    assert [(row.number, p.syntax, p.message, p.line, p.column) for p in row.problems] == [
        (3, "jsonld", "trailing comma", 7, 3)
    ]


def test_filters_are_combined(folder: CrawlFolder) -> None:
    assert [row.number for row in read_pages(folder, host="b.example")] == [3, 4, 6]
    assert [row.number for row in read_pages(folder, host="a.example", relevant=True)] == [1]
    assert not list(read_pages(folder, host="a.example", problems=True))
    assert not list(read_pages(folder, host="c.example"))


def test_visit_key_of_an_unchanged_page_is_empty() -> None:
    assert [visit_key(visit) != b"" for visit in make_visits()] == [True] * 6 + [False]
