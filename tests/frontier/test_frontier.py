"""The life of a URL in the frontier: added once, leased once, retried by the retry rules, restored after a restart."""

from __future__ import annotations

from math import inf, nan
from pathlib import Path

import msgspec
import pytest

from motherlode.frontier import End, Frontier, FrontierStorage, LmdbStorage, MemoryStorage, UrlState
from motherlode.frontier.leases import HOST_GIVEN_UP_AFTER, HOST_SNOOZED_AFTER, TREATMENTS, host_snooze_units
from motherlode.model import FailureKind, Link, LinkSource, Rating, RequestKind

from .fakes import BestOf, ended, failure, fetch, frontier_on, offer, page_outcome, take, take_page, wait

A, B = "http://a.example", "http://b.example"


def drain(frontier: Frontier, now: float, *, most: int = 1000) -> list[str]:
    """Fetch everything until the frontier is exhausted, moving the time as it says."""
    found: list[str] = []
    lease, now = wait(frontier, now)
    while lease is not None:
        found.append(lease.url)
        assert len(found) <= most
        frontier.response_received(lease, now)
        frontier.end(lease, End.FETCHED, 0.0)
        lease, now = wait(frontier, now)
    return found


def test_each_url_is_leased_once(storage: FrontierStorage) -> None:
    frontier = frontier_on(storage)
    urls = [f"{host}/{number}" for host in (A, B) for number in range(5)]
    assert offer(frontier, *urls, *urls) == 10
    assert offer(frontier, *urls) == 0
    assert sorted(drain(frontier, 0.0)) == sorted(urls)
    assert offer(frontier, *urls) == 0, "what is done stays known"
    assert frontier.exhausted
    assert frontier.known_urls == 10


def test_links_out_of_scope_are_counted_and_seeds_are_in_scope() -> None:
    frontier = frontier_on()
    assert offer(frontier, "http://outside.example/", f"{A}/") == 1
    assert frontier.refused == {"out of scope": 1}
    seed = Link(url="http://outside.example/seed", source=LinkSource.SEED)
    assert frontier.add_links([seed], parent=None) == 1


def test_links_refused_by_policy_are_counted_and_known(storage: FrontierStorage) -> None:
    policy = BestOf()
    policy.refuse = "spam"
    frontier = frontier_on(storage, policy=policy)
    assert offer(frontier, f"{A}/spam", f"{A}/fine") == 2
    assert frontier.refused == {"not wanted": 1}
    assert drain(frontier, 0.0) == [f"{A}/fine"]
    found = storage.find(f"{A}/spam")
    assert found is not None
    assert found[1:] == (UrlState.REFUSED, "not wanted")


def test_host_gets_one_request_at_a_time_after_its_delay() -> None:
    frontier = frontier_on(delay=2.0)
    offer(frontier, f"{A}/1", f"{A}/2")
    lease = take(frontier, 100.0)
    assert frontier.lease(105.0) is None, "one request is under way"
    frontier.response_received(lease, 107.0)
    frontier.end(lease, End.FETCHED, 0.0)
    assert frontier.lease(108.9) is None
    assert frontier.idle_until() == 109.0
    assert take(frontier, 109.0).url == f"{A}/2"


def test_slow_host_does_not_block_others() -> None:
    frontier = frontier_on(delay=5.0)
    offer(frontier, f"{A}/1", f"{A}/2", f"{B}/1", f"{B}/2")
    assert [take(frontier, 0.0).url, take(frontier, 0.0).url] == [f"{A}/1", f"{B}/1"]
    assert frontier.lease(0.0) is None


def test_host_without_delay_gets_at_most_per_host_requests() -> None:
    frontier = frontier_on(delay=0.0, per_host=3)
    offer(frontier, *(f"{A}/{number}" for number in range(6)))
    leases = [take(frontier, 0.0) for _ in range(3)]
    assert frontier.lease(0.0) is None
    assert frontier.idle_until() is None, "only an answer can bring more"
    frontier.response_received(leases[1], 1.0)
    assert frontier.idle_until() == 1.0
    assert take(frontier, 1.0).url == f"{A}/3"
    assert frontier.lease(1.0) is None


