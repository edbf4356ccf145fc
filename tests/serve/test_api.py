"""JSON for programs: rows, filters, limits and errors."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp.test_utils import make_mocked_request

from motherlode.crawler import CrawlFolder, Job
from motherlode.frontier import HostRecord
from motherlode.serve.api import read_filters, read_limit, respond, summarize_host
from motherlode.serve.application import application
from motherlode.serve.metrics import CONTENT_TYPE
from motherlode.serve.sparql import QueryLimits
from tests.serve.site import HOME, client_of, page_url


@asynccontextmanager
async def client(folder: Path) -> AsyncIterator[aiohttp.ClientSession]:
    async with client_of(application(CrawlFolder(folder), QueryLimits(workers=1))) as session:
        yield session


async def read_json(session: aiohttp.ClientSession, address: str) -> Any:
    async with session.get(address) as response:
        assert response.content_type == "application/json"
        return await response.json()


async def test_pages_are_limited_and_filtered(folder: Path) -> None:
    async with client(folder) as session:
        everything, failed = await read_json(session, "/api/pages"), await read_json(session, "/api/pages?failed=1")
        urls, failed_urls = ({row["url"] for row in rows["pages"]} for rows in (everything, failed))
        assert urls - failed_urls == {HOME, *(page_url(number) for number in range(1, 4))}
        assert failed_urls == {url for url in urls if "/thing/" in url or "plain.test" in url or "/same" in url}
        assert (await read_json(session, "/api/pages?limit=2"))["count"] == 2
        assert (await read_json(session, "/api/pages?host=other.test"))["pages"] == []
        assert (await read_json(session, "/api/pages?host=PLAIN.test"))["count"] == 1


async def test_stats_add_state_and_queue_to_the_statistics(folder: Path) -> None:
    async with client(folder) as session:
        stats, pages = await read_json(session, "/api/stats"), await read_json(session, "/api/pages")
    assert stats["fetched"] == pages["count"]
    assert (stats["running"], stats["in_flight"], stats["pages_per_second"]) == (False, 0, 0.0)
    assert stats["queue"] == {"waiting": 0, "retry": 0, "revisit": 0, "withheld": 0}


async def test_hosts_have_a_row_each(folder: Path) -> None:
    async with client(folder) as session:
        hosts = await read_json(session, "/api/hosts")
    assert (hosts["count"], sorted(row["name"] for row in hosts["hosts"])) == (2, ["evil.test", "plain.test"])


async def test_explain_without_url_is_an_error_with_an_example(folder: Path) -> None:
    async with client(folder) as session:
        async with session.get("/api/explain") as response:
            assert response.status == 400
            assert "/api/explain?url=" in (await response.json())["error"]
        assert (await read_json(session, f"/api/explain?url={HOME}"))["url"] == HOME


async def test_metrics_are_text_for_prometheus(folder: Path) -> None:
    async with client(folder) as session, session.get("/metrics") as response:
        assert response.headers["Content-Type"] == CONTENT_TYPE
        assert "motherlode_page_bytes_count 4" in (await response.text()).splitlines()


async def test_health_reports_whether_crawl_runs(tmp_path: Path) -> None:
    folder = CrawlFolder(tmp_path / "out")
    folder.create(Job(seeds=("http://a.test/",)))
    async with client(folder.path) as session:
        assert await read_json(session, "/healthz") == {"status": "ok", "running": True}
        folder.unlock()
        assert await read_json(session, "/healthz") == {"status": "ok", "running": False}


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("7", 7),
        ("10000", 10_000),
        ("99999", 10_000),
        ("9" * 5000, 10_000),
        ("0", 100),
        ("-1", 100),
        ("x", 100),
        ("", 100),
    ],
)
def test_read_limit_gives_a_number_of_rows_between_one_and_ten_thousand(text: str, limit: int) -> None:
    assert read_limit(make_mocked_request("GET", f"/api/hosts?limit={text}")) == limit


def test_read_filters_reads_flags_and_host() -> None:
    query = {"failed": "1", "problems": "No", "host": " A.example "}
    assert read_filters(query) == {"failed": True, "problems": False, "relevant": False, "host": "a.example"}


def test_summarize_host_names_the_failure_of_robots_txt() -> None:
    row = summarize_host(HostRecord(name="a.example", fetched=3, unread_since=12.0, unread_for="timeout"))
    assert (row["name"], row["fetched"], row["relevant"]) == ("a.example", 3, 0)
    assert (row["robots_unread_since"], row["robots_unread_for"]) == (12.0, "timeout")


def test_respond_encodes_json_with_the_status() -> None:
    response = respond({"error": "no"}, status=404)
    assert (response.status, response.content_type, response.body) == (404, "application/json", b'{"error":"no"}')
