"""Crawls with several shards: checks of the job, and a run that starts or joins Ray and shows progress."""

from __future__ import annotations

from pathlib import Path

import uvloop

from motherlode.cli.progress import CrawlProgress, watch
from motherlode.cli.terminal import say, say_above_progress
from motherlode.cluster import merge_shards
from motherlode.cluster.partitioner import owner_of
from motherlode.cluster.ray_runtime import check_cluster, check_state, need_ray, running_ray
from motherlode.crawler import CrawlFolder, Job, JobError
from motherlode.index.sinks.sink_settings import SinkKind


def check_shards(job: Job) -> None:
    """Raise JobError if a crawl with shards cannot run: without Ray, or with an unusable cluster or checkpoint URL."""
    if job.shards > 1:
        need_ray()
        check_state(job.state)
        _check_sink_folders(job)
        check_cluster(job.ray)
    elif job.ray or job.state:
        raise JobError("ray and state are for crawls with several shards: add --shards N, with N greater than 1")


def _check_sink_folders(job: Job) -> None:
    """Raise JobError if shards would overwrite each other's N-Quads files, which each shard numbers from 1."""
    for sink in job.sink_settings():
        if sink.kind is SinkKind.NQUADS and Path(sink.path).is_absolute():
            raise JobError(
                f"all shards would write their N-Quads files to {sink.path}: "
                "use a relative path, which is inside the folder of each shard"
            )


def find_owner(folder: Path, url: str) -> Path | None:
    """Return the folder of the shard that owns the URL, or None if `folder` is that shard or no shard at all."""
    here = folder.resolve()
    whole = CrawlFolder(here.parent.parent)
    if here.parent.name != "shards" or not here.name.isdecimal() or not whole.has_crawl:
        return None
    owner = owner_of(url, whole.read_job().shards)
    return None if owner == int(here.name) else folder.parent / f"{owner:04d}"


def run_sharded(job: Job, folder: CrawlFolder, *, quiet: bool) -> bool:
    """Run all shards and merge their folders. Return whether the user stopped the crawl."""
    if not quiet:
        say(f"joining Ray at {job.ray} …" if job.ray else f"starting Ray for {job.shards} shards …")
    try:
        with running_ray(job.ray, shards=job.shards):
            stopped = uvloop.run(_run(job, folder, quiet=quiet))
    except KeyboardInterrupt:  # before the shards started
        stopped = True
    if folder.shard_folders() and not quiet:
        say("merging the folders of all shards …")
    merge_shards(folder, words=job.words)
    return stopped


async def _run(job: Job, folder: CrawlFolder, *, quiet: bool) -> bool:
    from motherlode.cluster.driver import ShardedCrawl  # imports Ray

    def warn(text: str) -> None:
        if not quiet:
            say_above_progress(text)

    crawl = ShardedCrawl(job, folder, warn=warn)
    progress = CrawlProgress(job, crawl.totals, crawl.overview, quiet=quiet)
    return await watch(crawl.visits(), progress, stop=crawl.stop)