def test_unfair_policy_still_fetches_every_url() -> None:
    frontier = frontier_on(policy=BestOf(newest_first=True), delay=0.0)
    offer(frontier, f"{A}/1", f"{A}/2", f"{B}/1")
    assert [fetch(frontier, 0.0) for _ in range(3)] == [f"{B}/1", f"{A}/2", f"{A}/1"]


def test_nan_score_is_leased_last() -> None:
    class Lost(BestOf):
        def rate(self, links, parent):  # type: ignore[no-untyped-def]
            ratings = super().rate(links, parent)
            broken = {f"{A}/nan": nan, f"{A}/low": -inf, f"{A}/high": inf}
            return [Rating(arm=r.arm, score=broken.get(x.url, r.score)) for x, r in zip(links, ratings, strict=True)]

    frontier = frontier_on(policy=Lost(), delay=0.0)
    offer(frontier, f"{A}/nan", f"{A}/low", f"{A}/1", f"{A}/high")
    assert [fetch(frontier, 0.0) for _ in range(4)] == [f"{A}/high", f"{A}/1", f"{A}/nan", f"{A}/low"]


def test_redirect_target_has_the_depth_of_its_source() -> None:
    frontier = frontier_on(delay=0.0)
    offer(frontier, f"{A}/1", f"{A}/2", f"{A}/3")
    first = take(frontier, 0.0)
    frontier.response_received(first, 0.0)
    target = Link(url=f"{B}/target", source=LinkSource.REDIRECT)
    frontier.add_links([target], parent=page_outcome(first))
    assert frontier.end(first, End.FAILED, 0.0, failure=failure(FailureKind.REDIRECT)) is None
    followed = take(frontier, 0.0)
    assert followed.url == f"{B}/target", "it would wait behind the others by its own rating"
    assert (followed.entry.hops, followed.entry.depth, followed.entry.parent_url) == (1, 0, f"{A}/1")
    frontier.add_links([Link(url=f"{B}/x", source=LinkSource.REDIRECT)], parent=page_outcome(followed))
    frontier.add_links([Link(url=f"{B}/child", source=LinkSource.ANCHOR)], parent=page_outcome(followed))
    entries = {lease.url: lease.entry for lease in (take(frontier, 0.0) for _ in range(4))}
    assert (entries[f"{B}/x"].hops, entries[f"{B}/x"].depth) == (2, 0)
    assert (entries[f"{B}/child"].hops, entries[f"{B}/child"].depth) == (0, 1)


def test_redirect_ends_as_done_and_failure_as_failed(storage: FrontierStorage) -> None:
    frontier = frontier_on(storage, delay=0.0)
    offer(frontier, f"{A}/moved", f"{A}/gone")
    for kind in (FailureKind.REDIRECT, FailureKind.NOT_FOUND):
        lease = take(frontier, 0.0)
        frontier.response_received(lease, 0.0)
        assert frontier.end(lease, End.FAILED, 0.0, failure=failure(kind)) is None
    states = [storage.find(f"{A}/{name}") for name in ("moved", "gone")]
    assert [found and found[1:] for found in states] == [(UrlState.DONE, "redirect"), (UrlState.FAILED, "not-found")]


def test_failure_is_retried_after_a_doubling_wait() -> None:
    frontier = frontier_on(delay=0.0, retry_wait=10.0)
    offer(frontier, f"{A}/1")
    now, first = 0.0, TREATMENTS[FailureKind.SERVER_ERROR].wait * 10.0
    assert TREATMENTS[FailureKind.SERVER_ERROR].retries == 2
    for attempt, pause in enumerate([first, 2 * first]):
        lease = take(frontier, now)
        assert lease.entry.attempts == attempt
        frontier.response_received(lease, now)
        assert frontier.end(lease, End.FAILED, now, failure=failure(FailureKind.SERVER_ERROR)) is not None
        assert not frontier.exhausted, "it comes back later"
        assert frontier.lease(now + pause - 0.1) is None
        assert frontier.idle_until() == now + pause
        now += pause
    lease = take(frontier, now)
    frontier.response_received(lease, now)
    assert frontier.end(lease, End.FAILED, now, failure=failure(FailureKind.SERVER_ERROR)) is None
    assert frontier.exhausted


