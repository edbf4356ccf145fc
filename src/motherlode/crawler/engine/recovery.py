"""Recovery: open the state of an earlier run, repair it if possible, or raise an error that says what to do.

A crawl consists of the frontier, the log of its pages and what is built from the log. If one is damaged, the others are
not changed, and the error says how to continue without the damaged one. Folders of earlier versions have no log, and it
is written from their store. If such a store has lost its newest pages, they wait again in the frontier.

The state of the policy is part of every commit. `read_model` reads it with a label from the job and the counters, so
that another crawl can start from it, or reads a file that `model save` wrote.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from mmap import PAGESIZE
from pathlib import Path
from typing import Protocol

import msgspec

from motherlode.crawler.config.job import Job, JobError
from motherlode.crawler.folder import CrawlFolder, write_atomically
from motherlode.crawler.frontier_reader import check_frontier, frontier_advice, open_to_read
from motherlode.crawler.index_later import MANIFEST, copy_manifest, decode_manifest
from motherlode.crawler.stats.counters import Counters, Estimator
from motherlode.crawler.url_rules import TrapWatch
from motherlode.frontier import STORAGE_ERRORS, FrontierStorage, LmdbStorage, SavedStateError, UrlState
from motherlode.index.indexer import BackgroundIndexer, IndexPaths
from motherlode.index.nquads_log import NoIndexer, NQuadsLog, log_from_store
from motherlode.index.quad_store import QuadStore
from motherlode.index.snapshot import DamagedError, is_refused
from motherlode.model import FailureKind, Policy, Visit
from motherlode.policies import Reward, default_wait_threshold, policy_from, set_wait_threshold, target_from
from motherlode.policies.model_io import UNREADABLE, Model, ModelError, check_fits, from_bytes, start_from, to_bytes
from motherlode.project import VERSION

_IN_A_ROW = 200
"""If this many of the newest pages in a row are in the store, older ones are not compared: a damaged log loses its end
first."""


class Pages(Protocol):
    """A store that answers whether it has a page."""

    def has(self, url: str) -> bool: ...


class _NoPages:
    """A store that was removed."""

    def has(self, url: str) -> bool:
        return False


def open_log(
    folder: CrawlFolder, storage: LmdbStorage, *, words: bool = True, index_later: bool = False
) -> tuple[NQuadsLog, int]:
    """Open the log, and start its background indexer unless the job says `index_later`.

    Also return how many pages are missing in the store of a folder of an earlier version. These pages are queued again.
    """
    manifest = decode_manifest(storage.note(MANIFEST))
    lost = 0 if manifest or folder.quads.is_dir() else _write_missing_log(folder, storage)
    paths = IndexPaths(folder.quads, folder.store, folder.words if words else None)
    start = NoIndexer if index_later else partial(BackgroundIndexer, paths)
    at_end = partial(copy_manifest, folder)
    return NQuadsLog(folder.quads, manifest=manifest, start_indexer=start, at_end=at_end), lost


def _write_missing_log(folder: CrawlFolder, storage: LmdbStorage) -> int:
    """Write the log of a folder of an earlier version from its store. Return how many pages the store lacks."""
    if not (folder.store / "CURRENT").exists():
        return requeue_lost(storage, _NoPages())
    store = QuadStore(folder.store, read_only=True)
    try:
        log_from_store(store, folder.quads)
        return requeue_lost(storage, store)
    finally:
        store.close()


def open_storage(folder: CrawlFolder) -> LmdbStorage:
    _remove_uncommitted(folder)
    check_frontier(folder)
    try:
        return LmdbStorage(folder.frontier)
    except SavedStateError:
        raise
    except (OSError, ValueError, msgspec.MsgspecError, *STORAGE_ERRORS) as error:
        if is_refused(error):
            raise OSError(str(error)) from error
        raise DamagedError(frontier_advice(folder, str(error))) from error


def _remove_uncommitted(folder: CrawlFolder) -> None:
    """Remove a frontier without any commit, which a power loss or a full disk left: not more than LMDB's two heads.

    If there are quads, the file is damaged instead, and stays.
    """
    file = folder.frontier / "data.mdb"
    has_quads = folder.quads.exists() or folder.store.exists()
    if not has_quads and file.exists() and file.stat().st_size <= 2 * PAGESIZE:
        file.unlink()


def is_frontier_damage(error: BaseException) -> bool:
    """Return whether an error of LMDB means damaged pages. LMDB reports this only by its message.

    >>> is_frontier_damage(OSError("the frontier could not be written: mdb_put: MDB_CORRUPTED: Located page was wrong"))
    True
    """
    return any(word in str(error) for word in ("MDB_CORRUPTED", "MDB_PAGE_NOTFOUND", "MDB_INVALID", "MDB_PANIC"))


def requeue_lost(storage: LmdbStorage, store: Pages, *, in_a_row: int | None = _IN_A_ROW) -> int:
    """Queue pages again that are done in the frontier but missing in the store. Return their number.

    The newest pages are compared first, until the store has `in_a_row` consecutive pages. None compares every page.
    """
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


# ── counters, policy, traps


def restore_counters(
    storage: FrontierStorage, *, policy: Policy, traps: TrapWatch, estimator: Estimator, reward: Reward
) -> Counters:
    """Return the counters of the crawl so far, and restore policy, traps, estimator and reward."""
    totals = _totals(storage)
    loaders = {
        "policy": (policy.load, "what was learned is lost, learning begins anew"),
        "traps": (traps.load, "what was seen of traps is forgotten"),
        "tallies": (estimator.load, "the estimate of what is left begins anew"),
        "statements": (reward.seen.load, "everything counts as new again for the reward"),
        "mean_reward": (reward.mean.load, "the mean reward begins anew"),
    }
    for name, (load, loss) in loaders.items():
        saved = storage.note(name)
        try:
            if saved is not None:
                load(saved)
        except UNREADABLE as error:
            totals.note_problem(f"resume: the note {name!r} could not be read ({type(error).__name__}): {loss}")
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


# ── models


def now() -> str:
    """Return the current time for a model's label."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def read_model(path: Path) -> Model:
    """Read a model from a model file or from a crawl folder."""
    if path.is_dir():
        return _read_from_crawl(CrawlFolder(path))
    try:
        return from_bytes(path.read_bytes(), str(path))
    except OSError as error:
        raise ModelError(f"the model {path} cannot be read: {error.strerror}") from error


