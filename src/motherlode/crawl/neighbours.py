"""What a crawl knows of others when it is one shard of a larger one: almost nothing, and all of it is here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from motherlode.frontier import Entry, Ledger
from motherlode.model import Link, Parent


class Neighbours(Protocol):
    """Those who own the hosts that are not ours."""

    def keep_own(self, links: Sequence[Link], parent: Parent | None, entry: Entry | None) -> Sequence[Link]:
        """Of links that were found, those of our hosts; the others are on their way, at the latest with `seal`."""
        ...

    def seal(self) -> None:
        """A commit follows: what is on its way must be part of it."""
        ...

    def committed(self) -> None:
        """All that came before is lasting."""
        ...

    def close(self) -> None:
        """The ledger is about to be closed: leave it alone from now on."""
        ...


Join = Callable[[Ledger, Callable[[str], str]], Neighbours]
"""Makes a crawl a shard: given its ledger, and why a link stays out whoever owns it (or "")."""
