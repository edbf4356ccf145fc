"""Tests of the buffer between a query and its client."""

from __future__ import annotations

import asyncio
import errno
import io
import tempfile

import pytest

from motherlode.serve.result_buffer import BufferSpace, ResultBuffer


async def _read(buffer: ResultBuffer) -> bytes:
    return b"".join([chunk async for chunk in buffer.chunks()])


async def test_bytes_are_read_in_order_while_they_are_appended() -> None:
    parts = [bytes([number]) * 100_000 for number in range(20)]
    with ResultBuffer(BufferSpace(10_000_000)) as buffer:
        reader = asyncio.create_task(_read(buffer))
        for part in parts:
            await buffer.append(part)
            await asyncio.sleep(0)
        assert not reader.done()
        buffer.complete()
        assert await reader == b"".join(parts)


async def test_empty_buffer_has_no_chunks() -> None:
    with ResultBuffer(BufferSpace(10)) as buffer:
        buffer.complete()
        assert await _read(buffer) == b""


async def test_append_waits_until_another_buffer_gives_its_space_back() -> None:
    space = BufferSpace(10)
    with ResultBuffer(space) as second:
        with ResultBuffer(space) as first:
            await first.append(b"12345678")
            waiting = asyncio.create_task(second.append(b"abcd"))
            await asyncio.sleep(0)
            assert second.size == 0
        await waiting
        second.complete()
        assert await _read(second) == b"abcd"
    with ResultBuffer(space) as third:
        await third.append(b"0123456789")


async def test_space_is_given_back_after_an_error() -> None:
    space = BufferSpace(10)
    for _ in range(3):
        try:
            with ResultBuffer(space) as buffer:
                await buffer.append(b"01234567")
                raise ValueError
        except ValueError:
            pass
    async with asyncio.timeout(60):
        await space.take(10)


async def test_bytes_that_a_full_disk_refused_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    class SmallDisk(io.BytesIO):
        def write(self, data: object) -> int:
            if self.tell() >= 10:
                raise OSError(errno.ENOSPC, "No space left on device")
            return super().write(bytes(data)[: 10 - self.tell()])  # type: ignore[call-overload]

    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: SmallDisk())
    space = BufferSpace(100)
    with ResultBuffer(space) as buffer:
        await buffer.append(b"01234567")
        with pytest.raises(OSError, match="No space left"):
            await buffer.append(b"abcdefgh")
        assert buffer.size == 8
        buffer.complete()
        assert await _read(buffer) == b"01234567"
    async with asyncio.timeout(60):
        await space.take(100)
