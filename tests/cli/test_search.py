"""The command `search`, in this process. `test_query` also runs it as a process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from motherlode.cli.search import search
from motherlode.crawler import CrawlFolder, Job, JobError
from motherlode.index.fulltext import SearchableStore, WordIndex
from motherlode.index.quad_store import QuadStore
from motherlode.model.terms import prefixed_name
from tests.index.fakes import record, says

NAME = "<http://schema.org/name>"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
app = typer.Typer()
app.command()(search)


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use a wide terminal, because lines are folded at its width."""
    monkeypatch.setenv("COLUMNS", "160")


def ask(folder: Path, *arguments: str, expect: int = 0) -> str:
    done = CliRunner().invoke(app, [str(folder), *arguments])
    assert done.exit_code == expect, done.output
    return done.output


@pytest.fixture
def folder(tmp_path: Path) -> CrawlFolder:
    made = CrawlFolder(tmp_path / "out")
    made.create(Job(seeds=("http://a.test/",)))
    made.unlock()
    words, quads = WordIndex(made.words), QuadStore(made.store)
    store = SearchableStore(quads, words)
    soup = ("<http://ex.org/soup>", TYPE, "<http://schema.org/Recipe>", "")
    store.write(
        [
            record("http://a.test/", says("soup", "[red]Tomato[/red] soup", predicate=NAME), soup),
            record("http://b.test/", says("soup", "Tomato soup"), says("bread", "Tomato bread")),
        ]
    )
    store.flush()
    words.close()
    quads.close()
    return made


def test_unknown_prefix_of_type_lists_known_prefixes(folder: CrawlFolder) -> None:
    told = ask(folder.path, "tomato", "--type", "foo:Bar", expect=2)
    assert "--type: the prefix of 'foo:Bar' is not known" in told
    assert "schema" in told
    assert "cannot be read" not in told


def test_hits_have_name_type_page_and_number_of_pages(folder: CrawlFolder) -> None:
    lines = [line.strip() for line in ask(folder.path, "tomato", "soup").splitlines()]
    assert lines[0] == "1. [red]Tomato[/red] soup  schema:Recipe", "what a page says is no markup"
    assert lines[1] == "http://ex.org/soup"
    assert lines[2] == "schema:name: [red]Tomato[/red] soup"
    assert lines[3] == "on http://a.test/ and 1 more"
    assert not any("bread" in line for line in lines)


def test_json_has_the_words_and_every_hit(folder: CrawlFolder) -> None:
    told = json.loads(ask(folder.path, "tomato", "--json", "--limit", "1"))
    assert (told["words"], told["count"], len(told["results"])) == ("tomato", 1, 1)
    told = json.loads(ask(folder.path, "tomato", "--json", "--type", "schema:Recipe"))
    assert [one["subject"] for one in told["results"]] == ["http://ex.org/soup"]
    told = json.loads(ask(folder.path, "nothingofthekind", "--json"))
    assert told == {"words": "nothingofthekind", "count": 0, "results": []}


def test_search_without_hits_is_no_error(folder: CrawlFolder) -> None:
    assert "nothing was found" in ask(folder.path, "nothingofthekind")


def test_rebuild_works_with_and_without_words(folder: CrawlFolder) -> None:
    for path in sorted(folder.words.iterdir()):
        path.unlink()
    folder.words.rmdir()
    assert "--rebuild" in ask(folder.path, "tomato", expect=2)
    assert "the words of 2 pages" in ask(folder.path, "--rebuild")
    assert "http://ex.org/bread" in ask(folder.path, "bread", "--rebuild")


def test_rebuild_during_a_crawl_is_refused(folder: CrawlFolder) -> None:
    folder.lock()
    assert "another process is crawling" in " ".join(ask(folder.path, "--rebuild", expect=2).split())
    folder.unlock()
    ask(folder.path, "--rebuild")


def test_damaged_index_of_words_is_built_again(folder: CrawlFolder) -> None:
    (folder.words / "meta.json").write_text("{")
    told = ask(folder.path, "tomato")
    assert "cannot be used" in told
    assert "Tomato" in told


def test_wrong_usage_gives_advice(folder: CrawlFolder, tmp_path: Path) -> None:
    assert "no words to search for" in ask(folder.path, expect=2)
    with pytest.raises(JobError, match="has no crawl"):
        CliRunner().invoke(app, [str(tmp_path / "none"), "x"], catch_exceptions=False)


@pytest.mark.parametrize(
    ("iri", "name"),
    [
        ("http://schema.org/name", "schema:name"),
        ("http://schema.org/", "http://schema.org/"),
        ("urn:x", "urn:x"),
        ("", ""),
    ],
)
def test_iri_is_abbreviated_with_a_common_prefix(iri: str, name: str) -> None:
    assert prefixed_name(iri) == name


def test_lines_are_not_folded_without_terminal(folder: CrawlFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    assert "   schema:name: [red]Tomato[/red] soup\n" in ask(folder.path, "tomato", "soup")


def test_blank_words_are_wrong_usage(folder: CrawlFolder) -> None:
    assert "no words to search for" in ask(folder.path, " ", expect=2)
