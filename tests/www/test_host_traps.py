"""Endless URL patterns, and honest ones that look similar."""

from __future__ import annotations

import hashlib

import pytest

from motherlode.www.traps import ENDLESS, HostTraps, url_pattern


@pytest.mark.parametrize(
    ("url", "pattern"),
    [
        ("http://e.org/", "http://e.org/"),
        ("http://e1.org:8080/a12b/3", "http://e1.org:8080/a0b/0"),
        ("http://e.org/x?a=1&b&c=d=e", "http://e.org/x?a=&b&c="),
        ("http://e.org/x?2026", "http://e.org/x?0"),
    ],
)
def test_url_pattern_removes_numbers_and_values(url: str, pattern: str) -> None:
    assert url_pattern(url) == pattern


def days(count: int) -> list[str]:
    return [f"http://e.org/day/{n}" for n in range(count)]


def test_host_traps_useless_pattern_is_refused_after_sample() -> None:
    memory = HostTraps(offers=10, sample=5)
    for url in days(5):
        memory.record_page(url, useful=False)
    assert [memory.reason(url) for url in days(12)] == [""] * 10 + [ENDLESS] * 2
    assert memory.reason("http://e.org/item/1") == ""
    assert memory.reason("http://other.org/day/1") == "", "other hosts are not affected"


def test_host_traps_offers_alone_do_not_refuse() -> None:
    memory = HostTraps(offers=10, sample=5)
    for url in days(4):
        memory.record_page(url, useful=False)
    assert not any(memory.reason(url) for url in days(1000))
    memory.record_page("http://e.org/day/4", useful=False)
    assert memory.reason("http://e.org/day/1000") == ENDLESS


def test_host_traps_one_useful_page_keeps_pattern() -> None:
    memory = HostTraps(offers=1, sample=2)
    for url in days(5):
        memory.record_page(url, useful=url.endswith("3"))
    assert not any(memory.reason(url) for url in days(10))


def test_host_traps_urls_without_numbers_or_queries_are_not_stored() -> None:
    memory = HostTraps(offers=0, sample=0)
    assert memory.reason("http://e1.org/about/us") == ""
    memory.record_page("http://e1.org/about/us", useful=False)
    assert len(memory.dump()[0]) == 0


def test_host_traps_memory_is_bounded_and_keeps_recent_patterns() -> None:
    memory = HostTraps(offers=1, sample=1, capacity=10)
    memory.record_page("http://e.org/day/1", useful=False)
    memory.reason("http://e.org/day/1")
    memory.end_page()
    for n in range(1000):
        memory.reason(f"http://h{n}.org/x/1")
        assert memory.reason("http://e.org/day/2") == ENDLESS
    assert len(memory.dump()[0]) == 10


@pytest.mark.parametrize(
    "words",
    ["s/{}/cart", "{}", "a?token={}", "doc/{}.html"],
)
def test_url_pattern_removes_identifiers(words: str) -> None:
    names = [hashlib.sha256(str(number).encode()).hexdigest()[:32] for number in range(200)]
    uuids = [f"{name[:8]}-{name[8:12]}-{name[12:16]}-{name[16:20]}-{name[20:]}" for name in names]
    for kind in (names, uuids):
        found = {url_pattern("http://e.org/" + words.format(name)) for name in kind}
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
def test_url_pattern_keeps_words_and_dates(below: str, pattern: str) -> None:
    assert url_pattern(f"http://e.org/{below}") == f"http://e.org/{pattern}"


def endless(memory: HostTraps) -> bool:
    for url in days(20):
        memory.reason(url)
    return memory.waiting_reason("http://e.org/day/99") == ENDLESS


def test_host_traps_lists_leading_to_useful_pages_are_kept() -> None:
    memory = HostTraps(offers=10, sample=5)
    for number, url in enumerate(days(100)):
        memory.record_page(url, useful=False)
        if number % 30 == 0:
            memory.record_page(f"http://e.org/thing-{number}", useful=True, fingerprint=number + 1, parent=url)
    assert not endless(memory)


def test_host_traps_lists_of_lists_are_kept() -> None:
    memory = HostTraps(offers=10, sample=5)
    for number, url in enumerate(days(100)):
        memory.record_page(url, useful=False)
        memory.record_page(f"http://e.org/list?n={number}", useful=False, parent=url)
        memory.record_page(
            f"http://e.org/thing-{number}", useful=True, fingerprint=number + 1, parent=f"http://e.org/list?n={number}"
        )
    assert not endless(memory)


def test_host_traps_pattern_is_not_refused_before_its_links_are_tried() -> None:
    memory = HostTraps(offers=10, sample=5)
    for number, url in enumerate(days(300)):  # breadth first: all lists, then the pages that they link to
        memory.record_page(url, useful=False)
        assert not memory.reason(f"http://e.org/thing-{number}")
    assert not endless(memory)
    for number, url in enumerate(days(300)):
        memory.record_page(f"http://e.org/thing-{number}", useful=False, parent=url)
    assert endless(memory), "now their links are known to be useless"


def test_host_traps_link_out_of_trap_does_not_keep_it() -> None:
    memory = HostTraps(offers=10, sample=5)
    for url in days(100):
        memory.record_page(url, useful=False)
    memory.record_page("http://e.org/about", useful=True, fingerprint=7, parent="http://e.org/day/1")
    assert endless(memory)


def test_host_traps_content_shared_by_all_pages_is_useless() -> None:
    memory = HostTraps(offers=10, sample=5)
    for number, url in enumerate(days(100)):
        memory.record_page(url, useful=True, fingerprint=1 + number % 3)
        memory.record_page(url.replace("e.org", "other.org"), useful=True, fingerprint=number + 1)
    assert endless(memory)
    for url in days(20):
        assert memory.reason(url.replace("e.org", "other.org")) == "", "its pages are useful"


def test_host_traps_single_unique_page_keeps_pattern() -> None:
    memory = HostTraps(offers=10, sample=5)
    for number, url in enumerate(days(100)):
        memory.record_page(url, useful=True, fingerprint=5 if number == 50 else 1)
    assert not endless(memory)


def test_host_traps_survive_dump_and_load() -> None:
    before, after = HostTraps(offers=10, sample=5), HostTraps(offers=10, sample=5)
    for url in days(20):
        before.record_page(url, useful=True, fingerprint=1)
    after.load(*before.dump())
    assert endless(after)
