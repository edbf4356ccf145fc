"""The budget of pages, leased to shards in chunks, so that no request asks anybody for leave."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

import msgspec

from motherlode.frontier import Frontier

MOST = 500
"""Pages in one chunk."""


class BudgetGrants:
    """What has been granted never exceeds the budget, and shards that have nothing to do give back.

    >>> leases = BudgetGrants(10, shards=2)
    >>> leases.renew(0, begun=0, limit=0, hungry=True), leases.renew(1, begun=0, limit=0, hungry=True)
    (0, 2)
    >>> leases.renew(0, begun=0, limit=0, hungry=True), leases.renew(1, begun=1, limit=1, hungry=False)
    (2, 1)
    """

    def __init__(self, budget: int | None, *, shards: int) -> None:
        self._budget = budget
        self._shards = shards
        self._limits: dict[int, int] = {}

    def renew(self, shard: int, *, begun: int, limit: int, hungry: bool) -> int | None:
        """The shard's new limit: it has begun so many pages under the limit that it keeps; None for no limit."""
        if self._budget is None:
            return None
        self._limits[shard] = max(limit, begun)
        if len(self._limits) < self._shards:
            return self._limits[shard]  # a crawl may be resumed: nobody knows yet what the others have spent
        left = self._budget - sum(self._limits.values())
        if hungry and left > 0 and self._limits[shard] - begun < MOST / 2:
            self._limits[shard] += max(1, min(MOST, left // (2 * self._shards)))
        return self._limits[shard]


# ── Whose turn it is at an IP address: one book for all shards.


class AddressGrant(msgspec.Struct, frozen=True, array_like=True, gc=False):
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

    leases: dict[int, list[AddressGrant]]
    recalls: dict[int, list[str]]


class GrantBook:
    """Pure: the caller brings the time and carries the post."""

    def __init__(self, *, rest: float, tenure: float) -> None:
        self._rest = rest
        """Seconds between two requests to an address."""
        self._tenure = tenure
        """Seconds that a holder may keep what others want."""
        self._holdings: dict[str, _Holding] = {}
        self._contested: set[str] = set()
        self._leases: dict[int, list[AddressGrant]] = {}
        self._recalls: dict[int, list[str]] = {}

    def want(self, shard: int, addresses: Sequence[str], now: float) -> None:
        for address in addresses:
            holding = self._holdings.get(address)
            if holding is None:
                self._holdings[address] = _Holding(shard, now)
                self._leases.setdefault(shard, []).append(AddressGrant(address, 0.0))
            elif holding.holder != shard and shard not in holding.line:
                holding.line.append(shard)
                self._contested.add(address)

    def give_back(self, shard: int, leases: Sequence[AddressGrant], now: float) -> None:
        for lease in leases:
            holding = self._holdings.get(lease.address)
            if holding is not None and holding.holder == shard:
                self._hand_on(holding, lease, now)

    def _hand_on(self, holding: _Holding, lease: AddressGrant, now: float) -> None:
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
                self._hand_on(holding, AddressGrant(address, self._rest), now)

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


# ── The shard's side of the leases: asks for what the frontier wants, and gives back what was recalled.


class GrantClient:
    """Pure but for the frontier that it serves."""

    def __init__(self, frontier: Frontier) -> None:
        self._frontier = frontier
        self._recalled: dict[str, None] = {}

    def granted(self, leases: Sequence[AddressGrant], now: float) -> None:
        for lease in leases:
            self._frontier.grant_address(lease.address, now, wait=lease.wait, hosts=lease.hosts)

    def recalled(self, addresses: Sequence[str]) -> None:
        for address in addresses:
            self._frontier.recall_address(address)
            self._recalled[address] = None

    def returned(self, now: float) -> list[AddressGrant]:
        """Leases whose last request has ended: no longer ours from here on."""
        back = []
        for address in list(self._recalled):
            clocks = self._frontier.give_back_address(address, now)
            if clocks is not None:
                del self._recalled[address]
                back.append(AddressGrant(address, clocks[0], clocks[1]))
        return back

    def wanted(self) -> list[str]:
        """Addresses to ask for. A lease on its way back is asked for only when it is back."""
        names = self._frontier.addresses_wanted()
        return [name for name in names if name not in self._recalled]
