"""Request headers that the user sends to named hosts only, such as keys and tokens."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from motherlode.www.urls import Origin

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_SECRET_NAME = re.compile(r"auth|cookie|key|token|secret|session|passw|signature", re.IGNORECASE)
_RESERVED_NAMES = frozenset(
    {
        *("host", "user-agent", "accept", "accept-encoding", "content-length", "content-type", "transfer-encoding"),
        *("connection", "keep-alive", "te", "trailer", "upgrade", "expect", "if-none-match", "if-modified-since"),
        *("proxy-authorization", "proxy-connection"),
    }
)
"""Headers that the client sends itself, or that change how a message is framed."""


class HostHeaders(NamedTuple):
    """Headers for the hosts of one pattern."""

    matches: Callable[[str], bool]
    """Takes a host, with its port if that is not the default."""
    headers: Mapping[str, str]
    https_only: bool = False
    """True if the headers are sent over https only."""


def check_header(name: str, value: str) -> str:
    """Return why a header cannot be sent, or "". The message does not contain the value, which may be secret."""
    if not _NAME.fullmatch(name):
        return f"{name!r} is not the name of a header"
    if name.lower() in _RESERVED_NAMES:
        return f"{name} cannot be set, because the client sets it itself"
    if not value or not value.isascii() or not value.isprintable():
        return f"the value of {name} must be printable ASCII characters"
    return ""


def is_secret(name: str) -> bool:
    """Return whether the value of a header is probably a secret.

    >>> [is_secret(name) for name in ("X-Api-Key", "Authorization", "Accept-Language")]
    [True, True, False]
    """
    return _SECRET_NAME.search(name) is not None


def headers_for(origin: Origin, rules: Iterable[HostHeaders]) -> dict[str, str]:
    """Return the user's headers for a request to an origin."""
    found: dict[str, str] = {}
    for rule in rules:
        if (origin.is_https or not rule.https_only) and rule.matches(origin.authority):
            found.update(rule.headers)
    return found
