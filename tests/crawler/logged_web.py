"""A web on loopback, in a thread of the test, that logs every request with the number of the crawl run."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from aiohttp import web

from motherlode.crawler import CrawlFolder, Job
from motherlode.index.quad_store import QuadStore

CONTEXT = "http://h0.example/context.jsonld"


@dataclass(frozen=True)
class Line:
    run: int
    url: str
    host: str
    status: int


@dataclass
class LoggedWeb:
    """Hosts `h0.example`, `h1.example` and so on.

    Each has a tree of pages with JSON-LD, three pages that fail, and links to other hosts.
    """

    hosts: int
    pages: int
    """Number of pages per host."""
    latency: float = 0.0
    weight: int = 0
    """Number of padding bytes in every page."""
    log: list[Line] = field(default_factory=list)
    run: int = 0
    port: int = 0
    _asked: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)

    def __enter__(self) -> LoggedWeb:
        self._thread.start()
        self.port = asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result(timeout=30)
        return self

    async def _listen(self) -> int:
        self._server = web.Server(self._answer, access_log=None)
        self._runner = web.ServerRunner(self._server)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0, backlog=512)
        await site.start()
        return int(self._runner.addresses[0][1])

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._runner.cleanup(), self._loop).result(timeout=60)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def forget(self) -> None:
        self.log, self.run, self._asked = [], 0, Counter()

    def begin_run(self) -> None:
        """Begin the next run after all requests of the ended client have been read."""
        while self._server.connections:
            time.sleep(0.005)
        self.run += 1

    def table(self) -> dict[str, str]:
        return {f"h{number}.example": f"127.0.0.1:{self.port}" for number in range(self.hosts)}

    def seeds(self) -> tuple[str, ...]:
        return tuple(f"http://h{number}.example/0" for number in range(self.hosts))

    def job(self, **settings: Any) -> Job:
        """Return a job for a fast crawl of this web. `settings` are further keys of the job."""
        usual: dict[str, Any] = {
            "policy": "bfs",
            "delay": 0.0,
            "per_host": 1,
            "per_address": 64,
            "retry_wait": 0.2,
            "workers": 1,
        }
        return Job(seeds=self.seeds(), hosts=self.table(), allow=("127.0.0.0/8",), **(usual | settings))

    async def _answer(self, request: web.BaseRequest) -> web.Response:
        url = f"http://{request.host}{request.path}"
        self._asked[url] += 1
        response = self._response(int(request.host.partition(".")[0][1:]), request.path, self._asked[url])
        self.log.append(Line(self.run, url, request.host, response.status))
        if self.latency:
            await asyncio.sleep(self.latency)
        return response

    def _response(self, host: int, path: str, times: int) -> web.Response:
        if path == "/robots.txt" and host % 3 == 0:
            return web.Response(status=301, headers={"Location": f"http://h{(host + 1) % self.hosts}.example/r{host}"})
        if path == "/robots.txt" or path.startswith("/r"):
            return web.Response(text="User-agent: *\nDisallow: /private\n")
        if path == "/context.jsonld":
            return web.Response(text=json.dumps({"@context": {"@vocab": "http://ex.org/"}}), content_type=_JSON_LD)
        if path == "/bad" or (path == "/again" and times == 1):
            return web.Response(status=500)
        if path == "/old":
            return web.Response(status=302, headers={"Location": "/1"})
        return web.Response(text=self._page(host, path), content_type="text/html")

    def _page(self, host: int, path: str) -> str:
        number = int(path[1:]) if path[1:].isdigit() else self.pages
        inner = [f"/{child}" for child in (3 * number + 1, 3 * number + 2, 3 * number + 3) if child < self.pages]
        outer = [f"http://h{(host + 7) % self.hosts}.example/{number}", "/private/1"]
        special = ["/bad", "/again", "/old"] if number == 1 else []
        links = "".join(f'<a href="{link}">x</a>' for link in inner + outer + special)
        context = CONTEXT if number % 10 == 0 else {"@vocab": "http://schema.org/"}
        data = {"@context": context, "@id": path, "@type": "Thing", "name": f"page {path} of {host}"}
        script = f'<script type="{_JSON_LD}">{json.dumps(data)}</script>'
        return f"<html><head>{script}</head><body>{links}{'<!-- -->' * (self.weight // 8)}</body></html>"


_JSON_LD = "application/ld+json"


CHANCE = ("generatedAtTime", "headers", "referrer", "score", "seconds", "wasGeneratedBy")
"""Predicates whose values depend on timing: fetch time, headers with the date, run, first referrer and score."""


def quads_of(folder: Path) -> set[str]:
    """Return all quads of a crawl about pages, except those that depend on timing."""
    store = QuadStore(CrawlFolder(folder).store, read_only=True)
    about_pages = (quad for quad in store.quads() if not str(quad.subject).startswith("<urn:motherlode:"))
    found = {str(quad) for quad in about_pages if not quad.predicate.value.endswith(CHANCE)}
    store.close()
    return found
