"""Traps that only show over many pages."""

from __future__ import annotations

import pytest

from motherlode.www.trap_memory import ENDLESS, MIRROR, ContentSeen, HostTraps, MirrorHosts, pattern_of


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
    for n in range(1000):
        memory.reason(f"http://h{n}.org/x/1")
        assert memory.reason("http://e.org/day/2") == ENDLESS
    assert len(memory) == 10


BODY = b"<p>some text of a page</p>" * 10


def test_contents_seen_before() -> None:
    seen = ContentSeen()
    assert seen.first("http://a.org/", BODY) == ""
    assert seen.first("http://a.org/", BODY) == "", "a page is no copy of itself"
    assert seen.first("http://b.org/", BODY) == "http://a.org/"
    assert seen.first("http://b.org/", BODY + b"x") == ""


def test_short_bodies_say_nothing() -> None:
    seen = ContentSeen()
    assert seen.first("http://a.org/", b"") == seen.first("http://b.org/", b"") == ""
    assert len(seen) == 0


def test_contents_are_bounded() -> None:
    seen = ContentSeen(capacity=5)
    for n in range(50):
        seen.first(f"http://a.org/{n}", BODY + str(n).encode())
    assert len(seen) == 5
    assert seen.first("http://b.org/", BODY + b"49") == "http://a.org/49"
    assert seen.first("http://b.org/", BODY + b"0") == "", "forgotten"


def copies(mirrors: MirrorHosts, count: int, *, host: str = "http://m.org", of: str = "http://e.org") -> None:
    for n in range(count):
        mirrors.fetched(f"{host}/{n}", duplicate_of=f"{of}/{n}")


def test_a_host_of_nothing_but_copies_is_a_mirror() -> None:
    mirrors = MirrorHosts(sample=5)
    copies(mirrors, 4)
    assert mirrors.reason("http://m.org/x") == ""
    copies(mirrors, 1)
    assert mirrors.reason("http://m.org/x") == MIRROR
    assert mirrors.reason("http://e.org/x") == ""


@pytest.mark.parametrize(
    ("url", "duplicate_of"),
    [
        ("http://m.org/own", ""),
        ("http://m.org/a", "http://e.org/b"),
        ("http://m.org/a", "http://m.org/b"),
        ("http://m.org/a", "http://third.org/a"),
    ],
)
def test_one_page_of_its_own_makes_a_host_no_mirror(url: str, duplicate_of: str) -> None:
    mirrors = MirrorHosts(sample=5)
    copies(mirrors, 3)
    mirrors.fetched(url, duplicate_of=duplicate_of)
    copies(mirrors, 10)
    assert mirrors.reason("http://m.org/x") == ""


def test_a_mirror_is_freed_by_a_page_of_its_own_and_when_it_is_forgotten() -> None:
    mirrors = MirrorHosts(sample=2, capacity=3)
    copies(mirrors, 2)
    mirrors.fetched("http://m.org/own", duplicate_of="")
    assert mirrors.reason("http://m.org/x") == ""
    copies(mirrors, 2, host="http://n.org")
    assert mirrors.reason("http://n.org/x") == MIRROR
    for number in range(3):
        mirrors.fetched(f"http://h{number}.org/", duplicate_of="")
    assert mirrors.reason("http://n.org/x") == ""


def test_mirrors_are_known_again_after_loading() -> None:
    before, after = MirrorHosts(sample=2), MirrorHosts(sample=2)
    copies(before, 2)
    after.load(before.dump())
    assert after.reason("http://m.org/x") == MIRROR
