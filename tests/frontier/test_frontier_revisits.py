"""Revisits, probes, own hosts, and URLs that are refused at lease time."""

from __future__ import annotations

from pathlib import Path

from motherlode.frontier import (
    End,
    Entry,
    Frontier,
    FrontierStorage,
    HostBudget,
    LmdbStorage,
    MemoryStorage,
    Politeness,
    UrlState,
    revisit_arm,
)
from motherlode.model import FailureKind, RequestKind

from .fakes import BestOf, FakeRules, ended, failure, fetch, frontier_on, offer, take, wait

A = "http://a.example"


def _known(storage: FrontierStorage, url: str) -> tuple[Entry, UrlState]:
    found = storage.find(url)
    assert found is not None
    return found[0], found[1]


def test_revisit_ends_in_the_previous_state(storage: FrontierStorage) -> None:
    frontier = frontier_on(storage, delay=0.0)
    offer(frontier, f"{A}/1")
    assert fetch(frontier, 0.0) == f"{A}/1"
    before, _ = _known(storage, f"{A}/1")
    assert frontier.exhausted
    frontier.revisit(before)
    assert (frontier.waiting, frontier.revisits_left, frontier.exhausted) == (1, 1, False)
    lease = take(frontier, 0.0)
    assert lease.entry.arm == revisit_arm("a.example")
    frontier.response_received(lease, 0.0)
    frontier.end(lease, End.FETCHED, 0.0, entry=before)
    assert _known(storage, f"{A}/1") == (before, UrlState.DONE)
    assert frontier.revisits_left == 0
    assert ended(frontier)


def test_failed_revisit_is_retried_before_it_ends(storage: FrontierStorage) -> None:
    frontier = frontier_on(storage, delay=0.0)
    offer(frontier, f"{A}/1")
    fetch(frontier, 0.0)
    frontier.revisit(_known(storage, f"{A}/1")[0])
    now = 0.0
    for attempt in range(3):
        lease = take(frontier, now)
        frontier.response_received(lease, now)
        again = frontier.end(lease, End.FAILED, now, failure=failure(FailureKind.SERVER_ERROR))
        assert (again is not None) == (attempt < 2)
        assert frontier.revisits_left == (1 if again else 0)
        now += 1000.0
    assert ended(frontier)


def test_revisit_of_given_up_host_gets_one_attempt(storage: FrontierStorage) -> None:
    frontier = frontier_on(storage, delay=0.0)
    offer(frontier, f"{A}/1", f"{A}/2")
    urls = [fetch(frontier, 0.0), fetch(frontier, 0.0)]
    now = 0.0
    while not frontier.refused:  # an outage that lasts longer than the revisits
        for url in urls:
            frontier.revisit(_known(storage, url)[0])
        lease, now = wait(frontier, now)
        while lease is not None:
            frontier.response_received(lease, now)
            frontier.end(lease, End.FAILED, now, failure=failure(FailureKind.CONNECT))
            lease, now = wait(frontier, now)
    for url in urls:
        frontier.revisit(_known(storage, url)[0])
    assert {fetch(frontier, now), fetch(frontier, now)} == set(urls)


def test_host_budget_does_not_apply_to_revisits() -> None:
    storage = MemoryStorage()
    frontier = Frontier(
        storage=storage,
        policy=BestOf(),
        scope=lambda url: "",
        read_rules=None,
        politeness=Politeness(delay=0.0),
        budget=HostBudget(pages=1),
    )
    offer(frontier, f"{A}/1", f"{A}/2")
    first = fetch(frontier, 0.0)
    frontier.record_visit("a.example", relevant=True, quads=1, received=1)
    frontier.revisit(_known(storage, first)[0])
    assert fetch(frontier, 0.0) == first
    assert frontier.lease(0.0) is None
    assert frontier.refused == {"the host's budget of pages is spent": 1}


