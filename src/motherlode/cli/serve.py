"""The command `serve`: a web site for one crawl, on loopback."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from motherlode.cli.index import update_index
from motherlode.cli.options import CrawlDir, open_crawl, option
from motherlode.cli.terminal import FAILED, say, stop
from motherlode.crawler import JobError

_CHILD_EXIT_SECONDS = 10
"""How long the server process may take to end before it is killed."""


def serve(
    folder: CrawlDir,
    *,
    port: Annotated[int, option("PORT", "Port of the server; 0 takes a free port.", min=0, max=65535)] = 8080,
    timeout: Annotated[float, option("SECONDS", "Time limit of a query.", min=0.01)] = 30.0,
    size: Annotated[str, option("100MB", "Size limit of a query result.", "--bytes")] = "100MB",
    workers: Annotated[int, option("N", "Queries that run at the same time.", min=1)] = 2,
    allow_host: Annotated[
        list[str] | None, option("NAME", "Also accept requests for this host name; repeatable.")
    ] = None,
    cors: Annotated[
        list[str] | None, option("ORIGIN", "Let pages of this origin read /sparql and /search; repeatable, * for all.")
    ] = None,
    with_parent: Annotated[bool, typer.Option("--with-parent", hidden=True, help="End when stdin closes.")] = False,
) -> None:
    """Show a crawl in the browser and answer SPARQL.

    \b
    Examples:
      motherlode serve out
      curl http://127.0.0.1:8080/sparql --data-urlencode 'query=SELECT * { ?s ?p ?o } LIMIT 10'
      curl 'http://127.0.0.1:8080/search?q=tomato+soup&format=json'

    Only this machine can reach the server. /sparql implements the SPARQL 1.1 Protocol, read-only. While a crawl runs,
    the pages are updated. More in docs/serve.md.
    """
    from motherlode.crawler.config.values import parse_size
    from motherlode.serve import Access, QueryLimits
    from motherlode.serve import serve as serve_crawl

    crawl = open_crawl(folder)
    try:
        limits = QueryLimits(seconds=timeout, bytes=parse_size(size), workers=workers)
        access = Access.from_options(hosts=allow_host or (), origins=cors or ())
    except (JobError, ValueError) as error:
        stop(str(error))
    update_index(crawl)

    async def run() -> None:
        until = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, until.set)
        if with_parent:
            _watch_parent(loop, until)
        await serve_crawl(crawl, port=port, limits=limits, access=access, until=until, ready=_say_ready)

    try:
        asyncio.run(run())
    except JobError as error:
        stop(str(error))
    except OSError as error:
        _stop_port_unusable(port, error, flag="--port")


def check_port(port: int, *, flag: str) -> None:
    """Exit with an error if the port cannot be used. `crawl --serve` calls it before the crawl starts."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            _stop_port_unusable(port, error, flag=flag)


def _stop_port_unusable(port: int, error: OSError, *, flag: str) -> NoReturn:
    reason = os.strerror(error.errno) if error.errno else str(error)  # asyncio's message is a line long
    stop(f"port {port} cannot be used: {reason}; {flag} 0 takes a free one", code=FAILED)


def _say_ready(address: str) -> None:
    say(f"{address} shows the crawl; SPARQL at {address}sparql; Ctrl-C stops the server")


def _watch_parent(loop: asyncio.AbstractEventLoop, until: asyncio.Event) -> None:
    """Set the event when stdin is closed, which is when the parent process ends."""

    def wait() -> None:
        sys.stdin.buffer.read()
        loop.call_soon_threadsafe(until.set)

    threading.Thread(target=wait, daemon=True).start()


class ServerProcess:
    """A server process for the duration of a crawl, as a context manager. It also ends if the crawl is killed."""

    def __init__(self, folder: Path, port: int) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "motherlode", "serve", str(folder), "--port", str(port), "--with-parent"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
        )

    def __enter__(self) -> ServerProcess:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(timeout=_CHILD_EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
