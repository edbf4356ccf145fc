"""The list of requested URLs: time of the first rows and of filtered rows, against a scan of all visits.

    python bench/pages.py [--urls 100000] [--rounds 5]

A frontier storage with one visit per URL is written: 1,000 hosts, one URL in a hundred failed, one in two hundred with
problems. The scan decodes every visit and filters, as without labels. Each round measures all; the median counts.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path

import msgspec

from motherlode.crawler import CrawlFolder, Job
from motherlode.crawler.stats.page_list import make_row, read_pages
from motherlode.crawler.stats.reader import read_visits
from motherlode.frontier import LmdbStorage
from motherlode.frontier.storage.tables import is_failed, visit_key, visit_labels
from motherlode.model import FailureKind, Problem, Syntax, Visit

HOSTS = 1_000
MIN_RATIO = 20


def write_crawl(folder: CrawlFolder, urls: int) -> None:
    folder.create(Job(seeds=("http://h0.example/",)))
    folder.unlock()
    storage = LmdbStorage(folder.frontier)
    problem = Problem(syntax=Syntax.JSON_LD, message="trailing comma", line=12, column=8)
    for number in range(1, urls + 1):
        host = f"h{number % HOSTS}.example"
        failure = FailureKind.NOT_FOUND if number % 100 == 0 else None
        visit = Visit(
            number=number,
            url=f"http://{host}/catalogue/items/{number}.html",
            host=host,
            parent_url=f"http://{host}/catalogue/",
            failure=failure,
            status=404 if failure else 200,
            problems=(problem,) if number % 200 == 1 else (),
            relevant=number % 3 == 0,
            counts={"jsonld": 12, "page": 3},
            media_type="text/html; charset=utf-8",
        )
        storage.append_visit(number, msgspec.msgpack.encode(visit), visit_key(visit), visit_labels(visit))
        if number % 20_000 == 0:
            storage.commit()
    storage.commit()
    storage.close()


def measure(rows: Callable[[], Iterable[object]]) -> tuple[float, int]:
    before = time.perf_counter()
    count = sum(1 for _ in rows())
    return time.perf_counter() - before, count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--urls", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = CrawlFolder(Path(temporary) / "out")
        write_crawl(folder, options.urls)
        jobs: dict[str, Callable[[], Iterable[object]]] = {
            "scan of all visits, failed": lambda: (
                make_row(visit) for visit in read_visits(folder) if is_failed(visit)
            ),
            "first 50 rows": lambda: islice(read_pages(folder), 50),
            "first 50 failed": lambda: islice(read_pages(folder, failed=True), 50),
            "all failed": lambda: read_pages(folder, failed=True),
            "all with problems": lambda: read_pages(folder, problems=True),
            "all of one host": lambda: read_pages(folder, host="h7.example"),
        }
        times: dict[str, list[float]] = {name: [] for name in jobs}
        counts = {}
        for _ in range(options.rounds):
            for name, rows in jobs.items():
                seconds, counts[name] = measure(rows)
                times[name].append(seconds)
    scan = statistics.median(times["scan of all visits, failed"])
    print(f"## The list of requested URLs (`bench/pages.py`)\n\n{options.urls:,} URLs, {HOSTS:,} hosts.\n")
    print("| selection | rows | ms | times faster than the scan |\n|---|--:|--:|--:|")
    for name, seconds in times.items():
        median = statistics.median(seconds)
        print(f"| {name} | {counts[name]:,} | {1000 * median:.1f} | {scan / median:.0f} |")
    print(f"\nAt least {MIN_RATIO} is wanted.")


if __name__ == "__main__":
    main()
