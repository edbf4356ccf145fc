"""The ledger: who is known, who waits, what became of each. Two implementations keep one contract.

`MemoryStorage` (memory.py) forgets everything at the end; simulations use it. `LmdbStorage` (disk.py) is LMDB: all
changes between two commits are one transaction, so a killed process finds the state of the last commit, whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from motherlode.frontier.lease import Entry, HostRecord, UrlState


class FrontierStorage(Protocol):
    """Known URLs, one priority queue an arm, host records and a log of visits. Changes are lasting after `commit`."""

    def known(self, url: str) -> bool: ...

    def known_of(self, urls: Sequence[str]) -> list[bool]:
        """For each URL whether it is known: what every link of every page is asked."""
        ...

    def add(self, entry: Entry) -> None:
        """A URL that was not known waits from now on. Putting back one that was popped is an add, too."""
        ...

    def add_new(self, entries: Sequence[Entry]) -> None:
        """An `add` for each. The caller has made sure that none is known, nor there twice."""
        ...

    def refuse(self, entry: Entry, reason: str) -> None:
        """A URL that was not known is known and will not be fetched."""
        ...

    def pop(self, arm: str) -> Entry | None:
        """The arm's best entry, now in flight. Highest score first, then first discovered."""
        ...

    def best(self, arm: str) -> float | None:
        """The score of what `pop` would give."""
        ...

    def count(self, arm: str) -> int:
        """How many entries wait in an arm."""
        ...

    def finish(self, entry: Entry, state: UrlState, reason: str) -> None:
        """An entry in flight has come to its end."""
        ...

    def postpone(self, entry: Entry, until: float) -> None:
        """An entry in flight failed, and is to be added again at a later time; `postponed` remembers it until then."""
        ...

    def postponed(self) -> Iterator[tuple[float, Entry]]:
        """What was postponed and has not been added again, with its times."""
        ...

    def waiting(self) -> Iterator[tuple[str, str, int]]:
        """Each arm that has entries: arm, host, how many."""
        ...

    def recover(self) -> int:
        """Let everything wait again that was in flight, and not postponed, when the process ended; how many."""
        ...

    def find(self, url: str) -> tuple[Entry, UrlState, str] | None:
        """What is on record about a URL: the entry, its state, and the reason for that state."""
        ...

    def put_host(self, host: HostRecord) -> None: ...

    def hosts(self) -> Iterator[HostRecord]: ...

    def append_visit(self, number: int, record: bytes) -> None: ...

    def visits(self) -> Iterator[bytes]:
        """Every visit on record, in order."""
        ...

    def put_page(self, url: str, record: bytes) -> None:
        """What is known of a page for the next look at it; it replaces what was known before."""
        ...

    def page(self, url: str) -> bytes | None: ...

    def pages(self) -> Iterator[bytes]:
        """The record of every page that has one."""
        ...

    def put_note(self, key: str, value: bytes) -> None:
        """Small things that belong to the same transaction: counters, what the policy learned."""
        ...

    def note(self, key: str) -> bytes | None: ...

    def put_letter(self, number: int, letter: bytes) -> None:
        """Something that must be sent, kept until it has arrived."""
        ...

    def drop_letter(self, number: int) -> None: ...

    def letter(self, number: int) -> bytes | None: ...

    def letters(self) -> Iterator[tuple[int, bytes]]:
        """What has been put and not dropped, by number."""
        ...

    def commit(self) -> None:
        """Make everything since the last commit lasting, at once."""
        ...

    def close(self) -> None:
        """Let go without committing."""
        ...
