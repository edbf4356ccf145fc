"""Whose turn it is at an IP address: one book for all shards.

Hosts of different shards may share an address, and its clock must hold for all of them together. So a shard asks an
address only while it has the address's lease, and there is one. Most addresses are wanted by one shard alone: it asks
once and keeps the lease. Where another shard wants it, the holder may go on for a tenure, is then asked to give it
back, and gets in line again. Nobody's clock is compared with another's: a lease is handed on with the seconds that the
address, and hosts just asked there, must still rest; the time it takes to arrive only makes the pause longer.

A shard that died cannot give back. What it held becomes free when Ray has started it again and it reports, after a
full rest: its last request was made before it died.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

import msgspec


class Lease(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Leave to ask an address after `wait` seconds, and hosts there after theirs."""

    address: str
    wait: float
    hosts: Mapping[str, float] = {}


class _Holding(msgspec.Struct):
    holder: int
    since: float
    line: deque[int] = msgspec.field(default_factory=deque)
    recalled: bool = False


class Post(msgspec.Struct, frozen=True):
    """What the book has to tell the shards: leases that are theirs now, addresses to give back."""

    leases: dict[int, list[Lease]]
    recalls: dict[int, list[str]]


class AddressBook:
    """Pure: the caller brings the time and carries the post."""

    def __init__(self, *, rest: float, tenure: float) -> None:
        self._rest = rest
        """Seconds between two requests to an address."""
        self._tenure = tenure
        """Seconds that a holder may keep what others want."""
        self._holdings: dict[str, _Holding] = {}
        self._contested: set[str] = set()
        self._leases: dict[int, list[Lease]] = {}
        self._recalls: dict[int, list[str]] = {}

    def want(self, shard: int, addresses: Sequence[str], now: float) -> None:
        for address in addresses:
            holding = self._holdings.get(address)
            if holding is None:
                self._holdings[address] = _Holding(shard, now)
                self._leases.setdefault(shard, []).append(Lease(address, 0.0))
            elif holding.holder != shard and shard not in holding.line:
                holding.line.append(shard)
                self._contested.add(address)

    def give_back(self, shard: int, leases: Sequence[Lease], now: float) -> None:
        for lease in leases:
            holding = self._holdings.get(lease.address)
            if holding is not None and holding.holder == shard:
                self._hand_on(holding, lease, now)

    def _hand_on(self, holding: _Holding, lease: Lease, now: float) -> None:
        if not holding.line:  # nobody is left who wants it: the address rests with its holder, who gets it again
            holding.line.append(holding.holder)
        holding.holder = holding.line.popleft()
        holding.since, holding.recalled = now, False
        self._leases.setdefault(holding.holder, []).append(lease)
        if not holding.line:
            self._contested.discard(lease.address)

    def gone(self, shard: int, now: float) -> None:
        """A shard has died and been started again: it holds nothing, and wants nothing yet."""
        self._leases.pop(shard, None)
        self._recalls.pop(shard, None)
        for address, holding in list(self._holdings.items()):
            if shard in holding.line:
                holding.line.remove(shard)
            if holding.holder == shard:
                self._hand_on(holding, Lease(address, self._rest), now)

    def post(self, now: float) -> Post:
        """Leases and recalls that have come up since the last call."""
        for address in self._contested:
            holding = self._holdings[address]
            if not holding.recalled and now - holding.since >= self._tenure:
                holding.recalled = True
                self._recalls.setdefault(holding.holder, []).append(address)
        made = Post(self._leases, self._recalls)
        self._leases, self._recalls = {}, {}
        return made
