"""The address guard: it refuses IP addresses that are not public, unless the user allowed their range.

The guard checks the address that is connected to, because a name may resolve differently a moment later. The resolver
(`fetch/dns.py`) leaves refused addresses out. The connector checks again, which also covers URLs with an IP address as
their host.
"""

from __future__ import annotations

from collections.abc import Iterable
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
