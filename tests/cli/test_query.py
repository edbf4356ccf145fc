"""`query` and `search` as a user types them."""

from __future__ import annotations

import faulthandler
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import typer

from motherlode.cli.query import in_order, within
from motherlode.crawler import CrawlFolder, Job
from tests.index.fakes import spoil, spoil_inside
from tests.support import synthetic_warc


def motherlode(*arguments: str, expect: int = 0, stdin: str = "") -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "motherlode", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        input=stdin,
    )
    assert done.returncode == expect, done.stderr
    assert "Traceback" not in done.stderr
    return done


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("looking")
    warc, homes = synthetic_warc(folder / "web.warc.gz", pages=300, seed=4)
    (folder / "seeds.txt").write_text("\n".join(homes) + "\n")
    motherlode(
        *("crawl", "--web", str(warc), "--seeds", str(folder / "seeds.txt"), "--delay", "0", "--pages", "150"),
        *("-o", str(folder / "out"), "--json"),
    )
    return str(folder / "out")


@pytest.fixture(scope="module", params=[spoil, spoil_inside])
def damaged(request: pytest.FixtureRequest, out: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("damaged") / "out"
    shutil.copytree(out, folder)
    request.param(folder / "store")
    return str(folder)


@pytest.mark.parametrize(
    "asked",
    [
        ("query", "SELECT * { ?s ?p ?o }", "--format", "csv"),
        ("export",),
        ("export", "--format", "parquet", "-o", "tables"),
        ("export", "-o", "all.nq"),
        ("search", "--rebuild"),
        ("resume", "--pages", "160"),
    ],
)
def test_whoever_reads_a_damaged_store_is_told_what_to_do(damaged: str, asked: tuple[str, ...], tmp_path: Path) -> None:
    command, *rest = [str(tmp_path / word) if word in ("tables", "all.nq") else word for word in asked]
    told = " ".join(motherlode(command, damaged, *rest, expect=1).stderr.split())
    assert told.startswith(f"error: the quad store in {damaged}/store is damaged: Corruption: ")
    assert f"Put back a copy of the store if you have one; or move it away and `motherlode resume {damaged}`" in told


def a_name(out: str) -> tuple[str, str]:
    """A recipe's name and a word of it."""
    sparql = "SELECT ?name { ?s a schema:Recipe ; schema:name ?name } ORDER BY DESC(STRLEN(?name)) LIMIT 1"
    found = json.loads(motherlode("query", out, sparql, "--format", "json").stdout)
    name = found["results"]["bindings"][0]["name"]["value"]
    return name, max(name.split(), key=len)


def test_search_finds_what_query_knows(out: str) -> None:
    name, _ = a_name(out)
    found = json.loads(motherlode("search", out, *name.split(), "--type", "schema:Recipe", "--json").stdout)
    first = found["results"][0]
    assert first["label"] == name
    assert "http://schema.org/Recipe" in first["types"]
    assert {"subject", "snippet", "page", "predicate", "score"} <= first.keys()
    assert name in motherlode("search", out, f'"{name}"').stdout


def test_search_filters_and_limits(out: str) -> None:
    _, word = a_name(out)
    all_found = json.loads(motherlode("search", out, word, "--json", "--limit", "50").stdout)["results"]
    assert len(json.loads(motherlode("search", out, word, "--json", "--limit", "1").stdout)["results"]) == 1
    host = all_found[0]["page"].split("/")[2]
    held = json.loads(motherlode("search", out, word, "--json", "--host", host).stdout)["results"]
    assert {hit["page"].split("/")[2] for hit in held} == {host}
    assert json.loads(motherlode("search", out, word, "--json", "--language", "xx").stdout)["count"] == 0


def test_search_in_a_query(out: str) -> None:
    _, word = a_name(out)
    sparql = f'SELECT ?name {{ SERVICE ml:search {{ ?s ml:matches "{word}" }} ?s a schema:Recipe ; schema:name ?name }}'
    rows = motherlode("query", out, sparql, "--format", "csv").stdout.splitlines()
    assert len(rows) > 1
    function = f'SELECT ?name {{ ?s a schema:Recipe ; schema:name ?name FILTER(ml:matches(?s, "{word}")) }}'
    assert sorted(motherlode("query", out, function, "--format", "csv").stdout.splitlines()) == sorted(rows)


def test_an_index_that_is_lost_can_be_made_again(out: str, tmp_path: Path) -> None:
    _, word = a_name(out)
    before = json.loads(motherlode("search", out, word, "--json", "--limit", "900").stdout)
    moved = tmp_path / "words"
    (Path(out) / "words").rename(moved)
    message = motherlode("search", out, word, expect=2).stderr
    assert "--rebuild" in message
    after = json.loads(motherlode("search", out, word, "--json", "--limit", "900", "--rebuild").stdout)
    assert sorted(hit["label"] for hit in after["results"]) == sorted(hit["label"] for hit in before["results"])


def test_a_query_that_takes_too_long_really_ends(out: str) -> None:
    sparql = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }"
    began = time.monotonic()
    done = motherlode("query", out, sparql, "--timeout", "1", expect=1)
    assert "no answer within 1 s" in " ".join(done.stderr.split())
    assert time.monotonic() - began < 60, "it would take hours"


