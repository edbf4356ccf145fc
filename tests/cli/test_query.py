"""The commands `query` and `search`, run as processes."""

from __future__ import annotations

import faulthandler
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
import typer

from motherlode.cli.query import run_with_timeout
from motherlode.crawler import CrawlFolder, Job
from motherlode.model.sparql import order_variables
from tests.crawler.offspring import Offspring
from tests.index.fakes import spoil, spoil_inside, spoil_words
from tests.support import synthetic_warc


@cache
def offspring() -> Offspring:
    return Offspring()


@pytest.fixture(scope="module", autouse=True)
def _end_offspring() -> Iterator[None]:
    yield
    offspring().__exit__(None, None, None)
    offspring.cache_clear()


def motherlode(*arguments: str, expect: int = 0, stdin: str = "") -> subprocess.CompletedProcess[str]:
    done = offspring().run(*arguments, stdin=stdin)
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


@pytest.fixture(scope="module")
def name(out: str) -> str:
    """Return the name of a recipe."""
    sparql = "SELECT ?name { ?s a schema:Recipe ; schema:name ?name } ORDER BY DESC(STRLEN(?name)) LIMIT 1"
    found = json.loads(motherlode("query", out, sparql, "--format", "json").stdout)
    return str(found["results"]["bindings"][0]["name"]["value"])


@pytest.fixture(scope="module")
def word(name: str) -> str:
    return max(name.split(), key=len)


ALL_STATEMENTS = ("SELECT * { ?s ?p ?o }", "--format", "csv")


@pytest.fixture(scope="module")
def statements(out: str) -> list[str]:
    return sorted(motherlode("query", out, *ALL_STATEMENTS).stdout.splitlines())


def damaged_copy(out: str, folder: Path, damage: Callable[[Path], None]) -> str:
    shutil.copytree(out, folder / "out")
    damage(folder / "out" / "store")
    return str(folder / "out")


COMMANDS = [
    ("query", *ALL_STATEMENTS),
    ("export",),
    ("export", "--format", "parquet", "-o", "tables"),
    ("export", "-o", "all.nq"),
    ("search", "--rebuild"),
]


@pytest.mark.parametrize("asked", [*COMMANDS, ("index",), ("resume", "--pages", "160")])
def test_store_that_cannot_be_opened_is_built_again(
    out: str, statements: list[str], asked: tuple[str, ...], tmp_path: Path
) -> None:
    folder = damaged_copy(out, tmp_path, spoil)
    command, *rest = [str(tmp_path / word) if word in ("tables", "all.nq") else word for word in asked]
    told = " ".join(motherlode(command, folder, *rest).stderr.split())
    assert f"the quad store in {folder}/store is damaged (Corruption: " in told
    assert "it is built again from the log" in told
    again = motherlode("query", folder, *ALL_STATEMENTS)
    assert "damaged" not in again.stderr
    if command != "resume":
        assert sorted(again.stdout.splitlines()) == statements


@pytest.mark.parametrize("asked", COMMANDS)
def test_store_with_damage_that_reading_finds_gives_advice(out: str, asked: tuple[str, ...], tmp_path: Path) -> None:
    folder = damaged_copy(out, tmp_path, spoil_inside)
    command, *rest = [str(tmp_path / word) if word in ("tables", "all.nq") else word for word in asked]
    told = " ".join(motherlode(command, folder, *rest, expect=1).stderr.split())
    assert told.startswith(f"error: the quad store in {folder}/store is damaged: Corruption: ")
    assert f"`motherlode verify {folder} --repair` builds a new store" in told


@pytest.mark.parametrize("is_noticed_at_open", [True, False])
def test_search_with_damaged_words_builds_them_again(
    out: str, word: str, tmp_path: Path, *, is_noticed_at_open: bool
) -> None:
    folder = Path(damaged_copy(out, tmp_path, lambda store: None))
    spoil_words(folder / "words", is_noticed_at_open=is_noticed_at_open)
    done = motherlode("search", str(folder), word)
    assert "it is built again" in done.stderr
    assert done.stdout == motherlode("search", str(folder), word).stdout
    assert word in done.stdout


def test_damage_inside_the_store_that_resume_finds_is_repaired(out: str, tmp_path: Path) -> None:
    folder = damaged_copy(out, tmp_path, spoil_inside)
    told = motherlode("resume", folder, "--pages", "160").stderr
    assert "it is built again from the log" in " ".join(told.split())
    assert "all right" in motherlode("verify", folder).stderr


def test_search_finds_a_name_of_the_store(out: str, name: str) -> None:
    found = json.loads(motherlode("search", out, *name.split(), "--type", "schema:Recipe", "--json").stdout)
    first = found["results"][0]
    assert first["label"] == name
    assert "http://schema.org/Recipe" in first["types"]
    assert {"subject", "snippet", "page", "predicate", "score"} <= first.keys()
    assert name in motherlode("search", out, f'"{name}"').stdout


def test_search_applies_filters_and_limit(out: str, word: str) -> None:
    all_found = json.loads(motherlode("search", out, word, "--json", "--limit", "50").stdout)["results"]
    assert len(json.loads(motherlode("search", out, word, "--json", "--limit", "1").stdout)["results"]) == 1
    host = all_found[0]["page"].split("/")[2]
    held = json.loads(motherlode("search", out, word, "--json", "--host", host).stdout)["results"]
    assert {hit["page"].split("/")[2] for hit in held} == {host}
    assert json.loads(motherlode("search", out, word, "--json", "--language", "xx").stdout)["count"] == 0


