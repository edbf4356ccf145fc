"""A spider that follows all links of a shop. The policy decides in which order."""

from collections.abc import Iterator

import scrapy
from scrapy.http import HtmlResponse, Response
from scrapy.linkextractors import LinkExtractor


class ShopSpider(scrapy.Spider):
    """scrapy crawl shop -a start=https://shop.example/ -s CLOSESPIDER_PAGECOUNT=1000 -O products.csv"""

    name = "shop"

    def __init__(self, start: str, **more: str) -> None:
        super().__init__(start_urls=[start], **more)
        self.links = LinkExtractor()

    def parse(self, response: Response) -> Iterator[scrapy.Request]:
        if isinstance(response, HtmlResponse):
            yield from response.follow_all(self.links.extract_links(response))
