"""Where a request for a URL goes: the origin that is connected to, and the target that it is asked for."""

from __future__ import annotations

import re
from functools import lru_cache
from ipaddress import ip_address
from typing import NamedTuple

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
