"""How a crawl starts and ends: seeds from stdin, folders that are used again, hints, and exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from motherlode.crawler import CrawlFolder, Job, JobError
from tests.crawler.small_web import HOME, small_web

GUARDED = "http://127.0.0.1:9/"
"""A URL that is refused before a request, because its address is private."""


def motherlode(*arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "motherlode", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, input=text)


@pytest.fixture
def web(tmp_path: Path) -> str:
    return str(small_web(tmp_path / "web.warc.gz"))


def test_crawl_without_a_page_exits_with_3_and_the_reason(tmp_path: Path) -> None:
    done = motherlode("crawl", GUARDED, "-o", str(tmp_path / "out"), "--json")
    assert done.returncode == 3
    assert json.loads(done.stdout)["fetched"] == 0
    assert done.stderr.splitlines()[-1] == (
        "error: no page was fetched: all URLs were refused, most of them by address-guard; the addresses are private: "
        "--allow RANGE allows ranges of your own"
    )


def test_crawl_of_missing_pages_exits_with_3(tmp_path: Path, web: str) -> None:
    done = motherlode("crawl", "http://none.example/", "--web", web, "-o", str(tmp_path / "out"), "--quiet")
    assert done.returncode == 3
    assert "all requests failed, most of them with not-found" in done.stderr
    assert motherlode("resume", str(tmp_path / "out")).returncode == 3


def test_seeds_are_read_from_stdin_and_folder_without_a_page_is_used_again(tmp_path: Path, web: str) -> None:
    out = tmp_path / "out"
    assert motherlode("crawl", GUARDED, "-o", str(out)).returncode == 3
    (out / "notes.txt").write_text("mine")
    flags = ("--web", web, "-o", str(out), "--pages", "3", "--json")
    done = motherlode("crawl", "--seeds", "-", *flags, text=f"# from a pipe\n{HOME}\n")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["fetched"] == 3
    assert CrawlFolder(out).read_job().seeds == (HOME,)
    assert (out / "notes.txt").read_text() == "mine"


def test_folder_with_pages_is_replaced_only_with_force(tmp_path: Path, web: str) -> None:
    flags = ("--web", web, "-o", str(tmp_path / "out"), "--json")
    assert motherlode("crawl", HOME, *flags, "--pages", "5").returncode == 0
    refused = motherlode("crawl", HOME, *flags, "--pages", "2")
    assert refused.returncode == 2
    assert "has a crawl already" in refused.stderr
    assert "or --force, which deletes this one" in refused.stderr
    replaced = motherlode("crawl", HOME, *flags, "--pages", "2", "--force")
    assert (replaced.returncode, json.loads(replaced.stdout)["fetched"]) == (0, 2)


def test_force_with_refresh_is_wrong_usage(tmp_path: Path) -> None:
    done = motherlode("crawl", "--refresh", "--force", "-o", str(tmp_path))
    assert (done.returncode, done.stderr) == (
        2,
        "error: --force deletes the crawl that --refresh needs: use only one of them\n",
    )


def test_folder_of_running_crawl_is_not_replaced(tmp_path: Path) -> None:
    job = Job(seeds=(HOME,))
    first = CrawlFolder(tmp_path / "out")
    first.create(job)
    with pytest.raises(JobError, match="another process is crawling"):
        CrawlFolder(tmp_path / "out").create(job, force=True)
    first.unlock()


def test_folder_with_responses_in_its_journal_is_not_replaced(tmp_path: Path) -> None:
    folder = CrawlFolder(tmp_path / "out")
    folder.create(Job(seeds=(HOME,)))
    folder.unlock()
    folder.journal.mkdir()
    (folder.journal / "1").write_bytes(b"a response that is not committed")
    with pytest.raises(JobError, match="has a crawl already"):
        CrawlFolder(tmp_path / "out").create(Job(seeds=(HOME,)))


def test_crawl_of_the_network_without_contact_gets_a_hint(tmp_path: Path, web: str) -> None:
    hint = "site owners cannot reach you: --contact URL"
    flags = ("-o", str(tmp_path / "out"))
    assert hint in motherlode("crawl", GUARDED, *flags).stderr
    assert hint not in motherlode("crawl", GUARDED, *flags, "--contact", "https://a.example/bot").stderr
    assert hint not in motherlode("crawl", GUARDED, *flags, "--contact", "bot@a.example").stderr
    assert "and 'me' is neither" in motherlode("crawl", GUARDED, *flags, "--contact", "me").stderr
    assert hint not in motherlode("crawl", GUARDED, *flags, "--quiet").stderr
    assert hint not in motherlode("crawl", HOME, "--web", web, *flags).stderr


@pytest.mark.parametrize(
    ("target", "hint"),
    [
        ("type:schema:Prodct", "schema.org has no class Prodct (did you mean Product?)"),
        ("type:https://schema.org/recipe", "schema.org has no class recipe (did you mean Recipe?)"),
        ("ASK { ?s a schema:Evnt }", "schema.org has no class Evnt (did you mean Event?)"),
    ],
)
def test_target_with_unknown_class_of_schema_org_gets_a_hint(tmp_path: Path, target: str, hint: str) -> None:
    assert hint in motherlode("crawl", GUARDED, "-o", str(tmp_path / "out"), "--target", target).stderr
    assert hint in motherlode("simulate", "synthetic:200", "--policy", "bfs", "--pages", "5", "--target", target).stderr


def test_target_with_known_class_gets_no_hint(tmp_path: Path) -> None:
    done = motherlode("crawl", GUARDED, "-o", str(tmp_path / "out"), "--target", "type:schema:Product")
    assert "schema.org has no class" not in done.stderr
