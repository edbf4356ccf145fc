"""The files of a trace: chunks of rows, each encoded as MessagePack and compressed with Zstandard.

A file is a sequence of frames: a length of four bytes (unsigned, big-endian), then a compressed chunk with a checksum.
A frame of length 0 ends the file, so a file that was cut short is noticed.

Links are stored by column, because most of their texts are repeated: a chunk has each distinct text of a column once,
and for each link the number of its text. Numbers are written byte plane by byte plane, which compresses better.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt
import zstandard

from motherlode.model import Link
from motherlode.runtime import pack_frame, read_frame

_LEVEL = 6
"""Compression level. Level 3 makes files 11 % larger, level 12 needs three times as long for 4 % less."""
_TEXTS = ("url", "source", "anchor", "rel", "type", "title", "context", "tag_path", "element_ids", "predicate")
_LISTS = ("properties", "sibling_groups")
"""Columns with lists, each stored as one space-separated string: most are empty, and many links share the same one."""
_TIMES = ("modified",)
"""Columns with a time or None, each stored as the decimal number or "". Tables of version 5 have none of them."""
LINK_COLUMNS = (*_TEXTS, *_LISTS, *_TIMES)
_UNSIGNED = {1: np.uint8, 2: np.uint16, 4: np.uint32}

Numbers = npt.NDArray[np.int32]
Rows = TypeVar("Rows")


class DamagedTableError(ValueError):
    """A file of a trace is damaged or incomplete."""


class TableWriter:
    """Writes chunks of rows to a new file. The file is complete after `finish`."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")
        self._compress = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True).compress
        self._encode = msgspec.msgpack.Encoder().encode

    def write(self, chunk: Any) -> None:
        self._file.write(pack_frame(self._compress(self._encode(chunk))))

    def finish(self) -> None:
        self._file.write(pack_frame(b""))
        self._file.close()

    def close(self) -> None:
        """Close the file without the frame that ends it, so that readers see that it is incomplete."""
        self._file.close()


def read_chunks(path: Path, rows: type[Rows]) -> Iterator[Rows]:
    """Yield the chunks of a file, decoded as `rows`. Raise DamagedTableError if the file is damaged or incomplete."""
    decompress = zstandard.ZstdDecompressor().decompress
    decode = msgspec.msgpack.Decoder(rows).decode
    with path.open("rb") as file:
        while frame := read_frame(file):
            try:
                yield decode(decompress(frame))
            except (zstandard.ZstdError, msgspec.MsgspecError, MemoryError) as error:
                raise DamagedTableError(f"it is damaged: {error}") from error
        if frame is None:
            raise DamagedTableError("it is incomplete")


# Links by column


class LinkColumn(msgspec.Struct, frozen=True, array_like=True):
    """One column of a chunk of links."""

    texts: list[str]
    """Each distinct text once, in the order in which they occur."""
    width: int
    """Bytes of each number in `numbers`."""
    numbers: bytes
    """For each link the number of its text, byte plane by byte plane."""


class LinkChunk(msgspec.Struct, frozen=True, array_like=True):
    """The links of some pages."""

    links_per_page: list[int]
    nofollow: bytes
    """One bit for each link: whether the page asks crawlers not to follow it."""
    columns: dict[str, LinkColumn]


class LinkChunkBuilder:
    """Collects the links of pages, and makes a chunk of them."""

    def __init__(self) -> None:
        self._clear()

    def _clear(self) -> None:
        self._links_per_page: list[int] = []
        self._nofollow: list[bool] = []
        self._distinct: dict[str, dict[str, int]] = {name: {} for name in LINK_COLUMNS}
        self._numbers: dict[str, list[int]] = {name: [] for name in LINK_COLUMNS}

    def add(self, links: Sequence[Link]) -> None:
        """Add the links of the next page."""
        self._links_per_page.append(len(links))
        for link in links:
            self._nofollow.append(link.nofollow)
            for name in LINK_COLUMNS:
                distinct = self._distinct[name]
                self._numbers[name].append(distinct.setdefault(_text_of(link, name), len(distinct)))

    def finish(self) -> LinkChunk:
        """Return the chunk, and begin the next one."""
        columns = {name: _encode(list(self._distinct[name]), self._numbers[name]) for name in LINK_COLUMNS}
        nofollow = np.packbits(np.array(self._nofollow, dtype=np.bool_)).tobytes()
        chunk = LinkChunk(self._links_per_page, nofollow, columns)
        self._clear()
        return chunk


def _text_of(link: Link, name: str) -> str:
    if name == "source":
        return link.source.value
    value = getattr(link, name)
    if name in _TIMES:
        return "" if value is None else repr(value)
    return value if isinstance(value, str) else " ".join(map(str, value))


def _encode(texts: list[str], numbers: list[int]) -> LinkColumn:
    width = 1 if len(texts) <= 1 << 8 else 2 if len(texts) <= 1 << 16 else 4
    array = np.array(numbers, dtype=_UNSIGNED[width])
    planes = array.view(np.uint8).reshape(-1, width).T
    return LinkColumn(texts, width, planes.tobytes())


def _decode(column: LinkColumn) -> npt.NDArray[Any]:
    planes = np.frombuffer(column.numbers, dtype=np.uint8).reshape(column.width, -1)
    return np.ascontiguousarray(planes.T).view(_UNSIGNED[column.width]).reshape(-1)


@dataclass(frozen=True, slots=True)
class LinkTable:
    """All links of a part, by column."""

    links_per_page: Numbers
    nofollow: npt.NDArray[np.bool_]
    texts: dict[str, list[str]]
    """For each column, its distinct texts."""
    numbers: dict[str, Numbers]
    """For each column, the number of each link's text."""


def read_links(path: Path) -> LinkTable:
    """Read a file of links, and number the texts of all chunks together."""
    counts: list[Numbers] = [np.zeros(0, dtype=np.int32)]
    nofollow = [np.zeros(0, dtype=np.bool_)]
    distinct: dict[str, dict[str, int]] = {name: {} for name in LINK_COLUMNS}
    numbers = {name: [np.zeros(0, dtype=np.int32)] for name in LINK_COLUMNS}
    for chunk in read_chunks(path, LinkChunk):
        counts.append(np.array(chunk.links_per_page, dtype=np.int32))
        bits = np.unpackbits(np.frombuffer(chunk.nofollow, dtype=np.uint8), count=int(counts[-1].sum()))
        nofollow.append(bits.astype(np.bool_))
        for name in LINK_COLUMNS:
            column, known = chunk.columns.get(name), distinct[name]
            if column is None:  # a column that the version of the file does not have
                numbers[name].append(np.full(len(bits), known.setdefault("", len(known)), dtype=np.int32))
                continue
            renumbered = np.array([known.setdefault(text, len(known)) for text in column.texts], dtype=np.int32)
            numbers[name].append(renumbered[_decode(column)])
    return LinkTable(
        links_per_page=np.concatenate(counts),
        nofollow=np.concatenate(nofollow),
        texts={name: list(known) for name, known in distinct.items()},
        numbers={name: np.concatenate(parts) for name, parts in numbers.items()},
    )
