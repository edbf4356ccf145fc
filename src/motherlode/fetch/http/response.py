"""What a status line means, and whether a body can be of any use. Shared by the live and the recorded web."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from http import HTTPStatus
from io import BytesIO
from typing import Protocol

from motherlode.fetch.http.decoding import UNPACK_ERRORS, Brotli, deflate, gzip, zstd
from motherlode.fetch.http.errors import described
from motherlode.model import ContentKind, Failure, FailureKind, Fetched, Page, Request, RequestKind
from motherlode.www.media_types import by_media_type, essence, fits
from motherlode.www.urls import resolve, resolve_as_written

_REDIRECTS = frozenset({300, 301, 302, 303, 307, 308})
"""300 too: its Location is the server's own choice (RFC 9110, 15.4.1). Not 305, which names a proxy."""
_BY_STATUS = {
    304: FailureKind.NOT_MODIFIED,
    401: FailureKind.FORBIDDEN,
    402: FailureKind.FORBIDDEN,
    403: FailureKind.FORBIDDEN,
    404: FailureKind.NOT_FOUND,
    407: FailureKind.FORBIDDEN,
    408: FailureKind.SERVER_ERROR,
    410: FailureKind.NOT_FOUND,
    421: FailureKind.SERVER_ERROR,
    425: FailureKind.SERVER_ERROR,
    429: FailureKind.TOO_MANY,
    451: FailureKind.FORBIDDEN,
    503: FailureKind.UNAVAILABLE,
    509: FailureKind.UNAVAILABLE,
    529: FailureKind.UNAVAILABLE,
}
"""408, 421 and 425 say nothing of the page: the same request may do over another connection, or later (RFC 9110, 15.5.9
and 15.5.20; RFC 8470, 5.2). 509 and 529 stand in no RFC: hosters answer so where a site has had too many requests."""
_BY_HUNDRED = {1: FailureKind.PROTOCOL, 3: FailureKind.REDIRECT_BROKEN, 4: FailureKind.CLIENT_ERROR}
"""All else is the server's error, numbers that mean nothing too (RFC 9110, 15)."""
_SECONDS = re.compile(r"([0-9]+)(?:\.[0-9]*)?\s*(?:s|secs?|seconds?)?", re.IGNORECASE)
"""A number as the standard wants it, or as some servers write it nevertheless."""
_UNKNOWN_BINARY = "application/octet-stream"
_CODE_TYPES = frozenset({"text/css", "text/javascript", "application/javascript", "application/x-javascript"})
_TEXT_STARTS = (b"<", b"@prefix", b"@base", b"prefix ", b"{", b"[")
USELESS_AFTER = 64
"""So many bytes of a body are enough for `is_useless`."""


def failure_from_status(url: str, status: int, headers: Mapping[str, str]) -> Failure | None:
    """The failure that an answer's status means; None for a page (2xx)."""
    if 200 <= status < 300:
        return None
    if status in _REDIRECTS:
        return _redirect(url, status, headers)
    wait = retry_after(headers.get("retry-after", ""), date=headers.get("date", ""))
    return Failure(
        url=url,
        kind=_kind_of(status, wait),
        detail=f"the server answered {status}",
        status=status,
        retry_after=wait,
        headers=headers,
    )


