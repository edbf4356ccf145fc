"""An endpoint that takes pages as they come: a spool that is filled by the crawl and emptied by a thread.

The thread sends the oldest batch again and again, with pauses that grow, until it is taken: connections that fail, 5xx,
429 and 408, and refusals of entry (401, 403, 404: somebody will mend the endpoint or its rights) are all waited for. An
answer that says the *content* is wrong (400, 413, 415, 422) would come again for ever: then the pages are sent one by
one, the culprit once more without the statements that are not strictly RDF, and what is refused even so is set aside.

Where each page takes requests of its own, each is insisted on by itself: an endpoint that fails now and then, or lets
only so many requests in, would otherwise never get to the end of a batch.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from motherlode.index.records import PageRecord
from motherlode.index.sinks.changes import PageChange, change_from, strict
from motherlode.index.sinks.client import Answer, Client
from motherlode.index.sinks.spool import Spool

Send = Callable[[Client, Sequence[PageChange]], Answer]
_CONTENT = frozenset({400, 413, 415, 422})
_FIRST_WAIT, _LONGEST_WAIT = 0.25, 60.0


class EndpointSink:
    """`write` returns when the pages are safe on disk; the thread does the rest."""

    def __init__(self, spool: Spool, client: Client, send: Send, *, drain: float, portion: int | None = None) -> None:
        self._spool = spool
        self._client = client
        self._send = send
        self._drain = drain
        self._portion = portion
        """Pages that are sent at a time; None for whole batches."""
        self._news = threading.Condition()
        self._closing = False
        self._broken: Exception | None = None
        self.sent = 0
        """Batches that the endpoint has taken."""
        self.trouble = ""
        """Why the last attempt failed; empty after one that did not."""
        self._spool.note_trouble("")
        self._thread = threading.Thread(target=self._run, name="sink", daemon=True)
        self._thread.start()

    def write(self, records: Sequence[PageRecord]) -> None:
        if self._broken is not None:
            raise OSError(f"a sink broke: {self._broken}") from self._broken
        self._spool.put([change_from(record) for record in records])
        with self._news:
            self._news.notify_all()

    def flush(self) -> None:
        self._spool.sync()

    def close(self) -> None:
        """Wait a while for the endpoint to take what is left, then stop; what remains is on disk."""
        with self._news:
            self._news.wait_for(lambda: not len(self._spool) or self._broken is not None, timeout=self._drain)
            self._closing = True
            self._news.notify_all()
        self._thread.join()
        self._client.close()

    @property
    def waiting(self) -> int:
        return len(self._spool)

    def _run(self) -> None:
        try:
            while self._await_work():
                self._deliver()
        except Exception as error:  # noqa: BLE001 - a thread has nobody above it: the next write tells the crawl
            self._broken = error
            with self._news:
                self._news.notify_all()

    def _await_work(self) -> bool:
        with self._news:
            self._news.wait_for(lambda: self._closing or len(self._spool) > 0)
            return not self._closing

    def _deliver(self) -> None:
        """Send the oldest batch until it is taken, or the crawl ends."""
        batch = self._spool.first()
        if batch is None:
            return
        portion = self._portion or max(1, len(batch))
        if not all(self._insist(batch[start : start + portion]) for start in range(0, len(batch), portion)):
            return
        self._spool.drop_first()
        self.sent += 1
        with self._news:
            self._news.notify_all()

    def _insist(self, changes: Sequence[PageChange]) -> bool:
        """True once the endpoint has taken the pages, or refused them for good."""
        wait = _FIRST_WAIT
        while True:
            answer = self._attempt(changes)
            if answer is not None and answer.good:
                return True
            if answer is not None and answer.status in _CONTENT:
                return self._one_by_one(changes, answer)
            pause = max(wait, answer.retry_after or 0.0) if answer is not None else wait
            if self._paused(min(pause, _LONGEST_WAIT)):
                return False
            wait = min(wait * 2, _LONGEST_WAIT)

    def _attempt(self, changes: Sequence[PageChange]) -> Answer | None:
        try:
            answer = self._send(self._client, changes)
        except OSError as error:
            self._note(str(error))
            return None
        self._note("" if answer.good else f"{answer.status} {answer.text[:200]}".strip())
        return answer

    def _note(self, trouble: str) -> None:
        """Keep it where `stats` finds it."""
        if trouble != self.trouble:
            self.trouble = trouble
            self._spool.note_trouble(trouble)

    def _one_by_one(self, changes: Sequence[PageChange], refusal: Answer) -> bool:
        if len(changes) > 1:
            return all(self._insist([change]) for change in changes)
        (change,) = changes
        mended = strict(change)
        if mended != change:
            return self._insist([mended])
        self._spool.set_aside(change, f"{refusal.status} {refusal.text}")
        return True

    def _paused(self, seconds: float) -> bool:
        """Wait before the next attempt; True where the crawl ends meanwhile."""
        with self._news:
            return self._news.wait_for(lambda: self._closing, timeout=seconds)
