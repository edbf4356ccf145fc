"""Answers of the server while pages are written and indexed."""

from __future__ import annotations

import asyncio
import random
from functools import partial
from pathlib import Path

import aiohttp

from motherlode.crawler import CrawlFolder, Job
from motherlode.frontier import LmdbStorage
from motherlode.index.indexer import BackgroundIndexer, IndexPaths
from motherlode.index.nquads_log import NQuadsLog
from motherlode.serve.application import application
from motherlode.serve.sparql import QueryLimits
from tests.index.test_indexer import page
from tests.serve.site import client_of


async def test_answers_before_during_and_after_indexing_are_the_same(tmp_path: Path) -> None:
    """Random interleavings of writing, indexing and questions: an answer has every page that was written before it."""
    chance, folder = random.Random(11), CrawlFolder(tmp_path / "crawl")
    folder.create(Job(seeds=("http://a.example/",)))
    LmdbStorage(folder.frontier).close()
    folder.unlock()
    paths = IndexPaths(folder.quads, folder.store, folder.words)
    expected: dict[int, str] = {}
    log = NQuadsLog(folder.quads, start_indexer=partial(BackgroundIndexer, paths))
    async with client_of(application(CrawlFolder(folder.path), QueryLimits(seconds=600.0, workers=2))) as session:
        for step in range(16):
            if step == 10:  # from now on no process indexes the log but for a question
                log.close()
                log = NQuadsLog(folder.quads)
            batch = {chance.randrange(8): _word(step) for _ in range(chance.randrange(1, 4))}
            log.write([page(number, text) for number, text in batch.items()])
            expected |= batch
            if step % 10 in (0, 1, 5) or chance.random() < 0.3:
                await asyncio.gather(*(_check(session, expected, _word(chance.randrange(step + 1))) for _ in range(3)))
    log.close()


def _word(step: int) -> str:
    """Return a word for a step. No two are alike, because a search corrects errors in spelling."""
    return chr(ord("a") + step) * 8


async def _check(session: aiohttp.ClientSession, expected: dict[int, str], word: str) -> None:
    sparql = {"query": "SELECT ?o { ?s ?p ?o }", "format": "csv"}
    async with session.get("/sparql", params=sparql) as answer:
        assert answer.status == 200, await answer.text()
        assert set((await answer.text()).split()[1:]) == set(expected.values())
    async with session.get("/search", params={"q": f'"{word}"', "format": "json"}) as answer:
        hits = (await answer.json())["results"]
    assert sum(hit["pages"] for hit in hits) == sum(text == word for text in expected.values())
