"""Checkpoints: the quads first, then frontier, counters and what was learned, in one transaction.

Journal, quad log and log file take part in each (`SavedPart`, `LogFile`).

A checkpoint takes time, and a crash between two of them costs only work: the journal keeps responses as they come
(`fetch.journal`), and they are parsed again. So checkpoints are frequent while they are cheap, about one per second. A
crawl that makes many quads takes longer over each and has fewer, which also makes the quads cheaper for the store.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from motherlode.crawler.config.job import DEFAULT_LOG_LEVEL
from motherlode.crawler.engine.components import Components, SaveEntry
from motherlode.crawler.engine.limits import EarlyStop
from motherlode.crawler.stats.counters import RATE_SECONDS, Counters, Estimator, SlidingRate
from motherlode.frontier import LmdbStorage

MIN_SECONDS, MAX_SECONDS = 1.0, 5.0
"""Bounds of the seconds between two checkpoints."""
_PAUSE_FACTOR = 20.0
"""The next checkpoint comes after this many times the duration of the last one, within the bounds above."""
_MODEL_PAUSE_FACTOR = 100.0
"""The state of the policy is saved again after this many times the duration of its last save (`_save_model`)."""


@dataclass(slots=True)
class SavedPart:
    """Saves one entry with each commit of the frontier: the state of the journal, or the manifest of the quad log."""

    key: str
    state: Callable[[], bytes]
    committed: Callable[[], None] = lambda: None
    close: Callable[[], None] = lambda: None

    def prepare_commit(self, save: SaveEntry) -> None:
        save(self.key, self.state())


_MAX_LOG_LINES = 1000
"""Number of log lines that are collected before they are written to the file."""
MAX_LOG_BYTES = 20_000_000
OLD_LOG_FILES = 4
"""Files that are kept beside the newest, as `crawl.log.1` to `crawl.log.4`."""
_CONTROL = dict.fromkeys((*range(32), *range(127, 160), 8232, 8233), "�")
"""Control characters that are replaced in the log, so that text from a server cannot forge a log line."""


class LogFile(logging.Handler):
    """The log file of a crawl folder: one line per URL at level INFO, and tracebacks of internal errors.

    It collects lines and writes them at every checkpoint, at every warning, and when there are many.
    `RotatingFileHandler` takes three times as long per line (38 µs, ours 13 µs: two loaded cores, 2026-11-18), because
    it asks for the file's size and flushes at every line.
    """

    def __init__(self, path: Path, level: str = DEFAULT_LOG_LEVEL) -> None:
        super().__init__(level.upper())
        self._path = path
        self._lines: list[str] = []
        self._logger = logging.getLogger("motherlode")
        self._level_before = self._logger.level
        self._logger.addHandler(self)
        self._logger.setLevel(self.level)

    def emit(self, record: logging.LogRecord) -> None:
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created))
        self._lines.append(f"{at} {record.levelname} {record.getMessage().translate(_CONTROL)}\n")
        if record.exc_info:
            text = logging.Formatter().formatException(record.exc_info)
            self._lines += [f"    {line.translate(_CONTROL)}\n" for line in text.splitlines()]
        if record.levelno >= logging.WARNING:
            self.flush()
            last_resort = logging.lastResort
            if last_resort is not None and not record.exc_info and not logging.getLogger().handlers:
                last_resort.handle(record)  # without this handler the warning would go to stderr
        elif len(self._lines) >= _MAX_LOG_LINES:
            self.flush()

    def flush(self) -> None:
        """Write the collected lines. They are lost if the disk is full, which the crawl reports elsewhere."""
        if not self._lines:
            return
        lines, self._lines = self._lines, []
        try:
            self._rotate()
            with self._path.open("a", encoding="utf-8", errors="backslashreplace") as file:
                file.writelines(lines)
        except OSError:
            pass

    def _rotate(self) -> None:
        if not self._path.exists() or self._path.stat().st_size < MAX_LOG_BYTES:
            return
        for number in range(OLD_LOG_FILES, 0, -1):
            older = self._path.with_name(f"{self._path.name}.{number - 1}") if number > 1 else self._path
            if older.exists():
                older.replace(self._path.with_name(f"{self._path.name}.{number}"))

    def prepare_commit(self, save: SaveEntry) -> None:
        """Do nothing: the log is no part of the commit."""

    def committed(self) -> None:
        self.flush()

    def close(self) -> None:
        """Stop logging into this file."""
        self.flush()
        self._logger.removeHandler(self)
        self._logger.setLevel(self._level_before)
        super().close()


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
        self._rate = SlidingRate(RATE_SECONDS, (totals.seconds, totals.fetched))

    @property
    def seconds(self) -> float:
        return self._totals.seconds + self._clock() - self._clock_at

    async def save_if_due(self) -> None:
        began = self._clock()
        if began - self._ended_at < self._wait:
            return
        self._parts.filters.reread()
        await self._describe_refused()
        await self._parts.writer.flush()
        if began - self._model_at >= self._model_wait:
            self._save_model()
        self._commit()
        self._parts.index_query.start_if_due()
        self._ended_at = self._clock()
        self._wait = min(MAX_SECONDS, max(MIN_SECONDS, _PAUSE_FACTOR * (self._ended_at - began)))

    async def describe_rest(self) -> None:
        """Write the records of the URLs that were refused since the last checkpoint, and of those that wait."""
        describer, storage = self._parts.describer, self._parts.storage
        await self._describe_refused()
        if describer.describes_waiting and isinstance(storage, LmdbStorage):
            for record in describer.waiting(storage.entries()):
                await self._parts.writer.put(record)

    async def _describe_refused(self) -> None:
        for record in self._parts.describer.take_refused():
            await self._parts.writer.put(record)

    def save_final(self) -> None:
        """Make the last checkpoint. The quads are in the store."""
        self._save_model()
        self._commit()

    def _commit(self) -> None:
        parts, now = self._parts, self._clock()
        self._totals.seconds += now - self._clock_at
        self._clock_at = now
        self._totals.rate = self._rate.add(self._totals.seconds, self._totals.fetched)
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
        parts.storage.put_note("mean_reward", parts.reward.mean.dump())
        estimate = self._estimator.estimate(parts.storage.waiting())
        parts.storage.put_note("estimate", msgspec.msgpack.encode((estimate, self._early_stop.is_reached)))
        self._model_at = self._clock()
        self._model_wait = _MODEL_PAUSE_FACTOR * (self._model_at - began)
