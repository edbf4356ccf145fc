"""Test in a real browser: the dashboard of a live crawl moves, shows the end, and looks right in all widths."""

from __future__ import annotations

import base64
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from motherlode.crawler import Job
from motherlode.crawler.config.job_file import job_to_toml
from motherlode.serve.pages import PARTS
from motherlode.sim.synthetic.server_process import WebServer
from tests.serve.browser import Tab, browser

PAGES = 2000
"""More than the crawl can fetch while the dashboard is watched: only the new budget ends it."""
DELAY = 2.0
"""Seconds between two requests to one of the 48 hosts. The crawl fetches at most 24 pages per second, so it would last
80 seconds on any machine. The types, which change last, are counted every 20 seconds."""
FETCHED = r"Fetched ([\d,]+)"
SCREENS = [(width, scheme) for width in (360, 768, 1400) for scheme in ("light", "dark")]
SHOWN = """
Object.fromEntries([...document.querySelectorAll("[data-part]")].map(part => [part.dataset.part, part.innerText]))
"""
BROKEN_WORDS = """
[...document.querySelectorAll("th, dt, dd.value, td")].filter(element => {
  const range = document.createRange();
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    for (const word of node.data.matchAll(/[A-Za-z]{2,}|[0-9][0-9.,]*/g)) {
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      if (new Set([...range.getClientRects()].map(box => Math.round(box.top))).size > 1) return true;
    }
  }
  return false;
}).map(element => element.textContent)
"""


class LiveCrawl:
    """A crawl of the demo web with `--serve`, at a terminal."""

    def __init__(self, process: subprocess.Popen[bytes], terminal: int) -> None:
        self.process = process
        self._terminal = terminal
        self._text = ""
        self._changed = threading.Condition()
        self._is_closed = False
        threading.Thread(target=self._read, daemon=True).start()  # a full terminal would stop the crawl
        self.address = self.wait_for(r"(http://127\.0\.0\.1:\d+)/ shows")[1]

    def _read(self) -> None:
        data = b"-"
        while data:
            try:
                data = os.read(self._terminal, 10_000)
            except OSError:
                data = b""
            with self._changed:
                self._text += " ".join(data.decode(errors="replace").split()) + " "
                self._is_closed = not data
                self._changed.notify_all()

    def wait_for(self, pattern: str) -> re.Match[str]:
        """Wait until the pattern is on the terminal."""
        with self._changed:
            found = self._changed.wait_for(lambda: self._is_closed or re.search(pattern, self._text), timeout=150)
            match = re.search(pattern, self._text)
            assert match is not None, f"the crawl {'ended' if found else 'goes on'}: {self._text}"
            return match


@contextmanager
def crawling(folder: Path) -> Iterator[LiveCrawl]:
    """Crawl the demo web, slowly enough to be watched, on a terminal of its own."""
    with WebServer(pages=3000, seed=1, port=0) as web:
        hosts = {name: f"{address}:{port}" for name, (address, port) in web.hosts.items()}
        missing = [f"{seed}missing-{number}" for number in range(20) for seed in web.seeds[:3]]  # they fail one by one
        sources = tuple({"name": f"Source {seed}", "seeds": [seed]} for seed in web.seeds)
        job = Job(
            seeds=missing,
            sources=sources,
            pages=PAGES,
            delay=DELAY,
            allow=("127.0.0.0/8",),
            hosts=hosts,
            retry_wait=0.05,
        )
        (folder / "job.toml").write_text(job_to_toml(job))
        terminal, inner = os.openpty()
        command = [sys.executable, "-m", "motherlode", "crawl", "--config", str(folder / "job.toml"), "--serve", "0"]
        process = subprocess.Popen([*command, "-o", str(folder / "out")], stderr=inner, stdout=subprocess.DEVNULL)
        os.close(inner)
        try:
            yield LiveCrawl(process, terminal)
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
            process.wait(timeout=120)
            os.close(terminal)


