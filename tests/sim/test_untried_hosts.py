"""Whole crawls of webs in which one domain has very many hosts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from random import Random

import pytest

from motherlode.model import Link, LinkSource, Syntax
from motherlode.policies import policy_from
from motherlode.sim.simulator import SimResult, Simulation, Timing
from motherlode.sim.web_protocol import SimPage
from motherlode.www.urls import host_of

POLICIES = ["motherlode", "bfs", "bandit:success-rate"]
REQUESTS = 5000
NO_LIMIT = {"max_untried_hosts": 10**9}
PLAIN_HOSTS, PLAIN_PAGES = 150, 60


def link(url: str) -> Link:
    return Link(url=url, source=LinkSource.ANCHOR, anchor=url)


class CrowdedWeb(ABC):
    """Some ordinary hosts, of which every fifth home page links into the crowded domain."""

    page_count = PLAIN_HOSTS * PLAIN_PAGES

    def page(self, url: str) -> SimPage:
        host = host_of(url)
        return self.crowded(url, host) if host.endswith(".crowd.example") else self._plain(url, host)

    @abstractmethod
    def crowded(self, url: str, host: str) -> SimPage:
        """Return a page of the crowded domain."""

    def _plain(self, url: str, host: str) -> SimPage:
        number, path = int(host.partition(".")[0][1:]), url.rpartition("/")[2]
        near = [link(f"http://h{(3 * number + step) % PLAIN_HOSTS}.example/") for step in range(4)]
        if path:
            return self._leaf(url, near[:1], relevant=number % 3 == 0 and int(path) % 4 == 0)
        own = [link(f"http://{host}/{page}") for page in range(1, PLAIN_PAGES)]
        ways_in = [link(f"http://{number}.crowd.example/")] if number % 5 == 0 else []
        return SimPage(url=url, links=[*own, *near, *ways_in], size=99)

    def _leaf(self, url: str, links: list[Link], *, relevant: bool) -> SimPage:
        return SimPage(url=url, relevant=relevant, counts={Syntax.JSON_LD: 3} if relevant else {}, links=links, size=99)

    def spelling(self, url: str) -> str:
        return url

    def home_pages(self) -> list[str]:
        return ["http://h0.example/"]

    def everything(self) -> Iterator[SimPage]:
        return iter(())

    def labels(self) -> Iterator[tuple[str, bool]]:
        return iter(())


class EndlessZone(CrowdedWeb):
    """Every name under the domain has a home page and three more, each with links to forty other names."""

    def crowded(self, url: str, host: str) -> SimPage:
        chance = Random(url)
        links = [link(f"http://{chance.randrange(1 << 40):010x}.crowd.example/") for _ in range(40)]
        own = [link(f"http://{host}/{name}") for name in "abc"] if url.endswith("/") else []
        return SimPage(url=url, links=links + own, size=99)


class UsefulHosts(CrowdedWeb):
    """A domain with 500 hosts of six pages each, half of which are relevant; a host links to the next four."""

    hosts = 500

    def crowded(self, url: str, host: str) -> SimPage:
        number, path = int(host.partition(".")[0]), url.rpartition("/")[2]
        others = [link(f"http://{(number + step) % self.hosts}.crowd.example/") for step in (1, 7, 31, 127)]
        if path:
            return self._leaf(url, others[:1], relevant=int(path) % 2 == 1)
        return SimPage(url=url, links=[*(link(f"http://{host}/{page}") for page in range(1, 6)), *others], size=99)


def crawled(web: CrowdedWeb, policy: str, *, pages: int, **limit: int) -> SimResult:
    timing = Timing(in_flight=16, delay=1.0, latency=1.0)
    simulation = Simulation(web, policy_from(policy, 0), scope=lambda url: "", timing=timing, **limit)
    return simulation.run(web.home_pages(), pages=pages)


def of_crowd(result: SimResult) -> tuple[int, int, int]:
    """Hosts of the crowded domain that were contacted, requests to them, and relevant pages of them."""
    accounts = [account for host, account in result.hosts.items() if host.endswith(".crowd.example")]
    return len(accounts), sum(asked for asked, _ in accounts), sum(relevant for _, relevant in accounts)


@pytest.mark.parametrize("policy", POLICIES)
def test_endless_zone_gets_at_most_a_twentieth_of_the_requests(policy: str) -> None:
    result = crawled(EndlessZone(), policy, pages=REQUESTS)
    contacted, asked, _ = of_crowd(result)
    assert result.fetched == REQUESTS
    assert 0 < contacted <= 20
    assert asked <= REQUESTS // 20
    assert result.known_urls < 20_000, "what the zone names is bounded, too"


def test_endless_zone_takes_most_requests_without_a_limit() -> None:
    """The web of the test above is a danger: otherwise it would prove nothing."""
    result = crawled(EndlessZone(), "bfs", pages=REQUESTS, **NO_LIMIT)
    assert of_crowd(result)[1] > REQUESTS // 2


@pytest.mark.parametrize("policy", POLICIES)
def test_domain_with_500_useful_hosts_loses_less_than_two_percent(policy: str) -> None:
    web = UsefulHosts()
    limited, free = (crawled(web, policy, pages=10**6, **limit) for limit in ({}, NO_LIMIT))
    assert of_crowd(free)[0] == UsefulHosts.hosts
    assert of_crowd(limited)[2] >= 0.98 * of_crowd(free)[2] > 0


@pytest.mark.parametrize("policy", POLICIES)
def test_budget_is_spent_as_well_on_useful_hosts_as_without_a_limit(policy: str) -> None:
    web = UsefulHosts()
    limited, free = (crawled(web, policy, pages=REQUESTS // 2, **limit) for limit in ({}, NO_LIMIT))
    assert of_crowd(limited)[2] >= 0.98 * of_crowd(free)[2] > 0
