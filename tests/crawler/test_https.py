"""Crawls of https hosts with valid and invalid certificates and with redirects to private addresses."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from motherlode.crawler import CrawlFolder, Job, JobError
from motherlode.crawler.report.crawl_report import build_report
from motherlode.crawler.stats.reader import read_stats
from motherlode.fetch import dns
from motherlode.fetch.dns import Answer
from motherlode.frontier.leases import HOST_GIVEN_UP_AFTER
from motherlode.index.page_record import PROVENANCE
from motherlode.index.quad_store import QuadStore
from motherlode.model import FailureKind, Visit
from tests.crawler.served_crawl import run_job
from tests.fetch.certificates import Identity, issued, saved, server_context
from tests.fetch.servers import LastingServer, answer

ADDRESS, FORBIDDEN = "127.1.0.1", "127.0.0.1"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Identity:
    """Return the only trusted certificate authority."""
    made = issued(is_authority=True)
    (tmp_path / "root.pem").write_bytes(made.public)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "root.pem"))
    return made


class Site:
    """Pages by path over https and http. Other paths have status 404."""

    def __init__(self, **pages: bytes) -> None:
        self._pages = {f"/{name}": page for name, page in pages.items()}

    @asynccontextmanager
    async def running(self, identity: Identity, folder: Path, address: str = ADDRESS) -> AsyncIterator[LastingServer]:
        context = server_context(saved(folder, identity))
        async with LastingServer(self._reply, tls=context, address=address) as server:
            yield server

    async def _reply(self, path: str, before: int, writer: asyncio.StreamWriter) -> None:
        writer.write(self._pages.get(path, answer(status="404 Not Found")))
        await writer.drain()


def page(*links: str) -> bytes:
    return answer(b"".join(b'<a href="%s">x</a>' % link.encode() for link in links), "Content-Type: text/html")


def redirect(to: str) -> bytes:
    return answer(b"", f"Location: {to}", status="302 Found")


async def crawl(folder: Path, seeds: list[str], **more: Any) -> list[Visit]:
    usual = {"delay": 0.0, "allow": ("127.1.0.0/16",), "workers": 1, "words": False, "retry_wait": 0.01}
    return await run_job(Job(seeds=tuple(seeds), **{**usual, **more}), folder)


def kinds(visits: list[Visit]) -> Counter[str]:
    return Counter(visit.failure.value if visit.failure else "page" for visit in visits)


async def test_host_with_invalid_certificate_gets_no_request(tmp_path: Path, root: Identity) -> None:
    links = [f"/{number}" for number in range(30)]
    async with Site(index=page(*links)).running(issued(names=["bad.example"]), tmp_path) as server:
        hosts = {"bad.example": f"{ADDRESS}:{server.port}"}
        seeds = [f"https://bad.example{link}" for link in links]
        visits = await crawl(tmp_path / "strict", seeds, hosts=hosts)
        assert server.heads == []
        assert kinds(visits) == {FailureKind.CERTIFICATE.value: HOST_GIVEN_UP_AFTER}, (
            "certificate errors are not retried"
        )
        visits = await crawl(
            tmp_path / "any", ["https://bad.example/index"], hosts=hosts, any_certificate=("*.example",)
        )
        assert kinds(visits) == {"page": 1, "not-found": 30}
    store = QuadStore(tmp_path / "any" / "store", read_only=True)
    named = store.query(f"SELECT ?h {{ GRAPH <{PROVENANCE}> {{ ?run ml:certificatesNotChecked ?h }} }}")
    assert [row["h"].value for row in named] == ["*.example"]  # type: ignore[union-attr, index]
    folder = CrawlFolder(tmp_path / "any")
    assert ("Certificates not verified", "*.example") in build_report(folder.read_job(), read_stats(folder)).settings


def test_any_certificate_with_an_invalid_host_name_is_refused() -> None:
    with pytest.raises(JobError, match="any_certificate: 'a b' is not a host name"):
        Job(seeds=("https://a.example/",), any_certificate=("a b",))
    Job(seeds=("https://a.example/",), any_certificate=("*", "*.co.uk"))


async def test_redirects_between_http_and_https_are_followed(tmp_path: Path, root: Identity) -> None:
    """http and https URLs are different pages, HSTS is not applied, and credentials in redirects are removed."""
    seen = "Strict-Transport-Security: max-age=999999"
    plain: list[str] = []

    async def reply(path: str, before: int, writer: asyncio.StreamWriter) -> None:
        plain.append(path)
        to = {"/1": redirect("https://a.example/2"), "/3": page("http://b.example/4")}
        writer.write(to.get(path, answer(status="404 Not Found")))
        await writer.drain()

    own = issued(root, names=["a.example"])
    secure = {
        "2": answer(b"", seen, "Location: http://ann:secret@b.example/3", status="301 Moved"),
        "5": page("http://ann:secret@b.example/1"),
    }
    async with LastingServer(reply, address=ADDRESS) as other, Site(**secure).running(own, tmp_path) as server:
        hosts = {"a.example": f"{ADDRESS}:{server.port}", "b.example": f"{ADDRESS}:{other.port}"}
        visits = await crawl(tmp_path / "crawl", ["https://a.example/5"], hosts=hosts)
        heads = "".join((*server.heads, *other.heads)).lower()
    assert kinds(visits) == {"page": 2, "redirect": 2, "not-found": 1}
    assert [path for path in plain if path != "/robots.txt"] == ["/1", "/3", "/4"], "http URLs are not upgraded"
    assert "secret" not in heads
    assert "authorization" not in heads


async def test_address_guard_applies_to_https(tmp_path: Path, root: Identity, monkeypatch: pytest.MonkeyPatch) -> None:
    """The forbidden address is reached by a redirect, in another notation, and by a host that changes its address."""
    times = count()

    async def look_up(_: dns.NameServers, host: str) -> Answer:
        assert host == "flip.example"
        return Answer(((ADDRESS, FORBIDDEN)[next(times) % 2],), 0.0)

    monkeypatch.setattr(dns.NameServers, "look_up", look_up)
    monkeypatch.setattr(dns, "MIN_TTL_SECONDS", 0.0)
    own = issued(root, names=["a.example", "flip.example"], addresses=[FORBIDDEN])
    async with Site().running(own, tmp_path, FORBIDDEN) as canary:
        inside = [f"https://{FORBIDDEN}:{canary.port}/", f"https://[::ffff:{FORBIDDEN}]:{canary.port}/"]
        inside += [f"https://2130706433:{canary.port}/", "https://[::ffff:10.0.0.1]/", "https://169.254.169.254/"]
        pages = {f"to{number}": redirect(url) for number, url in enumerate(inside)}
        async with Site(index=page(*(f"/{name}" for name in pages), *inside), **pages).running(own, tmp_path) as server:
            seeds = ["https://a.example/index", *(f"https://flip.example:{server.port}/{n}" for n in range(4))]
            visits = await crawl(tmp_path / "crawl", seeds, hosts={"a.example": f"{ADDRESS}:{server.port}"})
        assert canary.connections == 0
    found = kinds(visits)
    assert found["redirect"] == len(inside)
    assert found["page"] == 1
    assert found["not-found"] >= 1, "the host with two addresses was requested at the allowed one"
    assert set(found) <= {"page", "redirect", "not-found", "address-guard"}
