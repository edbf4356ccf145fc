"""Access to the web site: allowed host names, origins of other web pages, and the token."""

from __future__ import annotations

import ipaddress
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from aiohttp import web

from motherlode.serve.sparql import ALLOWED
from motherlode.www.urls import canonical, host_of

_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::\d{0,5})?", re.ASCII)
"""A Host header: a name or an IP address, with an optional port (RFC 9110, 7.2)."""
_GIVEN_HOST = re.compile(r"\[[0-9A-Fa-f:.]+\]|[^\s/:?#@\[\]\\]+")
_ORIGIN = re.compile(r"https?://[^\s/?#@\\]+", re.IGNORECASE)
_ANY = "*"
TOKEN_PARAMETER = "token"
TOKEN_COOKIE = "motherlode_token"


@dataclass(frozen=True, slots=True)
class Access:
    """Allowed host names, besides those of loopback, and origins whose pages may read responses.

    Any web page in a browser can send requests to a server on loopback. The same-origin policy keeps the page from
    reading the response, unless the server allows its origin (CORS) or the page's host name resolves to 127.0.0.1 (DNS
    rebinding). In the latter case the Host header still has the foreign name. A crawl may contain pages of private
    networks, so both ways are closed by default.
    """

    hosts: frozenset[str] = frozenset()
    origins: frozenset[str] = frozenset()
    """As browsers write them; `*` means every origin."""
    token: str = ""
    """Secret that allows the use of the controls."""
    is_token_required: bool = False
    """Whether all requests need the token, because others than this machine can reach the server."""

    @classmethod
    def from_options(
        cls,
        *,
        hosts: Iterable[str] = (),
        origins: Iterable[str] = (),
        token: str = "",
        is_token_required: bool = False,
    ) -> Access:
        """Return the access for command-line options. ValueError if a host or an origin is malformed."""
        names, allowed = frozenset(map(_parse_host, hosts)), frozenset(map(_parse_origin, origins))
        return cls(names, allowed, token, is_token_required)

    def has_token(self, request: web.Request) -> bool:
        """Return whether a request has the token: in its URL, its Authorization header or its cookie."""
        if not self.token or not (
            TOKEN_PARAMETER in request.query_string or "Authorization" in request.headers or "Cookie" in request.headers
        ):
            return False
        scheme, _, bearer = request.headers.get("Authorization", "").partition(" ")
        given = (
            request.query.get(TOKEN_PARAMETER, ""),
            bearer.strip() if scheme.lower() == "bearer" else "",
            request.cookies.get(TOKEN_COOKIE, ""),
        )
        return any(secrets.compare_digest(one.encode("utf-8", "replace"), self.token.encode()) for one in given)

    def refused_host(self, request: web.Request) -> str | None:
        """Return the host of a request that must be refused; None if the request is allowed."""
        own = _own_address(request)
        for host in (*request.headers.getall("Host", [""]), request.host):  # the latter for absolute targets
            name = _name_of_host(host)
            if not (_is_loopback(name) or name in self.hosts or (own and name == own)):
                return host
        return None

    def add_cors(self, request: web.Request, response: web.StreamResponse) -> None:
        """Add the headers by which pages of the allowed origins may read the response."""
        if not self.origins:
            return
        is_for_all = _ANY in self.origins
        origin = request.headers.get("Origin", "")
        if not is_for_all:
            vary = response.headers.get("Vary", "")
            response.headers["Vary"] = f"{vary}, Origin" if vary else "Origin"
        if is_for_all or origin in self.origins:
            response.headers["Access-Control-Allow-Origin"] = _ANY if is_for_all else origin
            response.headers["Access-Control-Allow-Methods"] = ALLOWED
            response.headers["Access-Control-Allow-Headers"] = "Accept, Content-Type"
            response.headers["Access-Control-Max-Age"] = "86400"


@lru_cache(maxsize=64)
def _name_of_host(host: str) -> str:
    """Return the name in a Host header; "" if the header is malformed."""
    match = _HOST.fullmatch(host)
    return match[1].lower().strip("[]").removesuffix(".") if match is not None else ""


@lru_cache(maxsize=64)
def _is_loopback(name: str) -> bool:
    """Return whether a name always resolves to this machine (RFC 6761, 6.3)."""
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _own_address(request: web.Request) -> str:
    """Return the local IP address of the request's connection."""
    name = request.transport.get_extra_info("sockname") if request.transport is not None else None
    return str(name[0]) if isinstance(name, tuple) else ""


def _parse_host(text: str) -> str:
    """Return the host name of an option as browsers send it."""
    url = canonical(f"http://{text}/") if _GIVEN_HOST.fullmatch(text) else None
    name = host_of(url) if url is not None else ""
    if _HOST.fullmatch(name) is None:
        raise ValueError(f"--allow-host {text} is not a host name: give it without scheme and port: crawl.example.org")
    return name.strip("[]").removesuffix(".")


def _parse_origin(text: str) -> str:
    """Return the origin of an option as browsers send it."""
    if text == _ANY:
        return text
    plain = text.removesuffix("/")
    url = canonical(f"{plain}/") if _ORIGIN.fullmatch(plain) else None
    if url is None:
        raise ValueError(f"--cors {text} is not an origin: give scheme, host and port: https://app.example.org")
    return url.removesuffix("/")
