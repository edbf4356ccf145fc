"""The peer of bench/crawl.py: Scrapy crawls, extruct extracts, and PyLD with a small writer produces N-Quads.

python scrapy_extruct.py SEEDS OUT SCOPE crawl|list|fetch

`crawl` starts from the seeds and follows the links that match the scope. `list` treats the seeds as the list of all
pages and collects no links. `fetch` only fetches the pages.

extruct returns JSON-LD and RDFa as JSON-LD, which PyLD reads; the schema.org context of 200 KB is replaced by a
vocabulary. A short writer converts all other data to statements.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote

import extruct
import scrapy
from pyld import jsonld
from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor

TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
SCHEMA = {"@context": {"@vocab": "http://schema.org/"}}
MICROFORMATS = "http://microformats.org/profile/"
ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"})
BLANK_NODES = (f"_:b{number}" for number in count())


class Spider(scrapy.Spider):
    name = "peer"

    def __init__(self, seeds: str, out: str, scope: str, mode: str) -> None:
        super().__init__()
        self.urls = Path(seeds).read_text().split()
        self.out = Path(out).open("w", encoding="utf-8", errors="replace")  # noqa: SIM115 - closed when the spider is
        self.links = LinkExtractor(allow=scope, deny_extensions=[])
        self.mode = mode

    async def start(self) -> Any:
        for url in self.urls:
            yield scrapy.Request(url)

    def parse(self, response: Any) -> Any:
        if self.mode == "crawl" and isinstance(response, scrapy.http.TextResponse):
            for link in self.links.extract_links(response):
                yield scrapy.Request(link.url)
        if self.mode != "fetch":
            try:
                data = extruct.extract(response.body, base_url=response.url, errors="ignore")
            except Exception:  # noqa: BLE001 - extruct raises what its parsers raise
                return
            self.out.writelines(quads(defaultdict(list, data), response.url))  # failed syntaxes are missing in the data

    def closed(self, reason: str) -> None:
        self.out.close()


# ── N-Quads ──────────────────────────────────────────────────────────────────────────────────────────


def quads(data: dict[str, list[Any]], page: str) -> Iterator[str]:
    """Yield everything that extruct found, with one graph per page."""
    for item in data["json-ld"]:
        yield linked(item, page)
    if data["rdfa"]:
        yield linked(data["rdfa"], page)
    graph = iri(page)
    for subject, predicate, value in plain(data, graph):
        yield f"{subject} {predicate} {value} {graph} .\n"


def linked(item: Any, page: str) -> str:
    """Convert JSON-LD with PyLD; unreadable items are lost. Blank nodes get new numbers in every call."""
    options = {"format": "application/n-quads", "documentLoader": load}
    try:
        lines: str = jsonld.to_rdf({"@id": page, "@graph": item}, options)
    except Exception:  # noqa: BLE001 - PyLD raises many exception types
        return ""
    return re.sub("(^| )_:b", rf"\1{next(BLANK_NODES)}n", lines, flags=re.MULTILINE)


def load(url: str, options: object) -> dict[str, Any]:
    if "schema.org" not in url:
        raise ValueError(f"no context is available for {url}")
    return {"document": SCHEMA, "documentUrl": url, "contextUrl": None}


def plain(data: dict[str, list[Any]], page: str) -> Iterator[tuple[str, str, str]]:
    """Yield statements of Microdata, microformats, OpenGraph and Dublin Core."""
    for item in data["microdata"]:
        yield from tree(item, next(BLANK_NODES), vocabulary="http://schema.org/")
    for item in data["microformat"]:
        yield from tree(item, next(BLANK_NODES), vocabulary=MICROFORMATS)
    for found in data["opengraph"]:
        for key, text in found["properties"]:
            prefix, _, name = key.partition(":")
            yield page, iri(found["namespace"].get(prefix, f"{prefix}:") + name), literal(text)
    for found in data["dublincore"]:
        for meta in found["elements"] + found["terms"]:
            yield page, iri(meta["URI"]), literal(meta.get("content", ""))


def tree(item: dict[str, Any], name: str, *, vocabulary: str) -> Iterator[tuple[str, str, str]]:
    """Yield the statements of an item and of its nested items; Microdata and microformats have the same structure."""
    types = item.get("type") or []
    for one in [types] if isinstance(types, str) else types:
        yield name, iri(TYPE), iri(one if ":" in one else vocabulary + one)
    for key, values in item.get("properties", {}).items():
        predicate = iri(key if ":" in key else vocabulary + key)
        for value in values if isinstance(values, list) else [values]:
            if isinstance(value, dict) and "properties" in value:
                inner = next(BLANK_NODES)
                yield name, predicate, inner
                yield from tree(value, inner, vocabulary=vocabulary)
            else:
                yield name, predicate, literal(value.get("value", "") if isinstance(value, dict) else value)


def iri(text: str) -> str:
    return f"<{quote(text, safe=':/?#[]@!$&()*+,;=%~-._')}>"


def literal(text: Any) -> str:
    return f'"{str(text).translate(ESCAPES)}"'


if __name__ == "__main__":
    process = CrawlerProcess(
        {
            "CONCURRENT_REQUESTS": 64,
            "CONCURRENT_REQUESTS_PER_DOMAIN": 64,
            "DOWNLOAD_DELAY": 0,
            "ROBOTSTXT_OBEY": False,
            "LOG_LEVEL": "ERROR",
            "TELNETCONSOLE_ENABLED": False,
            "COOKIES_ENABLED": False,
            "METAREFRESH_ENABLED": False,
            "REDIRECT_ENABLED": False,
            "RETRY_ENABLED": False,
        }
    )
    process.crawl(Spider, *sys.argv[1:5])
    process.start()
