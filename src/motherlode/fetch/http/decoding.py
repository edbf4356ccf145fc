"""Decoders of content codings (gzip, deflate, br, zstd), fed piece by piece.

Each call returns a bounded number of bytes, so that a decompression bomb costs no more than a page. Time grows only
with the bytes that come in and go out, even for hostile input. Bytes after the end of a stream are padding and are
ignored. Checksums are ignored too, as in browsers: a page with a wrong checksum is still readable.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from functools import partial
from typing import Protocol, TypeAlias

import brotli
import zstandard

DECODE_ERRORS = (zlib.error, brotli.error, zstandard.ZstdError)

_MAX_MEMBERS = 1 << 14
"""Maximum number of members in a stream, because even an empty one takes as much time as some kilobytes."""
_SLOW_MEMBERS = 64
"""Streams with more members are decoded in short steps. A legitimate one has a member per log file or record."""
_STEP_BYTES = 1 << 18
_FIRST_STEP_BYTES = 1 << 9
"""Input of the first step into a further member. The bytes after its end are copied, and the member may be short."""
_ZSTD_STEP_BYTES = 1 << 7
"""Input bytes of one step. It returns at most 4 MiB, because every block of 128 KiB needs four bytes of input."""
_BROTLI_STEP_BYTES = 1 << 12
_GZIP_MAGIC = b"\x1f\x8b\x08"
_GZIP_TRAILER_BYTES = 8
_MAX_GZIP_HEADER_BYTES = 1 << 17
"""Maximum length of a gzip header: enough for an extra field of 64 KiB, a file name and a comment."""
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_ZSTD_SKIPPABLE_MAGIC = 5, b"\x2a\x4d\x18"
_MAX_ZSTD_WINDOW_BYTES = 8 << 20
"""Maximum window of a zstd frame, which bounds memory. RFC 9659 forbids larger windows in HTTP."""
_NO_MEMBER = -1


class Decoder(Protocol):
    """Takes encoded bytes, returns at most `max_bytes` decoded ones, and keeps further output for the next call."""

    @property
    def is_complete(self) -> bool:
        """True if the encoded stream has ended: nothing is missing even if no more input comes."""

    @property
    def is_finished(self) -> bool:
        """True if no further input will produce output."""

    @property
    def is_slow(self) -> bool:
        """True if the stream has so many members that decoding takes much time for few bytes."""

    def feed(self, data: bytes, max_bytes: int) -> bytes: ...


_Stream: TypeAlias = "zlib._Decompress | _ZstdFrame | _BrotliStream"
"""Decodes one member."""


class MemberDecoder:
    """Decodes one member or several in a row.

    `find_start` takes bytes, an offset and the number of members before it. It returns the offset at which `new_stream`
    starts to read the next member, None if more bytes are needed to decide, or -1 if no member starts there.
    """

    def __init__(self, find_start: Callable[[bytes, int, int], int | None], new_stream: Callable[[], _Stream]) -> None:
        self.is_complete = False
        self.is_finished = False
        self._find_start = find_start
        self._new_stream = new_stream
        self._stream: _Stream | None = None
        self._members = 0
        self._step_bytes = _STEP_BYTES
        self._input = b""
        self._surplus = b""

    @property
    def is_slow(self) -> bool:
        return self._members > _SLOW_MEMBERS and not self.is_finished

    def feed(self, data: bytes, max_bytes: int) -> bytes:
        out = bytearray(self._surplus)
        data = self._input + data
        offset = 0
        while len(out) < max_bytes and not self.is_finished:
            if self._stream is None:
                offset = self._start_member(data, offset)
            if self._stream is None:
                break
            step = data[offset : offset + self._step_bytes]
            decoded, used = self._decode_step(self._stream, step, max_bytes - len(out))
            out += decoded
            offset += used
            if offset == len(data):
                break
        self._input = b"" if self.is_finished else data[offset:]
        self._surplus = bytes(out[max_bytes:])
        return bytes(out[:max_bytes])

    def _start_member(self, data: bytes, offset: int) -> int:
        """Open a stream if a member starts at the offset. Return the offset at which the stream starts."""
        start = self._find_start(data, offset, self._members)
        if start is None:
            return offset
        if start < 0 or self._members == _MAX_MEMBERS:
            self.is_finished = True
            self.is_complete = start < 0
            return offset
        self.is_complete = False
        self._members += 1
        self._stream = self._new_stream()
        return start

    def _decode_step(self, stream: _Stream, step: bytes, max_bytes: int) -> tuple[bytes, int]:
        """Return the decoded bytes and how many bytes of the step were used. Ignore garbage after a whole member."""
        try:
            decoded = stream.decompress(step, max_bytes)
        except DECODE_ERRORS:
            if self._members == 1:
                raise
            self.is_finished = True
            return b"", 0
        if not stream.eof:
            self._step_bytes = min(self._step_bytes * 4, _STEP_BYTES)
            return decoded, len(step) - len(stream.unconsumed_tail)
        self.is_complete, self._stream, self._step_bytes = True, None, _FIRST_STEP_BYTES
        return decoded, len(step) - len(stream.unused_data)


def _find_gzip_start(data: bytes, offset: int, members: int) -> int | None:
    """Return the offset after a member's header. The checksum and length of the member before it are skipped first."""
    start = _skip_gzip_header(data, offset + _GZIP_TRAILER_BYTES if members else offset)
    if start == _NO_MEMBER and not members:
        raise zlib.error("not gzip")
    return start


