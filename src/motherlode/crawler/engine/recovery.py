"""Opening what an earlier run left: whole, mended where that is possible, or an error that says what to do.

The two halves of a crawl are the frontier and the quad store. Where one is damaged, the other is not touched, and the
error says how to go on without the damaged one. Where the store opens but has lost its newest pages (its log was cut,
or the machine died before the log was on disk), these pages wait again in the frontier, and are fetched and stored
anew.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

import msgspec

from motherlode.crawler.folder import CrawlFolder
from motherlode.crawler.stats.counters import Counters, Estimator
from motherlode.crawler.url_rules import TrapWatch
from motherlode.frontier import STORAGE_ERRORS, FrontierStorage, LmdbStorage, UrlState, damage
from motherlode.index.snapshot import DamagedError, is_refused, store_advice
from motherlode.model import FailureKind, Policy, Visit
from motherlode.model.saved_state import SavedStateError
from motherlode.policies import Reward

if TYPE_CHECKING:
    from motherlode.index import CrawlStore
    from motherlode.index.segment_files import ManifestEntry


_IN_A_ROW = 200
"""Of the newest pages that must all be in the store; then the older ones are, too: a log is lost from its end."""


class Pages(Protocol):
    """What knows which pages are stored."""

    def has(self, url: str) -> bool: ...


def open_store(folder: CrawlFolder, *, later: bool = False, manifest: Sequence[ManifestEntry] = ()) -> CrawlStore:
    """The store, in a process of its own where that can have a core of its own; or the log that it is made of later.

    `manifest` is that of the log at the last commit.
    """
    if later:
        from motherlode.index.nquads_log import NQuadsLog

        return NQuadsLog(folder.quads, manifest=manifest)
    try:
        if len(os.sched_getaffinity(0)) > 1:
            from motherlode.index.store_client import StoreClient

            return StoreClient(folder.store)
        from motherlode.index.crawl_store import LocalStore  # heavy, and the other one loads it in its own process

        return LocalStore(folder.store)
    except DamagedError:
        raise
    except (OSError, RuntimeError) as error:  # the latter for files that contradict each other
        if is_refused(error):
            raise OSError(str(error)) from error
        raise DamagedError(store_advice(folder.store, str(error))) from error


def open_ledger(folder: CrawlFolder) -> LmdbStorage:
    found = damage(folder.frontier)
    if found:
        if is_refused(OSError(found)):
            raise OSError(f"the frontier in {folder.frontier} cannot be checked: {found}")
        raise DamagedError(frontier_advice(folder, found))
    try:
        return LmdbStorage(folder.frontier)
    except SavedStateError:
        raise
    except (OSError, ValueError, msgspec.MsgspecError, *STORAGE_ERRORS) as error:
        if is_refused(error):
            raise OSError(str(error)) from error
        raise DamagedError(frontier_advice(folder, str(error))) from error


def is_frontier_damage(error: BaseException) -> bool:
    """Whether LMDB has met pages of its file that are not what was written; it says so in words only.

    >>> is_frontier_damage(OSError("the frontier could not be written: mdb_put: MDB_CORRUPTED: Located page was wrong"))
    True
    """
    return any(word in str(error) for word in ("MDB_CORRUPTED", "MDB_PAGE_NOTFOUND", "MDB_INVALID", "MDB_PANIC"))


def frontier_advice(folder: CrawlFolder, why: str) -> str:
    """What to do about a damaged frontier."""
    return (
        f"the frontier in {folder.frontier} is damaged: {why}. The quads in {folder.store} are untouched: "
        f"`motherlode query` and `export` work. Put back a copy of the frontier if you have one; or move it away and "
        f"`motherlode resume {folder.path}` begins again from the seeds, and replaces the pages that it finds again"
    )


def requeue_lost(storage: LmdbStorage, store: Pages) -> int:
    """Let pages wait again that the frontier knows as done and the store does not have; how many there were.

    The newest pages alone are compared, since a log is lost from its end.
    """
    return _requeue(storage, store, in_a_row=_IN_A_ROW)


def requeue_all_lost(storage: LmdbStorage, store: Pages) -> int:
    """The same for every page of the crawl, wherever in a log it was lost."""
    return _requeue(storage, store, in_a_row=None)


def _requeue(storage: LmdbStorage, store: Pages, *, in_a_row: int | None) -> int:
    """Stop behind so many pages that are all there; None compares every page."""
    decode = msgspec.msgpack.Decoder(Visit).decode
    lost = there = 0
    for record in storage.newest_visits():
        visit = decode(record)
        if visit.failure not in (None, FailureKind.REDIRECT):
            continue
        if store.has(visit.url):
            there += 1
            if there == in_a_row:
                break
            continue
        there = 0
        found = storage.find(visit.url)
        if found is not None and found[1] is UrlState.DONE:
            storage.add(found[0])
            lost += 1
    return lost


# ── What a resumed crawl takes up beside its frontier: the account, what was learned, what was seen of traps.

_UNREADABLE = (msgspec.MsgspecError, ValueError, TypeError, KeyError, IndexError, AttributeError, EOFError)
"""What a decoder of somebody else's may raise on bytes that are not what they were."""


def restore_counters(
    storage: FrontierStorage,
    *,
    policy: Policy,
    traps: TrapWatch,
    estimator: Estimator | None = None,
    reward: Reward | None = None,
) -> Counters:
    """The account of the crawl so far; policy, traps and the rest are where they were."""
    totals = _totals(storage)
    _load(storage, "policy", policy.load, totals, lost="what was learned is lost, learning begins anew")
    _load(storage, "traps", traps.load, totals, lost="what was seen of traps is forgotten")
    if estimator is not None:
        _load(storage, "tallies", estimator.load, totals, lost="the estimate of what is left begins anew")
    if reward is not None:
        _load(storage, "statements", reward.seen.load, totals, lost="all statements count as new again")
    return totals


def _totals(storage: FrontierStorage) -> Counters:
    saved = storage.note("totals")
    if saved is None:
        return Counters()
    try:
        return msgspec.msgpack.decode(saved, type=Counters)
    except msgspec.DecodeError:
        totals = Counters()
        decode = msgspec.msgpack.Decoder(Visit).decode
        for visit in storage.visits():
            totals.add(decode(visit))
        totals.note_problem("resume: the account could not be read; it was added up again from the visits")
        return totals


def _load(storage: FrontierStorage, name: str, load: Callable[[bytes], None], totals: Counters, *, lost: str) -> None:
    saved = storage.note(name)
    if saved is None:
        return
    try:
        load(saved)
    except _UNREADABLE as error:
        totals.note_problem(f"resume: the note {name!r} could not be read ({type(error).__name__}): {lost}")
