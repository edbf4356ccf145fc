"""The address guard: no request reaches an address inside somebody's own network, unless the user named the range.

The check happens on the address that is connected to, not on a name that may resolve differently a moment later: the
resolver leaves refused addresses out, and the connector looks again, which also covers addresses written as such.
"""

from __future__ import annotations

import asyncio
import socket
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Network = IPv4Network | IPv6Network

_NAT64 = ip_network("64:ff9b::/96")
_NOT_PUBLIC = tuple(map(ip_network, ("fec0::/10", "3fff::/20", "192.0.0.8", "192.88.99.0/24")))
"""Site-local, documentation, dummy and old relay addresses, which `ipaddress` takes for global ones."""


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


def one_spelling(address: str) -> str:
    """The name under which an address has its clock: an IPv4 address is the same where IPv6 only writes it otherwise.

    >>> one_spelling("::ffff:7f00:1"), one_spelling("2001:DB8::0:1"), one_spelling("127.0.0.1"), one_spelling("")
    ('127.0.0.1', '2001:db8::1', '127.0.0.1', '')
    """
    if ":" not in address:
        return address
    parsed = ip_address(address)
    return str(getattr(parsed, "ipv4_mapped", None) or parsed)


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


class GuardedResolver:
    """Resolves names, by a table first and the system's resolver otherwise, and leaves refused addresses out.

    A host keeps the address that it was first found at until `renew` asks for it again: a request must go to the
    address whose clock allowed it, however many a name has.
    """

    def __init__(self, guard: AddressGuard, table: Mapping[str, tuple[str, int]] | None = None) -> None:
        self._guard = guard
        self._table = table or {}
        self._pins: OrderedDict[str, str] = OrderedDict()
        self._untried: dict[str, int] = {}
        """Addresses that are left of hosts that have several, until somebody was met at one of them."""

    def known(self, host: str, port: int) -> tuple[str, int] | None:
        """Address and port of a host, where that needs no question."""
        if host in self._table:
            place = self._table[host]
            self._allowed(host, [place[0]])
            return place
        address = self._pins.get(host)
        if address is None:
            return None
        self._pins.move_to_end(host)
        return address, port

    async def resolve(self, host: str, port: int) -> tuple[str, int]:
        """Address and port of a host."""
        return self.known(host, port) or (await self.renew(host), port)

    async def renew(self, host: str) -> str:
        """Look the host up again and keep what is found: of several addresses the one after that which was in use."""
        addresses = await self._look_up(host)
        before = self._pins.get(host)
        place = addresses.index(before) + 1 if before in addresses else 0
        self._pins[host] = address = addresses[place % len(addresses)]
        if len(addresses) > 1:
            self._untried.setdefault(host, len(addresses) - 1)
        if len(self._pins) > _PINS:
            self._pins.popitem(last=False)
        return address

    def met(self, host: str) -> None:
        """Somebody was met at the host's address."""
        self._untried.pop(host, None)

    def has_another(self, host: str) -> bool:
        """Nobody was met there: whether `renew` leads to an address that was not tried. Asked once for each."""
        left = self._untried.pop(host, 0)
        if left:
            self._untried[host] = left - 1
        return left > 0

    async def _look_up(self, host: str) -> list[str]:
        if host in self._table:
            return self._allowed(host, [self._table[host][0]])
        loop = asyncio.get_running_loop()
        try:
            answers = await loop.getaddrinfo(host, 0, type=socket.SOCK_STREAM)
        except UnicodeError as error:  # labels that are empty or over 63 bytes never reach the resolver
            raise socket.gaierror(socket.EAI_NONAME, f"{host!r} is no host name: {error}") from error
        return self._allowed(host, [str(answer[4][0]) for answer in answers])

    def _allowed(self, host: str, addresses: list[str]) -> list[str]:
        reasons = [self._guard.refusal(address) for address in addresses]
        allowed = [address for address, reason in zip(addresses, reasons, strict=True) if not reason]
        if not allowed:
            raise GuardRefusedError("; ".join(reasons) or f"{host} has no address")
        return allowed
