"""Crawls whose network fails and comes back. `outage_web` runs them in a network namespace.

The times are for a retry wait of 0.3 s. The default is 15 s, with which all times are fifty times as long.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

DELAY = 0.1


def crawled(folder: Path, events: list[tuple[float, str]], **script: object) -> dict[str, Any]:
    """Run a crawl with events. Return its output, or an empty dictionary if it was killed."""
    command = ["unshare", "--net", sys.executable, "-m", "tests.crawler.outage_web", str(folder)]
    told = json.dumps({"events": events, **script}) + "\n"
    ended = subprocess.run(command, input=told, capture_output=True, text=True, timeout=120, check=False)
    if "unshare failed" in ended.stderr:
        if os.environ.get("CI") == "true" and os.geteuid() == 0:
            pytest.fail(ended.stderr)
        pytest.skip(f"no network of our own can be made here: {ended.stderr.strip()}")
    assert "Traceback" not in ended.stderr, ended.stderr
    found: dict[str, Any] = json.loads(ended.stdout) if ended.stdout else {}
    return found


def between(found: dict[str, Any], start: float, end: float) -> list[str]:
    """Return the requests between two times, in seconds since the start."""
    return [f"{host}{path}" for at, host, path in found["log"] if start <= at - found["began"] < end]


def check_gaps(found: dict[str, Any]) -> None:
    for name in found["hosts"]:
        times = [at for at, host, _ in found["log"] if host == name]
        assert all(after - before >= DELAY - 0.001 for before, after in pairwise(times)), name


def test_crawl_waits_during_an_outage_and_loses_no_page(tmp_path: Path) -> None:
    found = crawled(tmp_path / "crawl", [(3.0, "down"), (12.0, "up"), (17.0, "stop")])
    stats = found["stats"]
    assert (stats["outages"], stats["failures"], stats["refused"]) == (1, {}, {})
    assert 6.0 < stats["outage_seconds"] < 12.0
    assert stats["problems"] == {"network: no host responded, and the crawl waited": 1}
    assert stats["no_network_since"] is None
    assert set(found["hosts"].values()) == {0}, "no failure is counted for a host"
    assert all(failure is None for _, failure in found["visits"])
    assert len({url for url, _ in found["visits"]}) == len(found["visits"])
    back = between(found, 12.0, 17.5)
    assert len(back) > 20, "the crawl continues without intervention"
    assert back[0].endswith("/robots.txt"), "the first response ends the outage"
    check_gaps(found)


def test_kill_and_resume_during_an_outage_lose_no_page(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    assert crawled(folder, [(2.0, "down"), (7.0, "kill")]) == {}
    found = crawled(folder, [(0.0, "down"), (8.0, "up"), (13.0, "stop")], resume=True)
    stats = found["stats"]
    assert stats["outages"] == 2
    assert stats["failures"] == {}
    assert set(found["hosts"].values()) == {0}
    assert len(between(found, 8.0, 13.5)) > 20
    check_gaps(found)


@pytest.mark.parametrize("how", ["time", "stop"])
def test_time_limit_and_interrupt_end_a_crawl_during_an_outage(tmp_path: Path, how: str) -> None:
    events = [(2.0, "down")] if how == "time" else [(2.0, "down"), (6.0, "stop")]
    found = crawled(tmp_path / "crawl", events, seconds=6.0 if how == "time" else None)
    assert found["seconds"] < 16.0, "ten seconds after the limit or the interrupt at the latest"
    stats = found["stats"]
    assert stats["failures"] == {}
    assert stats["no_network_since"] is not None
    assert stats["estimated_left"]["waiting_urls"] > 0, "requests in flight are waiting again"


def test_dead_hosts_fail_while_other_hosts_respond(tmp_path: Path) -> None:
    found = crawled(tmp_path / "crawl", [], dead=5, options={"pages_per_host": 20})
    stats = found["stats"]
    assert (stats["outages"], stats["failures"]) == (0, {"connect": 15})
    assert sum(failure is None for _, failure in found["visits"]) == 4 * 20
    asked = [path for _, _, path in found["log"]].count("/robots.txt")
    assert asked <= 4 + 6, "four for robots.txt rules, and a few as network probes"
    check_gaps(found)


def test_crawl_of_only_dead_hosts_ends_with_connect_failures(tmp_path: Path) -> None:
    found = crawled(tmp_path / "crawl", [], hosts=0, dead=4)
    assert found["stats"]["failures"] == {"connect": 12}
    assert 12.0 < found["seconds"] < 40.0


def test_failure_of_the_only_host_is_not_an_outage(tmp_path: Path) -> None:
    found = crawled(tmp_path / "crawl", [(1.5, "down")], hosts=1, retry_wait=0.05)
    stats = found["stats"]
    assert stats["outages"] == 0
    assert stats["failures"]["timeout"] == found["hosts"]["h0.example"] == 9
