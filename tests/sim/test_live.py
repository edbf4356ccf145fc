"""One selector, two clocks: a policy picks the same URLs in the same order in a simulation and in a live crawl."""

from __future__ import annotations

from pathlib import Path

import pytest

from motherlode.crawler import CrawlFolder, Job
from motherlode.sim.runner import Trial, WebSpec, open_web, run_trial
from motherlode.sim.trace.recorder import record
from tests.crawler.served_crawl import run_job
from tests.sim.fakes import recorded_graph

PAGES = 150


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, list[str]]:
    folder = tmp_path_factory.mktemp("web")
    warc, seeds = recorded_graph(folder / "web.warc.gz", seed=5)
    record([warc], folder / "trace", workers=1, progress=lambda done, of: None)
    return warc, folder / "trace", seeds


async def live_picks(job: Job, folder: CrawlFolder) -> list[tuple[str, bool]]:
    return [(visit.url, visit.relevant) for visit in await run_job(job, folder.path)]


@pytest.mark.parametrize(
    "policy", ["bfs", "dfs", "random", "bandit:success-rate", "bandit:success-rate:0.5:20", "motherlode"]
)
async def test_policy_picks_are_equal_in_simulation_and_live_crawl(
    web: tuple[Path, Path, list[str]], tmp_path: Path, policy: str
) -> None:
    warc, trace, seeds = web
    job = Job(seeds=tuple(seeds), pages=PAGES, policy=policy, web=str(warc), delay=0, concurrency=1, workers=1, seed=7)
    live = await live_picks(job, CrawlFolder(tmp_path / "crawl"))
    spec = WebSpec(web=str(trace), dead=1.0)
    opened = open_web(spec)
    starts = tuple(opened.spelling(url) for url in seeds)
    trial = Trial(policy=policy, seed=7, pages=PAGES, seeds=starts)
    simulated = run_trial(spec, trial, keep_picks=True)
    assert simulated.picks == [url for url, _ in live]
    assert simulated.relevant == sum(relevant for _, relevant in live)
    assert len(live) == PAGES
    assert 10 < simulated.relevant < PAGES - 10
    assert simulated.failures["not-found"] > 3
    assert simulated.failures["redirect"] > 3
