"""What a crawl's folder tells about the crawl, running or over."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from motherlode.crawl.folder import CrawlFolder
from motherlode.crawl.totals import Totals
from motherlode.frontier import DiskLedger, HostRecord
from motherlode.model import Visit


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlStats:
    """The account of a crawl as of its last commit."""

    totals: Totals
    hosts: tuple[HostRecord, ...]
    known_urls: int
    refused: dict[str, int]
    disk: int

    def summary(self) -> dict[str, Any]:
        """The object that `stats --json` prints."""
        return {
            **self.totals.summary(),
            "hosts": len(self.hosts),
            "known_urls": self.known_urls,
            "refused": dict(sorted(self.refused.items())),
            "disk": self.disk,
        }


def read_stats(folder: CrawlFolder) -> CrawlStats:
    folder.require()
    if not folder.frontier.exists():
        return CrawlStats(totals=Totals(), hosts=(), known_urls=0, refused={}, disk=folder.disk_use())
    ledger = DiskLedger(folder.frontier, read_only=True)
    try:
        saved, frontier = ledger.note("totals"), ledger.note("frontier")
        state: dict[str, Any] = msgspec.msgpack.decode(frontier) if frontier else {"known_urls": 0, "refused": {}}
        return CrawlStats(
            totals=msgspec.msgpack.decode(saved, type=Totals) if saved else Totals(),
            hosts=tuple(ledger.hosts()),
            known_urls=state["known_urls"],
            refused=state["refused"],
            disk=folder.disk_use(),
        )
    finally:
        ledger.close()


def read_visits(folder: CrawlFolder) -> Iterator[Visit]:
    """Every visit on record, in order."""
    folder.require()
    ledger = DiskLedger(folder.frontier, read_only=True)
    try:
        decode = msgspec.msgpack.Decoder(Visit).decode
        for record in ledger.visits():
            yield decode(record)
    finally:
        ledger.close()
