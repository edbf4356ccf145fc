"""What an answer comes to, piece by piece: a page, or a failure as soon as that is certain."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO

from motherlode.fetch.answers import USELESS_AFTER, failure_from_status, is_suspect, is_useful, is_useless
from motherlode.fetch.trouble import described
from motherlode.fetch.unpack import UNPACK_ERRORS, AsItIs, Unpacker, codings_of, most_packed, unpacker_for
from motherlode.model import Failure, FailureKind, Fetched, Page, Request, RequestKind

_JUDGED = frozenset({RequestKind.PAGE, RequestKind.PROBE})
"""Requests whose answer may turn out to be useless."""
_HEAD = 512
"""Bytes that `is_useless` looks at."""
_PADDING_MOST = 1 << 14
"""Bytes behind the end of a packed stream that are waited for, so that the connection can be used again."""


class Intake:
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
        self._unpacker: Unpacker | None = None
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
        self._unpacker = unpacker_for(codings_of(headers)) or AsItIs()
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
