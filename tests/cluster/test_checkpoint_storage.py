"""Checkpoints of a shard in a bucket: upload, restore, and removal of old objects."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from motherlode.cluster.checkpoint_storage import CheckpointStorage
from motherlode.crawler import CrawlFolder, Job
from motherlode.crawler.index_later import index_log
from motherlode.frontier import Entry, LmdbStorage
from motherlode.index.nquads_log import NQuadsLog
from motherlode.index.page_record import PageRecord
from motherlode.index.quad_store import QuadStore

pytest.importorskip("fsspec", reason='checkpoints need fsspec: pip install "motherlode[ray]"')


class ShardState:
    """The folder of a shard, with an open frontier storage and log."""

    def __init__(self, path: Path) -> None:
        self.folder = CrawlFolder(path)
        self.folder.create(Job(seeds=("http://a.example/",)))
        self.storage = LmdbStorage(self.folder.frontier)
        self.log = NQuadsLog(self.folder.quads)

    def add(self, number: int) -> None:
        url = f"http://a.example/{number}"
        line = f'<{url}> <http://p.example/> "{number}" <{url}> .\n'.encode()
        self.log.write([PageRecord(url=url, fetched_at=0.0, status=200, graph_quads=line, quads=1)])
        self.storage.add(Entry(url=url, arm="a.example", score=0.0, sequence=number))
        self.storage.put_batch(number, b"batch")
        self.storage.commit()

    def close(self) -> None:
        self.storage.close()
        self.log.close()
        self.folder.unlock()


def numbers_in(folder: CrawlFolder) -> tuple[set[str], set[str], int]:
    """Return the known URLs and stored pages, by their numbers, and the count of stored batches."""
    index_log(folder)
    storage, store = LmdbStorage(folder.frontier), QuadStore(folder.store, read_only=True)
    contents = (
        {entry.url.rpartition("/")[2] for entry, _, _ in storage.entries()},
        {quad.object.value for quad in store.quads() if quad.predicate.value == "http://p.example/"},
        len(list(storage.batches())),
    )
    storage.close()
    store.close()
    return contents


@pytest.fixture
def state(tmp_path: Path) -> ShardState:
    return ShardState(tmp_path / "shard")


def test_restored_folder_equals_the_saved_one(state: ShardState, tmp_path: Path) -> None:
    url = f"file://{tmp_path / 'bucket'}"
    checkpoints = CheckpointStorage(url, 3)
    for number in range(5):
        state.add(number)
    checkpoints.save(state.folder, state.storage, state.log)
    state.add(99)
    state.close()
    restored = CrawlFolder(tmp_path / "restored")
    again = CheckpointStorage(url, 3)
    assert again.is_newer_than(restored)
    again.restore(restored)
    assert not again.is_newer_than(restored)
    assert numbers_in(restored) == ({*"01234"}, {*"01234"}, 5)
    assert restored.read_job() == state.folder.read_job()
    assert not CheckpointStorage(url, 4).is_newer_than(restored), "each shard has its own checkpoints"


def test_checkpoint_is_newer_than_a_folder_of_an_earlier_checkpoint(state: ShardState, tmp_path: Path) -> None:
    url = f"file://{tmp_path / 'bucket'}"
    CheckpointStorage(url, 0).save(state.folder, state.storage, state.log)
    outdated = CrawlFolder(tmp_path / "outdated")
    CheckpointStorage(url, 0).restore(outdated)
    state.add(1)
    CheckpointStorage(url, 0).save(state.folder, state.storage, state.log)
    assert CheckpointStorage(url, 0).is_newer_than(outdated)
    assert not CheckpointStorage(url, 0).is_newer_than(state.folder)
    state.close()


def test_checkpoint_is_newer_than_a_cleared_folder(state: ShardState, tmp_path: Path) -> None:
    checkpoints = CheckpointStorage(f"file://{tmp_path / 'bucket'}", 0)
    checkpoints.save(state.folder, state.storage, state.log)
    assert not checkpoints.is_newer_than(state.folder)
    state.close()
    checkpoints.clear(state.folder)
    assert checkpoints.is_newer_than(state.folder)


def test_data_files_are_uploaded_once_and_removed_when_unreferenced(state: ShardState, tmp_path: Path) -> None:
    bucket = tmp_path / "bucket"
    checkpoints = CheckpointStorage(f"file://{bucket}", 0)
    state.add(0)
    snapshots = []
    for _ in range(3):
        checkpoints.save(state.folder, state.storage, state.log)
        snapshots.append(data_objects(bucket))
    assert snapshots[-1]
    assert snapshots[-1] == snapshots[-2], "the object of an unchanged data file is kept"
    for number in range(2, 6):
        state.add(number)
        checkpoints.save(state.folder, state.storage, state.log)
    referenced = set().union(*checkpoints._referenced)
    assert {path.name for path in (bucket / "shard-0000" / "objects").iterdir()} == referenced
    state.close()


def data_objects(bucket: Path) -> set[str]:
    files = json.loads((bucket / "shard-0000" / "latest.json").read_text())["files"]
    return {object_name for name, object_name in files.items() if name.endswith(".nq.gz")}


def test_failed_upload_keeps_the_previous_checkpoint(
    state: ShardState, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"file://{tmp_path / 'bucket'}"
    checkpoints = CheckpointStorage(url, 0)
    state.add(1)
    checkpoints.save(state.folder, state.storage, state.log)
    state.add(2)

    def fail(*_: object) -> None:
        raise OSError("network is unreachable")

    monkeypatch.setattr(checkpoints, "_write_atomically", fail)
    with pytest.raises(OSError, match="network is unreachable"):
        checkpoints.save(state.folder, state.storage, state.log)
    state.close()
    restored = CrawlFolder(tmp_path / "restored")
    CheckpointStorage(url, 0).restore(restored)
    assert numbers_in(restored) == ({"1"}, {"1"}, 1)
