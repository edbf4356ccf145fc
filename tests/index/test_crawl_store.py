"""The store of a crawl in its own process; what both kinds of store share is tested in test_apart."""

from __future__ import annotations

import threading
from pathlib import Path

from motherlode.index import LocalStore
from motherlode.index.fulltext import Search, WordSearcher

from .fakes import A, B, record, says


def test_an_index_that_is_not_new_is_not_made_anew(tmp_path: Path) -> None:
    with_words = LocalStore(tmp_path / "store")
    with_words.index_words(tmp_path / "words")
    with_words.write([record(A, says("name", "indexed"))])
    with_words.flush()
    with_words.close()
    del with_words
    without = LocalStore(tmp_path / "store")
    without.write([record(B, says("name", "missed"))])
    without.flush()
    without.index_words(tmp_path / "words")
    found = WordSearcher(tmp_path / "words")
    assert [len(found.search(Search(words=word))) for word in ("indexed", "missed")] == [1, 0]


def test_a_store_that_is_held_is_waited_for(tmp_path: Path) -> None:
    holder = [LocalStore(tmp_path / "store")]
    timer = threading.Timer(0.5, holder.clear)
    timer.start()
    LocalStore(tmp_path / "store").close()
    assert not holder
    timer.join()


def test_pages_without_words_leave_no_index(tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "store")
    store.write([record(A, says("name", "Ann"))])
    store.flush()
    assert [path.name for path in tmp_path.iterdir() if path.name == "words"] == []
    assert store.has(A)