@pytest.mark.parametrize("per_host", [2, 9])
def test_retry_after_snoozes_the_whole_host(per_host: int) -> None:
    frontier = frontier_on(delay=0.0, per_host=per_host)
    offer(frontier, f"{A}/1", f"{A}/2", f"{A}/3", f"{B}/1")
    first, second = take(frontier, 0.0), take(frontier, 0.0)
    frontier.response_received(first, 1.0)
    assert frontier.end(first, End.FAILED, 1.0, failure=failure(FailureKind.TOO_MANY, 300.0)) is not None
    assert fetch(frontier, 1.0) == f"{B}/1", "other hosts go on"
    frontier.response_received(second, 2.0)
    frontier.end(second, End.FETCHED, 0.0)
    assert frontier.lease(300.9) is None, "an answer of the same host does not wake it"
    assert {take(frontier, 301.0).url, take(frontier, 301.0).url} == {f"{A}/1", f"{A}/3"}


def test_failure_of_one_page_does_not_snooze_its_host() -> None:
    frontier = frontier_on(delay=0.0)
    offer(frontier, f"{A}/1", f"{A}/2")
    first = take(frontier, 0.0)
    frontier.response_received(first, 0.0)
    frontier.end(first, End.FAILED, 0.0, failure=failure(FailureKind.SERVER_ERROR))
    assert fetch(frontier, 0.0) == f"{A}/2"


@pytest.mark.parametrize("kind", [FailureKind.CONNECT, FailureKind.RESET, FailureKind.PROTOCOL])
def test_host_is_given_up_after_consecutive_failures(storage: FrontierStorage, kind: FailureKind) -> None:
    frontier = frontier_on(storage, delay=0.0, per_host=100)
    offer(frontier, *(f"{A}/{number}" for number in range(HOST_GIVEN_UP_AFTER + 3)))
    asked = failed = 0
    lease, now = wait(frontier, 0.0)
    while lease is not None:
        asked += 1
        frontier.response_received(lease, now)
        failed += not frontier.end(lease, End.FAILED, now, failure=failure(kind))
        lease, now = wait(frontier, now)
    assert asked == HOST_GIVEN_UP_AFTER
    assert frontier.refused == {"host given up after failures in a row": HOST_GIVEN_UP_AFTER + 3 - failed}


def test_reset_connection_snoozes_host_only_after_many() -> None:
    frontier = frontier_on(delay=0.0, per_host=1, retry_wait=10.0)
    offer(frontier, *(f"{A}/{number}" for number in range(HOST_SNOOZED_AFTER + 1)))
    for number in range(HOST_SNOOZED_AFTER):
        lease = take(frontier, 0.0)
        assert lease.url == f"{A}/{number}", "others go on at once"
        frontier.response_received(lease, 0.0)
        frontier.end(lease, End.FAILED, 0.0, failure=failure(FailureKind.RESET))
    assert frontier.lease(10.0 * host_snooze_units(HOST_SNOOZED_AFTER) - 1) is None


def test_given_up_host_does_not_delay_the_end() -> None:
    frontier = frontier_on(delay=0.0, per_host=1)
    offer(frontier, *(f"{A}/{number}" for number in range(40)))
    now = 0.0
    for _ in range(HOST_GIVEN_UP_AFTER):
        lease, now = wait(frontier, now)
        assert lease is not None
        frontier.response_received(lease, now)
        frontier.end(lease, End.FAILED, now, failure=failure(FailureKind.CONNECT))
    assert frontier.lease(now) is None
    assert frontier.waiting == 0, "what waits is refused at once"
    assert frontier.refused


def test_any_response_resets_consecutive_failures() -> None:
    frontier = frontier_on(delay=0.0, per_host=1)
    offer(frontier, *(f"{A}/{number}" for number in range(40)))
    now = 0.0
    for number in range(HOST_GIVEN_UP_AFTER * 2):
        lease, now = wait(frontier, now)
        assert lease is not None
        frontier.response_received(lease, now)
        kind = FailureKind.NOT_FOUND if number % 5 == 4 else FailureKind.TIMEOUT
        frontier.end(lease, End.FAILED, now, failure=failure(kind))
    assert not frontier.refused


