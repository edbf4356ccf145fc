"""A crawl that is killed fifty times has the result of an uninterrupted one and repeats almost no requests.

A host gets one request at a time, so at the moment of a kill only the last request of a host can be in flight. All
earlier requests of a run have their responses and must not be repeated. The test checks this in the log of the server.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path

import pytest

from motherlode.crawler import CrawlFolder, read_stats, read_visits
from motherlode.crawler.config.job_file import job_to_toml
from motherlode.frontier.leases import TREATMENTS
from motherlode.model import FailureKind
from tests.crawler.logged_web import CONTEXT, Line, LoggedWeb, quads_of
from tests.crawler.offspring import Offspring

KILLS = 50
HOSTS, PAGES = 30, 167
LATENCY = 0.1
SOON, LATE = 60, 360
"""Numbers of requests after which a run is killed. Most kills are before its first checkpoint."""


def pages_of(folder: Path) -> set[str]:
    return {visit.url for visit in read_visits(CrawlFolder(folder)) if visit.failure is None}


def killed_crawl(web: LoggedWeb, offspring: Offspring, command: list[str], folder: Path) -> int:
    """Kill the crawl at random moments, then run it to its end. Return how many kills found a live process."""
    chance = random.Random(5)
    hits = 0
    for left in range(KILLS, 0, -1):
        child = offspring.start(*command)
        fair = max(1, (HOSTS * PAGES - len({line.url for line in web.log})) // left)
        wanted = len(web.log) + min(chance.randrange(SOON if chance.random() < 0.7 else LATE), 4 * fair)
        deadline = time.monotonic() + chance.uniform(0.1, 30.0)  # some runs are killed before their first request
        while len(web.log) < wanted and time.monotonic() < deadline:
            time.sleep(0.002)
        time.sleep(chance.uniform(0.0, 0.02))
        os.kill(child, signal.SIGKILL)
        hits += offspring.wait() == -signal.SIGKILL
        web.begin_run()
        if CrawlFolder(folder).has_crawl:
            command = ["resume", str(folder), "--quiet"]
    offspring.start(*command)
    assert offspring.wait() == 0
    return hits


def excused(log: list[Line]) -> set[int]:
    """Return the indices of the last requests of each host in a run, which a kill may have interrupted."""
    last: dict[tuple[int, str], int] = {}
    for index, line in enumerate(log):
        last[line.run, line.host] = index
    return set(last.values())


def check_repetitions(log: list[Line]) -> None:
    cut = excused(log)
    requests: dict[str, list[int]] = defaultdict(list)
    for index, line in enumerate(log):
        requests[line.url].append(index)
    for url, indices in requests.items():
        answered = [index for index in indices[:-1] if index not in cut]
        repeated = [index for index in answered if log[index].status != 500]
        assert not repeated, (url, [log[index] for index in indices])
        if url.endswith("/bad"):
            assert len(answered) <= TREATMENTS[FailureKind.SERVER_ERROR].retries, (
                "the number of attempts is restored after a kill"
            )
        assert all(log[a].run < log[b].run for a, b in pairwise(indices) if a not in answered)


@pytest.mark.timeout(900)  # 75 seconds on two idle cores, because a parser process starts after every kill
def test_crawl_killed_fifty_times_has_the_result_of_an_uninterrupted_one(tmp_path: Path) -> None:
    alone, killed = tmp_path / "alone", tmp_path / "killed"
    with LoggedWeb(hosts=HOSTS, pages=PAGES) as web, Offspring() as offspring:
        config = tmp_path / "job.toml"
        config.write_text(job_to_toml(web.job(contexts="fetch")))
        flags = ["crawl", "--config", str(config), "--quiet", "-o"]
        offspring.start(*flags, str(alone))
        assert offspring.wait() == 0
        assert max(Counter(line.url for line in web.log if line.status != 500).values()) == 1
        web.forget()
        web.latency = LATENCY
        hits = killed_crawl(web, offspring, [*flags, str(killed)], killed)
    assert hits == KILLS, "the crawl ended before enough kills"
    assert len(pages_of(alone)) >= HOSTS * PAGES
    assert pages_of(killed) == pages_of(alone)
    assert quads_of(killed) == quads_of(alone)
    check_repetitions(web.log)
    assert any(line.url == CONTEXT for line in web.log)
    counted = read_stats(CrawlFolder(killed)).totals
    assert counted.fetched == len(list(read_visits(CrawlFolder(killed))))
    assert not [name for name in counted.problems if "journal" in name or "resume" in name]
    assert not list(CrawlFolder(killed).journal.glob("answers-*")), (
        "the journal has only unfinished requests, and there are none"
    )
    assert set(counted.failures) == {"server-error"}
