"""Patterns without end, and those that only look so."""

from __future__ import annotations

import hashlib

import pytest

from motherlode.www.traps import ENDLESS, HostTraps, pattern_of


@pytest.mark.parametrize(
    ("url", "pattern"),
    [
        ("http://e.org/", "http://e.org/"),
        ("http://e1.org:8080/a12b/3", "http://e1.org:8080/a0b/0"),
        ("http://e.org/x?a=1&b&c=d=e", "http://e.org/x?a=&b&c="),
        ("http://e.org/x?2026", "http://e.org/x?0"),
    ],
)
def test_patterns(url: str, pattern: str) -> None:
    assert pattern_of(url) == pattern


def days(count: int) -> list[str]:
    return [f"http://e.org/day/{n}" for n in range(count)]


def test_a_pattern_that_gives_nothing_is_left_alone_after_a_fair_sample() -> None:
    memory = HostTraps(offers=10, sample=5)
    for url in days(5):
        memory.fetched(url, useful=False)
    assert [memory.reason(url) for url in days(12)] == [""] * 10 + [ENDLESS] * 2
    assert memory.reason("http://e.org/item/1") == ""
    assert memory.reason("http://other.org/day/1") == "", "another host has done nothing"


def test_offers_alone_are_no_sign() -> None:
    memory = HostTraps(offers=10, sample=5)
    for url in days(4):
        memory.fetched(url, useful=False)
    assert not any(memory.reason(url) for url in days(1000))
    memory.fetched("http://e.org/day/4", useful=False)
    assert memory.reason("http://e.org/day/1000") == ENDLESS


def test_one_page_of_use_frees_the_pattern() -> None:
    memory = HostTraps(offers=1, sample=2)
    for url in days(5):
        memory.fetched(url, useful=url.endswith("3"))
    assert not any(memory.reason(url) for url in days(10))


def test_addresses_without_numbers_or_queries_are_not_remembered() -> None:
    memory = HostTraps(offers=0, sample=0)
    assert memory.reason("http://e1.org/about/us") == ""
    memory.fetched("http://e1.org/about/us", useful=False)
    assert len(memory) == 0


def test_memory_is_bounded_and_keeps_what_is_in_use() -> None:
    memory = HostTraps(offers=1, sample=1, capacity=10)
    memory.fetched("http://e.org/day/1", useful=False)
    memory.reason("http://e.org/day/1")
    memory.page_is_over()
    for n in range(1000):
        memory.reason(f"http://h{n}.org/x/1")
        assert memory.reason("http://e.org/day/2") == ENDLESS
    assert len(memory) == 10


@pytest.mark.parametrize(
    "words",
    ["s/{}/cart", "{}", "a?token={}", "doc/{}.html"],
)
def test_identifiers_are_left_out(words: str) -> None:
    names = [hashlib.sha256(str(number).encode()).hexdigest()[:32] for number in range(200)]
    uuids = [f"{name[:8]}-{name[8:12]}-{name[12:16]}-{name[16:20]}-{name[20:]}" for name in names]
    for kind in (names, uuids):
        found = {pattern_of("http://e.org/" + words.format(name)) for name in kind}
        assert len(found) == 1


@pytest.mark.parametrize(
    ("below", "pattern"),
    [
        ("2024/12/24/a-day-in-may", "0/0/0/a-day-in-may"),
        ("h264-1080p/x1", "h0-0p/x0"),
        ("a4-and-a5-and-a6-paper", "a0-and-a0-and-a0-paper"),
        ("v1.2.3/guide4", "v0.0.0/guide0"),
    ],
)
def test_words_and_dates_are_no_identifiers(below: str, pattern: str) -> None:
    assert pattern_of(f"http://e.org/{below}") == f"http://e.org/{pattern}"


def endless(memory: HostTraps) -> bool:
    for url in days(20):
        memory.reason(url)
    return memory.waiting_reason("http://e.org/day/99") == ENDLESS


def test_lists_that_lead_to_something_are_kept() -> None:
    memory = HostTraps(offers=10, sample=5)
    for number, url in enumerate(days(100)):
        memory.fetched(url, useful=False)
        if number % 30 == 0:
            memory.fetched(f"http://e.org/thing-{number}", useful=True, gist=number + 1, parent=url)
    assert not endless(memory)


def test_lists_of_lists_are_kept() -> None:
    memory = HostTraps(offers=10, sample=5)
    for number, url in enumerate(days(100)):
        memory.fetched(url, useful=False)
        memory.fetched(f"http://e.org/list?n={number}", useful=False, parent=url)
        memory.fetched(
            f"http://e.org/thing-{number}", useful=True, gist=number + 1, parent=f"http://e.org/list?n={number}"
        )
    assert not endless(memory)


def test_nobody_is_judged_before_what_he_leads_to_was_looked_at() -> None:
    memory = HostTraps(offers=10, sample=5)
    for number, url in enumerate(days(300)):  # level by level: first all lists, then what they lead to
        memory.fetched(url, useful=False)
        assert not memory.reason(f"http://e.org/thing-{number}")
    assert not endless(memory)
    for number, url in enumerate(days(300)):
        memory.fetched(f"http://e.org/thing-{number}", useful=False, parent=url)
    assert endless(memory), "now it is known that they lead to nothing"


def test_a_way_out_of_a_trap_does_not_keep_it() -> None:
    memory = HostTraps(offers=10, sample=5)
    for url in days(100):
        memory.fetched(url, useful=False)
    memory.fetched("http://e.org/about", useful=True, gist=7, parent="http://e.org/day/1")
    assert endless(memory)


def test_what_all_pages_of_a_site_say_is_said_by_none() -> None:
    memory = HostTraps(offers=10, sample=5)
    for number, url in enumerate(days(100)):
        memory.fetched(url, useful=True, gist=1 + number % 3)
        memory.fetched(url.replace("e.org", "other.org"), useful=True, gist=number + 1)
    assert endless(memory)
    for url in days(20):
        assert memory.reason(url.replace("e.org", "other.org")) == "", "its pages have much to say"


def test_a_single_page_with_something_to_say_keeps_its_pattern() -> None:
    memory = HostTraps(offers=10, sample=5)
    for number, url in enumerate(days(100)):
        memory.fetched(url, useful=True, gist=5 if number == 50 else 1)
    assert not endless(memory)


def test_what_was_seen_is_known_again() -> None:
    before, after = HostTraps(offers=10, sample=5), HostTraps(offers=10, sample=5)
    for url in days(20):
        before.fetched(url, useful=True, gist=1)
    after.load(*before.dump())
    assert endless(after)
