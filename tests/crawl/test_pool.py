"""Reader processes: pages go in, readings come out, and a page that breaks its reader breaks nothing else."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from motherlode.crawl.pool import ReaderPool, UnreadableError
from motherlode.crawl.readings import Body, Instructions

PAGE = b'<title>T</title><a href="/next">n</a><p itemscope itemtype="http://schema.org/Person"><b itemprop=name>Ann</b>'


def _body(number: int = 0, body: bytes = PAGE) -> Body:
    return Body(url=f"http://ex.org/{number}", content_type="text/html", body=body)


async def test_many_pages_are_read_each_with_its_own_answer() -> None:
    pool = ReaderPool(Instructions(target="any"), workers=2, seconds=30)
    try:
        readings = await asyncio.gather(*(pool.read(_body(number)) for number in range(40)))
    finally:
        await pool.close()
    assert all(reading.relevant and reading.counts["microdata"] == 2 for reading in readings)
    graphs = {reading.lines.split(b" ")[-2] if reading.lines else b"" for reading in readings}
    assert len(readings) == 40
    assert graphs
    assert all(reading.links[0].url == "http://ex.org/next" for reading in readings)
    assert len({reading.lines for reading in readings}) == 40, "blank nodes and graphs are each page's own"


async def test_a_killed_worker_costs_one_page_and_is_replaced() -> None:
    pool = ReaderPool(Instructions(target="any"), workers=1, seconds=30)
    try:
        await pool.read(_body())
        worker = pool.process_ids()[0]
        os.kill(worker, signal.SIGSTOP)
        first = asyncio.create_task(pool.read(_body(1)))
        second = asyncio.create_task(pool.read(_body(2)))
        await asyncio.sleep(0.2)
        os.kill(worker, signal.SIGKILL)
        with pytest.raises(UnreadableError, match="broke its reader"):
            await first
        assert (await second).relevant
        assert pool.replaced == 1
    finally:
        await pool.close()


async def test_a_page_that_takes_too_long_is_given_up() -> None:
    pool = ReaderPool(Instructions(target="any"), workers=1, seconds=1)
    try:
        await pool.read(_body())
        os.kill(pool.process_ids()[0], signal.SIGSTOP)
        with pytest.raises(UnreadableError, match="took too long"):
            await pool.read(_body(1))
        assert (await pool.read(_body(2))).relevant
    finally:
        await pool.close()


async def test_a_page_asks_not_to_be_kept_or_followed() -> None:
    pool = ReaderPool(Instructions(target="any"), workers=1, seconds=30)
    try:
        kept = await pool.read(_body(1, b'<meta name=robots content="noindex">' + PAGE))
        followed = await pool.read(
            Body(url="http://ex.org/2", content_type="text/html", body=PAGE, headers={"x-robots-tag": "nofollow"})
        )
    finally:
        await pool.close()
    assert (kept.relevant, kept.quads, len(kept.links)) == (False, 0, 1)
    assert "noindex" in kept.problems[0].message
    assert (followed.relevant, followed.links, followed.not_followed) == (True, [], 1)


async def test_readers_that_cannot_start_stop_the_crawl_with_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/bin/false")
    pool = ReaderPool(Instructions(target="any"), workers=2, seconds=5)
    try:
        with pytest.raises(OSError, match="reader process could not be started"):
            await pool.read(_body())
    finally:
        await pool.close()


async def test_no_page_waits_for_readers_that_could_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/bin/false")
    pool = ReaderPool(Instructions(target="any"), workers=1, seconds=5)
    try:  # more than there is room for: the last are put when the others are told
        async with asyncio.timeout(20):
            told = await asyncio.gather(*(pool.read(_body(number)) for number in range(100)), return_exceptions=True)
    finally:
        await pool.close()
    assert all(isinstance(one, OSError) for one in told)


async def test_ctrl_c_at_a_terminal_does_not_reach_the_readers() -> None:
    pool = ReaderPool(Instructions(target="any"), workers=1, seconds=30)
    try:
        await pool.read(_body())
        (reader,) = pool.process_ids()
        assert os.getpgid(reader) != os.getpgid(0)
    finally:
        await pool.close()