def _skip_gzip_header(data: bytes, offset: int) -> int | None:
    """Return the offset after a header (RFC 1952, 2.3), None if it is incomplete, -1 if it is missing."""
    head = data[offset : offset + 10]
    if not _GZIP_MAGIC.startswith(head[:3]):
        return _NO_MEMBER
    end = _skip_gzip_fields(data, offset + 10, head[3]) if len(head) == 10 else 0
    is_there = 0 < end <= len(data)
    if (end if is_there else len(data)) - offset > _MAX_GZIP_HEADER_BYTES:
        return _NO_MEMBER
    return end if is_there else None


def _skip_gzip_fields(data: bytes, offset: int, flags: int) -> int:
    """Return the offset after the fields that the flags announce. If they are incomplete: 0, or more than len(data)."""
    if flags & 4:
        offset += 2 + int.from_bytes(data[offset : offset + 2], "little")
    for is_there in (flags & 8, flags & 16):  # file name, comment
        if is_there:
            offset = data.find(b"\0", offset) + 1
            if not offset:
                return 0
    return offset + (flags & 2)


def _find_deflate_start(data: bytes, offset: int, members: int) -> int | None:
    """Skip the zlib header of RFC 1950. Many servers send deflate without it."""
    if members:
        return _NO_MEMBER
    head = data[offset : offset + 2]
    if len(head) < 2:
        return None
    has_header = head[0] & 0x8F == 8 and not head[1] & 0x20 and int.from_bytes(head, "big") % 31 == 0
    return offset + 2 if has_header else offset


def _find_zstd_start(data: bytes, offset: int, members: int) -> int | None:
    """Find a frame or a skippable frame (RFC 8878, 3.1).

    If the data begins with neither, the decoder raises the error.
    """
    head = data[offset : offset + 4]
    if len(head) < 4:
        return None
    is_frame = head == _ZSTD_MAGIC or (head[0] >> 4, head[1:]) == _ZSTD_SKIPPABLE_MAGIC
    return offset if is_frame or not members else _NO_MEMBER


