"""Resolution of references."""

from __future__ import annotations

import pytest

from motherlode.links import href as addresses
from motherlode.links.href import HrefResolver, is_asset
from motherlode.www.media_types import extension_of
from motherlode.www.urls import resolve

BASES = (
    "http://example.org/a/b/c?d=e",
    "http://example.org",
    "https://example.org:8080/x/",
    "http://example.org/?q=/a/b",
    "http://user@Example.org.:80/a//b/c",
    "http://example.org/%7eann/b",
)
REFERENCES = (
    "x",
    "./x",
    "../x",
    "/x",
    "//other.example/x",
    "?x",
    "x?y",
    "x/",
    "http://other.example",
    "HTTPS:x",
    "a:b",
    " x\n",
    "x#y",
    "./",
    "..",
    "../../../x",
    "..//x",
    "x/../y",
    "/a/../x",
    "/.x",
    "/ #x",
    "/x y?z=é#z",
    "/%7Ex?utm_source=y",
    "/\\other.example/x",
    "/\t/other.example/x",
    "\\x",
    "\x01x",
    "x|y",
    "HTTP://Other.Example/x",
    "/" + "é" * 500,
    "x" * 5_000,
)


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("reference", REFERENCES)
def test_resolver_cached_result_equals_resolution(base: str, reference: str) -> None:
    assert HrefResolver(base).page(reference) == resolve(base, reference)


def test_resolver_cache_does_not_mix_hosts() -> None:
    references = ("/x y", "/x", "x", "../x")
    for host in ("one.example", "two.example"):
        page = HrefResolver(f"https://{host}/a/b/c").page
        assert [page(it) for it in references] == [
            *(f"https://{host}/x%20y", f"https://{host}/x", f"https://{host}/a/b/x", f"https://{host}/a/x"),
        ]


def test_resolver_cache_depends_on_kept_extensions() -> None:
    assert HrefResolver("http://example.org/", frozenset({"pdf"})).page("/x.pdf") == "http://example.org/x.pdf"
    assert HrefResolver("http://example.org/").page("/x.pdf") is None


def test_resolver_cache_is_bounded() -> None:
    kept = frozenset({"bounded"})
    page = HrefResolver("http://example.org/", kept).page
    for number in range(addresses._MAX_CACHED + 10):
        page(f"/{number}")
    page("/" + "x" * 300)
    assert len(addresses._reference_cache(kept)) == 10


def test_is_asset_of_asset_extensions() -> None:
    yes = (
        "http://example.org/a.css",
        "http://example.org/a.js?v=1",
        "http://example.org/a.woff2",
        "http://e.org/a.mp4",
        "http://example.org/a//b.png",
    )
    no = ("http://example.org/a.html", "http://example.org/a", "http://example.org/a.rdf", "http://example.png/")
    assert all(map(is_asset, yes))
    assert not any(map(is_asset, no))
    assert HrefResolver("http://example.org/").page("/a//b.png") is None


@pytest.mark.parametrize(
    "url",
    [
        *(
            "http://dbpedia.org/resource/Node.js",
            "https://en.wikipedia.org/wiki/Vue.js",
            "https://github.com/vercel/next.js",
        ),
        *(
            "https://packages.example/package/chart.js",
            "http://example.org/tags/node.js",
            "http://127.0.0.1:8080/Three.js",
        ),
        *(
            "http://example.org/wiki/Cmd.exe",
            "http://dbpedia.org/page/Kernel32.dll",
            "http://example.org/wiki/Notion.so",
        ),
        *("http://example.org/wiki/Tool_1.0.exe", "http://example.org/Node.js?action=history"),
    ],
)
def test_is_asset_is_false_for_pages_named_like_files(url: str) -> None:
    assert not is_asset(url)


@pytest.mark.parametrize(
    "url",
    [
        *("http://example.org/js/app.js", "http://example.org/a/Assets/b/App.js", "http://example.org/jquery.min.js"),
        *("http://example.org/jquery-3.7.1.js", "http://example.org/main.3f2a9c1b.js", "http://example.org/a.js?ver=2"),
        *("http://example.org/wp-content/x/y.js", "http://example.org/Setup.exe", "http://example.org/papers/web.ps"),
        *("http://example.org/classes/Main.class", "http://example.org/libx.so", "http://example.org/wiki/report.doc"),
        *("http://example.org/wiki/a.png", "http://example.org/debian.iso", "http://example.org/a.css"),
    ],
)
def test_is_asset_is_true_for_files(url: str) -> None:
    assert is_asset(url)
    assert is_asset(url, frozenset({"rtf"}))
    assert not is_asset(url, frozenset({extension_of(url)}))


@pytest.mark.parametrize("base", ["http:", "https:x", "httpfoo:bar"])
def test_base_without_an_authority_still_resolves_other_references(base: str) -> None:
    assert HrefResolver(base).page("http://example.org/a") == "http://example.org/a"
