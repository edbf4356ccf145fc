"""What a crawl is put together from, and when it stops."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from motherlode.crawl.errands import Errands
from motherlode.crawl.filters import Filters
from motherlode.crawl.lanes import ReaderLanes
from motherlode.crawl.lookout import Lookout
from motherlode.crawl.neighbours import Neighbours
from motherlode.crawl.polite import Resolve
from motherlode.crawl.refreshing import Revisits
from motherlode.crawl.trapping import TrapWatch
from motherlode.fetch import Archive, Journal, Prober
from motherlode.frontier import Frontier, Ledger
from motherlode.index import Writer
from motherlode.index.quadlog import QuadLog
from motherlode.index.sinks import Sinks
from motherlode.model import Fetcher, Policy
from motherlode.policy import DEFAULT_REWARD, Reward, reward_from


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """When to stop; None means no limit."""

    pages: int | None = None
    seconds: float | None = None
    bytes: int | None = None
    dry_after: int | None = None
    """Requests in a row, of which at least the share `dry_below` must be finds."""
    dry_below: float = 0.01

    def is_spent(self, *, pages: int, seconds: float, received: int) -> bool:
        """Whether so much is all that there may be.

        >>> Budget(pages=10).is_spent(pages=9, seconds=1e6, received=0)
        False
        """
        return (
            (self.pages is not None and pages >= self.pages)
            or (self.seconds is not None and seconds >= self.seconds)
            or (self.bytes is not None and received >= self.bytes)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What a crawl is put together from; `assemble` does it."""

    ledger: Ledger
    frontier: Frontier
    policy: Policy
    fetcher: Fetcher
    readers: ReaderLanes
    errands: Errands
    writer: Writer
    traps: TrapWatch
    quad_log: QuadLog | None = None
    """The files that the writer appends quads to; None if they go to a store."""
    filters: Filters | None = None
    """Expressions that addresses must pass, which the user may change while the crawl runs."""
    sinks: Sinks | None = None
    """Where quads go beside the store; they end after the writer has."""
    prober: Prober | None = None
    """Decides which pages are asked for by HEAD first; None where none are."""
    revisits: Revisits | None = None
    """What is known of pages that are looked at again; None where none are."""
    archive: Archive | None = None
    """Where all answers are kept as WARC, if the user wants them."""
    sitemaps: bool = True
    """Offer the sitemaps that robots.txt files name."""
    usual_sitemaps: bool = False
    """Offer /sitemap.xml where a robots.txt names none."""
    spelling: Callable[[str], str] | None = None
    """How a recorded web spells its URLs; None on the live web."""
    simplify: Callable[[str], str] | None = None
    """Which address stands for those that are alike; None where each stands for itself."""
    journal: Journal | None = None
    """Where answers are kept until what follows from them is; None where asking again costs nothing."""
    troubles: tuple[str, ...] = ()
    """What was found broken when the crawl was put together; told in its account."""
    resolve: Resolve | None = None
    """Where addresses come from; None where the frontier does not ask for them."""
    lookout: Lookout | None = None
    """Who notices that the network is gone; None where there is none, as in a recorded web."""
    neighbours: Neighbours | None = None
    """Who owns the other hosts, where this crawl is one shard of a larger one."""
    reward: Reward = field(default_factory=lambda: reward_from(DEFAULT_REWARD))
    """What the policy learns from."""
