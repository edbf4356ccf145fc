"""Origin and target of URLs."""

from __future__ import annotations

import pytest

from motherlode.www.urls import Origin, split_url


@pytest.mark.parametrize(
    ("url", "authority", "host", "port", "target"),
    [
        ("http://ex.org/", "ex.org", "ex.org", 80, "/"),
        ("https://ex.org/", "ex.org", "ex.org", 443, "/"),
        ("http://ex.org", "ex.org", "ex.org", 80, "/"),
        ("http://ex.org?x", "ex.org", "ex.org", 80, "/?x"),
        ("http://ex.org:8080/a?b#c", "ex.org:8080", "ex.org", 8080, "/a?b"),
        ("http://ex.org:80/a", "ex.org", "ex.org", 80, "/a"),
        ("https://EX.org:443/A", "ex.org", "ex.org", 443, "/A"),
        ("http://ann:secret@ex.org/a@b", "ex.org", "ex.org", 80, "/a@b"),
        ("http://good.example\\@evil.example/", "good.example", "good.example", 80, "/\\@evil.example/"),
        ("http://bücher.example/ü", "xn--bcher-kva.example", "xn--bcher-kva.example", 80, "/ü"),
        ("http://ex.org/a b", "ex.org", "ex.org", 80, "/a b"),
        ("http://ex.org/%7B{|}", "ex.org", "ex.org", 80, "/%7B{|}"),
        ("http://a..b.invalid/", "a..b.invalid", "a..b.invalid", 80, "/"),
    ],
)
def test_split_url_gives_origin_and_target(url: str, authority: str, host: str, port: int, target: str) -> None:
    origin, asked = split_url(url)
    assert origin == Origin(url.startswith("https"), host, port, authority, is_address=False)
    assert asked == target


@pytest.mark.parametrize(
    ("url", "host", "authority"),
    [
        ("http://127.0.0.1:8080/", "127.0.0.1", "127.0.0.1:8080"),
        ("http://127.1/", "127.0.0.1", "127.0.0.1"),
        ("http://0x7f000001/", "127.0.0.1", "127.0.0.1"),
        ("http://[::1]/", "::1", "[::1]"),
        ("http://[::ffff:10.0.0.1]:81/", "::ffff:a00:1", "[::ffff:a00:1]:81"),
    ],
)
def test_split_url_recognizes_ip_addresses_in_any_form(url: str, host: str, authority: str) -> None:
    origin, _ = split_url(url)
    assert (origin.host, origin.authority, origin.is_address) == (host, authority, True)


@pytest.mark.parametrize(
    "url", ["http://", "http://ex.org:99999/", "http://a b/", "http://[::1/", "ftp://ex.org/", "http:ex.org"]
)
def test_split_url_without_host_raises_value_error(url: str) -> None:
    with pytest.raises(ValueError, match=r"cannot be requested|names no host"):
        split_url(url)


@pytest.mark.parametrize(
    "url", ["http://ex.org/a\r\nX: y", "http://ex.org/\n", "http://ex.org/\0", "http://ex.org/?\r"]
)
def test_split_url_line_break_in_target_raises_value_error(url: str) -> None:
    with pytest.raises(ValueError, match="cannot be requested"):
        split_url(url)


def test_split_url_line_break_in_fragment_is_dropped() -> None:
    assert split_url("http://ex.org/a#\r\nX: y")[1] == "/a"
