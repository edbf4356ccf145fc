"""Rounds of an endless refresh in a process of their own, twenty days in the future."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from contextlib import nullcontext
from pathlib import Path

from motherlode.cli.crawl import refresh_job
from motherlode.cli.crawl_forever import EndlessRefresh
from motherlode.cluster.ray_runtime import running_ray
from motherlode.crawler import CrawlFolder

_FUTURE_SECONDS = 20 * 86400


async def run_rounds(out: Path, *, per_day: int = 0, rounds: int = 1) -> str:
    """Run rounds in a new process, and return what it writes to stderr. `per_day` is the budget, 0 for no limit."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, __file__, str(out), str(per_day), str(rounds)),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=dict(os.environ),
    )
    _, said = await process.communicate()
    assert process.returncode == 0, said.decode()
    return said.decode()


def _main(path: str, per_day: str, count: str) -> None:
    folder, waits = CrawlFolder(Path(path)), []
    job = refresh_job(folder, {"pages_per_day": int(per_day) or None})

    async def wait(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == int(count):
            rounds.stopped.set()

    folder.lock()
    with running_ray(job.ray, shards=job.shards) if job.shards > 1 else nullcontext():
        rounds = EndlessRefresh(job, folder, quiet=False, now=lambda: time.time() + _FUTURE_SECONDS, wait=wait)
        asyncio.run(rounds.run())


if __name__ == "__main__":
    _main(*sys.argv[1:])
