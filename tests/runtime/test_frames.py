"""Frames: what is written is read again, frame by frame, and half a frame is the end."""

from __future__ import annotations

import io

from hypothesis import given, settings
from hypothesis import strategies as st

from motherlode.runtime.frames import read_frame, write_frame


def stream(*frames: bytes) -> bytes:
    made = io.BytesIO()
    for frame in frames:
        write_frame(made, frame)
    return made.getvalue()


@settings(max_examples=100, deadline=None)
@given(st.lists(st.binary(max_size=300), max_size=6))
def test_frames_come_out_as_they_went_in_and_then_the_end(frames: list[bytes]) -> None:
    source = io.BytesIO(stream(*frames))
    assert [read_frame(source) for _ in frames] == frames
    assert read_frame(source) is None


def test_an_empty_frame_is_not_the_end() -> None:
    source = io.BytesIO(stream(b"", b"x"))
    assert [read_frame(source), read_frame(source), read_frame(source)] == [b"", b"x", None]


def test_a_stream_that_ends_in_a_length_has_ended() -> None:
    for cut in range(4):
        assert read_frame(io.BytesIO(stream(b"abc")[:cut])) is None


def test_frames_longer_than_a_pipe_holds_are_whole() -> None:
    large = bytes(range(256)) * 4_096
    assert read_frame(io.BytesIO(stream(large))) == large


def test_every_frame_is_on_its_way_at_once() -> None:
    raw = io.BytesIO()
    buffered = io.BufferedWriter(raw, buffer_size=1 << 20)
    write_frame(buffered, b"abc")
    assert raw.getvalue() == b"\x00\x00\x00\x03abc", "the other side waits for it"
