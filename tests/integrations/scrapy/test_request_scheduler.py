import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.integrations.scrapy.loopback_site import PRODUCT, Site, page, serve

SPIDER = Path(__file__).with_name("spider_process.py")
ATTRIBUTES = {
    "/moved": (302, {"Location": "/target"}, ""),
    "/gone": (404, {}, "gone"),
}


def command(name: str, url: str, settings: Mapping[str, Any]) -> list[str]:
    return [sys.executable, str(SPIDER), name, url, json.dumps(settings)]


def crawl(name: str, url: str, **settings: Any) -> tuple[list[dict[str, Any]], str]:
    """Return what the callbacks printed, and the log."""
    done = subprocess.run(command(name, url, settings), capture_output=True, text=True, timeout=120, check=False)
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def attributes(path: str, before: int) -> tuple[int, Mapping[str, str], str]:
    if path == "/flaky" and before < 2:
        return 503, {}, "try again"
    return ATTRIBUTES.get(path, (200, {}, page()))


def test_scheduler_without_middleware_refuses_to_start_with_a_sentence() -> None:
    with serve(lambda path, before: (200, {}, page())) as site:
        _, log = crawl("test", site.url, ADDONS={}, SCHEDULER="motherlode.integrations.scrapy.MotherlodeScheduler")
        assert site.paths == []
    assert "MotherlodeScheduler cannot learn without its spider middleware: add" in log
    assert "Traceback" not in log


@pytest.mark.parametrize(
    ("setting", "value", "sentence"),
    [
        ("POLICY", "motherload", "unknown policy 'motherload' (did you mean motherlode?)"),
        ("TARGET", "microdta", "unknown target 'microdta' (did you mean microdata?)"),
        ("REWARD", "statments", "unknown reward 'statments' (did you mean statements?)"),
    ],
)
def test_setting_with_wrong_value_refuses_to_start_with_a_sentence(setting: str, value: str, sentence: str) -> None:
    with serve(lambda path, before: (200, {}, page())) as site:
        _, log = crawl("test", site.url, **{f"MOTHERLODE_{setting}": value})
        assert site.paths == []
    assert sentence in log
    assert "Traceback" not in log


@pytest.mark.parametrize("durable", [False, True])
def test_attributes_of_requests_survive(tmp_path: Path, *, durable: bool) -> None:
    settings = {"JOBDIR": str(tmp_path)} if durable else {}
    with serve(attributes) as site:
        told, log = crawl("attributes", site.url, RETRY_TIMES=2, CONCURRENT_REQUESTS=1, **settings)
    assert "Traceback" not in log
    parts = {line["part"]: line for line in told if "part" in line}
    assert parts.keys() == {"low", "normal", "high", "repeated", "filtered", "flaky", "moved", "form", "closure"}
    assert parts["moved"]["url"].endswith("/target")
    assert [line for line in told if "failed" in line] == [{"failed": 404, "mine": "kept"}]
    counts = {path: site.paths.count(path) for path in set(site.paths)}
    assert counts["/repeated"] == 2
    assert counts["/filtered"] == 1
    assert counts["/flaky"] == 3
    assert (parts["high"]["priority"], parts["low"]["priority"]) == (7, -5)
    assert site.paths[1] == "/high"
    assert site.paths[-1] == "/low"


def test_links_of_page_are_followed_when_the_callback_raises() -> None:
    pages = {"/": page("/a", "/b"), "/a": page()}
    with serve(lambda path, before: (200, {}, pages.get(path, page()))) as site:
        _, log = crawl("broken", site.url)
    assert "a fault in the spider" in log
    assert sorted(site.paths) == ["/", "/a"]


