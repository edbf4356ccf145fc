"""Parsing of HTTP/1.1 responses with llhttp: the head first, then the body piece by piece.

Some responses are accepted by browsers and not by llhttp. Their heads are repaired and parsed a second time. Their
chunks are read by `LenientChunkReader`.
"""

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
"""A Content-Length that is left to llhttp, which rejects negative numbers."""
_TRANSFER = b"transfer-encoding"
_FIRST_CHUNK = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\n]*)?\r?\n")
_NEXT_CHUNK = re.compile(rb"\r?\n" + _FIRST_CHUNK.pattern)
_PARTIAL_LINE = re.compile(rb"(?:\r?\n)?[ \t]*[0-9A-Fa-f]{0,15}[ \t]*(?:;[^\n]*)?\r?")
_MAX_CHUNK_LINE_BYTES = 1 << 12


def repair_head(head: bytes) -> bytes:
    """Return a head that llhttp accepts.

    The status line is normalized. Lines that are not headers, spaces after names and single CRs are removed. Equal
    values of Content-Length are joined. Different ones are kept, so that llhttp rejects them, because the end of such a
    response is unknown (RFC 9112, 6.3). A length that is not a number is removed, so that the end of the connection
    ends the body. A transfer coding other than chunked is removed if there is a length.

    >>> repair_head(b"HTTP/1.1  200 OK\\r\\nServer : x\\r\\noops\\r\\nContent-Length: 5\\r\\nContent-Length: 5, 5")
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


class LenientChunkReader:
    """Reads chunks in place of llhttp. Chunk lines may end without CR. Trailers are ignored."""

    def __init__(self, reader: ResponseParser, *, known: int) -> None:
        self._reader = reader
        self._known = known
        """Number of body bytes that llhttp has already delivered, so that they are not delivered again."""
        self._line = _FIRST_CHUNK
        self._left = 0
        """Missing bytes of the current chunk."""
        self._rest = b""
        self._is_finished = False

    def feed_data(self, data: bytes) -> None:
        data, offset = self._rest + data, 0
        while offset < len(data) and not self._is_finished:
            if self._left:
                offset += self._take_data(data[offset : offset + self._left])
                continue
            line = self._line.match(data, offset)
            if line is None:
                break
            offset = line.end()
            self._begin_chunk(int(line[1], 16))
        self._rest = b"" if self._is_finished else data[offset:]
        if len(self._rest) > _MAX_CHUNK_LINE_BYTES or not _PARTIAL_LINE.fullmatch(self._rest):
            raise HttpParserError("Invalid character in chunk size")

    def _begin_chunk(self, size: int) -> None:
        self._line = _NEXT_CHUNK
        self._left = size
        if not size:
            self._is_finished = True
            self._reader.on_message_complete()

    def _take_data(self, data: bytes) -> int:
        self._left -= len(data)
        known = min(self._known, len(data))
        self._known -= known
        if known < len(data):
            self._reader.on_body(data[known:])
        return len(data)


# The parser ----------------------------------------------------------------------------------------------------------

_MAX_HEADER_BYTES = 1 << 16
"""Maximum length of one header. Content security policies can be long."""
_MAX_HEADERS = 512
_MAX_OVERHEAD_BYTES = 1 << 18
"""Maximum bytes of a response outside its body: heads, heads of interim responses, trailers, chunk lines."""
_OVERHEAD_RATIO = 1
"""Additional overhead in bytes that is allowed per byte of the body. A chunk line takes five bytes, so chunks of five
bytes or more are accepted."""
_MAX_REPAIRED_HEAD_BYTES = 1 << 14
"""A faulty head may be this long; the parser waits for its end to repair it."""
_MAX_REREAD_BYTES = 1 << 16
"""A faulty chunk is accepted if it starts within this prefix of the body, which is then read again."""
_SWITCHING_PROTOCOLS = 101
_BODILESS_STATUSES = frozenset({204, 304})
"""Statuses of responses that have no body, whatever their headers say (RFC 9112, 6.3)."""

_BLANK_LINES = (b"\n\r\n", b"\n\n")
_SINGLE_VALUED = frozenset({"location", "content-type", "content-location", "retry-after", "last-modified"})
"""Headers that are not lists (RFC 9110, 5.5). The last one counts, as the Fetch standard says for Content-Type."""
_URL_HEADERS = frozenset({"location", "content-location", "link", "refresh"})
_ROBOTS_TAG = "x-robots-tag"
"""Several headers of this name are joined with an empty element between them, because a directive for one crawler must
not extend to the next header."""


class Receiver(Protocol):
    """Receives one response."""

    peer: str
    """IP address of the server."""

    @property
    def is_slow(self) -> bool:
        """True if the bytes of the response take long to process, so that other connections are served in between."""

    def receive_head(self, status: int, headers: dict[str, str]) -> bool:
        """Return whether the body is wanted. Header names are in lower case, repeated headers are joined."""

    def receive_body(self, data: bytes) -> bool:
        """Return whether more of the body is wanted."""


class ResponseParser:
    """Parses the responses of one connection, one after the other."""

    def __init__(self) -> None:
        self._parser: HttpResponseParser | LenientChunkReader | None = None
        self._receiver: Receiver | None = None
        self._body_parts: list[bytes] = []
        """Body data of the last bytes. It is delivered together, because a chunk may have a single byte."""

    def begin(self, receiver: Receiver, *, head_only: bool) -> None:
        """Prepare for the next response. `head_only`: the response has no body, as for a HEAD request."""
        self._receiver = receiver
        self._head_only = head_only
        self._raw: list[bytes] | None = []
        """All received bytes, while they may have to be parsed again."""
        self._is_repaired = False
        self._headers: list[tuple[bytes, bytes]] = []
        self._body_parts.clear()
        self._received_bytes = 0
        self._body_bytes = 0
        self._is_in_body = False
        self._is_interim = False
        self._is_switched = False
        self.is_ended_by_close = False
        """True if the end of the connection ends the body."""
        self._is_wanted = True
        self._is_kept_alive = False
        self._is_complete = False
        self._is_tainted = False
        if self._parser is None:
            self._parser = _new_parser(self)

    def end(self) -> None:
        """Release the receiver, so that an idle connection holds no body."""
        self._receiver = self._raw = None

    @property
    def is_done(self) -> bool:
        """True if the receiver has everything it wants."""
        return self._is_complete or not self._is_wanted

    @property
    def is_reusable(self) -> bool:
        """True if the response ended where its head said, so that another may follow on the same connection."""
        return self._is_complete and self._is_kept_alive and not self._is_tainted

    def feed(self, data: bytes) -> str:
        """Parse the next bytes. Return what is wrong with the response, or "" if nothing is."""
        assert self._parser is not None  # set by begin()
        self._received_bytes += len(data)
        if self._raw is not None:
            self._raw.append(data)
        error: HttpParserError | HttpParserUpgrade | None = None
        try:
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade) as raised:
            error = raised
        if self._body_parts:
            self._deliver()
        if error is not None:
            return self._recover(error) or ("" if self._is_complete else self._check_overhead())
        if problem := self._check_overhead():
            return problem
        if self._body_bytes > _MAX_REREAD_BYTES:
            self._raw = None
        if self._is_complete and self._head_only:
            self._parser = None  # it still expects the body that the head announced
            self._is_tainted = self._is_tainted or not data.endswith(_BLANK_LINES)
        return ""

    def _check_overhead(self) -> str:
        is_too_much = self._received_bytes - self._body_bytes > _MAX_OVERHEAD_BYTES + _OVERHEAD_RATIO * self._body_bytes
        return "headers or chunk lines without end" if is_too_much else ""

    def _deliver(self) -> None:
        parts = self._body_parts
        data = parts[0] if len(parts) == 1 else b"".join(parts)
        parts.clear()
        self._body_bytes += len(data)
        if self._is_complete:
            self._is_tainted = True
        elif self._is_wanted:
            assert self._receiver is not None  # set by begin()
            self._is_wanted = self._receiver.receive_body(data)

    def _recover(self, error: HttpParserError | HttpParserUpgrade) -> str:
        """Try a lenient way to read the response. Return the error if that fails."""
        if self._is_complete:
            self._is_tainted = True  # bytes after a response are no part of it (RFC 9112, 6.3)
            return ""
        is_ours = isinstance(error, HttpParserCallbackError)
        problem = str(error.__context__ if is_ours else error)
        if not self._is_in_body:
            return self._reparse_head(problem, may_wait=not is_ours)
        if is_ours:
            return problem
        return "" if self._is_switched else self._reread_chunks(problem)

    def _reparse_head(self, problem: str, *, may_wait: bool) -> str:
        """Repair a faulty head and parse it again once it is complete. Return what is wrong if that does not help."""
        if self._raw is None or self._is_repaired:
            return problem
        head = b"".join(self._raw).lstrip()
        if not b"HTTP/".startswith(head[:5].upper()):
            return problem
        end = BLANK_LINE.search(head)
        if end is None:
            self._raw = [head]
            return "" if may_wait and len(head) <= _MAX_REPAIRED_HEAD_BYTES else problem
        self._is_repaired, self._raw, self._headers, self._received_bytes = True, [], [], 0
        self._parser = _new_parser(self)
        problem = self.feed(repair_head(head[: end.start()]) + head[end.end() :])
        self._is_tainted = True  # do not reuse a connection to such a server
        return problem

    def _reread_chunks(self, problem: str) -> str:
        """Read faulty chunks again with `LenientChunkReader`. Return what is wrong if that does not help."""
        self._is_tainted = True
        if "chunk" not in problem.lower():
            self._is_complete = True  # the fault is in the trailers, which are not used
            return ""
        if self._raw is None or self._body_bytes > _MAX_REREAD_BYTES:
            return problem
        raw = b"".join(self._raw).lstrip()
        self._raw = None
        self._parser = LenientChunkReader(self, known=self._body_bytes)
        end = BLANK_LINE.search(raw)
        assert end is not None  # the head is complete
        self._received_bytes = end.end()
        return self.feed(raw[end.end() :])

    # Callbacks of llhttp. An exception ends the parsing, and `feed` returns its message.

    def on_message_begin(self) -> None:
        self._is_tainted = self._is_tainted or self._is_complete

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers.append((name, value))
        if len(self._headers) > _MAX_HEADERS:
            raise ValueError(f"more than {_MAX_HEADERS} headers")

    def on_headers_complete(self) -> None:
        parser, receiver = self._parser, self._receiver
        assert isinstance(parser, HttpResponseParser)  # LenientChunkReader reads no heads
        assert receiver is not None  # set by begin()
        headers, self._headers = join_headers(self._headers), []  # further headers are trailers
        status = parser.get_status_code()
        self._is_interim = 100 <= status < 200 and status != _SWITCHING_PROTOCOLS
        if self._is_interim or self._is_complete:
            self._raw = None
            return
        self._is_switched = status == _SWITCHING_PROTOCOLS
        self._head_only = self._head_only or status in _BODILESS_STATUSES
        self._is_kept_alive = parser.should_keep_alive() and not self._is_switched
        if self._find_body_end(headers):
            # If a chunk line ends without CR, llhttp takes the LF from the chunk's data.
            parser.set_dangerous_leniencies(lenient_optional_cr_before_lf=False)
        else:
            self._raw = None
        self._is_in_body = True
        self._is_wanted = receiver.receive_head(status, headers)
        self._is_complete = self._head_only

    def _find_body_end(self, headers: dict[str, str]) -> bool:
        """Set what ends the body (RFC 9112, 6.3). Return true for chunks.

        If there is a Content-Length as well, the chunks count and the connection is not reused.
        """
        has_length = "content-length" in headers
        if "transfer-encoding" not in headers:
            self.is_ended_by_close = not (self._head_only or has_length)
            return False
        is_chunked = headers["transfer-encoding"].lower().rpartition(",")[2].strip() == "chunked"
        if has_length and not is_chunked and not self._head_only:
            raise ValueError("Content-Length and a Transfer-Encoding without chunks")
        self.is_ended_by_close = not (self._head_only or is_chunked)
        self._is_kept_alive = self._is_kept_alive and not has_length
        return is_chunked

    def on_body(self, data: bytes) -> None:
        self._body_parts.append(data)

    def on_message_complete(self) -> None:
        if self._is_interim:
            self._body_parts.clear()
            return
        if self._body_parts:
            self._deliver()
        self._is_complete = True


class _Collector:
    """Collects one response in memory."""

    is_slow = False

    def __init__(self) -> None:
        self.peer = ""
        self.status = 0
        self.headers: dict[str, str] = {}
        self.body = bytearray()

    def receive_head(self, status: int, headers: dict[str, str]) -> bool:
        self.status, self.headers = status, headers
        return True

    def receive_body(self, data: bytes) -> bool:
        self.body += data
        return True


def parse_head(head: bytes) -> tuple[int, dict[str, str]] | None:
    """Return status and headers of a response, repaired like those of a live one. None if they cannot be read."""
    collector, parser = _Collector(), ResponseParser()
    parser.begin(collector, head_only=True)
    problem = parser.feed(head)
    return None if problem or not collector.status else (collector.status, collector.headers)


def is_whole(response: bytes) -> bool:
    """Return whether the bytes of a response contain its whole body. False if the body ends with the connection."""
    parser = ResponseParser()
    parser.begin(_Collector(), head_only=False)
    return not parser.feed(response) and parser.is_done


def remove_chunk_lines(body: bytes) -> bytes:
    """Return a body without chunk lines. If it is not chunked, it is unchanged, because many archives store it decoded.

    >>> remove_chunk_lines(b"5\\r\\nhello\\r\\n0\\r\\n\\r\\n"), remove_chunk_lines(b"hello"), remove_chunk_lines(b"ab")
    (b'hello', b'hello', b'ab')
    """
    collector, parser = _Collector(), ResponseParser()
    parser.begin(collector, head_only=False)
    parser.feed(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + body)
    return bytes(collector.body) if collector.body or parser.is_done else body


def _new_parser(caller: ResponseParser) -> HttpResponseParser:
    parser = HttpResponseParser(caller)
    # Browsers accept these faults. Only the second one moves the end of a response, see `_find_body_end`.
    parser.set_dangerous_leniencies(
        lenient_headers=True,
        lenient_chunked_length=True,
        lenient_optional_cr_before_lf=True,
        lenient_spaces_after_chunk_size=True,
    )
    return parser


def join_headers(headers: list[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return the headers with lower-case names, repeated ones joined. Raise ValueError for implausible headers."""
    found: dict[str, str] = {}
    for name, value in headers:
        if len(name) + len(value) > _MAX_HEADER_BYTES:
            raise ValueError(f"a header of more than {_MAX_HEADER_BYTES} bytes")
        if b"\0" in value:
            raise ValueError("a null byte in a header")
        key = _lower(name)
        text = value.rstrip(b" \t").decode() if value.isascii() else _decode_value(key, value)
        if key in found and key not in _SINGLE_VALUED:
            text = f"{found[key]}, , {text}" if key == _ROBOTS_TAG else f"{found[key]}, {text}"
        found[key] = text
    return found


@lru_cache(maxsize=1024)
def _lower(name: bytes) -> str:
    return name.decode("latin-1").lower()


def _decode_value(key: str, value: bytes) -> str:
    """Decode a header value: as UTF-8 if it is valid, else as Latin-1. In URLs, other bytes are percent-encoded."""
    value = value.rstrip(b" \t")
    try:
        return value.decode()
    except UnicodeDecodeError:
        text = value.decode("latin-1")
    if key not in _URL_HEADERS:
        return text
    return "".join(character if character.isascii() else f"%{ord(character):02X}" for character in text)
