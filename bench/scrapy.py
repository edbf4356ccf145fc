"""Relevant pages of a Scrapy spider with our scheduler, against the same spider in breadth-first order.

    python bench/scrapy.py [--webs 5] [--requests 1000]

The webs are synthetic, with seeds that were not used in development, and are served on loopback. The crawls start from
the home page of every host. Both orders use the same spider, which follows every link, and Scrapy's default settings of
concurrency, retries and redirects. Every request counts, failures as well. The generator of the web says which of the
requested pages are relevant, so no crawler judges itself.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import mean

from motherlode.policies import target_from
from motherlode.sim.synthetic.adapter import SyntheticSimWeb
from motherlode.sim.synthetic.server_process import WebServer
from results import record, table

SPIDER = Path(__file__).parent / "peers" / "scrapy_focus.py"
PAGES = 6000
FIRST_SEED = 9101
TARGETS = ("any", "microdata", "jsonld")
ORDERS = ("breadth-first", "default", "motherlode")
GOAL = 2.2
"""Times as many relevant pages as in breadth-first order, for the first target, in the mean of the webs."""


def requested(server: WebServer, order: str, target: str, requests: int) -> list[str]:
    """Return the URLs that a crawl requests, in order."""
    web = server.web
    given = {"hosts": server.hosts, "seeds": [web.home(host) for host in web.hosts()]}
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "urls.txt"
        command = [sys.executable, str(SPIDER), order, str(out), str(requests), target]
        subprocess.run(command, input=json.dumps(given).encode(), check=True)
        return out.read_text().split()


def relevant_pages(web: SyntheticSimWeb, urls: list[str]) -> int:
    """Return how many different relevant pages are among the URLs."""
    return sum(web.page(url).relevant for url in set(urls))


def measure(target: str, *, webs: int, requests: int) -> dict[str, list[int]]:
    """Return the number of relevant pages on each web, by order."""
    found: dict[str, list[int]] = {order: [] for order in ORDERS}
    for seed in range(FIRST_SEED, FIRST_SEED + webs):
        web = SyntheticSimWeb(pages=PAGES, seed=seed, target=target_from(target))
        with WebServer(pages=PAGES, seed=seed) as server:
            for order in ORDERS:
                urls = requested(server, order, target, requests)
                if len(urls) != requests:
                    raise ValueError(f"the crawl of web {seed} in the order {order} made only {len(urls)} requests")
                found[order].append(relevant_pages(web, urls))
        print(f"{target}, web {seed}: { ({order: counts[-1] for order, counts in found.items()}) }", flush=True)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--webs", type=int, default=5)
    parser.add_argument("--requests", type=int, default=1000)
    options = parser.parse_args()
    rows, ratios = [], []
    for target in TARGETS:
        found = measure(target, webs=options.webs, requests=options.requests)
        means = {order: mean(counts) for order, counts in found.items()}
        ratio = mean(
            ours / max(1, theirs) for ours, theirs in zip(found["motherlode"], found["breadth-first"], strict=True)
        )
        ratios.append(ratio)
        rows.append([f"`{target}`", *(f"{means[order]:.0f}" for order in ORDERS), f"{ratio:.1f}"])
    reached = "reached" if ratios[0] >= GOAL else "missed"
    head = ("target", "breadth-first", "Scrapy's default order", "our scheduler", "times breadth-first")
    text = (
        f"## Scrapy with our scheduler\n\nRelevant pages among {options.requests:,} requests of one spider, failures "
        f"included; mean of {options.webs} synthetic webs of {PAGES:,} pages, from the home page of every host. "
        f"Breadth-first: DEPTH_PRIORITY = 1 and FIFO queues. Goal {GOAL} times for `{TARGETS[0]}`: {reached}.\n\n"
        + table(head, rows)
    )
    record("scrapy", text)
    print(text)
    return int(ratios[0] < GOAL)


if __name__ == "__main__":
    sys.exit(main())
