"""Turns that wait for news of the network, and what the account says of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import pytest

from motherlode.crawler.engine.outage import LeaseResult, OutageBuffer, OutageMonitor, Verdict
from motherlode.crawler.stats.counters import Counters
from motherlode.frontier import Entry, Lease
from motherlode.model import Failure, FailureKind, Fetched, Page, RequestKind

URL = "http://a.example/"
TICKET = Lease(url=URL, host="a.example", kind=RequestKind.PAGE, entry=Entry(url=URL, arm="a", score=0.0, sequence=1))
SILENT = Failure(url=URL, kind=FailureKind.CONNECT, silent=True)


@dataclass
class Told:
    """A lookout that says what it is told to say."""

    says: Verdict = Verdict.WAITS
    outages: int = 0
    seconds: float = 0.0
    since: float | None = None
    noted: int = 0

    def note(self, lease: Lease, fetched: Fetched) -> None:
        self.noted += 1

    def verdict(self, failure: Failure, *, began: float, ended: float) -> Verdict:
        assert began <= ended
        return self.says

    def tend(self, nudge: object) -> None: ...


class Crawl:
    def __init__(self, *, outage_monitor: bool = True, totals: Counters | None = None) -> None:
        self.told, self.totals, self.ending = Told(), totals or Counters(), False
        self.holding = OutageBuffer(
            cast(OutageMonitor, self.told) if outage_monitor else None,
            self.totals,
            nudge=lambda: None,
            ending=lambda: self.ending,
        )

    def turn(self, fetched: Page | Failure = SILENT) -> LeaseResult:
        return self.holding.turn(TICKET, fetched, began=0.0)


def test_where_there_is_no_network_to_lose_everything_counts_at_once() -> None:
    crawl = Crawl(outage_monitor=False)
    assert crawl.holding.verdict(crawl.turn()) is Verdict.COUNTS
    crawl.holding.tend()
    assert not crawl.holding.stands_still and not crawl.holding.is_spent
    assert crawl.holding.idle_for() == float("inf")


@pytest.mark.parametrize(
    "fetched", [Page(url=URL, status=200), Failure(url=URL, kind=FailureKind.CONNECT, silent=True, elsewhere=True)]
)
def test_pages_and_addresses_that_others_stand_in_for_are_never_held(fetched: Page | Failure) -> None:
    crawl = Crawl()
    assert crawl.holding.verdict(crawl.turn(fetched)) is Verdict.COUNTS


def test_what_is_held_is_released_once_there_is_a_verdict() -> None:
    crawl = Crawl()
    first, second = crawl.turn(), crawl.turn()
    assert crawl.told.noted == 2
    for turn in (first, second):
        assert crawl.holding.verdict(turn) is Verdict.WAITS
        crawl.holding.keep(turn)
    assert crawl.holding.released() is None
    crawl.told.says = Verdict.COUNTS
    assert [crawl.holding.released() for _ in range(3)] == [first, second, None]


def test_where_the_crawl_is_to_end_nobody_waits_for_a_verdict() -> None:
    crawl = Crawl()
    turn = crawl.turn()
    crawl.holding.keep(turn)
    crawl.ending = True
    assert crawl.holding.verdict(turn) is Verdict.UNCOUNTED
    assert crawl.holding.released() is turn


def test_the_account_adds_the_outages_of_this_run_to_those_before() -> None:
    crawl = Crawl(totals=Counters(outages=2, outage_seconds=100.0, no_network_since=5.0))
    assert crawl.totals.no_network_since is None, "the run before does not know how it is now"
    for outages, seconds, since in ((0, 0.0, None), (1, 10.0, 50.0), (1, 30.0, 50.0), (1, 40.0, None), (2, 45.0, 99.0)):
        crawl.told.outages, crawl.told.seconds, crawl.told.since = outages, seconds, since
        crawl.holding.tend()
        assert crawl.totals.no_network_since == since
    assert (crawl.totals.outages, crawl.totals.outage_seconds) == (4, 145.0)
    assert crawl.totals.problems == {"network: nobody answered, and the crawl waited": 2}