def test_frontier_is_not_exhausted_before_the_last_lease_ends() -> None:
    frontier = frontier_on(delay=0.0)
    assert ended(frontier)
    offer(frontier, f"{A}/1")
    assert not ended(frontier)
    lease = take(frontier, 0.0)
    assert not ended(frontier)
    frontier.response_received(lease, 1.0)
    assert not ended(frontier), "its links are still to come"
    offer(frontier, f"{A}/2")
    frontier.end(lease, End.FETCHED, 0.0)
    assert not ended(frontier)
    assert fetch(frontier, 1.0) == f"{A}/2"
    assert ended(frontier)


def kill(storage: LmdbStorage, path: Path) -> LmdbStorage:
    storage.close()
    return LmdbStorage(path)


def test_killed_crawl_resumes_with_the_same_urls(tmp_path: Path) -> None:
    path = tmp_path / "f"
    storage = LmdbStorage(path)
    frontier = frontier_on(storage, delay=0.0)
    urls = [f"{host}/{number}" for host in (A, B) for number in range(4)]
    offer(frontier, *urls)
    fetched = [fetch(frontier, 0.0) for _ in range(3)]
    in_flight = take(frontier, 0.0)
    retried = take(frontier, 0.0)
    frontier.response_received(retried, 0.0)
    assert frontier.end(retried, End.FAILED, 0.0, failure=failure(FailureKind.RESET)) is not None
    offer(frontier, "http://outside.example/")
    frontier.commit()
    offer(frontier, f"{A}/after-the-commit")
    fetch(frontier, 0.0)
    storage = kill(storage, path)
    frontier = frontier_on(storage, delay=0.0)
    assert (frontier.known_urls, frontier.refused) == (8, {"out of scope": 1})
    remaining = drain(frontier, 10.0)
    assert sorted([*fetched, *remaining]) == sorted(urls)
    assert {in_flight.url, retried.url} <= set(remaining)
    storage.close()


def test_sequence_numbers_continue_after_restart(tmp_path: Path) -> None:
    storage = LmdbStorage(tmp_path / "f")
    frontier = frontier_on(storage)
    offer(frontier, f"{A}/1", f"{A}/2")
    frontier.commit()
    storage = kill(storage, tmp_path / "f")
    frontier = frontier_on(storage)
    offer(frontier, f"{A}/3")
    frontier.commit()
    found = storage.find(f"{A}/3")
    assert found is not None
    assert found[0].sequence == 3
    storage.close()


def test_hosts_keep_ready_time_delay_and_failures_after_restart(tmp_path: Path) -> None:
    storage = LmdbStorage(tmp_path / "f")
    frontier = frontier_on(storage, delay=1.0, robots=True)
    offer(frontier, f"{A}/1", f"{A}/2")
    robots = take(frontier, 100.0)
    frontier.response_received(robots, 100.0)
    frontier.end(robots, End.ROBOTS_READ, 100.0, robots=b"delay:50 no:/2")
    page = take(frontier, 150.0)
    frontier.response_received(page, 150.0)
    frontier.end(page, End.FETCHED, 0.0)
    frontier.record_visit("a.example", relevant=True, quads=5, received=10)
    frontier.commit()
    storage = kill(storage, tmp_path / "f")
    frontier = frontier_on(storage, delay=1.0, robots=True)
    offer(frontier, f"{A}/3")
    assert frontier.lease(151.0) is None
    assert frontier.lease(200.9) is None, "the host's own delay counts from the moment of the resume"
    assert frontier.idle_until() == 201.0
    assert take(frontier, 201.0).url == f"{A}/3", "the rules are still known, and forbid /2"
    record = next(frontier.host_records())
    assert (record.fetched, record.relevant, record.quads, record.received) == (1, 1, 5, 10)
    storage.close()


