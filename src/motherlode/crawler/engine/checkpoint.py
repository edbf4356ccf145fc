"""What lasts: quads first, then the frontier, the account and what was learned, in one transaction.

A checkpoint costs, and a crash between two of them costs only work: answers are kept as they come (`fetch.journal`) and
are read again. So checkpoints are frequent while they are cheap, and what lies on disk is a second old; a crawl that
makes a lot of quads takes longer over each, and has one more seldom. That pays twice, because many quads at a time
cost the store less.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterable

import msgspec

from motherlode.crawler.deferred_index import MANIFEST, encode_manifest
from motherlode.crawler.engine.components import Components
from motherlode.crawler.stats.counters import Counters, Estimator
from motherlode.frontier import STORAGE_ERRORS

LEAST_SECONDS, MOST_SECONDS = 1.0, 5.0
"""Between two checkpoints."""
_SHARE = 20.0
"""Checkpoints may take a twentieth of the time."""
_MODEL_SHARE = 100.0
"""Saving what was learned may take a hundredth of it."""


class Checkpointer:
    """`seconds` is how long the crawl has run, over all its runs."""

    def __init__(
        self, parts: Components, totals: Counters, estimator: Estimator, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._parts = parts
        self._totals = totals
        self._estimator = estimator
        self._clock = clock
        self._ended_at = self._model_at = self._clock_at = clock()
        self._wait = LEAST_SECONDS
        self._model_wait = 0.0

    @property
    def seconds(self) -> float:
        return self._totals.seconds + self._clock() - self._clock_at

    async def take_when_due(self, *, dried_out: bool) -> None:
        began = self._clock()
        if began - self._ended_at < self._wait:
            return
        if self._parts.filters is not None:
            self._parts.filters.reread()
        await self._parts.writer.flush()
        if began - self._model_at >= self._model_wait:
            self._save_model(dried_out=dried_out)
        self._commit()
        self._ended_at = self._clock()
        self._wait = min(MOST_SECONDS, max(LEAST_SECONDS, _SHARE * (self._ended_at - began)))

    def take_last(self, *, dried_out: bool) -> None:
        """The quads are in the store: commit the rest."""
        self._save_model(dried_out=dried_out)
        self._commit()

    def _commit(self) -> None:
        parts, now = self._parts, self._clock()
        self._totals.seconds += now - self._clock_at
        self._clock_at = now
        parts.storage.put_note("totals", msgspec.msgpack.encode(self._totals))
        if parts.journal is not None:
            parts.storage.put_note("journal", parts.journal.state())
        if parts.quad_log is not None:
            parts.storage.put_note(MANIFEST, encode_manifest(parts.quad_log.manifest()))
        if parts.peers is not None:
            parts.peers.seal()
        parts.frontier.commit()
        if parts.journal is not None:
            parts.journal.finish_commit()
        if parts.peers is not None:
            parts.peers.committed()

    def _save_model(self, *, dried_out: bool) -> None:
        """Keep what was learned: at every checkpoint while that is cheap, otherwise seldom enough to stay cheap."""
        parts, began = self._parts, self._clock()
        parts.storage.put_note("policy", parts.policy.dump())
        parts.storage.put_note("traps", parts.traps.dump())
        parts.storage.put_note("tallies", self._estimator.dump())
        parts.storage.put_note("statements", parts.reward.seen.dump())
        estimate = self._estimator.estimate(parts.storage.waiting())
        parts.storage.put_note("estimate", msgspec.msgpack.encode((estimate, dried_out)))
        self._model_at = self._clock()
        self._model_wait = _MODEL_SHARE * (self._model_at - began)


# ── The end of a run: whatever ended it, it is left so that it can be resumed.


async def cancel(running: Iterable[asyncio.Task[None]]) -> None:
    """End what is under way, and wait until it has ended."""
    tasks = list(running)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def close(parts: Components, checkpoints: Checkpointer, *, dried_out: bool, spoiled: bool) -> None:
    """Let go of everything; the last commit is made unless something on disk has failed us (`spoiled`)."""
    if parts.outage_monitor is not None:
        await parts.outage_monitor.close()
    await parts.subrequests.close()
    await parts.readers.close()
    await parts.fetcher.close()
    if parts.archive is not None:
        parts.archive.close()
    try:
        with contextlib.suppress(*((OSError,) if spoiled else ())):  # the first error is the one to be told
            await parts.writer.close()  # raises where quads could not be stored: then nothing is committed
        if not spoiled:
            checkpoints.take_last(dried_out=dried_out)
    except STORAGE_ERRORS as error:
        raise OSError(f"the frontier could not be written: {error}") from error
    finally:
        if parts.journal is not None:
            parts.journal.close()
        if parts.peers is not None:
            parts.peers.close()
        parts.storage.close()
        if parts.sinks is not None:
            await asyncio.to_thread(parts.sinks.close)  # may wait a while for an endpoint
