"""The user's proxies: their URLs, the environment variables that name them, and which requests go through them."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from motherlode.fetch.http.socks import SocksTunnel
from motherlode.fetch.http.tunnel import Tunnel
from motherlode.www.urls import Origin, parse_origin

_SOCKS_SCHEMES = ("socks5", "socks5h")
_SOCKS_PORT = 1080
ENVIRONMENT = "environment"
"""The value of `proxy` that stands for the usual environment variables."""


class Proxy(NamedTuple):
    """A proxy that receives requests in place of their hosts."""

    origin: Origin
    headers: Mapping[str, str]
    """Headers for the proxy itself."""
    is_socks: bool = False
    credentials: tuple[str, str] | None = None
    """User name and password for a SOCKS proxy."""

    @classmethod
    def from_url(cls, url: str) -> Proxy:
        """Return the proxy that a URL names. User and password of the URL become a header for an HTTP proxy.

        Raise ValueError if the URL names no HTTP or SOCKS5 proxy.
        """
        parts = urlsplit(url)
        user = None if parts.username is None else (unquote(parts.username), unquote(parts.password or ""))
        if parts.scheme in _SOCKS_SCHEMES:
            origin = parse_origin(f"http://{parts.netloc.rpartition('@')[2]}")
            origin = origin._replace(port=parts.port or _SOCKS_PORT)
            return cls(origin, {}, is_socks=True, credentials=user)
        if parts.scheme not in ("http", "https"):
            raise ValueError(f"{parts.scheme!r} is not the scheme of a proxy: http, https, socks5 and socks5h are")
        if user is None:
            return cls(parse_origin(url), {})
        token = b64encode(":".join(user).encode()).decode()
        return cls(parse_origin(url), {"Proxy-Authorization": f"Basic {token}"})

    def new_tunnel(self, to: Origin) -> Tunnel:
        """Return the protocol that opens a tunnel to a host."""
        return SocksTunnel(to, self.credentials) if self.is_socks else Tunnel(self.connect_request(to))

    def connect_request(self, to: Origin) -> bytes:
        """Return the CONNECT request for a tunnel to a host."""
        authority = f"[{to.host}]:{to.port}" if ":" in to.host else f"{to.host}:{to.port}"
        lines = "".join(f"{name}: {value}\r\n" for name, value in self.headers.items())
        return f"CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n{lines}\r\n".encode()


ProxyChooser = Callable[[Origin], Proxy | None]


def proxy_chooser(url: str | None, environment: Mapping[str, str]) -> ProxyChooser:
    """Return a function that returns the proxy for requests to an origin, or None. ValueError if a URL is wrong."""
    if url == ENVIRONMENT:
        return _environment_chooser(environment)
    proxy = None if url is None else Proxy.from_url(url)
    return lambda origin: proxy


def _environment_chooser(environment: Mapping[str, str]) -> ProxyChooser:
    """Read HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY, in small letters first, as curl and Python do."""
    from urllib.request import proxy_bypass_environment  # type: ignore[attr-defined]  # slow to import

    urls = {
        name: environment.get(f"{name}_proxy") or environment.get(f"{name.upper()}_PROXY") or ""
        for name in ("http", "https", "all", "no")
    }
    proxies = {}
    for name in ("http", "https"):
        url = urls[name] or urls["all"]
        if url:
            proxies[name] = Proxy.from_url(url if "://" in url else f"http://{url}")

    def choose(origin: Origin) -> Proxy | None:
        host = f"{origin.host}:{origin.port}"
        if urls["no"] and proxy_bypass_environment(host, {"no": urls["no"]}):
            return None
        return proxies.get("https" if origin.is_https else "http")

    return choose
