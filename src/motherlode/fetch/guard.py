"""The address guard: no request reaches an address inside somebody's own network, unless the user named the range.

The check happens on the address that is connected to, not on a name that may resolve differently a moment later: the
resolver leaves refused addresses out, and the socket factory looks again, which also covers addresses written as such.
"""

from __future__ import annotations

import asyncio
import socket
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any

from aiohttp.abc import AbstractResolver, ResolveResult

Network = IPv4Network | IPv6Network

_NAT64 = ip_network("64:ff9b::/96")
_NOT_PUBLIC = (ip_network("fec0::/10"), ip_network("3fff::/20"))
"""Site-local and documentation addresses, which `ipaddress` takes for global ones."""


class GuardRefusedError(OSError):
    """The address may not be connected to."""


class AddressGuard:
    """Says why an address is off limits.

    >>> AddressGuard().refusal("93.184.215.14")
    ''
    >>> AddressGuard().refusal("::ffff:10.0.0.1")
    '::ffff:10.0.0.1 is not a public address'
    >>> AddressGuard(allow=["10.0.0.0/8"]).refusal("10.0.0.1")
    ''
    """

    def __init__(self, allow: Iterable[str] = ()) -> None:
        self._allowed: list[Network] = []
        for text in allow:
            try:
                self._allowed.append(ip_network(text, strict=False))
            except ValueError as error:
                raise ValueError(f"allow: {text!r} is not an address range such as 127.0.0.0/8") from error

    def refusal(self, address: str) -> str:
        """The reason, or "" where the address may be used."""
        try:
            parsed = ip_address(address.partition("%")[0])
        except ValueError:
            return f"{address!r} is not an address"
        inner = _embedded(parsed)
        if any(candidate in network for candidate in (parsed, inner) for network in self._allowed):
            return ""
        if not (_is_public(parsed) and _is_public(inner)):
            return f"{address} is not a public address"
        return ""


def _embedded(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """The IPv4 address that an IPv6 one carries (mapped, 6to4, Teredo, NAT64), or the address itself."""
    if isinstance(address, IPv4Address):
        return address
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    if address in _NAT64 or int(address) >> 32 == 0:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address


def _is_public(address: IPv4Address | IPv6Address) -> bool:
    if isinstance(address, IPv6Address) and (address.ipv4_mapped is not None or address in _NAT64):
        return True  # stands or falls with the address inside
    if any(address in network for network in _NOT_PUBLIC):
        return False
    return address.is_global and not address.is_multicast and not address.is_reserved


_PINS = 100_000
"""Hosts whose address is remembered; those used last."""


class GuardedResolver(AbstractResolver):
    """Resolves names, by a table first and the system's resolver otherwise, and leaves refused addresses out.

    A host keeps the address that it was first found at until `renew` asks for it again: a request must go to the
    address whose clock allowed it, however many a name has.
    """

    def __init__(self, guard: AddressGuard, table: Mapping[str, tuple[str, int]] | None = None) -> None:
        self._guard = guard
        self._table = table or {}
        self._pins: OrderedDict[str, str] = OrderedDict()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        if host in self._table:
            return await self._look_up(host, port, family)
        address = self._pins.get(host)
        if address is None:
            address = await self.renew(host, family)
        self._pins.move_to_end(host)
        return [_result(host, address, port)]

    async def renew(self, host: str, family: socket.AddressFamily = socket.AF_UNSPEC) -> str:
        """Look the host up again and keep what is found: of several addresses the one after that which was in use."""
        names = [result["host"] for result in await self._look_up(host, 0, family)]
        before = self._pins.get(host)
        place = names.index(before) + 1 if before in names else 0
        self._pins[host] = address = names[place % len(names)]
        if len(self._pins) > _PINS:
            self._pins.popitem(last=False)
        return address

    async def _look_up(self, host: str, port: int, family: socket.AddressFamily) -> list[ResolveResult]:
        if host in self._table:
            found = [self._table[host]]
        else:
            loop = asyncio.get_running_loop()
            try:
                answers = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM, family=family)
            except UnicodeError as error:  # labels that are empty or over 63 bytes never reach the resolver
                raise socket.gaierror(socket.EAI_NONAME, f"{host!r} is no host name: {error}") from error
            found = [(str(answer[4][0]), port) for answer in answers]
        reasons = [self._guard.refusal(address) for address, _ in found]
        allowed = [place for place, reason in zip(found, reasons, strict=True) if not reason]
        if not allowed:
            raise GuardRefusedError("; ".join(reasons) or f"{host} has no address")
        return [_result(host, address, its_port) for address, its_port in allowed]

    async def close(self) -> None:
        """Nothing is held."""


def _result(host: str, address: str, port: int) -> ResolveResult:
    return ResolveResult(
        hostname=host,
        host=address,
        port=port,
        family=socket.AF_INET6 if ":" in address else socket.AF_INET,
        proto=0,
        flags=socket.AI_NUMERICHOST,
    )


def guarded_socket(guard: AddressGuard, address_info: tuple[Any, ...]) -> socket.socket:
    """A socket for an address that the guard lets pass."""
    family, kind, protocol, _, where = address_info
    reason = guard.refusal(where[0])
    if reason:
        raise GuardRefusedError(reason)
    made = socket.socket(family=family, type=kind, proto=protocol)
    made.setblocking(False)
    return made
