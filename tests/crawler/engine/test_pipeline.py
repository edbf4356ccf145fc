"""Subrequests of a page: contexts and services, in a crawl of a server on loopback."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from aiohttp import web

from motherlode.crawler import Job
from motherlode.index.quad_store import QuadStore
from motherlode.transform.options import installed_transformers
from tests.crawler.served_crawl import run_job
from tests.support import install_pdf_transformer

CONTEXT = {"@context": {"name": "http://vocab.example/name"}}


class Site:
    """A page with a remote context, a PDF, and a service that makes RDF of PDFs; with a log of what was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.posted: list[tuple[str, bytes]] = []

    async def answer(self, request: web.Request) -> web.Response:
        self.asked.append(f"{request.method} {request.path}")
        if request.path == "/":
            block = json.dumps({"@context": f"http://{request.host}/context.jsonld", "name": "Ann"})
            text = f'<script type="application/ld+json">{block}</script><a href="/paper.pdf">p</a><a href="/more">m</a>'
            return web.Response(text=text, content_type="text/html")
        if request.path == "/more":
            block = json.dumps({"@context": f"http://{request.host}/context.jsonld", "name": "Bo"})
            return web.Response(text=f'<script type="application/ld+json">{block}</script>', content_type="text/html")
        if request.path == "/context.jsonld":
            return web.Response(text=json.dumps(CONTEXT), content_type="application/ld+json")
        if request.path == "/paper.pdf":
            return web.Response(body=b"%PDF-1.4 x", content_type="application/pdf")
        if request.path == "/service":
            self.posted.append((request.headers["Content-Location"], await request.read()))
            turtle = "<> <http://purl.org/dc/terms/title> 'On ore' ."
            return web.Response(text=turtle, content_type="text/turtle")
        return web.Response(status=404)


@asynccontextmanager
async def serving(site: Site) -> AsyncIterator[str]:
    runner = web.ServerRunner(web.Server(site.answer))  # type: ignore[arg-type]
    await runner.setup()
    place = web.TCPSite(runner, "127.0.0.1", 0)
    await place.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


def _job(root: str, **more: object) -> Job:
    return Job(seeds=(f"{root}/",), delay=0.0, allow=("127.0.0.0/8",), workers=1, **more)  # type: ignore[arg-type]


async def test_a_context_is_fetched_once_where_the_user_wants_it(tmp_path: Path) -> None:
    site = Site()
    async with serving(site) as root:
        await run_job(_job(root, contexts="fetch"), tmp_path / "out")
    names = QuadStore(tmp_path / "out" / "store", read_only=True).query(
        "SELECT ?n { ?s <http://vocab.example/name> ?n }"
    )
    assert {row["n"].value for row in names} == {"Ann", "Bo"}  # type: ignore[union-attr, index]
    assert site.asked.count("GET /context.jsonld") == 1


async def test_a_recorded_crawl_has_its_contexts(tmp_path: Path) -> None:
    async with serving(Site()) as root:
        await run_job(_job(root, contexts="fetch", warc=True), tmp_path / "out")
    (recorded,) = (tmp_path / "out" / "warc").iterdir()
    await run_job(_job(root, contexts="fetch", web=str(recorded)), tmp_path / "again")
    names = QuadStore(tmp_path / "again" / "store", read_only=True).query(
        "SELECT ?n { ?s <http://vocab.example/name> ?n }"
    )
    assert {row["n"].value for row in names} == {"Ann", "Bo"}  # type: ignore[union-attr, index]


async def test_by_default_nothing_is_loaded_and_the_problem_is_on_record(tmp_path: Path) -> None:
    site = Site()
    async with serving(site) as root:
        visits = await run_job(_job(root), tmp_path / "out")
    assert "GET /context.jsonld" not in site.asked
    assert any("context" in problem.message for visit in visits for problem in visit.problems)


async def test_a_service_turns_a_pdf_into_facts(tmp_path: Path) -> None:
    site = Site()
    async with serving(site) as root:
        services = [{"media_type": "application/pdf", "url": f"{root}/service"}]
        await run_job(_job(root, transform={"services": services}), tmp_path / "out")
        assert site.posted == [(f"{root}/paper.pdf", b"%PDF-1.4 x")]
    titles = QuadStore(tmp_path / "out" / "store", read_only=True).query(
        "SELECT ?page ?t { GRAPH ?page { ?page dcterms:title ?t } }"
    )
    assert [(row["page"].value, row["t"].value) for row in titles] == [(f"{root}/paper.pdf", "On ore")]  # type: ignore[union-attr, index]


@pytest.fixture
def pdf_transformer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    install_pdf_transformer(tmp_path / "packages", monkeypatch)
    installed_transformers.cache_clear()
    yield
    installed_transformers.cache_clear()