class _ZstdFrame:
    """Decodes one frame in short steps, because the library returns all output of a step at once."""

    def __init__(self, frame: zstandard.ZstdDecompressionObj) -> None:
        self.eof = False
        self.unused_data = self.unconsumed_tail = b""
        self._frame = frame

    def decompress(self, data: bytes, max_bytes: int, /) -> bytes:
        frame, out, offset = self._frame, bytearray(), 0
        while offset < len(data) and len(out) < max_bytes and not frame.eof:
            out += frame.decompress(data[offset : offset + _ZSTD_STEP_BYTES])
            offset += _ZSTD_STEP_BYTES
        self.eof = frame.eof
        self.unconsumed_tail = data[offset:]
        self.unused_data = frame.unused_data + self.unconsumed_tail
        return bytes(out)


class _BrotliStream:
    """Decodes one brotli stream and finds its end.

    If bytes follow the end, the library raises an error and loses the output of the step. Then everything is decoded
    again, and from that step on the bytes are passed one by one.
    """

    def __init__(self) -> None:
        self.eof = False
        self.unused_data = self.unconsumed_tail = b""
        self._library = brotli.Decompressor()
        self._step_bytes = _BROTLI_STEP_BYTES
        self._has_more = False
        self._input = bytearray()
        """Input bytes of the steps whose output was returned completely, kept to decode them again."""
        self._held_bytes = 0
        """Size of a step that the library has taken and of which it may hold more output. It counts as unconsumed."""
        self._step_output_bytes = self._bytes_to_skip = 0

    def decompress(self, data: bytes, max_bytes: int, /) -> bytes:
        out, offset = bytearray(), 0
        while len(out) < max_bytes and not self.eof and offset < len(data):
            step = data[offset : offset + (self._held_bytes or self._step_bytes)]
            try:
                out += self._process(b"" if self._held_bytes else step, max_bytes)
            except brotli.error:
                if self._step_bytes == 1:
                    raise
                self._decode_input_again()
                continue
            self._held_bytes = len(step) if self._has_more else 0
            if not self._has_more:
                self._input += step
                self._step_output_bytes = 0
                offset += len(step)
        self.unused_data = self.unconsumed_tail = data[offset:]
        return bytes(out)

    def _process(self, step: bytes, max_bytes: int) -> bytes:
        decoded: bytes = self._library.process(step, output_buffer_limit=max_bytes)
        self.eof = self._library.is_finished()
        self._has_more = not self.eof and (len(decoded) >= max_bytes or not self._library.can_accept_more_data())
        self._step_output_bytes += len(decoded)
        new = decoded[self._bytes_to_skip :]
        self._bytes_to_skip -= len(decoded) - len(new)
        return new

    def _decode_input_again(self) -> None:
        skipped, self._library, self._step_bytes = self._step_output_bytes, brotli.Decompressor(), 1
        for start in range(0, len(self._input), _BROTLI_STEP_BYTES):
            self._process(bytes(self._input[start : start + _BROTLI_STEP_BYTES]), _STEP_BYTES)
            while self._has_more:
                self._process(b"", _STEP_BYTES)
        self._held_bytes = self._step_output_bytes = 0
        self._bytes_to_skip = skipped


def _new_deflate_stream() -> _Stream:
    return zlib.decompressobj(-zlib.MAX_WBITS)


def zstd_decoder() -> MemberDecoder:
    library = zstandard.ZstdDecompressor(max_window_size=_MAX_ZSTD_WINDOW_BYTES)
    return MemberDecoder(_find_zstd_start, lambda: _ZstdFrame(library.decompressobj()))


gzip_decoder = partial(MemberDecoder, _find_gzip_start, _new_deflate_stream)
deflate_decoder = partial(MemberDecoder, _find_deflate_start, _new_deflate_stream)
brotli_decoder = partial(MemberDecoder, lambda data, offset, members: _NO_MEMBER if members else offset, _BrotliStream)


# The decoder of a Content-Encoding -----------------------------------------------------------------------------------

ACCEPT_ENCODING = "gzip, deflate, br, zstd"

