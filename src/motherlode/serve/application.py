"""The web application: addresses, limits, and the headers that every answer has."""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib import resources

from aiohttp import web
from aiohttp.typedefs import Middleware

from motherlode.crawler.folder import CrawlFolder
from motherlode.crawler.report.plot import CHART_STYLE, COLOURS
from motherlode.index.fulltext import Search
from motherlode.serve.access import Access
from motherlode.serve.negotiation import HTML, JSON, choose_format, find_format
from motherlode.serve.query_pool import QueryFailure, QueryPool
from motherlode.serve.sparql import QueryLimits, SparqlEndpoint, endpoint_url
from motherlode.serve.views.elements import Row, page, problem, select
from motherlode.serve.views.entity_pages import about_entity, about_node, about_page
from motherlode.serve.views.overview import TOP_TYPES, CrawlView, live_part, overview
from motherlode.serve.views.search_pages import asking, searching

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
"""The second wall: should a page's text ever become markup, the browser runs and loads nothing of it."""
_CORS_PATHS = frozenset({"/sparql", "/search"})
"""What programs ask; pages are for people."""
_SEARCH_FORMATS = (HTML, JSON)
_LIMIT = re.compile(r"0*[1-9][0-9]{0,17}", re.ASCII)
_MAX_HITS = 200
"""Of one search; who asks for more gets so many."""
_TYPES_TIMEOUT_SECONDS = 10.0
_TYPES_FRESH_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class _TypeCounts:
    """The most common types as they were counted."""

    at: float
    rows: list[Row]
    running: bool


class CrawlSite:
    """The pages. Each takes its parameters from the address alone, and works without scripts."""

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
            web.get("/style.css", _static("style.css", "text/css", COLOURS + CHART_STYLE)),
            web.get("/script.js", _static("script.js", "text/javascript")),
            web.get("/icon.svg", _static("icon.svg", "image/svg+xml")),
        ]

    def _page(self, make: Page) -> Handler:
        """A page, or a page that says why there is none."""

        async def handle(request: web.Request) -> web.Response:
            try:
                status, text = await make(request)
            except QueryFailure as failed:
                status, text = failed.status, page("Trouble", problem(str(failed)))
            return web.Response(status=status, text=text, content_type="text/html")

        return handle

    async def _running(self) -> bool:
        return await asyncio.to_thread(self._view.running)

    async def _overview(self, request: web.Request) -> tuple[int, str]:
        running = await self._running()
        report = await asyncio.to_thread(self._view.report)
        done = await asyncio.to_thread(self._view.progress)
        types = await self._top_types(running=running)
        return 200, overview(report, types, running=running, done=done)

    async def _top_types(self, *, running: bool) -> list[Row] | None:
        """Counting looks at the whole store: once for a crawl at rest, now and then while one runs."""
        now = time.monotonic()
        known = self._types
        if (
            known is None
            or (known.running and now - known.at > _TYPES_FRESH_SECONDS)
            or (running and not known.running)
        ):
            if self._counting is None or self._counting.done():
                self._counting = asyncio.create_task(self._count_types(running=running))
            await asyncio.shield(self._counting)
        return self._types.rows if self._types is not None else None

    async def _count_types(self, *, running: bool) -> None:
        now = time.monotonic()
        with contextlib.suppress(QueryFailure):
            found = await select(self._pool, TOP_TYPES, seconds=_TYPES_TIMEOUT_SECONDS)
            self._types = _TypeCounts(now, list(found.rows), running=running)

    async def _live(self, request: web.Request) -> web.Response:
        """The part of the first page that changes, for its script."""
        running = await self._running()
        report = await asyncio.to_thread(self._view.report)
        done = await asyncio.to_thread(self._view.progress)
        text = live_part(report, running=running, done=done)
        headers = {"X-Running": str(running).lower()}
        return web.Response(text=text, content_type="text/html", headers=headers)

    async def _search(self, request: web.Request) -> web.Response:
        asked = _parse_search(request)
        wanted = request.query.get("format", "")
        form = find_format(wanted, _SEARCH_FORMATS) or choose_format(request.headers.get("Accept", ""), _SEARCH_FORMATS)
        as_json = form is JSON
        hits, status, trouble = None, 200, asked.problem or _parameter_problem(request)
        if trouble:
            status = 400
        elif asked.words.strip():
            try:
                hits = await asyncio.to_thread(self._view.search, asked)
            except FileNotFoundError:
                status, trouble = 404, "This crawl has no index of words: `motherlode search DIR --rebuild` makes one."
        if not as_json:
            return web.Response(status=status, text=searching(asked, hits, trouble), content_type="text/html")
        found = [hit.summary() for hit in hits or ()]
        content = {"words": asked.words, "count": len(found), "results": found}
        return web.json_response({"error": trouble} if trouble else content, status=status)

    async def _query(self, request: web.Request) -> tuple[int, str]:
        sparql, base = request.query.get("q", ""), endpoint_url(request)
        return await asking(self._pool, sparql, base=base, seconds=self._limits.seconds)

    async def _entity(self, request: web.Request) -> tuple[int, str]:
        node = request.query.get("node", "")
        if node:
            graph = request.query.get("page", "")
            return await about_node(self._pool, node, graph, seconds=self._limits.seconds)
        return await about_entity(self._pool, request.query.get("iri", ""), seconds=self._limits.seconds)

    async def _about_page(self, request: web.Request) -> tuple[int, str]:
        return await about_page(self._pool, request.query.get("url", ""), seconds=self._limits.seconds)


