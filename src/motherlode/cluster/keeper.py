"""The shard's side of the leases: asks for what the frontier wants, and gives back what was recalled."""

from __future__ import annotations

from collections.abc import Sequence

from motherlode.cluster.leases import Lease
from motherlode.frontier import Frontier


class LeaseKeeper:
    """Pure but for the frontier that it serves."""

    def __init__(self, frontier: Frontier) -> None:
        self._frontier = frontier
        self._recalled: dict[str, None] = {}

    def granted(self, leases: Sequence[Lease], now: float) -> None:
        for lease in leases:
            self._frontier.grant_address(lease.address, now, wait=lease.wait, hosts=lease.hosts)

    def recalled(self, addresses: Sequence[str]) -> None:
        for address in addresses:
            self._frontier.recall_address(address)
            self._recalled[address] = None

    def returned(self, now: float) -> list[Lease]:
        """Leases whose last request has ended: no longer ours from here on."""
        back = []
        for address in list(self._recalled):
            clocks = self._frontier.give_back_address(address, now)
            if clocks is not None:
                del self._recalled[address]
                back.append(Lease(address, clocks[0], clocks[1]))
        return back

    def wanted(self) -> list[str]:
        """Addresses to ask for. A lease on its way back is asked for only when it is back."""
        names = self._frontier.addresses_wanted()
        return [name for name in names if name not in self._recalled]
