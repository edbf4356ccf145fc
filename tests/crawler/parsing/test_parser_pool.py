"""The parser pool: results, timeouts, and parser processes that crash or are killed."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import pytest
import uvloop

from motherlode.crawler.parsing.messages import PageBody, ParseOptions
from motherlode.crawler.parsing.parser_pool import ParserPool, UnreadableError

PAGE = b'<title>T</title><a href="/next">n</a><p itemscope itemtype="http://schema.org/Person"><b itemprop=name>Ann</b>'


def _body(number: int = 0, body: bytes = PAGE) -> PageBody:
    return PageBody(url=f"http://ex.org/{number}", content_type="text/html", body=body)


T = TypeVar("T")
_SECONDS = 120
"""Timeout of one test. A parser process starts in one second, and in ten seconds on a busy machine."""


@asynccontextmanager
async def _open_pool(*, workers: int, seconds: float = 60) -> AsyncIterator[ParserPool]:
    pool = ParserPool(ParseOptions(target="any"), workers=workers, seconds=seconds)
    try:
        yield pool
    finally:
        await pool.close()


async def _with_timeout(work: Coroutine[Any, Any, T]) -> T:
    async with asyncio.timeout(_SECONDS):
        return await work


async def _wait_for_end(process: int) -> None:
    """Wait until the event loop has reaped a process."""
    while os.path.exists(f"/proc/{process}"):  # noqa: ASYNC110, ASYNC240, PTH110 - the kernel sends no event
        await asyncio.sleep(0.01)


async def _stop_process(pool: ParserPool) -> int:
    """Stop the only process of a pool with SIGSTOP. Return its id."""
    await pool.read(_body(99))
    (worker,) = pool.process_ids()
    os.kill(worker, signal.SIGSTOP)
    return worker


async def _wait_until_sent(pool: ParserPool, count: int) -> None:
    """Wait until `count` pages were sent to the only process."""
    while len(pool._running[0].sent) < count:  # noqa: ASYNC110 - there is no event for a sent page
        await asyncio.sleep(0.01)


async def test_many_pages_get_their_own_results() -> None:
    pool = ParserPool(ParseOptions(target="any"), workers=2, seconds=30)
    try:
        results = await asyncio.gather(*(pool.read(_body(number)) for number in range(40)))
    finally:
        await pool.close()
    assert all(result.relevant and result.counts["microdata"] == 2 for result in results)
    graphs = {result.graph_quads.split(b" ")[-2] if result.graph_quads else b"" for result in results}
    assert len(results) == 40
    assert graphs
    assert all(result.links[0].url == "http://ex.org/next" for result in results)
    assert len({result.graph_quads for result in results}) == 40, "each page has its own blank nodes and graph"


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run])
def test_process_killed_while_idle_is_replaced(run: Any, caplog: pytest.LogCaptureFixture) -> None:
    async def kill_and_parse() -> tuple[bool, int]:
        async with _open_pool(workers=1) as pool:
            await pool.read(_body())
            killed = pool.process_ids()[0]
            os.kill(killed, signal.SIGKILL)
            await _wait_for_end(killed)
            return (await pool.read(_body(1))).relevant, pool.replaced

    assert run(_with_timeout(kill_and_parse())) == (True, 1)
    assert "exit status -9" in caplog.text and "it is replaced" in caplog.text


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run])
def test_pages_of_a_killed_process_are_parsed_by_another(run: Any, caplog: pytest.LogCaptureFixture) -> None:
    async def kill_and_parse() -> list[bool]:
        async with _open_pool(workers=1) as pool:
            worker = await _stop_process(pool)
            parsing = [asyncio.create_task(pool.read(_body(number))) for number in range(4)]
            await _wait_until_sent(pool, 2)
            os.kill(worker, signal.SIGKILL)
            return [(await one).relevant for one in parsing]

    assert run(_with_timeout(kill_and_parse())) == [True] * 4
    assert "while parsing http://ex.org/0" in caplog.text


async def test_page_that_crashes_two_processes_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", str(_fragile_python(tmp_path / "python")))
    async with asyncio.timeout(_SECONDS), _open_pool(workers=1) as pool:
        breaking = asyncio.create_task(pool.read(_body(1, b"<p>kill -9")))
        usual = asyncio.create_task(pool.read(_body(2)))
        with pytest.raises(UnreadableError, match="crashed two parser processes"):
            await breaking
        assert (await usual).relevant
        assert pool.replaced == 2


def _fragile_python(path: Path) -> Path:
    """Write a Python executable whose parser process kills itself if a page contains `kill -9`. Return its path."""
    path.write_text(
        f"#!{sys.executable}\n"
        "import os, signal\n"
        "from motherlode.crawler.parsing import page_parser, worker\n"
        "class Fragile(page_parser.PageParser):\n"
        "    def read(self, page):\n"
        "        if b'kill -9' in page.body:\n"
        "            os.kill(os.getpid(), signal.SIGKILL)\n"
        "        return super().read(page)\n"
        "page_parser.PageParser = Fragile\n"
        "worker.main()\n"
    )
    path.chmod(0o755)
    return path


async def test_process_killed_during_its_start_is_started_again() -> None:
    async with asyncio.timeout(_SECONDS), _open_pool(workers=1) as pool:
        parsing = asyncio.create_task(pool.read(_body()))
        while not pool._processes:  # noqa: ASYNC110 - there is no event for a process that is not ready
            await asyncio.sleep(0)
        (starting,) = pool._processes
        starting.kill()
        assert (await parsing).relevant


async def test_supervising_task_that_ends_is_replaced_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    async with asyncio.timeout(_SECONDS), _open_pool(workers=1) as pool:
        await _stop_process(pool)
        parsing = asyncio.create_task(pool.read(_body(1)))
        await _wait_until_sent(pool, 1)
        (task,) = pool._tasks  # only the pool has a reference to its tasks
        task.cancel()
        assert (await parsing).relevant
    assert "the supervising task of a parser process ended" in caplog.text


async def test_undecodable_response_fails_the_page_and_not_the_pool() -> None:
    async with asyncio.timeout(_SECONDS), _open_pool(workers=1) as pool:
        await pool.read(_body())
        decode, pool._decode = pool._decode, lambda _: msgspec.msgpack.decode(b"\xc1")
        with pytest.raises(UnreadableError, match="crashed two parser processes"):
            await pool.read(_body(1))
        pool._decode = decode
        assert (await pool.read(_body(2))).relevant


async def test_timeout_of_a_page_runs_while_the_pipe_is_full() -> None:
    async with asyncio.timeout(_SECONDS), _open_pool(workers=1, seconds=1) as pool:
        await _stop_process(pool)
        first = asyncio.create_task(pool.read(_body(1)))
        second = asyncio.create_task(pool.read(_body(2, PAGE + b" " * 5_000_000)))
        with pytest.raises(UnreadableError, match="took too long"):
            await first
        assert await asyncio.gather(second, return_exceptions=True)


async def test_page_over_the_timeout_fails() -> None:
    pool = ParserPool(ParseOptions(target="any"), workers=1, seconds=1)
    try:
        await pool.read(_body())
        os.kill(pool.process_ids()[0], signal.SIGSTOP)
        with pytest.raises(UnreadableError, match="took too long"):
            await pool.read(_body(1))
        assert (await pool.read(_body(2))).relevant
    finally:
        await pool.close()


async def test_robots_directives_are_obeyed_in_the_processes() -> None:
    pool = ParserPool(ParseOptions(target="any"), workers=1, seconds=30)
    try:
        kept = await pool.read(_body(1, b'<meta name=robots content="noindex">' + PAGE))
        followed = await pool.read(
            PageBody(url="http://ex.org/2", content_type="text/html", body=PAGE, headers={"x-robots-tag": "nofollow"})
        )
    finally:
        await pool.close()
    assert (kept.relevant, kept.quads, len(kept.links)) == (False, 0, 1)
    assert "noindex" in kept.problems[0].message
    assert (followed.relevant, followed.links, followed.not_followed) == (True, [], 1)


async def test_processes_that_cannot_start_raise_os_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/bin/false")
    pool = ParserPool(ParseOptions(target="any"), workers=2, seconds=5)
    try:
        with pytest.raises(OSError, match="parser process could not be started"):
            await pool.read(_body())
    finally:
        await pool.close()


async def test_all_waiting_pages_fail_if_no_process_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/bin/false")
    pool = ParserPool(ParseOptions(target="any"), workers=1, seconds=5)
    try:  # more pages than the queue holds: the last are queued after the first have failed
        async with asyncio.timeout(20):
            errors = await asyncio.gather(*(pool.read(_body(number)) for number in range(100)), return_exceptions=True)
    finally:
        await pool.close()
    assert all(isinstance(one, OSError) for one in errors)


async def test_ctrl_c_at_a_terminal_does_not_reach_the_processes() -> None:
    pool = ParserPool(ParseOptions(target="any"), workers=1, seconds=30)
    try:
        await pool.read(_body())
        (reader,) = pool.process_ids()
        assert os.getpgid(reader) != os.getpgid(0)
    finally:
        await pool.close()


async def test_restarted_process_is_replaced_and_its_pages_are_parsed(caplog: pytest.LogCaptureFixture) -> None:
    async with _open_pool(workers=1) as pool:
        worker = await _stop_process(pool)
        pages = [asyncio.create_task(pool.read(_body(number))) for number in range(2)]
        await _wait_until_sent(pool, 2)
        assert pool.restart([worker]) == 1
        assert pool.restart([worker]) == 0, "it is being replaced"
        results = await _with_timeout(asyncio.gather(*pages))
        assert len(results) == 2 and pool.process_ids() != [worker]
    assert "used too much memory while parsing http://ex.org/0" in caplog.text
