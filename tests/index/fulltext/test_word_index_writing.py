"""Replacing, committing, catching up after a kill, and making an index anew."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from motherlode.index import PageRecord, QuadStore
from motherlode.index.fulltext import Search, SearchableStore, WordIndex, WordSearcher
from motherlode.model.terms import RDF
from tests.index.fakes import record, says


def words(path: Path, text: str) -> list[str]:
    return sorted(hit.page for hit in WordSearcher(path).search(Search(words=text)))


def test_a_page_written_again_replaces_its_words(tmp_path: Path) -> None:
    store = SearchableStore(QuadStore(tmp_path / "store"), WordIndex(tmp_path / "words"))
    store.write([record("http://a.test/", says("x", "before")), record("http://b.test/", says("x", "before"))])
    store.write([record("http://a.test/", says("x", "after")), record("http://a.test/", says("x", "afterwards"))])
    store.flush()
    assert words(tmp_path / "words", "before") == ["http://b.test/"]
    assert words(tmp_path / "words", '"after"') == []
    assert words(tmp_path / "words", "afterwards") == ["http://a.test/"]
    store.write([PageRecord(url="http://a.test/", fetched_at=1.0, status=200)])
    store.flush()
    assert words(tmp_path / "words", "afterwards") == []


def test_commits_come_by_the_clock(tmp_path: Path) -> None:
    now = 0.0
    index = WordIndex(tmp_path, clock=lambda: now)
    for second in range(0, 12, 3):
        now = float(second)
        pages = [record(f"http://a.test/{second}", says("x", "found"))]
        index.write(index.prepare(pages))
        assert words(tmp_path, "found") == []
    now = 12.0
    index.write([])
    assert len(words(tmp_path, "found")) == 1, "one subject"
    assert (tmp_path / "pending.journal").stat().st_size == 0


_KILLED = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, {root!r})
from tests.index.fakes import record, says
from motherlode.index import QuadStore
from motherlode.index.fulltext import SearchableStore, WordIndex
folder = Path({folder!r})
store = SearchableStore(QuadStore(folder / "store"), WordIndex(folder / "words"))
store.write([record("http://old.test/", says("o", "lasting"))])
store.flush()
store.write([record("http://old.test/", says("o", "replaced"))])
store.write([record(f"http://new.test/{{n}}", says(f"n{{n}}", "uncommitted")) for n in range(50)])
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_after_a_kill_the_index_catches_up(tmp_path: Path) -> None:
    script = _KILLED.format(root=os.fspath(Path(__file__).parents[3]), folder=str(tmp_path))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert words(tmp_path / "words", "lasting") == ["http://old.test/"], "what was not committed is not seen yet"
    WordIndex(tmp_path / "words").close()
    assert words(tmp_path / "words", "lasting") == []
    assert words(tmp_path / "words", "replaced") == ["http://old.test/"]
    found = WordSearcher(tmp_path / "words").search(Search(words="uncommitted", limit=100))
    assert len(found) == 50


def test_half_a_batch_at_the_end_of_the_journal_is_no_harm(tmp_path: Path) -> None:
    index = WordIndex(tmp_path)
    index.prepare([record("http://a.test/", says("x", "whole"))])
    index.prepare([record("http://b.test/", says("x", "half"))])
    journal = tmp_path / "pending.journal"
    content = journal.read_bytes()
    del index
    journal.write_bytes(content[:-5])
    WordIndex(tmp_path).close()
    assert words(tmp_path, "whole") == ["http://a.test/"]
    assert words(tmp_path, "half") == []


def test_an_index_can_be_made_anew_from_the_quads(tmp_path: Path) -> None:
    quads = QuadStore(tmp_path / "store")
    quads.write(
        [
            record("http://a.test/", says("x", "plain"), says("y", "inner", graph="<http://ex.org/g>")),
            record("http://b.test/", says("x", "other")),
        ]
    )
    index = WordIndex(tmp_path / "words")
    assert index.is_new
    stale = [record("http://c.test/", says("x", "stale"))]
    index.write(index.prepare(stale))
    index.rebuild(quads)
    index.close()
    assert words(tmp_path / "words", "stale") == []
    assert words(tmp_path / "words", "plain") == ["http://a.test/"]
    assert words(tmp_path / "words", "inner") == ["http://a.test/"]
    assert not WordIndex(tmp_path / "words").is_new


def test_a_kill_while_an_index_is_made_anew_costs_no_words(tmp_path: Path) -> None:
    quads = QuadStore(tmp_path / "store")
    quads.write([record("http://a.test/", says("x", "plain")), record("http://b.test/", says("x", "other"))])
    for _ in range(2):  # a first index, then one that is there
        index = WordIndex(tmp_path / "words")
        with pytest.raises(KeyboardInterrupt):
            index.rebuild(quads, each=_interrupted)
        del index
        index = WordIndex(tmp_path / "words")
        if index.is_new:
            index.rebuild(quads)
        index.close()
        assert words(tmp_path / "words", "plain") == ["http://a.test/"]
        assert words(tmp_path / "words", "other") == ["http://b.test/"]


def _interrupted(pages: int) -> None:
    raise KeyboardInterrupt


def test_types_of_other_graphs_of_the_page_count_when_the_index_is_made_anew(tmp_path: Path) -> None:
    is_a = f"<{RDF}type>"
    pages = [
        record("http://a.test/", says("x", "found", graph="<http://ex.org/g>"), ("<http://ex.org/x>", is_a, is_a, "")),
        record("http://b.test/", says("x", "found")),
    ]
    quads, index = QuadStore(tmp_path / "store"), WordIndex(tmp_path / "words")
    SearchableStore(quads, index).write(pages)
    for _ in range(2):
        index.commit()
        found = WordSearcher(tmp_path / "words").search(Search(words="found", type=is_a))
        assert [(hit.page, hit.graph) for hit in found] == [("http://a.test/", "http://a.test/#graph=http://ex.org/g")]
        index.rebuild(quads)
    index.close()
