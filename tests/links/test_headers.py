"""Links in HTTP headers."""

from __future__ import annotations

import time

import pytest

from motherlode.links.headers import context_links, header_links
from motherlode.model import LinkSource


def _urls(value: str) -> list[str]:
    return [link.url for link in header_links({"link": value}, page_url="http://ex.org/a/b")]


@pytest.mark.parametrize(
    ("value", "urls"),
    [
        ('<../c>; rel="next"', ["http://ex.org/c"]),
        ('<x>;rel=describedby;type="text/turtle",<y>', ["http://ex.org/a/x", "http://ex.org/a/y"]),
        ('<x?a=1,2>; title="a, \\"b\\"; c", <z>', ["http://ex.org/a/x?a=1,2", "http://ex.org/a/z"]),
        ("<x>; rel=next, ,, <y>,", ["http://ex.org/a/x", "http://ex.org/a/y"]),
        ('<x>; rel="next"; , <y>; rel=alternate', ["http://ex.org/a/x", "http://ex.org/a/y"]),
        ("<x>;;, <y>; =a; rel=next;", ["http://ex.org/a/x", "http://ex.org/a/y"]),
        ("<x>; a@b=c d; rel=next , <y>", ["http://ex.org/a/x", "http://ex.org/a/y"]),
        ('<x>; title="never closed, <y>', ["http://ex.org/a/x"]),
        ("<mailto:a@b>; rel=author", []),
        ("<x.css>; rel=preload, <i.ico>; rel=icon", []),
        ("x; rel=next", []),
        ("<", []),
        ("", []),
    ],
)
def test_header_links_parse_targets(value: str, urls: list[str]) -> None:
    assert _urls(value) == urls


def test_header_links_skip_jsonld_contexts() -> None:
    rel = "http://www.w3.org/ns/json-ld#context"
    value = (
        f'<../c.jsonld>; rel="{rel}"; type="application/ld+json", <x>; rel=next, <https://schema.org>; rel="a {rel}"'
    )
    assert _urls(value) == ["http://ex.org/a/x"]
    found = context_links({"link": value}, page_url="http://ex.org/a/b")
    assert found == ("http://ex.org/c.jsonld", "https://schema.org"), "as written, like other contexts"
    assert context_links({"link": "<x>; rel=next"}, page_url="http://ex.org/") == ()
    assert context_links({}, page_url="http://ex.org/") == ()


def test_header_links_parameters_after_empty_one_count() -> None:
    (link,) = header_links({"link": '</b>; ; rel = NEXT ; type="text/turtle";'}, page_url="http://ex.org/a")
    assert (link.rel, link.type) == ("next", "text/turtle")
    value = '</x>; , </c.jsonld>; ; rel="http://www.w3.org/ns/json-ld#context"'
    assert context_links({"link": value}, page_url="http://ex.org/") == ("http://ex.org/c.jsonld",)


def test_header_links_content_location_is_a_link() -> None:
    links = header_links({"content-location": "b.ttl"}, page_url="http://ex.org/a/b")
    assert [(link.url, link.source, link.rel) for link in links] == [
        ("http://ex.org/a/b.ttl", LinkSource.HEADER, "content-location")
    ]


@pytest.mark.parametrize(
    ("value", "urls"),
    [
        ("0; url=/c", ["http://ex.org/c"]),
        ("5;URL='c?d=1;2'", ["http://ex.org/a/c?d=1;2"]),
        ('1.5, url = "c" and more', ["http://ex.org/a/c"]),
        ("0;http://ex.com/x'y", ["http://ex.com/x'y"]),
        ("0 /c", ["http://ex.org/c"]),
        ("30", []),
        ("0; url=", []),
        ("0; url=b", []),
        ("0; url=javascript:x", []),
        ("soon; url=/c", []),
        ("", []),
    ],
)
def test_header_links_refresh_is_a_link(value: str, urls: list[str]) -> None:
    links = header_links({"refresh": value}, page_url="http://ex.org/a/b")
    assert [link.url for link in links] == urls
    assert all(link.source is LinkSource.REFRESH for link in links)


def test_header_links_skip_page_itself() -> None:
    assert header_links({"link": "<>; rel=canonical", "content-location": "b"}, page_url="http://ex.org/a/b") == []


@pytest.mark.parametrize(
    "hostile",
    [
        "<" * 100_000,
        "<a>;" * 50_000,
        '<a>;x="' + "\\" * 100_000,
        "<a>,," * 20_000,
        "<a>" + "; " * 50_000,
        "<a>;=" * 50_000,
    ],
)
def test_header_links_hostile_values_are_fast(hostile: str) -> None:
    began = time.process_time()
    assert len(_urls(hostile)) <= 50
    assert time.process_time() - began < 5
