"""What a status line means, and whether a body can be of any use. Shared by the live and the recorded web."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from http import HTTPStatus

from motherlode.model import ContentKind, Failure, FailureKind
from motherlode.www.media import by_media_type, essence, fits
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