def _kind_of(status: int, wait: float | None) -> FailureKind:
    """What a status means that is neither a page nor a redirect. What is forbidden only for a while is no rule but a
    limit of requests, which large sites tell in this way, too.

    >>> _kind_of(403, None).value, _kind_of(403, 60.0).value
    ('forbidden', 'too-many-requests')
    """
    if status == HTTPStatus.FORBIDDEN and wait:
        return FailureKind.TOO_MANY
    return _BY_STATUS.get(status) or _BY_HUNDRED.get(status // 100, FailureKind.SERVER_ERROR)


def _redirect(url: str, status: int, headers: Mapping[str, str]) -> Failure:
    given = headers.get("location", "")
    location = resolve(url, given) if given else None
    if location == url:  # there may be a session in it, without which the server would send us round and round
        location = resolve_as_written(url, given)
    if location is None or location == url:
        detail = f"{status} without a usable Location ({given!r})"
        return Failure(url=url, kind=FailureKind.REDIRECT_BROKEN, detail=detail, status=status, headers=headers)
    return Failure(
        url=url,
        kind=FailureKind.REDIRECT,
        detail=f"{status} to {location}",
        status=status,
        location=location,
        headers=headers,
    )


def retry_after(value: str, *, date: str = "") -> float | None:
    """Seconds that a Retry-After header asks for, as a number or a date (RFC 9110, 10.2.3).

    A date is meant by the server's own clock, which its Date header tells.

    >>> retry_after("120")
    120.0
    >>> retry_after("Thu, 01 Jan 2026 00:01:00 GMT", date="Thu, 01 Jan 2026 00:00:00 GMT")
    60.0
    """
    seconds = _SECONDS.fullmatch(value.strip())
    if seconds:
        return float(seconds[1][:9])
    when = _moment(value) if value else None
    if when is None:
        return None
    now = _moment(date) or datetime.now(UTC)
    return max(0.0, (when - now).total_seconds())


def _moment(value: str) -> datetime | None:
    from email.utils import parsedate_to_datetime  # takes 15 ms to load, and few servers name a date

    try:
        when = parsedate_to_datetime(value)
    except (ValueError, OverflowError):  # a year of twenty digits overflows
        return None
    return when if when.tzinfo is not None else when.replace(tzinfo=UTC)


def is_useless(content_type: str, head: bytes) -> bool:
    """True where both the announced type and the first bytes say that neither facts nor links can come of a body.

    >>> is_useless("image/png", b"\\x89PNG"), is_useless("image/png", b"<html>"), is_useless("image/svg+xml", b"")
    (True, False, False)
    """
    if not is_suspect(content_type):
        return False
    return not head.lstrip(b"\xef\xbb\xbf \t\r\n")[:USELESS_AFTER].lower().startswith(_TEXT_STARTS)


def is_useful(content_type: str, useful: tuple[str, ...]) -> bool:
    """Whether the user has a reader of his own for the type, or for its family.

    >>> is_useful("image/png; x=y", ("image/*",)), is_useful("image/png", ("image/gif",))
    (True, False)
    """
    media_type = essence(content_type)
    return any(fits(pattern, media_type) for pattern in useful)


@lru_cache(maxsize=1024)
def is_suspect(content_type: str) -> bool:
    """True where a body of the announced type is useless unless its first bytes contradict.

    >>> is_suspect("image/png"), is_suspect("text/html")
    (True, False)
    """
    media_type = essence(content_type)
    if media_type == _UNKNOWN_BINARY:
        return False
    return media_type in _CODE_TYPES or by_media_type(media_type) is ContentKind.BINARY


# ── Content encodings undone piece by piece, with a limit on what comes out: a bomb costs no more than a page.

ACCEPTED = "gzip, deflate, br, zstd"

_CHAIN_STEP = 1 << 16
_CHAIN_SLACK = 1 << 20
_CHAIN_SHARE = 8
"""Bytes that may pass from one coding to the next: so many, and so many for each that comes in."""
_MOST_CODINGS = 4
_SLACK = 1 << 16
_NO_CODINGS = ("none", "utf-8", "utf8", "iso-8859-1", "binary", "8bit", "aws-chunked")
"""What servers write who take it for the charset, or want to say that there is no coding. Browsers pass it over. The
last is a coding of uploads, which some object stores go on to announce."""


def most_packed(most: int) -> int:
    """How many packed bytes are enough for so many unpacked ones: packing makes nothing longer, but for some framing.

    >>> most_packed(1 << 20)
    1245184
    """
    return most + most // 8 + _SLACK


class Decoder(Protocol):
    """Takes packed bytes; gives at most `most` unpacked ones, and keeps the rest for the next call."""

    @property
    def whole(self) -> bool:
        """The packed stream has come to an end, so that nothing is missing even if no more comes."""

    @property
    def ended(self) -> bool:
        """Nothing more will come out, whatever goes in."""

    def feed(self, data: bytes, most: int) -> bytes: ...


class IdentityDecoder:
    """No coding, or one that nobody knows. Where the body ends, only the connection can tell."""

    whole = False
    ended = False

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes, most: int) -> bytes:
        if self._rest or len(data) > most:
            data = self._rest + data
            self._rest = data[most:]
        return data[:most]