_CHAIN_STEP_BYTES = 1 << 16
_CHAIN_SLACK_BYTES = 1 << 20
_CHAIN_RATIO = 8
"""In a chain of codings, each decoder passes at most a fixed slack plus this many bytes per input byte to the next."""
_MAX_CODINGS = 4
_FRAMING_BYTES = 1 << 16
_IGNORED_CODINGS = ("none", "utf-8", "utf8", "iso-8859-1", "binary", "8bit", "aws-chunked")
"""Values that browsers ignore: no coding, charsets, and a coding of uploads that some object stores announce."""


def max_encoded_bytes(decoded_bytes: int) -> int:
    """Return the number of encoded bytes that suffice for a number of decoded ones. Encoding adds only some framing."""
    return decoded_bytes + decoded_bytes // 8 + _FRAMING_BYTES


class _ChainedDecoder:
    """Decodes one coding inside another.

    The bytes that pass from the outer decoder to the inner one are bounded. Encoded data hardly shrinks when it is
    encoded again, so only a bomb passes more.
    """

    def __init__(self, outer: Decoder, inner: Decoder) -> None:
        self._outer = outer
        self._inner = inner
        self._max_passed_bytes = 0
        """Maximum number of bytes that may pass from the outer to the inner decoder, set at the first call."""
        self._input_bytes = self._passed_bytes = 0
        self._is_full = False

    @property
    def is_complete(self) -> bool:
        return self._inner.is_complete

    @property
    def is_finished(self) -> bool:
        return self._inner.is_finished or self._is_full

    @property
    def is_slow(self) -> bool:
        return self._outer.is_slow or self._inner.is_slow

    def feed(self, data: bytes, max_bytes: int) -> bytes:
        self._input_bytes += len(data)
        self._max_passed_bytes = self._max_passed_bytes or max_encoded_bytes(max_bytes)
        limit = min(self._max_passed_bytes, _CHAIN_SLACK_BYTES + _CHAIN_RATIO * self._input_bytes)
        room = limit - self._passed_bytes
        out = bytearray()
        has_more = not self._is_full
        while has_more and len(out) < max_bytes and not self._inner.is_finished:
            between = self._outer.feed(data, min(_CHAIN_STEP_BYTES, room))
            data = b""
            room -= len(between)
            self._passed_bytes += len(between)
            has_more = len(between) == _CHAIN_STEP_BYTES
            out += self._inner.feed(between, max_bytes - len(out))
        self._is_full = self._is_full or room == 0
        return bytes(out)


_DECODERS: dict[str, Callable[[], Decoder] | None] = {
    **dict.fromkeys(("", "identity", *_IGNORED_CODINGS), None),
    "gzip": gzip_decoder,
    "x-gzip": gzip_decoder,
    "deflate": deflate_decoder,
    "br": brotli_decoder,
    "zstd": zstd_decoder,
}
"""Coding → its decoder, or None if there is nothing to decode."""


def content_codings(headers: Mapping[str, str]) -> str:
    """Return the codings of a body in the order of their application: content codings, then transfer codings.

    "chunked" and unknown transfer codings are left out. Browsers know no other transfer coding at all.
    """
    content, transfer = headers.get("content-encoding", ""), headers.get("transfer-encoding", "chunked").lower()
    if transfer == "chunked":
        return content
    others = [name for name in map(str.strip, transfer.split(",")) if name in _DECODERS]
    return ", ".join(filter(None, (content, *others)))


def decoder_for(codings: str) -> Decoder | None:
    """Return a decoder of one or several codings (RFC 9110, 8.4), or None if the body is used as it is.

    If one coding is unknown, none is decoded, as in browsers: most such servers have encoded nothing at all.
    """
    names = [name.strip() for name in codings.lower().split(",")]
    if len(names) > _MAX_CODINGS or not all(name in _DECODERS for name in names):
        return None
    chain: Decoder | None = None
    for factory in filter(None, map(_DECODERS.get, names)):  # the coding that was applied last is undone first
        chain = factory() if chain is None else _ChainedDecoder(factory(), chain)
    return chain
