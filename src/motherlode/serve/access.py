"""Which requests are answered, by host and by origin.

Every page that a browser shows can send requests to a server on loopback. The same-origin policy keeps such a page from
reading the response, unless the server allows its origin (CORS) or the page's own host name leads here: its DNS server
can change the address of the name to 127.0.0.1 (DNS rebinding). The Host header then still has the foreign name. A
crawl may hold pages of private networks, so both ways are closed unless the user opens them.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass

from aiohttp import web

from motherlode.serve.sparql import ALLOWED
from motherlode.www.urls import canonical, host_of

_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::\d{0,5})?", re.ASCII)
"""A Host header: a name or an address, perhaps with a port (RFC 9110, 7.2)."""
_GIVEN_HOST = re.compile(r"\[[0-9A-Fa-f:.]+\]|[^\s/:?#@\[\]\\]+")
_ORIGIN = re.compile(r"https?://[^\s/?#@\\]+", re.IGNORECASE)
_ANY = "*"


@dataclass(frozen=True, slots=True)
class Access:
    """Names under which the server may be asked, beside those of loopback, and origins whose pages may read."""

    hosts: frozenset[str] = frozenset()
    origins: frozenset[str] = frozenset()
    """As browsers write them; `*` means every origin."""

    @classmethod
    def from_options(cls, *, hosts: Iterable[str] = (), origins: Iterable[str] = ()) -> Access:
        """Return the access that a user has asked for. ValueError if a host or an origin cannot be read."""
        return cls(frozenset(map(_parse_host, hosts)), frozenset(map(_parse_origin, origins)))

    def refused_host(self, request: web.Request) -> str | None:
        """Return the host of a request that must not be answered; None if it may be."""
        own = _own_address(request)
        for host in (*request.headers.getall("Host", [""]), request.host):  # that of an absolute target is the last
            match = _HOST.fullmatch(host)
            name = match[1].lower().strip("[]").removesuffix(".") if match is not None else ""
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


def _is_loopback(name: str) -> bool:
    """Return whether a name always leads to this machine (RFC 6761, 6.3).

    >>> [_is_loopback(name) for name in ("localhost", "a.localhost", "127.0.0.9", "::1", "127.0.0.1.evil.test", "")]
    [True, True, True, True, False, False]
    """
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _own_address(request: web.Request) -> str:
    """Return the IP address at which the request has arrived."""
    name = request.transport.get_extra_info("sockname") if request.transport is not None else None
    return str(name[0]) if isinstance(name, tuple) else ""


def _parse_host(text: str) -> str:
    """Return a host name of the user's as browsers send it.

    >>> _parse_host("Crawl.Example.ORG"), _parse_host("bücher.example")
    ('crawl.example.org', 'xn--bcher-kva.example')
    """
    url = canonical(f"http://{text}/") if _GIVEN_HOST.fullmatch(text) else None
    name = host_of(url) if url is not None else ""
    if _HOST.fullmatch(name) is None:
        raise ValueError(f"--allow-host {text} is no host name: give it without scheme and port, as crawl.example.org")
    return name.strip("[]").removesuffix(".")


def _parse_origin(text: str) -> str:
    """Return an origin of the user's as browsers send it.

    >>> _parse_origin("HTTPS://App.example.org:443/"), _parse_origin("http://localhost:3000"), _parse_origin("*")
    ('https://app.example.org', 'http://localhost:3000', '*')
    """
    if text == _ANY:
        return text
    plain = text.removesuffix("/")
    url = canonical(f"{plain}/") if _ORIGIN.fullmatch(plain) else None
    if url is None:
        raise ValueError(f"--cors {text} is no origin: give scheme, host and port, as https://app.example.org")
    return url.removesuffix("/")
