"""Trap detection during a crawl."""

from __future__ import annotations

from motherlode.crawler.url_rules import TrapWatch


def test_reason_of_the_scope_comes_first() -> None:
    traps = TrapWatch(lambda url: "out of scope" if "other" in url else "", year_now=2026)
    assert traps.reason("http://other.example/a/a/a/a/a/a") == "out of scope"
    assert traps.reason("http://ex.example/page") == ""


def test_endless_urls_are_refused_with_a_reason() -> None:
    traps = TrapWatch(lambda url: "", year_now=2026)
    assert traps.reason("http://ex.example/a/b/a/b/a/b/a/b/a/b/a/b")
    assert traps.reason("http://ex.example/" + "d/" * 40)


def test_record_of_duplicate_content_returns_the_first_url() -> None:
    traps = TrapWatch(lambda url: "", year_now=2026)
    body = b"<p>the same text on two pages, long enough to say something about them</p>" * 3
    assert traps.record_page("http://a.example/1", body, useful=True) == ""
    assert traps.record_page("http://b.example/2", body, useful=True) == "http://a.example/1"


def _list_pages(traps: TrapWatch, *, by_redirect: bool) -> None:
    """Record list pages, which are not relevant, and one in ten of the pages that they link to."""
    for number in range(3000):
        url = f"http://a.example/list?page={number}"
        traps.reason(url)
        traps.record_page(url, b"list %d" % number, useful=False)
        if number % 10 == 0:
            if by_redirect:
                traps.record_redirect(f"http://a.example/go/{number}", parent=url)
            parent = f"http://a.example/go/{number}" if by_redirect else url
            traps.record_page(
                f"http://a.example/thing/{number}", b"thing", useful=True, content_fingerprint=number + 1, parent=parent
            )


def test_list_pages_of_a_large_catalogue_are_not_refused() -> None:
    for by_redirect in (False, True):
        traps = TrapWatch(lambda url: "", year_now=2026)
        _list_pages(traps, by_redirect=by_redirect)
        assert traps.reason("http://a.example/list?page=5000") == ""
        assert traps.waiting_reason("http://a.example/list?page=2999") == ""


def test_waiting_url_of_a_detected_trap_is_refused() -> None:
    traps = TrapWatch(lambda url: "", year_now=2026)
    for number in range(2000):
        assert traps.reason(f"http://a.example/day?d={number}") == ""
    for number in range(500):
        assert traps.waiting_reason("http://a.example/day?d=1999") == ""
        traps.record_page(f"http://a.example/day?d={number}", b"day %d" % number, useful=True, content_fingerprint=1)
    assert traps.waiting_reason("http://a.example/day?d=1999") == ""
    for number in range(500, 510):
        traps.record_page(f"http://a.example/day?d={number}", b"day %d" % number, useful=True, content_fingerprint=1)
    assert traps.waiting_reason("http://a.example/day?d=1999") == "trap: endless pattern"
