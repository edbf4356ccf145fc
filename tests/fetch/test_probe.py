"""HEAD before GET: which pages are probed, which results count, and the request itself."""

from __future__ import annotations

import pytest

from motherlode.fetch import HttpFetcher
from motherlode.fetch.probe import Prober, Probing, is_unsure
from motherlode.model import Failure, FailureKind, Page, Request, RequestKind

from .servers import RawServer, answer

URL = "http://ex.org/data.zip"


def test_prober_probes_each_page_once_before_get() -> None:
    prober = Prober(Probing.ALWAYS)
    assert prober.wants(RequestKind.PAGE, URL)
    assert prober.verdict(URL, Page(url=URL, status=200)) is None
    assert not prober.wants(RequestKind.PAGE, URL), "now the GET"
    assert prober.wants(RequestKind.PAGE, URL), "a later visit is probed again"


def test_prober_probes_only_pages_if_enabled() -> None:
    assert not Prober(Probing.NEVER).wants(RequestKind.PAGE, URL)
    assert not Prober(Probing.ALWAYS).wants(RequestKind.ROBOTS, "http://ex.org/robots.txt")
    unsure = Prober(Probing.UNSURE)
    assert unsure.wants(RequestKind.PAGE, URL)
    assert not unsure.wants(RequestKind.PAGE, "http://ex.org/page")


@pytest.mark.parametrize("kind", [FailureKind.USELESS, FailureKind.REDIRECT, FailureKind.TOO_MANY, FailureKind.TIMEOUT])
def test_prober_conclusive_failure_replaces_get(kind: FailureKind) -> None:
    failure = Failure(url=URL, kind=kind)
    assert Prober(Probing.ALWAYS).verdict(URL, failure) is failure


@pytest.mark.parametrize(
    "kind", [FailureKind.NOT_FOUND, FailureKind.CLIENT_ERROR, FailureKind.SERVER_ERROR, FailureKind.PROTOCOL]
)
def test_prober_bad_head_response_leads_to_get(kind: FailureKind) -> None:
    assert Prober(Probing.ALWAYS).verdict(URL, Failure(url=URL, kind=kind)) is None


def test_is_unsure_is_false_without_extension() -> None:
    assert not is_unsure("http://ex.org/people/ann?page=2")
    assert not is_unsure("http://ex.org/view.aspx?id=3")
    assert is_unsure("http://ex.org/export?id=3")


async def test_fetch_probe_sends_head_and_uses_content_type(server: RawServer, fetcher: HttpFetcher) -> None:
    server.routes["/movie"] = answer(b"", "Content-Type: video/mp4", length=10_000_000)
    server.routes["/page"] = answer(b"", "Content-Type: text/html", "Content-Encoding: gzip", length=500)
    server.routes["/no"] = answer(b"", status="405 Method Not Allowed")
    movie = await fetcher.fetch(Request(url=server.url("/movie"), kind=RequestKind.PROBE))
    page = await fetcher.fetch(Request(url=server.url("/page"), kind=RequestKind.PROBE))
    no = await fetcher.fetch(Request(url=server.url("/no"), kind=RequestKind.PROBE))
    assert isinstance(movie, Failure)
    assert movie.kind is FailureKind.USELESS
    assert isinstance(page, Page)
    assert (page.body, page.content_type) == (b"", "text/html")
    assert isinstance(no, Failure)
    assert [head.split()[0] for head in server.heads] == ["HEAD"] * 3
    assert all("text/turtle" in head for head in server.heads), "the Accept header is that of a GET"
