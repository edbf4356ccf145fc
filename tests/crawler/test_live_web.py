"""A crawl of an internet in a box: real look-ups, real TLS, latency, loss and faults, audited by the servers' log."""

from __future__ import annotations

import subprocess
import sys
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from tools.box import BoxHost, BoxPlan, Fault
from tools.box.web import LoggedRequest

from tests.live_box import crawling, pages_of, running_box

DELAY = 1.0
ROUNDING_SECONDS = 0.002
"""The log of the servers has milliseconds."""
PLAN = BoxPlan(
    hosts=40,
    pages=3,
    round_trip=0.02,
    jitter=0.004,
    loss=0.01,
    look_up=0.1,
    slow=0.6,
    faults={
        Fault.DEAD_NAME: 0.05,
        Fault.DEAD_ADDRESS: 0.05,
        Fault.HALF_DEAD: 0.1,
        Fault.SLOW_NAME: 0.05,
        Fault.SLOW_SERVER: 0.05,
        Fault.SHARED: 0.1,
        Fault.RESETS: 0.05,
    },
)


class Crawled(NamedTuple):
    """Results of a crawl of the box."""

    hosts: list[BoxHost]
    requests: list[LoggedRequest]
    failures: set[str]
    """Hosts with failures."""
    stats: dict[str, Any]
    folder: Path


def test_crawl_of_box_is_polite_and_blames_only_dead_hosts(tmp_path: Path) -> None:
    """One crawl for all checks, because it takes longer than they do."""
    with running_box(PLAN, tmp_path / "box") as box, crawling(box, tmp_path / "crawl", delay=DELAY, warc=True) as crawl:
        broken = {host.name for host in box.hosts if host.fault is Fault.RESETS}
        crawl.wait_for_pages(pages_of(box, unless=broken.__contains__))
        crawl.stop()
        found = Crawled(box.hosts, box.requests(), set(crawl.failures()), crawl.stats(), crawl.folder)
    check_delays_of_hosts(found)
    check_delays_of_shared_addresses(found)
    check_robots_txt(found)
    check_blame(found)
    check_warc_files(found)


def check_delays_of_hosts(crawled: Crawled) -> None:
    by_host = defaultdict(list)
    for request in crawled.requests:
        by_host[request.host].append(request)
    resets = {host.name for host in crawled.hosts if host.fault is Fault.RESETS}
    for host, requests in by_host.items():
        pairs = list(pairwise(requests))
        if host in resets:  # a request on a kept connection that was reset is sent once more on a new one
            pairs = [(before, after) for before, after in pairs if before.path != after.path]
        gaps = [after.began - before.ended for before, after in pairs]
        assert all(gap >= DELAY - ROUNDING_SECONDS for gap in gaps), (host, gaps)


def check_delays_of_shared_addresses(crawled: Crawled) -> None:
    by_address = defaultdict(list)
    for request in crawled.requests:
        by_address[request.address].append(request)
    shared = [found for found in by_address.values() if len({one.host for one in found}) > 1]
    assert len(shared) == 2, "four hosts share two addresses"
    for requests in shared:
        gaps = [after.began - before.ended for before, after in pairwise(requests)]
        assert all(gap >= DELAY / 2 - ROUNDING_SECONDS for gap in gaps), gaps


def check_robots_txt(crawled: Crawled) -> None:
    first: dict[str, str] = {}
    for request in crawled.requests:
        first.setdefault(request.host, request.path)
    assert set(first.values()) == {"/robots.txt"}
    assert not [request for request in crawled.requests if request.path.startswith("/private")]
    resets = {host.name for host in crawled.hosts if host.fault is Fault.RESETS}
    sent = [request for request in crawled.requests if request.status == 200 and request.host not in resets]
    paths = [(request.host, request.path) for request in sent]
    assert len(paths) == len(set(paths)), "no page is fetched twice, unless its connection was reset"


def check_blame(crawled: Crawled) -> None:
    faulty = {host.name for host in crawled.hosts if not host.is_live or host.fault is Fault.RESETS}
    assert crawled.failures <= faulty
    assert {host.name for host in crawled.hosts if host.fault is Fault.DEAD_NAME} <= crawled.failures
    assert set(crawled.stats["failures"]) <= {"dns", "timeout", "connect", "reset", "tls"}


def check_warc_files(crawled: Crawled) -> None:
    files = sorted((crawled.folder / "warc").glob("*.warc.gz"))
    assert files
    for file in files:
        run_tool("warcio.cli", "check", "-v", str(file))
    lines = run_tool("cdxj_indexer.main", *map(str, files)).splitlines()
    pages = {one.host + one.path for one in crawled.requests if one.status == 200}
    assert {line.split('"url": "https://')[1].split('"')[0] for line in lines} >= pages


def run_tool(module: str, *arguments: str) -> str:
    """Run a tool of another project and return its output."""
    done = subprocess.run([sys.executable, "-m", module, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
