"""Answers that browsers read and llhttp does not: heads, mended to be read a second time, and chunks."""

from __future__ import annotations

import re
from typing import Protocol

from httptools import HttpParserError

BLANK_LINE = re.compile(rb"\r?\n\r?\n")
_LINE_END = re.compile(rb"\r?\n")
_STATUS = re.compile(rb"HTTP/[0-9](?:\.[0-9])?[ \t]+([0-9]{3})(?![0-9])", re.IGNORECASE)
_NAME = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_LENGTH = b"content-length"
_NUMBER = re.compile(rb"-?[0-9]{1,18}")
"""A length that can be read, or a lie."""
_TRANSFER = b"transfer-encoding"
_FIRST_CHUNK = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\n]*)?\r?\n")
_NEXT_CHUNK = re.compile(rb"\r?\n" + _FIRST_CHUNK.pattern)
_HALF_A_LINE = re.compile(rb"(?:\r?\n)?[ \t]*[0-9A-Fa-f]{0,15}[ \t]*(?:;[^\n]*)?\r?")
_CHUNK_LINE_MOST = 1 << 12


def mended(head: bytes) -> bytes:
    """A head with a status line as it should be, without the lines that are no headers, without spaces behind names and
    single CRs, and with its length said once.

    Lengths that differ stay as they are, for nobody knows where such an answer ends (RFC 9112, 6.3). What is no number
    is left out: such an answer ends with the connection. So is a transfer coding without chunks beside a length.

    >>> mended(b"HTTP/1.1  200 OK\\r\\nServer : x\\r\\noops\\r\\nContent-Length: 5\\r\\nContent-Length: 5, 5")
    b'HTTP/1.1 200 OK\\r\\nServer: x\\r\\nContent-Length: 5\\r\\n\\r\\n'
    """
    status, *lines = _LINE_END.split(head)
    kept = [_STATUS.sub(rb"HTTP/1.1 \1", status, count=1)]
    lengths: set[bytes] = set()
    transfers = []
    for line in lines:
        name, colon, value = line.partition(b":")
        name = name.rstrip(b" \t")
        if not colon or not _NAME.fullmatch(name):
            continue
        line = name + b":" + value.replace(b"\r", b" ")
        if name.lower() == _LENGTH:
            lengths.update(number.strip() for number in value.split(b","))
        elif name.lower() == _TRANSFER and b"chunked" not in value.lower():
            transfers.append(line)
        else:
            kept.append(line)
    if any(map(_NUMBER.fullmatch, lengths)):
        kept += [b"Content-Length: " + number for number in sorted(lengths)]
    else:
        kept += transfers
    return b"\r\n".join(kept) + b"\r\n\r\n"


class BodyReader(Protocol):
    """Whoever is told what llhttp would tell of a body."""

    def on_body(self, data: bytes) -> None: ...

    def on_message_complete(self) -> None: ...


class LooseChunks:
    """Reads chunks whose lines may end without CR, in the place of llhttp. Trailers are of use to nobody, and left."""

    def __init__(self, reader: BodyReader, *, known: int) -> None:
        self._reader = reader
        self._known = known
        """Bytes of the body that the reader has already."""
        self._line = _FIRST_CHUNK
        self._left = 0
        """Bytes of the chunk that are still to come."""
        self._rest = b""
        self._ended = False

    def feed_data(self, data: bytes) -> None:
        data, place = self._rest + data, 0
        while place < len(data) and not self._ended:
            if self._left:
                place += self._take(data[place : place + self._left])
                continue
            line = self._line.match(data, place)
            if line is None:
                break
            place = line.end()
            self._begin(int(line[1], 16))
        self._rest = b"" if self._ended else data[place:]
        if len(self._rest) > _CHUNK_LINE_MOST or not _HALF_A_LINE.fullmatch(self._rest):
            raise HttpParserError("Invalid character in chunk size")

    def _begin(self, size: int) -> None:
        self._line = _NEXT_CHUNK
        self._left = size
        if not size:
            self._ended = True
            self._reader.on_message_complete()

    def _take(self, data: bytes) -> int:
        self._left -= len(data)
        known = min(self._known, len(data))
        self._known -= known
        if known < len(data):
            self._reader.on_body(data[known:])
        return len(data)
