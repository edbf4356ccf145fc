"""Merge the folders of all shards into one, so that `query`, `search`, `stats`, `export` and `serve` see one crawl.

The folders are merged because a query that joins statements of two shards has no complete answer in either of them.
Shards own different pages, so there are no conflicts. The new folder is written beside the old one and replaces it when
it is complete. It is written again only if a shard has changed since the last merge.
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
from motherlode.crawler.index_later import index_log
from motherlode.crawler.stats.counters import sum_of
from motherlode.frontier import LmdbStorage, UrlState
from motherlode.frontier.storage.tables import visit_key, visit_labels
from motherlode.index.quad_store import QuadStore, merge
from motherlode.model import Visit

_COMMIT_ROWS = 100_000
_STAMP = "merged"
"""Key of the note in the merged frontier that contains the digest of the merged shards."""


def merge_shards(folder: CrawlFolder, *, words: bool = True) -> bool:
    """Merge the store, frontier and full-text index of all shards. Return False if the merged folder is up to date."""
    parts = [part for part in folder.shard_folders() if part.frontier.exists()]
    stamp = _compute_stamp(parts)
    if not parts or _read_stamp(folder) == stamp:
        return False
    for part in parts:
        index_log(part)
    temporary = folder.path / "merging"
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir()
    new = CrawlFolder(temporary)
    merge([part.store for part in parts], new.store, before=folder.store)
    if words:
        _index_words(new)
    _merge_frontiers(parts, new, stamp)
    for source, target in ((new.store, folder.store), (new.words, folder.words), (new.frontier, folder.frontier)):
        shutil.rmtree(target, ignore_errors=True)  # the frontier comes last, because it contains the stamp
        if source.exists():
            source.rename(target)
    shutil.rmtree(temporary)
    return True


def _compute_stamp(parts: Sequence[CrawlFolder]) -> bytes:
    """Return a digest of the totals and frontier states that the shards have committed."""
    digest = xxhash.xxh3_128()
    for part in parts:
        storage = LmdbStorage(part.frontier, read_only=True)
        for name in ("totals", "frontier"):
            digest.update(storage.note(name) or b"")
        storage.close()
    return bytes(digest.digest())


def _read_stamp(folder: CrawlFolder) -> bytes | None:
    if not folder.frontier.exists() or not folder.store.exists():
        return None
    storage = LmdbStorage(folder.frontier, read_only=True)
    try:
        return storage.note(_STAMP)
    finally:
        storage.close()


def _index_words(new: CrawlFolder) -> None:
    from motherlode.index.fulltext import WordIndex  # slow to import, and optional

    store = QuadStore(new.store, read_only=True)
    index = WordIndex(new.words)
    index.rebuild(store)
    index.commit()
    store.close()


def _merge_frontiers(parts: Sequence[CrawlFolder], new: CrawlFolder, stamp: bytes) -> None:
    """Copy the known URLs, the hosts and the visits in order of time, and store the sums of the totals."""
    target = LmdbStorage(new.frontier)
    withheld: Counter[str] = Counter()
    state: dict[str, Any] = {"known_urls": 0, "sequence": 0, "refused": {}, "withheld": withheld}
    shard_totals = []
    sources = [LmdbStorage(part.frontier, read_only=True) for part in parts]
    for source in sources:
        _copy_urls(source, target)
        for record in source.hosts():
            target.put_host(record)
        saved, frontier = source.note("totals"), source.note("frontier")
        shard_totals.append(msgspec.msgpack.decode(saved, type=Counters) if saved else Counters())
        part_state: dict[str, Any] = msgspec.msgpack.decode(frontier) if frontier else {"known_urls": 0, "refused": {}}
        state["known_urls"] += part_state["known_urls"]
        withheld.update(part_state.get("withheld", {}))
        for reason, count in part_state["refused"].items():
            state["refused"][reason] = state["refused"].get(reason, 0) + count
    totals = sum_of(shard_totals)
    totals.curve = _copy_visits(sources, target)
    target.put_note("totals", msgspec.msgpack.encode(totals))
    target.put_note("frontier", msgspec.msgpack.encode(state))
    target.put_note(_STAMP, stamp)
    target.commit()
    for storage in (*sources, target):
        storage.close()


def _copy_urls(source: LmdbStorage, target: LmdbStorage) -> None:
    for number, (entry, state, reason) in enumerate(source.entries(), start=1):
        known = target.find(entry.url)  # a URL can be in the frontiers of two shards
        if state is UrlState.WAITING and (known is None or known[1] is not UrlState.WAITING):
            target.add(entry)
        elif known is None:
            target.finish(entry, state, reason)
        if number % _COMMIT_ROWS == 0:
            target.commit()


def _copy_visits(sources: Sequence[LmdbStorage], target: LmdbStorage) -> list[tuple[int, int]]:
    """Copy the visits of all shards, numbered in order of time. Return the curve of relevant pages."""
    decode = msgspec.msgpack.Decoder(Visit).decode
    by_time = heapq.merge(*(map(decode, source.visits()) for source in sources), key=lambda visit: visit.at)
    counted = Counters()
    for number, visit in enumerate(by_time, start=1):
        counted.add(visit)
        target.append_visit(
            number, msgspec.msgpack.encode(replace(visit, number=number)), visit_key(visit), visit_labels(visit)
        )
        if number % _COMMIT_ROWS == 0:
            target.commit()
    return counted.curve