@pytest.mark.parametrize(("by", "why"), [(signal.SIGABRT, "too much for the engine"), (signal.SIGSEGV, "too deep")])
def test_an_engine_that_ends_itself_is_told_in_a_line(
    capfd: pytest.CaptureFixture[str], by: signal.Signals, why: str
) -> None:
    def end() -> int:
        faulthandler.disable()  # which would print where it happened
        os.kill(os.getpid(), by)
        return 0

    with pytest.raises(typer.Exit):
        within(30, end)
    told = " ".join(capfd.readouterr().err.split())
    assert f"ended by {by.name}" in told
    assert why in told
    assert "memory" not in told


def test_a_wrong_query_is_shown_with_a_caret(out: str) -> None:
    done = motherlode("query", out, "-", stdin="SELECT * {\n  ?s fofa:name ?o\n}", expect=2)
    assert "line 2, column 6" in done.stderr
    assert "did you mean foaf:?" in " ".join(done.stderr.split())
    assert "     |      ^" in done.stderr


def test_the_network_is_not_asked(out: str) -> None:
    done = motherlode("query", out, "SELECT * { SERVICE <http://127.0.0.1:1/> { ?s ?p ?o } }", expect=2)
    assert "--allow-service" in done.stderr


def test_forms_and_formats_that_do_not_go_together(out: str) -> None:
    assert "SELECT and ASK" in motherlode("query", out, "DESCRIBE <u:x>", "--format", "csv", expect=2).stderr
    assert "CONSTRUCT" in motherlode("query", out, "ASK {}", "--format", "nquads", expect=2).stderr
    assert json.loads(motherlode("query", out, "ASK {}", "--format", "json").stdout)["boolean"] is True
    assert motherlode("query", out, "ASK {}", "--format", "csv").stdout == "true\n"


def test_stats_of_a_damaged_folder_are_an_error_in_words(tmp_path: Path) -> None:
    folder = CrawlFolder(tmp_path / "out")
    folder.create(Job(seeds=("http://a.example/",)))
    folder.unlock()
    folder.frontier.mkdir(exist_ok=True)
    (folder.frontier / "data.mdb").write_text("garbage")
    done = motherlode("stats", str(folder.path), expect=1)
    assert "error: the frontier in" in done.stderr


@pytest.mark.parametrize(
    ("sparql", "names"),
    [
        ("SELECT * { ?s ?p ?o }", ["s", "p", "o"]),
        ("select distinct * { ?over a ?p . $s ?p ?o }", ["p", "s", "o"]),
        ("SELECT ?o ?p ?s { ?s ?p ?o }", ["o", "p", "s"]),
    ],
)
def test_variables_of_everything_stand_as_in_the_query(sparql: str, names: list[str]) -> None:
    assert in_order(["o", "p", "s"], sparql) == names


def test_what_nobody_foresaw_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    def fail() -> int:
        raise ImportError("no such engine")

    assert within(30, fail) == 1
    assert "ImportError: no such engine" in capfd.readouterr().err