class _Chain:
    """One coding around another. What passes between them is bounded like what comes in: what was packed once does not
    shrink much when it is packed again, so that only a bomb passes more."""

    def __init__(self, outer: Decoder, inner: Decoder) -> None:
        self._outer = outer
        self._inner = inner
        self._most = 0
        """Bytes that may pass, whatever comes in. The first call says how many are wanted at all."""
        self._came = self._passed = 0
        self._is_full = False

    @property
    def whole(self) -> bool:
        return self._inner.whole

    @property
    def ended(self) -> bool:
        return self._inner.ended or self._is_full

    def feed(self, data: bytes, most: int) -> bytes:
        self._came += len(data)
        self._most = self._most or most_packed(most)
        room = min(self._most, _CHAIN_SLACK + _CHAIN_SHARE * self._came) - self._passed
        out = bytearray()
        has_more = not self._is_full
        while has_more and len(out) < most and not self._inner.ended:
            between = self._outer.feed(data, min(_CHAIN_STEP, room))
            data = b""
            room -= len(between)
            self._passed += len(between)
            has_more = len(between) == _CHAIN_STEP
            out += self._inner.feed(between, most - len(out))
        self._is_full = self._is_full or room == 0
        return bytes(out)


_MAKERS: dict[str, Callable[[], Decoder]] = {
    **dict.fromkeys(("", "identity", *_NO_CODINGS), IdentityDecoder),
    "gzip": gzip,
    "x-gzip": gzip,
    "deflate": deflate,
    "br": Brotli,
    "zstd": zstd,
}


def codings_of(headers: Mapping[str, str]) -> str:
    """What was done to a body, in this order: content codings, then transfer codings but for the chunks.

    Unknown codings of the transfer are left out: browsers know none at all, and servers that use some are few.

    >>> codings_of({"content-encoding": "br", "transfer-encoding": "gzip, chunked"})
    'br, gzip'
    """
    content, transfer = headers.get("content-encoding", ""), headers.get("transfer-encoding", "chunked").lower()
    if transfer == "chunked":
        return content
    others = [name for name in map(str.strip, transfer.split(",")) if name in _MAKERS]
    return ", ".join(filter(None, (content, *others)))


def decoder_for(codings: str) -> Decoder | None:
    """What undoes a Content-Encoding, or several (RFC 9110, 8.4); None where nobody here knows one of them.

    >>> import zlib
    >>> unpacker_for("gzip").feed(zlib.compress(b"hello", wbits=31), 3)
    b'hel'
    """
    maker = _MAKERS.get(codings.strip().lower())
    if maker is not None:
        return maker()
    makers = [_MAKERS.get(name.strip()) for name in codings.lower().split(",")]
    if len(makers) > _MOST_CODINGS:
        return None
    chain: Decoder | None = None
    for maker in makers:  # the one that was applied last is undone first
        if maker is None:
            return None
        if maker is not IdentityDecoder:
            chain = maker() if chain is None else _Chain(maker(), chain)
    return chain or IdentityDecoder()


# ── What an answer comes to, piece by piece: a page, or a failure as soon as that is certain.

_JUDGED = frozenset({RequestKind.PAGE, RequestKind.PROBE})
"""Requests whose answer may turn out to be useless."""
_HEAD = 512
"""Bytes that `is_useless` looks at."""
_PADDING_MOST = 1 << 14
"""Bytes behind the end of a packed stream that are waited for, so that the connection can be used again."""


