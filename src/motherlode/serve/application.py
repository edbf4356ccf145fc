"""The web application: routes, middleware, response headers, and the server itself."""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib import resources
from math import inf

from aiohttp import web
from aiohttp.typedefs import Middleware
from markupsafe import Markup

from motherlode.crawler.folder import CrawlFolder
from motherlode.crawler.index_later import IndexUpdater
from motherlode.crawler.report.plot import CHART_STYLE
from motherlode.index.fulltext import Hit, Search
from motherlode.index.query.fair_queue import CLIENT, FairQueue, QueueFullError
from motherlode.index.query.query_pool import (
    QueryFailure,
    QueryPool,
    Row,
    UpdateIndex,
    busy_failure,
    no_update,
    select,
)
from motherlode.serve.access import TOKEN_COOKIE, TOKEN_PARAMETER, Access
from motherlode.serve.api import CrawlApi, read_filters, read_limit, respond
from motherlode.serve.controls import Controls, is_foreign
from motherlode.serve.crawl_view import CrawlState, CrawlView
from motherlode.serve.entity_pages import blank_node_page, crawled_page, entity_page
from motherlode.serve.live import LiveFeed, Parts
from motherlode.serve.negotiation import HTML, JSON, choose_format, find_format
from motherlode.serve.pages import (
    TOP_TYPES,
    query_page,
    render_error,
    render_explanation,
    render_host,
    render_hosts,
    render_overview,
    render_page_list,
    render_parts,
    render_search,
)
from motherlode.serve.sparql import QueryLimits, SparqlEndpoint, endpoint_url
from motherlode.serve.table_page import TablePages

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Page = Callable[[web.Request], Awaitable[tuple[int, str]]]

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
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
_OVERVIEW_FRESH_SECONDS = 0.5


