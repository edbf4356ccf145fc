"""A small web on loopback whose pages a test can change, with a log of all requests."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import web

from motherlode.crawler import CrawlFolder, read_stats


@dataclass
class Asked:
    method: str
    path: str
    headers: dict[str, str]
    status: int


@dataclass
class Document:
    """Response for a path. A status other than 200 needs no text."""

    text: str = ""
    status: int = 200
    content_type: str = "text/html"
    headers: dict[str, str] = field(default_factory=dict)
    anew: dict[str, str] = field(default_factory=dict)
    """Additional headers of a 304 response."""


@dataclass
class ChangingWeb:
    pages: dict[str, Document] = field(default_factory=dict)
    log: list[Asked] = field(default_factory=list)
    root: str = ""

    async def answer(self, request: web.BaseRequest) -> web.Response:
        response = self._respond(request)
        self.log.append(Asked(request.method, request.path, dict(request.headers), response.status))
        return response

    def _respond(self, request: web.BaseRequest) -> web.Response:
        page = self.pages.get(request.path)
        if page is None:
            return web.Response(status=404)
        etag, modified = page.headers.get("ETag"), page.headers.get("Last-Modified")
        if etag is not None and request.headers.get("If-None-Match") == etag:
            return web.Response(status=304, headers={"ETag": etag, **page.anew})
        if modified is not None and request.headers.get("If-Modified-Since") == modified:
            return web.Response(status=304, headers=page.anew)
        return web.Response(text=page.text, status=page.status, content_type=page.content_type, headers=page.headers)

    def asked(self, method: str = "GET") -> list[str]:
        return [asked.path for asked in self.log if asked.method == method and asked.path != "/robots.txt"]

    def last(self, path: str) -> Asked:
        return next(asked for asked in reversed(self.log) if asked.path == path)


def place_page(name: str, *links: str) -> Document:
    """Return a page about a place, with links."""
    anchors = "".join(f'<a href="{link}">{link}</a>' for link in links)
    return Document(f'<p vocab="http://schema.org/" typeof="Place"><b property="name">{name}</b></p>{anchors}')


@asynccontextmanager
async def serving(site: ChangingWeb) -> AsyncIterator[ChangingWeb]:
    runner = web.ServerRunner(web.Server(site.answer))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    site.root = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield site
    finally:
        await runner.cleanup()


async def motherlode(*arguments: str, code: int = 0, errors: bool = False) -> str:
    """Run the command line in a process, check its exit status, and return its output.

    The output includes stderr if `errors` is set or the command is expected to fail.
    """
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", "from motherlode.cli import main; main()", *arguments),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "COLUMNS": "200"},
    )
    async with asyncio.timeout(120):
        out, err = await process.communicate()
    assert process.returncode == code, err.decode()
    return out.decode() + (err.decode() if code or errors else "")


def stats(folder: Path) -> dict[str, Any]:
    return read_stats(CrawlFolder(folder)).summary()


def job_file(path: Path, site: ChangingWeb, **more: object) -> Path:
    """Write a job file with the root of the site as seed and the site as scope."""
    keys = {
        "seeds": [f"{site.root}/"],
        "allow": ["127.0.0.0/8"],
        "delay": 0,
        "workers": 1,
        "policy": "bfs",
        "words": False,
        **more,
    }
    path.write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in keys.items()), encoding="utf-8")
    return path
