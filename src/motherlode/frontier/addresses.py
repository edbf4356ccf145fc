"""The clock of each IP address. Hosts that share one take turns, however many they are.

Where the delay of an address is not zero, one request at a time goes to it, and its clock runs from the end of an
answer, like that of a host: only then can a server never see two requests closer together, whatever the network does.
A host whose own time has come but whose address is busy stands in the address's line. A few at a time are put into the
policy's hands, so that it has a choice; when one of them was picked, the others go to the end of the line.
"""

from __future__ import annotations

from collections import deque

import msgspec

AWAKE_AT_ONCE = 16
"""Hosts of one address that the policy may choose from at a time."""


MOST_ASKED = 256
"""Hosts whose clocks go with a lease."""


class Address(msgspec.Struct, gc=False):
    """An IP address that at least one host was found at."""

    name: str
    ready_at: float = 0.0
    in_flight: int = 0
    line: deque[str] = msgspec.field(default_factory=deque)
    """Hosts whose own time has come."""
    awake: dict[str, None] = {}
    """Hosts in the policy's hands, first come first."""
    guests: tuple[str, ...] = ()
    """Hosts whose held page waits for a request to this address to end."""
    held: bool = True
    """We may ask it. False where addresses are leased and another crawl has, or may have, the lease."""
    asked: dict[str, None] = {}
    """Hosts asked here under this lease, the last ones: whoever gets the lease next must know their clocks."""


class Addresses:
    """All addresses by name, and what they allow."""

    def __init__(self, *, delay: float, at_once: int, leased: bool = False) -> None:
        self.delay = delay
        self.leased = leased and delay > 0
        """Other crawls ask the same addresses: each needs leave that only one of them has at a time."""
        self.wanted: dict[str, None] = {}
        """Addresses that somebody waits for and that we have no lease of."""
        self._limit = 1 if delay > 0 else at_once
        self._all: dict[str, Address] = {}
        self.not_before = 0.0
        """No address is asked earlier: a run that was killed may have asked it a moment ago."""

    def get(self, name: str) -> Address:
        address = self._all.get(name)
        if address is None:
            address = self._all[name] = Address(name, ready_at=self.not_before, held=not self.leased)
        return address

    def rest_all(self, until: float) -> None:
        self.not_before = until
        for address in self._all.values():
            address.ready_at = max(address.ready_at, until)

    def turn_back(self, seconds: float) -> None:
        self.not_before -= seconds
        for address in self._all.values():
            address.ready_at -= seconds

    def full(self, address: Address) -> bool:
        if not address.held:
            self.wanted[address.name] = None
            return True
        return address.in_flight >= self._limit

    def note(self, address: Address, host: str) -> None:
        """A host is asked at a leased address."""
        address.asked.pop(host, None)
        address.asked[host] = None
        if len(address.asked) > MOST_ASKED:
            del address.asked[next(iter(address.asked))]
