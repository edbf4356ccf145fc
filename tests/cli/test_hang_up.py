"""A crawl whose terminal is closed ends as after Ctrl-C."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import threading
from pathlib import Path

from motherlode.crawler import CrawlFolder, Job, read_stats
from motherlode.crawler.config.job_file import job_to_toml
from tests.crawler.logged_web import LoggedWeb

_OWN_TERMINAL = """
import fcntl, os, sys, termios
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.executable, [sys.executable, "-m", "motherlode", *sys.argv[1:]])
"""


def test_crawl_ends_cleanly_if_its_terminal_is_closed(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with LoggedWeb(hosts=2, pages=400) as web:
        web.latency = 0.02
        job = Job(seeds=web.seeds(), hosts=web.table(), allow=("127.0.0.0/8",), delay=0.0, per_host=1, workers=1)
        config = tmp_path / "job.toml"
        config.write_text(job_to_toml(job))
        master, slave = pty.openpty()
        command = [sys.executable, "-c", _OWN_TERMINAL, "crawl", "--config", str(config), "-o", str(out)]
        crawl = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, close_fds=True)
        os.close(slave)
        _read_until(master, b"pages", crawl)
        os.close(master)
        code = crawl.wait(timeout=120)
    assert code == 0
    stats = read_stats(CrawlFolder(out))
    assert 0 < stats.totals.fetched < 800
    assert (out / "report.html").exists(), "the crawl ended cleanly"


def _read_until(master: int, word: bytes, crawl: subprocess.Popen[bytes]) -> None:
    """Read the output of the terminal up to a word. End the crawl if the word does not appear."""
    alarm = threading.Timer(120, crawl.kill)
    alarm.start()
    seen = b""
    try:
        while word not in seen:
            seen += os.read(master, 4096)
    finally:
        alarm.cancel()
