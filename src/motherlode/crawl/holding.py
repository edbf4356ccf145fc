"""Turns that are over, and those of them that wait until it is known whether there is a network."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from math import inf

from motherlode.crawl.lookout import Lookout
from motherlode.crawl.outlook import Verdict
from motherlode.crawl.readings import Reading
from motherlode.crawl.totals import Totals
from motherlode.frontier import Ticket
from motherlode.model import Failure, Page

_PROBLEM = "network: nobody answered, and the crawl waited"


@dataclass(frozen=True, slots=True)
class Turn:
    """A ticket that has been fetched and read."""

    ticket: Ticket
    fetched: Page | Failure
    reading: Reading | None
    began: float
    """With the next, by a clock that only rises: when the ticket was used."""
    ended: float


class Holding:
    """Without a lookout every failure counts at once, and nothing is ever held."""

    def __init__(
        self, lookout: Lookout | None, totals: Totals, *, nudge: Callable[[], None], ending: Callable[[], bool]
    ) -> None:
        self._lookout = lookout
        self._totals = totals
        self._nudge = nudge
        self._ending = ending
        """Whether nothing begins any more: then nobody finds out."""
        self._turns: list[Turn] = []
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

    def turn(self, ticket: Ticket, fetched: Page | Failure, reading: Reading | None = None, *, began: float) -> Turn:
        """A turn that ends now."""
        if self._lookout is not None:
            self._lookout.note(ticket, fetched)
        return Turn(ticket, fetched, reading, began, time.monotonic())

    def verdict(self, turn: Turn) -> Verdict:
        """Whether what came of a turn counts."""
        if self._lookout is None or not isinstance(turn.fetched, Failure) or turn.fetched.elsewhere:
            return Verdict.COUNTS
        verdict = self._lookout.verdict(turn.fetched, began=turn.began, ended=turn.ended)
        return Verdict.UNCOUNTED if verdict is Verdict.WAITS and self._ending() else verdict

    def keep(self, turn: Turn) -> None:
        self._turns.append(turn)

    def released(self) -> Turn | None:
        """One that need not wait any longer."""
        found = next((turn for turn in self._turns if self.verdict(turn) is not Verdict.WAITS), None)
        if found is not None:
            self._turns.remove(found)
        return found
