"""Memory storage. The common contract of all storages is tested in test_base.py."""

from __future__ import annotations

from random import Random

from motherlode.frontier import MemoryStorage, UrlState

from ..fakes import entry


def test_empty_arm_uses_no_memory() -> None:
    """Simulations have as many arms as a crawl, and each of them becomes empty."""
    storage = MemoryStorage()
    for number in range(100):
        storage.add(entry(f"http://h{number}.example/", sequence=number))
        assert storage.pop(f"h{number}.example") is not None
    assert list(storage.waiting()) == []
    assert (storage.pop("h1.example"), storage.best("h1.example"), storage.count("h1.example")) == (None, None, 0)


def test_waiting_returns_arms_with_their_host() -> None:
    storage = MemoryStorage()
    storage.add_new([entry("http://a.example:81/x", arm="recipes"), entry("http://a.example:81/y", arm="news")])
    assert sorted(storage.waiting()) == [("news", "a.example:81", 1), ("recipes", "a.example:81", 1)]


def test_pop_between_adds_returns_entries_in_sorted_order() -> None:
    random, storage = Random(5), MemoryStorage()
    waiting: list[tuple[float, int]] = []
    for sequence in range(2_000):
        score = random.choice([0.0, 1.0, random.random()])
        storage.add(entry(f"http://a.example/{sequence}", score=score, sequence=sequence))
        waiting.append((-score, sequence))
        if random.random() < 0.4:
            waiting.sort()
            popped = storage.pop("a.example")
            assert popped is not None
            assert (-popped.score, popped.sequence) == waiting.pop(0)
            best = storage.best("a.example")
            assert best == (-waiting[0][0] if waiting else None)
    assert storage.count("a.example") == len(waiting)


def test_recover_queues_in_flight_but_not_postponed_entries() -> None:
    storage = MemoryStorage()
    for number in range(3):
        storage.add(entry(f"http://a.example/{number}", sequence=number))
    first, second, third = (storage.pop("a.example") for _ in range(3))
    assert first is not None
    assert second is not None
    assert third is not None
    storage.postpone(first, 50.0)
    storage.finish(second, UrlState.DONE, "")
    assert storage.recover() == 1
    assert [(until, found.url) for until, found in storage.postponed()] == [(50.0, first.url)]
    assert storage.pop("a.example") == third
    storage.add(first)
    assert list(storage.postponed()) == [], "it waits like any other now"


def test_pages_may_be_stored_during_iteration() -> None:
    storage = MemoryStorage()
    for number in range(3):
        storage.put_page(f"http://a.example/{number}", b"old")
    for record in storage.pages():
        assert record == b"old"
        storage.put_page("http://a.example/new", b"new")
    assert storage.page("http://a.example/new") == b"new"


def test_memory_commit_and_close_change_nothing() -> None:
    storage = MemoryStorage()
    storage.finish(entry("http://a.example/"), UrlState.REFUSED, "out of scope")
    storage.put_batch(2, b"two")
    storage.put_batch(1, b"one")
    storage.commit()
    storage.close()
    found = storage.find("http://a.example/")
    assert found is not None
    assert found[1:] == (UrlState.REFUSED, "out of scope")
    assert list(storage.batches()) == [(1, b"one"), (2, b"two")]