def test_revisits_survive_a_kill(tmp_path: Path) -> None:
    storage = LmdbStorage(tmp_path)
    frontier = frontier_on(storage, delay=0.0)
    offer(frontier, f"{A}/1", f"{A}/2", f"{A}/3")
    for _ in range(3):
        fetch(frontier, 0.0)
    for number in (1, 2, 3):
        frontier.revisit(_known(storage, f"{A}/{number}")[0])
    done = take(frontier, 0.0)
    frontier.response_received(done, 0.0)
    frontier.end(done, End.FETCHED, 0.0, entry=done.entry)
    take(frontier, 0.0)  # in flight when the process ends
    frontier.commit()
    storage.close()
    again = frontier_on(LmdbStorage(tmp_path), delay=0.0)
    assert again.revisits_left == 2


def test_probed_page_is_the_next_request_to_its_host() -> None:
    frontier = frontier_on(delay=5.0)
    offer(frontier, f"{A}/1", f"{A}/2")
    probe = take(frontier, 0.0)
    frontier.response_received(probe, 1.0)
    frontier.end(probe, End.PROBED, 1.0)
    assert frontier.lease(5.9) is None, "the clock runs from the probe's answer"
    page = take(frontier, 6.0)
    assert (page.url, page.kind) == (probe.url, RequestKind.PAGE)
    frontier.response_received(page, 6.0)
    frontier.end(page, End.FETCHED, 0.0)
    assert fetch(frontier, 11.0) != probe.url
    assert ended(frontier)


def test_several_probes_of_one_host_lose_no_page() -> None:
    frontier = frontier_on(delay=0.0, per_host=3)
    urls = {f"{A}/{number}" for number in range(3)}
    offer(frontier, *urls)
    probes = [take(frontier, 0.0) for _ in range(3)]
    for probe in probes:
        frontier.response_received(probe, 0.0)
        frontier.end(probe, End.PROBED, 0.0)
    assert {fetch(frontier, 0.0) for _ in range(3)} == urls
    assert ended(frontier)


def test_robots_txt_of_own_host_is_not_requested() -> None:
    frontier = Frontier(
        storage=MemoryStorage(),
        policy=BestOf(),
        scope=lambda url: "",
        read_rules=FakeRules,
        politeness=Politeness(delay=0.0),
        is_own=lambda host: host == "a.example",
    )
    offer(frontier, f"{A}/private", "http://b.example/x")
    kinds = {lease.url: lease.kind for lease in (take(frontier, 0.0), take(frontier, 0.0))}
    assert kinds == {f"{A}/private": RequestKind.PAGE, "http://b.example/robots.txt": RequestKind.ROBOTS}
    subrequest = frontier.lease_for(f"{A}/private/context", 0.0)
    assert subrequest is not None
    assert not isinstance(subrequest, float)
    assert subrequest.kind is RequestKind.SUBREQUEST


def test_url_unwanted_at_lease_time_is_refused() -> None:
    unwanted: set[str] = set()
    storage = MemoryStorage()
    frontier = Frontier(
        storage=storage,
        policy=BestOf(),
        scope=lambda url: "",
        read_rules=None,
        politeness=Politeness(delay=0.0),
        admit=lambda entry: "no more" if entry.url in unwanted else "",
    )
    offer(frontier, f"{A}/1", f"{A}/2")
    unwanted.add(f"{A}/1")
    assert fetch(frontier, 0.0) == f"{A}/2"
    assert frontier.refused == {"no more": 1}
    assert _known(storage, f"{A}/1")[1] is UrlState.REFUSED
    assert ended(frontier)


def test_page_records_are_stored(storage: FrontierStorage) -> None:
    assert storage.page(f"{A}/1") is None
    storage.put_page(f"{A}/1", b"first")
    storage.put_page(f"{A}/1", b"second")
    storage.put_page(f"{A}/2", b"other")
    storage.commit()
    assert storage.page(f"{A}/1") == b"second"
    assert sorted(storage.pages()) == [b"other", b"second"]
