"""An unexpected exception in one URL becomes its failure, and the crawl goes on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from motherlode.crawler import CrawlFolder, Job
from motherlode.crawler.engine.factory import Assembled, assemble
from motherlode.model import FailureKind, Request, RequestKind, Visit
from motherlode.policies import Reward
from tests.crawler.small_web import HOME, small_web

BreakPart = Callable[[Assembled, Callable[[str], bool]], None]


def raises(call: Callable[..., Any], *, at: Callable[..., bool]) -> Callable[..., Any]:
    """Return a function that raises for some arguments, and calls another for the rest."""

    def wrapped(*arguments: Any, **named: Any) -> Any:
        if at(*arguments):
            raise LookupError("a bug in this part")
        return call(*arguments, **named)

    return wrapped


def break_policy(made: Assembled, is_bad: Callable[[str], bool]) -> None:
    made.policy.learn = raises(made.policy.learn, at=lambda outcome: is_bad(outcome.url))  # type: ignore[method-assign]


def break_reward(made: Assembled, is_bad: Callable[[str], bool]) -> None:
    class BrokenReward(Reward):
        __call__ = raises(Reward.__call__, at=lambda _, outcome: is_bad(outcome.url))

    made.engine._parts.reward.__class__ = BrokenReward


def break_fetcher(made: Assembled, is_bad: Callable[[str], bool]) -> None:
    fetcher: Any = made.engine._parts.fetcher

    def at(request: Request) -> bool:
        return request.kind is RequestKind.PAGE and is_bad(request.url)

    fetcher.fetch = raises(fetcher.fetch, at=at)


async def crawl_with(
    folder: CrawlFolder, job: Job, break_part: BreakPart, is_bad: Callable[[str], bool]
) -> tuple[Assembled, list[Visit]]:
    made = assemble(job, folder)
    break_part(made, is_bad)
    try:
        return made, [visit async for visit in made.engine.visits(made.seeds)]
    finally:
        folder.unlock()


@pytest.mark.parametrize("break_part", [break_policy, break_reward, break_fetcher])
async def test_exception_at_one_url_is_its_failure_and_the_crawl_ends_normally(
    tmp_path: Path, break_part: BreakPart
) -> None:
    web = small_web(tmp_path / "web.warc.gz", items=4, plain=2)
    job = Job(seeds=(HOME,), web=str(web), delay=0.0, workers=1, words=False, policy="bfs")
    folder = CrawlFolder(tmp_path / "out")
    folder.create(job)
    bad = next(url for url in await urls_of(tmp_path, job) if "item" in url)
    made, visits = await crawl_with(folder, job, break_part, lambda url: url == bad)
    (failed,) = [visit for visit in visits if visit.failure is FailureKind.INTERNAL]
    assert failed.url == bad
    assert failed.detail == "LookupError: a bug in this part"
    assert len(visits) > 5
    assert made.engine._slots.in_use == 0
    assert made.frontier.exhausted
    assert "LookupError: a bug in this part" in folder.log.read_text()


async def urls_of(tmp_path: Path, job: Job) -> list[str]:
    folder = CrawlFolder(tmp_path / "before")
    folder.create(job)
    made = assemble(job, folder)
    try:
        return [visit.url async for visit in made.engine.visits(made.seeds) if visit.relevant]
    finally:
        folder.unlock()


async def test_exception_at_every_url_ends_the_crawl(tmp_path: Path) -> None:
    web = small_web(tmp_path / "web.warc.gz", items=80, plain=20)
    job = Job(seeds=(HOME,), web=str(web), delay=0.0, workers=1, words=False, policy="bfs")
    folder = CrawlFolder(tmp_path / "out")
    folder.create(job)
    with pytest.raises(RuntimeError, match=r"internal error: 50 URLs in a row failed; see crawl\.log"):
        await crawl_with(folder, job, break_policy, lambda url: url != HOME)
