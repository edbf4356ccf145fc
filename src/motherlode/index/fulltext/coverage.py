"""Which pages a word index contains, for `motherlode verify`."""

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import msgspec
import tantivy

from motherlode.index.fulltext.analysis import open_index, schema
from motherlode.index.fulltext.searcher import LinkedFolder, is_writable
from motherlode.index.fulltext.word_index import OLD_JOURNAL


class WordCoverage:
    """Looks up pages in a word index. With a journal of an earlier version, the next writer builds it again."""

    def __init__(self, path: Path) -> None:
        """Open the word index in a folder. FileNotFoundError if there is none, ValueError if it is damaged."""
        self._links = LinkedFolder(path) if path.is_dir() and not is_writable(path) else None
        self._searcher = open_index(path if self._links is None else self._links.path).searcher()
        try:
            for file in _committed_files(path):
                _check_file(file)
        except (msgspec.MsgspecError, struct.error) as error:
            raise ValueError(f"its checksums cannot be read: {error}") from error
        journal = path / OLD_JOURNAL
        self._is_rebuilt = journal.exists() and journal.stat().st_size > 0

    def has(self, page: str) -> bool:
        """Return whether the index has a document of a page, given by its IRI without angle brackets."""
        query = tantivy.Query.term_query(schema(), "page", page)
        return self._is_rebuilt or bool(self._searcher.search(query, limit=1).hits)


def are_words_intact(path: Path) -> bool:
    """Return whether a word index can be opened and has the checksums that were written."""
    try:
        WordCoverage(path)
    except (OSError, ValueError):
        return False
    return True


# Checksums: tantivy ends each file with a JSON object that has the CRC-32 of the bytes before it, the length of that
# object and a fixed number. It does not compare them when it reads.

_END = struct.Struct("<II")
_MAGIC = 1337
_CHECKED_SUFFIXES = (".fast", ".fieldnorm", ".idx", ".pos", ".store", ".term")
_CHUNK_BYTES = 1 << 20


class _Segment(msgspec.Struct):
    segment_id: str


class _Meta(msgspec.Struct):
    segments: list[_Segment]


class _Footer(msgspec.Struct):
    crc: int


def _committed_files(path: Path) -> Iterator[Path]:
    """Yield the files of the committed segments. A killed writer may leave others that are incomplete."""
    meta = msgspec.json.decode((path / "meta.json").read_bytes(), type=_Meta)
    for segment in meta.segments:
        name = segment.segment_id.replace("-", "")
        yield from (file for suffix in _CHECKED_SUFFIXES if (file := path / f"{name}{suffix}").exists())


def _check_file(path: Path) -> None:
    """Raise ValueError if the checksum of a file is different."""
    size = path.stat().st_size
    with path.open("rb") as file:
        file.seek(max(0, size - _END.size))
        length, magic = _END.unpack(file.read())
        left = size - _END.size - length
        if magic != _MAGIC or left < 0:
            raise ValueError(f"{path.name} is incomplete")
        file.seek(left)
        expected = msgspec.json.decode(file.read(length), type=_Footer).crc
        file.seek(0)
        found = 0
        while left and (chunk := file.read(min(left, _CHUNK_BYTES))):
            found = zlib.crc32(chunk, found)
            left -= len(chunk)
    if found != expected:
        raise ValueError(f"the checksum of {path.name} is different")
