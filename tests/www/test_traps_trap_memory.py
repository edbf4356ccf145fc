"""Copies: contents and hosts."""

from __future__ import annotations

from motherlode.www.traps import MIRROR, ContentSeen, MirrorHosts

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
    copies(mirrors, 5)
    assert mirrors.reason("http://m.org/x") == MIRROR
    assert mirrors.reason("http://e.org/x") == ""


def both(mirrors: MirrorHosts, names: range, *hosts: str) -> None:
    """The same pages on several hosts, which are crawled side by side, so that each has some of them first."""
    for name in names:
        order = [*hosts[name % len(hosts) :], *hosts[: name % len(hosts)]]
        for host in order:
            mirrors.fetched(
                f"http://{host}/{name}", duplicate_of="" if host == order[0] else f"http://{order[0]}/{name}"
            )


def test_one_of_several_mirrors_stays_although_each_had_pages_first() -> None:
    mirrors = MirrorHosts(sample=5)
    both(mirrors, range(60), "a.org", "b.org", "c.org", "d.org")
    refused = [host for host in "abcd" if mirrors.reason(f"http://{host}.org/x")]
    assert len(refused) == 3


def test_a_host_with_more_than_the_other_has_is_no_mirror() -> None:
    mirrors = MirrorHosts(sample=5)
    for number in range(50):
        mirrors.fetched(f"http://www.e.org/own/{number}", duplicate_of="")
    copies(mirrors, 20, host="http://www.e.org")
    assert mirrors.reason("http://www.e.org/x") == ""


def test_tenants_of_one_service_share_pages_and_are_no_mirrors() -> None:
    mirrors = MirrorHosts(sample=5)
    for host in ("a.org", "b.org"):
        mirrors.fetched(f"http://{host}/", duplicate_of="")
    both(mirrors, range(50), "a.org", "b.org")
    assert not mirrors.reason("http://a.org/x")
    assert not mirrors.reason("http://b.org/x")


def test_a_mirror_is_freed_where_it_differs_and_when_it_is_forgotten() -> None:
    mirrors = MirrorHosts(sample=2, capacity=50)
    mirrors.fetched("http://e.org/news", duplicate_of="")
    copies(mirrors, 2)
    assert mirrors.reason("http://m.org/x") == MIRROR
    mirrors.fetched("http://m.org/news", duplicate_of="")
    assert mirrors.reason("http://m.org/x") == ""
    copies(mirrors, 10)
    assert mirrors.reason("http://m.org/x") == "", "once is enough"
    copies(mirrors, 2, host="http://n.org")
    assert mirrors.reason("http://n.org/x") == MIRROR
    for number in range(50):
        mirrors.fetched(f"http://h{number}.org/", duplicate_of="")
    assert mirrors.reason("http://n.org/x") == ""


def test_a_page_that_is_looked_at_again_counts_once() -> None:
    mirrors = MirrorHosts(sample=5)
    for _ in range(10):
        copies(mirrors, 3)
    assert mirrors.reason("http://m.org/x") == ""


def test_mirrors_are_known_again_after_loading() -> None:
    before, after = MirrorHosts(sample=2), MirrorHosts(sample=2)
    copies(before, 2)
    after.load(*before.dump())
    assert after.reason("http://m.org/x") == MIRROR
    both(after, range(10, 20), "e.org", "m.org")
    assert after.reason("http://e.org/x") == "", "two never stand for each other"
