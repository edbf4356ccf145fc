"""The command `verify`: exit codes, what it prints, and its JSON. The checks are in crawler/test_verification.py."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from motherlode.crawler.folder import CrawlFolder
from tests.support import write_warc

PAGE = b'<div vocab="http://schema.org/" typeof="Product"><b property="name">Lamp</b></div><a href="/b">b</a>'
WEB = [(f"http://a.example/{name}", 200, {"Content-Type": "text/html"}, PAGE) for name in ("", "b")]


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "motherlode", *map(str, arguments)]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=300)


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    web = write_warc(tmp_path / "web.warc.gz", WEB)
    done = run("crawl", WEB[0][0], "--web", web, "-o", tmp_path / "out", "--delay", "0", "--warc", "--quiet")
    assert done.returncode == 0, done.stderr
    return tmp_path / "out"


def test_verify_of_good_crawl_says_so_and_ends_with_0(crawl: Path) -> None:
    done = run("verify", crawl)
    assert done.returncode == 0
    assert "nothing is lost" in done.stdout + done.stderr
    found = json.loads(run("verify", crawl, "--json").stdout)
    assert found["pages"] == 2


def test_verify_of_damaged_warc_names_the_file_and_ends_with_1(crawl: Path) -> None:
    warc = next((crawl / "warc").glob("*.warc.gz"))
    warc.write_bytes(warc.read_bytes()[:-20])
    done = run("verify", crawl)
    assert done.returncode == 1
    assert warc.name in done.stdout + done.stderr


def test_verify_of_running_crawl_is_refused(crawl: Path) -> None:
    folder = CrawlFolder(crawl)
    folder.lock()
    try:
        done = run("verify", crawl)
    finally:
        folder.unlock()
    assert done.returncode != 0
    assert "running" in done.stderr


def test_verify_of_folder_without_crawl_is_an_error(tmp_path: Path) -> None:
    done = run("verify", tmp_path)
    assert done.returncode == 2
    assert str(tmp_path.name) in done.stderr.replace("\n", "")
