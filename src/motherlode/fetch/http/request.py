"""Where a request for a URL goes: the origin that is connected to, and the target that it is asked for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from ipaddress import ip_address
from typing import NamedTuple

from motherlode.fetch.http.response import ACCEPTED
from motherlode.model import Request, RequestKind
from motherlode.www.media_types import ACCEPT
from motherlode.www.urls import canonical, host_of

_PARTS = re.compile(r"(https?://[^/?#\\]*)([^#\r\n\0]*)(?:#|\Z)")
"""Origin and target. A line break in the target would end the request line, so that such a URL has no target."""


class Origin(NamedTuple):
    """A tuple, because it is part of a key that every request looks up."""

    secure: bool
    host: str
    """A name in the form that DNS knows, or an address without brackets."""
    port: int
    authority: str
    """Host and, where it is not the default, port: as in a Host header."""
    is_address: bool


def split(url: str) -> tuple[Origin, str]:
    """The origin of an http(s) URL and the target as it was written; a user and a fragment go nowhere.

    >>> origin, target = split("https://ann:secret@Example.org:8443?x=%7B{#top")
    >>> origin.authority, origin.port, target
    ('example.org:8443', 8443, '/?x=%7B{')
    """
    parts = _PARTS.match(url)
    if parts is None:
        raise ValueError(f"{url!r} cannot be asked for")
    target = parts[2]
    return origin(parts[1]), target if target.startswith("/") else f"/{target}"


@lru_cache(maxsize=1 << 14)
def origin(url: str) -> Origin:
    """The origin that a URL without path begins with."""
    address = canonical(url)
    if address is None:
        raise ValueError(f"{url!r} names no host")
    secure = address.startswith("https:")
    authority = host_of(address)
    name, _, port = authority.partition(":")
    if authority.startswith("["):
        name, _, port = authority[1:].partition("]")
        port = port.removeprefix(":")
    return Origin(
        secure=secure,
        host=name,
        port=int(port) if port else 443 if secure else 80,
        authority=authority,
        is_address=_is_address(name),
    )


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


# ── Requests as bytes.


class RequestWriter:
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
