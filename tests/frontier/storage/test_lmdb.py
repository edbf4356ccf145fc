"""LMDB storage: it is durable, can be read while it is written, and behaves like memory storage."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import lmdb
import pytest

from motherlode.frontier import FrontierStorage, HostRecord, LmdbStorage, MemoryStorage, UrlState
from motherlode.frontier.storage import lmdb as disk_module

from ..fakes import entry
from .test_base import fill, pop_all


def reopened(storage: LmdbStorage, path: Path) -> LmdbStorage:
    storage.close()
    return LmdbStorage(path)


def test_reopened_storage_has_the_last_commit_only(tmp_path: Path) -> None:
    storage = LmdbStorage(tmp_path / "f")
    fill(storage, [1, 2, 3])
    storage.put_host(HostRecord(name="a.example", fetched=1))
    storage.append_visit(1, b"one")
    storage.put_note("totals", b"1")
    popped = storage.pop("a.example")
    storage.commit()
    assert popped is not None
    storage.finish(popped, UrlState.DONE, "")
    storage.add(entry("http://b.example/", sequence=9))
    storage.append_visit(2, b"two")
    storage.put_note("totals", b"2")
    storage = reopened(storage, tmp_path / "f")
    assert not storage.known_of(["http://b.example/"])[0]
    assert list(storage.visits()) == [b"one"]
    assert storage.note("totals") == b"1"
    assert [host.fetched for host in storage.hosts()] == [1]
    assert storage.recover() == 1
    assert pop_all(storage, "a.example") == [2, 1, 0]
    storage.close()


def test_reader_without_permission_for_lock_file_opens_without_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = LmdbStorage(tmp_path / "f")
    storage.put_note("totals", b"1")
    storage.commit()
    storage.close()
    real = lmdb.open

    def refused(path: str, *, lock: bool = True, **options: Any) -> lmdb.Environment:
        if lock:
            raise lmdb.ReadonlyError(f"{path}: Permission denied")
        return real(path, lock=lock, **options)

    monkeypatch.setattr(lmdb, "open", refused)
    reader = LmdbStorage(tmp_path / "f", read_only=True)
    assert reader.note("totals") == b"1"
    reader.close()
    with pytest.raises(OSError, match="Permission denied"):
        LmdbStorage(tmp_path / "f")


def test_arms_keep_their_queues_after_reopening(tmp_path: Path) -> None:
    storage = LmdbStorage(tmp_path / "f")
    fill(storage, [1], host="a.example")
    storage.commit()
    fill(storage, [2], host="lost.example")
    storage = reopened(storage, tmp_path / "f")
    fill(storage, [3, 4], host="b.example")  # gets the number of the arm that was not committed
    storage.commit()
    storage = reopened(storage, tmp_path / "f")
    assert sorted(storage.waiting()) == [("a.example", "a.example", 1), ("b.example", "b.example", 2)]
    assert pop_all(storage, "b.example") == [1, 0]
    assert pop_all(storage, "a.example") == [0]
    assert pop_all(storage, "lost.example") == []
    storage.close()


def test_entry_is_restored_with_all_fields(tmp_path: Path) -> None:
    storage = LmdbStorage(tmp_path / "f")
    full = entry("http://a.example/ü?q=\n", score=-2.5, sequence=1 << 40, arm="a.example\nlist")
    storage.add(full)
    storage.commit()
    storage = reopened(storage, tmp_path / "f")
    assert storage.pop("a.example\nlist") == full
    storage.close()


READ = """
import sys
from pathlib import Path
from motherlode.frontier import LmdbStorage
storage = LmdbStorage(Path(sys.argv[1]), read_only=True)
print(storage.note("totals").decode(), len(list(storage.visits())), len(list(storage.hosts())), storage.known_of(["http://b.example/"])[0])
"""


def test_reader_during_writing_sees_the_last_commit(tmp_path: Path) -> None:
    writer = LmdbStorage(tmp_path / "f")
    writer.put_note("totals", b"first")
    writer.append_visit(1, b"one")
    writer.put_host(HostRecord(name="a.example"))
    writer.commit()
    writer.put_note("totals", b"second")
    writer.add(entry("http://b.example/"))
    command = [sys.executable, "-W", "ignore", "-c", READ, str(tmp_path / "f")]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert output.split() == ["first", "1", "1", "False"]
    writer.commit()  # the reader does not block the writer
    writer.close()
    reader = LmdbStorage(tmp_path / "f", read_only=True)
    assert reader.note("totals") == b"second"
    reader.close()


def test_known_of_works_for_a_reader(tmp_path: Path) -> None:
    storage = LmdbStorage(tmp_path / "f")
    storage.add(entry("http://a.example/"))
    storage.commit()
    storage.close()
    reader = LmdbStorage(tmp_path / "f", read_only=True)
    assert reader.known_of(["http://a.example/", "http://b.example/"]) == [True, False]
    reader.close()


@pytest.mark.parametrize("read_only", [True, False])
def test_open_error_names_the_folder(tmp_path: Path, *, read_only: bool) -> None:
    if not read_only:
        (tmp_path / "f").mkdir()
        (tmp_path / "f" / "data.mdb").write_bytes(b"this is no database" * 1000)
    with pytest.raises(OSError, match=r"the frontier in .*f cannot be opened"):
        LmdbStorage(tmp_path / "f", read_only=read_only)


def test_second_writer_in_the_same_process_is_rejected(tmp_path: Path) -> None:
    storage = LmdbStorage(tmp_path / "f")
    with pytest.raises(OSError, match="already open"):
        LmdbStorage(tmp_path / "f")
    storage.close()


@pytest.mark.parametrize("flush_rows", [1, 1_000_000])
def test_ahead_of_equals_the_pop_order(tmp_path: Path, flush_rows: int) -> None:
    """The queue is on disk or in memory; a reader returns the same as the writer."""
    storage = LmdbStorage(tmp_path / "frontier", flush_rows=flush_rows)
    scores = [0.5, 2.0, -1.0, 2.0, 0.0]
    entries = [entry(f"http://a.example/{number}", score=score) for number, score in enumerate(scores)]
    for one in entries:
        storage.add(one)
    storage.commit()
    places = {one.url: storage.ahead_of(one) for one in entries}
    order = [popped.url for popped in iter(lambda: storage.pop(entries[0].arm), None)]
    assert [places[url] for url in order] == [0, 1, 2, 3, 4]
    storage.close()
    reader = LmdbStorage(tmp_path / "frontier", read_only=True)
    assert [reader.ahead_of(one) for one in entries] == [places[one.url] for one in entries]
    reader.close()


def url(number: int) -> str:
    return f"http://h{number % 7}.example/{number}"


def step(storage: FrontierStorage, random: Random, number: int) -> list[object]:
    """Perform one random operation on a storage. Return what the storage returned."""
    choice = random.random()
    said: list[object] = [storage.known_of([url(random.randrange(number + 3))])[0]]
    if choice < 0.6:
        if not storage.known_of([url(number)])[0]:
            storage.add(entry(url(number), score=random.choice([0.0, 1.5, -2.0]), sequence=number))
    elif choice < 0.7 and not storage.known_of([url(number)])[0]:
        storage.finish(entry(url(number), sequence=number), UrlState.REFUSED, "no")
    else:
        popped = storage.pop(f"h{random.randrange(7)}.example")
        said.append(popped)
        if popped is not None and random.random() < 0.7:
            storage.finish(popped, UrlState.DONE, "")
        elif popped is not None:
            storage.add(popped)
    said.append(storage.best(f"h{random.randrange(7)}.example"))
    return said


def compare(disk: FrontierStorage, memory: FrontierStorage, numbers: int) -> None:
    assert sorted(disk.waiting()) == sorted(memory.waiting())
    assert [disk.find(url(number)) for number in range(numbers)] == [
        memory.find(url(number)) for number in range(numbers)
    ]


@pytest.mark.parametrize("buckets", [0, 3], ids=["", "colliding"])
@pytest.mark.parametrize("seed", range(4))
def test_lmdb_with_flushes_and_reopenings_equals_memory_storage(
    seed: int, buckets: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if buckets:
        monkeypatch.setattr(disk_module, "hash_of", lambda url: (len(url) * 7919 % buckets) << 62 | 5)
    memory, disk = MemoryStorage(), LmdbStorage(tmp_path / "f", flush_rows=16)
    one, other, chance = Random(seed), Random(seed), Random(seed)
    for number in range(400):
        assert step(disk, one, number) == step(memory, other, number)
        if chance.random() < 0.15:
            disk.commit()
        if chance.random() < 0.02:
            disk.commit()
            disk.close()
            disk = LmdbStorage(tmp_path / "f", flush_rows=16)
    compare(disk, memory, 400)
    disk.close()


def filled(path: Path, *, numbers: int = 120) -> tuple[LmdbStorage, MemoryStorage, Random, Random]:
    """Return both storages after the same random operations, with some flushes and a final commit."""
    memory, disk = MemoryStorage(), LmdbStorage(path, flush_rows=40)
    one, other = Random(3), Random(3)
    for number in range(numbers):
        step(disk, one, number)
        step(memory, other, number)
        if number % 25 == 0:
            disk.commit()
    disk.commit()
    return disk, memory, one, other


def test_interrupted_flush_neither_loses_nor_duplicates_entries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk, memory, one, other = filled(tmp_path / "f")
    for number in range(120, 200):
        disk.add(entry(url(number), sequence=number))
    monkeypatch.setattr(disk, "_commit", disk.close)  # simulates a kill after the flush and before the commit
    disk.commit()
    disk = LmdbStorage(tmp_path / "f", flush_rows=40)
    compare(disk, memory, 200)
    for number in range(200, 400):
        assert step(disk, one, number) == step(memory, other, number)
        if number % 50 == 0:
            disk.commit()
    compare(disk, memory, 400)
    disk.close()


def test_runs_and_queues_are_rebuilt_from_rows(tmp_path: Path) -> None:
    disk, memory, one, other = filled(tmp_path / "f")
    disk.close()
    with lmdb.open(str(tmp_path / "f"), max_dbs=32) as environment:
        for name in (b"known", b"waiting", b"used", b"names", b"notes"):
            table = environment.open_db(name)
            with environment.begin(write=True) as transaction:
                transaction.drop(table)
    disk = LmdbStorage(tmp_path / "f", flush_rows=40)
    compare(disk, memory, 120)
    for number in range(120, 200):
        assert step(disk, one, number) == step(memory, other, number)
    disk.close()


def test_entry_queued_again_survives_a_kill_before_and_after_flush(tmp_path: Path) -> None:
    storage = LmdbStorage(tmp_path / "f", flush_rows=3)
    fill(storage, [3, 2, 1])
    storage.commit()  # writes all three rows to runs
    popped = storage.pop("a.example")
    assert popped is not None
    storage.add(popped)
    storage.commit()
    storage.close()
    storage = LmdbStorage(tmp_path / "f", flush_rows=1)
    assert storage.count("a.example") == 3
    assert storage.find(popped.url) == (popped, UrlState.WAITING, "")
    storage.commit()  # flushes
    storage = reopened(storage, tmp_path / "f")
    assert storage.count("a.example") == 3
    assert pop_all(storage, "a.example") == [0, 1, 2]
    storage.close()


def test_reader_finds_urls_that_are_in_no_run(tmp_path: Path) -> None:
    writer = LmdbStorage(tmp_path / "f", flush_rows=4)
    for number in range(4):
        writer.add(entry(url(number), sequence=number))
    writer.commit()
    writer.add(entry(url(9), sequence=9))
    writer.commit()
    writer.close()
    reader = LmdbStorage(tmp_path / "f", read_only=True)
    assert all(reader.known_of([url(number)])[0] for number in (0, 1, 2, 3, 9))
    assert reader.find(url(5)) is None
    reader.close()


def test_popping_urls_one_by_one_does_not_grow_the_file(tmp_path: Path) -> None:
    storage = LmdbStorage(tmp_path / "f")
    fill(storage, [1.0] * 2000)
    storage.commit()
    before = (tmp_path / "f" / "data.mdb").stat().st_size
    while (popped := storage.pop("a.example")) is not None:
        storage.finish(popped, UrlState.REFUSED, "the host's budget of pages is spent")
    storage.commit()
    assert (tmp_path / "f" / "data.mdb").stat().st_size < 3 * before  # without the sentinel it is 40 times as large
    assert storage.recover() == 0
    assert list(storage.postponed()) == []
    storage.close()
