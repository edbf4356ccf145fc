"""The last messages of crawls and refreshes."""

from __future__ import annotations

from pathlib import Path

import pytest

from motherlode.cli.crawl_run import CrawlEnd, RefreshEnd, describe_failure
from motherlode.crawler import Counters, CrawlFolder, CrawlStats, Job
from motherlode.crawler.control import Control, write_control
from motherlode.crawler.stats.counters import Estimate
from tests.crawler.changing_web import ChangingWeb, Document, job_file, motherlode, serving
from tests.crawler.small_web import HOME


def stats_of(totals: Counters, *, waiting: int = 0, stopped_early: bool = False) -> CrawlStats:
    left = Estimate(urls=waiting)
    return CrawlStats(totals=totals, hosts=(), known_urls=0, refused={}, disk=0, left=left, stopped_early=stopped_early)


def end_of(stats: CrawlStats, folder: str = "out", **job: object) -> str:
    (line,) = CrawlEnd(Job(seeds=(HOME,), **job), CrawlFolder(Path(folder)))(stats)  # type: ignore[arg-type]
    return line


def test_crawl_end_names_the_reason_and_the_command_to_continue() -> None:
    totals = Counters(fetched=1_000, seconds=90.0, bytes=5_000_000)
    whole = "continues, with a budget for the whole crawl"
    assert end_of(stats_of(totals), pages=2_000) == (
        "nothing is left to fetch; `motherlode crawl --refresh -o out` visits the pages again"
    )
    assert end_of(stats_of(totals), pages=1_000) == (
        f"the budget is spent (1,000 pages); `motherlode resume out --pages N` {whole}"
    )
    assert end_of(stats_of(totals), "a b", pages=1_000, time=60.0, bytes=5_000_000) == (
        "the budget is spent (1,000 pages 1 min 0 s 5.0 MB); "
        f"`motherlode resume 'a b' --pages N --time T --bytes B` {whole}"
    )


def test_crawl_end_follows_the_wishes_of_the_web_site(tmp_path: Path) -> None:
    write_control(CrawlFolder(tmp_path), Control(pages=1_000))
    said = end_of(stats_of(Counters(fetched=1_000)), str(tmp_path), pages=2_000)
    assert said.startswith("the budget is spent (1,000 pages); ")
    write_control(CrawlFolder(tmp_path), Control(is_stopped=True))
    said = end_of(stats_of(Counters(fetched=1_000)), str(tmp_path), pages=2_000)
    assert said == f"stopped by a control of the web site; `motherlode resume {tmp_path}` continues"


def test_crawl_end_after_early_stop_names_the_command_to_continue() -> None:
    said = end_of(stats_of(Counters(fetched=50), stopped_early=True), stop_after=20, stop_below=0.1, pages=50)
    assert said == (
        "stopped early: less than 0.1 of the last 20 requests gave a relevant page; "
        "`motherlode resume out` continues for at least as many requests"
    )


def test_crawl_end_after_early_stop_by_the_policy_names_the_policy() -> None:
    said = end_of(stats_of(Counters(fetched=50), stopped_early=True), policy="sb-classifier:stop=20")
    assert said.startswith("stopped early: relevant pages have become rare for the policy sb-classifier:stop=20;")


def test_crawl_end_after_an_outage_names_its_begin() -> None:
    assert end_of(stats_of(Counters(outages=1, no_network_since=60.0), waiting=5)) == (
        "no network since 1970-01-01 00:01:00 UTC, so the crawl ended; `motherlode resume out` continues"
    )


def test_crawl_end_with_shards_proposes_a_refresh_too() -> None:
    assert end_of(stats_of(Counters()), shards=2).endswith("`motherlode crawl --refresh -o out` visits the pages again")