def test_busy_slot_does_not_keep_other_hosts_waiting() -> None:
    """The first page of one host is sent only when the other host was requested. A queue in order would wait for it."""
    requested = threading.Event()

    def slow(path: str, before: int) -> tuple[int, Mapping[str, str], str]:
        if path == "/1":
            assert requested.wait(60)
        return 200, {}, page()

    def other(path: str, before: int) -> tuple[int, Mapping[str, str], str]:
        requested.set()
        return 200, {}, page()

    with serve(slow, "127.0.0.2") as first, serve(other, "127.0.0.3") as second:
        urls = [f"{first.url}/{n}" for n in (1, 2, 3)] + [f"{second.url}/x"]
        settings = {"CONCURRENT_REQUESTS": 2, "CONCURRENT_REQUESTS_PER_DOMAIN": 1, "DOWNLOAD_TIMEOUT": 90}
        told, _ = crawl("two-hosts", json.dumps(urls), MOTHERLODE_POLICY="bfs", **settings)
        assert second.paths == ["/x"]
        assert sorted(first.paths) == ["/1", "/2", "/3"]
    assert {visit["url"] for visit in told} == set(urls)  # a page that waited in vain would be missing


def test_delay_of_slot_is_over_before_its_next_request_is_picked() -> None:
    with serve(lambda path, before: (200, {}, page("/1", "/2", "/3"))) as site:
        told, log = crawl("test", site.url, DOWNLOAD_DELAY=0.05, LOG_LEVEL="INFO")
    assert len(told) == 4
    assert "finish_reason': 'finished'" in log


SITE_PAGES = 60


def numbered(path: str, before: int) -> tuple[int, Mapping[str, str], str]:
    """A site of numbered pages, each with links to the next ten."""
    number = int(path[1:] or 0)
    return 200, {}, page(*(f"/{n}" for n in range(number + 1, min(number + 11, SITE_PAGES))), data=PRODUCT)


class Gate:
    """A site that answers only a number of requests, and holds the others until the limit is raised."""

    def __init__(self) -> None:
        self.answered, self.limit = 0, 0
        self.changed = threading.Condition()

    def raise_limit(self, limit: int) -> None:
        with self.changed:
            self.limit = limit
            self.changed.notify_all()

    def respond(self, path: str, before: int) -> tuple[int, Mapping[str, str], str]:
        with self.changed:
            assert self.changed.wait_for(lambda: self.answered < self.limit, 120)
            self.answered += 1
        return numbered(path, before)


def test_killed_crawl_goes_on_with_job_folder_without_loss(tmp_path: Path) -> None:
    settings = {"JOBDIR": str(tmp_path), "CONCURRENT_REQUESTS": 2, "MOTHERLODE_SAVE_SECONDS": 0, "LOG_LEVEL": "ERROR"}
    gate = Gate()
    with serve(gate.respond) as site:
        for limit in (20, 40):
            gate.raise_limit(limit)
            kill_when_held(site, settings, limit)
        gate.raise_limit(10 * SITE_PAGES)
        told, log = crawl("test", site.url, **settings)
    assert not log
    assert len(told) >= SITE_PAGES - 40, "the last run had nothing left to do"
    assert {f"/{n}" for n in range(1, SITE_PAGES)} <= set(site.paths)
    repeated = len(site.paths) - len(set(site.paths))
    assert repeated <= 12, "pages that were saved were requested again"  # two in flight and two unsaved, and the seed


def kill_when_held(site: Site, settings: Mapping[str, Any], answered: int) -> None:
    """Start a crawl, and kill it when the site has answered `answered` requests and holds the next one."""
    process = subprocess.Popen(command("test", site.url, settings), stdout=subprocess.DEVNULL)
    site.wait_for(lambda paths: len(paths) > answered)
    os.kill(process.pid, signal.SIGKILL)
    process.wait(timeout=60)


def test_ended_crawl_has_nothing_to_do_with_the_same_job_folder(tmp_path: Path) -> None:
    with serve(numbered) as site:
        first, _ = crawl("test", site.url, JOBDIR=str(tmp_path))
        again, _ = crawl("test", site.url, JOBDIR=str(tmp_path))
    assert len(first) == SITE_PAGES
    assert [line["url"] for line in again] in ([], [site.url + "/"], [site.url])


def test_job_folder_in_use_refuses_to_start_with_a_sentence(tmp_path: Path) -> None:
    from motherlode.integrations.selector import LinkSelector

    selector = LinkSelector(folder=tmp_path / "motherlode")
    with serve(numbered) as site:
        _, log = crawl("test", site.url, JOBDIR=str(tmp_path))
        assert site.paths == []
    selector.close()
    assert "is in use by another process" in log
