"""Tests of the word index and its journal: replacing pages, committing, recovery after a kill, and rebuilding."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motherlode.index.fulltext import Search, SearchableStore, WordIndex, WordSearcher
from motherlode.index.fulltext.analysis import encode
from motherlode.index.fulltext.documents import SubjectDocument, Text
from motherlode.index.fulltext.word_index import PendingPages
from motherlode.index.page_record import PageRecord
from motherlode.index.quad_store import QuadStore
from motherlode.model.terms import RDF
from tests.index.fakes import record, says

Page = tuple[str, list[SubjectDocument]]


def page(number: int) -> Page:
    """Return a page with this number of documents, at most two."""
    url = f"http://a.test/{number}"
    texts = [Text("http://ex.org/p", f"word{number}", "en"), Text("http://ex.org/p", "Wörter")]
    return url, [SubjectDocument(f"_:{n}", url, url, ["http://ex.org/T"], texts) for n in range(number % 3)]


def encoded(*pages: Page) -> list[tuple[str, list[bytes]]]:
    return [(url, [encode(document) for document in documents]) for url, documents in pages]


def batches(path: Path) -> list[list[Page]]:
    return list(PendingPages(path).pending())


def written(path: Path, *sizes: int) -> list[list[Page]]:
    """Return a journal with batches of these numbers of pages, and its expected contents."""
    journal, number, expected = PendingPages(path), 0, []
    for size in sizes:
        batch = [page(number + place) for place in range(size)]
        number += size
        journal.append(encoded(*batch))
        expected.append(batch)
    return expected


def test_pending_batches_are_read_in_order_and_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    expected = written(path, 3, 1, 0, 2)
    assert batches(path) == expected
    assert batches(path) == expected, "reading does not consume the batches"


def test_pending_size_equals_file_size_after_reopening(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    journal = PendingPages(path)
    assert journal.size == 0
    for number in range(3):
        journal.append(encoded(page(number)))
        assert journal.size == path.stat().st_size == PendingPages(path).size > 0
    journal.clear()
    assert journal.size == path.stat().st_size == 0
    assert batches(path) == []


def test_reopened_journal_appends_at_end(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    first = written(path, 2)
    assert batches(path) == first
    assert [*first, *written(path, 1)] == batches(path)


def test_journal_after_clear_has_only_later_batches(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    journal = PendingPages(path)
    journal.append(encoded(page(1)))
    journal.clear()
    journal.append(encoded(page(2)))
    assert [[url for url, _ in batch] for batch in batches(path)] == [["http://a.test/2"]]


def test_journal_truncated_anywhere_keeps_complete_batches(tmp_path: Path) -> None:
    path, ends = tmp_path / "journal", [0]
    expected = []
    for size in (1, 2, 1):
        expected += written(path, size)
        ends.append(path.stat().st_size)
    content = path.read_bytes()
    for cut in range(len(content) + 1):
        path.write_bytes(content[:cut])
        whole = sum(end <= cut for end in ends[1:])
        assert batches(path) == expected[:whole], f"cut after {cut} of {len(content)} bytes"


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=64))
def test_journal_garbage_at_end_keeps_earlier_batches(tmp_path_factory: pytest.TempPathFactory, rest: bytes) -> None:
    path = tmp_path_factory.mktemp("journal") / "journal"
    expected = written(path, 2)
    with path.open("ab") as file:
        file.write(rest)
    assert batches(path) == expected


def test_journal_corrupt_batch_ends_reading_without_error(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    first = written(path, 1)
    start = path.stat().st_size
    written(path, 1)
    content = bytearray(path.read_bytes())
    content[start + 4] ^= 0xFF  # the first byte of the second frame, after its length
    path.write_bytes(bytes(content))
    assert batches(path) == first


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


def test_commit_is_due_after_commit_seconds(tmp_path: Path) -> None:
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


def test_index_reopened_after_kill_indexes_journal(tmp_path: Path) -> None:
    script = _KILLED.format(root=os.fspath(Path(__file__).parents[3]), folder=str(tmp_path))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert words(tmp_path / "words", "lasting") == ["http://old.test/"], "uncommitted documents are not visible yet"
    WordIndex(tmp_path / "words").close()
    assert words(tmp_path / "words", "lasting") == []
    assert words(tmp_path / "words", "replaced") == ["http://old.test/"]
    found = WordSearcher(tmp_path / "words").search(Search(words="uncommitted", limit=100))
    assert len(found) == 50


def test_incomplete_batch_at_end_of_journal_is_ignored(tmp_path: Path) -> None:
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
    index.write(index.prepare(stale))
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
