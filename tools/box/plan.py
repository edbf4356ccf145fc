"""The plan of a box: host names, IP addresses, faults, and the conditions of its network.

The second number of an address says what kind of endpoint it is, so that a range of addresses can have a delay of its
own: 127.0.x.y are services inside the box without a delay, 127.1.x.y to 127.240.x.y are web servers, and so on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from random import Random

TOP_LEVEL = ("com", "org", "net", "de", "fr", "nl", "eu", "it", "se", "info")
WORDS = ("river", "museum", "garden", "water", "station", "archive", "market", "school", "history", "library")
SLOW_ZONE = "museum"
"""Top-level domain of the slow names."""
RESOLVERS = ("127.0.0.53", "127.0.0.54")
CLIENT_ADDRESS = "127.255.0.1"
"""Source address of every request that passes through the delay layer."""
ECHO_ADDRESS = "127.251.0.1"
"""Where the probe sends datagrams to measure round trip and loss."""
ZONE_SERVERS, SLOW_ZONE_SERVERS, SLOW_SERVERS = 254, 253, 252
"""Second number of the addresses of name servers, of slow name servers, and of slow web servers."""
_WEB_RANGES = 240
_LAST_NUMBERS = 250


class Fault(Enum):
    """A fault of a host, or none."""

    NONE = "healthy"
    DEAD_NAME = "dead name"
    """The name does not exist."""
    DEAD_ADDRESS = "dead address"
    """No packet to the address is answered."""
    HALF_DEAD = "one dead and one living address"
    SLOW_NAME = "slow name"
    """The name server of its zone is far away."""
    SLOW_SERVER = "slow server"
    """The web server is far away."""
    RESETS = "resets"
    """Connections are reset, one packet in five."""
    SHARED = "shared address"
    """The host shares its address with the next host of this kind."""


DEAD = frozenset({Fault.DEAD_NAME, Fault.DEAD_ADDRESS})


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxHost:
    """One host name of the box."""

    name: str
    addresses: tuple[str, ...]
    """The addresses that its name server gives."""
    fault: Fault = Fault.NONE

    @property
    def is_live(self) -> bool:
        return self.fault not in DEAD


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxPlan:
    """Size and conditions of a box. Times are in seconds, and shares are between 0 and 1."""

    hosts: int = 100
    pages: int = 16
    """Pages per host, the home page included."""
    round_trip: float = 0.0
    jitter: float = 0.0
    """Largest addition to a round trip."""
    loss: float = 0.0
    """Share of packets that are lost, in each direction."""
    look_up: float = 0.0
    """Round trip to the name servers of the zones."""
    slow: float = 1.5
    """Round trip to slow name servers and slow web servers."""
    faults: dict[Fault, float] = field(default_factory=dict)
    """Share of the hosts that have a fault. The others are healthy."""
    resolvers: int = 1
    names_per_certificate: int = 30
    seed: int = 1
    zones: tuple[str, ...] = ()
    """Top-level domains with a name server of their own, which a test can stop alone."""

    def has_delay(self) -> bool:
        return any((self.round_trip, self.jitter, self.look_up, self.faults.get(Fault.SLOW_NAME)))

    def round_trips(self) -> dict[int, float]:
        """Return the round trip for each second number of an address that has not the usual one."""
        return {ZONE_SERVERS: self.look_up, SLOW_ZONE_SERVERS: self.slow, SLOW_SERVERS: self.slow}

    def zones_by_server(self) -> dict[str, list[str]]:
        """Return the address of each name server and the top-level domains that it has."""
        usual = [zone for zone in TOP_LEVEL if zone not in self.zones]
        own = {f"127.{ZONE_SERVERS}.1.{number}": [zone] for number, zone in enumerate(self.zones, start=1)}
        return {f"127.{ZONE_SERVERS}.0.1": usual, f"127.{SLOW_ZONE_SERVERS}.0.1": [SLOW_ZONE]} | own


def plan_hosts(plan: BoxPlan) -> list[BoxHost]:
    """Return the hosts of a box: their names, their addresses and what is wrong with them.

    >>> [one.name for one in plan_hosts(BoxPlan(hosts=2))]
    ['www.river0.com', 'www.museum1.org']
    """
    faults = _draw_faults(plan)
    shared = [number for number, fault in enumerate(faults) if fault is Fault.SHARED]
    partners = dict(zip(shared[1::2], shared[::2], strict=False))
    return [
        BoxHost(name=_name(number, plan.hosts, fault), addresses=_addresses(number, fault, partners), fault=fault)
        for number, fault in enumerate(faults)
    ]


def _draw_faults(plan: BoxPlan) -> list[Fault]:
    faults = [fault for fault, share in plan.faults.items() for _ in range(round(share * plan.hosts))]
    faults += [Fault.NONE] * (plan.hosts - len(faults))
    Random(plan.seed).shuffle(faults)
    return faults


def _name(number: int, hosts: int, fault: Fault) -> str:
    """Return a name: from 2,000 hosts on, two names are in one registrable domain."""
    domain = number if hosts < 2000 else number // 2
    prefix = "www" if hosts < 2000 or number % 2 == 0 else "data"
    top = SLOW_ZONE if fault is Fault.SLOW_NAME else TOP_LEVEL[domain % len(TOP_LEVEL)]
    return f"{prefix}.{WORDS[domain % len(WORDS)]}{domain}.{top}"


def _addresses(number: int, fault: Fault, partners: dict[int, int]) -> tuple[str, ...]:
    if fault is Fault.DEAD_NAME:
        return ()
    if fault is Fault.SLOW_SERVER:
        return (f"127.{SLOW_SERVERS}.{number // _LAST_NUMBERS}.{1 + number % _LAST_NUMBERS}",)
    if fault is Fault.HALF_DEAD:
        return _address(number, last=2), _address(number)
    return (_address(partners.get(number, number)),)


def _address(number: int, *, last: int = 1) -> str:
    """Return an address that no other host has; consecutive hosts are in different /16 networks."""
    third, second = divmod(number, _WEB_RANGES)
    return f"127.{1 + second}.{third}.{last}"


def dead_addresses(hosts: Sequence[BoxHost]) -> list[str]:
    """Return the addresses that answer nothing: of a half-dead host it is the first one."""
    return [host.addresses[0] for host in hosts if host.fault in (Fault.DEAD_ADDRESS, Fault.HALF_DEAD)]
