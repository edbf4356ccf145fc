"""URLs: the WHATWG cases, canonical forms, hosts and registrable domains."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import unquote_to_bytes

import ada_url
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from motherlode.www import urls
from motherlode.www.urls import (
    MAX_URL_LENGTH,
    canonical,
    host_of,
    is_plain_path,
    is_tracking,
    origin_of,
    parse,
    plain_url,
    registrable_domain,
    remove_sessions,
    resolve,
    resolve_as_written,
    scope_rule,
    simplify,
    split_url,
)

from ..support import shared
from .corpus import corpus_urls

WEB = ("http:", "https:")


def cases(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(shared("conformance", "url", name).read_bytes())
    return found


def parsed(case: dict[str, Any]) -> str | None:
    return canonical(case["input"]) if case["base"] is None else resolve(case["base"], case["input"])


def test_parse_follows_whatwg_cases() -> None:
    wrong, right = [], 0
    for case in cases("whatwg-urltestdata.json"):
        href = case.get("href", "")
        if not href.startswith(WEB):
            continue
        found = parse(case["input"], case["base"])
        if found == href:
            right += 1
        else:
            wrong.append((case["id"], case["input"], href, found))
    assert not wrong
    assert right == 247


def test_canonical_is_a_layer_on_the_standard() -> None:
    """`canonical` and `resolve` return the canonical form of the URL that the standard gives."""
    for case in cases("whatwg-urltestdata.json"):
        href = case.get("href", "")
        if href.startswith(WEB):
            assert parsed(case) == canonical(href), case["id"]


def test_canonical_whatwg_failures_and_other_schemes_are_none() -> None:
    wrong = [
        (case["id"], case["input"], found)
        for case in cases("whatwg-urltestdata.json")
        if not case.get("href", "").startswith(WEB) and (found := parsed(case)) is not None
    ]
    assert not wrong


def test_resolve_follows_cases() -> None:
    """One of the 22 cases gives a `file:` URL, which is valid by the standard and must be None here."""
    chosen = cases("crawler-commons-resolve.json")
    wrong, refused = [], []
    for case in chosen:
        found = resolve(case["base"], case["input"]) if case["base"] else canonical(case["input"])
        if not case["href"].startswith(WEB):
            refused.append(found)
        elif found != canonical(case["href"]) or parse(case["input"], case["base"] or None) != case["href"]:
            wrong.append((case["id"], case["href"], found))
    assert not wrong
    assert refused == [None]
    assert len(chosen) == 22


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("HTTP://EXAMPLE.org:80/a/../b/./c", "http://example.org/b/c"),
        ("https://example.org:443", "https://example.org/"),
        ("https://example.org:80/", "https://example.org:80/"),
        ("http://example.org?x", "http://example.org/?x"),
        ("http://user:secret@example.org/", "http://example.org/"),
        ("http://user@example.org:8080/@/x?y=@", "http://example.org:8080/@/x?y=@"),
        ("http://a@b@c/", "http://c/"),
        ("http://example.org/#a@b/c", "http://example.org/"),
        ("http://example.org/a#", "http://example.org/a"),
        ("http://bücher.example/ä b", "http://xn--bcher-kva.example/%C3%A4%20b"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://2130706433/", "http://127.0.0.1/"),
        ("http://[0:0::1]:80/", "http://[::1]/"),
        ("  http://example.org/\n", "http://example.org/"),
        ("http://exa\tmple.org/", "http://example.org/"),
        ("http:\\\\example.org\\a", "http://example.org/a"),
        ("http://example.org/%7Ea%2f", "http://example.org/~a%2F"),
        ("http://example.org/%66oo?%62=%2526%c3", "http://example.org/foo?b=%2526%C3"),
        ("http://example.org/100%/%zz?%2", "http://example.org/100%25/%25zz?%252"),
        ("http://example.org/[x]|^?[y]={z}`", "http://example.org/%5Bx%5D%7C%5E?%5By%5D=%7Bz%7D%60"),
        ("http://example.org/%2e%2e/a%2Eb/%2E", "http://example.org/a.b/"),
        ("http://example.org/?", "http://example.org/"),
        ("http://example.org?#", "http://example.org/"),
        ("http://example.org./x", "http://example.org/x"),
        ("http://user@example.org.:8080/x", "http://example.org:8080/x"),
        ("http://example.org../", "http://example.org/"),
        ("http://0x7f.1../", "http://127.0.0.1/"),
        ("http://[::ffff:127.0.0.1]:8080/", "http://[::ffff:7f00:1]:8080/"),
        ("http://example.org/a?utm_source=x", "http://example.org/a"),
        ("http://example.org/a?b=1&utm_source=x&UTM_medium=y&c=2&fbclid=z", "http://example.org/a?b=1&c=2"),
        ("http://example.org/a?utm%5Fsource=x&b", "http://example.org/a?b"),
        ("http://example.org/a?b=utm_source&c", "http://example.org/a?b=utm_source&c"),
        ("http://example.org/a?b&&c=", "http://example.org/a?b&&c="),
        ("http://example.org/a;jsessionid=1A?b", "http://example.org/a?b"),
        ("http://example.org/a;JSESSIONID=1A/b;v=2", "http://example.org/a/b;v=2"),
        ("http://example.org/a/.;jsessionid=1/b", "http://example.org/a/b"),
        ("http://example.org/item;sid=12", "http://example.org/item;sid=12"),
        (f"http://example.org/item;s%69d=%30{'0' * 31}", "http://example.org/item"),
        ("http://example.org/(S(lit3py55t21z5v55vlm25s55))/a.aspx", "http://example.org/a.aspx"),
        ("http://example.org/x/(S(lit3py55t21z5v55vlm25s55))/.;jsessionid=1/a?b", "http://example.org/x/a?b"),
        ("http://example.org/(S(lit3py55t21z5v55vlm25s55))", "http://example.org/(S(lit3py55t21z5v55vlm25s55))"),
        ("http://example.org/(a)/b_(c)", "http://example.org/(a)/b_(c)"),
        ("http://example.org//a//b", "http://example.org//a//b"),
        ("http://example.org/?b=2&a=1", "http://example.org/?b=2&a=1"),
    ],
)
def test_canonical_form(url: str, expected: str) -> None:
    assert canonical(url) == expected


@pytest.mark.parametrize(
    "url",
    [
        *("", "example.org", "/path", "//example.org/", "mailto:a@b.example", "ftp://example.org/", "javascript:x"),
        *("data:,x", "file:///etc/passwd", "http://", "http://:80/", "http://a b/", "http://[::1/", "http://x:99999/"),
        *(
            "http://exa%00mple.org/",
            "http://256.256.256.256/",
            "urn:x",
            "\ud800",
            "http://\ud800/",
            "view-source:http://x/",
            "http://./",
            "http://..../",
        ),
    ],
)
def test_canonical_of_other_text_is_none(url: str) -> None:
    assert canonical(url) is None


def test_resolve_accepts_any_base() -> None:
    assert resolve("not a url", "x") is None
    assert resolve("not a url", "http://example.org/") in ("http://example.org/", None)
    assert resolve("mailto:a@b.example", "#x") is None
    assert resolve("http://user:pass@example.org/a", "b") == "http://example.org/b"


def test_canonical_too_long_url_is_none() -> None:
    fits = "http://example.org/".ljust(MAX_URL_LENGTH, "x")
    assert canonical(fits) == fits
    assert canonical(fits + "x") is None
    assert resolve("http://example.org/", "x" * 1_000_000) is None
    assert canonical("http://example.org/" + "é" * 2000) is None, "it is too long after escaping"
    assert resolve("http://example.org/", "é" * 2000) is None


PIECES = [
    *("http://", "//", "/", ".", "..", "%", "%2", "%2e", "%2E", "%7e", "%25", "[", "|", ";jsessionid=", ";", "?", "&"),
    *("(S(lit3py55t21z5v55vlm25s55))", "(", ";s%69d="),
    *("utm_", "utm%5f", "=", "#", "@", ":", ":80", "a", "1", "0x7f", " ", "{", "\\", "é", "'", "sid=" + "0f" * 16),
]
ANYTHING = (
    st.text(max_size=40)
    | st.from_regex(r"[a-z/.?#@:\[\]%\\ ]{0,40}")
    | st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
)


@settings(deadline=None)
@given(ANYTHING)
@example("//a..:80/;jsessionid=1/..;jsessionid=2?%75tm_x&%")
@example("//\\@x")
@example("http:@/www.example.com")
def test_resolve_result_is_canonical_or_none(reference: str) -> None:
    found = resolve("http://example.org/dir/page?q", reference)
    if found is None:
        return
    assert canonical(found) == found, "canonicalization is idempotent"
    assert found.startswith(("http://", "https://"))
    assert "#" not in found
    assert found.isascii()
    assert "@" not in host_of(found)
    assert origin_of(found) + "/" in found
    assert found[len(origin_of(found))] == "/"


def _asked(href: str) -> tuple[list[bytes], list[bytes]]:
    """Return the segments of the path and the parameters of the query as bytes."""
    path, _, query = href.partition("#")[0].split("/", 3)[3].partition("?")
    return [unquote_to_bytes(one) for one in path.split("/")], [unquote_to_bytes(one) for one in query.split("&")]


@settings(deadline=None)
@given(ANYTHING)
@example("/a%2fb/%2e%2e/c;x=1?a=%26&utm_source=x&b=%3d&%75tm_y&c+d&PHPSESSID=1")
@example("/50%/%zz?%&%2")
@example("/(A(00000000000000000000))/")
def test_canonical_keeps_what_browsers_request_except_table(reference: str) -> None:
    found, href = resolve("http://example.org/dir/page?q", reference), parse(reference, "http://example.org/dir/page?q")
    if found is None or href is None:
        return
    (segments, parameters), (all_segments, all_parameters) = _asked(found), _asked(href)
    path = "/" + "/".join(one.decode("latin-1") for one in all_segments)
    if remove_sessions(path) == path:
        assert segments == all_segments
    kept = [one for one in all_parameters if not is_tracking(one.decode("latin-1"))]
    assert parameters == (kept or [b""])


@settings(deadline=None)
@given(ANYTHING)
def test_simplify_is_idempotent(reference: str) -> None:
    found = resolve("http://example.org/dir/page?q", reference)
    if found is not None:
        short = simplify(found)
        assert simplify(short) == short
        assert canonical(short) == short
        assert host_of(short) == host_of(found)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://example.org/?b=2&a=1&b=1", "http://example.org/?a=1&b=1&b=2"),
        ("http://example.org/a///b//?&=1&c=", "http://example.org/a/b/?c"),
        ("http://example.org/?u=http://x//y", "http://example.org/?u=http://x//y"),
        ("http://example.org/a?&&", "http://example.org/a"),
        ("http://example.org/a?b==&==c", "http://example.org/a?b=="),
    ],
)
def test_simplify_removes_and_sorts(url: str, expected: str) -> None:
    assert simplify(url) == expected


def test_canonical_is_unique_for_corpus_urls() -> None:
    """No two recorded pages that differ in the standard's form have the same canonical form."""
    standard, ours = set(), set()
    for url in corpus_urls():
        found = canonical(url)
        assert found is not None, url
        assert canonical(found) == found
        ours.add(found)
        standard.add(parse(url))
    assert len(ours) == len(standard) > 15_000


