"""The address guard: it refuses IP addresses that are not public, unless the user allowed their range.

The guard checks the address that is connected to, because a name may resolve differently a moment later. The resolver
leaves refused addresses out. The connector checks again, which also covers URLs with an IP address as their host.
"""

from __future__ import annotations

import asyncio
import socket
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

_NAT64 = ip_network("64:ff9b::/96")
_NOT_PUBLIC = tuple(map(ip_network, ("fec0::/10", "3fff::/20", "192.0.0.8", "192.88.99.0/24")))
"""Site-local, documentation, dummy and old relay addresses, which `ipaddress` calls global."""


class GuardRefusedError(OSError):
    """The guard refuses the address."""


class AddressGuard:
    """Decides which IP addresses may be connected to."""

    def __init__(self, allow: Iterable[str] = ()) -> None:
        self._allowed: list[IPv4Network | IPv6Network] = []
        for text in allow:
            try:
                self._allowed.append(ip_network(text, strict=False))
            except ValueError as error:
                raise ValueError(f"allow: {text!r} is not an address range such as 127.0.0.0/8") from error

    def refusal(self, address: str) -> str:
        """Return why an address is refused, or "" if it is allowed."""
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


def normalize_address(address: str) -> str:
    """Return the canonical spelling of an IP address, so that politeness counts it once. IPv4-mapped becomes IPv4.

    >>> [normalize_address(text) for text in ("::ffff:7f00:1", "2001:DB8::0:1", "127.0.0.1", "")]
    ['127.0.0.1', '2001:db8::1', '127.0.0.1', '']
    """
    if ":" not in address:
        return address
    parsed = ip_address(address)
    return str(getattr(parsed, "ipv4_mapped", None) or parsed)


def _embedded(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """Return the IPv4 address inside an IPv6 address (mapped, 6to4, Teredo, NAT64), or the address itself."""
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
        return True  # the embedded address decides
    if any(address in network for network in _NOT_PUBLIC):
        return False
    return address.is_global and not address.is_multicast and not address.is_reserved


_MAX_PINNED_HOSTS = 100_000
"""Hosts whose address is kept. The least recently used ones are dropped."""


class GuardedResolver:
    """Resolves names with a table first, then the system's resolver, and leaves refused addresses out.

    A host keeps its first address until `renew` resolves it again, because a request must go to the address whose
    politeness delay it has waited for, even if the name has several addresses.
    """

    def __init__(self, guard: AddressGuard, table: Mapping[str, tuple[str, int]] | None = None) -> None:
        self._guard = guard
        self._table = table or {}
        self._pins: OrderedDict[str, str] = OrderedDict()
        self._untried: dict[str, int] = {}
        """Number of addresses not yet tried, of hosts with several. Removed when a connection succeeds."""

    def known_address(self, host: str, port: int) -> tuple[str, int] | None:
        """Return address and port of a host without a DNS request, or None if that is not possible."""
        if host in self._table:
            endpoint = self._table[host]
            self._filter_allowed(host, [endpoint[0]])
            return endpoint
        address = self._pins.get(host)
        if address is None:
            return None
        self._pins.move_to_end(host)
        return address, port

    async def resolve(self, host: str, port: int) -> tuple[str, int]:
        """Return address and port of a host. Raise OSError if the name cannot be resolved."""
        return self.known_address(host, port) or (await self.renew(host), port)

    async def renew(self, host: str) -> str:
        """Resolve a host again and keep the result. If there are several addresses, use the next one."""
        addresses = await self._resolve_all(host)
        current = self._pins.get(host)
        index = addresses.index(current) + 1 if current in addresses else 0
        self._pins[host] = address = addresses[index % len(addresses)]
        if len(addresses) > 1:
            self._untried.setdefault(host, len(addresses) - 1)
        if len(self._pins) > _MAX_PINNED_HOSTS:
            self._pins.popitem(last=False)
        return address

    def mark_reachable(self, host: str) -> None:
        """Record that a connection to the host's current address succeeded."""
        self._untried.pop(host, None)

    def claim_untried_address(self, host: str) -> bool:
        """Return whether `renew` will give an address that was not tried yet. Call once per failed address."""
        left = self._untried.pop(host, 0)
        if left:
            self._untried[host] = left - 1
        return left > 0

    async def _resolve_all(self, host: str) -> list[str]:
        if host in self._table:
            return self._filter_allowed(host, [self._table[host][0]])
        loop = asyncio.get_running_loop()
        try:
            results = await loop.getaddrinfo(host, 0, type=socket.SOCK_STREAM)
        except UnicodeError as error:  # labels that are empty or over 63 bytes do not reach the resolver
            raise socket.gaierror(socket.EAI_NONAME, f"{host!r} is not a host name: {error}") from error
        return self._filter_allowed(host, [str(result[4][0]) for result in results])

    def _filter_allowed(self, host: str, addresses: list[str]) -> list[str]:
        reasons = [self._guard.refusal(address) for address in addresses]
        allowed = [address for address, reason in zip(addresses, reasons, strict=True) if not reason]
        if not allowed:
            raise GuardRefusedError("; ".join(reasons) or f"{host} has no address")
        return allowed
