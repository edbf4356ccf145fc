"""The command `serve`: a web site for one crawl, on loopback."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple, NoReturn

import typer

from motherlode.cli.index import update_index
from motherlode.cli.options import CrawlDir, open_crawl, option
from motherlode.cli.terminal import FAILED, say, stop

if TYPE_CHECKING:
    from motherlode.serve import Access

LOOPBACK = "127.0.0.1"
TOKEN_VARIABLE = "MOTHERLODE_TOKEN"
"""Environment variable with the token; without it the server makes a new token."""
_MAX_PORT = 65535
_CHILD_EXIT_SECONDS = 10
"""How long the server process may take to end before it is killed."""


def serve(
    folder: CrawlDir,
    *,
    port: Annotated[int, option("PORT", "Port of the server; 0 takes a free port.", min=0, max=65535)] = 8080,
    address: Annotated[
        str,
        option(
            "ADDRESS",
            "IP address of the server. Others than loopback need the token that is printed.",
            *("--host", "--address"),
        ),
    ] = LOOPBACK,
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

    Only this machine can reach the server, unless --host says otherwise. /sparql implements the SPARQL 1.1 Protocol,
    read-only. While a crawl runs, the pages are updated. /api/stats, /api/pages and others are tables as JSON, /metrics
    is for Prometheus. More in docs/serve.md.
    """
    import uvloop

    from motherlode.crawler.config.values import parse_size
    from motherlode.serve import Access, QueryLimits
    from motherlode.serve import serve as serve_crawl

    crawl = open_crawl(folder)
    try:
        limits = QueryLimits(seconds=timeout, bytes=parse_size(size), workers=workers)
        is_public = not is_loopback_address(address)
        access = Access.from_options(
            hosts=allow_host or (), origins=cors or (), token=find_token(), is_token_required=is_public
        )
    except ValueError as error:
        stop(str(error))
    update_index(crawl)

    async def run() -> None:
        until = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, until.set)
        if with_parent:
            _watch_parent(loop, until)
        await serve_crawl(
            crawl, address=address, port=port, limits=limits, access=access, until=until, ready=_announce(access)
        )

    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(run())
    except OSError as error:
        _stop_port_unusable(port, error, flag="--port")


class ServerEndpoint(NamedTuple):
    """Address and port of a server, as `--serve [ADDRESS:]PORT` names them."""

    address: str
    port: int

    @classmethod
    def parse(cls, text: str) -> ServerEndpoint:
        """Parse `8080`, `192.0.2.1:8080` or `[::1]:8080`. Exit with an error for anything else."""
        address, _, port = text.rpartition(":")
        address = address.removeprefix("[").removesuffix("]") or LOOPBACK
        if not (port.isascii() and port.isdigit() and int(port[:6]) <= _MAX_PORT):
            stop(f"--serve {text} is not a port: give PORT or ADDRESS:PORT, such as 8080 or 127.0.0.1:8080")
        try:
            is_loopback_address(address)
        except ValueError as error:
            stop(str(error))
        return cls(address, int(port))

    def check(self) -> None:
        """Exit with an error if the port cannot be used. `crawl --serve` calls it before the crawl starts."""
        family = socket.AF_INET6 if ":" in self.address else socket.AF_INET
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((self.address, self.port))
            except OSError as error:
                _stop_port_unusable(self.port, error, flag="--serve")


def is_loopback_address(text: str) -> bool:
    """Return whether an IP address is of loopback. ValueError if it is no IP address."""
    try:
        return ipaddress.ip_address(text).is_loopback
    except ValueError:
        raise ValueError(f"{text} is not an IP address: give one of this machine, or 0.0.0.0 for all") from None


def find_token() -> str:
    """Return the token in the environment, or a new one."""
    return os.environ.get(TOKEN_VARIABLE, "") or secrets.token_urlsafe(12)


def _stop_port_unusable(port: int, error: OSError, *, flag: str) -> NoReturn:
    reason = os.strerror(error.errno) if error.errno else str(error)  # asyncio's message is a line long
    stop(f"port {port} cannot be used: {reason}; {flag} 0 takes a free one", code=FAILED)


def _announce(access: Access) -> Callable[[str], None]:
    """Return the function that says where the server is."""

    def announce(address: str) -> None:
        say(f"{address} shows the crawl; SPARQL at {address}sparql; Ctrl-C stops the server")
        say(f"{'with the token' if access.is_token_required else 'with controls'}: {address}?token={access.token}")

    return announce


def _watch_parent(loop: asyncio.AbstractEventLoop, until: asyncio.Event) -> None:
    """Set the event when stdin is closed, which is when the parent process ends."""

    def wait() -> None:
        sys.stdin.buffer.read()
        loop.call_soon_threadsafe(until.set)

    threading.Thread(target=wait, daemon=True).start()


class ServerProcess:
    """A server process beside a crawl, as a context manager. It also ends if the crawl is killed."""

    def __init__(self, folder: Path, endpoint: ServerEndpoint) -> None:
        where = ["--address", endpoint.address, "--port", str(endpoint.port)]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "motherlode", "serve", str(folder), *where, "--with-parent"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            process_group=0,  # a Ctrl-C is for the crawl, which the server then shows as ended
        )

    def __enter__(self) -> ServerProcess:
        return self

    def wait_for_interrupt(self) -> None:
        """Wait until the user presses Ctrl-C, or the server ends."""
        say("the crawl has ended; the server still shows it; Ctrl-C stops the server")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # uvloop leaves handlers that do nothing
            signal.signal(number, signal.default_int_handler)
        with contextlib.suppress(KeyboardInterrupt):
            self._process.wait()

    def __exit__(self, *_: object) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(timeout=_CHILD_EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