def write_model(model: Model, path: Path) -> None:
    try:
        write_atomically(path, to_bytes(model))
    except OSError as error:
        raise ModelError(f"the model {path} cannot be written: {error.strerror}") from error


def check_model(job: Job) -> str:
    """Raise JobError if the policy cannot start from the job's model. Return a warning about its target, or ""."""
    if not job.model:
        return ""
    try:
        model = read_model(Path(job.model))
        check_fits(model, policy=job.policy, name=job.model)
    except ModelError as error:
        raise JobError(str(error)) from error
    return warn_other_target(model, target=job.target, name=job.model)


def make_policy(job: Job, storage: LmdbStorage) -> Policy:
    """Return the policy of a job. It starts from the model that the job names, unless the crawl is resumed."""
    policy = policy_from(job.policy, job.seed, target=target_from(job.target))
    if job.model and storage.note("policy") is None:  # a crawl that is resumed knows what the model knew
        check_model(job)
        start_from(policy, read_model(Path(job.model)), name=job.model)
    if job.time is None and (job.pages is not None or job.bytes is not None):  # requests are scarce, and time is not
        set_wait_threshold(
            policy, default_wait_threshold(job.host_delay) if job.wait_threshold is None else job.wait_threshold
        )
    return policy


def warn_other_target(model: Model, *, target: str, name: str) -> str:
    """Return a warning if the model was learned for another target, or ""."""
    if model.target == target:
        return ""
    return (
        f"{name} was learned for the target {model.target}, and this crawl has the target {target}: "
        "it predicts responses well, but may predict relevant pages badly at first"
    )


def _read_from_crawl(folder: CrawlFolder) -> Model:
    """Read the model of a crawl, with the sums of the counters of its shards.

    Shards exchange what they learn, so the largest state of a shard is the model of the whole crawl.
    """
    folder.require()
    parts = [part for part in (folder.shard_folders() or [folder]) if part.frontier.exists()]
    models = [model for model in map(_read_from_storage, parts) if model is not None]
    if not models:
        raise ModelError(f"the crawl in {folder.path} has saved no model yet: wait for its first commit, or resume it")
    if len(models) == 1:
        return models[0]
    largest = max(models, key=lambda model: len(model.state))
    return msgspec.structs.replace(
        largest, requests=sum(one.requests for one in models), relevant=sum(one.relevant for one in models)
    )


def _read_from_storage(folder: CrawlFolder) -> Model | None:
    """Read the model of a crawl or shard. Return None if no policy state is saved."""
    job = folder.read_job()
    storage = open_to_read(folder)
    try:
        state, saved = storage.note("policy"), storage.note("totals")
    finally:
        storage.close()
    if state is None:
        return None
    totals = msgspec.msgpack.decode(saved, type=Counters) if saved else Counters()
    return Model(
        policy=job.policy,
        target=job.target,
        reward=job.reward,
        made_at=now(),
        version=VERSION,
        requests=totals.fetched,
        relevant=totals.relevant,
        state=state,
    )
