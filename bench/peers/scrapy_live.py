"""The peer of bench/live.py: the spider of scrapy_extruct.py, with a delay, robots.txt and the advice for broad crawls.

python scrapy_live.py SEEDS OUT crawl|fetch DELAY SLOTS PAGES SECONDS

The settings follow the page "Broad Crawls" of Scrapy's documentation. Slots have to be as many as there are hosts,
because Scrapy counts requests that wait for the delay of their host as well.
"""

from __future__ import annotations

import sys

from scrapy.crawler import CrawlerProcess
from scrapy_extruct import Spider

TIMEOUT_SECONDS = 15

if __name__ == "__main__":
    seeds, out, mode, delay, slots, pages, seconds = sys.argv[1:]
    process = CrawlerProcess(
        {
            "CONCURRENT_REQUESTS": int(slots),
            "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
            "DOWNLOAD_DELAY": float(delay),
            "RANDOMIZE_DOWNLOAD_DELAY": False,
            "DOWNLOAD_TIMEOUT": TIMEOUT_SECONDS,
            "ROBOTSTXT_OBEY": True,
            "SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.DownloaderAwarePriorityQueue",
            "REACTOR_THREADPOOL_MAXSIZE": 40,
            "DNSCACHE_SIZE": 100_000,
            "CLOSESPIDER_PAGECOUNT": int(pages),
            "CLOSESPIDER_TIMEOUT": float(seconds),
            "LOG_LEVEL": "CRITICAL",
            "TELNETCONSOLE_ENABLED": False,
            "COOKIES_ENABLED": False,
            "METAREFRESH_ENABLED": False,
            "REDIRECT_ENABLED": False,
            "RETRY_ENABLED": False,
        }
    )
    process.crawl(Spider, seeds, out, "^https://", mode)
    process.start()
