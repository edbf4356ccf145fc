"""Requests of the HTTP client: origin and target of a URL, and the serialized request."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from ipaddress import ip_address
from typing import NamedTuple

from motherlode.fetch.http.decoding import ACCEPT_ENCODING
from motherlode.model import Request, RequestKind
from motherlode.www.media_types import ACCEPT
from motherlode.www.urls import canonical, host_of

_PARTS = re.compile(r"(https?://[^/?#\\]*)([^#\r\n\0]*)(?:#|\Z)")
"""Origin and target. A URL with a line break does not match, because the break would end the request line."""


class Origin(NamedTuple):
    """Scheme, host and port. A tuple, because it is part of a key that every request looks up."""

    is_https: bool
    host: str
    """A host name as in DNS, or an IP address without brackets."""
    port: int
    authority: str
    """Host, and the port if it is not the default: the value of the Host header."""
    is_address: bool


def split_url(url: str) -> tuple[Origin, str]:
    """Return the origin of an http(s) URL and the request target as written. User name and fragment are dropped.

    >>> origin, target = split_url("https://ann:secret@Example.org:8443?x=%7B{#top")
    >>> origin.authority, origin.port, target
    ('example.org:8443', 8443, '/?x=%7B{')
    """
    parts = _PARTS.match(url)
    if parts is None:
        raise ValueError(f"{url!r} cannot be requested: it is not an http(s) URL, or it has a line break")
    target = parts[2]
    return parse_origin(parts[1]), target if target.startswith("/") else f"/{target}"


@lru_cache(maxsize=1 << 14)
def parse_origin(url: str) -> Origin:
    """Return the origin of a URL without a path."""
    address = canonical(url)
    if address is None:
        raise ValueError(f"{url!r} names no host")
    is_https = address.startswith("https:")
    authority = host_of(address)
    name, _, port = authority.partition(":")
    if authority.startswith("["):
        name, _, port = authority[1:].partition("]")
        port = port.removeprefix(":")
    return Origin(
        is_https=is_https,
        host=name,
        port=int(port) if port else 443 if is_https else 80,
        authority=authority,
        is_address=_is_address(name),
    )


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


class RequestWriter:
    """Serializes requests. Headers common to all requests are serialized once."""

    def __init__(self, common_headers: Mapping[str, str]) -> None:
        self._common = _serialize_headers({**common_headers, "Accept-Encoding": ACCEPT_ENCODING})

    def serialize(self, request: Request, *, target: str, authority: str) -> bytes:
        """Return the request with its headers and, for a POST, its body."""
        own = _serialize_headers(_request_headers(request))
        head = f"{_method(request)} {target} HTTP/1.1\r\nHost: {authority}\r\n{self._common}{own}\r\n".encode()
        return head if request.posting is None else head + request.posting.body


def is_head(request: Request) -> bool:
    return request.kind is RequestKind.PROBE


def _method(request: Request) -> str:
    if is_head(request):
        return "HEAD"
    return "GET" if request.posting is None else "POST"


def _request_headers(request: Request) -> dict[str, str]:
    headers = {"Accept": request.accept or ACCEPT}
    if request.posting is not None:
        headers.update(request.posting.headers)
        headers["Content-Length"] = str(len(request.posting.body))
    if request.etag:
        headers["If-None-Match"] = request.etag
    if request.last_modified:
        headers["If-Modified-Since"] = request.last_modified
    return headers


def _serialize_headers(headers: Mapping[str, str]) -> str:
    return "".join([_header_line(name, value) for name, value in headers.items()])


@lru_cache(maxsize=256)
def _header_line(name: str, value: str) -> str:
    """Return one header line. Some values come from servers, so a line break must not start another header."""
    line = f"{name}: {value}"
    if any(character in line for character in "\r\n\0"):
        raise ValueError(f"{name} has a line break")
    return f"{line}\r\n"
