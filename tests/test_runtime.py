"""Frames between processes, locks of files, and garbage collection."""

from __future__ import annotations

import asyncio
import fcntl
import io
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motherlode.runtime import is_file_locked, pack_frame, read_frame, read_frame_async, write_frame


def stream_of(*frames: bytes) -> bytes:
    stream = io.BytesIO()
    for frame in frames:
        write_frame(stream, frame)
    return stream.getvalue()


@settings(max_examples=100, deadline=None)
@given(st.lists(st.binary(max_size=300), max_size=6))
def test_read_frame_returns_written_frames_in_order_then_none(frames: list[bytes]) -> None:
    source = io.BytesIO(stream_of(*frames))
    assert [read_frame(source) for _ in frames] == frames
    assert read_frame(source) is None


def test_read_frame_empty_frame_is_not_end_of_stream() -> None:
    source = io.BytesIO(stream_of(b"", b"x"))
    assert [read_frame(source), read_frame(source), read_frame(source)] == [b"", b"x", None]


def test_read_frame_truncated_stream_returns_none() -> None:
    whole = stream_of(b"abc")
    for size in range(len(whole)):
        assert read_frame(io.BytesIO(whole[:size])) is None


def test_read_frame_longer_than_pipe_buffer_is_complete() -> None:
    large = bytes(range(256)) * 4_096
    assert read_frame(io.BytesIO(stream_of(large))) == large


def test_read_frame_above_limit_raises_value_error() -> None:
    assert read_frame(io.BytesIO(stream_of(b"abc")), max_bytes=3) == b"abc"
    with pytest.raises(ValueError, match="4 bytes is longer than the limit of 3 bytes"):
        read_frame(io.BytesIO(stream_of(b"abcd")), max_bytes=3)


def test_write_frame_joins_parts_into_one_frame() -> None:
    stream = io.BytesIO()
    write_frame(stream, b"a", b"", b"bc")
    assert stream.getvalue() == stream_of(b"abc") == pack_frame(b"abc")


def test_write_frame_flushes_each_frame() -> None:
    raw = io.BytesIO()
    buffered = io.BufferedWriter(raw, buffer_size=1 << 20)
    write_frame(buffered, b"abc")
    assert raw.getvalue() == b"\x00\x00\x00\x03abc", "the other process waits for it"


def test_read_frame_async_returns_frames_then_raises_at_end() -> None:
    async def read() -> list[bytes]:
        stream = asyncio.StreamReader()
        stream.feed_data(stream_of(b"abc", b"") + b"\x00\x00")
        stream.feed_eof()
        frames = [await read_frame_async(stream), await read_frame_async(stream)]
        with pytest.raises(asyncio.IncompleteReadError):
            await read_frame_async(stream)
        return frames

    assert asyncio.run(read()) == [b"abc", b""]


def test_process_start_exempts_existing_objects_and_new_cycles_are_still_collected() -> None:
    code = """
import gc, weakref
from motherlode.runtime import process_start
before = gc.get_threshold()[0]
with process_start():
    assert not gc.isenabled()
assert gc.isenabled() and gc.get_freeze_count() > 1000 and gc.get_threshold()[0] > before
class Node: pass
node = Node()
node.own, gone = node, weakref.ref(node)
del node
assert gone() is not None
kept = [[] for _ in range(100_000)]
assert gone() is None
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_is_file_locked_only_while_a_lock_is_held(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    assert not is_file_locked(path)
    with path.open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert is_file_locked(path)
    assert not is_file_locked(path)


_HEAPS = """
import threading
from motherlode.runtime import share_one_heap, trim_heap

def resident():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmRSS"))

share_one_heap()
found = []
thread = threading.Thread(target=lambda: found.extend(bytes(4000) for _ in range(20_000)))
thread.start()
thread.join()
assert not any(any(one) for one in found)
full = resident()
found.clear()
trim_heap()
print(full - resident())
"""


def test_heap_of_a_thread_returns_to_the_system_when_it_is_trimmed() -> None:
    freed = subprocess.run([sys.executable, "-c", _HEAPS], check=True, stdout=subprocess.PIPE, text=True).stdout
    assert int(freed) > 40_000, "kilobytes; 80,000 were used"
