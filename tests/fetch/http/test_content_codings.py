"""Decoders of Content-Encoding, fed piece by piece."""

from __future__ import annotations

import gzip
import time
import tracemalloc
import zlib
from collections.abc import Callable
from random import Random

import brotli
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from motherlode.fetch.http.decoding import (
    ACCEPT_ENCODING,
    DECODE_ERRORS,
    content_codings,
    decoder_for,
    max_encoded_bytes,
)

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
    "gzip with a wrong checksum": ("gzip", lambda data: gzip.compress(data)[:-8] + b"\0\1" * 4),
    "deflate with a wrong checksum": ("deflate", lambda data: zlib.compress(data)[:-4] + b"\0\1" * 2),
    "br": ("br", lambda data: brotli.compress(data, quality=4)),
    "br and words": ("br", lambda data: brotli.compress(data, quality=4) + b"<!-- cached -->"),
    "zstd": ("zstd", zstd),
    "zstd and words": ("zstd", lambda data: zstd(data) + b"<!-- cached -->"),
    "two frames": ("zstd", lambda data: zstd(data[:7]) + zstd(data[7:])),
    "gzip twice": ("gzip, GZIP", lambda data: gzip.compress(gzip.compress(data))),
    "zstd, then br": ("zstd,br", lambda data: brotli.compress(zstd(data), quality=4)),
    "three": ("deflate, identity, br, gzip", lambda data: gzip.compress(brotli.compress(zlib.compress(data)))),
    "identity": ("identity", bytes),
    "nothing": ("", bytes),
    "none": ("None", bytes),
    "a charset": ("UTF-8", bytes),
    "a coding of uploads, then gzip": ("aws-chunked, gzip", gzip.compress),
}
STREAMS = [name for name in PACKERS if PACKERS[name][1] is not bytes]


def unpacked(encoding: str, pieces: list[bytes], most: int = MUCH) -> bytes:
    """Feed the pieces and return all output, also what the decoder held back."""
    unpacker = decoder_for(encoding)
    if unpacker is None:
        return b"".join(pieces)
    out = bytearray()
    for piece in [*pieces, b""]:
        given = unpacker.feed(piece, most)
        while given:
            assert len(given) <= most
            out += given
            given = unpacker.feed(b"", most)
    return bytes(out)


@pytest.mark.parametrize("name", PACKERS)
@settings(deadline=None, max_examples=40)
@given(data=st.binary(max_size=300), size=st.integers(1, 40), most=st.sampled_from([1, 5, MUCH]))
def test_decoder_any_split_of_input_gives_whole_output(name: str, data: bytes, size: int, most: int) -> None:
    encoding, pack = PACKERS[name]
    packed = pack(data)
    pieces = [packed[start : start + size] for start in range(0, len(packed), size)]
    assert unpacked(encoding, pieces, most) == data


@pytest.mark.parametrize("name", PACKERS)
def test_decoder_single_bytes_give_whole_output(name: str) -> None:
    encoding, pack = PACKERS[name]
    data = b"<p>hello</p>" * 300
    assert unpacked(encoding, [bytes([byte]) for byte in pack(data)]) == data