class CrawlSite:
    """The pages of the site. Each has all its parameters in the URL and works without JavaScript."""

    def __init__(
        self, view: CrawlView, pool: QueryPool, limits: QueryLimits, access: Access, update: UpdateIndex = no_update
    ) -> None:
        self._view = view
        self._access = access
        self._controls = Controls(view.folder)
        self._pool = pool
        self._limits = limits
        self._update = update
        self._types: tuple[float, list[Row], bool] | None = None
        """The most common types, with the time when they were counted and whether the crawl was running then."""
        self.feed = LiveFeed(self._parts)
        self._counting: asyncio.Task[None] | None = None
        """The count of types that runs now; all requests that need it wait for the same one."""
        self._overview_at = -inf
        self._rendering: asyncio.Task[tuple[CrawlState, Mapping[str, Markup]]] | None = None
        """The last rendering of the overview, begun at `_overview_at`; requests within half a second get the same."""
        self._searches = FairQueue(limits.workers, max_waiting=limits.waiting)
        self._threads = ThreadPoolExecutor(limits.workers, "search")

    def close(self) -> None:
        """End the threads of searches, without waiting for searches that run."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def routes(self) -> list[web.RouteDef]:
        endpoint = SparqlEndpoint(self._pool, self._limits)
        return [
            web.get("/", self._page(self._overview)),
            web.get("/events", self.feed.handle),
            web.post("/control", self._control),
            web.get("/pages", self._page(self._page_list)),
            web.get("/hosts", self._page(self._hosts)),
            web.get("/host", self._page(self._host)),
            web.get("/explain", self._page(self._explain)),
            web.get("/search", self._search),
            web.get("/query", self._page(self._query)),
            web.get("/entity", self._page(self._entity)),
            web.get("/page", self._page(self._about_page)),
            web.route("*", "/sparql", endpoint.handle),
            web.get("/style.css", _static("style.css", "text/css", CHART_STYLE)),
            web.get("/script.js", _static("script.js", "text/javascript")),
            web.get("/icon.svg", _static("icon.svg", "image/svg+xml")),
            *CrawlApi(self._view, self._types_of).routes(),
            *TablePages(self._view.folder, self._pool, seconds=self._limits.seconds).routes(),
        ]

    def _page(self, make: Page) -> Handler:
        """Return a handler that responds with the page, or with an error page if a query fails."""

        async def handle(request: web.Request) -> web.Response:
            headers = None
            try:
                status, text = await make(request)
            except QueryFailure as failed:
                status, text, headers = failed.status, render_error("Error", str(failed)), failed.headers
            return web.Response(status=status, text=text, content_type="text/html", headers=headers)

        return handle

    async def _overview(self, request: web.Request) -> tuple[int, str]:
        state, parts = await self._rendered()
        can_control = state.is_running and self._access.has_token(request)
        return 200, render_overview(state, parts, can_control=can_control)

    async def _rendered(self) -> tuple[CrawlState, Mapping[str, Markup]]:
        """Return state and parts of the overview, made by one task for all requests within half a second."""
        now = time.monotonic()
        if self._rendering is None or (self._rendering.done() and now - self._overview_at > _OVERVIEW_FRESH_SECONDS):
            self._overview_at, self._rendering = now, asyncio.create_task(self._render())
        return await asyncio.shield(self._rendering)

    async def _render(self) -> tuple[CrawlState, Mapping[str, Markup]]:
        state = await asyncio.to_thread(self._view.read_state)
        types = await self._types_of(state)
        return state, await asyncio.to_thread(render_parts, state, types)

    async def _control(self, request: web.Request) -> web.Response:
        """Carry out an action if the request has the token and no other site sent it."""
        if not self._access.has_token(request) or is_foreign(request):
            return web.Response(status=403, text="The controls need the token that the server printed.\n")
        response = await self._controls.handle(request)
        self._rendering = None
        return response

    async def _parts(self) -> Parts:
        """Return the parts of the overview for the live stream."""
        return (await self._rendered())[1]

    async def _types_of(self, state: CrawlState) -> list[Row] | None:
        return await self._top_types(is_running=state.is_running)

    async def _page_list(self, request: web.Request) -> tuple[int, str]:
        filters, limit = read_filters(request.query), read_limit(request)
        rows = await asyncio.to_thread(self._view.list_pages, limit=limit, **filters)
        return 200, render_page_list(rows, filters, limit)

    async def _hosts(self, request: web.Request) -> tuple[int, str]:
        return 200, render_hosts(await asyncio.to_thread(self._view.list_hosts), delay=self._view.job.host_delay)

    async def _host(self, request: web.Request) -> tuple[int, str]:
        name = request.query.get("name", "")
        hosts = await asyncio.to_thread(self._view.list_hosts)
        host = next((host for host in hosts if host.name == name), None)
        if host is None:
            return 404, render_error("Unknown host", f"The crawl has not contacted the host {name[:200]!r}.")
        pages = await asyncio.to_thread(self._view.list_pages, limit=50, host=name)
        return 200, render_host(host, pages, delay=self._view.job.host_delay)

    async def _explain(self, request: web.Request) -> tuple[int, str]:
        url = request.query.get("url", "")
        if not url:
            return 400, render_error("No URL", "name a URL: /explain?url=https://example.org/")
        return 200, render_explanation(await asyncio.to_thread(self._view.explain, url))

    async def _top_types(self, *, is_running: bool) -> list[Row] | None:
        """Return the most common types, counted again while the crawl runs; None if that took too long."""
        counted_at, _, was_running = self._types or (-inf, [], True)
        is_old = time.monotonic() - counted_at > _TYPES_FRESH_SECONDS
        if (was_running and is_old) or (is_running and not was_running):
            if self._counting is None or self._counting.done():
                self._counting = asyncio.create_task(self._count_types(is_running=is_running))
            await asyncio.shield(self._counting)
        return self._types[1] if self._types is not None else None

    async def _count_types(self, *, is_running: bool) -> None:
        now = time.monotonic()
        with contextlib.suppress(QueryFailure):
            found = await select(self._pool, TOP_TYPES, seconds=_TYPES_TIMEOUT_SECONDS)
            self._types = (now, list(found.rows), is_running)

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
                hits = await self._find(asked)
            except FileNotFoundError:
                status, problem = 404, "This crawl has no word index: `motherlode search DIR --rebuild` makes one."
            except QueryFailure as failed:
                return web.Response(status=failed.status, text=f"{failed}\n", headers=failed.headers)
        if not as_json:
            return web.Response(status=status, text=render_search(asked, hits, problem), content_type="text/html")
        found = [hit.summary() for hit in hits or ()]
        content = {"words": asked.words, "count": len(found), "results": found}
        return respond({"error": problem} if problem else content, status=status)

    async def _find(self, asked: Search) -> list[Hit]:
        """Search in a thread, when it is the client's turn. QueryFailure if too many searches wait, or for too long.

        FileNotFoundError if there is no index of words. QueryFailure if it cannot be read or brought up to date.
        """
        try:
            await self._update()
            async with asyncio.timeout(self._limits.seconds), self._searches.slot():
                return await asyncio.get_running_loop().run_in_executor(self._threads, self._view.search, asked)
        except QueueFullError as error:
            raise busy_failure("too many searches are waiting", self._searches) from error
        except TimeoutError as error:
            raise busy_failure(f"no result within {self._limits.seconds:g} s", self._searches) from error
        except FileNotFoundError:
            raise
        except OSError as error:
            raise QueryFailure(500, str(error)) from error
        except ValueError as error:
            advice = "`motherlode search DIR --rebuild` builds it again"
            raise QueryFailure(500, f"the index of words cannot be read: {error}; {advice}") from error

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
        explain = self._view.explain
        return await crawled_page(self._pool, request.query.get("url", ""), explain, seconds=self._limits.seconds)


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
    """Return a middleware that responds with 421 for hosts that are not allowed, and with a page for unknown paths.

    It also says for which client the handler works, because clients take turns (`index.query.fair_queue`).
    """

    @web.middleware
    async def handle(request: web.Request, handler: Handler) -> web.StreamResponse:
        CLIENT.set(request.remote or "")
        refused = access.refused_host(request)
        if refused is not None:
            advice = "`motherlode serve --allow-host NAME` adds a name."
            text = f"This server does not answer for the host {refused[:200]!r}. {advice}\n"
            return web.Response(status=421, text=text)
        has_token = access.has_token(request)
        if access.is_token_required and not has_token and request.path != "/healthz":
            text = "This server needs its token: open the address with ?token=… that it printed when it started.\n"
            return web.Response(status=401, text=text, headers={"WWW-Authenticate": "Bearer"})
        if has_token and TOKEN_PARAMETER in request.query and request.method == "GET":
            return _remember_token(request, access.token)
        try:
            return await handler(request)
        except web.HTTPNotFound:
            text = render_error("Not found", "There is no such page.")
            return web.Response(status=404, text=text, content_type="text/html")

    return handle


def _remember_token(request: web.Request, token: str) -> web.Response:
    """Redirect to the same URL without the token, and put the token into a cookie."""
    # `//host/` and `/\host/` would be another server: browsers take `\` for `/`
    rest = str(request.rel_url.without_query_params(TOKEN_PARAMETER)).replace("\\", "%5C")
    response = web.Response(status=303, headers={"Location": "/" + rest.lstrip("/")})
    response.set_cookie(TOKEN_COOKIE, token, httponly=True, samesite="Strict")
    return response


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
    update = IndexUpdater(folder)
    pool = QueryPool(folder.store, folder.words, workers=limits.workers, waiting=limits.waiting, update=update)
    made = web.Application(middlewares=[refuse_requests(access)], client_max_size=limits.query + 100_000)
    site = CrawlSite(CrawlView(folder), pool, limits, access, update)
    made.add_routes(site.routes())
    made.on_response_prepare.append(add_response_headers(access))

    async def end_streams(_: web.Application) -> None:
        await site.feed.close()

    async def close(_: web.Application) -> None:
        await pool.close()
        site.close()

    made.on_shutdown.append(end_streams)
    made.on_cleanup.append(close)
    return made


async def serve(
    folder: CrawlFolder,
    *,
    port: int,
    address: str = "127.0.0.1",
    limits: QueryLimits,
    until: asyncio.Event,
    access: Access | None = None,
    ready: Callable[[str], None] = lambda address: None,
) -> None:
    """Serve a crawl on an IP address until `until` is set. `ready` gets the URL. OSError if the port is in use."""
    runner = web.AppRunner(
        application(folder, limits, access),
        access_log=None,
        shutdown_timeout=1.0,
        max_line_size=3 * limits.query + 10_000,  # a query may be in the URL of a GET, with each byte as %XX
        handler_cancellation=True,  # stop a query when its client disconnects
    )
    await runner.setup()
    try:
        site = web.TCPSite(runner, address, port)
        await site.start()
        host, bound = runner.addresses[0][:2]
        ready(f"http://[{host}]:{bound}/" if ":" in host else f"http://{host}:{bound}/")
        await until.wait()
    finally:
        await runner.cleanup()
