"""Pages that the word index has taken but not yet made lasting, so that a killed crawl loses no words.

Committing the index is dear, so it happens seldom; the quads are lasting at once. What lies between stands here: each
batch is appended before its quads are written, and the file is emptied after each commit. When the index is opened and
finds something here, it takes those pages again, which changes nothing for those that it had. Pages are here as the
index has them, by their documents: those are a fifth of the page's lines, and are encoded already.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import zstandard

from motherlode.index.words.documents import SubjectDocument

_LENGTH = struct.Struct("<I")
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[tuple[str, list[SubjectDocument]]]).decode

Encoded = Sequence[tuple[str, Sequence[bytes]]]
"""Pages, and their documents as `engine.encode` gives them."""


class Journal:
    """A file of batches. Survives the end of the process, not the loss of power: then `search --rebuild` helps."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.size = path.stat().st_size if path.exists() else 0
        """Bytes that wait for a commit."""
        self._compressor = zstandard.ZstdCompressor(level=1)

    def append(self, pages: Encoded) -> None:
        frame = self._compressor.compress(
            _encode([(page, list(map(msgspec.Raw, documents))) for page, documents in pages])
        )
        with self._path.open("ab") as file:
            self.size += file.write(_LENGTH.pack(len(frame)) + frame)

    def pending(self) -> Iterator[list[tuple[str, list[SubjectDocument]]]]:
        """The batches since the last commit; half a batch at the end is one whose quads were not written either."""
        decompressor = zstandard.ZstdDecompressor()
        with self._path.open("rb") as file:
            while len(head := file.read(_LENGTH.size)) == _LENGTH.size:
                frame = file.read(_LENGTH.unpack(head)[0])
                try:
                    yield _decode(decompressor.decompress(frame))
                except (zstandard.ZstdError, msgspec.DecodeError):
                    return

    def clear(self) -> None:
        self._path.write_bytes(b"")
        self.size = 0
