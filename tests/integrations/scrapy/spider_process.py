"""A spider in a process of its own, because a Twisted reactor runs only once in a process.

python spider_process.py SPIDER START_URL SETTINGS    SETTINGS is JSON; each callback prints a line of JSON
"""

import json
import sys
from collections.abc import Iterator
from typing import Any

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response


class TestSpider(scrapy.Spider):
    """Follows all links and prints the URL of each page."""

    name = "test"

    def parse(self, response: Response, **kwargs: Any) -> Iterator[Any]:
        self.tell(response, **kwargs)
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link, meta=response.meta)  # many spiders pass on the meta

    def tell(self, response: Response, **more: Any) -> None:
        print(json.dumps({"url": response.url, "priority": response.request.priority, **more}), flush=True)


class AttributesSpider(TestSpider):
    """Uses all attributes of requests that a scheduler must not lose."""

    name = "attributes"

    def parse(self, response: Response, **kwargs: Any) -> Iterator[Any]:
        self.tell(response)
        for path, priority in (("low", -5), ("normal", 0), ("high", 7)):
            yield response.follow(path, self.parse_part, priority=priority, cb_kwargs={"part": path})
        for _ in range(2):
            yield response.follow("/repeated", self.parse_part, dont_filter=True, cb_kwargs={"part": "repeated"})
            yield response.follow("/filtered", self.parse_part, cb_kwargs={"part": "filtered"})
        yield response.follow("/flaky", self.parse_part, cb_kwargs={"part": "flaky"})
        yield response.follow("/moved", self.parse_part, cb_kwargs={"part": "moved"})
        yield response.follow("/gone", self.parse_part, errback=self.fail, meta={"mine": "kept"})
        yield scrapy.FormRequest(
            response.urljoin("/posted"), self.parse_part, formdata={"q": "x"}, cb_kwargs={"part": "form"}
        )
        yield response.follow("/closure", lambda found: self.tell(found, part="closure"))

    def parse_part(self, response: Response, part: str) -> None:
        self.tell(response, part=part)

    def fail(self, failure: Any) -> None:
        print(json.dumps({"failed": failure.value.response.status, "mine": failure.request.meta["mine"]}), flush=True)


class TwoHostsSpider(TestSpider):
    """Requests three pages of one host before one of another."""

    name = "two-hosts"

    async def start(self) -> Any:
        for url in json.loads(self.start_urls[0]):
            yield scrapy.Request(url)


class BrokenSpider(TestSpider):
    """Raises an exception after the first request that a callback yields."""

    name = "broken"

    def parse(self, response: Response, **kwargs: Any) -> Iterator[Any]:
        for number, found in enumerate(super().parse(response)):
            if number:
                raise ValueError("a fault in the spider")
            yield found


SPIDERS = {spider.name: spider for spider in (TestSpider, AttributesSpider, TwoHostsSpider, BrokenSpider)}
MOTHERLODE = {"ADDONS": {"motherlode.integrations.scrapy.MotherlodeAddon": 500}}


if __name__ == "__main__":
    name, start_url, settings = sys.argv[1:]
    process = CrawlerProcess({"TELNETCONSOLE_ENABLED": False, **MOTHERLODE, **json.loads(settings)})
    process.crawl(SPIDERS[name], start_urls=[start_url])
    process.start()