@pytest.mark.parametrize(
    ("url", "host", "origin"),
    [
        ("http://example.org/", "example.org", "http://example.org"),
        ("https://example.org:8443/a/b", "example.org:8443", "https://example.org:8443"),
        ("http://[::1]:8080/x//y", "[::1]:8080", "http://[::1]:8080"),
        ("http://example.org", "example.org", "http://example.org"),
    ],
)
def test_host_of_and_origin_of_url(url: str, host: str, origin: str) -> None:
    assert (host_of(url), origin_of(url)) == (host, origin)


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("example.org", "example.org"),
        ("a.b.example.org", "example.org"),
        ("www.example.co.uk", "example.co.uk"),
        ("www.example.co.uk:8080", "example.co.uk"),
        ("ann.github.io", "ann.github.io"),
        ("co.uk", "co.uk"),
        ("localhost", "localhost"),
        ("localhost:8080", "localhost"),
        ("www.example.org.", "example.org"),
        ("127.0.0.1", "127.0.0.1"),
        ("127.0.0.1:80", "127.0.0.1"),
        ("[::1]", "[::1]"),
        ("[2001:db8::1]:443", "[2001:db8::1]"),
        ("shop.xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("a.city.kawasaki.jp", "city.kawasaki.jp"),
        ("x.y.kawasaki.jp", "x.y.kawasaki.jp"),
    ],
)
def test_registrable_domain_of_hosts(host: str, domain: str) -> None:
    assert registrable_domain(host) == domain