@pytest.mark.usefixtures("pdf_transformer")
async def test_an_installed_transformer_turns_a_pdf_into_facts(tmp_path: Path) -> None:
    async with serving(Site()) as root:
        await run_job(_job(root, warc=True), tmp_path / "out")
    (recorded,) = (tmp_path / "out" / "warc").iterdir()
    await run_job(_job(root, web=str(recorded)), tmp_path / "again")
    for folder in ("out", "again"):
        sizes = QuadStore(tmp_path / folder / "store", read_only=True).query("SELECT ?s { ?page dcterms:extent ?s }")
        assert [row["s"].value for row in sizes] == ["10"]  # type: ignore[union-attr, index]


async def test_a_service_that_is_not_there_is_a_problem_not_a_failure(tmp_path: Path) -> None:
    site = Site()
    async with serving(site) as root:
        services = [{"media_type": "application/pdf", "url": f"{root}/none"}]
        visits = await run_job(_job(root, transform={"services": services}), tmp_path / "out")
    paper = next(visit for visit in visits if visit.url.endswith("/paper.pdf"))
    assert paper.failure is None
    assert "not-found" in paper.problems[0].message


def test_a_broken_transform_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="does not know"):
        Job(seeds=("http://a/",), transform={"sheets": []}).transform_options()


class _RulesElsewhere(Site):
    """The context's host says that its robots.txt lies on another; both are this server, by two names."""

    def __init__(self, rules: str) -> None:
        super().__init__()
        self._rules = rules

    async def answer(self, request: web.Request) -> web.Response:
        name = request.host.partition(":")[0]
        if request.path == "/robots.txt" and name == "contexts.example":
            self.asked.append(f"{request.method} {name}{request.path}")
            return web.Response(status=301, headers={"Location": "http://rules.example/all.txt"})
        if request.path == "/all.txt":
            self.asked.append(f"{request.method} {name}{request.path}")
            return web.Response(text=self._rules)
        if request.path == "/":
            self.asked.append("GET /")
            block = json.dumps({"@context": "http://contexts.example/context.jsonld", "name": "Ann"})
            text = f'<script type="application/ld+json">{block}</script>'
            return web.Response(text=text, content_type="text/html")
        return await super().answer(request)


@pytest.mark.parametrize(
    ("rules", "names"), [("User-agent: *\nAllow: /\n", {"Ann"}), ("User-agent: *\nDisallow: /\n", set())]
)
async def test_robots_txt_on_another_host_is_requested_before_a_subrequest(
    tmp_path: Path, rules: str, names: set[str]
) -> None:
    site = _RulesElsewhere(rules)
    async with serving(site) as root:
        place = root.removeprefix("http://")
        hosts = {"contexts.example": place, "rules.example": place}
        await run_job(_job(root, contexts="fetch", hosts=hosts, words=False), tmp_path / "out")
    found = QuadStore(tmp_path / "out" / "store", read_only=True).query(
        "SELECT ?n { ?s <http://vocab.example/name> ?n }"
    )
    assert {row["n"].value for row in found} == names  # type: ignore[union-attr, index]
    assert "GET contexts.example/robots.txt" in site.asked
    assert "GET rules.example/all.txt" in site.asked
    assert ("GET /context.jsonld" in site.asked) == bool(names)


class _SlowContexts(Site):
    """A page whose context does not come, and one that needs none."""

    def __init__(self) -> None:
        super().__init__()
        self.is_read = asyncio.Event()

    async def answer(self, request: web.Request) -> web.Response:
        if request.path == "/context.jsonld":
            await asyncio.wait_for(self.is_read.wait(), 120)
        if request.path == "/plain":
            self.is_read.set()
        return await super().answer(request)


async def test_a_page_that_waits_for_its_context_takes_no_place(tmp_path: Path) -> None:
    site = _SlowContexts()
    async with serving(site) as root:
        job = _job(root, contexts="fetch", concurrency=1, words=False, policy="bfs")
        await run_job(replace(job, seeds=(f"{root}/more", f"{root}/plain")), tmp_path / "out")
    assert site.asked.index("GET /plain") < site.asked.index("GET /context.jsonld")


class _LeftAlone(Site):
    """A host that wants to be asked once an hour."""

    async def answer(self, request: web.Request) -> web.Response:
        if request.path == "/robots.txt" and request.host.startswith("contexts."):
            return web.Response(text="User-agent: *\nCrawl-delay: 3600")
        if request.path == "/more":
            block = json.dumps({"@context": "http://contexts.example/context.jsonld", "name": "Ann"})
            return web.Response(text=f'<script type="application/ld+json">{block}</script>', content_type="text/html")
        return await super().answer(request)


async def test_a_crawl_does_not_wait_for_a_context_whose_host_wants_to_be_left_alone(tmp_path: Path) -> None:
    async with serving(_LeftAlone()) as root:
        job = _job(root, contexts="fetch", hosts={"contexts.example": root.removeprefix("http://")}, words=False)
        async with asyncio.timeout(120):
            (visit,) = await run_job(replace(job, seeds=(f"{root}/more",)), tmp_path / "out")
    assert any("context" in problem.message for problem in visit.problems)
