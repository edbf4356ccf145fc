"""Decode a byte stream to UTF-8 for a parser, and keep a window of it to locate errors and read parts again."""

import codecs
import re
from typing import IO, BinaryIO, cast

from motherlode.model import Problem, Syntax

CHUNK_BYTES = 1 << 16
WINDOW_BYTES = 1 << 25
"""Bytes kept before the current position: twice the longest token that the parser accepts."""
MAX_TRIPLE_TERM_DEPTH = 200
"""Maximum nesting of triple terms. The parser's stack overflows at a depth above ten thousand."""

_LINE_BREAK = re.compile(rb"\r\n?|\n")
_NESTING = re.compile(rb"<<\(|\)>>")
_GENERATED_LABEL = re.compile(rb"""(?:_:|nodeID\s*=\s*["'])[a-f][0-9a-f]{31}""")


class Source:
    """A sliding window over a document. Offsets count UTF-8 bytes; lines and columns start at one."""

    def __init__(self, stream: BinaryIO, *, syntax: Syntax, charset: str = "utf-8") -> None:
        self.problems: list[Problem] = []
        self.has_generated_labels = False
        """Whether a blank node label of the document has the form of labels that the parser generates for anonymous
        nodes."""
        self.start = 0
        """Offset of the first byte in the window."""
        self._stream = stream
        self._syntax = syntax
        self._charset = charset
        self._decoder = codecs.getincrementaldecoder(charset)("replace")
        self._is_utf8 = codecs.lookup(charset).name == "utf-8"
        self._window = bytearray()
        self._ended = False
        self._depth = 0
        self._origin = self._anchor = (0, 1, 1)
        """Offset, line and column of the first byte in the window, and of the last position computed."""
        self._is_first_chunk = True

    def get(self, offset: int, size: int) -> bytes:
        """Return up to `size` bytes from `offset`; fewer at the end of the document, none before the window."""
        while not self._ended and self.start + len(self._window) < offset + size:
            self._load()
        index = offset - self.start
        return bytes(self._window[index : index + size]) if index >= 0 else b""

    def find(self, text: bytes) -> int:
        """Return the offset of the first occurrence of a text in the window, or -1."""
        index = self._window.find(text)
        return index if index == -1 else self.start + index

    def position_of(self, offset: int) -> tuple[int, int]:
        """Return line and column of an offset. For an offset before the window, those of the first byte in it."""
        offset = max(offset, self.start)
        known, line, column = self._anchor if self._anchor[0] <= offset else self._origin
        passed = bytes(self._window[known - self.start : offset - self.start])
        breaks = list(_LINE_BREAK.finditer(passed)) if b"\r" in passed else None
        count = len(breaks) if breaks is not None else passed.count(b"\n")
        if count:
            tail = passed[breaks[-1].end() :] if breaks else passed[passed.rindex(b"\n") + 1 :]
            line, column = line + count, 1 + _count_characters(tail)
        else:
            column += _count_characters(passed)
        self._anchor = (offset, line, column)
        return line, column

    def offset_of(self, line: int, column: int) -> int:
        """Return the offset of a position in the window."""
        offset, known_line, known_column = self._anchor if self._anchor[1:] <= (line, column) else self._origin
        index = offset - self.start
        for _ in range(line - known_line):
            found = _LINE_BREAK.search(self._window, index)
            if found is None:
                break
            index, known_column = found.end(), 1
        ahead = max(0, column - known_column)
        taken = bytes(self._window[index : index + 4 * ahead]).decode(errors="ignore")[:ahead]
        return self.start + index + len(taken.encode())

    def _load(self) -> None:
        chunk = self._stream.read(CHUNK_BYTES)
        self._ended = not chunk
        chunk = self._decode(chunk)
        if self._is_first_chunk and chunk:
            self._is_first_chunk = False
            chunk = chunk.removeprefix(codecs.BOM_UTF8)
        if b"<<(" in chunk or self._depth:
            chunk = self._limit_nesting(chunk)
        if not self.has_generated_labels and (b"_:" in chunk or b"nodeID" in chunk):
            self.has_generated_labels = _GENERATED_LABEL.search(chunk) is not None
        self._window += chunk
        if len(self._window) > WINDOW_BYTES + WINDOW_BYTES // 2:
            self._discard(WINDOW_BYTES // 2)

    def _discard(self, size: int) -> None:
        line, column = self.position_of(self.start + size)
        del self._window[:size]
        self.start += size
        self._origin = self._anchor = (self.start, line, column)

    def _decode(self, chunk: bytes) -> bytes:
        if self._is_utf8 and chunk.isascii() and not self._decoder.getstate()[0]:
            return chunk
        text = self._decoder.decode(chunk, final=self._ended)
        if "�" in text and not self.problems:
            self._report_replacement(chunk, text)
        return text.encode()

    def _report_replacement(self, chunk: bytes, text: str) -> None:
        if self._is_utf8 and text.count("�") <= chunk.count("�".encode()):
            return  # the document itself contains the character
        loaded = self.start + len(self._window)
        line, column = self.position_of(loaded)
        before = text[: text.index("�")]
        column = column + len(before) if "\n" not in before else len(before) - before.rindex("\n")
        message = f"bytes that are not {self._charset} were replaced"
        line += before.count("\n")
        self.problems.append(Problem(syntax=self._syntax, message=message, line=line, column=column, repaired=True))

    def _limit_nesting(self, chunk: bytes) -> bytes:
        """End the document where triple terms are nested too deep."""
        for mark in _NESTING.finditer(chunk):
            self._depth = self._depth + 1 if mark[0] == b"<<(" else max(0, self._depth - 1)
            if self._depth > MAX_TRIPLE_TERM_DEPTH:
                line, column = self.position_of(self.start + len(self._window))
                message = f"triple terms nested more than {MAX_TRIPLE_TERM_DEPTH} levels deep; the rest was left out"
                self.problems.append(Problem(syntax=self._syntax, message=message, line=line, column=column))
                self._ended = True
                return chunk[: mark.start()]
        return chunk


class Feed:
    """Presents a source to a parser as a file: a header, the bytes from an offset on, and a footer."""

    def __init__(
        self, source: Source, *, start: int = 0, end: int | None = None, header: bytes = b"", footer: bytes = b""
    ) -> None:
        self.position = start
        self._source = source
        self._end = end
        self._header = header
        self._footer = footer
        """Bytes returned after the end."""

    def file(self) -> IO[bytes]:
        """Return this object with the type that the parser expects. The parser only calls `read`."""
        return cast(IO[bytes], self)

    def read(self, size: int) -> bytes:
        """Return up to `size` bytes; b"" at the end."""
        if self._header:
            given, self._header = self._header[:size], self._header[size:]
            return given
        wanted = size
        if self._end is not None:
            size = min(size, self._end - self.position)
        given = self._source.get(self.position, size) if size > 0 else b""
        self.position += len(given)
        if not given:
            given, self._footer = self._footer[:wanted], self._footer[wanted:]
        return given


def _count_characters(text: bytes) -> int:
    return len(text) if text.isascii() else len(text.decode(errors="replace"))
