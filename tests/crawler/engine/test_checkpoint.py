"""Checkpoints: often while they are cheap, seldom where they take long, and whole at the end."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import cast

from motherlode.crawler import Counters, CrawlFolder, Job
from motherlode.crawler.engine.checkpoint import MAX_SECONDS, MIN_SECONDS, Checkpointer
from motherlode.crawler.engine.components import close_components
from motherlode.crawler.engine.factory import assemble
from motherlode.crawler.engine.limits import EarlyStop
from motherlode.crawler.stats.counters import Estimator
from motherlode.frontier import LmdbStorage
from motherlode.index.crawl_store import BatchWriter
from tests.crawler.small_web import HOME, crawled, small_web


class Clock:
    """A clock whose time only the test changes."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Flushing:
    """A writer whose `flush` only advances the clock by some seconds."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock, self.seconds, self.flushes = clock, seconds, 0

    async def flush(self) -> None:
        self.flushes += 1
        self._clock.now += self.seconds


async def flushes_in(folder: Path, web: Path, *, each_takes: float, seconds: float) -> int:
    """Return the number of checkpoints in `seconds` of a crawl whose checkpointer is called all the time."""
    job = Job(seeds=(HOME,), web=str(web), workers=1, words=False)
    made = CrawlFolder(folder)
    made.create(job)
    assembled = assemble(job, made)
    clock = Clock()
    writer = Flushing(clock, each_takes)
    parts = replace(assembled.engine._parts, writer=cast(BatchWriter, writer))
    checkpoints = Checkpointer(parts, Counters(), Estimator(), EarlyStop(after=None, below=0.0), clock=clock)
    end = clock.now + seconds
    while clock.now < end:
        clock.now += 0.05
        await checkpoints.save_if_due()
    save_final = assembled.engine._checkpointer.save_final
    await close_components(assembled.engine._parts, save_final, is_broken=False)
    made.unlock()
    return writer.flushes


async def test_checkpoints_are_frequent_while_they_are_cheap(tmp_path: Path) -> None:
    web = small_web(tmp_path / "web.warc.gz")
    cheap = await flushes_in(tmp_path / "cheap", web, each_takes=0.001, seconds=30)
    assert 25 / MIN_SECONDS <= cheap <= 30 / MIN_SECONDS


async def test_checkpoints_that_take_long_are_seldom(tmp_path: Path) -> None:
    web = small_web(tmp_path / "web.warc.gz")
    dear = await flushes_in(tmp_path / "dear", web, each_takes=1.0, seconds=60)
    assert 60 / (MAX_SECONDS + 1.1) - 1 <= dear <= 60 / MAX_SECONDS + 1


def test_the_last_checkpoint_holds_everything(tmp_path: Path) -> None:
    folder, totals = crawled(tmp_path / "crawl", small_web(tmp_path / "web.warc.gz"), policy="bandit:success-rate")
    storage = LmdbStorage(folder.frontier, read_only=True)
    assert totals.fetched > 20
    assert sum(1 for _ in storage.visits()) == totals.fetched
    assert all(storage.note(name) for name in ("totals", "policy", "traps", "tallies", "estimate"))
    storage.close()