def test_hosts_are_delayed_once_after_a_kill(tmp_path: Path) -> None:
    """The killed run may have contacted any host after its last commit."""
    storage = LmdbStorage(tmp_path / "f")
    frontier = frontier_on(storage, delay=5.0)
    offer(frontier, f"{A}/1", f"{A}/2", f"{B}/1")
    frontier.commit()
    take(frontier, 100.0)
    storage = kill(storage, tmp_path / "f")
    frontier = frontier_on(storage, delay=5.0)
    assert frontier.lease(101.0) is None
    assert frontier.idle_until() == 106.0
    offer(frontier, "http://c.example/")
    assert frontier.lease(105.9) is None
    assert len({take(frontier, 106.0).host for _ in range(3)}) == 3
    storage.close()


def test_entry_keeps_the_fields_of_its_link() -> None:
    frontier = frontier_on(MemoryStorage())
    link = Link(
        url=f"{A}/1", source=LinkSource.TRIPLE, anchor="a", rel="next", tag_path="html a", predicate="http://p.example/"
    )
    frontier.add_links([link], parent=None)
    entry = take_page(frontier, 0.0).entry
    kept = msgspec.structs.asdict(entry)
    expected = {"source": "triple", "anchor": "a", "rel": "next", "tag_path": "html a"}
    assert {name: kept[name] for name in expected} == expected
    assert entry.predicate == "http://p.example/"


def test_policy_that_picks_an_empty_arm_raises_an_error() -> None:
    policy = BestOf()
    frontier = frontier_on(policy=policy)
    policy.ready["nowhere.example"] = 1.0
    with pytest.raises(ValueError, match=r"nowhere\.example"):
        frontier.lease(0.0)


def test_dead_host_gets_one_attempt_after_a_snooze_and_recovers() -> None:
    frontier = frontier_on(delay=0.0, per_host=1, retry_wait=10.0)
    offer(frontier, *(f"{A}/{number}" for number in range(30)))
    now, times = 0.0, []
    for _ in range(HOST_GIVEN_UP_AFTER - 1):
        lease, now = wait(frontier, now)
        assert lease is not None
        times.append(now)
        frontier.response_received(lease, now)
        frontier.end(lease, End.FAILED, now, failure=failure(FailureKind.CONNECT))
    assert times[-1] - times[-2] >= 2 * 10.0 * host_snooze_units(HOST_SNOOZED_AFTER), (
        "the second rest is twice the first"
    )
    lease, now = wait(frontier, now)
    assert lease is not None
    frontier.response_received(lease, now)
    frontier.end(lease, End.FETCHED, 0.0)
    assert not frontier.refused, "it was never given up"
    assert [fetch(frontier, now) for _ in range(3)]


def test_attempts_and_retry_time_survive_a_kill(tmp_path: Path) -> None:
    storage = LmdbStorage(tmp_path / "f")
    frontier = frontier_on(storage, delay=0.0, retry_wait=10.0)
    offer(frontier, f"{A}/1")
    now, tries = 100.0, 0
    while not ended(frontier):
        lease = take(frontier, now)
        tries += 1
        frontier.response_received(lease, now)
        again = frontier.end(lease, End.FAILED, now, failure=failure(FailureKind.SERVER_ERROR))
        frontier.commit()
        storage = kill(storage, tmp_path / "f")
        frontier = frontier_on(storage, delay=0.0, retry_wait=10.0)
        if again:
            assert frontier.lease(now + 1.0) is None, "it waits as long as it would have waited"
            now = frontier.idle_until() or now
            assert now >= 120.0
    assert tries == 3
    storage.close()


class Choosy(BestOf):
    """Waits for one host, even if other arms are ready."""

    def __init__(self, host: str) -> None:
        super().__init__()
        self.wait_threshold, self.awaited, self._host = 1.0, "", host

    def leave(self, host: str) -> None:
        self._host = ""

    def pick(self) -> str | None:
        waits = self._host and self._host not in self.ready
        self.awaited = self._host if waits else ""
        return None if waits else super().pick()


def test_policy_may_wait_for_a_briefly_snoozed_host() -> None:
    frontier = frontier_on(policy=Choosy("b.example"), delay=2.0)
    offer(frontier, f"{B}/1", f"{B}/2", f"{A}/1")
    assert fetch(frontier, 0.0) == f"{B}/1"
    assert frontier.lease(0.0) is None, "the other host is free, and yet"
    assert frontier.idle_until() == 2.0
    assert fetch(frontier, 2.0) == f"{B}/2"


