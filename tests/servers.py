"""A server on several loopback addresses at one port, as tests of politeness need it."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Protocol

from aiohttp import web


class Answering(Protocol):
    """Answers requests; learns its port when it is served, where it has none (0)."""

    port: int

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse: ...


@asynccontextmanager
async def serving(servers: Answering, addresses: Sequence[str]) -> AsyncIterator[None]:
    runner = web.ServerRunner(web.Server(servers.answer, access_log=None))
    await runner.setup()
    bound: list[socket.socket] = []
    try:
        for address in addresses:
            one = socket.socket()
            bound.append(one)
            one.bind((address, servers.port))
            servers.port = one.getsockname()[1]
            await web.SockSite(runner, one, backlog=512).start()
        yield
    finally:
        await runner.cleanup()
        for one in bound:
            one.close()
