"""One folder from those of all shards: then `query`, `search`, `stats`, `export` and `serve` see one crawl.

Merging and not asking every shard for its part: a join of statements from two shards has no answer in either of them.
Shards own different pages, so nothing must be reconciled. The new folder is written beside the old one and put in its
place when it is whole; it is written again only where a shard has gone on since.
"""

from __future__ import annotations

import heapq
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import msgspec
import xxhash

from motherlode.crawler import Counters, CrawlFolder
from motherlode.crawler.stats.counters import sum_of
from motherlode.frontier import LmdbStorage, UrlState
from motherlode.index import QuadStore, merge
from motherlode.model import Visit

_COMMIT_ROWS = 100_000
_STAMP = "merged"
"""A note in the merged frontier: what it was made from."""


def merge_shards(folder: CrawlFolder, *, words: bool = True) -> bool:
    """Make the store, the frontier and the words of a sharded crawl from those of its shards; False where they are."""
    parts = [part for part in folder.shard_folders() if part.frontier.exists()]
    stamp = _stamp(parts)
    if not parts or _stamp_of(folder) == stamp:
        return False
    room = folder.path / "merging"
    shutil.rmtree(room, ignore_errors=True)
    room.mkdir()
    new = CrawlFolder(room)
    merge([part.store for part in parts], new.store)
    if words:
        _index_words(new)
    _merge_frontiers(parts, new, stamp)
    for made, place in ((new.store, folder.store), (new.words, folder.words), (new.frontier, folder.frontier)):
        shutil.rmtree(place, ignore_errors=True)  # the frontier, with the stamp in it, comes last
        if made.exists():
            made.rename(place)
    shutil.rmtree(room)
    return True


def _stamp(parts: Sequence[CrawlFolder]) -> bytes:
    """What the shards have committed, as a digest of their accounts."""
    digest = xxhash.xxh3_128()
    for part in parts:
        storage = LmdbStorage(part.frontier, read_only=True)
        for name in ("totals", "frontier"):
            digest.update(storage.note(name) or b"")
        storage.close()
    return bytes(digest.digest())


def _stamp_of(folder: CrawlFolder) -> bytes | None:
    if not folder.frontier.exists() or not folder.store.exists():
        return None
    storage = LmdbStorage(folder.frontier, read_only=True)
    try:
        return storage.note(_STAMP)
    finally:
        storage.close()


def _index_words(new: CrawlFolder) -> None:
    from motherlode.index.fulltext import WordIndex  # the engine is heavy, and not everyone wants words

    store = QuadStore(new.store, read_only=True)
    index = WordIndex(new.words)
    index.rebuild(store)
    index.commit()
    store.close()


def _merge_frontiers(parts: Sequence[CrawlFolder], new: CrawlFolder, stamp: bytes) -> None:
    """Known URLs, hosts, visits in the order of time, and the sums of the accounts."""
    target = LmdbStorage(new.frontier)
    withheld: Counter[str] = Counter()
    state: dict[str, Any] = {"known_urls": 0, "sequence": 0, "refused": {}, "withheld": withheld}
    accounts = []
    sources = [LmdbStorage(part.frontier, read_only=True) for part in parts]
    for source in sources:
        _copy_urls(source, target)
        for record in source.hosts():
            target.put_host(record)
        saved, frontier = source.note("totals"), source.note("frontier")
        accounts.append(msgspec.msgpack.decode(saved, type=Counters) if saved else Counters())
        part_state: dict[str, Any] = msgspec.msgpack.decode(frontier) if frontier else {"known_urls": 0, "refused": {}}
        state["known_urls"] += part_state["known_urls"]
        withheld.update(part_state.get("withheld", {}))
        for reason, count in part_state["refused"].items():
            state["refused"][reason] = state["refused"].get(reason, 0) + count
    totals = sum_of(accounts)
    totals.curve = _copy_visits(sources, target)
    target.put_note("totals", msgspec.msgpack.encode(totals))
    target.put_note("frontier", msgspec.msgpack.encode(state))
    target.put_note(_STAMP, stamp)
    target.commit()
    for storage in (*sources, target):
        storage.close()


def _copy_urls(source: LmdbStorage, target: LmdbStorage) -> None:
    for number, (entry, state, reason) in enumerate(source.entries(), start=1):
        known = target.find(entry.url)  # hosts that another shard met as well stand in both
        if state is UrlState.WAITING and (known is None or known[1] is not UrlState.WAITING):
            target.add(entry)
        elif known is None:
            target.finish(entry, state, reason)
        if number % _COMMIT_ROWS == 0:
            target.commit()


def _copy_visits(sources: Sequence[LmdbStorage], target: LmdbStorage) -> list[tuple[int, int]]:
    """Number the visits of all shards as one crawl would have; the curve that it would have drawn."""
    decode = msgspec.msgpack.Decoder(Visit).decode
    by_time = heapq.merge(*(map(decode, source.visits()) for source in sources), key=lambda visit: visit.at)
    counted = Counters()
    for number, visit in enumerate(by_time, start=1):
        counted.add(visit)
        target.append_visit(number, msgspec.msgpack.encode(replace(visit, number=number)))
        if number % _COMMIT_ROWS == 0:
            target.commit()
    return counted.curve
