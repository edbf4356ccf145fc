"""Decoders: start and end of streams, and bounds of their cost."""

from __future__ import annotations

import gzip
import struct
import time
import zlib
from collections.abc import Callable
from random import Random

import brotli
import pytest
import zstandard

from motherlode.fetch.http.decoding import (
    DECODE_ERRORS,
    MemberDecoder,
    brotli_decoder,
    deflate_decoder,
    gzip_decoder,
    zstd_decoder,
)

MUCH = 1 << 30
BODY = b"<p>hello</p>" * 50


def raw(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


def member(flags: int, fields: bytes, data: bytes = BODY) -> bytes:
    return struct.pack("<4BLBB", 0x1F, 0x8B, 8, flags, 0, 0, 3) + fields + raw(data) + b"\0" * 8


def pieces(packed: bytes, size: int) -> list[bytes]:
    return [packed[start : start + size] for start in range(0, len(packed), size)]


EXTRA = b"\x05\0extra"


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize(
    ("flags", "fields"),
    [
        (0, b""),
        (1, b""),
        (2, b"cr"),
        (4, EXTRA),
        (4, b"\xff\xff" + b"x" * 65_535),
        (8, b"name.html\0"),
        (16, b"a comment\0"),
        (8 | 16, b"\0\0"),
        (2 | 4 | 8 | 16, EXTRA + b"name\0comment\0cr"),
    ],
)
def test_gzip_header_with_any_fields_is_skipped(flags: int, fields: bytes, size: int) -> None:
    if size == 1 and len(fields) > 1000:
        size = 1000
    stream = gzip_decoder()
    packed = member(flags, fields)
    assert b"".join(stream.feed(piece, MUCH) for piece in pieces(packed * 2, size)) == BODY * 2
    assert stream.is_complete


@pytest.mark.parametrize("head", [b"\x1f\x8b\x07" + b"\0" * 20, b"\x1f\x8c", b"<html>", member(8, b"x" * 200_000)])
def test_gzip_wrong_magic_raises_error(head: bytes) -> None:
    with pytest.raises(DECODE_ERRORS):
        gzip_decoder().feed(head, MUCH)
    stream = gzip_decoder()
    assert stream.feed(gzip.compress(BODY) + head, MUCH) == BODY, "after a member it is padding"
    assert (stream.is_complete, stream.is_finished) == (True, True)


def test_deflate_invalid_zlib_header_is_read_as_raw() -> None:
    for packed in (zlib.compress(BODY), raw(BODY)):
        assert deflate_decoder().feed(packed, MUCH) == BODY
    assert deflate_decoder().feed(b"\x78", MUCH) == b"", "one byte is too little to decide"


def test_decoder_damaged_member_after_complete_one_is_incomplete() -> None:
    for stream, packed in ((gzip_decoder(), gzip.compress(BODY)), (zstd_decoder(), zstandard.compress(BODY))):
        broken = packed[:10] + b"\xff" * 400
        assert stream.feed(packed + broken, MUCH).startswith(BODY)
        assert (stream.is_finished, stream.is_complete) == (True, False)


def test_zstd_skippable_frames_are_skipped() -> None:
    skipped = b"\x5a\x2a\x4d\x18" + struct.pack("<L", 300) + b"x" * 300
    packed = skipped + zstandard.compress(BODY) + skipped + zstandard.compress(BODY)
    for size in (1, 100, 10_000):
        stream = zstd_decoder()
        assert b"".join(stream.feed(piece, MUCH) for piece in pieces(packed, size)) == BODY * 2


@pytest.mark.parametrize(
    ("make", "packed"),
    [(gzip_decoder, gzip.compress(b"", mtime=0)), (zstd_decoder, zstandard.compress(b""))],
    ids=["gzip", "zstd"],
)
def test_decoder_empty_members_are_bounded(make: Callable[[], MemberDecoder], packed: bytes) -> None:
    stream = make()
    began = time.process_time()
    for _ in range(40):
        assert stream.feed(packed * (250_000 // len(packed)), MUCH) == b""
    assert time.process_time() - began < 1.0
    assert (stream.is_finished, stream.is_complete) == (True, False)


def test_decoder_many_members_are_joined() -> None:
    stream = gzip_decoder()
    assert stream.feed(gzip.compress(b"a line\n") * 5000, MUCH) == b"a line\n" * 5000


@pytest.mark.parametrize("most", [1, 1000, MUCH])
@pytest.mark.parametrize("size", [1, 7, 4096, 4097, 1 << 20])
def test_brotli_bytes_after_end_are_ignored(size: int, most: int) -> None:
    data = Random(1).randbytes(4_000).hex().encode() * (1 if size == 1 or most == 1 else 8)
    packed = brotli.compress(data, quality=1) + b"\0trailing" * 2000
    stream, found = brotli_decoder(), bytearray()
    for piece in [*pieces(packed, size), b""]:
        given = stream.feed(piece, most)
        while given:
            assert len(given) <= most
            found += given
            given = stream.feed(b"", most)
    assert found == data
    assert (stream.is_complete, stream.is_finished) == (True, True)


def test_brotli_long_page_with_bytes_after_end_is_fast() -> None:
    data = Random(1).randbytes(2_000_000).hex().encode()
    packed = brotli.compress(data, quality=1)
    began = time.process_time()
    assert brotli_decoder().feed(packed, MUCH) == data
    alone = time.process_time() - began
    began = time.process_time()
    assert brotli_decoder().feed(packed + b"<!-- -->", MUCH) == data
    assert time.process_time() - began < 4 * alone + 0.1


def test_brotli_damaged_stream_raises_error() -> None:
    packed = brotli.compress(Random(1).randbytes(10_000).hex().encode(), quality=4)
    with pytest.raises(DECODE_ERRORS):
        brotli_decoder().feed(packed[:5000] + b"\xff" * 5000, MUCH)
