"""Heads that browsers read and llhttp does not: mended, so that they can be read a second time."""

from __future__ import annotations

import re

BLANK_LINE = re.compile(rb"\r?\n\r?\n")
_LINE_END = re.compile(rb"\r?\n")
_NAME = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_LENGTH = b"content-length"


def mended(head: bytes) -> bytes:
    """A head without the lines that are no headers, without spaces behind names, and with its length said once.

    Lengths that differ stay as they are, for nobody knows where such an answer ends (RFC 9112, 6.3).

    >>> mended(b"HTTP/1.1 200 OK\\r\\nServer : x\\r\\noops\\r\\nContent-Length: 5\\r\\nContent-Length: 5, 5")
    b'HTTP/1.1 200 OK\\r\\nServer: x\\r\\nContent-Length: 5\\r\\n\\r\\n'
    """
    status, *lines = _LINE_END.split(head)
    kept = [status]
    lengths: set[bytes] = set()
    for line in lines:
        name, colon, value = line.partition(b":")
        name = name.rstrip(b" \t")
        if not colon or not _NAME.fullmatch(name):
            continue
        if name.lower() == _LENGTH:
            lengths.update(number.strip() for number in value.split(b","))
        else:
            kept.append(name + b":" + value)
    kept += [b"Content-Length: " + number for number in sorted(lengths)]
    return b"\r\n".join(kept) + b"\r\n\r\n"
