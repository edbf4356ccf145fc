"""The kept answers of a crawl as one WARC file.

Each record is a gzip member of its own, so files can be joined end to end. A kill may have cut the last record of a
file off; joined as it is, it would make all that follows unreadable. So members are passed on one by one, when whole.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

_CHUNK_BYTES = 1 << 18
_GZIP_WINDOW_BITS = 31
"""The window bits that tell zlib to expect gzip's head and tail."""


def export_warc(
    files: Sequence[Path], output: BinaryIO, *, packed: bool, progress: Callable[[int], None] = lambda count: None
) -> int:
    """Write the records of all files, packed as they are or plain; how many there were."""
    count = 0
    for path in files:
        for raw, plain in _whole_members(path):
            output.write(raw if packed else plain)
            count += 1
            progress(count)
    return count


def _whole_members(path: Path) -> Iterator[tuple[bytes, bytes]]:
    """The whole gzip members of a file, packed and unpacked; what is cut off or no gzip ends the file."""
    with path.open("rb") as file:
        waiting = b""
        while True:
            member = zlib.decompressobj(_GZIP_WINDOW_BITS)
            raw, plain = bytearray(), bytearray()
            while not member.eof:
                chunk = waiting or file.read(_CHUNK_BYTES)
                waiting = b""
                if not chunk:
                    return
                try:
                    plain += member.decompress(chunk)
                except zlib.error:
                    return
                raw += chunk
            waiting = member.unused_data
            yield bytes(raw[: len(raw) - len(waiting)]), bytes(plain)
