"""The command `resume`. Kills and interrupts are tested in tests/crawler and in test_crawl.py."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from motherlode.cli import application
from motherlode.crawler import CrawlFolder, Job
from tests.crawler.small_web import HOME, small_web


def motherlode(*arguments: str | Path) -> Result:
    app = application(["resume", "stats"])  # with one command alone, its name would not be expected
    return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)


@pytest.fixture
def crawl(tmp_path: Path) -> CrawlFolder:
    """Return the folder of a crawl with a budget of four pages that has not begun."""
    web = small_web(tmp_path / "web.warc.gz")
    folder = CrawlFolder(tmp_path / "out")
    folder.create(Job(seeds=(HOME,), web=str(web), delay=0.0, workers=1, words=False, policy="bfs", pages=4))
    folder.unlock()
    return folder


def test_resume_with_a_new_budget_continues_and_saves_it(crawl: CrawlFolder) -> None:
    for arguments, pages in (((), 4), (("--pages", "9"), 9), ((), 9)):
        done = motherlode("resume", crawl.path, *arguments, "--json")
        assert done.exit_code == 0, done.output
        assert json.loads(done.stdout)["fetched"] == pages
        assert crawl.read_job().pages == pages


def test_resume_of_a_spent_budget_prints_the_command_to_continue(crawl: CrawlFolder) -> None:
    text = " ".join(motherlode("resume", crawl.path).stderr.split())
    assert "the budget is spent (4 pages)" in text
    assert f"`motherlode resume {crawl.path} --pages N` continues" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(("--time", "soon"), "soon"), (("--bytes", "1 pound"), "1 pound"), (("--pages", "-1"), "pages")],
)
def test_resume_with_wrong_budget_is_wrong_usage_and_changes_nothing(
    crawl: CrawlFolder, arguments: tuple[str, str], message: str
) -> None:
    before = crawl.read_job()
    refused = motherlode("resume", crawl.path, *arguments)
    assert refused.exit_code == 2
    assert message in " ".join(refused.stderr.split())
    assert crawl.read_job() == before


def test_resume_of_a_running_crawl_is_refused(crawl: CrawlFolder) -> None:
    crawl.lock()
    try:
        refused = motherlode("resume", crawl.path, "--pages", "9")
        assert refused.exit_code == 2
        assert crawl.read_job().pages == 4, "the budget of a running crawl is not changed"
    finally:
        crawl.unlock()


def test_resume_without_crawl_is_wrong_usage(tmp_path: Path) -> None:
    refused = motherlode("resume", tmp_path)
    assert refused.exit_code == 2
    assert "has no crawl" in " ".join(refused.stderr.split())
