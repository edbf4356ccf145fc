"""A crawl of several shards, as the command line runs it: Ray is started or joined, watched, and left again."""

from __future__ import annotations

from pathlib import Path

import uvloop

from motherlode.cli.progress import CrawlProgress, watch
from motherlode.cli.terminal import say, tell
from motherlode.cluster import merge_shards
from motherlode.cluster.partitioner import owner_of
from motherlode.cluster.ray_runtime import check_cluster, check_state, need_ray, running_ray
from motherlode.crawler import CrawlFolder, Job, JobError
from motherlode.index.sinks.sink_settings import SinkKind


def check_shards(job: Job) -> None:
    """JobError where what a job says about shards cannot be done; says what to install, or whom Ray would wait for."""
    if job.shards > 1:
        need_ray()
        check_state(job.state)
        _check_files(job)
        check_cluster(job.ray)
    elif job.ray or job.state:
        raise JobError("a Ray cluster and checkpoints are for several shards: add --shards N, with N greater than 1")


def _check_files(job: Job) -> None:
    """Shards number their N-Quads files each for itself: in one folder they would write over each other's."""
    for sink in job.sink_settings():
        if sink.kind is SinkKind.NQUADS and Path(sink.path).is_absolute():
            raise JobError(
                f"all shards would write their N-Quads files to {sink.path}: "
                "name a folder without its beginning, which each shard has inside its own"
            )


def owner_elsewhere(folder: Path, url: str) -> Path | None:
    """The folder of the shard that owns a URL, where `folder` is that of another shard of the same crawl."""
    here = folder.resolve()
    whole = CrawlFolder(here.parent.parent)
    if here.parent.name != "shards" or not here.name.isdecimal() or not whole.has_crawl:
        return None
    owner = owner_of(url, whole.read_job().shards)
    return None if owner == int(here.name) else folder.parent / f"{owner:04d}"


def run_sharded(job: Job, folder: CrawlFolder, *, quiet: bool) -> bool:
    """Run the shards to their end and make one folder of theirs; True where the user stopped the crawl."""
    if not quiet:
        say(f"joining Ray at {job.ray} …" if job.ray else f"starting Ray for {job.shards} shards …")
    try:
        with running_ray(job.ray, shards=job.shards):
            stopped = uvloop.run(_run(job, folder, quiet=quiet))
    except KeyboardInterrupt:  # before the shards had begun
        stopped = True
    if folder.shard_folders() and not quiet:
        say("making one folder of all shards …")
    merge_shards(folder, words=job.words)
    return stopped


async def _run(job: Job, folder: CrawlFolder, *, quiet: bool) -> bool:
    from motherlode.cluster.driver import ShardedCrawl  # imports Ray

    def warn(text: str) -> None:
        if not quiet:
            tell(text)

    crawl = ShardedCrawl(job, folder, warn=warn)
    progress = CrawlProgress(job, crawl.totals, crawl.overview, quiet=quiet)
    return await watch(crawl.visits(), progress, stop=crawl.stop)
