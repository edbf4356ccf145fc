"""Batches for other shards, and copies of the storage: they are part of the same commit as all other data."""

from __future__ import annotations

from pathlib import Path

from motherlode.frontier import Entry, FrontierStorage, LmdbStorage, UrlState


def test_batches_are_stored_until_they_are_dropped(storage: FrontierStorage) -> None:
    for number in (3, 1, 2):
        storage.put_batch(number, b"to %d" % number)
    assert list(storage.batches()) == [(1, b"to 1"), (2, b"to 2"), (3, b"to 3")]
    assert storage.batch(2) == b"to 2"
    storage.drop_batch(2)
    storage.drop_batch(2)
    assert storage.batch(2) is None
    assert [number for number, _ in storage.batches()] == [1, 3]


def test_batches_and_urls_are_committed_together(tmp_path: Path) -> None:
    path = tmp_path / "frontier"
    storage = LmdbStorage(path)
    storage.put_batch(1, b"first")
    storage.commit()
    storage.put_batch(2, b"second")
    storage.drop_batch(1)
    storage.add(Entry(url="http://a.example/", arm="a.example", score=0.0, sequence=1))
    storage.close()  # as in a crash: without a commit
    again = LmdbStorage(path)
    assert list(again.batches()) == [(1, b"first")]
    assert not again.known_of(["http://a.example/"])[0]
    again.close()


def test_copy_contains_the_last_commit(tmp_path: Path) -> None:
    storage = LmdbStorage(tmp_path / "frontier")
    done = Entry(url="http://a.example/done", arm="a.example", score=1.0, sequence=1)
    waits = Entry(url="http://a.example/waits", arm="a.example", score=0.0, sequence=2)
    storage.finish(done, UrlState.DONE, "")
    storage.add(waits)
    storage.put_batch(7, b"letter")
    storage.commit()
    storage.add(Entry(url="http://a.example/later", arm="a.example", score=0.0, sequence=3))
    storage.copy(tmp_path / "copy")
    storage.close()
    copy = LmdbStorage(tmp_path / "copy")
    assert list(copy.entries()) == [(done, UrlState.DONE, ""), (waits, UrlState.WAITING, "")]
    assert copy.batch(7) == b"letter"
    assert copy.pop("a.example") == waits
    copy.close()
