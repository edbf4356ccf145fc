"""The web application: routes, middleware, response headers, and the server itself."""

from __future__ import annotations

import asyncio
import contextlib
import re
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from aiohttp import web
from aiohttp.typedefs import Middleware

from motherlode.crawler.folder import CrawlFolder
from motherlode.crawler.report.crawl_report import build_report
from motherlode.crawler.report.plot import CHART_STYLE
from motherlode.crawler.stats.reader import CrawlStats, read_stats
from motherlode.index.fulltext import Hit, Search, WordSearcher
from motherlode.serve.access import Access
from motherlode.serve.entity_pages import blank_node_page, crawled_page, entity_page
from motherlode.serve.negotiation import HTML, JSON, choose_format, find_format
from motherlode.serve.pages import (
    TOP_TYPES,
    CrawlState,
    query_page,
    render_error,
    render_live_part,
    render_overview,
    render_search,
)
from motherlode.serve.query_pool import QueryFailure, QueryPool, Row, select
from motherlode.serve.sparql import QueryLimits, SparqlEndpoint, endpoint_url

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Page = Callable[[web.Request], Awaitable[tuple[int, str]]]

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-cache",
}
"""Headers of every response. If crawled text ever became markup, the browser would neither load nor run anything."""
_CORS_PATHS = frozenset({"/sparql", "/search"})
"""Paths for programs, whose responses get CORS headers."""
_SEARCH_FORMATS = (HTML, JSON)
_LIMIT = re.compile(r"0*[1-9][0-9]{0,17}", re.ASCII)
_MAX_HITS = 200
"""Maximum number of results of a search. Larger limits are lowered to it."""
_TYPES_TIMEOUT_SECONDS = 10.0
_TYPES_FRESH_SECONDS = 20.0
_STATS_FRESH_SECONDS = 1.0
_FRONTIER_LOCK = threading.Lock()
"""Held while the frontier is read, because py-lmdb (3.0) cannot open a file twice in one process."""


class CrawlView:
    """Reads the folder of a crawl, without writing and without locks. Its methods block: call them in a thread."""

    def __init__(self, folder: CrawlFolder) -> None:
        self.folder = folder
        self._job = folder.read_job()
        self._cached_stats: tuple[float, CrawlStats] | None = None
        self._searcher: WordSearcher | None = None
        self._searcher_lock = threading.Lock()

    def read_state(self) -> CrawlState:
        """Return the state of the crawl as of its last checkpoint."""
        is_running, stats = self._is_running(), self._stats()
        report = build_report(self._job, stats)
        return CrawlState(
            report=report, is_running=is_running, fetched=stats.totals.fetched, page_budget=self._job.pages
        )

    def _is_running(self) -> bool:
        """Return whether a process holds the folder's lock.

        It is looked up in /proc/locks, because trying to take the lock could keep a crawl from starting.
        """
        try:
            inode = (self.folder.path / "lock").stat().st_ino
            locks = Path("/proc/locks").read_text(encoding="ascii", errors="replace")
        except OSError:
            return False
        return any(f":{inode} " in line for line in locks.splitlines() if "FLOCK" in line)

    def _stats(self) -> CrawlStats:
        """Return the statistics, read again if they are older than a second. Concurrent threads share one read."""
        with _FRONTIER_LOCK:
            if self._cached_stats is None or time.monotonic() - self._cached_stats[0] > _STATS_FRESH_SECONDS:
                read = read_stats(self.folder)
                self._cached_stats = time.monotonic(), read
            return self._cached_stats[1]

    def search(self, search: Search) -> list[Hit]:
        """Search the word index. FileNotFoundError if the crawl has none."""
        with self._searcher_lock:
            if self._searcher is None:
                self._searcher = WordSearcher(self.folder.words)
            self._searcher.refresh()
        return self._searcher.search(search)


@dataclass(frozen=True, slots=True)
class _TypeCounts:
    """The most common types, with the time at which they were counted."""

    at: float
    rows: list[Row]
    is_running: bool


