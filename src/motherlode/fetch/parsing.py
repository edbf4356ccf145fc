"""Answers, from the bytes of a connection: head first, then the body piece by piece. llhttp does the parsing.

Nothing here opens a socket or reads a clock. What is not HTTP, or more of it than anybody needs, is said in a sentence.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Protocol

from httptools import HttpParserCallbackError, HttpParserError, HttpParserUpgrade, HttpResponseParser

from motherlode.fetch.mending import BLANK_LINE, mended

_FIELD_MOST = 1 << 16
"""Bytes of one header field: content security policies can be long."""
_FIELDS_MOST = 512
_BARREN_MOST = 1 << 18
"""Bytes of an answer without one of its body: heads, heads of interim answers, trailers, extensions of chunks."""
_MENDED_MOST = 1 << 14
"""Bytes of a head that is waited for although it is wrong."""
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


class AnswerParser:
    """Parses the answers of one connection, one after the other."""

    def __init__(self) -> None:
        self._parser: HttpResponseParser | None = None
        self._receiver: Receiver | None = None

    def begin(self, receiver: Receiver, *, head_only: bool) -> None:
        """Wait for the next answer; `head_only` where the request was one to which no body belongs."""
        self._receiver = receiver
        self._head_only = head_only
        self._head: list[bytes] | None = []
        """What has come of the first head, while that may still have to be mended."""
        self._fields: list[tuple[bytes, bytes]] = []
        self._barren = 0
        self._fruitful = False
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
        self._receiver = None

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
        self._fruitful = False
        if self._head is not None:
            self._head.append(data)
        try:
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade) as error:
            if self._complete:
                self._dirty = True  # what follows an answer is no part of it (RFC 9112, 6.3)
            elif isinstance(error, HttpParserCallbackError):
                return str(error.__context__)
            elif not self._switched:
                return self._read_again(str(error))
        if not self._fruitful:
            self._barren += len(data)
            if self._barren > _BARREN_MOST:
                return "headers without end"
        if self._complete and self._head_only:
            self._parser = None  # it still waits for the body that the head announced
            self._dirty = self._dirty or not data.endswith(_BLANK_LINES)
        return ""

    def _read_again(self, wrong: str) -> str:
        """Read a head that is wrong once more, mended, when all of it is there; what is wrong if that does not help."""
        head = b"".join(self._head or ())
        if not head.startswith(b"HTTP/1."):
            return wrong
        end = BLANK_LINE.search(head)
        if end is None:
            return "" if len(head) <= _MENDED_MOST else wrong
        self._head, self._fields = None, []
        self._parser = _new_parser(self)
        wrong = self.feed(mended(head[: end.start()]) + head[end.end() :])
        self._dirty = True  # who writes such heads is believed once
        return wrong

    # What follows is called by llhttp. An exception ends the parsing, and `feed` says what it said.

    def on_message_begin(self) -> None:
        self._dirty = self._complete

    def on_header(self, name: bytes, value: bytes) -> None:
        self._fields.append((name, value))
        if len(self._fields) > _FIELDS_MOST:
            raise ValueError(f"more than {_FIELDS_MOST} headers")

    def on_headers_complete(self) -> None:
        parser, receiver = self._parser, self._receiver
        assert parser is not None
        assert receiver is not None  # as begun
        headers, self._fields = _joined(self._fields), []  # what still comes are trailers
        self._head = None
        status = parser.get_status_code()
        self._interim = 100 <= status < 200 and status != _SWITCHING
        if self._interim or self._complete:
            return
        self._switched = status == _SWITCHING
        self._head_only = self._head_only or status in _WITHOUT_BODY
        self._keep_alive = parser.should_keep_alive() and not self._switched
        self._find_end(headers)
        self._wanted = receiver.head(status, headers)
        self._complete = self._head_only

    def _find_end(self, headers: dict[str, str]) -> None:
        """What ends the body (RFC 9112, 6.3). Of two lengths the chunks' counts, and nothing that comes behind it."""
        measured = "content-length" in headers
        if "transfer-encoding" not in headers:
            self._until_close = not (self._head_only or measured)
            return
        chunked = _is_chunked(headers)
        if measured and not chunked and not self._head_only:
            raise ValueError("Content-Length and a Transfer-Encoding without chunks")
        self._until_close = not (self._head_only or chunked)
        self._keep_alive = self._keep_alive and not measured

    def on_body(self, data: bytes) -> None:
        self._fruitful = True
        if self._complete:
            self._dirty = True
        elif self._wanted:
            assert self._receiver is not None  # as begun
            self._wanted = self._receiver.piece(data)

    def on_message_complete(self) -> None:
        self._complete = self._complete or not self._interim


def _new_parser(caller: AnswerParser) -> HttpResponseParser:
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


def _joined(fields: list[tuple[bytes, bytes]]) -> dict[str, str]:
    """Headers with lower-case names; what a name says several times is joined."""
    joined: dict[str, str] = {}
    for name, value in fields:
        if len(name) + len(value) > _FIELD_MOST:
            raise ValueError(f"a header of more than {_FIELD_MOST} bytes")
        if b"\0" in value:
            raise ValueError("a null byte in a header")
        key = _lower(name)
        text = _decoded(key, value)
        joined[key] = together(key, joined[key], text) if key in joined else text
    return joined


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
