"""Models and crawls: a model from a file or from a crawl's folder, and a file from a model.

Every crawl keeps what its policy learned in its folder, saved with each commit. `read_model` takes it from there with a
label made of the job and the account, or from a file that `model save` wrote. A sharded crawl's model is that of all
its shards: they have told each other what they learned, so the one that knows most speaks for them.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import msgspec

from motherlode import __version__
from motherlode.crawler.config.errors import JobError
from motherlode.crawler.config.job import Job
from motherlode.crawler.folder import CrawlFolder
from motherlode.crawler.stats.counters import Counters
from motherlode.frontier import LmdbStorage
from motherlode.policies.model_io import Model, ModelError, check_fits, from_bytes, to_bytes


def now() -> str:
    """The date and time for a model's label."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def read_model(path: Path) -> Model:
    """The model in a file, or what the crawl in a folder has learned."""
    if path.is_dir():
        return _of_crawl(CrawlFolder(path))
    try:
        return from_bytes(path.read_bytes(), str(path))
    except OSError as error:
        raise ModelError(f"the model {path} cannot be read: {error.strerror}") from error


def write_model(model: Model, path: Path) -> None:
    """Write a model, as a whole or not at all."""
    fresh = path.with_name(path.name + ".new")
    try:
        fresh.write_bytes(to_bytes(model))
        fresh.replace(path)
    except OSError as error:
        raise ModelError(f"the model {path} cannot be written: {error.strerror}") from error


def check_model(job: Job) -> str:
    """JobError where a job names a model that its policy cannot start from; a warning where it may mislead, or ""."""
    if not job.model:
        return ""
    try:
        model = read_model(Path(job.model))
        check_fits(model, policy=job.policy, name=job.model)
    except ModelError as error:
        raise JobError(str(error)) from error
    return may_mislead(model, target=job.target, name=job.model)


def may_mislead(model: Model, *, target: str, name: str) -> str:
    """A warning where a model was learned for another target, or ""."""
    if model.target == target:
        return ""
    return (
        f"{name} was learned for the target {model.target}, this crawl looks for {target}: "
        "what it knows about answers helps, what it knows about finds may mislead at first"
    )


def _of_crawl(folder: CrawlFolder) -> Model:
    folder.require()
    parts = [part for part in (folder.shard_folders() or [folder]) if part.frontier.exists()]
    found = [model for model in map(_of_ledger, parts) if model is not None]
    if not found:
        raise ModelError(f"the crawl in {folder.path} has learned nothing yet")
    if len(found) == 1:
        return found[0]
    best = max(found, key=lambda model: len(model.state))
    return msgspec.structs.replace(
        best, requests=sum(one.requests for one in found), finds=sum(one.finds for one in found)
    )


def _of_ledger(folder: CrawlFolder) -> Model | None:
    job = folder.read_job()
    storage = LmdbStorage(folder.frontier, read_only=True)
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
        version=__version__,
        requests=totals.fetched,
        finds=totals.relevant,
        state=state,
    )
