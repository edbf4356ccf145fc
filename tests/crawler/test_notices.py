"""Notices of real crawls to a real webhook and a real command."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from motherlode.crawler import Job, JobError
from motherlode.crawler.config.notice_settings import NoticeSettings
from motherlode.crawler.notices import Notices
from motherlode.fetch import HttpOptions
from motherlode.model import FailureKind, Visit
from tests.crawler.changing_web import ChangingWeb, Document, job_file, motherlode, serving

KEEP = "import sys, os; open(sys.argv[1], 'ab').write(sys.stdin.buffer.read() + b'\\n')"
CHALLENGE = Document(
    "<html><head><title>Just a moment...</title></head><body>/cdn-cgi/challenge-platform/</body></html>",
    status=403,
    headers={"cf-mitigated": "challenge", "server": "cloudflare"},
)


@asynccontextmanager
async def hooked(*, status: int = 204, wait: asyncio.Event | None = None) -> AsyncIterator[tuple[str, list[Any]]]:
    """Run a webhook. Yield its URL and the notices that it got."""
    got: list[Any] = []

    async def answer(request: web.BaseRequest) -> web.Response:
        got.append(json.loads(await request.read()))
        if wait is not None:
            await wait.wait()
        return web.Response(status=status)

    runner = web.ServerRunner(web.Server(answer))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/hook", got
    finally:
        if wait is not None:
            wait.set()
        await runner.cleanup()


def _job(path: Path, site: ChangingWeb, notices: str) -> str:
    job_file(path, site)
    path.write_text(f"{path.read_text(encoding='utf-8')}\n[notices]\n{notices}\n", encoding="utf-8")
    path.chmod(0o600)
    return str(path)


async def test_notices_of_the_end_and_a_challenged_host_reach_webhook_and_command(tmp_path: Path) -> None:
    kept = tmp_path / "kept.jsonl"
    command = json.dumps([sys.executable, "-c", KEEP, str(kept)])
    async with serving(ChangingWeb({"/": Document('<a href="/x">x</a>'), "/x": CHALLENGE})) as site, hooked() as hook:
        url, got = hook
        job = _job(tmp_path / "job.toml", site, f'webhook = "{url}"\ncommand = {command}')
        await motherlode("crawl", "--config", job, "-o", str(tmp_path / "out"), "--quiet")
    assert {notice["event"] for notice in got} == {"challenged", "end"}
    end = next(notice for notice in got if notice["event"] == "end")
    assert (end["fetched"], end["folder"]) == (2, str(tmp_path / "out"))
    lines = [json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines()]
    assert sorted(line["event"] for line in lines) == ["challenged", "end"]
    assert (tmp_path / "out" / "secrets.toml").stat().st_mode & 0o077 == 0


async def test_notices_that_cannot_be_delivered_do_not_fail_the_crawl(tmp_path: Path) -> None:
    async with serving(ChangingWeb({"/": Document("page")})) as site, hooked(status=500) as hook:
        url, got = hook
        job = _job(tmp_path / "job.toml", site, f'webhook = "{url}"\ncommand = ["/no/such/program"]')
        await motherlode("crawl", "--config", job, "-o", str(tmp_path / "out"), "--quiet")
    assert [notice["event"] for notice in got] == ["end"]
    log = (tmp_path / "out" / "crawl.log").read_text(encoding="utf-8")
    assert log.count("the notice end was not delivered") == 2


def _notices(url: str, *, allow: tuple[str, ...] = ("127.0.0.0/8",), **more: Any) -> Notices:
    settings = NoticeSettings.from_table({"webhook": url, **more})
    return Notices(settings, folder="out", http_options=lambda: HttpOptions(user_agent="test", allow=allow))


def _visit(*, relevant: bool = False, failure: FailureKind | None = None, host: str = "a.example") -> Visit:
    return Visit(number=1, url=f"http://{host}/", host=host, relevant=relevant, failure=failure)


async def test_webhook_behind_the_address_guard_is_not_called(caplog: pytest.LogCaptureFixture) -> None:
    async with hooked() as (url, got):
        notices = _notices(url, allow=())
        notices.send("outage", "a test")
        await notices.close()
    assert got == []
    assert "not a public address" in caplog.text


async def test_slow_webhook_does_not_delay_the_caller() -> None:
    wait = asyncio.Event()
    async with hooked(wait=wait) as (url, got):
        notices = _notices(url)
        for number in range(1000):
            notices.note_visit(_visit(failure=FailureKind.CHALLENGED, host=f"h{number}.example"))
        wait.set()  # all calls have returned before a delivery was answered
        await notices.close()
    assert len(got) <= 20, "further ones are only logged"


async def test_outage_is_noticed_at_its_beginning_and_its_end() -> None:
    async with hooked() as (url, got):
        notices = _notices(url)
        for since in (None, 5.0, 5.0, None, None):
            notices.note_network(since)
        await notices.close()
    assert sorted(notice["message"].split()[0] for notice in got) == ["no", "the"]


async def test_drop_of_the_harvest_rate_is_noticed_once_and_other_events_are_left_out() -> None:
    async with hooked() as (url, got):
        notices = _notices(url, drop_requests=20, events=["harvest-drop"])
        for relevant in [True] * 60 + [False] * 40:
            notices.note_visit(_visit(relevant=relevant))
        notices.note_visit(_visit(failure=FailureKind.CHALLENGED))
        await notices.close()
    assert [notice["event"] for notice in got] == ["harvest-drop"]


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ({"webhook": "ftp://a.example/"}, "http or https URL"),
        ({"events": ["end"]}, "name a webhook"),
        ({"command": "mail me"}, "a list of words"),
        ({"command": ["true"], "events": ["ending"]}, "'ending'"),
        ({"command": ["true"], "url": "x"}, "unknown key 'url'"),
        ({"command": ["true"], "drop_below": 0}, "drop_below"),
    ],
)
def test_wrong_table_of_notices_is_an_error(table: dict[str, Any], sentence: str) -> None:
    with pytest.raises(JobError, match=sentence):
        Job(seeds=["https://a.example/"], notices=table).notice_settings()
