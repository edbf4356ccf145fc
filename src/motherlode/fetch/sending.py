"""Requests as bytes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from motherlode.fetch.unpack import ACCEPTED
from motherlode.model import Request, RequestKind
from motherlode.www.media import ACCEPT


class Sender:
    """Writes requests; the fields that are the same in all of them are written once."""

    def __init__(self, always: Mapping[str, str]) -> None:
        self._always = _written({**always, "Accept-Encoding": ACCEPTED})

    def written(self, request: Request, *, target: str, authority: str) -> bytes:
        """The request with all its headers and, for a POST, its body."""
        own = _written(_own_fields(request))
        head = f"{_method(request)} {target} HTTP/1.1\r\nHost: {authority}\r\n{self._always}{own}\r\n".encode()
        return head if request.posting is None else head + request.posting.body


def is_head(request: Request) -> bool:
    return request.kind is RequestKind.PROBE


def _method(request: Request) -> str:
    if is_head(request):
        return "HEAD"
    return "GET" if request.posting is None else "POST"


def _own_fields(request: Request) -> dict[str, str]:
    fields = {"Accept": request.accept or ACCEPT}
    if request.posting is not None:
        fields.update(request.posting.headers)
        fields["Content-Length"] = str(len(request.posting.body))
    if request.etag:
        fields["If-None-Match"] = request.etag
    if request.last_modified:
        fields["If-Modified-Since"] = request.last_modified
    return fields


def _written(fields: Mapping[str, str]) -> str:
    return "".join([_field(name, value) for name, value in fields.items()])


@lru_cache(maxsize=256)
def _field(name: str, value: str) -> str:
    """One line. Some values come from servers: none of them may begin another line."""
    field = f"{name}: {value}"
    if any(character in field for character in "\r\n\0"):
        raise ValueError(f"{name} has a line break")
    return f"{field}\r\n"
