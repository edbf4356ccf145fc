"""Processes that answer, wait, time out and end."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from motherlode.index import QuadStore
from motherlode.index.query.query_worker import WorkerQuery
from motherlode.serve.query_pool import QueryFailure, QueryPool
from motherlode.serve.views.elements import select
from tests.index.fakes import record, says

COUNT = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"
ENDLESS = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n2 ?o }"

LARGE = "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }"
"""Eight million rows: more than all buffers between a process and its client hold."""


@pytest.fixture
def store(tmp_path: Path) -> QuadStore:
    made = QuadStore(tmp_path / "store")
    made.write([record("http://a.test/", *(says(f"x{n}", f"value {n}") for n in range(200)))])
    made.flush()
    return made


async def count(pool: QueryPool) -> int:
    return int((await select(pool, COUNT, seconds=30)).rows[0]["n"].value)


async def test_answers_errors_and_limits_leave_the_pool_usable(store: QuadStore, tmp_path: Path) -> None:
    pool = QueryPool(tmp_path / "store", tmp_path / "words", workers=1)
    try:
        assert await count(pool) == 200
        for sparql, most, status in (("SELECT {", 1000, 400), ("SELECT * { ?s ?p ?o }", 1000, 413)):
            with pytest.raises(QueryFailure) as caught:
                await select(pool, sparql, seconds=30, max_bytes=most)
            assert caught.value.status == status
        with pytest.raises(QueryFailure) as caught:
            await select(pool, ENDLESS, seconds=0.5)
        assert caught.value.status == 504
        assert await count(pool) == 200
    finally:
        await pool.close()


async def test_who_only_waited_is_not_told_that_the_query_is_slow(store: QuadStore, tmp_path: Path) -> None:
    pool = QueryPool(tmp_path / "store", tmp_path / "words", workers=1)
    try:
        await count(pool)
        slow = asyncio.create_task(select(pool, ENDLESS, seconds=3))
        await asyncio.sleep(0.1)
        with pytest.raises(QueryFailure, match="could not begin") as caught:
            await select(pool, COUNT, seconds=0.2)
        assert caught.value.status == 503
        with pytest.raises(QueryFailure):
            await slow
    finally:
        await pool.close()


async def test_too_many_are_turned_away_and_the_others_wait(store: QuadStore, tmp_path: Path) -> None:
    pool = QueryPool(tmp_path / "store", tmp_path / "words", workers=1, waiting=1)
    try:
        await count(pool)
        slow = asyncio.create_task(select(pool, ENDLESS, seconds=3))
        await asyncio.sleep(0.1)
        waiting = asyncio.create_task(count(pool))
        await asyncio.sleep(0.1)
        with pytest.raises(QueryFailure) as caught:
            await count(pool)
        assert caught.value.status == 503
        assert await waiting == 200
        with pytest.raises(QueryFailure):
            await slow
    finally:
        await pool.close()


async def test_what_is_written_later_is_seen(store: QuadStore, tmp_path: Path) -> None:
    pool = QueryPool(tmp_path / "store", tmp_path / "words", refresh_seconds=0.0)
    try:
        assert await count(pool) == 200
        store.write([record("http://b.test/", says("y", "new"))])
        assert await count(pool) == 201
    finally:
        await pool.close()


async def test_a_client_that_leaves_ends_its_query(store: QuadStore, tmp_path: Path) -> None:
    pool = QueryPool(tmp_path / "store", tmp_path / "words", workers=1)
    try:
        await count(pool)
        left = asyncio.create_task(select(pool, ENDLESS, seconds=600))
        await asyncio.sleep(0.2)
        left.cancel()
        with pytest.raises(asyncio.CancelledError):
            await left
        assert await count(pool) == 200, "the only worker's place is free again"
    finally:
        await pool.close()


async def test_timeout_of_an_answer_that_is_not_read_frees_its_slot(store: QuadStore, tmp_path: Path) -> None:
    pool = QueryPool(tmp_path / "store", tmp_path / "words", workers=1)
    try:
        async with asyncio.timeout(60):
            with pytest.raises(QueryFailure) as caught:
                async with pool.ask(WorkerQuery(sparql=LARGE), seconds=1) as answer:
                    async for _ in answer.chunks():
                        await asyncio.Event().wait()  # as a client that takes nothing more
            assert caught.value.status == 504
            assert await count(pool) == 200
    finally:
        await pool.close()


async def test_without_a_store_there_is_nothing_to_ask(tmp_path: Path) -> None:
    pool = QueryPool(tmp_path / "none", tmp_path / "words")
    with pytest.raises(QueryFailure) as caught:
        async with pool.ask(WorkerQuery(sparql="ASK {}"), seconds=30):
            pass
    assert caught.value.status == 503
    await pool.close()


@pytest.mark.parametrize("when", ["before", "meanwhile"])
async def test_a_damaged_store_is_told_with_what_to_do(tmp_path: Path, when: str) -> None:
    made = QuadStore(tmp_path / "store")
    made.write([record("http://a.test/", *(says(f"x{n}", f"value {n}") for n in range(5_000)))])
    made.flush()
    del made
    pool = QueryPool(tmp_path / "store", tmp_path / "words", workers=1, refresh_seconds=0.0)
    try:
        if when == "meanwhile":
            assert await count(pool) == 5_000
        for file in (tmp_path / "store").glob("*.sst"):  # a worker that has it open keeps what it was
            file.unlink()
            file.touch()
        with pytest.raises(QueryFailure, match=r"is damaged: .*Put back a copy") as caught:
            await count(pool)
        assert caught.value.status == 500
    finally:
        await pool.close()