def test_policy_may_wait_for_a_host_with_request_in_flight() -> None:
    frontier = frontier_on(policy=Choosy("b.example"), delay=2.0)
    offer(frontier, f"{B}/1", f"{B}/2", f"{A}/1")
    lease = take(frontier, 0.0)
    assert frontier.lease(1.0) is None
    frontier.response_received(lease, 1.0)
    frontier.end(lease, End.FETCHED, 0.0)
    assert fetch(frontier, 3.0) == f"{B}/2"


def test_policy_stops_waiting_for_a_slow_request() -> None:
    frontier = frontier_on(policy=Choosy("b.example"), delay=0.1)
    offer(frontier, f"{B}/1", f"{B}/2", f"{A}/1")
    take(frontier, 0.0)
    assert frontier.lease(1.0) is None
    assert frontier.lease(1.9) is None
    assert frontier.idle_until() == 2.0
    assert fetch(frontier, 2.0) == f"{A}/1"


def test_policy_that_no_longer_waits_is_not_called() -> None:
    frontier = frontier_on(policy=Choosy("b.example"), delay=0.1)
    offer(frontier, f"{B}/1", f"{B}/2")
    take(frontier, 0.0)
    assert frontier.lease(1.0) is None
    assert frontier.idle_until() == 2.0
    assert frontier.lease(2.0) is None, "nothing else is there"
    assert frontier.idle_until() is None, "a time that is over would be asked for again at once"


@pytest.mark.parametrize(("delay", "seconds"), [(0.5, 5.0), (1.0, 10.0), (5.0, 10.0)])
@pytest.mark.parametrize("longer", [False, True])
def test_maximum_wait_depends_on_the_configured_delay(delay: float, seconds: float, *, longer: bool) -> None:
    frontier = frontier_on(policy=Choosy("b.example"), delay=delay, retry_wait=1.0)
    offer(frontier, f"{B}/1", f"{B}/2", f"{A}/1")
    lease = take(frontier, 0.0)
    frontier.response_received(lease, 0.0)
    rest = seconds * (1.5 if longer else 0.5)  # the margin covers the jitter
    frontier.end(lease, End.FAILED, 0.0, failure=failure(FailureKind.TOO_MANY, rest))
    assert (frontier.lease(0.0) is None) is not longer


@pytest.mark.parametrize(("rules", "is_awaited"), [(b"", True), (b"delay:0.5", False)])
def test_host_with_crawl_delay_is_not_awaited_if_delay_is_zero(rules: bytes, *, is_awaited: bool) -> None:
    frontier = frontier_on(policy=Choosy("b.example"), delay=0.0, per_host=1, robots=True)
    offer(frontier, f"{B}/1", f"{B}/2", f"{A}/1")
    asked = take(frontier, 0.0)
    frontier.response_received(asked, 0.0)
    frontier.end(asked, End.ROBOTS_READ, 0.0, robots=rules)
    assert take(frontier, 1.0).url == f"{B}/1"
    assert (frontier.lease(1.0) is None) is is_awaited, "it is back as soon as it has answered, or later"


@pytest.mark.parametrize("host", ["b.example", "never-seen.example"])
def test_host_that_is_empty_or_snoozed_for_long_is_not_awaited(host: str) -> None:
    frontier = frontier_on(policy=Choosy(host), delay=60.0)
    offer(frontier, f"{B}/1", f"{B}/2", f"{A}/1")
    assert {fetch(frontier, 0.0), fetch(frontier, 0.0)} == {f"{A}/1", f"{B}/1"}


@pytest.mark.parametrize("kind", [FailureKind.SERVER_ERROR, FailureKind.FORBIDDEN, FailureKind.NOT_FOUND])
def test_retry_after_snoozes_host_for_any_failure_kind(kind: FailureKind) -> None:
    frontier = frontier_on()
    offer(frontier, f"{A}/1", f"{A}/2")
    first = take(frontier, 0.0)
    frontier.response_received(first, 0.0)
    frontier.end(first, End.FAILED, 0.0, failure=failure(kind, 600.0))
    assert frontier.lease(599.0) is None
    assert take(frontier, 600.0).url in (f"{A}/1", f"{A}/2")


