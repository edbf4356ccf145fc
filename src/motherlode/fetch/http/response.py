"""Turn a response into a page or a failure. The HTTP client and the replay of WARC files share this code."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from http import HTTPStatus
from io import BytesIO

from motherlode.fetch.http.decoding import DECODE_ERRORS, Decoder, content_codings, decoder_for, max_encoded_bytes
from motherlode.fetch.http.errors import describe_error
from motherlode.fetch.http.parser import BLANK_LINE
from motherlode.model import ContentKind, Failure, FailureKind, Fetched, Page, Request, RequestKind
from motherlode.www.challenges import MAX_CHALLENGE_BYTES, find_challenge, may_be_challenge
from motherlode.www.media_types import by_media_type, essence, fits
from motherlode.www.urls import resolve, resolve_as_written

_REDIRECT_STATUSES = frozenset({300, 301, 302, 303, 307, 308})
"""Statuses whose Location is followed: also 300 (the server's choice, RFC 9110, 15.4.1), not 305 (a proxy)."""
_STATUSES_BY_KIND = {
    FailureKind.NOT_MODIFIED: (304,),
    FailureKind.FORBIDDEN: (401, 402, 403, 407, 451),
    FailureKind.NOT_FOUND: (404, 410),
    FailureKind.SERVER_ERROR: (408, 421, 425),
    FailureKind.TOO_MANY: (429,),
    FailureKind.UNAVAILABLE: (503, 509, 529),
}
"""Kind of failure → statuses that mean it. 408, 421 and 425 say nothing about the page: the same request may succeed
over another connection, or later (RFC 9110, 15.5.9 and 15.5.20; RFC 8470, 5.2). 509 and 529 are in no RFC: hosting
services send them to limit requests."""
_KIND_BY_STATUS = {status: kind for kind, statuses in _STATUSES_BY_KIND.items() for status in statuses}
_KIND_BY_CLASS = {1: FailureKind.PROTOCOL, 3: FailureKind.REDIRECT_BROKEN, 4: FailureKind.CLIENT_ERROR}
"""First digit of a status → kind of failure. Any other status, also an undefined one, is a server error."""
_SECONDS = re.compile(r"([0-9]+)(?:\.[0-9]*)?\s*(?:s|secs?|seconds?)?", re.IGNORECASE)
"""Seconds in a Retry-After header: a number, or one with a fraction or a unit, as some servers write it."""
_UNKNOWN_BINARY = "application/octet-stream"
_CODE_TYPES = frozenset({"text/css", "text/javascript", "application/javascript", "application/x-javascript"})
_TEXT_STARTS = (b"<", b"@prefix", b"@base", b"prefix ", b"{", b"[")
_MAX_LENGTH_DIGITS = 20
"""A Content-Length with more digits is no length."""
SNIFF_BYTES = 64
"""Bytes of a body that suffice for `is_useless`."""


def failure_from_status(url: str, status: int, headers: Mapping[str, str]) -> Failure | None:
    """Return the failure that a status means, or None for a page (2xx)."""
    if 200 <= status < 300:
        return None
    location, wait = "", None
    if status in _REDIRECT_STATUSES:
        given = headers.get("location", "")
        location = _redirect_target(url, given)
        kind = FailureKind.REDIRECT if location else FailureKind.REDIRECT_BROKEN
        detail = f"{status} to {location}" if location else f"{status} without a usable Location ({given!r})"
    else:
        wait = parse_retry_after(headers.get("retry-after", ""), date=headers.get("date", ""))
        kind = _KIND_BY_STATUS.get(status) or _KIND_BY_CLASS.get(status // 100, FailureKind.SERVER_ERROR)
        if status == HTTPStatus.FORBIDDEN and wait:
            kind = FailureKind.TOO_MANY  # some large sites limit their requests in this way
        detail = f"the server answered {status}"
    return Failure(
        url=url, kind=kind, detail=detail, status=status, location=location, retry_after=wait, headers=headers
    )


def _redirect_target(url: str, given: str) -> str:
    """Return the target of a Location header, or "" if it has none or leads to the same URL."""
    location = resolve(url, given) if given else None
    if location == url:  # canonicalization may have removed a session id, without which the server redirects endlessly
        location = resolve_as_written(url, given)
    return location if location and location != url else ""


def parse_retry_after(value: str, *, date: str = "") -> float | None:
    """Return the seconds of a Retry-After header: a number or a date (RFC 9110, 10.2.3). None if it is neither.

    A date counts from the server's own clock, which is in its Date header.
    """
    seconds = _SECONDS.fullmatch(value.strip())
    if seconds:
        return float(seconds[1][:9])
    when = _parse_date(value) if value else None
    if when is None:
        return None
    now = _parse_date(date) or datetime.now(UTC)
    return max(0.0, (when - now).total_seconds())


def _parse_date(value: str) -> datetime | None:
    from email.utils import parsedate_to_datetime  # takes 15 ms to import, and few servers send a date

    try:
        when = parsedate_to_datetime(value)
    except (ValueError, OverflowError):  # a year of twenty digits overflows
        return None
    return when if when.tzinfo is not None else when.replace(tzinfo=UTC)


def is_useless(content_type: str, head: bytes) -> bool:
    """Return true if both the content type and the first bytes say that a body contains neither data nor links."""
    if not is_suspect(content_type):
        return False
    return not head.lstrip(b"\xef\xbb\xbf \t\r\n")[:SNIFF_BYTES].lower().startswith(_TEXT_STARTS)


def is_useful(content_type: str, useful: tuple[str, ...]) -> bool:
    """Return whether the user has an extractor for the media type, or for its family."""
    media_type = essence(content_type)
    return any(fits(pattern, media_type) for pattern in useful)


@lru_cache(maxsize=1024)
def is_suspect(content_type: str) -> bool:
    """Return true if a body of this content type is useless unless its first bytes show otherwise."""
    media_type = essence(content_type)
    if media_type == _UNKNOWN_BINARY:
        return False
    return media_type in _CODE_TYPES or by_media_type(media_type) is ContentKind.BINARY


def announced_bytes(headers: Mapping[str, str]) -> int:
    """Return the length of a body by its Content-Length; 0 if it is unknown. It is ignored if there are chunks.

    >>> announced_bytes({"content-length": "12"}), announced_bytes({"content-length": "12, 12"})
    (12, 12)
    >>> announced_bytes({"content-length": "12", "transfer-encoding": "chunked"}), announced_bytes({})
    (0, 0)
    """
    length = headers.get("content-length", "").partition(",")[0].strip()
    is_number = length.isascii() and length.isdecimal() and len(length) < _MAX_LENGTH_DIGITS
    return int(length) if is_number and "transfer-encoding" not in headers else 0


_CHECKED_KINDS = frozenset({RequestKind.PAGE, RequestKind.PROBE})
"""Requests whose response may turn out to be useless."""
_MAX_SNIFF_BYTES = 512
"""Maximum number of bytes passed to `is_useless`, which first skips white space."""
_MAX_PADDING_BYTES = 1 << 14
"""Bytes after the end of an encoded stream that are awaited, so that the connection can be reused."""
MAX_FAILURE_BODY_BYTES = 1 << 16
"""Maximum number of encoded bytes of the body of a failure that are read."""
_INTERIM_STATUS = re.compile(rb"HTTP/[0-9.]+[ \t]+1(?!01)[0-9]{2}", re.IGNORECASE)


class ResponseReader:
    """Receives the response to one request: decodes its body up to a limit, and ends early if it is useless."""

    def __init__(
        self, request: Request, *, max_body_bytes: int, useful: tuple[str, ...], keep_wire: bool = False
    ) -> None:
        self.peer = ""
        self.wire = bytearray() if keep_wire else None
        """All bytes of the response as they arrived, if they are archived. The connection adds to them."""
        self.wire_bytes = 0
        self.may_be_cut = False
        """True if the connection ended in a way that does not show whether the body is complete."""
        self._request = request
        self._max_body_bytes = max_body_bytes
        """Limit of the body. One more byte is read, to know that there is more."""
        self._max_wire_bytes = sys.maxsize
        """Limit of the encoded body."""
        self._useful = useful
        self._status = 0
        self._headers: dict[str, str] = {}
        self._decoder: Decoder | None = None
        self._body = BytesIO()
        self._size = 0
        self._is_stream_ended = False
        """True if the encoded stream has ended."""
        self._is_suspect = False
        """True if the body is useless by its content type and its first bytes have not been checked yet."""
        self._announced_bytes = 0
        """The Content-Length of a page; 0 if it is unknown."""
        self._failure: Failure | None = None
        self._is_failure_read = False
        """True if the status is a failure whose encoded body is read: for the archive, or because it may be a
        challenge."""

    def receive_head(self, status: int, headers: dict[str, str]) -> bool:
        self._status, self._headers = status, headers
        self._failure = failure_from_status(self._request.url, status, headers)
        if self._failure is not None:
            self._is_failure_read = self.wire is not None or may_be_challenge(status, headers)
            return self._is_failure_read
        if "content-encoding" in headers or "transfer-encoding" in headers:
            self._decoder = decoder_for(content_codings(headers))
            self._max_wire_bytes = max_encoded_bytes(self._max_body_bytes)
        content_type = headers.get("content-type", "")
        self._is_suspect = (
            self._request.kind in _CHECKED_KINDS
            and is_suspect(content_type)
            and not is_useful(content_type, self._useful)
        )
        if self._request.kind in _CHECKED_KINDS:
            self._announced_bytes = announced_bytes(headers)
        if not self._is_suspect:  # otherwise the first bytes may show that the body is useless, which says more
            self._check_length()
        return self._failure is None

    def _check_length(self) -> None:
        """Fail if the body is longer than the limit. A body of unknown length is read up to the limit."""
        if self._announced_bytes > self._max_body_bytes:
            self._failure = Failure(
                url=self._request.url,
                kind=FailureKind.TOO_LARGE,
                detail=f"its {self._announced_bytes} bytes are above the limit of {self._max_body_bytes}; see max_body",
                status=self._status,
                headers=self._headers,
            )

    @property
    def is_slow(self) -> bool:
        """True if decoding takes much time for few bytes."""
        return self._decoder is not None and self._decoder.is_slow

    @property
    def is_complete(self) -> bool:
        """True if the response is complete, even if the connection breaks now."""
        if self._is_failure_read:
            return True
        return self._failure is None and self._decoder is not None and self._decoder.is_complete

    def receive_body(self, data: bytes) -> bool:
        decoder, room = self._decoder, self._max_body_bytes + 1 - self._size
        self.wire_bytes += len(data)
        if self._is_failure_read:
            self._body.write(data)
            return self.wire_bytes < MAX_FAILURE_BODY_BYTES
        try:
            decoded = data[:room] if decoder is None else decoder.feed(data, room)
        except DECODE_ERRORS as error:
            self._failure = Failure(url=self._request.url, kind=FailureKind.PROTOCOL, detail=describe_error(error))
            return False
        self._body.write(decoded)
        self._size += len(decoded)
        if self._is_suspect and self._size >= SNIFF_BYTES:
            self._check_usefulness()
        if decoder is not None and decoder.is_finished and not self._is_stream_ended:
            self._is_stream_ended = True
            self._max_wire_bytes = min(self._max_wire_bytes, self.wire_bytes + _MAX_PADDING_BYTES)
        return self._failure is None and self._size <= self._max_body_bytes and self.wire_bytes <= self._max_wire_bytes

    def result(self, *, began: float, elapsed: float, address: str) -> Fetched:
        """Return the page or the failure, after the end of the response."""
        if self._is_suspect and self._failure is None:
            self._check_usefulness()  # the body was too short to be checked before
        self._check_challenge()
        if self._failure is not None:
            return replace(
                self._failure,
                address=address,
                fetched_at=began,
                elapsed=elapsed,
                wire_bytes=self.wire_bytes,
                wire=self._final_wire(MAX_FAILURE_BODY_BYTES),
            )
        body = self._body.getvalue()
        is_cut = self.may_be_cut or self._is_stream_ended or self.wire_bytes > self._max_wire_bytes
        truncated = len(body) > self._max_body_bytes or (is_cut and not self.is_complete)
        return Page(
            url=self._request.url,
            status=self._status,
            headers=self._headers,
            body=body[: self._max_body_bytes],
            truncated=truncated,
            address=address,
            fetched_at=began,
            elapsed=elapsed,
            wire_bytes=self.wire_bytes,
            wire=self._final_wire(sys.maxsize),
        )

    def _check_challenge(self) -> None:
        """Fail if the response is a challenge or block page. Failures that do not depend on the page remain."""
        if self._failure is not None and self._status < HTTPStatus.BAD_REQUEST:
            return
        product = find_challenge(self._status, self._headers, self._body_to_check())
        if product is None:
            return
        detail = f"the server answered {self._status} with a challenge or block page ({product.value})"
        failure = self._failure or Failure(url=self._request.url, kind=FailureKind.CHALLENGED)
        self._failure = replace(
            failure,
            kind=FailureKind.CHALLENGED,
            detail=detail,
            status=self._status,
            headers=self._headers,
            challenged_by=product,
        )

    def _body_to_check(self) -> bytes:
        """Return the decoded body if it is short enough for a challenge page, else b""."""
        body = self._body.getvalue() if self._body.tell() <= MAX_CHALLENGE_BYTES else b""
        decoder = decoder_for(content_codings(self._headers)) if self._is_failure_read else None
        if decoder is None:
            return body
        try:
            return decoder.feed(body, MAX_CHALLENGE_BYTES + 1)
        except DECODE_ERRORS:  # many archives decode a body and keep its Content-Encoding
            return body

    def _final_wire(self, max_body_bytes: int) -> bytes:
        """Return head and body of the final response as received.

        Interim responses (status 1xx) before it, and bytes after it, are left out.
        """
        if not self.wire:
            return b""
        wire = bytes(self.wire)
        start, end = 0, 0
        while not end or _INTERIM_STATUS.match(wire, start):
            start = end + len(wire[end:]) - len(wire[end:].lstrip(b"\r\n"))
            blank = BLANK_LINE.search(wire, start)
            if blank is None:
                return wire[start:]
            end = blank.end()
        return wire[start : end + min(max_body_bytes, self._max_archived_bytes())]

    def _max_archived_bytes(self) -> int:
        """Return where the body ends at the latest, so that bytes after the response are left out."""
        if self._request.kind is RequestKind.PROBE or self._status in (HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED):
            return 0
        has_length = "content-length" in self._headers and "transfer-encoding" not in self._headers
        return announced_bytes(self._headers) if has_length else sys.maxsize

    def _check_usefulness(self) -> None:
        self._is_suspect = False
        content_type = self._headers.get("content-type", "")
        if is_useless(content_type, self._body.getvalue()[:_MAX_SNIFF_BYTES]):
            self._failure = Failure(
                url=self._request.url,
                kind=FailureKind.USELESS,
                detail=f"nothing can come of {content_type}",
                status=self._status,
                headers=self._headers,
            )
        else:
            self._check_length()
