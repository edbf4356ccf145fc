"""Tests of `LocalStore` and `BatchWriter`."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from motherlode.index.crawl_store import BatchWriter, LocalStore
from motherlode.index.fulltext import Search, WordIndex, WordSearcher
from motherlode.index.page_record import PageRecord
from motherlode.index.quad_store import QuadStore

from .fakes import A, B, record, says, union


def test_index_words_existing_index_is_not_rebuilt(tmp_path: Path) -> None:
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


def test_words_that_cannot_be_written_are_an_error_and_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a full disk, tantivy only says that its thread has ended. The checksums show that no file is damaged."""
    store = LocalStore(tmp_path / "store")
    store.index_words(tmp_path / "words")
    store.write([record(A, says("name", "first"))])
    store.flush()
    before = {file.name for file in (tmp_path / "words").glob("*.term")}

    def fail(self: WordIndex) -> None:
        raise ValueError("An error occurred in a thread: 'An index writer was killed.'")

    monkeypatch.setattr(WordIndex, "commit", fail)
    store.write([record(B, says("name", "second"))])
    with pytest.raises(OSError, match=r"words.*cannot be written.*killed"):
        store.flush()
    assert before
    assert before <= {file.name for file in (tmp_path / "words").glob("*.term")}


def test_local_store_waits_for_locked_store(tmp_path: Path) -> None:
    holder = [LocalStore(tmp_path / "store")]
    timer = threading.Timer(0.5, holder.clear)
    timer.start()
    LocalStore(tmp_path / "store").close()
    assert not holder
    timer.join()


def test_local_store_without_words_creates_no_index(tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "store")
    store.write([record(A, says("name", "Ann"))])
    store.flush()
    assert [path.name for path in tmp_path.iterdir() if path.name == "words"] == []
    assert QuadStore(tmp_path / "store", read_only=True).has(A)


def page(number: int, quads: int = 10) -> PageRecord:
    return PageRecord(url=f"http://a.example/{number}", fetched_at=0.0, status=200, quads=quads)


