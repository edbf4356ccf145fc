"""JSON of every table of the web site under `/api/`, metrics, and a check that the server lives."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec
from aiohttp import web

from motherlode.frontier import HostRecord
from motherlode.index.query.query_pool import Row
from motherlode.serve.crawl_view import CrawlState, CrawlView
from motherlode.serve.metrics import CONTENT_TYPE, render_metrics

_MAX_ROWS = 10_000
_DEFAULT_ROWS = 100
_FLAGS = ("failed", "problems", "relevant")
_FALSE = ("", "0", "false", "no")
Types = Callable[[CrawlState], Awaitable[list[Row] | None]]
"""Returns the most common types; None if they could not be counted in time."""


class CrawlApi:
    """The routes for programs."""

    def __init__(self, view: CrawlView, types: Types) -> None:
        self._view = view
        self._types = types

    def routes(self) -> list[web.RouteDef]:
        tables = {
            "stats": self._stats,
            "curve": self._curve,
            "hosts": self._hosts,
            "syntaxes": self._syntaxes,
            "failures": self._failures,
            "sources": self._sources,
            "policy": self._policy,
            "log": self._log,
            "types": self._list_types,
            "pages": self._pages,
            "explain": self._explain,
        }
        return [
            *(web.get(f"/api/{name}", make) for name, make in tables.items()),
            web.get("/metrics", self._metrics),
            web.get("/healthz", self._health),
        ]

    async def _state(self) -> CrawlState:
        return await asyncio.to_thread(self._view.read_state)

    async def _stats(self, request: web.Request) -> web.Response:
        state = await self._state()
        return respond(summarize_state(state))

    async def _curve(self, request: web.Request) -> web.Response:
        curves = (await self._state()).report.curves
        others = {curve.name: curve.points for curve in curves[1:]}
        return respond({"points": curves[0].points, "others": others})

    async def _hosts(self, request: web.Request) -> web.Response:
        hosts = await asyncio.to_thread(self._view.list_hosts)
        return respond({"count": len(hosts), "hosts": [summarize_host(host) for host in hosts[: read_limit(request)]]})

    async def _syntaxes(self, request: web.Request) -> web.Response:
        syntaxes = (await self._state()).stats.totals.syntaxes
        rows = [{"syntax": name, "pages": pages, "statements": count} for name, (pages, count) in syntaxes.items()]
        return respond({"syntaxes": rows})

    async def _failures(self, request: web.Request) -> web.Response:
        return respond({"failures": (await self._state()).failures})

    async def _sources(self, request: web.Request) -> web.Response:
        return respond({"sources": (await self._state()).stats.sources})

    async def _policy(self, request: web.Request) -> web.Response:
        state = await self._state()
        return respond({**msgspec.to_builtins(state.policy), "changes": state.changes})

    async def _log(self, request: web.Request) -> web.Response:
        return respond({"lines": await asyncio.to_thread(self._view.read_log, read_limit(request))})

    async def _list_types(self, request: web.Request) -> web.Response:
        rows = await self._types(await self._state())
        types = [{"type": row["type"].value, "subjects": int(row["n"].value)} for row in rows or () if "type" in row]
        return respond({"types": types})

    async def _pages(self, request: web.Request) -> web.Response:
        filters, limit = read_filters(request.query), read_limit(request)
        rows = await asyncio.to_thread(self._view.list_pages, limit=limit, **filters)
        return respond({"count": len(rows), "pages": rows})

    async def _explain(self, request: web.Request) -> web.Response:
        url = request.query.get("url", "")
        if not url:
            return respond({"error": "name a URL: /api/explain?url=https://example.org/"}, status=400)
        return respond(await asyncio.to_thread(self._view.explain, url))

    async def _metrics(self, request: web.Request) -> web.Response:
        text = render_metrics(await self._state(), time.time())
        return web.Response(body=text.encode(), headers={"Content-Type": CONTENT_TYPE})

    async def _health(self, request: web.Request) -> web.Response:
        is_running = await asyncio.to_thread(self._view.is_running)
        return respond({"status": "ok", "running": is_running})


def respond(content: Any, *, status: int = 200) -> web.Response:
    return web.Response(body=msgspec.json.encode(content), status=status, content_type="application/json")


def summarize_state(state: CrawlState) -> dict[str, Any]:
    """Return the object of `stats --json` with what the overview adds to it."""
    totals = state.stats.totals
    return state.stats.summary() | {
        "running": state.is_running,
        "ended_at": state.ended_at,
        "next_round": state.next_round,
        "page_budget": state.page_budget,
        "pages_per_second": round(totals.rate if state.is_running else 0.0, 3),
        "recent_harvest_rate": state.recent_rate,
        "in_flight": totals.in_flight if state.is_running else 0,
        "slots": state.concurrency,
        "queue": {
            "waiting": state.policy.waiting,
            "retry": state.policy.retries,
            "revisit": state.policy.revisits,
            "withheld": state.stats.withheld.urls,
        },
    }


def summarize_host(host: HostRecord) -> dict[str, Any]:
    """Return the row of a host for programs. Times are in seconds since the epoch."""
    names = ("name", "fetched", "relevant", "quads", "received", "failures", "ready_at", "delay", "address")
    values = {name: getattr(host, name) for name in names}
    return values | {"robots_unread_since": host.unread_since, "robots_unread_for": host.unread_for}


def read_filters(query: Mapping[str, str]) -> dict[str, Any]:
    """Return the filters of `read_pages` in a request."""
    flags: dict[str, Any] = {name: query.get(name, "").lower() not in _FALSE for name in _FLAGS}
    return flags | {"host": query.get("host", "").strip().lower()}


def read_limit(request: web.Request) -> int:
    """Return the number of rows that a request wants, at most 10,000."""
    text = request.query.get("limit", "")
    return min(_MAX_ROWS, int(text[:9])) if text.isascii() and text.isdigit() and int(text[:9]) else _DEFAULT_ROWS