@pytest.mark.parametrize("name", STREAMS)
def test_decoder_truncated_stream_gives_available_output(name: str) -> None:
    encoding, pack = PACKERS[name]
    data = Random(1).randbytes(400_000)
    packed = pack(data)
    for cut in (0, 1, 2, 3, 9, len(packed) // 2, len(packed) - 9):
        found = unpacked(encoding, [packed[:cut]])
        assert data.startswith(found)
    assert len(unpacked(encoding, [packed[: len(packed) // 2]])) > 10_000


@pytest.mark.parametrize("encoding", ["gzip", "br", "zstd", "deflate"])
@settings(deadline=None, max_examples=40)
@given(garbage=st.binary(min_size=40, max_size=60))
def test_decoder_garbage_raises_known_error(encoding: str, garbage: bytes) -> None:
    try:
        found = unpacked(encoding, [b"\xff\xff" + garbage], 100)
    except DECODE_ERRORS:
        return
    assert len(found) < 100_000


@pytest.mark.parametrize("encoding", ["gzip", "br", "zstd", "deflate"])
def test_decoder_plain_text_is_rejected(encoding: str) -> None:
    with pytest.raises(DECODE_ERRORS):
        unpacked(encoding, [b"<!doctype html><title>not packed</title>" * 5])


@pytest.mark.parametrize("name", STREAMS)
def test_decoder_output_per_call_is_bounded(name: str) -> None:
    encoding, pack = PACKERS[name]
    bomb = pack(b"\0" * (4 << 20))
    unpacker = decoder_for(encoding)
    assert unpacker is not None
    first = unpacker.feed(bomb, 1000)
    assert 0 < len(first) <= 1000
    for _ in range(5):
        assert len(unpacker.feed(b"", 1000)) <= 1000


@pytest.mark.parametrize("name", STREAMS)
def test_decoder_knows_when_it_is_complete(name: str) -> None:
    encoding, pack = PACKERS[name]
    unpacker = decoder_for(encoding)
    assert unpacker is not None
    packed = pack(b"hello")
    assert not unpacker.is_complete
    unpacker.feed(packed[:4], MUCH)
    assert not (unpacker.is_complete or unpacker.is_finished)
    unpacker.feed(packed[4:], MUCH)
    assert unpacker.is_complete
    unpacker.feed(b"\0" * 20, MUCH)
    assert unpacker.is_complete
    assert unpacker.is_finished or "," in encoding, "bytes after the inner stream do not matter"


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd", "br, gzip"])
def test_decoder_bytes_after_end_are_not_kept(encoding: str) -> None:
    unpacker = decoder_for(encoding)
    assert unpacker is not None
    packed = next(pack for name, pack in PACKERS.values() if name == encoding.split(", ")[0])(b"hello")
    assert unpacker.feed(gzip.compress(packed) if "," in encoding else packed, MUCH) == b"hello"
    junk = b"x" * (1 << 20)
    tracemalloc.start()
    began = time.process_time()
    for _ in range(100):
        assert unpacker.feed(junk, MUCH) == b""
    assert time.process_time() - began < 0.5
    assert tracemalloc.get_traced_memory()[1] < 5 << 20
    tracemalloc.stop()


def test_decoder_for_accepts_names_as_servers_write_them() -> None:
    assert decoder_for(" GZip ") is not None
    assert decoder_for("rot13") is None
    assert decoder_for("gzip, rot13") is None
    assert decoder_for(", ".join(["gzip"] * 5)) is None, "only hostile servers nest so many codings"
    assert all(decoder_for(name) is not None for name in ACCEPT_ENCODING.split(", "))


def test_decoder_chain_bounds_bytes_between_codings() -> None:
    """The inner stream yields few bytes, so that the outer one would produce a gigabyte."""
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    step = packer.compress(b"x") + packer.flush(zlib.Z_FULL_FLUSH) + b"\0\0\0\xff\xff" * 10_000
    bomb = gzip.compress(gzip.compress(b"")[:10] + step * 1000, compresslevel=1)
    unpacker = decoder_for("gzip, gzip")
    assert unpacker is not None
    found = unpacker.feed(bomb, 100_000)
    assert set(found) <= set(b"x")
    assert (unpacker.is_finished, unpacker.is_complete) == (True, False)
    assert len(found) <= 1 + max_encoded_bytes(100_000) // len(step)


def test_decoder_chain_with_long_silent_inner_stream_loses_nothing() -> None:
    silent = zlib.compressobj(wbits=31)
    inner = silent.compress(b"") + silent.flush(zlib.Z_FULL_FLUSH) + b"\0\0\0\xff\xff" * 50_000
    inner += silent.compress(b"hello") + silent.flush()
    assert unpacked("gzip, gzip", [gzip.compress(inner)]) == b"hello"


def test_decoder_chain_that_shrinks_twice_is_treated_as_bomb() -> None:
    """brotli skips metadata byte by byte: 11 MB of it, in a response of 300 bytes, took 0.3 s."""
    inner = b"\x0c" + b"\x06" * 3_000_000 + b"\x03"
    assert unpacked("br", [inner]) == b"", "without nesting it is accepted"
    unpacker = decoder_for("br, gzip")
    assert unpacker is not None
    assert unpacker.feed(gzip.compress(inner), 10 << 20) == b""
    assert (unpacker.is_finished, unpacker.is_complete) == (True, False)


@pytest.mark.parametrize("codings", ["gzip, br", "zstd, gzip", "br, zstd, gzip"])
def test_decoder_chain_of_incompressible_data_may_be_long(codings: str) -> None:
    packers = {"gzip": gzip.compress, "br": PACKERS["br"][1], "zstd": zstd}
    body = packed = Random(1).randbytes(1 << 20) * 3 + b"a" * 100_000
    for name in codings.split(", "):
        packed = packers[name](packed)
    assert unpacked(codings, [packed[place : place + 10_000] for place in range(0, len(packed), 10_000)]) == body


def test_decoder_chain_endless_bytes_after_inner_stream_cost_one_step() -> None:
    unpacker = decoder_for("gzip, gzip")
    assert unpacker is not None
    bomb = gzip.compress(gzip.compress(b"hello") + b"\0" * (64 << 20), compresslevel=1)
    began = time.process_time()
    gzip.decompress(bomb)
    whole_seconds, began = time.process_time() - began, time.process_time()
    assert unpacker.feed(bomb, 1000) == b"hello"
    assert unpacker.feed(b"", 1000) == b""
    assert time.process_time() - began < whole_seconds / 3


@pytest.mark.parametrize(
    ("headers", "codings"),
    [
        ({}, ""),
        ({"content-encoding": "gzip"}, "gzip"),
        ({"transfer-encoding": "chunked", "content-encoding": "br"}, "br"),
        ({"transfer-encoding": "GZip, Chunked"}, "gzip"),
        ({"transfer-encoding": "gzip", "content-encoding": "br"}, "br, gzip"),
        ({"transfer-encoding": "utf-8, chunked", "content-encoding": "br"}, "br, utf-8"),
        ({"transfer-encoding": "rot13, chunked", "content-encoding": "br"}, "br"),
    ],
)
def test_content_codings_lists_content_then_transfer_codings(headers: dict[str, str], codings: str) -> None:
    assert content_codings(headers) == codings
