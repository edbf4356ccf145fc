"""Listens to every answer, and asks witnesses where nobody answers any more: the half of `outlook` that has a network.

A witness is a host that has answered before. What it is asked for is its robots.txt, which anybody may ask for and
which costs it next to nothing, and every such request passes the clocks of its host and its address.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from itertools import islice

from motherlode.crawl.outlook import ENOUGH, Outlook, Verdict, network_of
from motherlode.crawl.polite import PoliteFetcher, Resolve
from motherlode.frontier import Frontier, HostRecord, Ticket
from motherlode.model import Failure, FailureKind, Fetched, Fetcher, Request, RequestKind
from motherlode.www.urls import host_of, origin_of

_MOST_KEPT = 32
_FIRST_ASKED, _THEN_ASKED = 3, 2
"""Witnesses in the round that decides, and in those in which a network is waited for."""
_WAIT = 2.0
"""Units of the retry wait that a witness's own clock may make us wait."""
_ROUND_LOOK = 1.0
"""Seconds between two looks at a round that is under way; its end is told at once."""
_UNHEARD = frozenset({FailureKind.DNS, FailureKind.GUARD, FailureKind.SCHEME})
"""Failures that tell nothing: a name server beside us may say no of its own, and a rule of ours needs no network."""


def is_sign_of_life(fetched: Fetched) -> bool:
    """Whether something came over the network."""
    return not (isinstance(fetched, Failure) and (fetched.silent or fetched.kind in _UNHEARD))


class Origins:
    """One origin for each network, the last ones last. Who is chosen goes to the other end.

    >>> origins = Origins()
    >>> for network in "abc":
    ...     origins.keep(network, f"http://{network}.example")
    >>> origins.choose(2), origins.choose(2, unless={"a"})
    (['http://c.example', 'http://b.example'], ['http://c.example', 'http://b.example'])
    """

    def __init__(self) -> None:
        self._origins: OrderedDict[str, str] = OrderedDict()

    def __len__(self) -> int:
        return len(self._origins)

    def keep(self, network: str, origin: str) -> None:
        self._origins[network] = origin
        self._origins.move_to_end(network)
        if len(self._origins) > _MOST_KEPT:
            self._origins.popitem(last=False)

    def choose(self, count: int, *, unless: frozenset[str] | set[str] = frozenset()) -> list[str]:
        """The last ones, those in some networks only where there are no others."""
        networks = [network for network in reversed(self._origins) if network not in unless]
        chosen = (networks or list(reversed(self._origins)))[:count]
        for network in chosen:
            self._origins.move_to_end(network, last=False)
        return [self._origins[network] for network in chosen]


class ListeningFetcher:
    """A fetcher that notes who answers."""

    def __init__(self, inner: Fetcher, outlook: Outlook) -> None:
        self._inner = inner
        self._outlook = outlook
        self.witnesses = Origins()

    async def fetch(self, request: Request) -> Fetched:
        fetched = await self._inner.fetch(request)
        if is_sign_of_life(fetched):
            self.witnesses.keep(network_of(fetched.address, host_of(request.url)), origin_of(request.url))
            self._outlook.heard(time.monotonic())
        return fetched

    async def close(self) -> None:
        await self._inner.close()


class Lookout:
    """Says what a silence means, and finds out. `tend` is called often."""

    def __init__(
        self, outlook: Outlook, listener: ListeningFetcher, frontier: Frontier, *, resolve: Resolve, unit: float
    ) -> None:
        self._outlook = outlook
        self._witnesses = listener.witnesses
        self._silent = Origins()
        """Asked where there is no witness."""
        self._frontier = frontier
        self._polite = PoliteFetcher(frontier, listener, resolve=resolve)
        self._wait = _WAIT * unit
        self._round: asyncio.Task[None] | None = None

    # ── what a failure means ─────────────────────────────────────────────────────────────────────────

    def note(self, ticket: Ticket, fetched: Fetched) -> None:
        """What came of a ticket; only silence is news, for answers were heard by the fetcher."""
        if isinstance(fetched, Failure) and fetched.silent and not fetched.recalled:
            network = network_of(ticket.address, host_of(ticket.url))
            self._silent.keep(network, origin_of(ticket.url))
            self._outlook.silent(network, time.monotonic())

    def verdict(self, failure: Failure, *, began: float, ended: float) -> Verdict:
        """Whether a failure counts, by when its request began and ended."""
        if failure.silent and failure.recalled:
            return Verdict.UNCOUNTED  # of a run that was killed before it could tell
        no_name = failure.kind is FailureKind.DNS and self._outlook.since is not None  # who would have known it?
        if not (failure.silent or no_name):
            return Verdict.COUNTS
        return self._outlook.verdict(began=began, ended=ended, now=time.monotonic())

    @property
    def stands_still(self) -> bool:
        """Nothing new is to begin."""
        return self._outlook.stands_still

    @property
    def is_spent(self) -> bool:
        """Enough was waited for a network."""
        return self._outlook.is_spent(time.monotonic())

    @property
    def outages(self) -> int:
        return self._outlook.outages

    @property
    def seconds(self) -> float:
        """Without a network, in all."""
        return self._outlook.seconds(time.monotonic())

    @property
    def since(self) -> float | None:
        """Since when there is no network, by the clock of the wall; None where there is one."""
        since = self._outlook.since
        return None if since is None else time.time() - (time.monotonic() - since)

    # ── asking ───────────────────────────────────────────────────────────────────────────────────────

    def tend(self, nudge: Callable[[], None]) -> None:
        """Ask witnesses when it is time; `nudge` is called when that has ended."""
        if self._round is not None and self._round.done():
            self._round.result()  # if a part of ours broke, let it be seen
            self._round = None
        if self._round is None and time.monotonic() >= self._outlook.ask_at:
            self._outlook.asking()
            self._round = asyncio.create_task(self._ask_witnesses())
            self._round.add_done_callback(lambda _: nudge())

    def idle_for(self) -> float:
        """Seconds until `tend` has something to do."""
        return _ROUND_LOOK if self._round is not None else max(0.0, self._outlook.ask_at - time.monotonic())

    async def _ask_witnesses(self) -> None:
        if not self._witnesses:
            for network, origin in islice(_answered_before(self._frontier.host_records()), _MOST_KEPT):
                self._witnesses.keep(network, origin)
        until = time.time() + self._wait
        await asyncio.gather(*(self._ask(origin, until) for origin in self._chosen()))
        self._outlook.asked_in_vain(time.monotonic(), enough_witnesses=len(self._witnesses) >= ENOUGH)

    def _chosen(self) -> list[str]:
        first = self._outlook.since is None
        if not self._witnesses:
            return [] if first else self._silent.choose(_THEN_ASKED)  # whose own requests must have ended before
        return self._witnesses.choose(_FIRST_ASKED if first else _THEN_ASKED, unless=self._outlook.silent_networks)

    async def _ask(self, origin: str, until: float) -> None:
        await self._polite.fetch(Request(url=f"{origin}/robots.txt", kind=RequestKind.ERRAND), wait_until=until)

    async def close(self) -> None:
        if self._round is not None:
            self._round.cancel()
            await asyncio.gather(self._round, return_exceptions=True)


def _answered_before(records: list[HostRecord]) -> Iterator[tuple[str, str]]:
    """Hosts that a run before this one has met."""
    for record in records:
        if record.robots is not None or record.secure_robots is not None:
            scheme = "http" if record.secure_robots is None else "https"
            yield network_of(record.address, record.name), f"{scheme}://{record.name}"
