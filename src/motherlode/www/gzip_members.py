"""The members of a gzip file (RFC 1952): files of WARC records and of quads have one member per record or batch."""

import zlib
from collections.abc import Iterator
from mmap import mmap
from typing import BinaryIO, NamedTuple

_READ_BYTES = 1 << 18
_GZIP_WINDOW_BITS = zlib.MAX_WBITS | 16
"""Makes zlib expect the header and trailer of gzip."""


class GzipMember(NamedTuple):
    """One complete member."""

    start: int
    end: int
    """Offset after the last byte in the file."""
    data: bytes
    """The decompressed data, or its beginning if there is a limit."""


def gzip_members(file: BinaryIO | mmap, start: int = 0, *, max_data_bytes: int | None = None) -> Iterator[GzipMember]:
    """Yield the complete members from an offset on, with `max_data_bytes` of data. Stop at a cut or damaged one."""
    file.seek(start)
    end, data = start, b""
    while data or (data := file.read(_READ_BYTES)):
        stream, parts, kept = zlib.decompressobj(_GZIP_WINDOW_BITS), [], 0
        while data and not stream.eof:
            try:
                decoded = stream.decompress(data)
            except zlib.error:
                return
            if max_data_bytes is None or kept < max_data_bytes:
                parts.append(decoded)
                kept += len(decoded)
            end += len(data) - len(stream.unused_data)
            data = stream.unused_data or (b"" if stream.eof else file.read(_READ_BYTES))
        if not stream.eof:
            return
        yield GzipMember(start, end, b"".join(parts))
        start = end
