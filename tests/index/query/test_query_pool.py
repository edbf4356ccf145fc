"""Tests of the pool of query processes: results, waiting, timeouts and cancellation."""

from __future__ import annotations

import asyncio
from itertools import count as count_up
from pathlib import Path

import pytest

from motherlode.index.quad_store import QuadStore
from motherlode.index.query.query_pool import QueryFailure, QueryPool, parse_results, select
from motherlode.index.query.query_worker import QueryRequest
from tests.index.fakes import record, says

COUNT = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"
ENDLESS = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n2 ?o }"

LARGE = "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }"
"""Eight million rows: more than fits into all buffers between a process and its client."""


@pytest.fixture
def store(tmp_path: Path) -> QuadStore:
    made = QuadStore(tmp_path / "store")
    made.write([record("http://a.test/", *(says(f"x{n}", f"value {n}") for n in range(200)))])
    made.flush()
    return made


async def count(pool: QueryPool) -> int:
    return int((await select(pool, COUNT, seconds=30)).rows[0]["n"].value)


async def test_pool_is_usable_after_results_errors_and_limits(store: QuadStore, tmp_path: Path) -> None:
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


async def test_query_that_only_waited_reports_busy_and_not_slow(store: QuadStore, tmp_path: Path) -> None:
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


async def test_queries_beyond_limit_are_refused_and_others_wait(store: QuadStore, tmp_path: Path) -> None:
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


async def test_later_writes_are_visible_after_refresh(store: QuadStore, tmp_path: Path) -> None:
    pool = QueryPool(tmp_path / "store", tmp_path / "words", refresh_seconds=0.0)
    try:
        assert await count(pool) == 200
        store.write([record("http://b.test/", says("y", "new"))])
        assert await count(pool) == 201
    finally:
        await pool.close()


async def test_process_that_could_not_open_the_store_again_gets_no_further_query(
    store: QuadStore, tmp_path: Path
) -> None:
    versions = count_up()

    async def update() -> object:
        return next(versions)

    pool = QueryPool(tmp_path / "store", tmp_path / "words", workers=1, update=update)
    try:
        assert await count(pool) == 200
        (tmp_path / "store").rename(tmp_path / "moved")
        with pytest.raises(QueryFailure, match="there is no store"):
            await count(pool)
        (tmp_path / "moved").rename(tmp_path / "store")
        assert await count(pool) == 200
    finally:
        await pool.close()


async def test_cancelled_client_ends_its_query(store: QuadStore, tmp_path: Path) -> None:
    pool = QueryPool(tmp_path / "store", tmp_path / "words", workers=1)
    try:
        await count(pool)
        left = asyncio.create_task(select(pool, ENDLESS, seconds=600))
        await asyncio.sleep(0.2)
        left.cancel()
        with pytest.raises(asyncio.CancelledError):
            await left
        assert await count(pool) == 200, "the slot of the only worker is free again"
    finally:
        await pool.close()


async def test_timeout_of_unread_result_frees_slot(store: QuadStore, tmp_path: Path) -> None:
    pool = QueryPool(tmp_path / "store", tmp_path / "words", workers=1)
    try:
        async with asyncio.timeout(60):
            with pytest.raises(QueryFailure) as caught:
                async with pool.ask(QueryRequest(sparql=LARGE), seconds=1) as answer:
                    async for _ in answer.chunks():
                        await asyncio.Event().wait()  # like a client that stops reading
            assert caught.value.status == 504
            assert await count(pool) == 200
    finally:
        await pool.close()


async def test_query_without_store_is_refused(tmp_path: Path) -> None:
    pool = QueryPool(tmp_path / "none", tmp_path / "words")
    with pytest.raises(QueryFailure) as caught:
        async with pool.ask(QueryRequest(sparql="ASK {}"), seconds=30):
            pass
    assert caught.value.status == 503
    await pool.close()


@pytest.mark.parametrize("when", ["before", "meanwhile"])
async def test_damaged_store_is_reported_with_advice(tmp_path: Path, when: str) -> None:
    made = QuadStore(tmp_path / "store")
    made.write([record("http://a.test/", *(says(f"x{n}", f"value {n}") for n in range(5_000)))])
    made.flush()
    del made
    pool = QueryPool(tmp_path / "store", tmp_path / "words", workers=1, refresh_seconds=0.0)
    try:
        if when == "meanwhile":
            assert await count(pool) == 5_000
        for file in (tmp_path / "store").glob("*.sst"):  # a worker with an open snapshot is not affected
            file.unlink()
            file.touch()
        with pytest.raises(QueryFailure, match=r"is damaged: .*Put back a copy") as caught:
            await count(pool)
        assert caught.value.status == 500
    finally:
        await pool.close()


def test_results_are_parsed_as_rows_or_boolean() -> None:
    rows = parse_results(b'{"head":{"vars":["a","b"]},"results":{"bindings":[{"a":{"type":"bnode","value":"1"}},{}]}}')
    assert [{name: term.value for name, term in row.items()} for row in rows.rows] == [{"a": "_:1"}, {}]
    assert parse_results(b'{"head":{},"boolean":true}').truth is True


def test_parse_results_on_examples_gives_expected_values() -> None:
    results = b'{"head":{"vars":["s"]},"results":{"bindings":[{"s":{"type":"uri","value":"u:a"}}]}}'
    assert parse_results(results).rows[0]["s"].value == "u:a"
