"""Duplicate contents and mirror hosts."""

from __future__ import annotations

from motherlode.www.traps import MIRROR, ContentSeen, MirrorHosts

BODY = b"<p>some text of a page</p>" * 10


def test_content_seen_returns_first_url() -> None:
    seen = ContentSeen()
    assert seen.first("http://a.org/", BODY) == ""
    assert seen.first("http://a.org/", BODY) == "", "a page is not a copy of itself"
    assert seen.first("http://b.org/", BODY) == "http://a.org/"
    assert seen.first("http://b.org/", BODY + b"x") == ""


def test_content_seen_ignores_short_bodies() -> None:
    seen = ContentSeen()
    assert seen.first("http://a.org/", b"") == seen.first("http://b.org/", b"") == ""
    assert len(seen.dump()) == 0


def test_content_seen_is_bounded() -> None:
    seen = ContentSeen(capacity=5)
    for n in range(50):
        seen.first(f"http://a.org/{n}", BODY + str(n).encode())
    assert len(seen.dump()) == 5
    assert seen.first("http://b.org/", BODY + b"49") == "http://a.org/49"
    assert seen.first("http://b.org/", BODY + b"0") == "", "it was dropped"


def copies(mirrors: MirrorHosts, count: int, *, host: str = "http://m.org", of: str = "http://e.org") -> None:
    for n in range(count):
        mirrors.record_page(f"{host}/{n}", duplicate_of=f"{of}/{n}")


def test_mirror_hosts_host_of_copies_is_mirror() -> None:
    mirrors = MirrorHosts(sample=5)
    copies(mirrors, 4)
    assert mirrors.reason("http://m.org/x") == ""
    copies(mirrors, 5)
    assert mirrors.reason("http://m.org/x") == MIRROR
    assert mirrors.reason("http://e.org/x") == ""


def both(mirrors: MirrorHosts, names: range, *hosts: str) -> None:
    """Crawl the same pages on several hosts at the same time, so that each is first with some of them."""
    for name in names:
        order = [*hosts[name % len(hosts) :], *hosts[: name % len(hosts)]]
        for host in order:
            mirrors.record_page(
                f"http://{host}/{name}", duplicate_of="" if host == order[0] else f"http://{order[0]}/{name}"
            )


def test_mirror_hosts_one_of_several_mirrors_stays() -> None:
    mirrors = MirrorHosts(sample=5)
    both(mirrors, range(60), "a.org", "b.org", "c.org", "d.org")
    refused = [host for host in "abcd" if mirrors.reason(f"http://{host}.org/x")]
    assert len(refused) == 3


def test_mirror_hosts_host_with_more_pages_is_no_mirror() -> None:
    mirrors = MirrorHosts(sample=5)
    for number in range(50):
        mirrors.record_page(f"http://www.e.org/own/{number}", duplicate_of="")
    copies(mirrors, 20, host="http://www.e.org")
    assert mirrors.reason("http://www.e.org/x") == ""


def test_mirror_hosts_tenants_of_one_service_are_no_mirrors() -> None:
    mirrors = MirrorHosts(sample=5)
    for host in ("a.org", "b.org"):
        mirrors.record_page(f"http://{host}/", duplicate_of="")
    both(mirrors, range(50), "a.org", "b.org")
    assert not mirrors.reason("http://a.org/x")
    assert not mirrors.reason("http://b.org/x")


def test_mirror_hosts_mirror_is_released_if_it_differs_or_is_dropped() -> None:
    mirrors = MirrorHosts(sample=2, capacity=50)
    mirrors.record_page("http://e.org/news", duplicate_of="")
    copies(mirrors, 2)
    assert mirrors.reason("http://m.org/x") == MIRROR
    mirrors.record_page("http://m.org/news", duplicate_of="")
    assert mirrors.reason("http://m.org/x") == ""
    copies(mirrors, 10)
    assert mirrors.reason("http://m.org/x") == "", "a revisit does not count"
    copies(mirrors, 2, host="http://n.org")
    assert mirrors.reason("http://n.org/x") == MIRROR
    for number in range(50):
        mirrors.record_page(f"http://h{number}.org/", duplicate_of="")
    assert mirrors.reason("http://n.org/x") == ""


def test_mirror_hosts_revisited_page_counts_once() -> None:
    mirrors = MirrorHosts(sample=5)
    for _ in range(10):
        copies(mirrors, 3)
    assert mirrors.reason("http://m.org/x") == ""


def test_mirror_hosts_survive_dump_and_load() -> None:
    before, after = MirrorHosts(sample=2), MirrorHosts(sample=2)
    copies(before, 2)
    after.load(*before.dump())
    assert after.reason("http://m.org/x") == MIRROR
    both(after, range(10, 20), "e.org", "m.org")
    assert after.reason("http://e.org/x") == "", "two hosts never mirror each other"
