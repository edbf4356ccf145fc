"""A recorded web of a few pages with one case of each kind, and crawls of it."""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path
from typing import Any

from motherlode.crawler import Counters, CrawlFolder, Job
from motherlode.crawler.engine.factory import assemble
from tests.support import write_warc

HTML = {"content-type": "text/html; charset=utf-8"}
HOME = "http://a.example/"


def item(name: str) -> bytes:
    data = f'<script type="application/ld+json">{{"@context":"https://schema.org","@type":"Recipe","name":"{name}"}}'
    return f"<html><head><title>{name}</title>{data}</script></head><body>{name}</body></html>".encode()


def page(*links: str, names: str = "") -> bytes:
    anchors = "".join(f'<li><a href="{link}">to {link}</a></li>' for link in links)
    return f"<html><head><title>{names}</title></head><body><ul>{anchors}</ul></body></html>".encode()


def small_web(path: Path, *, items: int = 12, plain: int = 12) -> Path:
    """Return a web with a home page, items with data, plain pages, a redirect, a missing page and a disallowed page."""
    links = [
        *(f"/item/{number}" for number in range(items)),
        *(f"/text/{number}" for number in range(plain)),
        *("/old", "/gone", "/private/x", "http://b.example/"),
    ]
    pages = [
        ("http://a.example/robots.txt", 200, {"content-type": "text/plain"}, b"User-agent: *\nDisallow: /private"),
        (HOME, 200, HTML, page(*links, names="home")),
        ("http://a.example/old", 301, {"location": "/older"}, b""),
        ("http://a.example/older", 301, {"location": "/item/0"}, b""),
        *((f"http://a.example/item/{number}", 200, HTML, item(f"recipe {number}")) for number in range(items)),
        *((f"http://a.example/text/{number}", 200, HTML, page(names=f"text {number}")) for number in range(plain)),
    ]
    return write_warc(path, pages)


def crawled(folder: Path, web: Path, **job: Any) -> tuple[CrawlFolder, Counters]:
    """Crawl the web into a folder until the budget is used."""
    made = CrawlFolder(folder)
    settings = {"seeds": (HOME,), "web": str(web), "delay": 0.0, "workers": 1, "concurrency": 1, "words": False, **job}
    asked = Job(**settings)

    async def run() -> Counters:
        if made.has_crawl:
            made.lock()
        else:
            made.create(asked)
        assembled = assemble(asked, made)
        async for _ in assembled.engine.visits(assembled.seeds):
            pass
        return assembled.engine.totals

    try:
        return made, asyncio.run(run())
    finally:
        made.unlock()
        gc.collect()  # releases the store, which is open while references to it exist
