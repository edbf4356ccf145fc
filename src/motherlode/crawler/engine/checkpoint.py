"""Checkpoints: the quads first, then frontier, counters and what was learned, in one transaction.

A checkpoint takes time, and a crash between two of them costs only work: the journal keeps responses as they come
(`fetch.journal`), and they are parsed again. So checkpoints are frequent while they are cheap, about one per second. A
crawl that makes many quads takes longer over each and has fewer, which also makes the quads cheaper for the store.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec

from motherlode.crawler.engine.components import Components, SaveEntry
from motherlode.crawler.index_later import MANIFEST, encode_manifest
from motherlode.crawler.stats.counters import Counters, EarlyStop, Estimator
from motherlode.fetch import ResponseJournal
from motherlode.index.nquads_log import NQuadsLog

MIN_SECONDS, MAX_SECONDS = 1.0, 5.0
"""Between two checkpoints."""
_PAUSE_FACTOR = 20.0
"""The pause after a checkpoint, in units of its duration."""
_MODEL_PAUSE_FACTOR = 100.0
"""The same for saving what was learned."""


class JournalCommit:
    """Commits the state of the journal with the frontier."""

    def __init__(self, journal: ResponseJournal) -> None:
        self._journal = journal

    def prepare_commit(self, save: SaveEntry) -> None:
        save("journal", self._journal.state())

    def committed(self) -> None:
        self._journal.finish_commit()

    def close(self) -> None:
        self._journal.close()


class ManifestCommit:
    """Commits the manifest of the files of quads with the frontier."""

    def __init__(self, quad_log: NQuadsLog) -> None:
        self._quad_log = quad_log

    def prepare_commit(self, save: SaveEntry) -> None:
        save(MANIFEST, encode_manifest(self._quad_log.manifest()))

    def committed(self) -> None: ...

    def close(self) -> None: ...


class Checkpointer:
    """Saves the state of a crawl. `seconds` is how long the crawl has run, over all its runs."""

    def __init__(
        self,
        parts: Components,
        totals: Counters,
        estimator: Estimator,
        early_stop: EarlyStop,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._parts = parts
        self._totals = totals
        self._estimator = estimator
        self._early_stop = early_stop
        self._clock = clock
        self._ended_at = self._model_at = self._clock_at = clock()
        self._wait = MIN_SECONDS
        self._model_wait = 0.0

    @property
    def seconds(self) -> float:
        return self._totals.seconds + self._clock() - self._clock_at

    async def save_if_due(self) -> None:
        """Make a checkpoint if the last one is long enough ago."""
        began = self._clock()
        if began - self._ended_at < self._wait:
            return
        self._parts.filters.reread()
        await self._parts.writer.flush()
        if began - self._model_at >= self._model_wait:
            self._save_model()
        self._commit()
        self._ended_at = self._clock()
        self._wait = min(MAX_SECONDS, max(MIN_SECONDS, _PAUSE_FACTOR * (self._ended_at - began)))

    def save_final(self) -> None:
        """Make the last checkpoint. The quads are in the store."""
        self._save_model()
        self._commit()

    def _commit(self) -> None:
        parts, now = self._parts, self._clock()
        self._totals.seconds += now - self._clock_at
        self._clock_at = now
        parts.storage.put_note("totals", msgspec.msgpack.encode(self._totals))
        for participant in parts.participants:
            participant.prepare_commit(parts.storage.put_note)
        parts.frontier.commit()
        for participant in parts.participants:
            participant.committed()

    def _save_model(self) -> None:
        """Save what was learned: with every checkpoint while that is cheap, otherwise less often."""
        parts, began = self._parts, self._clock()
        parts.storage.put_note("policy", parts.policy.dump())
        parts.storage.put_note("traps", parts.traps.dump())
        parts.storage.put_note("tallies", self._estimator.dump())
        parts.storage.put_note("statements", parts.reward.seen.dump())
        estimate = self._estimator.estimate(parts.storage.waiting())
        parts.storage.put_note("estimate", msgspec.msgpack.encode((estimate, self._early_stop.is_reached)))
        self._model_at = self._clock()
        self._model_wait = _MODEL_PAUSE_FACTOR * (self._model_at - began)
