"""The budget of pages, leased to shards in chunks, so that no request asks anybody for leave."""

from __future__ import annotations

MOST = 500
"""Pages in one chunk."""


class PageLeases:
    """What has been granted never exceeds the budget, and shards that have nothing to do give back.

    >>> leases = PageLeases(10, shards=2)
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
