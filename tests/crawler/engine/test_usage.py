"""Crawls of sites that state preferences about the use of their pages: provenance, export, and obedience."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from aiohttp import web
from typer.testing import CliRunner

from motherlode.cli import application
from motherlode.crawler import CrawlFolder
from motherlode.index.quad_store import QuadStore
from motherlode.model import Visit
from tests.crawler.served_crawl import crawl_servers

HOSTS = {"plain.example": "127.0.0.2", "tdm.example": "127.0.0.3", "moved.example": "127.0.0.4"}
DATA = '<script type="application/ld+json">{"@context": "https://schema.org", "@type": "Recipe", "name": "x"}</script>'
ROBOTS = """User-agent: *
Content-Signal: search=yes
Content-Usage: /robots/ train-ai=n
Disallow: /no
"""
PAGES = {
    "/": ("", {}),
    "/robots/1": ("", {}),
    "/header": ("", {"Content-Usage": "train-ai=n", "TDM-Reservation": "1", "TDM-Policy": "https://a.example/p"}),
    "/signal": ("", {"Content-Signal": "ai-input=no"}),
    "/tag": ("", {"X-Robots-Tag": "noai, noimageai"}),
    "/meta": ('<meta name="robots" content="noai"><meta name="tdm-reservation" content="0">', {}),
    "/deep/1": ("", {}),
}
TDM = [{"location": "/deep/", "tdm-reservation": 1, "tdm-policy": "https://a.example/p"}]


class Servers:
    """Three hosts with the same pages. Two have a tdmrep.json, one of them elsewhere."""

    def __init__(self) -> None:
        self.port = 0
        self.asked: list[tuple[str, str]] = []

    async def answer(self, request: web.BaseRequest) -> web.Response:
        self.asked.append((request.host, request.path))
        if request.path == "/robots.txt":
            return web.Response(text=ROBOTS)
        if request.path == "/.well-known/tdmrep.json":
            if request.host == "moved.example":
                return web.Response(status=301, headers={"Location": "/tdm.json"})
            return web.json_response(TDM) if request.host == "tdm.example" else web.Response(status=404)
        if request.path == "/tdm.json":
            return web.json_response(TDM)
        head, headers = PAGES[request.path]
        links = "".join(f'<a href="{path}">x</a>' for path in PAGES)
        return web.Response(
            text=f"<title>{request.path}</title>{head}{DATA}{links}", headers=headers, content_type="text/html"
        )


async def crawl(folder: CrawlFolder, servers: Servers, *hosts: str, **more: object) -> dict[str, Visit]:
    """Crawl hosts. Return the visits by path."""
    seeds = [f"http://{host}/" for host in hosts]
    visits, _ = await crawl_servers(folder, servers, HOSTS, seeds, address_delay=0.0, **more)
    return {visit.url.partition("example")[2]: visit for visit in visits}


def stated(folder: CrawlFolder) -> dict[str, tuple[str, ...]]:
    """Return what the provenance says about each path: reserved uses with a minus, permitted ones with a plus."""
    store = QuadStore(folder.store, read_only=True)
    found: dict[str, tuple[str, ...]] = {}
    for name, sign in (("reserved", "-"), ("permitted", "+"), ("tdmPolicy", "")):
        for quad in store.match(predicate=f"<urn:motherlode:vocabulary:{name}>"):
            path = quad.subject.value.partition("example")[2]
            found[path] = tuple(sorted((*found.get(path, ()), sign + quad.object.value)))
    store.close()
    return found


async def test_preferences_of_robots_headers_and_html_are_in_the_provenance(tmp_path: Path) -> None:
    folder, servers = CrawlFolder(tmp_path / "out"), Servers()
    await crawl(folder, servers, "plain.example")
    assert stated(folder) == {
        "/": ("+search",),
        "/robots/1": ("+search", "-train-ai"),
        "/header": ("+search", "-tdm", "-train-ai", "https://a.example/p"),
        "/signal": ("+search", "-ai-use"),
        "/tag": ("+search", "-train-ai", "-train-ai-images"),
        "/meta": ("+search", "+tdm", "-train-ai"),
        "/deep/1": ("+search",),
    }
    assert Counter(servers.asked) == Counter([("plain.example", path) for path in ("/robots.txt", *PAGES)])


@pytest.mark.parametrize("host", ["tdm.example", "moved.example"])
async def test_tdm_file_is_requested_once_and_its_reservation_recorded(tmp_path: Path, host: str) -> None:
    folder, servers = CrawlFolder(tmp_path / "out"), Servers()
    await crawl(folder, servers, host, tdmrep=True)
    found = stated(folder)
    assert found["/deep/1"] == ("+search", "-tdm", "https://a.example/p")
    assert found["/"] == ("+search",)
    assert found["/meta"] == ("+search", "+tdm", "-train-ai")
    assert servers.asked.count((host, "/.well-known/tdmrep.json")) == 1


async def test_obeyed_use_of_robots_txt_is_not_fetched_and_that_of_a_page_not_kept(tmp_path: Path) -> None:
    folder, servers = CrawlFolder(tmp_path / "out"), Servers()
    visits = await crawl(folder, servers, "plain.example", obey_usage=("train-ai",))
    assert ("plain.example", "/robots/1") not in servers.asked
    assert {path: visit.quads > 0 for path, visit in visits.items()} == {
        "/": True,
        "/header": False,
        "/signal": True,
        "/tag": False,
        "/meta": False,
        "/deep/1": True,
    }
    (problem,) = visits["/tag"].problems
    assert problem.message.startswith("train-ai: the page reserves this use, which obey_usage names; ")
    assert not [path for _, path in servers.asked if "tdm" in path]


async def test_obeyed_reservation_of_the_tdm_file_is_not_fetched(tmp_path: Path) -> None:
    folder, servers = CrawlFolder(tmp_path / "out"), Servers()
    visits = await crawl(folder, servers, "tdm.example", "plain.example", obey_usage=("tdm",), concurrency=1)
    assert ("tdm.example", "/deep/1") not in servers.asked
    assert ("plain.example", "/deep/1") in servers.asked
    assert visits["/header"].quads == 0
    assert visits["/meta"].quads > 0


async def test_export_without_reserved_leaves_out_statements_and_keeps_provenance(tmp_path: Path) -> None:
    folder = CrawlFolder(tmp_path / "out")
    await crawl(folder, Servers(), "plain.example")
    app = application(["export", "stats"])

    def export(*arguments: str) -> list[str]:
        result = CliRunner().invoke(app, ["export", str(folder.path), *arguments])
        assert result.exit_code == 0, result.output
        return result.stdout.splitlines()

    def pages(lines: list[str]) -> set[str]:
        """Return the paths of the graphs."""
        return {path for path in PAGES if any(line.endswith(f"example{path}> .") for line in lines)}

    assert pages(export()) == set(PAGES)
    assert pages(export("--without-reserved", "train-ai")) == {"/", "/signal", "/deep/1"}
    lines = export("--without-reserved", "ai-train", "--without-reserved", "ai-use")
    assert pages(lines) == {"/", "/deep/1"}
    assert any("/robots/1> <urn:motherlode:vocabulary:reserved>" in line for line in lines)
    for wrong in (["--without-reserved", "ai"], ["--without-reserved", "tdm", "--format", "void"]):
        assert CliRunner().invoke(app, ["export", str(folder.path), *wrong]).exit_code == 2


async def test_query_finds_pages_without_reservation(tmp_path: Path) -> None:
    folder = CrawlFolder(tmp_path / "out")
    await crawl(folder, Servers(), "plain.example")
    query = """SELECT DISTINCT ?page { GRAPH ?page { ?s a schema:Recipe }
      FILTER NOT EXISTS { GRAPH <urn:motherlode:provenance> { ?page ml:reserved "train-ai" } } }"""
    store = QuadStore(folder.store, read_only=True)
    pages = {row["page"].value.partition("example")[2] for row in store.query(query)}
    store.close()
    assert pages == {"/", "/signal", "/deep/1"}
