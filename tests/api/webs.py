"""A small recorded web and a loopback site for the tests of the API."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.support import write_warc

HOME = "http://shop.example/"


def product(number: int) -> bytes:
    """Return a page about one product, with links to the next two."""
    links = "".join(f'<a href="/p{n}">p{n}</a>' for n in (2 * number + 1, 2 * number + 2))
    data = f'{{"@context": "https://schema.org", "@type": "Product", "name": "Lemon cake {number}", "sku": "{number}"}}'
    return f'<!doctype html><script type="application/ld+json">{data}</script>{links}'.encode()


def write_shop(path: Path, *, pages: int) -> Path:
    """Write a WARC file of a shop: a home page with broken data, and products; links to further ones are broken."""
    html = {"content-type": "text/html"}
    home = b'<!doctype html><script type="application/ld+json">{broken</script><a href="/p1">p1</a><a href="/p2">p2</a>'
    products = [(f"{HOME}p{number}", 200, html, product(number)) for number in range(1, pages)]
    return write_warc(path, [(HOME, 200, html, home), *products])


class _Shop(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        number = self.path.removeprefix("/p")
        is_page = self.path == "/" or number.isdigit()
        if self.path == "/slow":
            self.server.slow.wait()  # type: ignore[attr-defined]
        body = product(int(number) if number.isdigit() else 0) if is_page else b"none"
        if self.path == "/":
            body += b'<a href="/slow">slow</a>'
        with suppress(ConnectionError):  # the crawl ended
            self.send_response(200 if is_page else 404)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def loopback_shop() -> Iterator[str]:
    """Serve an endless shop on this machine. Its page /slow is not sent before the server ends."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Shop) as server:
        server.slow = threading.Event()  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.slow.set()  # type: ignore[attr-defined]
            server.shutdown()
            thread.join()
