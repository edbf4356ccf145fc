"""The end of a WARC file that somebody may have been killed over.

A record that is not whole is cut off: other tools stop at it, and some of them lose what they had read before. And who
goes on with a crawl gets the last answers again from its journal, so it must be known which of them are kept already.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_WINDOW = 32 << 20
"""Bytes at the end of a file that are looked at: no record of ours is as long, nor is what a journal holds."""
_STEP = 1 << 18
_GZIP = zlib.MAX_WBITS | 16
_BEGINNING = b"\x1f\x8b\x08"
_MAGIC = b"WARC/"
_ANSWER = re.compile(rb"WARC/1\.1\r\nWARC-Type: re(?:sponse|visit)\r\n")
_URL = re.compile(rb"\r\nWARC-Target-URI: ([^\r]*)\r\n")
_DATE = re.compile(rb"\r\nWARC-Date: ([^\r]*)\r\n")

Kept = tuple[str, str]
"""URL and date of an answer."""


class _Member(NamedTuple):
    end: int
    head: bytes
    """The beginning of what it holds, with all fields of the record."""


def mend(path: Path) -> frozenset[Kept]:
    """Cut a file of packed records behind its last whole record; the answers among the last ones.

    A file of which nothing would be left is removed: an empty one is no WARC file to many tools.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        file.seek(max(0, size - _WINDOW))
        tail = file.read()
    place = _first_record(tail) if size > _WINDOW else 0
    members = list(_members(tail, place))
    end = members[-1].end if members else place
    lost = len(tail) - end
    if lost and _MAGIC.startswith(_beginning(tail, end)):
        if lost == size:
            path.unlink()
        else:
            os.truncate(path, size - lost)
    return frozenset(kept for member in members if (kept := _answer(member.head)) is not None)


def _first_record(tail: bytes) -> int:
    """Where a record begins, in bytes that may begin within one; behind them all where none does."""
    place = tail.find(_BEGINNING)
    while place != -1 and _beginning(tail, place) != _MAGIC:
        place = tail.find(_BEGINNING, place + 1)
    return len(tail) if place == -1 else place


def _beginning(data: bytes, place: int) -> bytes:
    """The first characters of a member, as far as they are there."""
    try:
        return zlib.decompressobj(_GZIP).decompress(data[place : place + _STEP], len(_MAGIC))
    except zlib.error:
        return b"?"


def _members(data: bytes, place: int) -> Iterator[_Member]:
    """Whole members, one after the other."""
    while place < len(data):
        member = _member(data, place)
        if member is None:
            return
        yield member
        place = member.end


def _member(data: bytes, place: int) -> _Member | None:
    """The member that begins here; None where it is cut or garbled."""
    member, head = zlib.decompressobj(_GZIP), b""
    try:
        while not member.eof:
            step = data[place : place + _STEP]
            if not step:
                return None
            plain = member.decompress(step)
            head = head or plain[:_STEP]
            place += len(step)
    except zlib.error:
        return None
    return _Member(place - len(member.unused_data), head)


def _answer(head: bytes) -> Kept | None:
    url, date = _URL.search(head), _DATE.search(head)
    if url is None or date is None or not _ANSWER.match(head):
        return None
    return url[1].decode(), date[1].decode()
