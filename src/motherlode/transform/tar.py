"""The members of a tar file (POSIX.1-2001 interchange format, with GNU long names), read straight from its bytes.

The standard library's reader can be led in circles by a negative size; this one only ever moves forward.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_BLOCK = 512
_PAX_PATH = re.compile(rb"\d+ path=([^\n]*)\n")


def tar_members(body: bytes) -> Iterator[tuple[str, bytes]]:
    """Name and content of each regular file, up to the end or to the first header that is none."""
    position = 0
    long_name = b""
    while position + _BLOCK <= len(body):
        header = body[position : position + _BLOCK]
        size = _number(header[124:136])
        if size is None or not _is_sound(header):
            return
        start = position + _BLOCK
        position = start + -(-size // _BLOCK) * _BLOCK
        kind = header[156:157]
        if kind == b"L":  # GNU: the content is the name of the next member
            long_name = body[start : start + size].rstrip(b"\0")
        elif kind == b"x":  # pax: the content is attributes of the next member
            path = _PAX_PATH.search(body, start, min(start + size, len(body)))
            long_name = path[1] if path else long_name
        elif kind in (b"0", b"\0", b"7"):
            name = long_name or _name(header)
            long_name = b""
            yield name.decode(errors="replace"), body[start : start + size]


def _name(header: bytes) -> bytes:
    name, prefix = header[:100].partition(b"\0")[0], header[345:500].partition(b"\0")[0]
    return prefix + b"/" + name if prefix and header[257:263] == b"ustar\0" else name


def _number(field: bytes) -> int | None:
    """An octal number, or a binary one with its first bit set; never negative."""
    if field[0] == 0x80:
        return int.from_bytes(field[1:], "big")
    digits = field.strip(b" \0")
    return int(digits, 8) if digits and not digits.strip(b"01234567") else None if digits else 0


def _is_sound(header: bytes) -> bool:
    checksum = _number(header[148:156])
    return checksum == sum(header[:148]) + sum(header[156:]) + 8 * ord(" ")
