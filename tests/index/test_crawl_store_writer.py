"""The writer: bounded, complete, and not silent when the store fails."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from motherlode.index import BatchWriter, PageRecord, QuadStore

from .fakes import A, record, says, union


def page(number: int, quads: int = 10) -> PageRecord:
    return PageRecord(url=f"http://a.example/{number}", fetched_at=0.0, status=200, quads=quads)


class FakeStore:
    """Keeps what it is given; waits at its gate, and breaks when told to."""

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


async def test_nothing_is_lost_on_close_and_the_order_is_kept() -> None:
    store = FakeStore()
    writer = BatchWriter(store, batch_quads=100, max_pending_quads=1000)
    await put(writer, *range(57))
    await writer.close()
    assert store.written == urls(*range(57))
    assert store.flushed == 1
    await writer.close()
    assert store.flushed == 1, "closing twice is closing once"


async def test_pages_are_written_in_batches() -> None:
    store = FakeStore()
    writer = BatchWriter(store, batch_quads=100, max_pending_quads=1000)
    await put(writer, *range(4))
    await asyncio.sleep(0.05)
    assert store.written == [], "four pages of twenty are not a batch"
    await put(writer, 4)
    for _ in range(100):
        if store.written:
            break
        await asyncio.sleep(0.01)
    assert store.batches == [urls(*range(5))]
    await writer.close()


async def test_flush_returns_when_all_is_written() -> None:
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


async def test_flush_waits_only_for_what_was_put_before() -> None:
    """Pages keep coming while a checkpoint waits; it must end all the same."""
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
        await asyncio.wait_for(writer.flush(), 5)
    stop = True
    await putting
    await writer.close()
    assert len(store.written) == len(set(store.written))


async def test_several_flushes_at_a_time() -> None:
    store = FakeStore()
    writer = BatchWriter(store, batch_quads=1000, max_pending_quads=10_000)
    await put(writer, 1)
    first = asyncio.create_task(writer.flush())
    await asyncio.sleep(0)
    await put(writer, 2)
    second = asyncio.create_task(writer.flush())
    await asyncio.wait_for(asyncio.gather(first, second), 5)
    assert store.written == urls(1, 2)
    await writer.close()


async def test_put_waits_while_too_much_is_pending() -> None:
    store = FakeStore()
    store.gate.clear()
    writer = BatchWriter(store, batch_quads=50, max_pending_quads=100)
    accepted: list[int] = []

    async def produce() -> None:
        for number in range(40):
            await writer.put(page(number))
            accepted.append(number)

    producing = asyncio.create_task(produce())
    await asyncio.to_thread(store.entered.wait, 5)
    await asyncio.sleep(0.1)
    assert not producing.done()
    assert len(accepted) * 20 <= 2 * (100 + 20), "a batch that is being written and a full queue"
    store.gate.set()
    await asyncio.wait_for(producing, 5)
    await writer.close()
    assert store.written == urls(*range(40))


async def test_a_page_larger_than_the_bound_still_goes_through() -> None:
    store = FakeStore()
    writer = BatchWriter(store, batch_quads=50, max_pending_quads=100)
    await asyncio.wait_for(put(writer, 1, 2, 3, quads=10_000), 5)
    await writer.close()
    assert store.written == urls(1, 2, 3)


async def test_a_bound_below_the_batch_does_not_stop_the_work() -> None:
    store = FakeStore()
    writer = BatchWriter(store, batch_quads=5000, max_pending_quads=50)
    await asyncio.wait_for(put(writer, *range(20)), 5)
    await writer.close()
    assert store.written == urls(*range(20))


@pytest.mark.parametrize(
    "error", [OSError("disk full"), ValueError("bad"), TypeError("a bug"), MemoryError("no room"), KeyError("x")]
)
async def test_an_error_of_the_store_reaches_whoever_puts_or_flushes_or_closes(error: Exception) -> None:
    store = FakeStore()
    writer = BatchWriter(store, batch_quads=20, max_pending_quads=1000)
    store.error = error
    await put(writer, 1)
    with pytest.raises(OSError, match="the quad store could not be written") as raised:
        await asyncio.wait_for(writer.flush(), 5)
    assert raised.value.__cause__ is error
    with pytest.raises(OSError, match="could not be written"):
        await asyncio.wait_for(writer.put(page(2)), 5)
    with pytest.raises(OSError, match="could not be written"):
        await asyncio.wait_for(writer.close(), 5)
    assert store.flushed == 0


async def test_an_error_frees_those_who_wait() -> None:
    store = FakeStore()
    store.gate.clear()
    writer = BatchWriter(store, batch_quads=20, max_pending_quads=40)
    await put(writer, 1)
    await asyncio.to_thread(store.entered.wait, 5)
    await put(writer, 2, 3)
    waiting = asyncio.create_task(writer.put(page(4)))
    await asyncio.sleep(0.02)
    assert not waiting.done()
    store.error = OSError("disk full")
    store.gate.set()
    with pytest.raises(OSError, match="disk full"):
        await asyncio.wait_for(waiting, 5)
    with pytest.raises(OSError, match="disk full"):
        await writer.close()


async def test_an_error_while_flushing_the_store_at_the_end_is_told() -> None:
    class Failing(FakeStore):
        def flush(self) -> None:
            raise OSError("no space left")

    writer = BatchWriter(Failing(), batch_quads=20, max_pending_quads=40)
    await put(writer, 1)
    with pytest.raises(OSError, match="no space left"):
        await writer.close()


async def test_what_comes_after_the_end_is_refused_and_not_lost_silently() -> None:
    writer = BatchWriter(FakeStore())
    await writer.close()
    with pytest.raises(ValueError, match="closed"):
        await asyncio.wait_for(writer.put(page(1)), 5)


async def test_with_a_real_store(tmp_path: Path) -> None:
    store = QuadStore(tmp_path / "store")
    writer = BatchWriter(store, batch_quads=50, max_pending_quads=200)
    for number in range(60):
        await writer.put(record(f"{A}{number}", says(str(number), "x")))
    await writer.close()
    assert len(union(store)) == 60