_PIECES = st.sampled_from(
    [
        *(
            "http://",
            "https://",
            "HTTP://",
            "//",
            "/",
            "?",
            "#",
            ":",
            ".",
            "..",
            "-",
            "--",
            "@",
            "%",
            "%41",
            "%2f",
            ";",
        ),
        *(
            "example",
            "org",
            "Example",
            "xn--a",
            "1",
            "0x7f",
            "8080",
            "a",
            "b_c",
            "é",
            " ",
            "'",
            "*",
            "\\",
            "utm_source=x",
        ),
        *("[", "]", "|", "~", "+", "&", "=", "\t", ";sid=1", "(", "(S(lit3py55t21z5v55vlm25s55))"),
    ]
)


@given(reference=st.lists(_PIECES, max_size=10).map("".join))
@settings(max_examples=3000, deadline=None)
def test_plain_url_equals_full_procedure(reference: str) -> None:
    plain = plain_url(reference)
    if plain is not None:
        assert plain == urls._finish(ada_url.normalize_url(reference))
    if is_plain_path(reference):
        assert urls._finish(ada_url.join_url("http://example.org/a/b", reference)) == f"http://example.org{reference}"


def test_resolve_as_written_keeps_session_of_same_page() -> None:
    page = "http://example.org/a.aspx"
    given = "/(S(lit3py55t21z5v55vlm25s55))/a.aspx"
    assert resolve(page, given) == page
    assert resolve_as_written(page, given) == f"http://example.org{given}"
    assert resolve(f"http://example.org{given}", "b.aspx") == "http://example.org/b.aspx"


