"""The spider of bench/scrapy.py: it follows every link of a synthetic web, and writes the URL of each request.

python scrapy_focus.py breadth-first|motherlode|default OUT REQUESTS TARGET < TABLE

TABLE is JSON with `seeds` and `hosts`, a table from host names to loopback address and port. A request for another host
fails as an unknown host does. Every attempt counts as a request: failures, redirects and retries, too.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import scrapy
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.crawler import CrawlerProcess
from scrapy.exceptions import CannotResolveHostError, CloseSpider
from scrapy.http import Response, TextResponse
from scrapy.linkextractors import LinkExtractor

BREADTH_FIRST = {
    "DEPTH_PRIORITY": 1,
    "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
}
"""Breadth-first order as Scrapy's documentation has it."""
MOTHERLODE = {"ADDONS": {"motherlode.integrations.scrapy.MotherlodeAddon": 500}}
ORDERS: dict[str, dict[str, Any]] = {"breadth-first": BREADTH_FIRST, "default": {}, "motherlode": MOTHERLODE}


class LoopbackHandler(HTTP11DownloadHandler):
    """Sends requests to the loopback server of the web, and writes their URLs."""

    async def download_request(self, request: scrapy.Request) -> Response:
        spider: Any = self._crawler.spider
        spider.note(request.url)
        parts = urlsplit(request.url)
        address = spider.hosts.get(parts.hostname)
        if address is None:
            raise CannotResolveHostError(parts.hostname)
        url = parts._replace(scheme="http", netloc=f"{address[0]}:{address[1]}").geturl()
        sent = request.replace(url=url, headers={**request.headers, "Host": parts.hostname})
        response = await super().download_request(sent)
        return response.replace(url=request.url, request=None)


class FocusSpider(scrapy.Spider):
    name = "focus"

    def __init__(self, table: dict[str, Any], out: str, requests: str) -> None:
        super().__init__()
        self.hosts, self.start_urls = table["hosts"], table["seeds"]
        self.out, self.left = Path(out).open("w"), int(requests)  # noqa: SIM115 - closed when the spider is
        self.links = LinkExtractor(deny_extensions=[], unique=True)

    def note(self, url: str) -> None:
        """Write the URL of a request, until the budget is spent."""
        if self.left > 0:
            self.left -= 1
            self.out.write(url + "\n")

    def parse(self, response: Response) -> Any:
        if self.left <= 0:
            raise CloseSpider("the budget of requests is spent")
        if isinstance(response, TextResponse):
            for link in self.links.extract_links(response):
                yield scrapy.Request(link.url)

    def closed(self, reason: str) -> None:
        self.out.close()


if __name__ == "__main__":
    order, out, requests, target = sys.argv[1:]
    process = CrawlerProcess(
        {
            "DOWNLOAD_HANDLERS": {"http": LoopbackHandler, "https": LoopbackHandler},
            "ROBOTSTXT_OBEY": False,
            "LOG_LEVEL": "CRITICAL",
            "LOGSTATS_INTERVAL": 0,
            "TELNETCONSOLE_ENABLED": False,
            "MOTHERLODE_TARGET": target,
            **ORDERS[order],
        }
    )
    process.crawl(FocusSpider, table=json.load(sys.stdin), out=out, requests=requests)
    process.start()
