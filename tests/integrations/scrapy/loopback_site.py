"""A small site on loopback that records its requests."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PAGE = '<html><body><ul>{}</ul><script type="application/ld+json">{}</script></body></html>'
PRODUCT = '{"@context": "http://schema.org/", "@type": "Product", "name": "Cup"}'
Respond = Callable[[str, int], tuple[int, Mapping[str, str], str]]
"""Function from a path and the number of earlier requests for it to status, headers and body."""


class Site:
    """The requests that a site got, in order, and its URL."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.paths: list[str] = []
        self.changed = threading.Condition()

    def wait_for(self, condition: Callable[[list[str]], bool], seconds: float = 60) -> None:
        with self.changed:
            assert self.changed.wait_for(lambda: condition(self.paths), seconds), self.paths


def page(*links: str, data: str = "{}") -> str:
    return PAGE.format("".join(f'<li><a href="{link}">{link}</a></li>' for link in links), data)


@contextmanager
def serve(respond: Respond, address: str = "127.0.0.1") -> Iterator[Site]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            with site.changed:
                before = site.paths.count(self.path)
                site.paths.append(self.path)
                site.changed.notify_all()
            status, headers, body = respond(self.path, before)
            data = body.encode()
            self.send_response(status)
            for name, value in {"Content-Type": "text/html", **headers, "Content-Length": str(len(data))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        do_POST = do_GET  # noqa: N815 - the name is part of the protocol of http.server

        def log_message(self, *_: object) -> None: ...

        def handle(self) -> None:
            try:
                super().handle()
            except ConnectionError:  # the spider was killed
                return

    server = ThreadingHTTPServer((address, 0), Handler)
    server.daemon_threads = True
    site = Site(f"http://{address}:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
