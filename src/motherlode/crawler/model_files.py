"""Models of policies, read from files and from crawl folders, and written to files.

Every crawl saves the state of its policy with each commit. `read_model` reads it from the folder and adds a label from
the job and the counters, or reads a file that `model save` wrote. The shards of a crawl exchange what they learn, so
the largest state of a shard is the model of the whole crawl.
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
    """Write a model file atomically."""
    new = path.with_name(path.name + ".new")
    try:
        new.write_bytes(to_bytes(model))
        new.replace(path)
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


def warn_other_target(model: Model, *, target: str, name: str) -> str:
    """Return a warning if the model was learned for another target, or ""."""
    if model.target == target:
        return ""
    return (
        f"{name} was learned for the target {model.target}, and this crawl has the target {target}: "
        "it predicts responses well, but may predict relevant pages badly at first"
    )


def _read_from_crawl(folder: CrawlFolder) -> Model:
    """Read the model of a crawl, with the sums of the counters of its shards."""
    folder.require()
    parts = [part for part in (folder.shard_folders() or [folder]) if part.frontier.exists()]
    models = [model for model in map(_read_from_storage, parts) if model is not None]
    if not models:
        raise ModelError(f"the crawl in {folder.path} has saved no model yet: wait for its first commit, or resume it")
    if len(models) == 1:
        return models[0]
    largest = max(models, key=lambda model: len(model.state))
    return msgspec.structs.replace(
        largest, requests=sum(one.requests for one in models), finds=sum(one.finds for one in models)
    )


def _read_from_storage(folder: CrawlFolder) -> Model | None:
    """Read the model of a crawl or shard. Return None if no policy state is saved."""
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
