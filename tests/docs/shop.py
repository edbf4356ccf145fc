"""A small shop on loopback for the examples of the documentation."""

import http.server
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

PRODUCTS = [("Lemon cake", "12.50"), ("Oak table", "240.00"), ("Blue teapot", "31.90"), ("Garden chair", "55.00")]


def _product(number: int) -> str:
    name, price = PRODUCTS[number]
    offer = {"@type": "Offer", "price": price, "priceCurrency": "EUR"}
    data = {"@context": "https://schema.org/", "@type": "Product", "name": name, "offers": offer}
    text = json.dumps(data) if number else json.dumps(data).replace('"EUR"}', '"EUR",}')
    return _page(name, f'<script type="application/ld+json">{text}</script><a href="/">all</a>')


def _page(title: str, body: str) -> str:
    return f"<!DOCTYPE html><html><head><title>{title}</title></head><body><h1>{title}</h1>{body}</body></html>"


def _make_files(address: str) -> dict[str, tuple[str, str]]:
    """Return media type and text of each path."""
    paths = [f"/p/{number}" for number in range(len(PRODUCTS))]
    links = "".join(f'<li><a href="{path}">{name}</a></li>' for path, (name, _) in zip(paths, PRODUCTS, strict=True))
    places = "".join(f"<url><loc>{address}{path}</loc></url>" for path in ["/", *paths])
    sitemap = f'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{places}</urlset>'
    about = _page("About", "<p>We sell cake, tables and teapots.</p>")
    files = {
        "/": ("text/html", _page("Shop", f'<ul>{links}</ul><a href="/about">about</a><a href="/data.ttl">data</a>')),
        "/about": ("text/html", about),
        "/data.ttl": ("text/turtle", "<#shop> a <http://schema.org/Store> ; <http://schema.org/name> 'Shop' ."),
        "/robots.txt": ("text/plain", f"User-agent: *\nAllow: /\nSitemap: {address}/sitemap.xml\n"),
        "/sitemap.xml": ("application/xml", sitemap),
    }
    return files | {path: ("text/html", _product(number)) for number, path in enumerate(paths)}


@contextmanager
def serve_shop() -> Iterator[str]:
    """Serve the shop, and yield its address without a path."""
    with _serve(_make_files) as address:
        yield address


@contextmanager
def serve_pages(pages: Mapping[str, str]) -> Iterator[str]:
    """Serve HTML pages by path, and yield the address without a path."""
    with _serve(lambda address: {path: ("text/html", text) for path, text in pages.items()}) as address:
        yield address


@contextmanager
def _serve(make_files: Callable[[str], Mapping[str, tuple[str, str]]]) -> Iterator[str]:
    """Serve files with media types. `make_files` gets the address."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            media_type, text = files.get(self.path, ("", ""))
            self.send_response(200 if media_type else 404)
            self.send_header("Content-Type", media_type or "text/plain")
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    address = f"http://127.0.0.1:{server.server_port}"
    files = make_files(address)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield address
    finally:
        server.shutdown()
        server.server_close()
