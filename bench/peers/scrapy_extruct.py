"""The peer of bench/crawl.py: Scrapy fetches, extruct extracts, a small writer makes N-Quads of what it gives.

python scrapy_extruct.py SEEDS OUT extract|fetch
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import extruct
import scrapy
from scrapy.crawler import CrawlerProcess


class Spider(scrapy.Spider):
    name = "peer"

    def __init__(self, seeds: str, out: str, mode: str) -> None:
        super().__init__()
        self.urls = Path(seeds).read_text().split()
        self.out = Path(out).open("w")  # noqa: SIM115 - closed when the spider is
        self.mode = mode

    async def start(self) -> Any:
        for url in self.urls:
            yield scrapy.Request(url, dont_filter=True)

    def parse(self, response: Any) -> None:
        if self.mode == "extract":
            try:
                data = extruct.extract(response.body, base_url=response.url, errors="ignore")
            except Exception:  # noqa: BLE001 - extruct raises what its parsers raise
                return
            for items in data.values():
                for item in items:
                    self.out.writelines(quads(item, response.url))

    def closed(self, reason: str) -> None:
        self.out.close()


def quads(item: Any, page: str) -> list[str]:
    """One line for each value that is not a dictionary or a list."""
    lines: list[str] = []
    stack = [(item, f"_:b{id(item)}")]
    while stack:
        node, name = stack.pop()
        for key, value in node.items() if isinstance(node, dict) else ():
            for one in value if isinstance(value, list) else [value]:
                if isinstance(one, dict):
                    stack.append((one, f"_:b{id(one)}"))
                    one = f"_:b{id(one)}"
                lines.append(f"{name} <{key}> {str(one)!r} <{page}> .\n")
    return lines


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
    process.crawl(Spider, *sys.argv[1:4])
    process.start()
