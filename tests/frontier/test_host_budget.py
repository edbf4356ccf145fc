"""The budgets of a host: pages, bytes, and requests without a relevant page."""

from __future__ import annotations

from motherlode.frontier import End, Frontier, FrontierStorage, HostBudget, Politeness, UrlState

from .fakes import BestOf, ended, offer, take

A, B = "http://a.example", "http://b.example"


def frontier_with(storage: FrontierStorage, budget: HostBudget) -> Frontier:
    return Frontier(
        storage=storage,
        policy=BestOf(),
        scope=lambda url: "",
        read_rules=None,
        politeness=Politeness(delay=0.0, per_host=2),
        budget=budget,
    )


def fetch_all(frontier: Frontier, *, relevant: str = "", size: int = 0) -> list[str]:
    found = []
    while (lease := frontier.lease(0.0)) is not None:
        found.append(lease.url)
        frontier.response_received(lease, 0.0)
        frontier.end(lease, End.FETCHED, 0.0)
        frontier.record_visit(lease.host, relevant=lease.host == relevant, quads=0, received=size)
    return found


def test_page_budget_of_a_host_is_enforced(storage: FrontierStorage) -> None:
    frontier = frontier_with(storage, HostBudget(pages=3))
    offer(frontier, *(f"{A}/{number}" for number in range(5)), f"{B}/1")
    assert fetch_all(frontier) == [f"{A}/0", f"{A}/1", f"{A}/2", f"{B}/1"]
    assert frontier.refused == {"the host's budget of pages is spent": 2}
    assert ended(frontier)
    found = storage.find(f"{A}/4")
    assert found is not None
    assert found[1:] == (UrlState.REFUSED, "the host's budget of pages is spent")


def test_page_budget_counts_pages_in_flight(storage: FrontierStorage) -> None:
    frontier = frontier_with(storage, HostBudget(pages=1))
    offer(frontier, f"{A}/1", f"{A}/2")
    take(frontier, 0.0)
    assert frontier.lease(0.0) is None
    assert sum(frontier.refused.values()) == 1


def test_byte_budget_of_a_host_is_enforced(storage: FrontierStorage) -> None:
    frontier = frontier_with(storage, HostBudget(bytes=250))
    offer(frontier, *(f"{A}/{number}" for number in range(5)))
    assert len(fetch_all(frontier, size=100)) == 3
    assert frontier.refused == {"the host's budget of bytes is spent": 2}


def test_host_without_relevant_page_is_stopped(storage: FrontierStorage) -> None:
    frontier = frontier_with(storage, HostBudget(host_stop_after=2))
    offer(frontier, *(f"{host}/{number}" for number in range(4) for host in (A, B)))
    asked = fetch_all(frontier, relevant="b.example")
    assert sum(url.startswith(A) for url in asked) == 2
    assert sum(url.startswith(B) for url in asked) == 4
    assert frontier.refused == {"the host gave nothing": 2}


def test_lease_returns_none_after_many_refusals(storage: FrontierStorage) -> None:
    frontier = frontier_with(storage, HostBudget(pages=1))
    offer(frontier, *(f"{A}/{number}" for number in range(2500)))
    lease = take(frontier, 7.0)
    calls = 0
    while frontier.waiting:
        assert frontier.lease(7.0) is None
        assert not frontier.waiting or frontier.idle_until() == 7.0, "there is more to look at"
        calls += 1
    assert calls == 3
    frontier.response_received(lease, 8.0)
    frontier.end(lease, End.FETCHED, 0.0)
    assert ended(frontier)
