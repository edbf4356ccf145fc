from __future__ import annotations

import asyncio
import gzip
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import aiohttp
import pytest

from motherlode.sim.synthetic import HOST_PROFILES, SyntheticWeb
from motherlode.sim.synthetic.server import main, serving
from motherlode.sim.synthetic.server_process import ADDRESSES, hosts_table
from motherlode.www.media_types import ACCEPT

PAGES, SEED = 1500, 11


@contextmanager
def _process(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, object]]]:
    web = ("--pages", str(PAGES), "--seed", str(SEED))
    command = [sys.executable, "-m", "motherlode.sim.synthetic.server", *web, *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process, json.loads(process.stdout.readline())
        finally:
            process.kill()


async def _get(url: str, port: int, **headers: str) -> tuple[int, dict[str, str], bytes]:
    """A request to whatever address the host lives at, with nothing undone and no redirect followed."""
    host = url.split("/")[2]
    address = hosts_table(SyntheticWeb(PAGES, SEED), port).get(host, (ADDRESSES[0], port))[0]
    target = f"http://{address}:{port}{url[7 + len(host) :]}"
    given = {"Host": host, "Accept": ACCEPT, **headers}
    async with (
        aiohttp.ClientSession(auto_decompress=False) as session,
        session.get(target, headers=given, allow_redirects=False) as response,
    ):
        return response.status, dict(response.headers), await response.read()


def _root(web: SyntheticWeb, profile: str) -> str:
    return web.home(web.hosts()[[one.name for one in HOST_PROFILES].index(profile)]).rstrip("/")


def test_server_process_serves_logs_and_ends_with_stdin(tmp_path: Path, small: SyntheticWeb) -> None:
    log = tmp_path / "requests.jsonl"
    with _process("--log", str(log)) as (process, ready):
        port = ready["port"]
        assert isinstance(port, int)
        assert ready["hosts"] == len(small.hosts()) and ready["addresses"] == list(ADDRESSES)
        for url in small.seeds():
            status, _, body = asyncio.run(_get(url, port, **{"Accept-Encoding": ""}))
            assert (status, body) == (200, small.answer(url).body)
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(timeout=10) == 0
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [(line["host"], line["path"], line["status"]) for line in lines] == [
        (url.split("/")[2], "/", 200) for url in small.seeds()
    ]
    assert [line["at"] for line in lines] == sorted(line["at"] for line in lines)


def test_server_process_ends_on_sigterm() -> None:
    with _process() as (process, _):
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=10) == 0


def test_server_wrong_usage_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--pages", "3"])
    assert "pages or more" in capsys.readouterr().err


async def test_server_port_in_use_is_an_error(small: SyntheticWeb) -> None:
    async with serving(small) as port:
        with pytest.raises(OSError, match="in use"):
            async with serving(small, port=port):
                pass


async def test_server_sends_responses_unchanged(small: SyntheticWeb) -> None:
    async with serving(small) as port:
        packed = next(host for host in small.hosts() if small.answer(small.home(host)).encoding == "gzip")
        status, headers, body = await _get(f"http://{packed}/", port, **{"Accept-Encoding": "gzip"})
        assert (status, headers["Content-Encoding"]) == (200, "gzip")
        assert gzip.decompress(body) == small.answer(f"http://{packed}/").body
        again = await _get(f"http://{packed}/", port, **{"Accept-Encoding": "gzip"})
        assert again[2] == body

        loop = _root(small, "moved") + "/go/loop/1"
        status, headers, _ = await _get(loop, port)
        assert (status, headers["Location"]) == (302, small.page_model(loop).location)

        assert (await _get("http://nobody.example/", port))[0] == 421
        assert (await _get(f"http://{packed}/no%20such%20page?x=%41", port))[0] == 404


async def test_server_url_that_failed_once_recovers() -> None:
    web = SyntheticWeb(60_000, 1, hosts=60)
    urls = (url for host in web.hosts() if web.profile(host).flaky_permille for url in web.urls(host))
    flaky = next(u for u in urls if web.page_model(u).status == 503 and not web.page_model(u, attempt=1).retry_after)
    async with serving(web) as port:
        host = flaky.split("/")[2]
        target = f"http://{hosts_table(web, port)[host][0]}:{port}{flaky[7 + len(host) :]}"
        async with aiohttp.ClientSession(headers={"Host": host}) as session:
            statuses = [(await session.get(target)).status for _ in range(3)]
            assert statuses == [503, 200, 200]
            assert (await session.head(target)).status == 200
            assert (await session.post(target)).status == 405
