"""Good and hostile hosts on one loopback address, in a separate process.

    python -m tests.crawler.hostile_web LOG

The process prints its port as one line of JSON and ends when its standard input closes. It also listens on the same
port of 127.0.0.1, which no crawl is allowed to reach. Each connection there gives a log line that begins with "canary".
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import os
import sys
import threading
import time
import zlib
from pathlib import Path
from typing import TextIO

import brotli
import zstandard

from tests.crawler.hostile_tls import TlsHosts
from tests.fetch.servers import Script, answer, endless, then_reset

ADDRESS, FORBIDDEN = "127.1.0.1", "127.0.0.1"
GOOD = 20
TARPITS = 100
HTML = "Content-Type: text/html"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
BOMB = 300 << 20
"""Number of zero bytes in each decompression bomb."""


def bombs() -> dict[str, bytes]:
    piece, found = b"\0" * (1 << 20), {}
    for name, packer in (("gzip", zlib.compressobj(1, wbits=31)), ("deflate", zlib.compressobj(1))):
        found[name] = b"".join(packer.compress(piece) for _ in range(BOMB >> 20)) + packer.flush()
    found["br"] = brotli.compress(b"\0" * BOMB, quality=1)
    found["zstd"] = zstandard.ZstdCompressor(level=1).compress(b"\0" * BOMB)
    found["twice"] = gzip.compress(found["gzip"], 1)
    return found


def page(*links: str) -> bytes:
    return answer(b"<html><body>" + b"".join(b'<a href="%s">x</a>' % link.encode() for link in links), HTML)


def redirect(to: str) -> bytes:
    return answer(b"", f"Location: {to}", status="302 Found")


def hostile(port: int) -> dict[str, bytes | Script]:
    """Return the responses of the hostile hosts to all requests except those for robots.txt."""
    found: dict[str, bytes | Script] = {
        "headers": endless(b"HTTP/1.1 200 OK\r\n", b"X-A: " + b"a" * 1000 + b"\r\n"),
        "body": endless(HEAD + b"\r\n", b"<p>endless</p>" * 5000),
        "chunks": endless(CHUNKED, (b"40\r\n" + b"x" * 64 + b"\r\n") * 500),
        "reset-at-once": then_reset(b""),
        "reset-in-head": then_reset(b"HTTP/1.1 200 OK\r\nContent-"),
        "reset-in-body": then_reset(answer(b"<html>" * 100, HTML, length=10_000)),
        "reset-in-chunk": then_reset(CHUNKED + b"ff\r\nabc"),
        "short": answer(b"short", HTML, length=5_000),
        "long": answer(b"longer than it says", HTML, length=2),
        "garbage": CHUNKED + b"zz\r\nnonsense\r\n",
        "no-http": b"SSH-2.0-OpenSSH_9.6\r\n",
        "silent": endless(b"", b"", pause=1.0),
        "loop": redirect("http://loop.example/b"),
        "to-loopback": redirect(f"http://{FORBIDDEN}:{port}/secret"),
        "to-mapped": redirect(f"http://[::ffff:10.0.0.1]:{port}/secret"),
        "to-mapped-loopback": redirect(f"http://[::ffff:{FORBIDDEN}]:{port}/secret"),
        "to-number": redirect(f"http://2130706433:{port}/secret"),
        "to-metadata": redirect("http://169.254.169.254/latest/meta-data"),
        "to-file": redirect("file:///etc/passwd"),
        "to-script": redirect("javascript:alert(1)"),
        "many": page(*(f"/{number}" for number in range(10_000))),
        "huge-url": page("/" + "a" * 2_000_000, *(f"/{'b' * 3000}{n}" for n in range(50))),
    }
    found |= {f"tarpit{n}": endless(HEAD + b"\r\n", b"x", pause=1.0) for n in range(TARPITS)}
    for name, bomb in bombs().items():
        encoding = "gzip, gzip" if name == "twice" else name
        found[f"bomb-{name}"] = answer(bomb, HTML, f"Content-Encoding: {encoding}")
    return found


def scripted(host: str, path: str, table: dict[str, bytes | Script]) -> bytes | Script:
    name = host.removesuffix(".example")
    if name.startswith("good") or name == "flip":
        number = int(path[1:]) if path[1:].isdigit() else 0
        return page(*(f"/{child}" for child in (3 * number + 1, 3 * number + 2, 3 * number + 3)))
    if path == "/robots.txt" and not name.startswith("tarpit"):
        return answer(b"", status="404 Not Found")
    if name == "chain":
        return redirect(f"/{int(path[1:] or 0) + 1}")
    if name == "trap":  # a million URLs, with ten new links on every page
        number = int(path.rpartition("/")[2] or 0)
        return page(*(f"/day/{(10 * number + n) % 1_000_000}" for n in range(1, 11)))
    return table.get(name, answer(b"", status="404 Not Found"))


class Hosts:
    """The server of all hosts and the canary listener."""

    def __init__(self, log: TextIO) -> None:
        self._log = log
        self.table: dict[str, bytes | Script] = {}

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                host = next(line[5:].strip() for line in head.split("\r\n") if line.lower().startswith("host:"))
                path = head.split()[1]
                host = host.partition(":")[0]
                self._log.write(f"{time.monotonic():.3f} {host} {path[:200]}\n")
                sent = scripted(host, path, self.table)
                if not isinstance(sent, bytes):
                    await sent(writer)
                    break
                writer.write(sent)
                await writer.drain()
                if not host.startswith("good"):
                    break
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()

    async def canary(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._log.write(f"canary {writer.get_extra_info('peername')}\n")
        writer.close()


async def run(log: TextIO, folder: Path) -> None:
    hosts = Hosts(log)
    server = await asyncio.start_server(hosts.serve, ADDRESS, 0, backlog=512)
    port = server.sockets[0].getsockname()[1]
    canary = await asyncio.start_server(hosts.canary, FORBIDDEN, port)
    secured = await asyncio.start_server(TlsHosts(folder).serve, ADDRESS, 0, backlog=512)
    tls_port = secured.sockets[0].getsockname()[1]
    hosts.table = hostile(port)
    names = [*hosts.table, "chain", "trap", "flip"]
    print(json.dumps({"port": port, "tls_port": tls_port, "hostile": names}), flush=True)
    loop, end = asyncio.get_running_loop(), asyncio.Event()

    def wait_for_end_of_input() -> None:
        while os.read(0, 4096):
            pass
        loop.call_soon_threadsafe(end.set)

    threading.Thread(target=wait_for_end_of_input, daemon=True).start()
    await end.wait()
    server.close()
    canary.close()
    secured.close()
    os._exit(0)  # some responses never end


if __name__ == "__main__":
    with Path(sys.argv[1]).open("w", buffering=1) as log:
        asyncio.run(run(log, Path(sys.argv[1]).parent))
