"""The end of a run: nothing goes on behind it, and nothing is committed where the disk has failed."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from motherlode.crawler.engine.components import close_components
from motherlode.crawler.engine.limits import cancel


async def test_what_is_under_way_has_ended_when_it_was_cancelled() -> None:
    ended = []

    async def slow() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.01)
            ended.append(True)

    tasks = {asyncio.create_task(slow()) for _ in range(3)}
    await asyncio.sleep(0)
    await cancel(tasks)
    assert ended == [True] * 3 and all(task.cancelled() for task in tasks)


class Notes:
    """Stands for every part, and notes what was done to it."""

    def __init__(self, *, writer_fails: bool = False) -> None:
        self.done: list[str] = []
        self._writer_fails = writer_fails

    def parts(self) -> Any:
        names = ("index_query", "outage_monitor", "subrequests", "tdm_files", "scorers", "readers")
        slow = {name: SimpleNamespace(close=self._closing(name)) for name in (*names, "fetcher", "writer")}
        quick = ("archive", "storage", "sinks", "log")
        participants = tuple(SimpleNamespace(close=self._note(name)) for name in ("journal", "peers"))
        parts = {name: SimpleNamespace(close=self._note(name)) for name in quick}
        notices = SimpleNamespace(end_run=self._end_run)
        return SimpleNamespace(**slow, **parts, participants=participants, notices=notices)

    async def _end_run(self, *, is_broken: bool) -> None:
        self.done.append("notices")

    def _closing(self, name: str) -> Any:
        async def closing() -> None:
            self.done.append(name)
            if name == "writer" and self._writer_fails:
                raise OSError("no space left on device")

        return closing

    def _note(self, name: str) -> Any:
        return lambda: self.done.append(name)

    def save_final(self) -> None:
        self.done.append("commit")


async def test_last_commit_comes_after_the_quads_and_before_the_storage_closes() -> None:
    notes = Notes()
    await close_components(notes.parts(), notes.save_final, is_broken=False)
    order = [name for name in notes.done if name in ("writer", "commit", "storage", "log")]
    assert order == ["writer", "commit", "storage", "log"], "the indexer may take longer than the crawl"
    others = {"index_query", "subrequests", "tdm_files", "scorers", "readers", "fetcher", "archive", "journal", "peers"}
    assert others | {"outage_monitor", "sinks"} <= set(notes.done)


async def test_quads_that_could_not_be_stored_keep_the_frontier_from_being_committed() -> None:
    notes = Notes(writer_fails=True)
    with pytest.raises(OSError, match="no space"):
        await close_components(notes.parts(), notes.save_final, is_broken=False)
    assert "commit" not in notes.done and "storage" in notes.done


async def test_second_error_is_not_reported_and_nothing_is_committed() -> None:
    notes = Notes(writer_fails=True)
    await close_components(notes.parts(), notes.save_final, is_broken=True)
    assert "commit" not in notes.done and "sinks" in notes.done
