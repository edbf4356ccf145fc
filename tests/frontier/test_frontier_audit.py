"""Crawls of synthetic webs with a simulated clock, checked by the access logs of the servers."""

from __future__ import annotations

import heapq
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

from motherlode.frontier import End, Frontier, FrontierStorage, Lease, LmdbStorage, MemoryStorage
from motherlode.model import FailureKind, Link, LinkSource, RequestKind
from motherlode.www.urls import host_of

from .fakes import FakeRules, failure, frontier_on, page_outcome, redirect

PAGES = 12
KINDS = [FailureKind.TIMEOUT, FailureKind.RESET, FailureKind.SERVER_ERROR, FailureKind.NOT_FOUND]


@dataclass
class World:
    """Hosts with robots.txt, some redirected to another host, and pages with links, redirects or errors."""

    seed: int
    hosts: int = 8
    log: list[tuple[str, float, float, str]] = field(default_factory=list)
    """Contacted host, start time, end time, URL."""

    def __post_init__(self) -> None:
        random = Random(self.seed)
        self.names = [f"h{number}.example" for number in range(self.hosts)]
        choices = [b"", b"delay:4", b"no:/3", b"delay:1.5 no:/5"]
        self.rules = {name: random.choice(choices) for name in self.names}
        self.moved = {name: random.choice(self.names) for name in self.names if random.random() < 0.4}
        self.robots_errors = Counter({name: random.randrange(2) for name in self.names})
        self.links = {
            f"http://{name}/{number}": [
                f"http://{random.choice(self.names)}/{random.randrange(PAGES)}" for _ in range(random.randrange(6))
            ]
            for name in self.names
            for number in range(PAGES)
        }
        self.trouble = {url: random.choice(KINDS) for url in self.links if random.random() < 0.2}
        self.redirects = {url: random.choice(list(self.links)) for url in self.links if random.random() < 0.1}
        self.random = random

    def delay(self, name: str, configured: float) -> float:
        return max(configured, FakeRules(self.rules[name]).delay or 0.0)


def settle(world: World, frontier: Frontier, lease: Lease, now: float) -> None:
    if lease.kind is RequestKind.ROBOTS:
        settle_robots(world, frontier, lease, now)
    elif lease.url in world.redirects:
        target = Link(url=world.redirects[lease.url], source=LinkSource.REDIRECT)
        frontier.add_links([target], parent=page_outcome(lease))
        frontier.end(lease, End.FAILED, now, failure=failure(FailureKind.REDIRECT))
    elif lease.url in world.trouble and world.random.random() < 0.7:
        frontier.end(lease, End.FAILED, now, failure=failure(world.trouble[lease.url]))
    else:
        links = [Link(url=url, source=LinkSource.ANCHOR) for url in world.links[lease.url]]
        frontier.add_links(links, parent=page_outcome(lease))
        frontier.end(lease, End.FETCHED, 0.0)


def settle_robots(world: World, frontier: Frontier, lease: Lease, now: float) -> None:
    asked = host_of(lease.url)
    if world.robots_errors[lease.host]:
        world.robots_errors[lease.host] -= 1
        frontier.end(lease, End.ROBOTS_UNREADABLE, now, failure=failure(FailureKind.SERVER_ERROR))
    elif asked == lease.host and lease.host in world.moved and lease.url.endswith("/robots.txt"):
        assert (
            frontier.end(
                lease,
                End.ROBOTS_MOVED,
                0.0,
                failure=redirect(f"http://{world.moved[lease.host]}/rules-of-{lease.host}"),
            )
            is not None
        )
    else:
        frontier.end(lease, End.ROBOTS_READ, now, robots=world.rules[lease.host])


def crawl(world: World, frontier: Frontier, *, start: float, stop_after: int = 10**9) -> float:
    """Run until the frontier is exhausted or `stop_after` requests have started. Return the time at the end."""
    now, begun = start, 0
    under_way: list[tuple[float, int, Lease]] = []
    unsettled: list[tuple[float, int, Lease]] = []
    for _ in range(100_000):
        while begun < stop_after and len(under_way) < 6 and (lease := frontier.lease(now)) is not None:
            begun += 1
            end = now + world.random.uniform(0.01, 3.0)
            world.log.append((host_of(lease.url), now, end, lease.url))
            heapq.heappush(under_way, (end, begun, lease))
        if begun >= stop_after or frontier.exhausted:
            return now
        ripe = frontier.idle_until() if len(under_way) < 6 else None
        times = [t for t in (ripe, under_way and under_way[0][0], unsettled and unsettled[0][0]) if t]
        assert times, "something is left, but nothing will bring it"
        now = max(now, min(times))
        while under_way and under_way[0][0] <= now:
            end, number, lease = heapq.heappop(under_way)
            frontier.response_received(lease, end)
            heapq.heappush(unsettled, (end + world.random.choice([0.0, 2.0]), number, lease))
        while unsettled and unsettled[0][0] <= now:
            _, _, lease = heapq.heappop(unsettled)
            settle(world, frontier, lease, now)
    pytest.fail("the crawl does not come to an end")


