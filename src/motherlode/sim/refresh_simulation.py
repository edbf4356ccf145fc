"""A synthetic web that changes, and a month of an endless refresh on it in virtual time.

Pages appear, change and vanish as Poisson processes with known rates. Each host has hub pages, which list their latest
items. A few hub pages are active, most get hardly any new items, and some change often without new items. The refresh
is the real one: frontier, scheduler, policy, `Revisits` and the budget per day are those of a live crawl.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

import msgspec

from motherlode.crawler.engine.scheduler import Scheduler
from motherlode.crawler.engine.settlement import failed_visit
from motherlode.crawler.recrawl.forever import DAY_SECONDS, DailyBudget, revisits_of
from motherlode.crawler.recrawl.revisits import PageMemory, RefreshFirst, RevisitResult, Revisits
from motherlode.frontier import End, Frontier, Lease, MemoryStorage, Politeness
from motherlode.model import Failure, FailureKind, Link, LinkSource, Outcome, Page, Policy, RequestKind, Syntax, Visit
from motherlode.sim.simulator import MOMENT, NoRules
from motherlode.www.urls import host_of

ROUND_SECONDS = 3 * 3600.0
_LISTED = 30
"""Number of items that a hub page lists, the latest ones."""


@dataclass(slots=True)
class ChangingPage:
    """A page with the times at which it appears, changes and vanishes, in seconds since the start of the month."""

    url: str
    relevant: bool
    born: float
    dies: float
    changes: Sequence[float] = ()
    items: list[ChangingPage] = field(default_factory=list)
    """The items of a hub page, the earliest first."""

    def is_live(self, now: float) -> bool:
        return self.born <= now < self.dies

    def listed(self, now: float) -> list[ChangingPage]:
        """Return the latest items that exist."""
        return [item for item in self.items if item.is_live(now)][-_LISTED:]

    def version(self, now: float) -> str:
        """Return a text that differs after each change of the page or its list."""
        return f"{bisect_right(self.changes, now)} {' '.join(item.url for item in self.listed(now))}"


class ChangingWeb:
    """The hosts of a changing web. The random seed determines everything."""

    def __init__(self, seed: int, *, hosts: int = 30, days: float = 30.0) -> None:
        self._random = Random(seed)
        self._end = days * DAY_SECONDS
        self.pages: dict[str, ChangingPage] = {}
        self.roots = [self._make_host(f"host{number}.example") for number in range(hosts)]

    def _make_host(self, name: str) -> str:
        random = self._random
        share = random.choices((0.9, 0.5, 0.03), (0.3, 0.2, 0.5))[0]
        root = self._add(ChangingPage(f"http://{name}/", False, 0.0, self._end * 2))
        for number in range(random.randint(2, 6)):
            url = f"http://{name}/list{number}"
            own_changes = random.choices((0.0, 1.0), (0.7, 0.3))[0]  # per day, without new items
            hub = self._add(ChangingPage(url, False, 0.0, self._end * 2, self._times(own_changes)))
            root.items.append(hub)
            per_day = random.choices((0.0, 0.05, 0.5, 3.0), (0.35, 0.35, 0.2, 0.1))[0]
            births = [0.0] * random.randint(3, 20) + self._times(per_day)
            hub.items = [self._make_item(f"{url}/{index}", share, born) for index, born in enumerate(births)]
        return root.url

    def _make_item(self, url: str, share: float, born: float) -> ChangingPage:
        random = self._random
        rate = random.choices((0.0, 1 / 60, 1 / 10, 1.0), (0.3, 0.3, 0.3, 0.1))[0]
        dies = born + random.expovariate(1 / (120 * DAY_SECONDS))
        return self._add(ChangingPage(url, random.random() < share, born, dies, self._times(rate)))

    def _add(self, page: ChangingPage) -> ChangingPage:
        self.pages[page.url] = page
        return page

    def _times(self, per_day: float) -> list[float]:
        """Return the times of a Poisson process in the month."""
        times, now = [], 0.0
        while per_day and (now := now + self._random.expovariate(per_day / DAY_SECONDS)) < self._end:
            times.append(now)
        return times


@dataclass(slots=True)
class MonthResult:
    """How well one month of an endless refresh kept up with the changes of the web."""

    requests: int = 0
    revisits: int = 0
    new_relevant: int = 0
    """Number of relevant pages that appeared in the month and were fetched."""
    appeared: int = 0
    """Number of relevant pages that appeared in the month."""
    freshness: float = 0.0
    """Mean share of the stored relevant pages that were as stored, over the rounds of the month."""


def uniform_value(memory: PageMemory, now: float) -> float:
    """Return the time since the last visit: a schedule by it visits all pages equally often."""
    return now - memory.visited_at


class Month:
    """An endless refresh of a changing web in virtual time."""

    def __init__(
        self,
        web: ChangingWeb,
        policy: Policy,
        *,
        pages_per_day: int,
        value: Callable[[PageMemory, float], float] | None = None,
    ) -> None:
        self._web = web
        self._per_day = pages_per_day
        self._value = value
        self._storage = MemoryStorage()
        refreshing = RefreshFirst(policy)
        self._frontier = Frontier(
            storage=self._storage,
            policy=refreshing,
            scope=lambda url: "",
            read_rules=NoRules,
            politeness=Politeness(delay=0.0, retries=False),
        )
        self._scheduler = Scheduler(self._frontier, refreshing)
        self._revisits = Revisits(self._storage, self._frontier, refreshing)
        self._stored: dict[str, str] = {}
        """Stored relevant pages and the version of each at its last visit."""
        self._visits = 0
        self.result = MonthResult()

    def run(self, *, days: int) -> MonthResult:
        """Crawl everything at the start, without counting, and then refresh for a number of days."""
        self._scheduler.add_seeds(self._web.roots)
        self._fetch(0.0, None)
        result = self.result = MonthResult()
        before, rounds = self._visits, int(days * DAY_SECONDS / ROUND_SECONDS)
        budget = DailyBudget(began=0.0, fetched_before=before)
        for number in range(rounds):
            now = number * ROUND_SECONDS + MOMENT
            budget = budget.at(now, self._visits)
            allowance = budget.allowance(now, fetched=self._visits, per_day=self._per_day, round_seconds=ROUND_SECONDS)
            new_urls = self._frontier.waiting - self._frontier.revisits_left
            most = revisits_of(allowance, new_urls=new_urls)
            self._revisits.begin_round(now, most=most, value=self._value)
            self._fetch(now, allowance)
            result.freshness += self._freshness(now + ROUND_SECONDS) / rounds
        result.requests = self._visits - before
        end = days * DAY_SECONDS
        result.appeared = sum(page.relevant and 0 < page.born < end for page in self._web.pages.values())
        return result

    def _freshness(self, now: float) -> float:
        pages = self._web.pages
        fresh = sum(pages[url].is_live(now) and pages[url].version(now) == text for url, text in self._stored.items())
        return fresh / len(self._stored) if self._stored else 1.0

    def _fetch(self, now: float, most: int | None) -> None:
        for lease in self._leases(now, most):
            self._visits += 1
            visit = self._revisit(lease, now) if lease.is_revisit else self._visit(lease, now)
            self._storage.append_visit(self._visits, msgspec.msgpack.encode(visit))

    def _leases(self, now: float, most: int | None) -> Iterator[Lease]:
        """Yield leases of pages until nothing waits or `most` were yielded. No host has a robots.txt."""
        last = None if most is None else self._visits + most
        while (last is None or self._visits < last) and (lease := self._frontier.lease(now)) is not None:
            self._frontier.response_received(lease, now)
            if lease.kind is RequestKind.PAGE:
                yield lease
            else:
                self._frontier.end(lease, End.ROBOTS_READ, now)

    def _visit(self, lease: Lease, now: float) -> Visit:
        page = self._web.pages[lease.url]
        if not page.is_live(now):
            return self._fail(lease, now)
        self.result.new_relevant += page.relevant and page.born > 0
        return self._settle(lease, page, now)

    def _revisit(self, lease: Lease, now: float) -> Visit:
        page, entry = self._web.pages[lease.url], self._revisits.entry_before(lease)
        self.result.revisits += 1
        memory = self._revisits.memory(lease.url)
        if not page.is_live(now):
            visit = self._fail(lease, now)
            gone = Failure(url=page.url, kind=FailureKind.NOT_FOUND, fetched_at=now)
            return self._revisits.settle(RevisitResult.GONE, visit, gone)
        if memory is not None and memory.content_hash == page.version(now):
            same = Failure(url=page.url, kind=FailureKind.NOT_MODIFIED, fetched_at=now)
            self._frontier.end(lease, End.FETCHED, now, entry=entry)
            visit = failed_visit(entry, lease.host, same, number=self._visits, now=now)
            return self._revisits.settle(RevisitResult.UNCHANGED, visit, same)
        visit = self._settle(lease, page, now)
        return self._revisits.settle(RevisitResult.CHANGED, visit, Page(url=page.url, status=200, fetched_at=now))

    def _fail(self, lease: Lease, now: float) -> Visit:
        failure = Failure(url=lease.url, kind=FailureKind.NOT_FOUND, fetched_at=now)
        entry = self._revisits.entry_before(lease) if lease.is_revisit else None
        self._scheduler.end_failure(lease, failure, now, entry=entry)
        self._stored.pop(lease.url, None)
        return failed_visit(entry or lease.entry, lease.host, failure, number=self._visits, now=now)

    def _settle(self, lease: Lease, page: ChangingPage, now: float) -> Visit:
        before = self._revisits.entry_before(lease) if lease.is_revisit else None
        new_links = self._scheduler.settle_page(lease, self._outcome(lease, page, now), now, entry=before)
        entry = before or lease.entry
        version = page.version(now)
        if page.relevant:
            self._stored[page.url] = version
        return Visit(
            number=self._visits,
            url=page.url,
            host=host_of(page.url),
            arm=entry.arm,
            parent_url=entry.parent_url,
            at=now,
            relevant=page.relevant,
            quads=1,
            new_links=new_links,
            content_hash=version,
        )

    def _outcome(self, lease: Lease, page: ChangingPage, now: float) -> Outcome:
        links = [Link(url=item.url, source=LinkSource.ANCHOR) for item in page.listed(now)]
        entry = self._revisits.entry_before(lease) if lease.is_revisit else None
        counts = {Syntax.JSON_LD: 1} if page.relevant else {}
        return self._scheduler.page_outcome(lease, relevant=page.relevant, links=links, counts=counts, entry=entry)
