"""Content encodings, piece by piece."""

from __future__ import annotations

import gzip
import time
import zlib
from collections.abc import Callable
from random import Random

import brotli
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from motherlode.fetch.unpack import ACCEPTED, UNPACK_ERRORS, codings_of, unpacker_for

MUCH = 1 << 30


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


def zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


PACKERS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "x-gzip": ("x-gzip", gzip.compress),
    "two members": ("gzip", lambda data: gzip.compress(data[:7]) + gzip.compress(data[7:])),
    "empty members": ("gzip", lambda data: gzip.compress(b"") + gzip.compress(data) + gzip.compress(b"")),
    "gzip and padding": ("gzip", lambda data: gzip.compress(data) + b"\0" * 5),
    "gzip and a lone 1f": ("gzip", lambda data: gzip.compress(data) + b"\x1f"),
    "gzip and words": ("gzip", lambda data: gzip.compress(data) + b"<!-- cached -->"),
    "deflate": ("deflate", zlib.compress),
    "raw deflate": ("deflate", raw_deflate),
    "stored deflate": ("deflate", lambda data: zlib.compress(data, 0)),
    "deflate and words": ("deflate", lambda data: zlib.compress(data) + b"more"),
    "br": ("br", lambda data: brotli.compress(data, quality=4)),
    "zstd": ("zstd", zstd),
    "two frames": ("zstd", lambda data: zstd(data[:7]) + zstd(data[7:])),
    "gzip twice": ("gzip, GZIP", lambda data: gzip.compress(gzip.compress(data))),
    "zstd, then br": ("zstd,br", lambda data: brotli.compress(zstd(data), quality=4)),
    "three": ("deflate, identity, br, gzip", lambda data: gzip.compress(brotli.compress(zlib.compress(data)))),
    "identity": ("identity", bytes),
    "nothing": ("", bytes),
    "none": ("None", bytes),
    "a charset": ("UTF-8", bytes),
}
STREAMS = [name for name in PACKERS if PACKERS[name][1] is not bytes]


def unpacked(encoding: str, pieces: list[bytes], most: int = MUCH) -> bytes:
    """All that comes of feeding the pieces, asking again for what is kept back."""
    unpacker = unpacker_for(encoding)
    assert unpacker is not None
    out = bytearray()
    for piece in [*pieces, b""]:
        given = unpacker.feed(piece, most)
        while given:
            assert len(given) <= most
            out += given
            given = unpacker.feed(b"", most)
    return bytes(out)


@pytest.mark.parametrize("name", PACKERS)
@settings(max_examples=40)
@given(data=st.binary(max_size=300), size=st.integers(1, 40), most=st.sampled_from([1, 5, MUCH]))
def test_whatever_the_pieces_the_whole_comes_out(name: str, data: bytes, size: int, most: int) -> None:
    encoding, pack = PACKERS[name]
    packed = pack(data)
    pieces = [packed[start : start + size] for start in range(0, len(packed), size)]
    assert unpacked(encoding, pieces, most) == data


@pytest.mark.parametrize("name", PACKERS)
def test_byte_by_byte(name: str) -> None:
    encoding, pack = PACKERS[name]
    data = b"<p>hello</p>" * 300
    assert unpacked(encoding, [bytes([byte]) for byte in pack(data)]) == data


@pytest.mark.parametrize("name", STREAMS)
def test_a_truncated_stream_gives_what_there_is(name: str) -> None:
    encoding, pack = PACKERS[name]
    data = Random(1).randbytes(400_000)
    packed = pack(data)
    for cut in (0, 1, 2, 3, 9, len(packed) // 2, len(packed) - 9):
        found = unpacked(encoding, [packed[:cut]])
        assert data.startswith(found)
    assert len(unpacked(encoding, [packed[: len(packed) // 2]])) > 10_000


@pytest.mark.parametrize("encoding", ["gzip", "br", "zstd", "deflate"])
@settings(max_examples=40)
@given(garbage=st.binary(min_size=40, max_size=60))
def test_garbage_is_an_error_of_a_kind_that_is_named(encoding: str, garbage: bytes) -> None:
    try:
        found = unpacked(encoding, [b"\xff\xff" + garbage], 100)
    except UNPACK_ERRORS:
        return
    assert len(found) < 100_000


@pytest.mark.parametrize("encoding", ["gzip", "br", "zstd", "deflate"])
def test_plain_text_is_not_taken_for_packed(encoding: str) -> None:
    with pytest.raises(UNPACK_ERRORS):
        unpacked(encoding, [b"<!doctype html><title>not packed</title>" * 5])


@pytest.mark.parametrize("name", STREAMS)
def test_no_call_gives_more_than_it_may(name: str) -> None:
    encoding, pack = PACKERS[name]
    bomb = pack(b"\0" * (4 << 20))
    unpacker = unpacker_for(encoding)
    assert unpacker is not None
    first = unpacker.feed(bomb, 1000)
    assert 0 < len(first) <= 1000
    for _ in range(5):
        assert len(unpacker.feed(b"", 1000)) <= 1000


def test_names_are_read_as_servers_write_them() -> None:
    assert unpacker_for(" GZip ") is not None
    assert unpacker_for("rot13") is None
    assert unpacker_for("gzip, rot13") is None
    assert unpacker_for(", ".join(["gzip"] * 5)) is None, "nobody packs so often but to do harm"
    assert all(unpacker_for(name) is not None for name in ACCEPTED.split(", "))


def test_an_endless_rest_behind_the_inner_stream_costs_a_step_and_no_more() -> None:
    unpacker = unpacker_for("gzip, gzip")
    assert unpacker is not None
    bomb = gzip.compress(gzip.compress(b"hello") + b"\0" * (64 << 20), compresslevel=1)
    began = time.process_time()
    assert unpacker.feed(bomb, 1000) == b"hello"
    assert unpacker.feed(b"", 1000) == b""
    assert time.process_time() - began < 0.02, "to unpack it all takes ten times as long"


@pytest.mark.parametrize(
    ("headers", "codings"),
    [
        ({}, ""),
        ({"content-encoding": "gzip"}, "gzip"),
        ({"transfer-encoding": "chunked", "content-encoding": "br"}, "br"),
        ({"transfer-encoding": "GZip, Chunked"}, "gzip"),
        ({"transfer-encoding": "gzip", "content-encoding": "br"}, "br, gzip"),
    ],
)
def test_codings_are_those_of_the_content_and_then_of_the_transfer(headers: dict[str, str], codings: str) -> None:
    assert codings_of(headers) == codings
