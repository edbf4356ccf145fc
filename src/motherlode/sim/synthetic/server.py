"""An HTTP server for the synthetic web on loopback, as a process of its own. The Host header selects the host.

    python -m motherlode.sim.synthetic.server --pages 5000 --seed 1 [--port 0] [--log requests.jsonl]

When it is ready it prints one line of JSON with its port and addresses. It ends by SIGTERM, or when its standard
input closes, so that it cannot outlive its parent. The log has one line of JSON per request, for politeness audits.
"""

import argparse
import asyncio
import json
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, asynccontextmanager
from functools import lru_cache
from pathlib import Path
from typing import TextIO

import uvloop
from aiohttp import web as http

from motherlode.sim.synthetic.server_process import ADDRESSES
from motherlode.sim.synthetic.synthetic_web import SyntheticWeb

_PORT_TRIES = 20
_CACHED_RESPONSES = 5000
"""Encoded responses kept in memory, with 5 to 20 kB each."""
_BACKLOG = 1024


class Handler:
    """Serves requests from a synthetic web."""

    def __init__(self, web: SyntheticWeb, log: TextIO | None = None) -> None:
        self._web = web
        self._log = log
        self._failed: dict[str, int] = {}
        """Number of 503 responses per URL. Most URLs recover."""
        self._encoded = lru_cache(maxsize=_CACHED_RESPONSES)(self._encode)

    async def __call__(self, request: http.BaseRequest) -> http.Response:
        host = request.host.partition(":")[0].lower()
        path = request.raw_path
        arrived = time.monotonic()
        response = await self._respond(request, host, f"http://{host}{path}")
        if self._log is not None:
            line = {"at": arrived, "host": host, "path": path, "status": response.status, "method": request.method}
            self._log.write(json.dumps(line) + "\n")
        return response

    async def _respond(self, request: http.BaseRequest, host: str, url: str) -> http.Response:
        if request.method not in ("GET", "HEAD"):
            return http.Response(status=405, headers={"Allow": "GET, HEAD"})
        if self._web.host_number(host) is None:
            return http.Response(status=421, text=f"no host {host} here\n")
        accept, encodings = request.headers.get("Accept", "*/*"), request.headers.get("Accept-Encoding", "")
        attempt = self._failed.get(url, 0)
        status, headers, body, stall = self._encoded(url, accept, encodings, attempt)
        if status == 503:
            self._failed[url] = attempt + 1
        if stall:
            await asyncio.sleep(stall)
        return http.Response(status=status, headers=headers, body=body)

    def _encode(self, url: str, accept: str, encodings: str, attempt: int) -> tuple[int, dict[str, str], bytes, float]:
        """Return status, headers, body and seconds to wait of a response."""
        answer = self._web.answer(url, accept, attempt=attempt)
        return answer.status, *answer.encoded(encodings), answer.stall


def _sockets(port: int) -> list[socket.socket]:
    """Return one listening socket per address, all with the same port. Port 0 means any port that is free on all."""
    for attempt in range(_PORT_TRIES):
        with ExitStack() as open_sockets:
            try:
                bound = []
                wanted = port
                for address in ADDRESSES:
                    one = open_sockets.enter_context(socket.socket(socket.AF_INET, socket.SOCK_STREAM))
                    one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                    one.bind((address, wanted))
                    wanted = one.getsockname()[1]
                    bound.append(one)
            except OSError:
                if port or attempt == _PORT_TRIES - 1:
                    raise
                continue
            open_sockets.pop_all()
            return bound
    raise AssertionError("the loop returns or raises")


@asynccontextmanager
async def serving(web: SyntheticWeb, *, port: int = 0, log: TextIO | None = None) -> AsyncIterator[int]:
    """Serve the web on all of ADDRESSES in the context, and yield the port. Raises OSError if it is in use."""
    sockets = _sockets(port)
    runner = http.ServerRunner(http.Server(Handler(web, log), access_log=None))
    await runner.setup()
    try:
        for one in sockets:
            await http.SockSite(runner, one, backlog=_BACKLOG).start()
        yield sockets[0].getsockname()[1]
    finally:
        await runner.cleanup()
        for one in sockets:
            one.close()


async def _run(web: SyntheticWeb, *, port: int, log: TextIO | None) -> None:
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    loop.add_signal_handler(signal.SIGINT, stop.set)

    def wait_for_end_of_input() -> None:
        while os.read(0, 4096):  # not through sys.stdin: a thread must not hold its lock when the process ends
            pass
        loop.call_soon_threadsafe(stop.set)

    async with serving(web, port=port, log=log) as actual:
        ready = {"port": actual, "addresses": ADDRESSES, "hosts": len(web.hosts()), "pages": web.pages}
        print(json.dumps(ready), flush=True)
        threading.Thread(target=wait_for_end_of_input, daemon=True).start()
        await stop.wait()


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m motherlode.sim.synthetic.server", description="Serve a synthetic web."
    )
    parser.add_argument("--pages", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--hosts", type=int)
    parser.add_argument("--port", type=int, default=0, help="0 takes any that is free")
    parser.add_argument("--log", type=Path, help="write a line of JSON for each request")
    options = parser.parse_args(arguments)
    try:
        web = SyntheticWeb(options.pages, options.seed, options.hosts)
    except ValueError as error:
        parser.error(str(error))
    with ExitStack() as files:
        log = files.enter_context(options.log.open("w", buffering=1)) if options.log else None
        try:
            uvloop.run(_run(web, port=options.port, log=log))
        except OSError as error:
            print(f"cannot listen on port {options.port}: {error.strerror}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
