"""Connections are opened here and nowhere else: directly, behind the address guard, or through the user's proxy."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import Callable, Mapping
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from motherlode.fetch.guard import AddressGuard
from motherlode.fetch.origins import Origin, origin
from motherlode.fetch.secured import Secured
from motherlode.fetch.trouble import Trouble, connecting, refused
from motherlode.fetch.trust import Trust
from motherlode.fetch.tunnel import Tunnel
from motherlode.fetch.wire import Wire
from motherlode.model import FailureKind


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

    def __init__(
        self, guard: AddressGuard, trust: Trust, *, proxy: Proxy | None, seconds: float, make: Callable[[], Wire]
    ) -> None:
        self._guard = guard
        self._trust = trust
        self._proxy = proxy
        self._seconds = seconds
        self._make = make

    async def open(self, place: Place, *, deadline: float) -> Wire | Trouble:
        """A new connection, or why there is none."""
        until = min(deadline, asyncio.get_running_loop().time() + self._seconds)
        try:
            async with asyncio.timeout_at(until):
                if self._proxy is None:
                    return await self._directly(place)
                return await self._through(self._proxy, place)
        except (OSError, ValueError) as error:
            trouble = connecting(error)
            is_way_out = self._proxy is not None and trouble.kind is FailureKind.CONNECT
            return trouble._replace(silent=True) if is_way_out else trouble  # not the host refuses, but the proxy

    async def _directly(self, place: Place) -> Wire | Trouble:
        """The guard refuses whatever is no address, so that nothing is resolved once more behind its back."""
        reason = self._guard.refusal(place.address)
        if reason:
            return refused(reason)
        wire = self._make()
        await self._connect(wire, place.origin, place.address, place.port)
        return wire

    async def _connect(self, protocol: asyncio.Protocol, to: Origin, host: str, port: int) -> None:
        loop = asyncio.get_running_loop()
        if not to.secure:
            await loop.create_connection(lambda: protocol, host, port)
            return
        secured = Secured(protocol, self._trust.seal(to))
        transport, _ = await loop.create_connection(lambda: secured, host, port)
        await _handshake(secured, transport)

    async def _through(self, proxy: Proxy, place: Place) -> Wire | Trouble:
        """Plain requests are handed to the proxy as they are; for https it only carries bytes."""
        to = proxy.origin
        if not place.origin.secure:
            wire = self._make()
            await self._connect(wire, to, to.host, to.port)
            return wire
        wire = self._make()
        secured = Secured(wire, self._trust.seal(place.origin))
        tunnel = Tunnel(_connect_request(place.origin, proxy.fields))
        await self._connect(tunnel, to, to.host, to.port)
        trouble = await tunnel.led_to(secured)
        if trouble is None:
            await _handshake(secured, tunnel.transport)
        return trouble or wire


async def _handshake(secured: Secured, transport: asyncio.Transport) -> None:
    try:
        await secured.shaken
    except asyncio.CancelledError:
        transport.abort()
        raise


def _connect_request(to: Origin, fields: Mapping[str, str]) -> bytes:
    place = f"[{to.host}]:{to.port}" if ":" in to.host else f"{to.host}:{to.port}"
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n{lines}\r\n".encode()