class CrawlSite:
    """The pages of the site. Each has all its parameters in the URL and works without JavaScript."""

    def __init__(self, view: CrawlView, pool: QueryPool, limits: QueryLimits) -> None:
        self._view = view
        self._pool = pool
        self._limits = limits
        self._types: _TypeCounts | None = None
        self._counting: asyncio.Task[None] | None = None
        """The count of types that runs now; all requests that need it wait for the same one."""

    def routes(self) -> list[web.RouteDef]:
        endpoint = SparqlEndpoint(self._pool, self._limits)
        return [
            web.get("/", self._page(self._overview)),
            web.get("/live", self._live),
            web.get("/search", self._search),
            web.get("/query", self._page(self._query)),
            web.get("/entity", self._page(self._entity)),
            web.get("/page", self._page(self._about_page)),
            web.route("*", "/sparql", endpoint.handle),
            web.get("/style.css", _static("style.css", "text/css", CHART_STYLE)),
            web.get("/script.js", _static("script.js", "text/javascript")),
            web.get("/icon.svg", _static("icon.svg", "image/svg+xml")),
        ]

    def _page(self, make: Page) -> Handler:
        """Return a handler that responds with the page, or with an error page if a query fails."""

        async def handle(request: web.Request) -> web.Response:
            try:
                status, text = await make(request)
            except QueryFailure as failed:
                status, text = failed.status, render_error("Error", str(failed))
            return web.Response(status=status, text=text, content_type="text/html")

        return handle

    async def _overview(self, request: web.Request) -> tuple[int, str]:
        state = await asyncio.to_thread(self._view.read_state)
        types = await self._top_types(is_running=state.is_running)
        return 200, render_overview(state, types)

    async def _top_types(self, *, is_running: bool) -> list[Row] | None:
        """Return the most common types; None if they could not be counted in time.

        Counting reads the whole store. It is done once for a finished crawl, and repeated for a running one.
        """
        now = time.monotonic()
        known = self._types
        if (
            known is None
            or (known.is_running and now - known.at > _TYPES_FRESH_SECONDS)
            or (is_running and not known.is_running)
        ):
            if self._counting is None or self._counting.done():
                self._counting = asyncio.create_task(self._count_types(is_running=is_running))
            await asyncio.shield(self._counting)
        return self._types.rows if self._types is not None else None

    async def _count_types(self, *, is_running: bool) -> None:
        now = time.monotonic()
        with contextlib.suppress(QueryFailure):
            found = await select(self._pool, TOP_TYPES, seconds=_TYPES_TIMEOUT_SECONDS)
            self._types = _TypeCounts(now, list(found.rows), is_running=is_running)

    async def _live(self, request: web.Request) -> web.Response:
        """Return the part of the overview that changes. The script of the page fetches it."""
        state = await asyncio.to_thread(self._view.read_state)
        headers = {"X-Running": str(state.is_running).lower()}
        return web.Response(text=render_live_part(state), content_type="text/html", headers=headers)

    async def _search(self, request: web.Request) -> web.Response:
        asked = _parse_search(request)
        wanted = request.query.get("format", "")
        form = find_format(wanted, _SEARCH_FORMATS) or choose_format(request.headers.get("Accept", ""), _SEARCH_FORMATS)
        as_json = form is JSON
        hits, status, problem = None, 200, asked.problem or _parameter_problem(request)
        if problem:
            status = 400
        elif asked.words.strip():
            try:
                hits = await asyncio.to_thread(self._view.search, asked)
            except FileNotFoundError:
                status, problem = 404, "This crawl has no word index: `motherlode search DIR --rebuild` makes one."
        if not as_json:
            return web.Response(status=status, text=render_search(asked, hits, problem), content_type="text/html")
        found = [hit.summary() for hit in hits or ()]
        content = {"words": asked.words, "count": len(found), "results": found}
        return web.json_response({"error": problem} if problem else content, status=status)

    async def _query(self, request: web.Request) -> tuple[int, str]:
        sparql, base = request.query.get("q", ""), endpoint_url(request)
        return await query_page(self._pool, sparql, base=base, seconds=self._limits.seconds)

    async def _entity(self, request: web.Request) -> tuple[int, str]:
        node = request.query.get("node", "")
        if node:
            graph = request.query.get("page", "")
            return await blank_node_page(self._pool, node, graph, seconds=self._limits.seconds)
        return await entity_page(self._pool, request.query.get("iri", ""), seconds=self._limits.seconds)

    async def _about_page(self, request: web.Request) -> tuple[int, str]:
        return await crawled_page(self._pool, request.query.get("url", ""), seconds=self._limits.seconds)


