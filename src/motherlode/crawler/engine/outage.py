"""Whether there is a network at all: told from who answers and who does not. Pure; `now` is any clock that only rises.

A failure in which nothing came back may be the host's or our own. So it is not judged at once: it waits until somebody
else has answered, which takes moments in a crawl that goes well, and counts then. Where hosts in several networks are
silent and nobody answers for some seconds more, the crawl *stands still*: nothing new begins, and hosts that have
answered before are asked as witnesses. If one answers, the silent ones are dead, and their failures count. If none
does, there is no network: what has failed goes back uncounted, and witnesses are asked now and then until one answers.

Dead hosts must not keep a crawl from ending. Fewer networks than `MIN_RESPONDING_HOSTS`
never raise a doubt. After each doubt that
came to nothing, and each outage that is over, silence is believed for a time that doubles, and counts. Where nobody
has ever answered, or so few that all may have died, the hosts are taken for dead after ten minutes. Otherwise the crawl
ends after a day, with its frontier whole.

>>> outlook = Outlook(unit=15.0)
>>> outlook.heard(0.0)
>>> for number in range(3):
...     outlook.silent(f"198.51.{number}", now=20.0)
>>> outlook.ask_at, outlook.verdict(began=19.0, ended=20.0, now=20.0)
(25.0, <Verdict.WAITS: 'waits'>)
>>> outlook.asking()
>>> outlook.asked_in_vain(26.0, enough_witnesses=True)
>>> outlook.since, outlook.verdict(began=19.0, ended=20.0, now=26.0)
(20.0, <Verdict.UNCOUNTED: 'uncounted'>)
>>> outlook.heard(400.0)
>>> outlook.since is None, outlook.outages, outlook.seconds(500.0)
(True, 1, 380.0)
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import islice
from math import inf

from motherlode.crawler.engine.robots_and_dns import PoliteFetcher, Resolve
from motherlode.crawler.parsing.messages import ParsedPage
from motherlode.crawler.stats.counters import Counters
from motherlode.frontier import Frontier, HostRecord, Lease
from motherlode.model import Failure, FailureKind, Fetched, Fetcher, Page, Request, RequestKind
from motherlode.www.urls import host_of, origin_of, registrable_domain

MIN_RESPONDING_HOSTS = 3
"""Networks that must be silent before it can be our own, and witnesses in so many must once have answered."""
_GRACE = 1 / 3
"""Units of the retry wait, five seconds by default, in which others may answer before witnesses are asked."""
_LONGEST_PAUSE = 20.0
"""Units: the longest time between two questions to witnesses, and the longest for which silence is believed."""
_FORGOTTEN = 240.0
"""Units after which a doubt no longer makes the next one less likely."""
_PATIENCE = 5760.0
"""Units, a day by default, for which a network that was there is waited for."""
_PATIENCE_WITHOUT_WITNESSES = 40.0


class Verdict(Enum):
    """What a failure in which nothing came back means for its page and its host."""

    COUNTS = "counts"
    WAITS = "waits"
    """Nobody can tell yet."""
    UNCOUNTED = "uncounted"


def network_of(address: str, host: str) -> str:
    """What fails together: neighbours in one network, or the names below one domain where no address is known.

    >>> network_of("198.51.100.7", "a.example"), network_of("2001:db8:1:2::7", ""), network_of("", "www.b.example:81")
    ('198.51.100', '2001:db8:1', 'b.example')
    """
    if not address:
        return registrable_domain(host)
    return ":".join(address.split(":")[:3]) if ":" in address else address.rpartition(".")[0] or address


class NetworkState:
    """Is told of every answer and of every silence; `unit` is the configured retry wait in seconds."""

    def __init__(self, *, unit: float) -> None:
        self._unit = unit
        self._heard_at = -inf
        self._silences: dict[str, float] = {}
        """Networks that were silent since somebody answered, and when first."""
        self._rounds = 0
        """How often witnesses were asked in vain."""
        self._ask_at = inf
        self._asking = False
        """Witnesses are being asked."""
        self._alarms, self._alarm_at = 0, -inf
        self._believed_until = -inf
        self._over_at = -inf
        self._before = 0.0
        """Seconds of the outages that are over."""
        self._resigned = False
        """Nobody ever answers: the hosts are taken for dead."""
        self.since: float | None = None
        """When the first was silent, while there is no network."""
        self.outages = 0

    # ── what is told ─────────────────────────────────────────────────────────────────────────────────

    def heard(self, now: float) -> None:
        """Somebody answered: there is a network."""
        if self.since is not None:
            self._before, self._over_at = self.seconds(now), now
        if self.since is not None or self._asking:
            self._believe(now)
        self._heard_at, self.since, self._resigned = now, None, False
        self._silences.clear()
        self._rounds, self._ask_at, self._asking = 0, inf, False

    def silent(self, network: str, now: float) -> None:
        """A host in this network was asked, and nothing came back."""
        if now < self._believed_until or self._resigned:
            return
        self._silences.setdefault(network, now)
        if self._is_doubtful and self._ask_at == inf and not self._asking:
            self._ask_at = now + _GRACE * self._unit

    def asking(self) -> None:
        """Witnesses are asked from now on."""
        self._asking, self._ask_at = True, inf

    def asked_in_vain(self, now: float, *, enough_witnesses: bool) -> None:
        """No witness answered, or there is none."""
        if not self._asking:
            return  # somebody has answered meanwhile
        self._asking = False
        if self.since is None:
            self.since = min(self._silences.values())
            self.outages += 1
        self._rounds += 1
        self._ask_at = now + self._unit * min(2.0 ** (self._rounds - 1), _LONGEST_PAUSE)
        if not enough_witnesses and now >= self.since + _PATIENCE_WITHOUT_WITNESSES * self._unit:
            self._before, self.since, self._resigned = self.seconds(now), None, True
            self._silences.clear()
            self._ask_at = inf

    def _believe(self, now: float) -> None:
        """A doubt soon after another is less likely to be more than dead hosts."""
        forgotten = now - self._alarm_at > _FORGOTTEN * self._unit
        self._alarms, self._alarm_at = 1 if forgotten else self._alarms + 1, now
        self._believed_until = now + self._unit * min(2.0 ** min(self._alarms, 10), _LONGEST_PAUSE)

    # ── what follows ─────────────────────────────────────────────────────────────────────────────────

    @property
    def _is_doubtful(self) -> bool:
        return len(self._silences) >= MIN_RESPONDING_HOSTS

    @property
    def stands_still(self) -> bool:
        """Nothing new is to begin: witnesses are being asked, or none has answered."""
        return self._asking or self.since is not None

    @property
    def ask_at(self) -> float:
        """When witnesses are to be asked; infinite where there is nothing to ask them."""
        return self._ask_at

    def is_spent(self, now: float) -> bool:
        """Enough was waited for a network that was there."""
        return self.since is not None and now >= self.since + _PATIENCE * self._unit

    @property
    def silent_networks(self) -> frozenset[str]:
        return frozenset(self._silences)

    def seconds(self, now: float) -> float:
        """Without a network, in all."""
        return self._before + (0.0 if self.since is None else now - self.since)

    def verdict(self, *, began: float, ended: float, now: float) -> Verdict:
        """Of a request in which nothing came back, by its times."""
        if self.since is not None or began <= self._over_at:
            return Verdict.UNCOUNTED
        if self._resigned or self._heard_at > ended or ended < self._believed_until:
            return Verdict.COUNTS
        if not self._is_doubtful and now >= ended + self._unit:
            return Verdict.COUNTS  # too few were asked for anybody to tell
        return Verdict.WAITS


# ── Listens to every answer, and asks witnesses where nobody answers any more: the half of `outlook` that has a …

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

    def __init__(self, inner: Fetcher, outlook: NetworkState) -> None:
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


class OutageMonitor:
    """Says what a silence means, and finds out. `tend` is called often."""

    def __init__(
        self, outlook: NetworkState, listener: ListeningFetcher, frontier: Frontier, *, resolve: Resolve, unit: float
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

    def note(self, lease: Lease, fetched: Fetched) -> None:
        """What came of a ticket; only silence is news, for answers were heard by the fetcher."""
        if isinstance(fetched, Failure) and fetched.silent and not fetched.recalled:
            network = network_of(lease.address, host_of(lease.url))
            self._silent.keep(network, origin_of(lease.url))
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
        self._outlook.asked_in_vain(time.monotonic(), enough_witnesses=len(self._witnesses) >= MIN_RESPONDING_HOSTS)

    def _chosen(self) -> list[str]:
        first = self._outlook.since is None
        if not self._witnesses:
            return [] if first else self._silent.choose(_THEN_ASKED)  # whose own requests must have ended before
        return self._witnesses.choose(_FIRST_ASKED if first else _THEN_ASKED, unless=self._outlook.silent_networks)

    async def _ask(self, origin: str, until: float) -> None:
        await self._polite.fetch(Request(url=f"{origin}/robots.txt", kind=RequestKind.SUBREQUEST), wait_until=until)

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


# ── Turns that are over, and those of them that wait until it is known whether there is a network.

_PROBLEM = "network: nobody answered, and the crawl waited"


@dataclass(frozen=True, slots=True)
class LeaseResult:
    """A ticket that has been fetched and read."""

    lease: Lease
    fetched: Page | Failure
    reading: ParsedPage | None
    began: float
    """With the next, by a clock that only rises: when the ticket was used."""
    ended: float


class OutageBuffer:
    """Without a lookout every failure counts at once, and nothing is ever held."""

    def __init__(
        self,
        outage_monitor: OutageMonitor | None,
        totals: Counters,
        *,
        nudge: Callable[[], None],
        ending: Callable[[], bool],
    ) -> None:
        self._lookout = outage_monitor
        self._totals = totals
        self._nudge = nudge
        self._ending = ending
        """Whether nothing begins any more: then nobody finds out."""
        self._turns: list[LeaseResult] = []
        self._outages, self._seconds = 0, 0.0
        """What the account knows of this run's."""
        totals.no_network_since = None

    def tend(self) -> None:
        """Let the lookout do what it has to, and the account say how the network is."""
        lookout, totals = self._lookout, self._totals
        if lookout is None:
            return
        lookout.tend(self._nudge)
        outages, seconds = lookout.outages, lookout.seconds
        for _ in range(outages - self._outages):
            totals.outages += 1
            totals.note_problem(_PROBLEM)
        totals.outage_seconds += seconds - self._seconds
        totals.no_network_since = lookout.since
        self._outages, self._seconds = outages, seconds

    @property
    def stands_still(self) -> bool:
        """Nothing new is to begin."""
        return self._lookout is not None and self._lookout.stands_still

    @property
    def is_spent(self) -> bool:
        """Enough was waited for a network."""
        return self._lookout is not None and self._lookout.is_spent

    def idle_for(self) -> float:
        """Seconds until `tend` has something to do."""
        return inf if self._lookout is None else self._lookout.idle_for()

    def turn(
        self, lease: Lease, fetched: Page | Failure, reading: ParsedPage | None = None, *, began: float
    ) -> LeaseResult:
        """A turn that ends now."""
        if self._lookout is not None:
            self._lookout.note(lease, fetched)
        return LeaseResult(lease, fetched, reading, began, time.monotonic())

    def verdict(self, turn: LeaseResult) -> Verdict:
        """Whether what came of a turn counts."""
        if self._lookout is None or not isinstance(turn.fetched, Failure) or turn.fetched.elsewhere:
            return Verdict.COUNTS
        verdict = self._lookout.verdict(turn.fetched, began=turn.began, ended=turn.ended)
        return Verdict.UNCOUNTED if verdict is Verdict.WAITS and self._ending() else verdict

    def keep(self, turn: LeaseResult) -> None:
        self._turns.append(turn)

    def released(self) -> LeaseResult | None:
        """One that need not wait any longer."""
        found = next((turn for turn in self._turns if self.verdict(turn) is not Verdict.WAITS), None)
        if found is not None:
            self._turns.remove(found)
        return found