def wait_until(tab: Tab, condition: Callable[[dict[str, str]], bool]) -> dict[str, str]:
    """Return the shown parts as soon as they satisfy a condition."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        shown: dict[str, str] = tab.evaluate(SHOWN)
        if condition(shown):
            return shown
        tab.evaluate("new Promise(done => setTimeout(done, 100))")
    pytest.fail(f"the dashboard does not show it: {json.dumps(shown)}")


def wait_for_updates(tab: Tab, count: int) -> dict[str, str]:
    """Return what is shown after the time of the crawl has changed `count` times."""
    shown: dict[str, str] = tab.evaluate(SHOWN)
    for _ in range(count):
        time_shown = elapsed(shown)
        shown = wait_until(tab, lambda now, before=time_shown: elapsed(now) != before)
    return shown


def elapsed(shown: dict[str, str]) -> str:
    """Return the time of the crawl in the figures."""
    found = re.search(r"Time (.+?) [\d.,]+ pages per", " ".join(shown["figures"].split()))
    assert found, shown["figures"]
    return found[1]


def number(pattern: str, text: str) -> int:
    found = re.search(pattern, " ".join(text.split()))
    return int(found[1].replace(",", "")) if found else 0


def capture(tab: Tab, width: int, scheme: str, target: Path) -> None:
    """Save a screenshot of the whole page."""
    metrics: dict[str, Any] = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    tab.call("Emulation.setDeviceMetricsOverride", **metrics)
    tab.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    tab.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    height = tab.evaluate("document.documentElement.scrollHeight")
    clip = {"x": 0, "y": 0, "width": width, "height": min(height, 6000), "scale": 1}
    data = tab.call("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)["data"]
    target.write_bytes(base64.b64decode(data))


def use_controls(tab: Tab, crawl: LiveCrawl) -> int:
    """Pause, resume, and change the budget by the forms of the page. Return the new budget."""
    tab.load(crawl.wait_for(r"with controls: (http://127\.0\.0\.1:\d+/\?token=\S+)")[1])
    act(tab, "pause")
    wait_until(tab, lambda shown: "paused" in shown["status"] and "is_paused=True" in shown["log"])
    wait_for_updates(tab, 2)  # what is shown was saved after the crawl followed the wish
    wait_until(tab, lambda shown: number(r"in flight (\d+)", shown["now"]) == 0)
    fetched = number(FETCHED, wait_for_updates(tab, 2)["figures"])  # with the visits that were in flight
    act(tab, "budget", str(fetched + 20))
    wait_until(tab, lambda shown: f"of {fetched + 20:,} pages" in shown["figures"])
    later = wait_for_updates(tab, 2)
    assert number(FETCHED, later["figures"]) == fetched, "nothing starts in a pause"
    act(tab, "resume")
    wait_until(tab, lambda shown: "paused" not in shown["status"])
    return fetched + 20


def act(tab: Tab, action: str, value: str = "") -> None:
    """Submit a form of the controls, and wait for the page that follows."""
    tab.events.clear()
    form = f"document.querySelector('#controls [value={action}]').form"
    tab.evaluate(f"const form = {form}; if ('{value}') form.elements.value.value = '{value}'; form.requestSubmit(); 0")
    while not any(event.get("method") == "Page.loadEventFired" for event in tab.events):
        tab.call("Runtime.enable")


def test_dashboard_of_live_crawl_moves_and_shows_end(tmp_path: Path) -> None:
    screenshots = Path(os.environ.get("SCREENSHOTS", str(tmp_path)))
    with browser(tmp_path / "chromium") as tab, crawling(tmp_path) as crawl:
        tab.load(f"{crawl.address}/")
        first = wait_until(tab, lambda shown: number(FETCHED, shown["figures"]) > 0)
        assert set(first) == set(PARTS)
        assert "running" in first["status"]
        for name in PARTS:
            wait_until(tab, lambda shown, name=name: name == "status" or shown[name] != first[name])
        budget = use_controls(tab, crawl)
        crawl.wait_for("the crawl has ended; the server still shows it")
        last = wait_until(tab, lambda shown: "ended, " in shown["status"])
        assert re.search(r"ended, \d\d:\d\d", last["status"])
        assert number(FETCHED, last["figures"]) == budget
        assert number(r"in flight (\d+)", last["now"]) == 0
        assert "bfs (estimate)" in tab.evaluate("document.querySelector('[data-part=harvest]').textContent")
        assert not tab.problems()
        for width, scheme in SCREENS:
            capture(tab, width, scheme, screenshots / f"dashboard-{width}-{scheme}.png")
            assert tab.evaluate("document.documentElement.scrollWidth") <= width, width
            assert tab.evaluate(BROKEN_WORDS) == [], width
        tab.evaluate("document.querySelector('[data-part=hosts] a').click(); 0")
        wait_until(tab, lambda shown: not shown)
        assert tab.evaluate("document.querySelectorAll('table.pages tbody tr').length") > 0
        crawl.process.send_signal(signal.SIGINT)
        assert crawl.process.wait(timeout=120) == 0
