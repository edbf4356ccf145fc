"""`motherlode.crawl`: visits, early exits, locks, event loops, temporary folders and resumption."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import motherlode as ml
from motherlode.api.crawl_thread import CrawlThread
from motherlode.crawler import CrawlFolder
from tests.api.webs import HOME, loopback_shop, write_shop


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_shop(tmp_path_factory.mktemp("web") / "shop.warc.gz", pages=30)


def test_crawl_yields_every_visit_and_unlocks_the_folder(shop: Path, tmp_path: Path) -> None:
    with ml.crawl([HOME], output=tmp_path / "out", web=shop, target="type:schema:Product") as crawl:
        visits = list(crawl)
        assert crawl.totals.fetched == len(visits)
    assert sum(visit.relevant for visit in visits) == 29
    assert {visit.failure and visit.failure.value for visit in visits} == {None, "not-found"}
    assert visits[0].url == HOME
    assert visits[0].problems
    assert not CrawlFolder(tmp_path / "out").is_in_use
    assert (tmp_path / "out" / "report.html").exists()


def test_crawl_loop_left_early_stops_and_can_be_resumed(shop: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with ml.crawl([HOME], output=out, web=shop, pages=5) as crawl:
        for _ in crawl:
            break
    assert not CrawlFolder(out).is_in_use
    before = ml.open(out).stats()["fetched"]
    assert 1 <= before <= 5
    with ml.crawl(output=out, resume=True, pages=12) as crawl:
        rest = list(crawl)
    assert ml.open(out).stats()["fetched"] == before + len(rest) == 12
    assert CrawlFolder(out).read_job().pages == 12


def test_crawl_exception_in_the_body_is_raised_and_unlocks_the_folder(shop: Path, tmp_path: Path) -> None:
    with pytest.raises(KeyError, match="mine"), ml.crawl([HOME], output=tmp_path / "out", web=shop) as crawl:
        for _ in crawl:
            raise KeyError("mine")
    assert not CrawlFolder(tmp_path / "out").is_in_use
    ml.open(tmp_path / "out").stats()


def test_crawl_left_while_a_request_hangs_cancels_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CrawlThread.close, "__defaults__", (0.2,))
    options = {"allow": ["127.0.0.0/8"], "delay": 0.0, "address_delay": 0.0}
    with loopback_shop() as url:
        with ml.crawl([url + "slow", url], output=tmp_path / "out", **options) as crawl:  # type: ignore[arg-type]
            for visit in crawl:
                if visit.relevant or visit.quads:
                    break
        assert not CrawlFolder(tmp_path / "out").is_in_use
        assert ml.open(tmp_path / "out").explain(url + "slow").state != "fetched"


def test_crawl_without_output_uses_a_temporary_folder(shop: Path) -> None:
    with ml.crawl([HOME], web=shop, pages=3) as crawl:
        assert len(list(crawl)) == 3
        path = crawl.result.path
        assert crawl.result.query("SELECT ?name { ?s schema:name ?name }")
    assert not path.exists()


def test_crawl_run_returns_the_result(shop: Path, tmp_path: Path) -> None:
    assert ml.crawl([HOME], output=tmp_path / "out", web=shop, pages=4).run().stats()["fetched"] == 4
    with pytest.raises(ValueError, match="give one"):
        ml.crawl([HOME], web=shop).run()


async def test_crawl_async_iteration_leaves_the_event_loop_free(shop: Path, tmp_path: Path) -> None:
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count())
    async with ml.crawl([HOME], output=tmp_path / "out", web=shop) as crawl:
        visits = [visit async for visit in crawl]
    counting.cancel()
    assert sum(visit.quads > 0 for visit in visits) == 29
    assert turns > len(visits)


async def test_crawl_sync_iteration_works_inside_a_running_event_loop(shop: Path) -> None:
    with ml.crawl([HOME], web=shop, pages=4) as crawl:
        assert len(list(crawl)) == 4


async def test_crawl_cancelled_async_iteration_unlocks_the_folder(shop: Path, tmp_path: Path) -> None:
    started = asyncio.Event()

    async def iterate() -> None:
        async with ml.crawl([HOME], output=tmp_path / "out", web=shop) as crawl:
            async for _ in crawl:
                started.set()
                await asyncio.Event().wait()

    task = asyncio.create_task(iterate())
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not CrawlFolder(tmp_path / "out").is_in_use


def test_crawl_wrong_job_raises_job_error_and_creates_nothing(shop: Path, tmp_path: Path) -> None:
    with pytest.raises(ml.JobError, match="no seeds"), ml.crawl([], output=tmp_path / "out", web=shop):
        pass
    with pytest.raises(ml.JobError, match="unknown policy"):
        ml.crawl([HOME], output=tmp_path / "out", policy="bsf")
    with pytest.raises(TypeError, match=r"no option 'pags' \(did you mean pages\?\)"):
        ml.crawl([HOME], pags=3)  # type: ignore[call-arg]
    with pytest.raises(ml.JobError, match="seeds must be a list"):
        ml.crawl(HOME)
    assert not (tmp_path / "out").exists()


def test_crawl_folder_with_a_crawl_raises_job_error(shop: Path, tmp_path: Path) -> None:
    ml.crawl([HOME], output=tmp_path / "out", web=shop, pages=1).run()
    with pytest.raises(ml.JobError, match="has a crawl already: resume=True continues it"):
        ml.crawl([HOME], output=tmp_path / "out", web=shop, pages=1).run()


def test_crawl_not_entered_says_how_to_write_it(shop: Path) -> None:
    with pytest.raises(RuntimeError, match=r"with motherlode\.crawl"):
        next(iter(ml.crawl([HOME], web=shop)))


def test_crawl_error_of_the_engine_is_raised_in_the_loop(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr("motherlode.api.crawl_thread.assemble", fail)
    with pytest.raises(OSError, match="the disk is full"), ml.crawl([HOME], output=tmp_path / "out", web=shop) as crawl:
        list(crawl)
    assert not CrawlFolder(tmp_path / "out").is_in_use


def test_crawl_in_a_plain_script_needs_no_main_guard(shop: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        f"import motherlode as ml\nwith ml.crawl([{HOME!r}], output='out', web={str(shop)!r}, pages=5) as crawl:\n"
        "    for visit in crawl:\n        print(visit.url)\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert len(done.stdout.splitlines()) == 5
    assert done.stderr == ""


INTERRUPTED_SCRIPT = """
import sys
import motherlode as ml

