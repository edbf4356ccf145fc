"""The host queue makes a bounded number of hosts ready at a time, and loses none."""

from __future__ import annotations

from pathlib import Path

from motherlode.frontier import End, Frontier, Lease, LmdbStorage, MemoryStorage, Politeness
from motherlode.model import Rating

from .fakes import BestOf, fetch, offer, take


def test_one_lease_makes_a_bounded_number_of_hosts_ready() -> None:
    policy = BestOf()
    frontier = Frontier(
        storage=MemoryStorage(),
        policy=policy,
        scope=lambda url: "",
        read_rules=None,
        politeness=Politeness(delay=1.0, max_ready_at_once=3),
    )
    offer(frontier, *(f"http://h{number}.example/" for number in range(10)))
    found = [fetch(frontier, 0.0)]
    assert len(policy.ready) == 2
    found += [fetch(frontier, 0.0) for _ in range(9)]
    assert len(set(found)) == 10
    assert frontier.exhausted


def test_due_hosts_without_usable_urls_do_not_block_others() -> None:
    policy = BestOf()
    frontier = Frontier(
        storage=MemoryStorage(),
        policy=policy,
        scope=lambda url: "",
        read_rules=None,
        politeness=Politeness(delay=5.0, max_ready_at_once=1),
    )
    offer(frontier, "http://a.example/1", "http://a.example/2", "http://b.example/1")
    assert fetch(frontier, 0.0) == "http://a.example/1"
    assert fetch(frontier, 0.0) == "http://b.example/1"
    assert frontier.lease(4.9) is None
    assert fetch(frontier, 5.0) == "http://a.example/2"


class ArmsByPath(BestOf):
    """Two arms per host, by the first character of the path."""

    def rate(self, links, parent):  # type: ignore[no-untyped-def]
        ratings = super().rate(links, parent)
        arms = [f"{rating.arm} {link.url.split('/')[3][0]}" for link, rating in zip(links, ratings, strict=True)]
        return [Rating(arm=arm, score=rating.score) for arm, rating in zip(arms, ratings, strict=True)]


def frontier_over(path: Path, policy: BestOf) -> tuple[LmdbStorage, Frontier]:
    storage = LmdbStorage(path)
    politeness = Politeness(delay=1.0, max_ready_at_once=3)
    frontier = Frontier(storage=storage, policy=policy, scope=lambda url: "", read_rules=None, politeness=politeness)
    return storage, frontier


def test_unseen_hosts_are_snoozed_after_restart(tmp_path: Path) -> None:
    storage, frontier = frontier_over(tmp_path / "f", ArmsByPath())
    urls = [f"http://h{number}.example/{letter}" for number in range(10) for letter in "ab"[: 1 + number // 5]]
    offer(frontier, *urls)
    assert frontier.host_count == 10
    frontier.commit()
    storage.close()
    policy = ArmsByPath()
    storage, frontier = frontier_over(tmp_path / "f", policy)
    assert (frontier.host_count, frontier.waiting) == (10, 15)
    assert offer(frontier, "http://h0.example/a2", "http://h1.example/b", "http://new.example/a") == 3
    assert frontier.lease(100.0) is None, "everybody rests once"
    assert frontier.idle_until() == 101.0
    found = [take(frontier, 101.0)]
    assert len({arm.split()[0] for arm in policy.ready}) <= 3
    found += [take(frontier, 101.0) for _ in range(10)]
    assert len({lease.host for lease in found}) == 11
    assert frontier.lease(101.0) is None
    now = 101.0
    while not frontier.exhausted:
        for lease in found:
            frontier.response_received(lease, now)
            frontier.end(lease, End.FETCHED, 0.0)
            urls.append(lease.url)
        now += 1.0
        found = list(iter(lambda: frontier.lease(now), None))  # noqa: B023 - it is used at once
    assert len(urls) == 15 + 18
    assert len(set(urls)) == 18
    assert frontier.host_count == 11
    storage.close()


def test_subrequest_to_unseen_host_keeps_its_pages_queued() -> None:
    frontier = Frontier(
        storage=MemoryStorage(),
        policy=BestOf(),
        scope=lambda url: "",
        read_rules=None,
        politeness=Politeness(delay=1.0),
    )
    offer(frontier, "http://a.example/1", "http://a.example/2")
    lease = frontier.lease_for("http://a.example/context", 0.0)
    assert frontier.lease(0.0) is None
    assert isinstance(lease, Lease)
    frontier.response_received(lease, 0.0)
    assert fetch(frontier, 1.0) == "http://a.example/1"
    assert fetch(frontier, 2.0) == "http://a.example/2"
    assert frontier.exhausted
