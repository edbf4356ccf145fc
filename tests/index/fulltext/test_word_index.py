"""Tests of the word index: replacing pages, committing, kills, and rebuilding."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from motherlode.index.fulltext import Search, SearchableStore, WordIndex, WordSearcher
from motherlode.index.page_record import PageRecord
from motherlode.index.quad_store import QuadStore
from motherlode.model.terms import RDF
from tests.index.fakes import record, says


def words(path: Path, text: str) -> list[str]:
    return sorted(hit.page for hit in WordSearcher(path).search(Search(words=text)))


def test_page_written_again_replaces_its_words(tmp_path: Path) -> None:
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


_KILLED = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, {root!r})
from tests.index.fakes import record, says
from motherlode.index.quad_store import QuadStore
from motherlode.index.fulltext import SearchableStore, WordIndex
folder = Path({folder!r})
store = SearchableStore(QuadStore(folder / "store"), WordIndex(folder / "words"))
store.write([record("http://old.test/", says("o", "lasting"))])
store.flush()
store.write([record("http://old.test/", says("o", "replaced"))])
store.write([record(f"http://new.test/{{n}}", says(f"n{{n}}", "uncommitted")) for n in range(50)])
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_kill_loses_only_words_after_the_last_commit(tmp_path: Path) -> None:
    script = _KILLED.format(root=os.fspath(Path(__file__).parents[3]), folder=str(tmp_path))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    index = WordIndex(tmp_path / "words")
    assert not index.is_new
    index.close()
    assert words(tmp_path / "words", "lasting") == ["http://old.test/"]
    assert words(tmp_path / "words", "uncommitted") == []


def test_journal_of_an_earlier_version_makes_the_index_incomplete(tmp_path: Path) -> None:
    index = WordIndex(tmp_path)
    index.write([record("http://a.test/", says("x", "found"))])
    index.close()
    (tmp_path / "pending.journal").write_bytes(b"")
    assert not WordIndex(tmp_path).is_new
    (tmp_path / "pending.journal").write_bytes(b"some pages")
    index = WordIndex(tmp_path)
    assert index.is_new
    index.commit()
    del index
    assert not WordIndex(tmp_path).is_new


def test_rebuild_indexes_quads_of_store(tmp_path: Path) -> None:
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
    index.write(stale)
    index.rebuild(quads)
    index.close()
    assert words(tmp_path / "words", "stale") == []
    assert words(tmp_path / "words", "plain") == ["http://a.test/"]
    assert words(tmp_path / "words", "inner") == ["http://a.test/"]
    assert not WordIndex(tmp_path / "words").is_new


def test_kill_during_rebuild_keeps_old_index(tmp_path: Path) -> None:
    quads = QuadStore(tmp_path / "store")
    quads.write([record("http://a.test/", says("x", "plain")), record("http://b.test/", says("x", "other"))])
    for _ in range(2):  # without an index, then with one
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


def test_rebuild_uses_types_of_all_graphs_of_page(tmp_path: Path) -> None:
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
