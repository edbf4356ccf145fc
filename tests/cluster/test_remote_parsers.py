"""Remote parsers on real Ray nodes: results, limits, and the loss of actors, nodes and calls."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import pytest
import uvloop

from motherlode.cluster.ray_runtime import running_ray
from motherlode.crawler import CrawlFolder
from motherlode.crawler.engine.factory import assemble
from motherlode.crawler.parsing.messages import PageBody, ParseOptions
from motherlode.crawler.parsing.parser_pool import UnreadableError
from tests.cluster.conftest import Nodes, RecordedSite, pages_of, quads_of

if TYPE_CHECKING:
    from pathlib import Path

    from motherlode.cluster.remote_parsers import RemoteParsers

PAGE = b'<title>T</title><a href="/next">n</a><p itemscope itemtype="http://schema.org/Person"><b itemprop=name>Ann</b>'
T = TypeVar("T")
_SECONDS = 150
"""Timeout of one test. An actor starts in two seconds, and in twenty on a busy machine."""


@pytest.fixture(scope="module", autouse=True)
def connected(nodes: Nodes) -> Iterator[None]:
    with running_ray(nodes.address, shards=1):
        yield


def _body(number: int = 0, body: bytes = PAGE) -> PageBody:
    return PageBody(url=f"http://ex.org/{number}", content_type="text/html", body=body)


@asynccontextmanager
async def _open_parsers(*, actors: int, seconds: float = 60) -> AsyncIterator[RemoteParsers]:
    from motherlode.cluster.remote_parsers import RemoteParsers

    parsers = RemoteParsers(ParseOptions(target="any"), actors=actors, seconds=seconds)
    try:
        yield parsers
    finally:
        await parsers.close()


def run(work: Coroutine[Any, Any, T]) -> T:
    async def limited() -> T:
        async with asyncio.timeout(_SECONDS):
            return await work

    return uvloop.run(limited())


async def _wait_until(condition: Callable[[], object]) -> None:
    while not condition():  # noqa: ASYNC110 - another process sends no event
        await asyncio.sleep(0.01)


async def _stop_actor(parsers: RemoteParsers) -> int:
    """Stop the process of the only actor with SIGSTOP. Return its number."""
    await parsers.read(_body(99))
    (process,) = parsers.process_ids()
    os.kill(process, signal.SIGSTOP)
    return process


def test_many_pages_are_sent_in_batches_and_get_their_own_results(monkeypatch: pytest.MonkeyPatch) -> None:
    from motherlode.cluster.remote_parsers import MAX_SENT_PAGES, RemoteParsers

    batches: list[int] = []
    take_pages = RemoteParsers._take_pages

    async def count_pages(self: RemoteParsers, slot: Any) -> list[Any]:
        taken = await take_pages(self, slot)
        batches.append(len(taken))
        return taken

    monkeypatch.setattr(RemoteParsers, "_take_pages", count_pages)

    async def parse() -> tuple[list[bytes], int]:
        async with _open_parsers(actors=2) as parsers:
            await _wait_until(lambda: len(parsers.process_ids()) == 2)
            results = await asyncio.gather(*(parsers.read(_body(number)) for number in range(200)))
            assert all(result.relevant and result.links[0].url == "http://ex.org/next" for result in results)
            return [result.graph_quads for result in results], parsers.replaced

    quads, replaced = run(parse())
    assert all(f"<http://ex.org/{number}>".encode() in found for number, found in enumerate(quads))
    assert batches[:2] == [MAX_SENT_PAGES] * 2, "one call brings many pages"
    assert replaced == 0


def test_pages_above_the_object_store_limit_get_their_results() -> None:
    async def parse() -> list[int]:
        async with _open_parsers(actors=1) as parsers:
            bodies = [PAGE + b"<!--" + b"x" * size + b"-->" for size in (10, 300_000, 2_000_000)]
            results = await asyncio.gather(*(parsers.read(_body(n, body)) for n, body in enumerate(bodies)))
            return [result.counts["microdata"] for result in results]

    assert run(parse()) == [2, 2, 2]


def test_pages_of_a_killed_actor_are_parsed_by_another(caplog: pytest.LogCaptureFixture) -> None:
    async def kill_and_parse() -> tuple[list[bool], int]:
        async with _open_parsers(actors=1) as parsers:
            process = await _stop_actor(parsers)
            parsing = [asyncio.create_task(parsers.read(_body(number))) for number in range(5)]
            await _wait_until(lambda: parsers._slots[0].sent)
            os.kill(process, signal.SIGKILL)
            return [(await one).relevant for one in parsing], parsers.replaced

    assert run(kill_and_parse()) == ([True] * 5, 1)
    assert "a remote parser with" in caplog.text and "it is replaced" in caplog.text


def test_page_that_loses_two_actors_fails_and_the_others_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    from motherlode.cluster import remote_parsers

    class FragileActor(remote_parsers.ParserActor):
        async def _parse(self, number: int, url: str, page: bytes) -> None:
            if url.endswith("/3"):
                os._exit(1)
            await super()._parse(number, url, page)

    monkeypatch.setattr(remote_parsers, "ParserActor", FragileActor)

    async def parse() -> tuple[list[Any], int]:
        async with _open_parsers(actors=1) as parsers:
            reading = (parsers.read(_body(number)) for number in range(6))
            return await asyncio.gather(*reading, return_exceptions=True), parsers.replaced

    results, replaced = run(parse())
    assert isinstance(results.pop(3), UnreadableError)
    assert all(result.relevant for result in results)
    assert replaced == 2


def test_actor_that_does_not_answer_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    async def hang() -> tuple[bool, int]:
        async with _open_parsers(actors=1) as parsers:
            await _stop_actor(parsers)
            with monkeypatch.context() as patched:  # only for this actor: on a busy machine the next one needs its time
                patched.setattr("motherlode.cluster.remote_parsers._CALL_TIMEOUT_SECONDS", 0.5)
                parsing = asyncio.create_task(parsers.read(_body(1)))
                await _wait_until(lambda: parsers.replaced)
            return (await parsing).relevant, parsers.replaced

    assert run(hang()) == (True, 1)


def test_page_over_its_timeout_fails_and_the_actor_stays() -> None:
    slow = b"<p itemscope itemtype=http://schema.org/Thing>" + b"<b itemprop=a itemscope>" * 200_000

    async def parse() -> tuple[bool, int]:
        async with _open_parsers(actors=1, seconds=0.001) as parsers:
            with pytest.raises(UnreadableError, match="took too long"):
                await parsers.read(_body(1, slow))
            return True, parsers.replaced

    assert run(parse()) == (True, 0)


def test_close_with_pages_in_a_stopped_actor_returns() -> None:
    async def close() -> bool:
        async with _open_parsers(actors=1) as parsers:
            await _stop_actor(parsers)
            parsing = asyncio.create_task(parsers.read(_body(1)))
            await _wait_until(lambda: parsers._slots[0].sent)
        await asyncio.wait([parsing])
        return parsing.cancelled()

    assert run(close())


def test_callers_wait_while_all_actors_are_full() -> None:
    from motherlode.cluster.remote_parsers import MAX_SENT_PAGES

    async def fill() -> tuple[int, int]:
        async with _open_parsers(actors=1) as parsers:
            process = await _stop_actor(parsers)
            parsing = [asyncio.create_task(parsers.read(_body(number))) for number in range(200)]
            await _wait_until(lambda: parsers._slots[0].sent)
            held = len(parsers._slots[0].sent), len(parsers._slots[0].sent) + len(parsers._waiting)
            os.kill(process, signal.SIGCONT)
            assert len(await asyncio.gather(*parsing)) == 200
            return held

    sent, held = run(fill())
    assert sent <= MAX_SENT_PAGES
    assert held <= 2 * MAX_SENT_PAGES


def test_crawl_with_remote_parsers_survives_the_loss_of_a_node(
    nodes: Nodes, site: RecordedSite, tmp_path: Path
) -> None:
    from motherlode.cluster.remote_parsers import RemoteParsers

    nodes.ensure(2)
    started: list[RemoteParsers] = []
    folder = CrawlFolder(tmp_path / "out")
    job = site.job(ray_parsers=2)

    def make_parsers(options: ParseOptions, seconds: float) -> RemoteParsers:
        started.append(RemoteParsers(options, actors=2, seconds=seconds))
        return started[0]

    async def crawl() -> None:
        folder.create(job)
        assembled = assemble(job, folder, make_parsers=make_parsers)
        count = 0
        async for _ in assembled.engine.visits(assembled.seeds):
            count += 1
            if count == 60:
                nodes.remove(started[0].node_ids()[0])
        folder.unlock()

    run(crawl())
    assert started[0].replaced >= 1
    assert pages_of(folder) == site.pages
    assert quads_of(folder) == site.quads
