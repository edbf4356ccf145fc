from __future__ import annotations

import json
from pathlib import Path

import pytest

from motherlode.cluster.checkpoint_storage import CheckpointStorage
from motherlode.crawler import CrawlFolder, Job
from motherlode.frontier import Entry, LmdbStorage
from motherlode.index import PageRecord, QuadStore

pytest.importorskip("fsspec", reason='checkpoints need fsspec: pip install "motherlode[ray]"')


class State:
    """A shard's folder with something in it."""

    def __init__(self, path: Path) -> None:
        self.folder = CrawlFolder(path)
        self.folder.create(Job(seeds=("http://a.example/",)))
        self.storage = LmdbStorage(self.folder.frontier)
        self.store = QuadStore(self.folder.store)

    def add(self, number: int) -> None:
        url = f"http://a.example/{number}"
        line = f'<{url}> <http://p.example/> "{number}" <{url}> .\n'.encode()
        self.store.write([PageRecord(url=url, fetched_at=0.0, status=200, graph_quads=line, quads=1)])
        self.store.flush()
        self.storage.add(Entry(url=url, arm="a.example", score=0.0, sequence=number))
        self.storage.put_batch(number, b"letter")
        self.storage.commit()

    def close(self) -> None:
        self.storage.close()
        self.store.close()
        self.folder.unlock()


def numbers_in(folder: CrawlFolder) -> tuple[set[str], set[str], int]:
    """Known URLs, pages in the store, and letters."""
    storage, store = LmdbStorage(folder.frontier), QuadStore(folder.store, read_only=True)
    found = (
        {entry.url.rpartition("/")[2] for entry, _, _ in storage.entries()},
        {quad.object.value for quad in store.quads() if quad.predicate.value == "http://p.example/"},
        len(list(storage.batches())),
    )
    storage.close()
    store.close()
    return found


@pytest.fixture
def state(tmp_path: Path) -> State:
    return State(tmp_path / "shard")


def test_what_was_saved_is_what_is_restored(state: State, tmp_path: Path) -> None:
    place = f"file://{tmp_path / 'bucket'}"
    checkpoints = CheckpointStorage(place, 3)
    for number in range(5):
        state.add(number)
    checkpoints.save(state.folder, state.storage, state.store)
    state.add(99)
    state.close()
    elsewhere = CrawlFolder(tmp_path / "elsewhere")
    again = CheckpointStorage(place, 3)
    assert again.is_newer_than(elsewhere)
    again.restore(elsewhere)
    assert not again.is_newer_than(elsewhere)
    assert numbers_in(elsewhere) == ({*"01234"}, {*"01234"}, 5)
    assert elsewhere.read_job() == state.folder.read_job()
    assert not CheckpointStorage(place, 4).is_newer_than(elsewhere), "another shard has checkpoints of its own"


def test_a_folder_that_is_behind_is_recognised(state: State, tmp_path: Path) -> None:
    place = f"file://{tmp_path / 'bucket'}"
    CheckpointStorage(place, 0).save(state.folder, state.storage, state.store)
    behind = CrawlFolder(tmp_path / "behind")
    CheckpointStorage(place, 0).restore(behind)
    state.add(1)
    CheckpointStorage(place, 0).save(state.folder, state.storage, state.store)
    assert CheckpointStorage(place, 0).is_newer_than(behind)
    assert not CheckpointStorage(place, 0).is_newer_than(state.folder)
    state.close()


def test_what_is_left_of_a_cleared_folder_does_not_pass_for_up_to_date(state: State, tmp_path: Path) -> None:
    checkpoints = CheckpointStorage(f"file://{tmp_path / 'bucket'}", 0)
    checkpoints.save(state.folder, state.storage, state.store)
    assert not checkpoints.is_newer_than(state.folder)
    state.close()
    checkpoints.clear(state.folder)
    assert checkpoints.is_newer_than(state.folder)


def test_data_files_are_sent_once_and_forgotten_when_nobody_names_them(state: State, tmp_path: Path) -> None:
    bucket = tmp_path / "bucket"
    checkpoints = CheckpointStorage(f"file://{bucket}", 0)
    state.add(0)
    pictures = []
    for _ in range(20):  # the store may still be merging its files
        checkpoints.save(state.folder, state.storage, state.store)
        pictures.append(data_objects(bucket))
    assert pictures[-1]
    assert pictures[-1] == pictures[-2], "a data file that the store still has keeps its object"
    for number in range(2, 6):
        state.add(number)
        checkpoints.save(state.folder, state.storage, state.store)
    named = set().union(*checkpoints._referenced)
    assert {path.name for path in (bucket / "shard-0000" / "objects").iterdir()} == named
    state.close()


def data_objects(bucket: Path) -> set[str]:
    files = json.loads((bucket / "shard-0000" / "latest.json").read_text())["files"]
    return {made for name, made in files.items() if name.endswith(".sst")}


def test_an_upload_that_breaks_leaves_the_checkpoint_before_it(
    state: State, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = f"file://{tmp_path / 'bucket'}"
    checkpoints = CheckpointStorage(place, 0)
    state.add(1)
    checkpoints.save(state.folder, state.storage, state.store)
    state.add(2)

    def broken(*_: object) -> None:
        raise OSError("the network is gone")

    monkeypatch.setattr(checkpoints, "_write_atomically", broken)
    with pytest.raises(OSError, match="the network is gone"):
        checkpoints.save(state.folder, state.storage, state.store)
    state.close()
    elsewhere = CrawlFolder(tmp_path / "elsewhere")
    CheckpointStorage(place, 0).restore(elsewhere)
    assert numbers_in(elsewhere) == ({"1"}, {"1"}, 1)
