"""Grants: the right of a shard to start a number of pages or to send requests to an IP address.

The coordinator grants the page budget in portions (`BudgetGrants`) and IP addresses one shard at a time
(`AddressGrantTable`). Shards hold grants in advance, so no request has to wait for the coordinator.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import msgspec

from motherlode.frontier import AddressGrant

MAX_GRANT_PAGES = 500
"""Maximum number of pages granted at once."""


class BudgetGrants:
    """Divide the page budget among shards. The sum of all limits never exceeds the budget.

    A shard without work returns its unused pages by reporting a lower limit.

    >>> grants = BudgetGrants(10, shards=2)
    >>> grants.renew(0, started=0, limit=0, wants_more=True), grants.renew(1, started=0, limit=0, wants_more=True)
    (0, 2)
    >>> grants.renew(0, started=0, limit=0, wants_more=True), grants.renew(1, started=1, limit=1, wants_more=False)
    (2, 1)
    """

    def __init__(self, budget: int | None, *, shards: int) -> None:
        self._budget = budget
        self._shards = shards
        self._limits: dict[int, int] = {}

    def renew(self, shard: int, *, started: int, limit: int, wants_more: bool) -> int | None:
        """Return the new limit of a shard that has started `started` pages under `limit`. None means no limit."""
        if self._budget is None:
            return None
        self._limits[shard] = max(limit, started)
        if len(self._limits) < self._shards:
            return self._limits[shard]  # in a resumed crawl, shards that have not reported may have used the budget
        left = self._budget - sum(self._limits.values())
        if wants_more and left > 0 and self._limits[shard] - started < MAX_GRANT_PAGES / 2:
            self._limits[shard] += max(1, min(MAX_GRANT_PAGES, left // (2 * self._shards)))
        return self._limits[shard]


class _HeldAddress(msgspec.Struct):
    holder: int
    since: float
    queue: deque[int] = msgspec.field(default_factory=deque)
    """Shards that wait for the address."""
    recalled: bool = False


class AddressGrantTable:
    """The holder of each IP address, and the shards that wait for it. The caller passes the time."""

    def __init__(self, *, delay: float, min_seconds: float) -> None:
        self._delay = delay
        """Seconds between two requests to an address."""
        self._min_seconds = min_seconds
        """Seconds that a shard keeps an address before it is recalled for another shard."""
        self._held: dict[str, _HeldAddress] = {}
        self._contested: set[str] = set()
        """Addresses for which a shard waits."""
        self._grants: dict[int, list[AddressGrant]] = {}
        self._recalls: dict[int, list[str]] = {}

    def request(self, shard: int, addresses: Sequence[str], now: float) -> None:
        """Grant free addresses to the shard, and append it to the queue of the others."""
        for address in addresses:
            held = self._held.get(address)
            if held is None:
                self._held[address] = _HeldAddress(shard, now)
                self._grants.setdefault(shard, []).append(AddressGrant(address, 0.0))
            elif held.holder != shard and shard not in held.queue:
                held.queue.append(shard)
                self._contested.add(address)

    def give_back(self, shard: int, grants: Sequence[AddressGrant], now: float) -> None:
        """Pass the grants on to the next shards. Grants that the shard does not hold are ignored."""
        for grant in grants:
            held = self._held.get(grant.address)
            if held is not None and held.holder == shard:
                self._pass_on(held, grant, now)

    def _pass_on(self, held: _HeldAddress, grant: AddressGrant, now: float) -> None:
        if not held.queue:  # no shard waits for the address any more: the holder gets it again
            held.queue.append(held.holder)
        held.holder = held.queue.popleft()
        held.since, held.recalled = now, False
        self._grants.setdefault(held.holder, []).append(grant)
        if not held.queue:
            self._contested.discard(grant.address)

    def release_shard(self, shard: int, now: float) -> None:
        """Drop all grants and requests of a shard that died and was restarted."""
        self._grants.pop(shard, None)
        self._recalls.pop(shard, None)
        for address, held in list(self._held.items()):
            if shard in held.queue:
                held.queue.remove(shard)
            if held.holder == shard:
                self._pass_on(held, AddressGrant(address, self._delay), now)

    def take_changes(self, shard: int, now: float) -> tuple[list[AddressGrant], list[str]]:
        """Return the new grants of a shard since its last call, and the addresses that it must give back."""
        for address in self._contested:
            held = self._held[address]
            if not held.recalled and now - held.since >= self._min_seconds:
                held.recalled = True
                self._recalls.setdefault(held.holder, []).append(address)
        return self._grants.pop(shard, []), self._recalls.pop(shard, [])
