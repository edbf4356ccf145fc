"""Connections are opened here and nowhere else: directly, behind the address guard, or through the user's proxy."""

from __future__ import annotations

import asyncio
import ssl
from base64 import b64encode
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import NamedTuple, TypeVar
from urllib.parse import unquote, urlsplit

from motherlode.fetch.guard import AddressGuard
from motherlode.fetch.origins import Origin, origin
from motherlode.fetch.trouble import Trouble, connecting, refused
from motherlode.fetch.tunnel import Tunnel
from motherlode.fetch.wire import Wire
from motherlode.model import FailureKind

_Made = TypeVar("_Made", bound=asyncio.Protocol)


class Place(NamedTuple):
    """Where a connection leads: requests share one only where all of this is the same."""

    origin: Origin
    address: str
    """Empty behind a proxy, which looks for it itself."""
    port: int


class Proxy(NamedTuple):
    """Where all requests go, in the place of their hosts."""

    origin: Origin
    fields: Mapping[str, str]
    """Headers that are for the proxy."""

    @classmethod
    def at(cls, url: str) -> Proxy:
        """The proxy that a URL names, perhaps with user and password.

        >>> Proxy.at("http://ann:s%3Dcret@127.0.0.1:3128").fields
        {'Proxy-Authorization': 'Basic YW5uOnM9Y3JldA=='}
        """
        parts = urlsplit(url)
        if parts.username is None:
            return cls(origin(url), {})
        user = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        return cls(origin(url), {"Proxy-Authorization": f"Basic {b64encode(user.encode()).decode()}"})


class Connector:
    """Opens wires. `make` gives the protocol of each."""

    def __init__(self, guard: AddressGuard, *, proxy: Proxy | None, seconds: float, make: Callable[[], Wire]) -> None:
        self._guard = guard
        self._proxy = proxy
        self._seconds = seconds
        self._make = make

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        """Made for the first https URL: to read the certificates of all authorities takes 50 ms."""
        context = ssl.create_default_context()
        context.set_alpn_protocols(["http/1.1"])
        return context

    async def open(self, place: Place, *, deadline: float) -> Wire | Trouble:
        """A new connection, or why there is none."""
        until = min(deadline, asyncio.get_running_loop().time() + self._seconds)
        try:
            async with asyncio.timeout_at(until):
                if self._proxy is None:
                    return await self._directly(place)
                return await self._through(self._proxy, place)
        except OSError as error:
            trouble = connecting(error)
            is_way_out = self._proxy is not None and trouble.kind is FailureKind.CONNECT
            return (
                trouble._replace(silent=True) if is_way_out else trouble
            )  # who refuses is the proxy, and not the host

    async def _directly(self, place: Place) -> Wire | Trouble:
        """The guard refuses whatever is no address, so that nothing is resolved once more behind its back."""
        reason = self._guard.refusal(place.address)
        if reason:
            return refused(reason)
        _, wire = await self._connect(self._make, place.origin, place.address, place.port)
        return wire

    async def _connect(
        self, make: Callable[[], _Made], to: Origin, host: str, port: int
    ) -> tuple[asyncio.Transport, _Made]:
        loop = asyncio.get_running_loop()
        if not to.secure:
            return await loop.create_connection(make, host, port)
        return await loop.create_connection(make, host, port, ssl=self._tls, server_hostname=to.host)

    async def _through(self, proxy: Proxy, place: Place) -> Wire | Trouble:
        """Plain requests are handed to the proxy as they are; for https it only carries bytes."""
        to = proxy.origin
        if not place.origin.secure:
            _, wire = await self._connect(self._make, to, to.host, to.port)
            return wire
        transport, tunnel = await self._connect(Tunnel, to, to.host, to.port)
        opened: Wire | Trouble | None = None
        try:
            transport.write(_connect_request(place.origin, proxy.fields))
            opened = await tunnel.opened or await self._secured(transport, place.origin)
            return opened
        finally:
            if not isinstance(opened, Wire):
                transport.abort()

    async def _secured(self, transport: asyncio.Transport, to: Origin) -> Wire:
        wire = self._make()
        secured = await asyncio.get_running_loop().start_tls(transport, wire, self._tls, server_hostname=to.host)
        assert secured is not None  # as it is for a transport that is open
        wire.connection_made(secured)
        return wire


def _connect_request(to: Origin, fields: Mapping[str, str]) -> bytes:
    place = f"[{to.host}]:{to.port}" if ":" in to.host else f"{to.host}:{to.port}"
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n{lines}\r\n".encode()