def audit(world: World, configured: float, *, per_host: int = 4) -> None:
    """Check the access logs: delays are kept, robots.txt is first, no disallowed URL is requested."""
    by_host: dict[str, list[tuple[float, float, str]]] = {}
    for name, begin, end, url in sorted(world.log, key=lambda line: line[1]):
        by_host.setdefault(name, []).append((begin, end, url))
    for name, lines in by_host.items():
        pages = [url for _, _, url in lines if url in world.links]
        rules = FakeRules(world.rules[name])
        assert all(rules.allows(url) for url in pages)
        learned = first_page(lines, world)
        if pages:
            last = f"/rules-of-{name}" if name in world.moved else f"//{name}/robots.txt"
            assert any(end <= learned for _, _, end, url in world.log if url.endswith(last)), (
                f"{name}: rules come first"
            )
        for (_, before, _), (begin, _, _) in pairwise(lines):
            delay = world.delay(name, configured) if begin >= learned else configured
            assert delay == 0 or begin >= before + delay - 1e-9, f"{name} was asked again after {begin - before} s"
        for begin, _, _ in lines:
            assert sum(b <= begin < e for b, e, _ in lines) <= per_host


def first_page(lines: list[tuple[float, float, str]], world: World) -> float:
    return min((begin for begin, _, url in lines if url in world.links), default=float("inf"))


def reachable(world: World) -> set[str]:
    """Return every URL that a crawl from the home pages must find."""
    found: set[str] = set()
    todo = [f"http://{name}/0" for name in world.names]
    while todo:
        url = todo.pop()
        if url in found:
            continue
        found.add(url)
        if FakeRules(world.rules[host_of(url)]).allows(url) and url not in world.trouble:
            todo += [world.redirects[url]] if url in world.redirects else world.links[url]
    return found


def seed(world: World, frontier: Frontier) -> None:
    links = [Link(url=f"http://{name}/0", source=LinkSource.SEED) for name in world.names]
    frontier.add_links(links, parent=None)


@pytest.mark.parametrize("delay", [0.0, 2.0])
@pytest.mark.parametrize("number", range(6))
def test_random_crawl_is_polite_complete_and_ends(number: int, delay: float) -> None:
    world = World(number)
    storage = MemoryStorage()
    frontier = frontier_on(storage, delay=delay, robots=True)
    seed(world, frontier)
    crawl(world, frontier, start=1000.0)
    audit(world, delay)
    asked = Counter(url for _, _, _, url in world.log if url in world.links)
    missed = [url for url in reachable(world) if not storage.known_of([url])[0]]
    assert not missed
    for url, times in asked.items():
        assert times == 1 or url in world.trouble, f"{url} was fetched {times} times"


def test_single_host_is_contacted_as_often_as_its_delay_allows() -> None:
    """The crawl sends at least 90 % of the requests that the delays allow."""
    world = World(1, hosts=1)
    world.rules = {"h0.example": b""}
    world.moved, world.trouble, world.redirects = {}, {}, {}
    world.links = {url: [f"http://h0.example/{n}" for n in range(PAGES)] for url in world.links}
    frontier = frontier_on(delay=2.0, robots=True)
    world.robots_errors.clear()
    seed(world, frontier)
    end = crawl(world, frontier, start=1000.0)
    busy = sum(stop - begin for _, begin, stop, _ in world.log)
    needed = busy + 2.0 * (len(world.log) - 1)
    assert len(world.log) == PAGES + 1
    assert end - 1000.0 <= needed / 0.9


@pytest.mark.parametrize("number", range(3))
def test_crawl_killed_many_times_ends_with_the_same_pages(number: int, tmp_path: Path) -> None:
    def quiet(world: World) -> World:
        world.trouble.clear()
        return world

    calm = quiet(World(number))
    whole: FrontierStorage = MemoryStorage()
    frontier = frontier_on(whole, delay=0.5, robots=True)
    seed(calm, frontier)
    crawl(calm, frontier, start=1000.0)

    world = quiet(World(number))
    random, now, kills = Random(number), 1000.0, 0
    while True:
        storage = LmdbStorage(tmp_path / "f")
        frontier = frontier_on(storage, delay=0.5, robots=True)
        seed(world, frontier)
        now = crawl(world, frontier, start=now + 0.01, stop_after=random.randrange(1, 40))
        if frontier.exhausted:
            break
        kills += 1
        if random.random() < 0.7:
            frontier.commit()
        storage.close()
    assert kills > 3
    assert frontier.known_urls == len(reachable(world))
    assert all(storage.known_of([url])[0] == whole.known_of([url])[0] for url in world.links)
    states, expected = (
        {url: found[1] for url in world.links if (found := book.find(url))} for book in (storage, whole)
    )
    assert states == expected
    storage.close()
