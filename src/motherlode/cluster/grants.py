"""Grants: the right of a shard to start a number of pages or to send requests to an IP address.

The coordinator grants the page budget in portions (`BudgetGrants`) and IP addresses one shard at a time
(`AddressGrantTable`). `GrantClient` is the shard's side of the address grants. Shards hold grants in advance, so no
request has to wait for the coordinator.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

import msgspec

from motherlode.frontier import Frontier

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


class AddressGrant(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Permission to send requests to an IP address."""

    address: str
    wait: float
    """Seconds until the next request to the address."""
    hosts: Mapping[str, float] = {}
    """Seconds until the next request to a host at the address, by host."""


class _HeldAddress(msgspec.Struct):
    holder: int
    since: float
    queue: deque[int] = msgspec.field(default_factory=deque)
    """Shards that wait for the address."""
    recalled: bool = False


class GrantChanges(msgspec.Struct, frozen=True):
    """New grants and addresses to give back, by shard."""

    grants: dict[int, list[AddressGrant]]
    recalls: dict[int, list[str]]


class AddressGrantTable:
    """The holder of each IP address, and the shards that wait for it.

    The caller passes the time and delivers the changes.
    """

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

    def take_changes(self, now: float) -> GrantChanges:
        """Return the grants and recalls since the last call."""
        for address in self._contested:
            held = self._held[address]
            if not held.recalled and now - held.since >= self._min_seconds:
                held.recalled = True
                self._recalls.setdefault(held.holder, []).append(address)
        changes = GrantChanges(self._grants, self._recalls)
        self._grants, self._recalls = {}, {}
        return changes


class GrantClient:
    """The address grants of one shard: passes grants and recalls to the frontier, and collects what to give back."""

    def __init__(self, frontier: Frontier) -> None:
        self._frontier = frontier
        self._recalled: dict[str, None] = {}

    def add(self, grants: Sequence[AddressGrant], now: float) -> None:
        for grant in grants:
            self._frontier.grant_address(grant.address, now, wait=grant.wait, hosts=grant.hosts)

    def recall(self, addresses: Sequence[str]) -> None:
        for address in addresses:
            self._frontier.recall_address(address)
            self._recalled[address] = None

    def take_returned(self, now: float) -> list[AddressGrant]:
        """Return the recalled grants whose last request has ended. The shard no longer holds them."""
        returned = []
        for address in list(self._recalled):
            clocks = self._frontier.give_back_address(address, now)
            if clocks is not None:
                del self._recalled[address]
                returned.append(AddressGrant(address, clocks[0], clocks[1]))
        return returned

    def list_wanted(self) -> list[str]:
        """Return the addresses to request. A recalled address is requested only after it was given back."""
        addresses = self._frontier.take_needed_grants()
        return [address for address in addresses if address not in self._recalled]