def test_retry_after_of_a_probe_delays_the_page() -> None:
    frontier = frontier_on()
    offer(frontier, f"{A}/1")
    head = take(frontier, 0.0)
    frontier.response_received(head, 0.0)
    frontier.end(head, End.PROBED, 0.0, failure=failure(FailureKind.UNAVAILABLE, 600.0))
    assert frontier.lease(599.0) is None
    assert take(frontier, 600.0).url == f"{A}/1"


@pytest.mark.parametrize("reopened", ["", "reopened"])
def test_clock_set_back_keeps_waiting_times(reopened: str, storage: FrontierStorage) -> None:
    """The clock is set back by an hour. Snoozes, retries and rules keep their length."""
    frontier = frontier_on(storage, robots=True)
    offer(frontier, f"{A}/1", f"{A}/2", f"{A}/3")
    rules = take(frontier, 10_000.0)
    frontier.response_received(rules, 10_000.0)
    frontier.end(rules, End.ROBOTS_READ, 10_000.0)
    page = take(frontier, 10_001.0)
    frontier.response_received(page, 10_001.0)
    assert frontier.end(page, End.FAILED, 10_001.0, failure=failure(FailureKind.SERVER_ERROR)) is not None
    frontier.commit()
    if reopened:
        frontier = frontier_on(storage, robots=True)
    back = 10_001.0 - 3600
    assert frontier.lease(back) is None, "the host still rests"
    second = take(frontier, back + 1.1)
    assert second.url == f"{A}/2", "the rules are still known"
    frontier.response_received(second, back + 1.1)
    frontier.end(second, End.FETCHED, 0.0)
    third = take(frontier, back + 2.2)
    frontier.response_received(third, back + 2.2)
    frontier.end(third, End.FETCHED, 0.0)
    assert frontier.lease(back + 19) is None
    assert take(frontier, back + 20.1).url == f"{A}/1", "its retry is due"
    frontier.commit()


def test_implausible_saved_times_are_reduced_with_a_warning(
    storage: FrontierStorage, caplog: pytest.LogCaptureFixture
) -> None:
    """The folder does not say when it was last written."""
    frontier = frontier_on(storage, robots=True)
    offer(frontier, f"{A}/1", f"{A}/2")
    ahead = 3_000_000.0
    rules = take(frontier, ahead)
    frontier.response_received(rules, ahead)
    frontier.end(rules, End.ROBOTS_READ, ahead)
    page = take(frontier, ahead + 1.0)
    frontier.response_received(page, ahead + 1.0)
    assert frontier.end(page, End.FAILED, ahead + 1.0, failure=failure(FailureKind.SERVER_ERROR)) is not None
    frontier.commit()
    account = msgspec.msgpack.decode(storage.note("frontier") or b"")
    storage.put_note("frontier", msgspec.msgpack.encode({**account, "now": 0.0}))
    now, longest = 1_000_000.0, 1.25 * 86_400
    frontier = frontier_on(storage, robots=True)
    assert "2 saved times" in frontier.check_clock(now)
    assert "2 saved times" in caplog.text
    assert frontier.check_clock(now) == "", "they are corrected"
    assert frontier.lease(now) is None
    assert frontier.lease(now + longest - 1.0) is None
    lease = take(frontier, now + longest + 1.0)
    assert lease.kind is RequestKind.ROBOTS, "the time at which the rules were read was cut as well"


def test_retry_after_of_a_day_is_kept_over_a_restart(storage: FrontierStorage) -> None:
    frontier = frontier_on(storage)
    offer(frontier, f"{A}/1", f"{A}/2")
    page = take(frontier, 100.0)
    frontier.response_received(page, 100.0)
    assert frontier.end(page, End.FAILED, 100.0, failure=failure(FailureKind.TOO_MANY, 86_400.0)) is not None
    frontier.commit()
    frontier = frontier_on(storage)
    assert frontier.check_clock(101.0) == ""
    assert frontier.lease(86_400.0) is None
    assert frontier.lease(86_502.0) is not None
