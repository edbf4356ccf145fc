"""The site that the crawl of tests/data/folder_v0.tar.gz was made from, served on loopback."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ADDRESS = "127.0.0.1:9"
"""Where the job file of the fixture says that all hosts are: the discard port, on which no server listens."""
LAST_LIST = 9


class Site:
    """Two hosts: a shop with JSON-LD, RDFa, lists and a page that fails, and a host with a Turtle document."""

    def __init__(self) -> None:
        self.edition = 1
        """1 is what the crawl saw, 2 what the refresh saw: other prices."""
        self.flaky_status = 500
        self.requests: list[str] = []
        """URLs in the order of their requests, without robots.txt."""

    def respond(self, host: str, path: str) -> tuple[int, str, str]:
        """Return status, media type and body."""
        if path == "/robots.txt":
            return 200, "text/plain", "User-agent: *\nDisallow: /private\n"
        self.requests.append(f"http://{host}{path}")
        if host == "data.example":
            return 200, "text/turtle", self._turtle() if path == "/things.ttl" else ""
        if path == "/flaky":
            return self.flaky_status, "text/html", "<p>Perhaps later"
        if path == "/":
            return 200, "text/html", self._home()
        if path.startswith("/lamp/"):
            return 200, "text/html", self._lamp(path.removeprefix("/lamp/"))
        if path.startswith("/list/"):
            return 200, "text/html", self._list(int(path.removeprefix("/list/")))
        return 404, "text/html", "<p>Not here"

    def _home(self) -> str:
        lists = "".join(f'<li><a href="/list/{n}">List {n}</a>' for n in range(1, LAST_LIST + 1))
        return (
            f"<!DOCTYPE html><title>Lamps</title><ul>{lists}</ul><a href='/lamp/1'>Desk lamp</a>"
            "<a href='/lamp/2'>Floor lamp</a><a href='/private/x'>Private</a>"
            "<a href='http://data.example/things.ttl'>All things as Turtle</a>"
        )

    def _lamp(self, number: str) -> str:
        item = {
            "@context": "https://schema.org/",
            "@id": f"http://shop.example/lamp/{number}#it",
            "@type": "Product",
            "name": f"A lamp for desk {number}",
            "price": str(10 * int(number) + self.edition),
        }
        return f"<!DOCTYPE html><title>Lamp</title><script type='application/ld+json'>{json.dumps(item)}</script>"

    def _list(self, number: int) -> str:
        lamps = "".join(f'<li><a href="/lamp/{n}">Lamp {n}</a>' for n in range(number * 10, number * 10 + 3))
        return f"<!DOCTYPE html><title>List {number}</title><ul>{lamps}</ul>"

    def _turtle(self) -> str:
        return (
            "@prefix s: <http://schema.org/> .\n"
            f'<#shop> a s:Store ; s:name "The lamp shop" ; s:floorSize {self.edition} .\n'
            "<#shop> s:url <http://shop.example/list/3> .\n"
        )


@contextmanager
def serve(site: Site) -> Iterator[int]:
    """Serve the site for all host names; yield the port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            host = self.headers.get("Host", "").partition(":")[0]
            status, media_type, text = site.respond(host, self.path)
            body = text.encode()
            self.send_response(status)
            self.send_header("Content-Type", media_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
