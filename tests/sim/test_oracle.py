"""The oracle against one that looks at everything at every step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from motherlode.policies import policy_from
from motherlode.sim.oracle import LinkGraph, OraclePolicy
from motherlode.sim.simulator import SimResult, Simulation
from motherlode.sim.web_protocol import SimPage
from tests.sim.fakes import TableWeb

Table = Mapping[str, tuple[bool, Sequence[str]]]


def crawled(web: TableWeb, seeds: Sequence[str], pages: int, policy: str = "oracle") -> SimResult:
    chosen = OraclePolicy(LinkGraph(web)) if policy == "oracle" else policy_from(policy, 1)
    return Simulation(web, chosen, scope=lambda url: "").run(seeds, pages=pages, keep_picks=True)


def brute_force(web: TableWeb, seeds: Sequence[str], pages: int) -> list[str]:
    """Issue by issue: a relevant page when one is discovered, otherwise the shortest way; first found goes first.

    The shortest path; among equal ones, the path that ends at most relevant pages.
    """
    known = list(dict.fromkeys(seeds))
    fetched: list[str] = []
    while len(fetched) < pages and len(fetched) < len(known):
        waiting = [url for url in known if url not in fetched]
        best = min(waiting, key=lambda url: (way(web, url, set(known)), known.index(url)))
        fetched.append(best)
        known += [url for url in targets(web.page(best)) if url not in known]
    return fetched


def targets(page: SimPage) -> list[str]:
    return [page.location] if page.location else [link.url for link in page.links]


def way(web: TableWeb, start: str, known: set[str]) -> tuple[float, int]:
    """0 for a relevant page, otherwise links to the nearest relevant page that is not known yet; then most of them."""
    if web.page(start).relevant:
        return 0, 0
    level, seen, steps = [start], {start}, 1
    while level:
        behind = {url: set(targets(web.page(url))) - known for url in level}
        finds = max(sum(web.page(url).relevant for url in ends) for ends in behind.values())
        if finds:
            return steps, -finds
        level = list(set().union(*behind.values()) - seen)
        seen.update(level)
        steps += 1
    return float("inf"), 0


def address(number: int) -> str:
    return f"https://h{number % 3}.example/{number}"


@st.composite
def webs(draw: st.DrawFn) -> TableWeb:
    size = draw(st.integers(2, 14))
    numbers = st.integers(0, size)  # the last is not there
    table = {
        address(number): (
            draw(st.sampled_from([False, False, True])),
            [address(target) for target in draw(st.lists(numbers, max_size=3)) if target != number],
        )
        for number in range(size)
    }
    redirects = {
        address(number): address(draw(numbers)) for number in draw(st.sets(st.integers(1, size - 1), max_size=2))
    }
    return TableWeb(table, {url: to for url, to in redirects.items() if url != to})


@settings(max_examples=300, deadline=None)
@given(webs(), st.integers(1, 15))
def test_oracle_picks_equal_those_of_exhaustive_search(web: TableWeb, pages: int) -> None:
    seeds = [address(0), address(1)]
    assert crawled(web, seeds, pages).picks == brute_force(web, seeds, pages)


@settings(max_examples=100, deadline=None)
@given(webs())
def test_oracle_recomputing_all_distances_keeps_picks(web: TableWeb) -> None:
    policy = OraclePolicy(LinkGraph(web))
    policy._searched = 1 << 40
    seeds = [address(0), address(1)]
    result = Simulation(web, policy, scope=lambda url: "").run(seeds, pages=15, keep_picks=True)
    assert result.picks == brute_force(web, seeds, 15)


def test_oracle_prefers_long_path_to_relevant_page_over_near_dead_end() -> None:
    chain = {address(n): (n == 9, [address(n + 1)] if n < 9 else []) for n in range(10)}
    dead = {f"https://dead.example/{n}": (False, [f"https://dead.example/{n + 1}"]) for n in range(5)}
    web = TableWeb(chain | dead)
    assert crawled(web, ["https://dead.example/0", address(0)], 10).relevant == 1
    assert crawled(web, ["https://dead.example/0", address(0)], 9).relevant == 0


def test_oracle_of_two_lists_picks_the_longer_one() -> None:
    home, short, long = "https://a.example/", "https://a.example/short", "https://a.example/long"
    finds = [f"{long}/{number}" for number in range(8)]
    table: dict[str, tuple[bool, Sequence[str]]] = {home: (False, [short, long]), long: (False, finds)}
    web = TableWeb(
        table | {short: (False, [f"{short}/1"]), f"{short}/1": (True, [])} | dict.fromkeys(finds, (True, []))
    )
    assert crawled(web, [home], 10).relevant == 8


@settings(max_examples=100, deadline=None)
@given(webs(), st.sampled_from(["bfs", "dfs", "random", "bandit:success-rate"]))
def test_oracle_with_near_relevant_pages_is_not_beaten_by_any_policy(web: TableWeb, policy: str) -> None:
    seeds = [address(0), address(1)]
    assert crawled(web, seeds, 100).relevant == crawled(web, seeds, 100, policy).relevant
