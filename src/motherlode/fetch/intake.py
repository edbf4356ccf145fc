"""What an answer comes to, piece by piece: a page, or a failure as soon as that is certain."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO

from motherlode.fetch.answers import USELESS_AFTER, failure_from_status, is_suspect, is_useless
from motherlode.fetch.trouble import described
from motherlode.fetch.unpack import UNPACK_ERRORS, Unpacker, codings_of, unpacker_for
from motherlode.model import Failure, FailureKind, Fetched, Page, Request, RequestKind
from motherlode.www.media import essence

_JUDGED = frozenset({RequestKind.PAGE, RequestKind.PROBE})
"""Requests whose answer may turn out to be useless."""
_HEAD = 512
"""Bytes that `is_useless` looks at."""


class Intake:
    """Takes the answer to one request: unpacks its body, up to a limit, and judges by its beginning."""

    def __init__(self, request: Request, *, most: int, useful: tuple[str, ...]) -> None:
        self.peer = ""
        self.wire_bytes = 0
        self._request = request
        self._most = most
        """Bytes of a body; one more is taken, to know that there is more."""
        self._useful = useful
        self._status = 0
        self._headers: dict[str, str] = {}
        self._unpacker: Unpacker | None = None
        self._body = BytesIO()
        self._size = 0
        self._suspect = False
        """The type says that the body is useless, and its first bytes have not been seen yet."""
        self._failure: Failure | None = None

    def head(self, status: int, headers: dict[str, str]) -> bool:
        self._status, self._headers = status, headers
        self._failure = failure_from_status(self._request.url, status, headers)
        if self._failure is not None:
            return False
        codings = codings_of(headers)
        self._unpacker = unpacker_for(codings)
        if self._unpacker is None:
            self._fail(FailureKind.PROTOCOL, f"unknown Content-Encoding {codings!r}")
            return False
        content_type = headers.get("content-type", "")
        self._suspect = (
            is_suspect(content_type) and self._request.kind in _JUDGED and not is_useful(content_type, self._useful)
        )
        return True

    def piece(self, data: bytes) -> bool:
        assert self._unpacker is not None  # else no body was wanted
        self.wire_bytes += len(data)
        try:
            plain = self._unpacker.feed(data, self._most + 1 - self._size)
        except UNPACK_ERRORS as error:
            self._failure = Failure(url=self._request.url, kind=FailureKind.PROTOCOL, detail=described(error))
            return False
        self._body.write(plain)
        self._size += len(plain)
        if self._suspect and self._size >= USELESS_AFTER:
            self._judge()
        return self._failure is None and self._size <= self._most

    def result(self, *, began: float, elapsed: float, address: str) -> Fetched:
        """The page or the failure, once the answer is there."""
        if self._suspect and self._failure is None:
            self._judge()  # it was too short to be judged before
        if self._failure is not None:
            return replace(
                self._failure, address=address, fetched_at=began, elapsed=elapsed, wire_bytes=self.wire_bytes
            )
        body = self._body.getvalue()
        truncated = len(body) > self._most
        return Page(
            url=self._request.url,
            status=self._status,
            headers=self._headers,
            body=body[: self._most] if truncated else body,
            truncated=truncated,
            address=address,
            fetched_at=began,
            elapsed=elapsed,
            wire_bytes=self.wire_bytes,
        )

    def _judge(self) -> None:
        self._suspect = False
        content_type = self._headers.get("content-type", "")
        if is_useless(content_type, self._body.getvalue()[:_HEAD]):
            self._fail(FailureKind.USELESS, f"nothing can come of {content_type}")

    def _fail(self, kind: FailureKind, detail: str) -> None:
        self._failure = Failure(
            url=self._request.url, kind=kind, detail=detail, status=self._status, headers=self._headers
        )


def is_useful(content_type: str, useful: tuple[str, ...]) -> bool:
    """Whether the user named the type, or its family.

    >>> is_useful("image/png; x=y", ("image/*",)), is_useful("image/png", ("image/gif",))
    (True, False)
    """
    media_type = essence(content_type)
    family = f"{media_type.partition('/')[0]}/*"
    return any(named in (media_type, family, "*/*") for named in useful)
