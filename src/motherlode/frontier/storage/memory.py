"""Frontier storage in memory, for simulations: fast and not persistent."""

import heapq
from collections.abc import Iterator, Sequence

from motherlode.frontier.records import Entry, HostRecord, UrlState
from motherlode.www.urls import host_of


class MemoryStorage:
    """Frontier storage in dictionaries, with one heap per arm. The docstrings hold for `LmdbStorage`, too."""

    def __init__(self) -> None:
        self._urls: dict[str, tuple[Entry, UrlState, str]] = {}
        self._queues: dict[str, list[tuple[float, int, Entry]]] = {}
        self._hosts: dict[str, HostRecord] = {}
        self._visits: list[bytes] = []
        self._notes: dict[str, bytes] = {}
        self._pages: dict[str, bytes] = {}
        self._batches: dict[int, bytes] = {}
        self._postponed: dict[str, float] = {}
        self._aside: list[Entry] = []

    def known_of(self, urls: Sequence[str]) -> list[bool]:
        """Return for each URL whether it is known. The frontier calls it for every link of every page."""
        known = self._urls
        return [url in known for url in urls]

    def add(self, entry: Entry) -> None:
        """Put a new URL, or one that was popped, into the queue of its arm."""
        self._postponed.pop(entry.url, None)
        self._urls[entry.url] = (entry, UrlState.WAITING, "")
        queue = self._queues.get(entry.arm)
        if queue is None:
            queue = self._queues[entry.arm] = []
        heapq.heappush(queue, (-entry.score, entry.sequence, entry))

    def add_new(self, entries: Sequence[Entry]) -> None:
        """Add entries whose URLs are distinct and not known. The caller checks both."""
        for entry in entries:
            self.add(entry)

    def pop(self, arm: str) -> Entry | None:
        """Remove and return the arm's best entry, now in flight. Highest score first, then first discovered."""
        queue = self._queues.get(arm)
        if not queue:
            return None
        entry = heapq.heappop(queue)[2]
        if not queue:
            del self._queues[arm]
        self._urls[entry.url] = (entry, UrlState.IN_FLIGHT, "")
        return entry

    def best(self, arm: str) -> float | None:
        """Return the score of the entry that `pop` would return; None if the arm is empty."""
        queue = self._queues.get(arm)
        return -queue[0][0] if queue else None

    def count(self, arm: str) -> int:
        """Return the number of entries that wait in an arm."""
        return len(self._queues.get(arm, ()))

    def finish(self, entry: Entry, state: UrlState, reason: str) -> None:
        """Store the final state of an entry in flight, or of a new URL that is never fetched."""
        self._urls[entry.url] = (entry, state, reason)

    def postpone(self, entry: Entry, until: float) -> None:
        """Store that an entry in flight failed and will be added again at a later time."""
        self._urls[entry.url] = (entry, UrlState.IN_FLIGHT, "")
        self._postponed[entry.url] = until

    def postponed(self) -> Iterator[tuple[float, Entry]]:
        """Yield the entries that were postponed and not added again, with their times."""
        for url, until in self._postponed.items():
            yield until, self._urls[url][0]

    def arms(self) -> list[str]:
        """Return the arms in memory, in the order of discovery. Some may be empty."""
        return list(self._queues)

    def arm_host(self, arm: str) -> str:
        """Return the host of an arm."""
        queue = self._queues.get(arm)
        return host_of(queue[0][2].url) if queue else arm

    def set_aside(self, arm: str) -> int:
        """Forget an arm and its queue, to save memory. Return the number of its entries, which stay known.

        The entries wait again after `take_back`. If the arm gets another entry before that, it has a new queue.
        """
        aside = self._queues.pop(arm, [])
        self._aside += [entry for _, _, entry in aside]
        return len(aside)

    def take_back(self) -> int:
        """Queue the entries of all arms that were set aside. Return how many. Call it before the arms are listed."""
        aside, self._aside = self._aside, []
        for entry in aside:
            self.add(entry)
        return len(aside)

    def waiting(self) -> Iterator[tuple[str, str, int]]:
        """Yield arm, host and number of entries of each arm that is not empty."""
        for arm, queue in self._queues.items():
            yield arm, host_of(queue[0][2].url), len(queue)

    def recover(self) -> int:
        """Put entries that were in flight and not postponed back into their queues after a restart. Return how many."""
        flying = (entry for entry, state, _ in self._urls.values() if state is UrlState.IN_FLIGHT)
        lost = [entry for entry in flying if entry.url not in self._postponed]
        for entry in lost:
            self.add(entry)
        return len(lost)

    def find(self, url: str) -> tuple[Entry, UrlState, str] | None:
        """Return a URL's entry, its state and the reason for the state; None if the URL is not known."""
        return self._urls.get(url)

    def put_host(self, host: HostRecord) -> None:
        """Store the record of a host."""
        self._hosts[host.name] = host

    def host(self, name: str) -> HostRecord | None:
        """Return the stored record of a host; None if it has none."""
        return self._hosts.get(name)

    def hosts(self) -> Iterator[HostRecord]:
        """Yield the record of every host that has one."""
        return iter(self._hosts.values())

    def append_visit(self, number: int, record: bytes, key: bytes = b"", labels: Sequence[bytes] = ()) -> None:
        """Append the record of a visit to the log.

        A file also stores its labels, by which it is found. They replace those of earlier visits with the same key.
        """
        self._visits.append(record)

    def visits(self) -> Iterator[bytes]:
        """Yield every visit of the log, in order."""
        return iter(self._visits)

    def newest_visits(self) -> Iterator[bytes]:
        """Yield every visit of the log, the last one first."""
        return reversed(self._visits)

    def put_note(self, key: str, value: bytes) -> None:
        """Store a small value in the same transaction, for example counters or the state of the policy."""
        self._notes[key] = value

    def note(self, key: str) -> bytes | None:
        """Return the value that was stored under a key; None if there is no such key."""
        return self._notes.get(key)

    def put_page(self, url: str, record: bytes) -> None:
        """Store the record of a page for the next revisit. It replaces the previous record."""
        self._pages[url] = record

    def page(self, url: str) -> bytes | None:
        """Return the record of a page; None if it has none."""
        return self._pages.get(url)

    def pages(self) -> Iterator[bytes]:
        """Yield the record of every page that has one."""
        return iter(list(self._pages.values()))

    def put_batch(self, number: int, batch: bytes) -> None:
        """Store a batch for another shard until it is delivered."""
        self._batches[number] = batch

    def drop_batch(self, number: int) -> None:
        """Remove a batch after its delivery."""
        self._batches.pop(number, None)

    def batch(self, number: int) -> bytes | None:
        """Return a stored batch; None if no batch has this number."""
        return self._batches.get(number)

    def batches(self) -> Iterator[tuple[int, bytes]]:
        """Yield the batches that were not dropped, by number."""
        return iter(sorted(self._batches.items()))

    def commit(self) -> None:
        """Make all changes since the last commit durable, in one transaction. Here nothing is persistent."""

    def close(self) -> None:
        """Release the resources without a commit."""
