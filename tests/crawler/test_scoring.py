"""Scorers in real crawls of a recorded web: functions, commands and endpoints, and all ways in which they fail."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from motherlode.crawler import CrawlFolder, Job, JobError, read_visits
from motherlode.crawler.engine.factory import check
from motherlode.crawler.engine.pipeline import NoScorers
from motherlode.crawler.scoring import CommandClient, Pause, ScorerEndpoint, Scorers, command_of, make_scorers
from motherlode.model import Visit
from motherlode.policies import reward_from, target_from
from motherlode.policies.scorers import ScorerError, ScorerLimits, parse_scorer
from tests.crawler.small_web import HOME, crawled, small_web

SCORER = """
import json, os, sys, time
for line in sys.stdin:
    page = json.loads(line)
    {body}
    print({answer}, flush=True)
"""
QUICK = ScorerLimits(seconds=20)


def command(tmp_path: Path, answer: str, body: str = "pass") -> str:
    """Return a command that runs a script of a few lines."""
    script = tmp_path / f"score{len(list(tmp_path.glob('score*')))}.py"
    script.write_text(SCORER.format(answer=answer, body=body))
    return f"{sys.executable} {script}"


def visits_by_path(folder: CrawlFolder) -> dict[str, Visit]:
    return {visit.url.removeprefix(HOME): visit for visit in read_visits(folder)}


def test_command_as_target_and_reward_decides_by_quads_and_text(tmp_path: Path) -> None:
    """The same command is the target and the reward, so it is asked once for each page."""
    log = tmp_path / "asked"
    body = f"open({str(log)!r}, 'a').write(page['url'] + chr(10))"
    scorer = "command:" + command(
        tmp_path, "0.9 if 'Recipe' in page['quads'] else 0.2 * ('to /item' in page['text'])", body
    )
    made, totals = crawled(tmp_path / "out", small_web(tmp_path / "w.warc.gz"), target=f"{scorer}>=0.8", reward=scorer)
    visits = visits_by_path(made)
    assert (visits["item/1"].relevant, visits["item/1"].reward) == (True, 0.9)
    assert (visits[""].relevant, visits[""].reward) == (False, 0.2)
    assert (visits["text/1"].relevant, visits["text/1"].reward) == (False, 0.0)
    assert totals.relevant == 12
    asked = log.read_text().splitlines()
    assert len(asked) == len(set(asked)) == 25


def test_function_of_a_module_is_the_reward_of_irrelevant_pages_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_rewards.py").write_text("def quality(page):\n    print('noise')\n    return len(page.text) > 3\n")
    monkeypatch.chdir(tmp_path)
    made, _ = crawled(tmp_path / "out", small_web(tmp_path / "w.warc.gz"), reward="python:own_rewards:quality", pages=8)
    rewards = {visit.url: visit.reward for visit in read_visits(made) if visit.failure is None}
    assert rewards[HOME] == 1.0
    assert set(rewards.values()) == {1.0, 0.0} or set(rewards.values()) == {1.0}


def test_scorer_that_dies_for_a_page_is_started_again_and_the_page_has_a_problem(tmp_path: Path) -> None:
    answers = "1 if '/item/' in page['url'] else 0"
    scorer = command(tmp_path, answers, "'/item/3' in page['url'] and os._exit(7)")
    made, totals = crawled(tmp_path / "out", small_web(tmp_path / "w.warc.gz"), target=f"command:{scorer}")
    visits = visits_by_path(made)
    assert [problem.message for problem in visits["item/3"].problems] == [
        "the scorer gave no score: it ended with status 7, twice for this page"
    ]
    assert not visits["item/3"].relevant
    assert totals.relevant == 11
    assert visits["item/4"].relevant


def test_scorer_without_an_answer_in_time_is_killed_and_the_crawl_goes_on(tmp_path: Path) -> None:
    scorer = command(tmp_path, "1", "page['url'].endswith('/item/3') and time.sleep(600)")
    web = small_web(tmp_path / "w.warc.gz", items=5, plain=0)
    made, totals = crawled(tmp_path / "out", web, reward=f"command:{scorer}", scorer={"seconds": 5})
    visits = visits_by_path(made)
    assert "no answer within 5 s" in visits["item/3"].problems[-1].message
    assert visits["item/4"].reward == 1.0
    assert totals.fetched == 10


def test_command_that_ends_at_once_is_paused_and_the_crawl_ends_normally(tmp_path: Path) -> None:
    made, totals = crawled(tmp_path / "out", small_web(tmp_path / "w.warc.gz"), reward="command:false")
    problems = {visit.problems[-1].message for visit in read_visits(made) if visit.failure is None}
    assert totals.fetched == 29
    assert any("it ended" in one for one in problems), "with its status, or because it reads no input"
    assert any("times in a row" in one for one in problems)


def test_page_without_a_score_has_the_mean_reward_also_after_a_resume(tmp_path: Path) -> None:
    """An outage of the scorer must not teach the policy that its pages are bad."""
    numbers = "0.9 if '/item/' in page['url'] else 0.3"
    scorer = command(tmp_path, f"'null' if page['url'].endswith(('/item/2', '/item/9')) else {numbers}")
    web = small_web(tmp_path / "w.warc.gz", plain=0)
    settings = {"reward": f"command:{scorer}", "policy": "bfs"}
    crawled(tmp_path / "out", web, pages=7, **settings)
    folder, _ = crawled(tmp_path / "out", web, **settings)
    visits = visits_by_path(folder)
    before = [0.3, 0.9, 0.9]
    assert visits["item/2"].reward == pytest.approx(sum(before) / 3)
    assert visits["item/9"].reward == pytest.approx((0.3 + 8 * 0.9) / 9)


def test_novelty_of_a_resumed_crawl_goes_on(tmp_path: Path) -> None:
    web = small_web(tmp_path / "w.warc.gz")
    for reward, first in [("new-types", 0.5), ("new-hosts", 1.0)]:
        folder, _ = crawled(tmp_path / reward, web, reward=reward, pages=6, target="jsonld", policy="bfs")
        crawled(tmp_path / reward, web, reward=reward, target="jsonld", policy="bfs")
        rewards = [visit.reward for visit in read_visits(folder) if visit.relevant]
        assert rewards == [pytest.approx(first), *[0.0] * 11], "the only type and host are new once"


def job(**more: Any) -> Job:
    return Job(seeds=(HOME,), **more)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"reward": "command:no-such-program-here x"}, "does not exist: no-such-program-here"),
        ({"target": "python:no_such_module:f"}, "cannot be imported: ModuleNotFoundError"),
    ],
)
def test_scorer_that_cannot_be_started_is_an_error_before_the_crawl(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(JobError, match=message):
        check(job(**settings))


def test_job_with_a_wrong_scorer_table_is_an_error() -> None:
    with pytest.raises(JobError, match=r"the table \[scorer\]: unknown key 'timeout'"):
        job(scorer={"timeout": 3})
    assert job(scorer={"max_bytes": "10kB"}).scorer_limits().max_bytes == 10_000


def test_job_without_a_scorer_needs_none() -> None:
    assert isinstance(make_scorers(target_from("any"), reward_from("statements"), QUICK), NoScorers)
    assert isinstance(make_scorers(target_from("command:cat"), reward_from("target"), QUICK), Scorers)


# ── clients


async def test_processes_of_a_command_score_pages_side_by_side(tmp_path: Path) -> None:
    """Two processes: the first waits until the second has scored a page."""
    mark = tmp_path / "mark"
    wait = f"[time.sleep(0.01) for _ in iter(lambda: os.path.exists({str(mark)!r}), True)]"
    body = f"open({str(mark)!r}, 'w') if page['url'] == 'b' else {wait}"
    client = CommandClient(command(tmp_path, "0.5", body).split(), ScorerLimits(seconds=60, workers=2))
    try:
        assert await asyncio.gather(client.score(b'{"url": "a"}'), client.score(b'{"url": "b"}')) == [0.5, 0.5]
    finally:
        await client.close()


def wait_for(path: Path) -> None:
    while not path.exists():
        time.sleep(0.01)


async def test_cancelled_request_does_not_shift_later_answers(tmp_path: Path) -> None:
    started = tmp_path / "started"
    body = f"page['slow'] and (open({str(started)!r}, 'w'), time.sleep(0.3))"
    client = CommandClient(command(tmp_path, "page['score']", body).split(), QUICK)
    try:
        task = asyncio.create_task(client.score(b'{"slow": true, "score": 0.1}'))
        await asyncio.to_thread(wait_for, started)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await client.score(b'{"slow": false, "score": 0.9}') == 0.9
    finally:
        await client.close()


async def test_answer_that_is_no_json_ends_the_process(tmp_path: Path) -> None:
    """A line that is printed at the start would shift all answers by one page."""
    client = CommandClient(command(tmp_path, "'hello' if page['n'] == 1 else 0.5").split(), QUICK)
    try:
        with pytest.raises(ScorerError, match="no number from 0 to 1: 'hello"):
            await client.score(b'{"n": 1}')
        assert await client.score(b'{"n": 2}') == 0.5
        with pytest.raises(ScorerError, match="no number from 0 to 1"):
            await client.score(b'{"n": 1}')
    finally:
        await client.close()


async def test_second_line_for_a_page_is_not_the_answer_for_the_next_page(tmp_path: Path) -> None:
    client = CommandClient(command(tmp_path, "'0.9' + chr(10) + '0.1'").split(), QUICK)
    try:
        assert await client.score(b'{"url": "a"}') == 0.9
        with pytest.raises(ScorerError, match="more than one line"):
            await client.score(b'{"url": "b"}')
        assert await client.score(b'{"url": "c"}') == 0.9
    finally:
        await client.close()


async def test_answer_of_many_bytes_is_refused(tmp_path: Path) -> None:
    client = CommandClient(command(tmp_path, "'9' * 100_000").split(), QUICK)
    try:
        with pytest.raises(ScorerError, match="longer than 10,000 bytes"):
            await client.score(b"{}")
    finally:
        await client.close()


async def answering(answer: Callable[[Any], web.Response]) -> tuple[web.ServerRunner, str]:
    async def handle(request: web.BaseRequest) -> web.Response:
        return answer(json.loads(await request.read()))

    runner = web.ServerRunner(web.Server(handle))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    return runner, f"http://127.0.0.1:{runner.addresses[0][1]}/score"


async def test_endpoint_on_loopback_scores_pages_although_the_crawl_may_not_go_there() -> None:
    def answer(page: Any) -> web.Response:
        return web.json_response({"score": 0.75}) if page["url"] == "a" else web.Response(status=500)

    runner, url = await answering(answer)
    client = ScorerEndpoint(url, ScorerLimits(seconds=20))
    try:
        assert await client.score(b'{"url": "a"}') == 0.75
        with pytest.raises(ScorerError, match="500"):
            await client.score(b'{"url": "b"}')
        assert await client.score(b'{"url": "a"}') == 0.75
    finally:
        await client.close()
        await runner.cleanup()


async def test_endpoint_that_is_down_gives_scorer_errors() -> None:
    runner, url = await answering(lambda page: web.Response())
    await runner.cleanup()
    client = ScorerEndpoint(url, QUICK)
    try:
        for _ in range(3):
            with pytest.raises(ScorerError):
                await client.score(b"{}")
    finally:
        await client.close()


def test_crawl_with_an_endpoint_as_target_asks_it_once_for_each_page(tmp_path: Path) -> None:
    asked: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            body = json.dumps({"score": float("/item/" in asked[-1]["url"])}).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        url = f"http://127.0.0.1:{server.server_port}/score"
        web, limits = small_web(tmp_path / "w.warc.gz"), {"workers": 3, "max_bytes": 400}
        _, totals = crawled(tmp_path / "out", web, target=url, scorer=limits, concurrency=8)
    finally:
        server.shutdown()
        server.server_close()
    assert totals.relevant == 12
    assert len(asked) == len({page["url"] for page in asked}) == 25
    home = next(page for page in asked if page["url"] == HOME)
    assert home["truncated"]
    assert len(home["text"]) + len(home["quads"]) <= 400


def test_pause_doubles_with_each_failure_and_ends_with_an_answer() -> None:
    now = 0.0
    pause = Pause(clock=lambda: now)
    pause.note_failure()
    pause.check()
    rests = []
    for _ in range(9):
        pause.note_failure()
        with pytest.raises(ScorerError, match="times in a row"):
            pause.check()
        start = now
        while True:
            now += 0.5
            try:
                pause.check()
                break
            except ScorerError:
                continue
        rests.append(now - start)
    assert rests == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 30.0]
    pause.note_answer()
    pause.note_failure()
    pause.check()


def test_command_of_a_function_runs_our_own_module() -> None:
    scorer = parse_scorer("python:m:f")
    assert scorer is not None
    assert command_of(scorer)[1:] == ["-m", "motherlode.crawler.function_scorer", "python:m:f"]
