"""Scans for many patterns at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from motherlode.www.pattern_scanner import Pattern, PatternScanner

SCANNER = PatternScanner([Pattern("<title"), Pattern("captcha", is_caseless=True), Pattern("a[0-9]", is_counted=True)])


def test_find_returns_the_index_of_each_pattern_once_unless_it_is_counted() -> None:
    assert SCANNER.find(b"<title> CAPTCHA <title> captcha a1 a2 <TITLE>") == [0, 1, 2, 2]


def test_find_in_bytes_without_a_match_returns_nothing() -> None:
    assert SCANNER.find(b"") == []
    assert SCANNER.find(b"<TITLE> capcha \xff") == []


def test_find_in_several_threads_returns_the_same() -> None:
    with ThreadPoolExecutor(4) as threads:
        assert set(threads.map(lambda body: tuple(SCANNER.find(body)), [b"a1 <title"] * 64)) == {(2, 0)}
