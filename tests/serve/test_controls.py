"""Tests of the controls: they need the token, and write what the crawl reads."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import aiohttp
import pytest

from motherlode.crawler import CrawlFolder, Job
from motherlode.crawler.control import read_control
from motherlode.crawler.url_rules import compile_pattern, read_filters
from motherlode.serve.access import Access
from motherlode.serve.application import application
from motherlode.serve.controls import exclusion_pattern
from motherlode.serve.sparql import QueryLimits
from tests.serve.site import client_of

TOKEN = {"Authorization": "Bearer sesame"}


@asynccontextmanager
async def asked(path: Path, *, is_token_required: bool = False) -> AsyncIterator[aiohttp.ClientSession]:
    folder = CrawlFolder(path)
    folder.create(Job(seeds=("http://a.test/",), pages=5))
    access = Access.from_options(token="sesame", is_token_required=is_token_required)
    cookies = aiohttp.CookieJar(unsafe=True)  # it keeps cookies of IP addresses
    async with client_of(application(folder, QueryLimits(workers=1), access), cookies=cookies) as session:
        yield session
    folder.unlock()


async def act(session: aiohttp.ClientSession, action: str, value: str = "", **headers: str) -> int:
    data = {"action": action, "value": value}
    async with session.post("/control", data=data, headers=headers, allow_redirects=False) as response:
        return response.status


async def test_actions_with_token_write_control_file_and_filters(tmp_path: Path) -> None:
    async with asked(tmp_path / "out") as session:
        folder = CrawlFolder(tmp_path / "out")
        assert await act(session, "pause", **TOKEN) == 303
        assert read_control(folder).is_paused
        assert await act(session, "budget", "9", **TOKEN) == 303
        assert await act(session, "resume", **TOKEN) == 303
        assert (read_control(folder).is_paused, read_control(folder).pages) == (False, 9)
        assert await act(session, "exclude", "B.test", **TOKEN) == 303
        assert await act(session, "deny", "/cart/", **TOKEN) == 303
        assert await act(session, "remove", "2", **TOKEN) == 303
        assert [one.pattern for one in read_filters(folder.filters)] == [exclusion_pattern("b.test")]
        assert await act(session, "stop", **TOKEN) == 303
        assert read_control(folder).is_stopped


async def test_actions_without_token_or_from_other_site_are_refused(tmp_path: Path) -> None:
    async with asked(tmp_path / "out") as session:
        assert await act(session, "stop") == 403
        assert await act(session, "stop", Authorization="Bearer guess") == 403
        assert await act(session, "stop", **TOKEN, Origin="http://evil.test") == 403
        assert not read_control(CrawlFolder(tmp_path / "out")).is_stopped


@pytest.mark.parametrize(
    ("action", "value"), [("dance", ""), ("budget", "-1"), ("budget", "x"), ("exclude", "a b"), ("deny", "(")]
)
async def test_invalid_actions_are_errors(tmp_path: Path, action: str, value: str) -> None:
    async with asked(tmp_path / "out") as session:
        assert await act(session, action, value, **TOKEN) == 400


async def test_overview_shows_controls_only_with_token(tmp_path: Path) -> None:
    async with asked(tmp_path / "out") as session:
        async with session.get("/") as response:
            assert 'id="controls"' not in await response.text()
        async with session.get("/?token=sesame") as response:
            assert (response.status, str(response.url.query_string)) == (200, "")
            assert 'id="controls"' in await response.text(), "the cookie has the token now"


@pytest.mark.parametrize(
    "target",
    [
        "//evil.test/?token=sesame",
        "///evil.test/a?token=sesame",
        "/\\evil.test/?token=sesame",
        "/%5Cevil.test/?token=sesame",
        "/%2F%2Fevil.test/?token=sesame",
        "/.//evil.test/?token=sesame",
        "/x/..//evil.test/?token=sesame",
        "http://evil.test/?token=sesame",
        "/%0D%0ALocation:%20http://evil.test/?token=sesame",
    ],
)
async def test_token_in_url_never_redirects_to_another_server(tmp_path: Path, target: str) -> None:
    async with asked(tmp_path / "out") as session:
        port = session._base_url.port if session._base_url is not None else None
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
        head, _, _ = (await reader.read()).partition(b"\r\n\r\n")
        writer.close()
    locations = re.findall(rb"(?im)^location: *(.*)\r?$", head)
    for location in locations:
        resolved = urlsplit(urljoin("http://127.0.0.1/", location.decode().strip().replace("\\", "/")))
        assert resolved.netloc == "127.0.0.1", location
    assert locations or b" 4" in head.splitlines()[0], head


async def test_server_with_required_token_refuses_all_but_health(tmp_path: Path) -> None:
    async with asked(tmp_path / "out", is_token_required=True) as session:
        statuses = []
        for path in ("/", "/api/stats", "/sparql", "/metrics", "/healthz"):
            async with session.get(path) as response:
                statuses.append(response.status)
        assert statuses == [401, 401, 401, 401, 200]
        async with session.get("/api/stats", headers=TOKEN) as response:
            assert response.status == 200


def test_exclusion_pattern_matches_only_urls_of_host() -> None:
    pattern = compile_pattern(exclusion_pattern("a.test"))
    assert [bool(pattern.search(url)) for url in ("http://a.test/x", "https://a.test:8/", "http://a.test.evil/")] == [
        True,
        True,
        False,
    ]
    assert not pattern.search("http://b.test/?u=http://a.test/")
