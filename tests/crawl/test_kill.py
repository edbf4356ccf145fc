"""A crawl that is killed and resumed ends like one that was left alone."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.support import synthetic_warc

from motherlode.crawl import CrawlFolder, read_stats, read_visits
from motherlode.index import QuadStore

KILLS = 10


def _start(*arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-m", "motherlode", *arguments], stderr=subprocess.PIPE)


def _finish(process: subprocess.Popen[bytes]) -> None:
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors.decode()


def _pages(folder: Path) -> set[str]:
    return {visit.url for visit in read_visits(CrawlFolder(folder)) if visit.failure is None}


def _quads(folder: Path) -> set[str]:
    """All quads of a crawl but when pages were fetched and which of several referrers came first: that is chance."""
    store = QuadStore(CrawlFolder(folder).store, read_only=True)
    return {str(quad) for quad in store.quads() if not quad.predicate.value.endswith(("generatedAtTime", "referrer"))}


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("web")
    warc, homes = synthetic_warc(folder / "web.warc.gz", pages=600, seed=3)
    seeds = folder / "seeds.txt"
    seeds.write_text("\n".join(homes))
    return warc, seeds


def test_a_crawl_killed_ten_times_ends_like_one_left_alone(web: tuple[Path, Path], tmp_path: Path) -> None:
    warc, seeds = web
    alone, killed = tmp_path / "alone", tmp_path / "killed"
    flags = ["crawl", "--web", str(warc), "--seeds", str(seeds), "--delay", "0.05", "--quiet", "-o"]
    _finish(_start(*flags, str(alone)))

    chance = random.Random(5)
    command = [*flags, str(killed)]
    survived = 0
    for _ in range(KILLS):
        process = _start(*command)
        time.sleep(chance.uniform(0.8, 2.5))
        survived += process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.communicate()
        if CrawlFolder(killed).holds_a_crawl:
            command = ["resume", str(killed), "--quiet"]
    _finish(_start("resume", str(killed), "--quiet"))

    assert survived >= 3, "the crawl was over too soon for this test to say anything"
    assert _pages(killed) == _pages(alone)
    assert _quads(killed) == _quads(alone)
    assert len(_pages(alone)) > 300
    counted = read_stats(CrawlFolder(killed)).totals
    assert counted.fetched == len(list(read_visits(CrawlFolder(killed))))