class FakeStore:
    """Keeps all records. `write` waits for `gate`, and raises `error` if it is set."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.flushed = 0
        self.gate = threading.Event()
        self.gate.set()
        self.entered = threading.Event()
        self.error: BaseException | None = None

    def write(self, records: Sequence[PageRecord]) -> None:
        self.entered.set()
        assert self.gate.wait(10)
        if self.error is not None:
            raise self.error
        self.batches.append([record.url for record in records])

    def flush(self) -> None:
        self.flushed += 1

    @property
    def written(self) -> list[str]:
        return [url for batch in self.batches for url in batch]


async def put(writer: BatchWriter, *numbers: int, quads: int = 10) -> None:
    for number in numbers:
        await writer.put(page(number, quads))


def urls(*numbers: int) -> list[str]:
    return [f"http://a.example/{number}" for number in numbers]


async def test_close_writes_all_pages_in_order() -> None:
    store = FakeStore()
    writer = BatchWriter(store, batch_quads=100, max_pending_quads=1000)
    await put(writer, *range(57))
    await writer.close()
    assert store.written == urls(*range(57))
    assert store.flushed == 1
    await writer.close()
    assert store.flushed == 1, "the second close does nothing"


async def test_pages_are_written_in_batches() -> None:
    store = FakeStore()
    writer = BatchWriter(store, batch_quads=100, max_pending_quads=1000)
    await put(writer, *range(4))
    await asyncio.sleep(0.05)
    assert store.written == [], "four pages of twenty quads are not a batch"
    await put(writer, 4)
    assert await asyncio.to_thread(store.entered.wait, 60)
    await writer.close()
    assert store.batches == [urls(*range(5))]


async def test_flush_returns_after_all_pages_are_written() -> None:
    store = FakeStore()
    writer = BatchWriter(store, batch_quads=1000, max_pending_quads=10_000)
    await writer.flush()
    await put(writer, 1, 2)
    await writer.flush()
    assert store.written == urls(1, 2)
    await put(writer, 3)
    store.gate.clear()
    flushing = asyncio.create_task(writer.flush())
    await asyncio.sleep(0.05)
    assert not flushing.done()
    store.gate.set()
    await flushing
    assert store.written == urls(1, 2, 3)
    await writer.close()


async def test_flush_waits_only_for_earlier_pages() -> None:
    """`flush` returns although other pages are put all the time."""
    store = FakeStore()
    writer = BatchWriter(store, batch_quads=20, max_pending_quads=10_000)
    stop = False

    async def keep_putting() -> None:
        number = 100
        while not stop:
            await put(writer, number)
            number += 1
            await asyncio.sleep(0)

    await put(writer, 1)
    putting = asyncio.create_task(keep_putting())
    for _ in range(5):
        await asyncio.wait_for(writer.flush(), 60)
    stop = True
    await putting
    await writer.close()
    assert len(store.written) == len(set(store.written))


async def test_concurrent_flushes_all_return() -> None:
    store = FakeStore()
    writer = BatchWriter(store, batch_quads=1000, max_pending_quads=10_000)
    await put(writer, 1)
    first = asyncio.create_task(writer.flush())
    await asyncio.sleep(0)
    await put(writer, 2)
    second = asyncio.create_task(writer.flush())
    await asyncio.wait_for(asyncio.gather(first, second), 60)
    assert store.written == urls(1, 2)
    await writer.close()


async def test_put_waits_while_too_many_quads_are_pending() -> None:
    store = FakeStore()
    store.gate.clear()
    writer = BatchWriter(store, batch_quads=50, max_pending_quads=100)
    accepted: list[int] = []

    async def produce() -> None:
        for number in range(40):
            await writer.put(page(number))
            accepted.append(number)

    producing = asyncio.create_task(produce())
    await asyncio.to_thread(store.entered.wait, 60)
    await asyncio.sleep(0.1)
    assert not producing.done()
    assert len(accepted) * 20 <= 2 * (100 + 20), "one batch is being written, and the queue is full"
    store.gate.set()
    await asyncio.wait_for(producing, 60)
    await writer.close()
    assert store.written == urls(*range(40))


async def test_page_above_limit_is_written() -> None:
    store = FakeStore()
    writer = BatchWriter(store, batch_quads=50, max_pending_quads=100)
    await asyncio.wait_for(put(writer, 1, 2, 3, quads=10_000), 60)
    await writer.close()
    assert store.written == urls(1, 2, 3)


async def test_limit_below_batch_size_makes_progress() -> None:
    store = FakeStore()
    writer = BatchWriter(store, batch_quads=5000, max_pending_quads=50)
    await asyncio.wait_for(put(writer, *range(20)), 60)
    await writer.close()
    assert store.written == urls(*range(20))


@pytest.mark.parametrize(
    "error", [OSError("disk full"), ValueError("bad"), TypeError("a bug"), MemoryError("no room"), KeyError("x")]
)
async def test_store_error_is_raised_by_put_flush_and_close(error: Exception) -> None:
    store = FakeStore()
    writer = BatchWriter(store, batch_quads=20, max_pending_quads=1000)
    store.error = error
    await put(writer, 1)
    with pytest.raises(OSError, match="the quad store could not be written") as raised:
        await asyncio.wait_for(writer.flush(), 60)
    assert raised.value.__cause__ is error
    with pytest.raises(OSError, match="could not be written"):
        await asyncio.wait_for(writer.put(page(2)), 60)
    with pytest.raises(OSError, match="could not be written"):
        await asyncio.wait_for(writer.close(), 60)
    assert store.flushed == 0


async def test_store_error_wakes_waiting_put() -> None:
    store = FakeStore()
    store.gate.clear()
    writer = BatchWriter(store, batch_quads=20, max_pending_quads=40)
    await put(writer, 1)
    await asyncio.to_thread(store.entered.wait, 60)
    await put(writer, 2, 3)
    waiting = asyncio.create_task(writer.put(page(4)))
    await asyncio.sleep(0.02)
    assert not waiting.done()
    store.error = OSError("disk full")
    store.gate.set()
    with pytest.raises(OSError, match="disk full"):
        await asyncio.wait_for(waiting, 60)
    with pytest.raises(OSError, match="disk full"):
        await writer.close()


async def test_store_error_in_final_flush_is_raised_by_close() -> None:
    class Failing(FakeStore):
        def flush(self) -> None:
            raise OSError("no space left")

    writer = BatchWriter(Failing(), batch_quads=20, max_pending_quads=40)
    await put(writer, 1)
    with pytest.raises(OSError, match="no space left"):
        await writer.close()


async def test_put_after_close_raises() -> None:
    writer = BatchWriter(FakeStore())
    await writer.close()
    with pytest.raises(ValueError, match="closed"):
        await asyncio.wait_for(writer.put(page(1)), 60)


async def test_writer_fills_real_store(tmp_path: Path) -> None:
    store = QuadStore(tmp_path / "store")
    writer = BatchWriter(store, batch_quads=50, max_pending_quads=200)
    for number in range(60):
        await writer.put(record(f"{A}{number}", says(str(number), "x")))
    await writer.close()
    assert len(union(store)) == 60
