"""`index`, and every other command that finds quads which wait for it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support import write_warc

PAGE = """<html><head><title>A page</title><script type="application/ld+json">
{"@context": "http://schema.org/", "@type": "Product", "@id": "#it", "name": "Motherlode lamp"}
</script></head></html>"""
WEB = [("http://a.example/", 200, {"Content-Type": "text/html"}, PAGE.encode())]


def motherlode(*arguments: str | Path, code: int = 0) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "motherlode", *map(str, arguments)]
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, timeout=120, env={**os.environ, "COLUMNS": "1000"}
    )
    assert done.returncode == code, done.stderr
    return done


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    web = write_warc(tmp_path / "web.warc.gz", WEB)
    motherlode("crawl", "http://a.example/", "--web", web, "-o", tmp_path / "out", "--index", "later", "--quiet")
    return tmp_path / "out"


def test_index_makes_the_store_once(crawl: Path) -> None:
    assert not (crawl / "store").exists()
    assert "not indexed" in motherlode("stats", crawl).stdout
    assert json.loads(motherlode("stats", crawl, "--json").stdout)["unindexed_bytes"] > 0
    assert "1 page indexed" in motherlode("index", crawl).stderr
    assert "0 pages indexed" in motherlode("index", crawl).stderr
    assert motherlode("index", crawl, "--quiet").stderr == ""
    assert "indexed" not in motherlode("stats", crawl).stdout


def test_a_query_indexes_first_and_its_answer_stands_alone_on_stdout(crawl: Path) -> None:
    found = motherlode("query", crawl, "SELECT ?n { ?s schema:name ?n }", "--format", "json")
    assert json.loads(found.stdout)["results"]["bindings"][0]["n"]["value"] == "Motherlode lamp"
    assert "1 page indexed" in found.stderr
    assert "indexed" not in motherlode("query", crawl, "ASK {}").stderr


def test_a_search_indexes_first(crawl: Path) -> None:
    assert json.loads(motherlode("search", crawl, "lamp", "--json").stdout)["count"] == 1


def test_an_export_indexes_first(crawl: Path) -> None:
    assert "Motherlode lamp" in motherlode("export", crawl, "--format", "nquads").stdout


def test_changes_index_first(crawl: Path) -> None:
    assert "1 page indexed" in motherlode("changes", crawl).stderr


def test_there_is_nothing_to_do_for_a_crawl_that_indexed_at_once(tmp_path: Path) -> None:
    web = write_warc(tmp_path / "web.warc.gz", WEB)
    motherlode("crawl", "http://a.example/", "--web", web, "-o", tmp_path / "out", "--quiet")
    assert "indexed already" in motherlode("index", tmp_path / "out").stderr


def test_wrong_calls_are_told(tmp_path: Path) -> None:
    assert "holds no crawl" in motherlode("index", tmp_path, code=2).stderr
    done = motherlode("crawl", "http://a.example/", "-o", tmp_path / "o", "--index", "later", "--serve", "0", code=2)
    assert "--serve shows what is indexed" in done.stderr
    assert (
        '"now" or "later"'
        in motherlode("crawl", "http://a.example/", "-o", tmp_path / "o", "--index", "x", code=2).stderr
    )
