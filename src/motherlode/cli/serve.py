"""`serve`: a crawl as a web site on this machine."""

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

from motherlode.cli.index import up_to_date
from motherlode.cli.terminal import FAILED, say, stop
from motherlode.crawler import CrawlFolder, JobError


def serve(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a crawl, running or over.")],
    *,
    port: Annotated[int, typer.Option(metavar="PORT", min=0, max=65535, help="Where; 0 takes a free port.")] = 8080,
    timeout: Annotated[float, typer.Option(metavar="SECONDS", min=0.01, help="Time limit of a query.")] = 30.0,
    size: Annotated[str, typer.Option("--bytes", metavar="100MB", help="Size limit of an answer.")] = "100MB",
    workers: Annotated[int, typer.Option(metavar="N", min=1, help="Queries that are answered at a time.")] = 2,
    allow_host: Annotated[
        list[str] | None,
        typer.Option("--allow-host", metavar="NAME", help="Answer requests for this host name, too; repeatable."),
    ] = None,
    cors: Annotated[
        list[str] | None,
        typer.Option(metavar="ORIGIN", help="Let pages of this origin read /sparql and /search; repeatable, * is all."),
    ] = None,
    with_parent: Annotated[bool, typer.Option("--with-parent", hidden=True, help="End when stdin closes.")] = False,
) -> None:
    """Show a crawl in the browser and answer SPARQL.

    \b
    Examples:
      motherlode serve out
      curl http://127.0.0.1:8080/sparql --data-urlencode 'query=SELECT * { ?s ?p ?o } LIMIT 10'
      curl 'http://127.0.0.1:8080/search?q=tomato+soup&format=json'

    It is there for this machine only. /sparql speaks the SPARQL 1.1 Protocol, read only. While a crawl runs, the pages
    follow it. More in docs/serve.md.
    """
    from motherlode.crawler.config.job import parse_size
    from motherlode.serve import Access, QueryLimits
    from motherlode.serve import serve as serve_crawl

    place = CrawlFolder(folder)
    try:
        place.require()
        limits = QueryLimits(seconds=timeout, bytes=parse_size(size), workers=workers)
        access = Access.from_options(hosts=allow_host or (), origins=cors or ())
    except (JobError, ValueError) as error:
        stop(str(error))
    up_to_date(place)

    async def run() -> None:
        until = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, until.set)
        if with_parent:
            _watch_parent(loop, until)
        await serve_crawl(place, port=port, limits=limits, access=access, until=until, ready=_tell)

    try:
        asyncio.run(run())
    except JobError as error:
        stop(str(error))
    except OSError as error:
        _stop_for_port(port, error, flag="--port")


def check_port(port: int, *, flag: str) -> None:
    """End with an error where the port is taken, before anything is begun that is to be shown there."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            _stop_for_port(port, error, flag=flag)


def _stop_for_port(port: int, error: OSError, *, flag: str) -> NoReturn:
    reason = os.strerror(error.errno) if error.errno else str(error)  # asyncio's own words are a line long
    stop(f"port {port} cannot be used: {reason}; {flag} 0 takes a free one", code=FAILED)


def _tell(address: str) -> None:
    say(f"{address} shows the crawl; SPARQL at {address}sparql; Ctrl-C ends")


def _watch_parent(loop: asyncio.AbstractEventLoop, until: asyncio.Event) -> None:
    def wait() -> None:
        sys.stdin.buffer.read()
        loop.call_soon_threadsafe(until.set)

    threading.Thread(target=wait, daemon=True).start()


class Beside:
    """A server in a process of its own, for as long as a crawl runs; it ends with the crawl, however that ends."""

    def __init__(self, folder: Path, port: int) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "motherlode", "serve", str(folder), "--port", str(port), "--with-parent"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
        )

    def __enter__(self) -> Beside:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