class ResponseReader:
    """Takes the answer to one request: unpacks its body, up to a limit, and judges by its beginning."""

    def __init__(self, request: Request, *, most: int, useful: tuple[str, ...]) -> None:
        self.peer = ""
        self.wire_bytes = 0
        self.may_be_cut = False
        """Nobody can tell whether all of the body came."""
        self._request = request
        self._most = most
        """Bytes of a body; one more is taken, to know that there is more."""
        self._wire_most = most_packed(most)
        self._useful = useful
        self._status = 0
        self._headers: dict[str, str] = {}
        self._unpacker: Decoder | None = None
        self._body = BytesIO()
        self._size = 0
        self._ended = False
        """The packed stream has come to its end."""
        self._suspect = False
        """The type says that the body is useless, and its first bytes have not been seen yet."""
        self._failure: Failure | None = None

    def head(self, status: int, headers: dict[str, str]) -> bool:
        self._status, self._headers = status, headers
        self._failure = failure_from_status(self._request.url, status, headers)
        if self._failure is not None:
            return False
        # Where one coding is unknown, none is undone, as in browsers: most such servers have packed nothing at all.
        self._unpacker = decoder_for(codings_of(headers)) or IdentityDecoder()
        content_type = headers.get("content-type", "")
        self._suspect = (
            is_suspect(content_type) and self._request.kind in _JUDGED and not is_useful(content_type, self._useful)
        )
        return True

    @property
    def is_whole(self) -> bool:
        """Nothing is missing, even if the server breaks off here."""
        return self._failure is None and self._unpacker is not None and self._unpacker.whole

    def piece(self, data: bytes) -> bool:
        unpacker = self._unpacker
        assert unpacker is not None  # else no body was wanted
        self.wire_bytes += len(data)
        try:
            plain = unpacker.feed(data, self._most + 1 - self._size)
        except UNPACK_ERRORS as error:
            self._failure = Failure(url=self._request.url, kind=FailureKind.PROTOCOL, detail=described(error))
            return False
        self._body.write(plain)
        self._size += len(plain)
        if self._suspect and self._size >= USELESS_AFTER:
            self._judge()
        if unpacker.ended and not self._ended:
            self._ended = True
            self._wire_most = min(self._wire_most, self.wire_bytes + _PADDING_MOST)
        return self._failure is None and self._size <= self._most and self.wire_bytes <= self._wire_most

    def result(self, *, began: float, elapsed: float, address: str) -> Fetched:
        """The page or the failure, once the answer is there."""
        if self._suspect and self._failure is None:
            self._judge()  # it was too short to be judged before
        if self._failure is not None:
            return replace(
                self._failure, address=address, fetched_at=began, elapsed=elapsed, wire_bytes=self.wire_bytes
            )
        body = self._body.getvalue()
        truncated = len(body) > self._most or (self._is_cut and not self.is_whole)
        return Page(
            url=self._request.url,
            status=self._status,
            headers=self._headers,
            body=body[: self._most] if len(body) > self._most else body,
            truncated=truncated,
            address=address,
            fetched_at=began,
            elapsed=elapsed,
            wire_bytes=self.wire_bytes,
        )

    @property
    def _is_cut(self) -> bool:
        """What followed was left, or lost."""
        return self.may_be_cut or self._ended or self.wire_bytes > self._wire_most

    def _judge(self) -> None:
        self._suspect = False
        content_type = self._headers.get("content-type", "")
        if is_useless(content_type, self._body.getvalue()[:_HEAD]):
            self._fail(FailureKind.USELESS, f"nothing can come of {content_type}")

    def _fail(self, kind: FailureKind, detail: str) -> None:
        self._failure = Failure(
            url=self._request.url, kind=kind, detail=detail, status=self._status, headers=self._headers
        )
