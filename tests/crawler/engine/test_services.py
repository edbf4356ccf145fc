"""Calls of transformation services: spread over several URLs, repeated after failures, without delay if own."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import pytest
from aiohttp import web

from motherlode.crawler.engine.services import ServiceClient
from motherlode.crawler.parsing.messages import ServiceResponse
from motherlode.index.quad_store import QuadStore
from motherlode.model import Failure, FailureKind, Fetched, Page, Request
from motherlode.transform.options import Service
from tests.crawler.engine.test_pipeline import Site, _job, serving
from tests.crawler.served_crawl import run_job

URLS = ("http://a.example/", "http://b.example/", "http://c.example/")
PAGE = Page(url="http://x.example/p.pdf", status=200, headers={"content-type": "application/pdf"}, body=b"%PDF")


class Web:
    """Responses of services by URL. A URL in `broken` fails; requests wait until `release` is set."""

    def __init__(self, *, broken: dict[str, FailureKind] | None = None) -> None:
        self.broken = broken or {}
        self.asked: list[str] = []
        self.release = asyncio.Event()
        self.release.set()

    async def send(self, request: Request) -> Fetched:
        self.asked.append(request.url)
        await self.release.wait()
        if (kind := self.broken.get(request.url)) is not None:
            return Failure(url=request.url, kind=kind, detail="d")
        return Page(url=request.url, status=200, headers={"content-type": "text/turtle"}, body=request.url.encode())


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("motherlode.crawler.engine.services._RETRY_SECONDS", 0.0)


def client_of(direct: Web, *, polite: Web | None = None, own: bool = True, retries: int = 2) -> ServiceClient:
    service = Service(media_type="application/pdf", url=URLS, own=own, retries=retries)
    return ServiceClient((service,), polite=(polite or direct).send, direct=direct.send)


async def call(client: ServiceClient) -> ServiceResponse:
    response = await client.transform(PAGE)
    assert response is not None
    return response


async def test_pages_at_a_time_are_spread_evenly_over_the_urls() -> None:
    web_ = Web()
    web_.release.clear()
    client = client_of(web_)
    calls = [asyncio.create_task(call(client)) for _ in range(9)]
    while len(web_.asked) < 9:  # noqa: ASYNC110 - there is no event for a request
        await asyncio.sleep(0)
    web_.release.set()
    await asyncio.gather(*calls)
    assert Counter(web_.asked) == dict.fromkeys(URLS, 3)


async def test_pages_one_after_the_other_are_spread_evenly_over_the_urls() -> None:
    web_ = Web()
    client = client_of(web_)
    for _ in range(6):
        await call(client)
    assert Counter(web_.asked) == dict.fromkeys(URLS, 2)


async def test_failed_request_is_repeated_at_another_url_and_the_failed_one_is_paused() -> None:
    web_ = Web(broken={URLS[0]: FailureKind.CONNECT})
    client = client_of(web_)
    responses = [await call(client) for _ in range(10)]
    assert not any(response.failure for response in responses)
    assert web_.asked.count(URLS[0]) == 1


async def test_last_failure_is_the_result_after_all_attempts() -> None:
    web_ = Web(broken=dict.fromkeys(URLS, FailureKind.UNAVAILABLE))
    response = await call(client_of(web_, retries=4))
    assert response.failure.startswith("unavailable: d (attempt 5")
    assert sorted(Counter(web_.asked).values()) == [1, 2, 2]


async def test_failure_that_cannot_pass_is_not_repeated() -> None:
    web_ = Web(broken=dict.fromkeys(URLS, FailureKind.NOT_FOUND))
    assert (await call(client_of(web_))).failure == "not-found: d"
    assert len(web_.asked) == 1


@pytest.mark.parametrize("own", [True, False])
async def test_only_own_services_are_called_without_delays(*, own: bool) -> None:
    direct, polite = Web(), Web()
    await call(client_of(direct, polite=polite, own=own))
    assert (len(direct.asked), len(polite.asked)) == (int(own), int(not own))


class Papers(Site):
    """A page with ten PDFs and a service that fails once and then makes HTML of PDFs."""

    async def answer(self, request: web.Request) -> web.Response:
        if request.path == "/":
            links = "".join(f'<a href="/{number}.pdf">p</a>' for number in range(10))
            return web.Response(text=links, content_type="text/html")
        if request.path.endswith(".pdf"):
            return web.Response(body=b"%PDF-1.4 x", content_type="application/pdf")
        if request.path.startswith("/service"):
            self.asked.append(request.path)
            if len(self.asked) == 1:
                return web.Response(status=503)
            text = f'<p itemscope itemtype="http://schema.org/Report"><b itemprop=name>{request.path}</b>'
            return web.Response(text=text, content_type="text/html")
        return web.Response(status=404)


async def test_crawl_with_two_own_services_gets_html_of_every_pdf(tmp_path: Path) -> None:
    site = Papers()
    async with serving(site) as root:
        urls = [f"{root}/service/1", f"{root}/service/2"]
        services = [{"media_type": "application/pdf", "url": urls, "own": True}]
        await run_job(_job(root, transform={"services": services}), tmp_path / "out")
    names = QuadStore(tmp_path / "out" / "store", read_only=True).query(
        "SELECT ?page ?n { GRAPH ?page { ?s <http://schema.org/name> ?n } }"
    )
    assert len({row["page"].value for row in names}) == 10  # type: ignore[union-attr, index]
    assert len(site.asked) == 11
    assert set(site.asked) == {"/service/1", "/service/2"}