def _parse_search(request: web.Request) -> Search:
    query = request.query
    limit = query.get("limit", "")
    return Search(
        words=query.get("q", "")[:1_000],
        limit=min(_MAX_HITS, int(limit)) if _LIMIT.fullmatch(limit) else 10,
        type=query.get("type", ""),
        predicate=query.get("predicate", ""),
        host=query.get("host", ""),
        language=query.get("language", ""),
    )


def _parameter_problem(request: web.Request) -> str:
    """What is wrong with the limit or the format of a search; "" where nothing is."""
    limit, wanted = request.query.get("limit", ""), request.query.get("format", "")
    if limit and not _LIMIT.fullmatch(limit):
        return f"limit={limit[:100]} is no number of results: it is a whole number from 1 on"
    if wanted and find_format(wanted, _SEARCH_FORMATS) is None:
        return f"format={wanted[:100]} is not possible here: a search is answered as html, json"
    return ""


def _static(name: str, content_type: str, before: str = "") -> Handler:
    text = before + resources.files("motherlode.serve").joinpath(name).read_text(encoding="utf-8")

    async def handle(request: web.Request) -> web.Response:
        return web.Response(text=text, content_type=content_type)

    return handle


@web.middleware
async def not_found_page(request: web.Request, handler: Handler) -> web.StreamResponse:
    """What is not there is told as a page like the others."""
    try:
        return await handler(request)
    except web.HTTPNotFound:
        return web.Response(
            status=404, text=page("Nothing here", problem("There is no such page.")), content_type="text/html"
        )


def check_host(access: Access) -> Middleware:
    """Return a middleware that answers 421 to requests for hosts that are not this server's."""

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        refused = access.refused_host(request)
        if refused is None:
            return await handler(request)
        text = (
            f"This server does not answer for the host {refused[:200]!r}. "
            "`motherlode serve --allow-host NAME` adds a name.\n"
        )
        return web.Response(status=421, text=text)

    return check


def add_response_headers(access: Access) -> Callable[[web.Request, web.StreamResponse], Awaitable[None]]:
    """Return a signal handler that completes the headers of every response."""

    async def complete(request: web.Request, response: web.StreamResponse) -> None:
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        response.headers.pop("Server", None)
        if request.path in _CORS_PATHS:
            access.add_cors(request, response)

    return complete


def application(folder: CrawlFolder, limits: QueryLimits, access: Access | None = None) -> web.Application:
    """The application for a crawl's folder. Call it inside a running event loop."""
    access = access or Access()
    pool = QueryPool(folder.store, folder.words, workers=limits.workers, waiting=limits.waiting)
    made = web.Application(middlewares=[check_host(access), not_found_page], client_max_size=limits.query + 100_000)
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
    """Serve a crawl on this machine until the event is set; `ready` hears the address. OSError for a port in use."""
    in_url = 3 * limits.query + 10_000  # a query may come by GET, each byte as %XX
    made = application(folder, limits, access)
    runner = web.AppRunner(
        made,
        access_log=None,
        shutdown_timeout=1.0,
        max_line_size=in_url,
        handler_cancellation=True,  # a query ends when its client has gone
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
