"""Traps as the crawl sees them."""

from __future__ import annotations

from motherlode.crawl.trapping import TrapWatch


def test_the_scope_has_the_first_word() -> None:
    traps = TrapWatch(lambda url: "out of scope" if "other" in url else "", year_now=2026)
    assert traps.reason("http://other.example/a/a/a/a/a/a") == "out of scope"
    assert traps.reason("http://ex.example/page") == ""


def test_addresses_without_end_are_refused_with_a_reason() -> None:
    traps = TrapWatch(lambda url: "", year_now=2026)
    assert traps.reason("http://ex.example/a/b/a/b/a/b/a/b/a/b/a/b")
    assert traps.reason("http://ex.example/" + "d/" * 40)


def test_the_same_content_elsewhere_is_told() -> None:
    traps = TrapWatch(lambda url: "", year_now=2026)
    body = b"<p>the same text on two pages, long enough to say something about them</p>" * 3
    assert traps.saw("http://a.example/1", body, useful=True) == ""
    assert traps.saw("http://b.example/2", body, useful=True) == "http://a.example/1"