@pytest.mark.parametrize(
    ("budget", "left", "waiting", "said"),
    [
        (
            12,
            1,
            0,
            "the budget of this refresh is spent (2 pages); `motherlode resume {}` continues with 1 known page",
        ),
        (
            None,
            0,
            7,
            "all pages of this refresh were visited; "
            "`motherlode resume {} --pages N` continues with 7 waiting URLs of the crawl",
        ),
        (
            None,
            0,
            0,
            "all pages of this refresh were visited; nothing else is left to fetch; "
            "`motherlode crawl --refresh -o {}` visits the pages again",
        ),
    ],
)
def test_refresh_end_has_results_and_the_command_to_continue(
    tmp_path: Path, budget: int | None, left: int, waiting: int, said: str
) -> None:
    folder = CrawlFolder(tmp_path / "out")
    folder.create(Job(seeds=(HOME,), pages=10))
    folder.unlock()
    before = Counters(fetched=10, refreshed=4, unchanged=3, gone=1)
    after = stats_of(Counters(fetched=12, refreshed=6, unchanged=4, gone=1), waiting=waiting)
    job = Job(seeds=(HOME,), pages=budget)
    end = RefreshEnd(folder=folder, budget=job, before=before, stopped=False, left=left)
    assert list(end(after)) == [
        "this refresh: 2 revisits: 1 unchanged, 0 changed, 0 gone, 1 failed",
        said.format(folder.path),
    ]
    assert end.summary(after) == {"fetched": 2, "refreshed": 2, "unchanged": 1, "changed": 0, "gone": 0}


def test_refresh_end_after_a_stop_has_only_results(tmp_path: Path) -> None:
    end = RefreshEnd(folder=CrawlFolder(tmp_path), budget=Job(seeds=(HOME,)), before=Counters(), stopped=True, left=3)
    (line,) = end(stats_of(Counters(fetched=3, refreshed=1, changed=1)))
    assert line == "this refresh: 1 revisit: 0 unchanged, 1 changed, 0 gone; 2 new pages"


async def test_each_refresh_reports_its_own_revisits(tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    pages = {f"/{number}": Document(text=f"<p>{number}</p>") for number in range(3)}
    links = "".join(f'<a href="{path}">x</a>' for path in pages)
    async with serving(ChangingWeb({"/": Document(text=links), **pages})) as site:
        await motherlode("crawl", "--config", str(job_file(tmp_path / "job.toml", site)), "-o", out, "--quiet")
        for _ in range(2):
            said = await motherlode("crawl", "--refresh", "-o", out, errors=True)
            assert "this refresh: 4 revisits: 4 unchanged, 0 changed, 0 gone" in said
            assert "all pages of this refresh were visited; nothing else is left to fetch" in said
        assert "8 revisits in all" in said
        said = await motherlode("crawl", "--refresh", "-o", out, "--pages", "3", errors=True)
        assert "the budget of this refresh is spent (3 pages)" in said
        assert f"`motherlode resume {out}` continues with 1 known page" in said
        await motherlode("resume", out, "--quiet")
        assert '"this_refresh": {"fetched": 4' in await motherlode("crawl", "--refresh", "-o", out, "--json")


@pytest.mark.parametrize(
    ("error", "said", "continues"),
    [
        (OSError("the quad store could not be written: Corruption: block checksum mismatch"), "move it away", False),
        (OSError("the frontier could not be written: mdb_put: MDB_CORRUPTED: Located page"), "move it away", False),
        (OSError("No space left on device"), "make space on the disk, then `motherlode resume out` continues", True),
        (OSError("out/frontier: Cannot allocate memory"), "memory, then `motherlode resume out` continues", True),
        (OSError("the endpoint is gone."), "gone. All committed data is safe: `motherlode resume out` continues", True),
    ],
)
def test_failure_proposes_to_continue_only_if_that_works(error: OSError, said: str, *, continues: bool) -> None:
    told = describe_failure(error, CrawlFolder(Path("out")), command="resume")
    assert said in told
    assert ("continues" in told) is continues
    assert ("is damaged" in told) is not continues