def test_query_with_search_service_finds_subjects(out: str, word: str) -> None:
    sparql = f'SELECT ?name {{ SERVICE ml:search {{ ?s ml:matches "{word}" }} ?s a schema:Recipe ; schema:name ?name }}'
    rows = motherlode("query", out, sparql, "--format", "csv").stdout.splitlines()
    assert len(rows) > 1
    function = f'SELECT ?name {{ ?s a schema:Recipe ; schema:name ?name FILTER(ml:matches(?s, "{word}")) }}'
    assert sorted(motherlode("query", out, function, "--format", "csv").stdout.splitlines()) == sorted(rows)


def test_missing_index_of_words_is_rebuilt(out: str, word: str, tmp_path: Path) -> None:
    before = json.loads(motherlode("search", out, word, "--json", "--limit", "900").stdout)
    moved = tmp_path / "words"
    (Path(out) / "words").rename(moved)
    message = motherlode("search", out, word, expect=2).stderr
    assert "--rebuild" in message
    after = json.loads(motherlode("search", out, word, "--json", "--limit", "900", "--rebuild").stdout)
    assert sorted(hit["label"] for hit in after["results"]) == sorted(hit["label"] for hit in before["results"])


def test_query_over_the_time_limit_is_killed(out: str) -> None:
    sparql = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }"
    began = time.monotonic()
    done = motherlode("query", out, sparql, "--timeout", "1", expect=1)
    assert "no result within 1 s" in " ".join(done.stderr.split())
    assert time.monotonic() - began < 120, "without the limit it takes hours"


@pytest.mark.parametrize(("by", "why"), [(signal.SIGABRT, "too large for the engine"), (signal.SIGSEGV, "too deep")])
def test_crash_of_the_query_engine_gives_a_message(
    capfd: pytest.CaptureFixture[str], by: signal.Signals, why: str
) -> None:
    def end() -> int:
        faulthandler.disable()  # it would print a traceback
        os.kill(os.getpid(), by)
        return 0

    with pytest.raises(typer.Exit):
        run_with_timeout(30, end)
    told = " ".join(capfd.readouterr().err.split())
    assert f"ended by {by.name}" in told
    assert why in told
    assert "memory" not in told


def test_syntax_error_in_a_query_is_shown_with_a_caret(out: str) -> None:
    done = motherlode("query", out, "-", stdin="SELECT * {\n  ?s fofa:name ?o\n}", expect=2)
    assert "line 2, column 6" in done.stderr
    assert "did you mean foaf:?" in " ".join(done.stderr.split())
    assert "     |      ^" in done.stderr


def test_query_with_service_is_refused_by_default(out: str) -> None:
    done = motherlode("query", out, "SELECT * { SERVICE <http://127.0.0.1:1/> { ?s ?p ?o } }", expect=2)
    assert "--allow-service" in done.stderr


def test_format_that_does_not_fit_the_query_is_wrong_usage(out: str) -> None:
    assert "SELECT and ASK" in motherlode("query", out, "DESCRIBE <u:x>", "--format", "csv", expect=2).stderr
    assert "CONSTRUCT" in motherlode("query", out, "ASK {}", "--format", "nquads", expect=2).stderr
    assert json.loads(motherlode("query", out, "ASK {}", "--format", "json").stdout)["boolean"] is True
    assert motherlode("query", out, "ASK {}", "--format", "csv").stdout == "true\n"


def test_stats_of_a_damaged_folder_give_a_message(tmp_path: Path) -> None:
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
def test_variables_of_select_all_are_in_query_order(sparql: str, names: list[str]) -> None:
    assert order_variables(["o", "p", "s"], sparql) == names


def test_unexpected_exception_in_the_child_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    def fail() -> int:
        raise ImportError("no such engine")

    assert run_with_timeout(30, fail) == 1
    assert "ImportError: no such engine" in capfd.readouterr().err


def test_order_variables_on_examples_gives_expected_values() -> None:
    assert (
        order_variables(["o", "p", "s"], "SELECT * { ?s ?p ?o }"),
        order_variables(["o", "s"], "SELECT*{?s a ?o}"),
    ) == (["s", "p", "o"], ["s", "o"])


@pytest.mark.parametrize(
    ("output", "header"),
    [("csv", "zoo,a,m"), ("tsv", "?zoo\t?a\t?m"), ("json", '{"head":{"vars":["zoo","a","m"]}')],
)
def test_columns_of_select_all_are_in_the_order_of_the_query(out: str, output: str, header: str) -> None:
    asked = motherlode("query", out, "SELECT DISTINCT * { ?zoo ?a ?m } LIMIT 1", "--format", output)
    assert asked.stdout.startswith(header)


def test_query_without_rows_and_with_unknown_class_gets_a_hint(out: str) -> None:
    asked = motherlode("query", out, "SELECT ?s { ?s a schema:Prodct }")
    assert "schema.org has no class Prodct (did you mean Product?)" in asked.stderr
