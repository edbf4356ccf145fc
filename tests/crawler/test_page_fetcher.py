"""`PageFetcher` with a real server."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from motherlode.crawler.config.values import JobError
from motherlode.crawler.page_fetcher import PageFetcher
from motherlode.crawler.single_page import InputSource
from motherlode.frontier import MAX_REDIRECTS
from tests.crawler.changing_web import ChangingWeb, Document, serving

LOOPBACK = ("127.0.0.0/8",)
TURTLE = "<> <http://schema.org/name> 'Ann' ."


async def fetch(
    site: ChangingWeb, path: str, *, base: str | None = None, media_type: str = "", delay: float = 0.0
) -> InputSource:
    async with visiting(delay=delay) as visitor:
        return await visitor.page(f"{site.root}{path}", base=base, media_type=media_type)


@asynccontextmanager
async def visiting(allow: tuple[str, ...] = LOOPBACK, delay: float = 0.0) -> AsyncIterator[PageFetcher]:
    visitor = PageFetcher(allow=allow, delay=delay)
    try:
        yield visitor
    finally:
        await visitor.close()


def moved(to: str) -> Document:
    return Document(status=302, headers={"Location": to})


async def test_redirected_page_has_the_url_of_the_last_redirect() -> None:
    pages = {"/a": moved("/b"), "/b": moved("c"), "/c": Document(TURTLE, content_type="text/turtle")}
    async with serving(ChangingWeb(pages)) as site:
        source = await fetch(site, "/a")
        assert source.url == f"{site.root}/c"
    assert source.body == TURTLE.encode()
    assert source.content_type.startswith("text/turtle")
    assert source.path is None


async def test_given_base_and_media_type_take_precedence() -> None:
    async with serving(ChangingWeb({"/a": Document(TURTLE, content_type="text/plain")})) as site:
        source = await fetch(site, "/a", base="http://base.example/", media_type="text/turtle")
    assert (source.url, source.content_type) == ("http://base.example/", "text/turtle")


@pytest.mark.parametrize("hops", [MAX_REDIRECTS, MAX_REDIRECTS + 1])
async def test_redirects_are_limited_as_in_a_crawl(hops: int) -> None:
    pages = {f"/{number}": moved(f"/{number + 1}") for number in range(hops)}
    async with serving(ChangingWeb({**pages, f"/{hops}": Document(TURTLE)})) as site:
        if hops > MAX_REDIRECTS:
            with pytest.raises(JobError, match="redirects more than 8 times"):
                await fetch(site, "/0")
        else:
            assert (await fetch(site, "/0")).body == TURTLE.encode()


async def test_redirect_loop_is_an_error_after_one_round() -> None:
    async with serving(ChangingWeb({"/a": moved("/b"), "/b": moved("/a")})) as site:
        with pytest.raises(JobError, match="/a redirects in a circle"):
            await fetch(site, "/a")
    assert site.asked() == ["/a", "/b"]


async def test_robots_txt_is_fetched_first_and_obeyed() -> None:
    rules = Document("User-agent: *\nDisallow: /private\n", content_type="text/plain")
    pages = {
        "/robots.txt": rules,
        "/private/x": Document(TURTLE),
        "/open": Document(TURTLE),
        "/to": moved("/private/x"),
    }
    async with serving(ChangingWeb(pages)) as site:
        assert (await fetch(site, "/open")).body == TURTLE.encode()
        assert [asked.path for asked in site.log] == ["/robots.txt", "/open"]
        for path in ("/private/x", "/to"):
            with pytest.raises(JobError, match=rf"/private/x may not be fetched: {site.root}/robots.txt disallows it"):
                await fetch(site, path)
    assert site.asked() == ["/open", "/to"]


async def test_requests_to_one_host_keep_the_delay() -> None:
    async with serving(ChangingWeb({"/a": moved("/b"), "/b": Document(TURTLE)})) as site:
        began = time.monotonic()
        await fetch(site, "/a", delay=0.3)
        assert time.monotonic() - began >= 0.6
    assert [asked.path for asked in site.log] == ["/robots.txt", "/a", "/b"]


async def test_failed_fetch_is_an_error_with_the_kind_of_failure() -> None:
    async with serving(ChangingWeb({"/private": moved("http://10.0.0.1/")})) as site:
        with pytest.raises(JobError, match="not-found"):
            await fetch(site, "/none")
        with pytest.raises(JobError, match="address-guard"):
            await fetch(site, "/private")
        async with visiting(allow=()) as visitor:
            with pytest.raises(JobError, match="address-guard"):
                await visitor.page(f"{site.root}/none")


@pytest.mark.parametrize("url", ["ftp://a.example/", "no url", "", "javascript:1"])
async def test_url_with_another_scheme_is_refused(url: str) -> None:
    async with visiting() as visitor:
        with pytest.raises(JobError, match="not an http or https URL"):
            await visitor.page(url)


async def test_page_has_the_contexts_of_its_link_header() -> None:
    headers = {"Link": '</c.jsonld>; rel="http://www.w3.org/ns/json-ld#context"; type="application/ld+json"'}
    page = Document('{"name": "Ann"}', content_type="application/json", headers=headers)
    async with serving(ChangingWeb({"/a": page})) as site:
        assert (await fetch(site, "/a")).contexts == (f"{site.root}/c.jsonld",)


async def test_contexts_obey_robots_txt_and_unavailable_ones_are_missing() -> None:
    pages = {
        "/robots.txt": Document("User-agent: *\nDisallow: /private\n", content_type="text/plain"),
        "/moved": moved("/c"),
        "/c": Document("{}", content_type="application/ld+json"),
        "/private": Document("{}", content_type="application/ld+json"),
        "/page": Document(
            "<p>", headers={"Link": '</c>; rel="alternate"; type="application/ld+json", </x>; rel="alternate"'}
        ),
        "/plain": Document("{}", content_type="application/json", headers={"Link": '</c>; rel="alternate"'}),
        "/long": Document("x" * 1_100_000, content_type="application/ld+json"),
    }
    async with serving(ChangingWeb(pages)) as site, visiting(delay=0.1) as visitor:
        began = time.monotonic()
        found = await visitor.contexts(f"{site.root}{path}" for path in [*pages, "/none"] if path != "/robots.txt")
        assert time.monotonic() - began >= 0.1 * len(site.asked())
    assert [url.removeprefix(site.root) for url in found] == ["/moved", "/c", "/page", "/plain"]
    assert set(found.values()) == {b"{}"}
    assert site.last("/c").headers["Accept"] == "application/ld+json"
    assert "/private" not in site.asked()
