"""The command `compact`: what it prints, and what `query --at` and `export --at` find before and after it."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from motherlode.crawler.folder import CrawlFolder
from tests.support import write_warc

URL = "http://a.example/"
NAMES = "SELECT ?n { ?s <http://schema.org/name> ?n }"


def web_with(path: Path, name: str) -> Path:
    body = f'<div vocab="http://schema.org/" typeof="Product"><b property="name">{name}</b></div>'.encode()
    return write_warc(path, [(URL, 200, {"Content-Type": "text/html"}, body)])


def motherlode(*arguments: str | Path, code: int = 0) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "motherlode", *map(str, arguments)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=300)
    assert done.returncode == code, done.stderr
    return done


@pytest.fixture
def crawl(tmp_path: Path) -> tuple[Path, str]:
    """A crawl whose only page was fetched twice, with another name each time, and a time between the two."""
    out = tmp_path / "out"
    motherlode("crawl", URL, "--web", web_with(tmp_path / "1.warc.gz", "old"), "-o", out, "--quiet")
    moment = datetime.now(UTC).isoformat()
    motherlode("crawl", "--refresh", "--web", web_with(tmp_path / "2.warc.gz", "new"), "-o", out, "--quiet")
    return out, moment


def names(crawl: Path, *more: str) -> list[str]:
    found = json.loads(motherlode("query", crawl, NAMES, "--format", "json", *more).stdout)
    return [row["n"]["value"] for row in found["results"]["bindings"]]


def test_compact_drops_the_old_version_and_the_past_is_refused(crawl: tuple[Path, str]) -> None:
    out, moment = crawl
    assert (names(out), names(out, "--at", moment)) == (["new"], ["old"])
    assert '"old"' in motherlode("export", out, "--at", moment).stdout
    counts = json.loads(motherlode("compact", out, "--json").stdout)
    assert (counts["versions"], counts["dropped"]) == (2, 1)
    assert counts["bytes_after"] < counts["bytes_before"]
    assert names(out) == ["new"]
    assert '"old"' in motherlode("changes", out).stdout
    assert "was compacted" in motherlode("query", out, NAMES, "--at", moment, code=1).stderr
    assert "was compacted" in motherlode("export", out, "--at", moment, code=1).stderr
    assert "0 of 1 version of pages dropped" in motherlode("compact", out).stderr
    assert "nothing is lost" in motherlode("verify", out).stderr


def test_compact_of_running_crawl_is_refused(crawl: tuple[Path, str]) -> None:
    folder = CrawlFolder(crawl[0])
    folder.lock()
    try:
        assert "another process" in motherlode("compact", folder.path, code=2).stderr
    finally:
        folder.unlock()
