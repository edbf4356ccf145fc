"""An index in a folder that may only be read; that is played, for whoever runs the tests may write everywhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from motherlode.index.fulltext import Search, WordIndex, WordSearcher
from motherlode.index.fulltext import searcher as searching
from motherlode.index.fulltext.searcher import LinkedFolder, is_writable
from tests.index.fakes import record, says


def _written(index: WordIndex, name: str, text: str) -> None:
    index.write(index.prepare([record(f"http://{name}.example/", says(name, text))]))
    index.commit()


def test_the_index_is_read_through_links_and_stays_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = WordIndex(tmp_path)
    _written(index, "pan", "A frying pan")
    monkeypatch.setattr(searching, "is_writable", lambda path: False)
    before = sorted(tmp_path.iterdir())
    searcher = WordSearcher(tmp_path)
    assert [hit.subject for hit in searcher.search(Search(words="frying"))] == ["http://ex.org/pan"]
    assert sorted(tmp_path.iterdir()) == before
    _written(index, "pot", "A frying pot")
    searcher.refresh()
    assert len(searcher.search(Search(words="frying"))) == 2
    index.close()


def test_locks_are_not_linked_and_the_folder_goes_with_its_reader(tmp_path: Path) -> None:
    for name in ("meta.json", ".tantivy-meta.lock"):
        (tmp_path / name).touch()
    folder = LinkedFolder(tmp_path)
    path = folder.path
    assert [link.name for link in path.iterdir()] == ["meta.json"]
    del folder
    assert not path.exists()


def test_a_folder_of_our_own_needs_no_links(tmp_path: Path) -> None:
    assert is_writable(tmp_path)
