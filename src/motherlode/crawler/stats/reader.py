"""What a crawl's folder tells about the crawl, running or over."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from motherlode.crawler.deferred_index import MANIFEST, decode_manifest, unread
from motherlode.crawler.folder import CrawlFolder
from motherlode.crawler.stats.counters import Counters, Estimate, sum_of
from motherlode.crawler.stats.counters import sum_of_estimates as sum_of_estimates
from motherlode.frontier import NOTHING_WITHHELD, REVISIT, HostRecord, LmdbStorage, Withheld
from motherlode.index import store_bytes
from motherlode.index.nquads_log import log_damage
from motherlode.model import Visit

_NUMBER = re.compile(r"\b\d[\d,]*\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlStats:
    """The account of a crawl as of its last commit."""

    totals: Counters
    hosts: tuple[HostRecord, ...]
    known_urls: int
    refused: dict[str, int]
    disk: int
    store_bytes: int = 0
    """Of `disk`, what the quads take."""
    unindexed_bytes: int = 0
    """Of files of quads that no store has yet."""
    damaged_segments: tuple[str, ...] = ()
    """What is wrong with the names and lengths of these files, a sentence for each."""
    sinks: tuple[dict[str, Any], ...] = ()
    """Where quads go beside the store, with what still waits for an endpoint and what it refused."""
    left: Estimate | None = None
    """What is left to find; None where a crawl has made no estimate."""
    withheld: Withheld = NOTHING_WITHHELD
    """What waits because of the limit on untried hosts of a domain."""
    dried_out: bool = False
    """It ended because hardly a request of late was a find."""

    @property
    def problem_kinds(self) -> dict[str, int]:
        """Problems as people want to see them, the most frequent first: those that differ in a number only are one."""
        alike: dict[str, Counter[str]] = {}
        for message, count in self.totals.problems.items():
            alike.setdefault(_NUMBER.sub("N", message), Counter())[message] += count
        kinds = Counter({kind if len(said) > 1 else next(iter(said)): said.total() for kind, said in alike.items()})
        return dict(kinds.most_common())

    @property
    def unread_rules(self) -> dict[str, int]:
        """Hosts whose robots.txt cannot be read, so that nothing of them is fetched, by what their servers say."""
        return dict(Counter(host.unread_for for host in self.hosts if host.unread_since is not None))

    def summary(self) -> dict[str, Any]:
        """The object that `stats --json` prints."""
        return {
            **self.totals.summary(),
            "hosts": len(self.hosts),
            "known_urls": self.known_urls,
            "refused": dict(sorted(self.refused.items())),
            "withheld": msgspec.to_builtins(self.withheld),
            "unread_rules": dict(sorted(self.unread_rules.items())),
            "disk": self.disk,
            "store_bytes": self.store_bytes,
            **({"unindexed_bytes": self.unindexed_bytes} if self.unindexed_bytes else {}),
            **({"damaged_segments": list(self.damaged_segments)} if self.damaged_segments else {}),
            "estimated_left": None if self.left is None else self.left.summary(),
            "dried_out": self.dried_out,
            **({"sinks": list(self.sinks)} if self.sinks else {}),
        }


def read_stats(folder: CrawlFolder) -> CrawlStats:
    folder.require()
    whole = _read_stats(folder)
    parts = [_read_stats(part) for part in folder.shard_folders()]
    known = [part.left for part in parts if part.left is not None]
    left = sum_of_estimates(known) if known else None
    sinks = _sinks_of_all(parts) if parts else whole.sinks
    if sum(part.totals.fetched for part in parts) <= whole.totals.fetched:
        return replace(whole, left=whole.left if left is None else left, sinks=sinks)
    refused: Counter[str] = Counter()
    for part in parts:  # the shards are running, or were killed: no merged account is as new as theirs
        refused.update(part.refused)
    return CrawlStats(
        totals=sum_of([part.totals for part in parts]),
        hosts=tuple(host for part in parts for host in part.hosts),
        known_urls=sum(part.known_urls for part in parts),
        refused=dict(refused),
        withheld=_withheld_by_all([part.withheld for part in parts]),
        disk=whole.disk,
        store_bytes=sum(part.store_bytes for part in parts),
        sinks=sinks,
        left=left,
        dried_out=all(part.dried_out for part in parts),
    )


def _read_stats(folder: CrawlFolder) -> CrawlStats:
    if not folder.frontier.exists():
        return CrawlStats(totals=Counters(), hosts=(), known_urls=0, refused={}, disk=folder.measure_disk_use())
    storage = LmdbStorage(folder.frontier, read_only=True)
    try:
        saved, frontier = storage.note("totals"), storage.note("frontier")
        left, dried_out = _estimate(storage.note("estimate"))
        state: dict[str, Any] = msgspec.msgpack.decode(frontier) if frontier else {"known_urls": 0, "refused": {}}
        return CrawlStats(
            totals=msgspec.msgpack.decode(saved, type=Counters) if saved else Counters(),
            hosts=tuple(storage.hosts()),
            known_urls=state["known_urls"],
            refused=state["refused"],
            withheld=Withheld(**state.get("withheld", {})),
            disk=folder.measure_disk_use(),
            store_bytes=store_bytes(folder.store),
            unindexed_bytes=unread(folder).size,
            damaged_segments=tuple(log_damage(folder.quads, decode_manifest(storage.note(MANIFEST)), contents=False)),
            sinks=_sinks(folder),
            left=left,
            dried_out=dried_out,
        )
    finally:
        storage.close()


def _withheld_by_all(parts: Sequence[Withheld]) -> Withheld:
    """What shards withhold; each domain belongs to one shard."""
    return Withheld(
        domains=sum(part.domains for part in parts),
        hosts=sum(part.hosts for part in parts),
        urls=sum(part.urls for part in parts),
    )


def revisits_left(folder: CrawlFolder) -> int:
    """Known pages that a refresh has let wait, and that were not looked at yet."""
    storage = LmdbStorage(folder.frontier, read_only=True)
    try:
        waiting = sum(count for arm, _, count in storage.waiting() if arm.startswith(REVISIT))
        return waiting + sum(entry.arm.startswith(REVISIT) for _, entry in storage.postponed())
    finally:
        storage.close()


def _estimate(note: bytes | None) -> tuple[Estimate | None, bool]:
    """What a crawl noted about its end; nothing where an older version wrote the folder."""
    return (None, False) if note is None else msgspec.msgpack.decode(note, type=tuple[Estimate, bool])


def _sinks(folder: CrawlFolder) -> tuple[dict[str, Any], ...]:
    folder.require()
    if b"sinks" not in folder.job_file.read_bytes():  # to read thousands of seeds takes longer than all else here
        return ()
    job = folder.read_job()
    from motherlode.index.sinks import sink_states  # most crawls have none, and `stats` should start at once

    return tuple(sink_states(job.sink_settings(), folder.path))


def _sinks_of_all(parts: Sequence[CrawlStats]) -> tuple[dict[str, Any], ...]:
    """The sinks of a job as its shards see them: each shard has files and spools of its own."""
    return tuple(_sum_of_states(states) for states in zip(*(part.sinks for part in parts if part.sinks), strict=True))


def _sum_of_states(states: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    whole = dict(states[0])
    for state in states[1:]:
        for name, value in state.items():
            if isinstance(value, int):
                whole[name] += value
            elif not whole[name]:
                whole[name] = value
    whole["to"] = ", ".join(dict.fromkeys(state["to"] for state in states))
    return whole


def read_visits(folder: CrawlFolder) -> Iterator[Visit]:
    """Every visit on record, in order."""
    folder.require()
    storage = LmdbStorage(folder.frontier, read_only=True)
    try:
        decode = msgspec.msgpack.Decoder(Visit).decode
        for record in storage.visits():
            yield decode(record)
    finally:
        storage.close()
