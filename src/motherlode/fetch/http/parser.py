"""Answers that browsers read and llhttp does not: heads, mended to be read a second time, and chunks."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Protocol

from httptools import HttpParserCallbackError, HttpParserError, HttpParserUpgrade, HttpResponseParser

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


def repair_head(head: bytes) -> bytes:
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


class LenientChunkReader:
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


# ── Answers, from the bytes of a connection: head first, then the body piece by piece. llhttp does the parsing.

_FIELD_MOST = 1 << 16
"""Bytes of one header field: content security policies can be long."""
_FIELDS_MOST = 512
_BARREN_MOST = 1 << 18
"""Bytes of an answer that are none of its body: heads, heads of interim answers, trailers, lines of chunks."""
_BARREN_SHARE = 1
"""To so many for each byte of the body. The line of a chunk has five: they should be for as many."""
_MENDED_MOST = 1 << 14
"""Bytes of a head that is waited for although it is wrong."""
_LOOSE_MOST = 1 << 16
"""Bytes of a body that are read once more, where chunks turn out to be wrong behind them."""
_SWITCHING = 101
_WITHOUT_BODY = frozenset({204, 304})
"""Whatever their headers announce (RFC 9112, 6.3)."""

_BLANK_LINES = (b"\n\r\n", b"\n\n")
_SAID_ONCE = frozenset({"location", "content-type", "content-location", "retry-after", "last-modified"})
"""Headers that are no lists (RFC 9110, 5.5): of several the last counts, as the Fetch standard has it for types."""
_ADDRESSES = frozenset({"location", "content-location", "link", "refresh"})
_ADDRESSED = "x-robots-tag"
"""Its directives may be for one crawler. An empty element keeps them apart from those of the next such header."""


class Receiver(Protocol):
    """Whoever is interested in an answer."""

    peer: str
    """The address that answers."""

    def head(self, status: int, headers: dict[str, str]) -> bool:
        """Whether the body is wanted. Names are in lower case; what a name says several times is joined."""

    def piece(self, data: bytes) -> bool:
        """Whether more of the body is wanted."""


class ResponseParser:
    """Parses the answers of one connection, one after the other."""

    def __init__(self) -> None:
        self._parser: HttpResponseParser | LenientChunkReader | None = None
        self._receiver: Receiver | None = None
        self._pieces: list[bytes] = []
        """What the last bytes held of the body. They go on together: a chunk may be as short as a byte."""

    def begin(self, receiver: Receiver, *, head_only: bool) -> None:
        """Wait for the next answer; `head_only` where the request was one to which no body belongs."""
        self._receiver = receiver
        self._head_only = head_only
        self._raw: list[bytes] | None = []
        """All that has come, as long as it may have to be read once more."""
        self._mended = False
        self._fields: list[tuple[bytes, bytes]] = []
        self._pieces.clear()
        self._received = 0
        self._body = 0
        self._in_body = False
        self._interim = False
        self._switched = False
        self._until_close = False
        self._wanted = True
        self._keep_alive = False
        self._complete = False
        self._dirty = False
        if self._parser is None:
            self._parser = _new_parser(self)

    def end(self) -> None:
        """Let go of the receiver: a connection that rests must not hold a body."""
        self._receiver = self._raw = None

    @property
    def done(self) -> bool:
        """All that the receiver wants is there."""
        return self._complete or not self._wanted

    @property
    def clean(self) -> bool:
        """The answer ended where it said, and another may follow on the same connection."""
        return self._complete and self._keep_alive and not self._dirty

    @property
    def ends_by_close(self) -> bool:
        """The end of the connection is the end of the body."""
        return self._until_close

    def feed(self, data: bytes) -> str:
        """What is wrong with these bytes; empty where nothing is."""
        assert self._parser is not None  # as begun
        self._received += len(data)
        if self._raw is not None:
            self._raw.append(data)
        error: HttpParserError | HttpParserUpgrade | None = None
        try:
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade) as raised:
            error = raised
        if self._pieces:
            self._deliver()
        if error is not None:
            return self._go_on_after(error) or ("" if self._complete else self._too_barren())
        if wrong := self._too_barren():
            return wrong
        if self._body > _LOOSE_MOST:
            self._raw = None
        if self._complete and self._head_only:
            self._parser = None  # it still waits for the body that the head announced
            self._dirty = self._dirty or not data.endswith(_BLANK_LINES)
        return ""

    def _too_barren(self) -> str:
        is_barren = self._received - self._body > _BARREN_MOST + _BARREN_SHARE * self._body
        return "headers or lines of chunks without end" if is_barren else ""

    def _deliver(self) -> None:
        pieces = self._pieces
        data = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        pieces.clear()
        self._body += len(data)
        if self._complete:
            self._dirty = True
        elif self._wanted:
            assert self._receiver is not None  # as begun
            self._wanted = self._receiver.piece(data)

    def _go_on_after(self, error: HttpParserError | HttpParserUpgrade) -> str:
        """What is wrong, unless it can be read in another way."""
        if self._complete:
            self._dirty = True  # what follows an answer is no part of it (RFC 9112, 6.3)
            return ""
        is_ours = isinstance(error, HttpParserCallbackError)
        wrong = str(error.__context__ if is_ours else error)
        if not self._in_body:
            return self._read_again(wrong, may_wait=not is_ours)
        if is_ours:
            return wrong
        return "" if self._switched else self._read_loosely(wrong)

    def _read_again(self, wrong: str, *, may_wait: bool) -> str:
        """Read a head that is wrong once more, mended, when all of it is there; what is wrong if that does not help."""
        if self._raw is None or self._mended:
            return wrong
        head = b"".join(self._raw).lstrip()
        if not b"HTTP/".startswith(head[:5].upper()):
            return wrong
        end = BLANK_LINE.search(head)
        if end is None:
            self._raw = [head]
            return "" if may_wait and len(head) <= _MENDED_MOST else wrong
        self._mended, self._raw, self._fields, self._received = True, [], [], 0
        self._parser = _new_parser(self)
        wrong = self.feed(repair_head(head[: end.start()]) + head[end.end() :])
        self._dirty = True  # who writes such heads is believed once
        return wrong

    def _read_loosely(self, wrong: str) -> str:
        """Read chunks that are wrong once more, with less rigour; what is wrong if that does not help."""
        self._dirty = True
        if "chunk" not in wrong.lower():
            self._complete = True  # it is in the trailers, and these are of use to nobody
            return ""
        if self._raw is None or self._body > _LOOSE_MOST:
            return wrong
        raw = b"".join(self._raw).lstrip()
        self._raw = None
        self._parser = LenientChunkReader(self, known=self._body)
        end = BLANK_LINE.search(raw)
        assert end is not None  # else it would not be in the body
        self._received = end.end()
        return self.feed(raw[end.end() :])

    # What follows is called by llhttp. An exception ends the parsing, and `feed` says what it said.

    def on_message_begin(self) -> None:
        self._dirty = self._dirty or self._complete

    def on_header(self, name: bytes, value: bytes) -> None:
        self._fields.append((name, value))
        if len(self._fields) > _FIELDS_MOST:
            raise ValueError(f"more than {_FIELDS_MOST} headers")

    def on_headers_complete(self) -> None:
        parser, receiver = self._parser, self._receiver
        assert isinstance(parser, HttpResponseParser)  # the other reads no heads
        assert receiver is not None  # as begun
        headers, self._fields = joined(self._fields), []  # what still comes are trailers
        status = parser.get_status_code()
        self._interim = 100 <= status < 200 and status != _SWITCHING
        if self._interim or self._complete:
            self._raw = None
            return
        self._switched = status == _SWITCHING
        self._head_only = self._head_only or status in _WITHOUT_BODY
        self._keep_alive = parser.should_keep_alive() and not self._switched
        if self._find_end(headers):
            # Where the line of a chunk ends without CR, llhttp waits for another LF, and takes it from the chunk.
            parser.set_dangerous_leniencies(lenient_optional_cr_before_lf=False)
        else:
            self._raw = None
        self._in_body = True
        self._wanted = receiver.head(status, headers)
        self._complete = self._head_only

    def _find_end(self, headers: dict[str, str]) -> bool:
        """What ends the body (RFC 9112, 6.3); true for chunks. Of two lengths theirs counts, and nothing behind it."""
        measured = "content-length" in headers
        if "transfer-encoding" not in headers:
            self._until_close = not (self._head_only or measured)
            return False
        chunked = _is_chunked(headers)
        if measured and not chunked and not self._head_only:
            raise ValueError("Content-Length and a Transfer-Encoding without chunks")
        self._until_close = not (self._head_only or chunked)
        self._keep_alive = self._keep_alive and not measured
        return chunked

    def on_body(self, data: bytes) -> None:
        self._pieces.append(data)

    def on_message_complete(self) -> None:
        if self._interim:
            self._pieces.clear()
            return
        if self._pieces:
            self._deliver()
        self._complete = True


def _new_parser(caller: ResponseParser) -> HttpResponseParser:
    parser = HttpResponseParser(caller)
    # Servers get away with these in browsers. Only the second moves the place where an answer ends: see `_find_end`.
    parser.set_dangerous_leniencies(
        lenient_headers=True,
        lenient_chunked_length=True,
        lenient_optional_cr_before_lf=True,
        lenient_spaces_after_chunk_size=True,
    )
    return parser


def _is_chunked(headers: dict[str, str]) -> bool:
    return headers.get("transfer-encoding", "").lower().rpartition(",")[2].strip() == "chunked"


def joined(fields: list[tuple[bytes, bytes]]) -> dict[str, str]:
    """Headers with lower-case names; what a name says several times is joined. ValueError for what nobody sends."""
    found: dict[str, str] = {}
    for name, value in fields:
        if len(name) + len(value) > _FIELD_MOST:
            raise ValueError(f"a header of more than {_FIELD_MOST} bytes")
        if b"\0" in value:
            raise ValueError("a null byte in a header")
        key = _lower(name)
        text = _decoded(key, value)
        found[key] = together(key, found[key], text) if key in found else text
    return found


def together(name: str, before: str, text: str) -> str:
    """What a header says that is there more than once; its name in lower case.

    >>> together("link", "<a>", "<b>"), together("location", "/a", "/a")
    ('<a>, <b>', '/a')
    """
    if name in _SAID_ONCE:
        return text
    return f"{before}, , {text}" if name == _ADDRESSED else f"{before}, {text}"


@lru_cache(maxsize=1024)
def _lower(name: bytes) -> str:
    return name.decode("latin-1").lower()


def _decoded(key: str, value: bytes) -> str:
    """A header's text: UTF-8 where it is that, Latin-1 otherwise. In addresses the bytes are kept, as browsers do."""
    value = value.rstrip(b" \t")
    try:
        return value.decode()
    except UnicodeDecodeError:
        text = value.decode("latin-1")
    if key not in _ADDRESSES:
        return text
    return "".join(character if character.isascii() else f"%{ord(character):02X}" for character in text)
