"""`crawl --refresh --forever`: rounds, the budget per day, restarts and disk limits, on a real web on loopback."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path

import pytest

from motherlode.cli.crawl_forever import EndlessRefresh
from motherlode.crawler import CrawlFolder, Job
from motherlode.crawler.recrawl.forever import STATE_FILE, read_next_round
from tests.cli.endless_rounds import run_rounds
from tests.crawler.changing_web import ChangingWeb, job_file, motherlode, place_page, serving, stats


def _site() -> ChangingWeb:
    return ChangingWeb({"/": place_page("root", "/a", "/b"), "/a": place_page("a"), "/b": place_page("b")})


async def test_forever_revisits_due_pages_and_fetches_new_links(tmp_path: Path) -> None:
    out = tmp_path / "out"
    async with serving(_site()) as site:
        await motherlode("crawl", "--config", str(job_file(tmp_path / "job.toml", site)), "-o", str(out), "--quiet")
        site.pages["/"] = place_page("root", "/a", "/b", "/new")
        site.pages["/new"] = place_page("new")
        del site.pages["/b"]
        said = await run_rounds(out)
    totals = stats(out)
    assert (totals["refreshed"], totals["unchanged"], totals["changed"], totals["gone"]) == (3, 1, 1, 1)
    assert totals["fetched"] == 3 + 3 + 1
    assert "1 new page; next round at" in said
    assert (out / "report.html").exists()


async def test_forever_spends_only_the_share_of_the_day(tmp_path: Path) -> None:
    out = tmp_path / "out"
    async with serving(_site()) as site:
        await motherlode("crawl", "--config", str(job_file(tmp_path / "job.toml", site)), "-o", str(out), "--quiet")
        await run_rounds(out, per_day=24, rounds=3)
        assert stats(out)["fetched"] == 3 + 1, "one request per hour, and all rounds are in the first hour"
        assert (out / STATE_FILE).exists()
        await run_rounds(out, per_day=24)
        assert stats(out)["fetched"] == 3 + 1, "a restart does not start a new day"


async def test_forever_ends_cleanly_on_sigterm_and_continues_after_a_kill(tmp_path: Path) -> None:
    out = tmp_path / "out"
    rounds = tmp_path / "rounds.toml"
    rounds.write_text("round_time = 1\n", encoding="utf-8")
    async with serving(_site()) as site:
        await motherlode("crawl", "--config", str(job_file(tmp_path / "job.toml", site)), "-o", str(out), "--quiet")
        command = ("-m", "motherlode", "crawl", "--refresh", "--forever", "--config", str(rounds), "-o", str(out))
        for number, code in ((signal.SIGKILL, -signal.SIGKILL), (signal.SIGTERM, 0)):
            process = await asyncio.create_subprocess_exec(
                sys.executable, *command, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE
            )
            assert process.stderr is not None
            while b"next round at" not in (line := await process.stderr.readline()):
                assert line, "the command ended too early"
            process.send_signal(number)
            await process.stderr.read()
            assert await process.wait() == code


async def test_forever_on_a_full_disk_warns_once_and_starts_no_round(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, waits = CrawlFolder(tmp_path / "out"), []
    job = Job(seeds=("http://a.example/",), max_disk=1)
    folder.create(job)

    async def wait(seconds: float) -> None:
        waits.append(seconds)
        begins.append(read_next_round(folder.path))
        if len(waits) == 3:
            rounds.stopped.set()

    begins: list[float | None] = []
    rounds = EndlessRefresh(job, folder, quiet=True, now=lambda: 100.0, wait=wait)
    await rounds.run()
    folder.unlock()
    assert waits == [60.0] * 3
    assert begins == [160.0] * 3, "the web site shows when the next round begins"
    assert read_next_round(folder.path) is None
    assert capsys.readouterr().err.count("max_disk") == 1
    assert not (tmp_path / "out" / "frontier").exists()


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (("--forever",), "use it with --refresh"),
        (("--refresh", "--forever", "--due"), "leave out --due"),
        (("--refresh", "--forever", "--pages", "5"), "--pages-per-day N is its budget"),
    ],
)
async def test_forever_with_contradicting_flags_is_refused(
    tmp_path: Path, flags: tuple[str, ...], sentence: str
) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "motherlode", "crawl", *flags, "-o", str(tmp_path / "out")),
        stderr=asyncio.subprocess.PIPE,
    )
    _, said = await process.communicate()
    assert process.returncode == 2
    assert sentence in " ".join(said.decode().split())