def _parse_search(request: web.Request) -> Search:
    limit = request.query.get("limit", "")
    return Search(
        words=request.query.get("q", "")[:1_000],
        limit=min(_MAX_HITS, int(limit)) if _LIMIT.fullmatch(limit) else 10,
        **{name: request.query.get(name, "") for name in ("type", "predicate", "host", "language")},
    )


def _parameter_problem(request: web.Request) -> str:
    """Return what is wrong with the parameters `limit` or `format` of a search; "" if they are valid."""
    limit, wanted = request.query.get("limit", ""), request.query.get("format", "")
    if limit and not _LIMIT.fullmatch(limit):
        return f"limit={limit[:100]} is not a number of results: give a whole number from 1 on"
    if wanted and find_format(wanted, _SEARCH_FORMATS) is None:
        return f"format={wanted[:100]} is not possible here: the formats of a search are html, json"
    return ""


def _static(name: str, content_type: str, before: str = "") -> Handler:
    text = before + resources.files("motherlode.serve").joinpath(name).read_text(encoding="utf-8")

    async def handle(request: web.Request) -> web.Response:
        return web.Response(text=text, content_type=content_type)

    return handle


def refuse_requests(access: Access) -> Middleware:
    """Return a middleware that responds with 421 for hosts that are not allowed, and with a page for unknown paths."""

    @web.middleware
    async def handle(request: web.Request, handler: Handler) -> web.StreamResponse:
        refused = access.refused_host(request)
        if refused is not None:
            advice = "`motherlode serve --allow-host NAME` adds a name."
            text = f"This server does not answer for the host {refused[:200]!r}. {advice}\n"
            return web.Response(status=421, text=text)
        try:
            return await handler(request)
        except web.HTTPNotFound:
            text = render_error("Not found", "There is no such page.")
            return web.Response(status=404, text=text, content_type="text/html")

    return handle


def add_response_headers(access: Access) -> Callable[[web.Request, web.StreamResponse], Awaitable[None]]:
    """Return a signal handler that adds `HEADERS` and CORS headers to every response."""

    async def complete(request: web.Request, response: web.StreamResponse) -> None:
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        response.headers.pop("Server", None)
        if request.path in _CORS_PATHS:
            access.add_cors(request, response)

    return complete


def application(folder: CrawlFolder, limits: QueryLimits, access: Access | None = None) -> web.Application:
    """Return the application for a crawl's folder. Call it inside a running event loop."""
    access = access or Access()
    pool = QueryPool(folder.store, folder.words, workers=limits.workers, waiting=limits.waiting)
    made = web.Application(middlewares=[refuse_requests(access)], client_max_size=limits.query + 100_000)
    made.add_routes(CrawlSite(CrawlView(folder), pool, limits).routes())
    made.on_response_prepare.append(add_response_headers(access))

    async def close(_: web.Application) -> None:
        await pool.close()

    made.on_cleanup.append(close)
    return made


async def serve(
    folder: CrawlFolder,
    *,
    port: int,
    limits: QueryLimits,
    until: asyncio.Event,
    access: Access | None = None,
    ready: Callable[[str], None] = lambda address: None,
) -> None:
    """Serve a crawl on loopback until the event `until` is set. OSError if the port is in use.

    `ready` is called with the URL of the server when it accepts requests.
    """
    runner = web.AppRunner(
        application(folder, limits, access),
        access_log=None,
        shutdown_timeout=1.0,
        max_line_size=3 * limits.query + 10_000,  # a query may be in the URL of a GET, with each byte as %XX
        handler_cancellation=True,  # stop a query when its client disconnects
    )
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", port)
        await site.start()
        host, bound = runner.addresses[0][:2]
        ready(f"http://{host}:{bound}/")
        await until.wait()
    finally:
        await runner.cleanup()