try:
    with ml.crawl([sys.argv[1]], output="out", allow=["127.0.0.0/8"], delay=0.0, address_delay=0.0) as crawl:
        for visit in crawl:
            print(visit.url, flush=True)
except KeyboardInterrupt:
    print("interrupted", ml.open("out").stats()["fetched"] > 0)
"""


def test_crawl_interrupted_by_ctrl_c_saves_and_unlocks(tmp_path: Path) -> None:
    with loopback_shop() as url:
        command = [sys.executable, "-c", INTERRUPTED_SCRIPT, f"{url}p0"]
        with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            assert process.stdout.readline().strip() == f"{url}p0"
            process.send_signal(signal.SIGINT)
            rest = process.stdout.read().splitlines()
    assert process.returncode == 0
    assert rest[-1] == "interrupted True"
    assert not CrawlFolder(tmp_path / "out").is_in_use


def test_crawl_that_is_never_left_is_closed_at_exit_and_can_be_resumed(shop: Path, tmp_path: Path) -> None:
    program = (
        f"import motherlode as ml\ncrawl = ml.crawl([{HOME!r}], output='out', web={str(shop)!r}).__enter__()\n"
        "print(next(iter(crawl)).url)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert (done.stdout.strip(), done.stderr) == (HOME, "")
    assert not CrawlFolder(tmp_path / "out").is_in_use
    assert ml.open(tmp_path / "out").stats()["fetched"] >= 1
    result = ml.crawl(output=tmp_path / "out", resume=True).run()
    assert len(result.query("SELECT ?s { ?s a schema:Product }")) == 29