def test_plain_url_covers_most_corpus_links() -> None:
    assert plain_url("https://en.example.org/wiki/Ada_Lovelace_(1815-1852)#Life") is not None
    assert is_plain_path("/2024/05/a-post,with:signs/index.html")
    assert plain_url("http://example.org:80/") is None and plain_url("http://1.2.3.4/") is None


def test_parse_on_examples_gives_expected_values() -> None:
    assert (parse("../d e#f", "HTTP://user@Example.org:80/a/b?c"), parse("x") is None) == (
        "http://user@example.org/d%20e#f",
        True,
    )


def test_resolve_on_examples_gives_expected_values() -> None:
    assert resolve("http://Example.org:80/a/b?c", "../d e#f") == "http://example.org/d%20e"


def test_resolve_as_written_on_examples_gives_expected_values() -> None:
    assert (
        resolve_as_written("http://example.org/a", "http://ann@example.org/a;jsessionid=1?#top")
        == "http://example.org/a;jsessionid=1?"
    )


def test_plain_url_on_examples_gives_expected_values() -> None:
    assert (plain_url("https://example.org#top"), plain_url("http://example.org/a/../b")) == (
        "https://example.org/",
        None,
    )


def test_simplify_on_examples_gives_expected_values() -> None:
    assert simplify("http://example.org//a?b=2&a=1&c=&&=3") == "http://example.org/a?a=1&b=2&c"


def test_split_url_on_examples_gives_expected_values() -> None:
    origin, target = split_url("https://ann:secret@Example.org:8443?x=%7B{#top")
    assert (origin.authority, origin.port, target) == ("example.org:8443", 8443, "/?x=%7B{")


def test_scope_rule_on_examples_gives_expected_values() -> None:
    assert [
        scope_rule(spec, ["http://www.example.org/"]).scope()("http://data.example.org/x") for spec in ("pld", "host")
    ] == ["", "out of scope"]
