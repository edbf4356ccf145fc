"""A ledger that lives in memory: for simulations, which need speed and no tomorrow."""

from __future__ import annotations

import heapq
from collections.abc import Iterator

from motherlode.frontier.entries import Entry, HostRecord, UrlState
from motherlode.www.urls import host_of


class MemoryLedger:
    """Dictionaries and one heap an arm."""

    def __init__(self) -> None:
        self._urls: dict[str, tuple[Entry, UrlState, str]] = {}
        self._queues: dict[str, list[tuple[float, int, Entry]]] = {}
        self._hosts: dict[str, HostRecord] = {}
        self._visits: list[bytes] = []
        self._notes: dict[str, bytes] = {}
        self.known = self._urls.__contains__
        """Asked for every link of every page, hence without a call of ours in between."""

    def add(self, entry: Entry) -> None:
        self._urls[entry.url] = (entry, UrlState.WAITING, "")
        queue = self._queues.get(entry.arm)
        if queue is None:
            queue = self._queues[entry.arm] = []
        heapq.heappush(queue, (-entry.score, entry.sequence, entry))

    def refuse(self, entry: Entry, reason: str) -> None:
        self._urls[entry.url] = (entry, UrlState.REFUSED, reason)

    def pop(self, arm: str) -> Entry | None:
        queue = self._queues.get(arm)
        if not queue:
            return None
        entry = heapq.heappop(queue)[2]
        if not queue:
            del self._queues[arm]
        self._urls[entry.url] = (entry, UrlState.IN_FLIGHT, "")
        return entry

    def best(self, arm: str) -> float | None:
        queue = self._queues.get(arm)
        return -queue[0][0] if queue else None

    def finish(self, entry: Entry, state: UrlState, reason: str) -> None:
        self._urls[entry.url] = (entry, state, reason)

    def waiting(self) -> Iterator[tuple[str, str, int]]:
        for arm, queue in self._queues.items():
            yield arm, host_of(queue[0][2].url), len(queue)

    def recover(self) -> int:
        lost = [entry for entry, state, _ in self._urls.values() if state is UrlState.IN_FLIGHT]
        for entry in lost:
            self.add(entry)
        return len(lost)

    def find(self, url: str) -> tuple[Entry, UrlState, str] | None:
        return self._urls.get(url)

    def put_host(self, host: HostRecord) -> None:
        self._hosts[host.name] = host

    def hosts(self) -> Iterator[HostRecord]:
        return iter(self._hosts.values())

    def append_visit(self, number: int, record: bytes) -> None:
        self._visits.append(record)

    def visits(self) -> Iterator[bytes]:
        return iter(self._visits)

    def put_note(self, key: str, value: bytes) -> None:
        self._notes[key] = value

    def note(self, key: str) -> bytes | None:
        return self._notes.get(key)

    def commit(self) -> None:
        """Nothing outlasts this ledger."""

    def close(self) -> None:
        """Nothing is held."""
