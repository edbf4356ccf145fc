"""What a crawl knows of others when it is one shard of a larger one: almost nothing, and all of it is here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from motherlode.crawler.engine.outage import OutageMonitor
from motherlode.crawler.engine.robots_and_dns import Resolve
from motherlode.crawler.engine.subrequests import Subrequests
from motherlode.crawler.parsing.parser_pool import ParserLanes
from motherlode.crawler.recrawl.revisits import Revisits
from motherlode.crawler.url_rules import Filters, TrapWatch
from motherlode.fetch import Prober, ResponseJournal, WarcArchive
from motherlode.frontier import Entry, Frontier, FrontierStorage
from motherlode.index import BatchWriter
from motherlode.index.nquads_log import NQuadsLog
from motherlode.index.sinks import Sinks
from motherlode.model import Fetcher, Link, Parent, Policy
from motherlode.policies import DEFAULT_REWARD, Reward, reward_from


class Peers(Protocol):
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


Join = Callable[[FrontierStorage, Callable[[str], str]], Peers]
"""Makes a crawl a shard: given its ledger, and why a link stays out whoever owns it (or "")."""


# ── What a crawl is put together from, and when it stops.


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """When to stop; None means no limit."""

    pages: int | None = None
    seconds: float | None = None
    bytes: int | None = None
    stop_after: int | None = None
    """Requests in a row, of which at least the share `stop_below` must be finds."""
    stop_below: float = 0.01

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
class Components:
    """What a crawl is put together from; `assemble` does it."""

    storage: FrontierStorage
    frontier: Frontier
    policy: Policy
    fetcher: Fetcher
    readers: ParserLanes
    subrequests: Subrequests
    writer: BatchWriter
    traps: TrapWatch
    quad_log: NQuadsLog | None = None
    """The files that the writer appends quads to; None if they go to a store."""
    filters: Filters | None = None
    """Expressions that addresses must pass, which the user may change while the crawl runs."""
    sinks: Sinks | None = None
    """Where quads go beside the store; they end after the writer has."""
    prober: Prober | None = None
    """Decides which pages are asked for by HEAD first; None where none are."""
    revisits: Revisits | None = None
    """What is known of pages that are looked at again; None where none are."""
    archive: WarcArchive | None = None
    """Where all answers are kept as WARC, if the user wants them."""
    sitemaps: bool = True
    """Offer the sitemaps that robots.txt files name."""
    usual_sitemaps: bool = False
    """Offer /sitemap.xml where a robots.txt names none."""
    spelling: Callable[[str], str] | None = None
    """How a recorded web spells its URLs; None on the live web."""
    simplify: Callable[[str], str] | None = None
    """Which address stands for those that are alike; None where each stands for itself."""
    journal: ResponseJournal | None = None
    """Where answers are kept until what follows from them is; None where asking again costs nothing."""
    troubles: tuple[str, ...] = ()
    """What was found broken when the crawl was put together; told in its account."""
    resolve: Resolve | None = None
    """Where addresses come from; None where the frontier does not ask for them."""
    outage_monitor: OutageMonitor | None = None
    """Who notices that the network is gone; None where there is none, as in a recorded web."""
    peers: Peers | None = None
    """Who owns the other hosts, where this crawl is one shard of a larger one."""
    reward: Reward = field(default_factory=lambda: reward_from(DEFAULT_REWARD))
    """What the policy learns from."""
