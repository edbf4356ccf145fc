"""What is particular to the ledger in memory; the contract of both is in test_ledger."""

from __future__ import annotations

from random import Random

from motherlode.frontier import MemoryStorage, UrlState

from ..fakes import entry


def test_an_arm_that_is_empty_leaves_nothing_behind() -> None:
    """Simulations have as many arms as a crawl, and end each of them."""
    ledger = MemoryStorage()
    for number in range(100):
        ledger.add(entry(f"http://h{number}.example/", sequence=number))
        assert ledger.pop(f"h{number}.example") is not None
    assert list(ledger.waiting()) == []
    assert (ledger.pop("h1.example"), ledger.best("h1.example"), ledger.count("h1.example")) == (None, None, 0)


def test_arms_of_one_host_are_told_with_their_host() -> None:
    ledger = MemoryStorage()
    ledger.add_new([entry("http://a.example:81/x", arm="recipes"), entry("http://a.example:81/y", arm="news")])
    assert sorted(ledger.waiting()) == [("news", "a.example:81", 1), ("recipes", "a.example:81", 1)]


def test_entries_come_as_a_sort_would_put_them_whatever_is_added_between() -> None:
    random, ledger = Random(5), MemoryStorage()
    waiting: list[tuple[float, int]] = []
    for sequence in range(2_000):
        score = random.choice([0.0, 1.0, random.random()])
        ledger.add(entry(f"http://a.example/{sequence}", score=score, sequence=sequence))
        waiting.append((-score, sequence))
        if random.random() < 0.4:
            waiting.sort()
            popped = ledger.pop("a.example")
            assert popped is not None
            assert (-popped.score, popped.sequence) == waiting.pop(0)
            best = ledger.best("a.example")
            assert best == (-waiting[0][0] if waiting else None)
    assert ledger.count("a.example") == len(waiting)


def test_what_was_in_flight_waits_again_but_not_what_has_its_time() -> None:
    ledger = MemoryStorage()
    for number in range(3):
        ledger.add(entry(f"http://a.example/{number}", sequence=number))
    first, second, third = (ledger.pop("a.example") for _ in range(3))
    assert first is not None
    assert second is not None
    assert third is not None
    ledger.postpone(first, 50.0)
    ledger.finish(second, UrlState.DONE, "")
    assert ledger.recover() == 1
    assert [(until, found.url) for until, found in ledger.postponed()] == [(50.0, first.url)]
    assert ledger.pop("a.example") == third
    ledger.add(first)
    assert list(ledger.postponed()) == [], "it waits like any other now"


def test_pages_may_be_written_while_they_are_read() -> None:
    ledger = MemoryStorage()
    for number in range(3):
        ledger.put_page(f"http://a.example/{number}", b"old")
    for record in ledger.pages():
        assert record == b"old"
        ledger.put_page("http://a.example/new", b"new")
    assert ledger.page("http://a.example/new") == b"new"


def test_a_commit_and_a_close_change_nothing() -> None:
    ledger = MemoryStorage()
    ledger.refuse(entry("http://a.example/"), "out of scope")
    ledger.put_letter(2, b"two")
    ledger.put_letter(1, b"one")
    ledger.commit()
    ledger.close()
    found = ledger.find("http://a.example/")
    assert found is not None
    assert found[1:] == (UrlState.REFUSED, "out of scope")
    assert list(ledger.letters()) == [(1, b"one"), (2, b"two")]
