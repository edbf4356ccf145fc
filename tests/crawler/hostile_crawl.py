"""Run a crawl with a resolver that changes its addresses. Print its outcomes and peak memory as JSON.

python -m tests.crawler.hostile_crawl JOB.toml FOLDER ALLOWED FORBIDDEN
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
from collections import Counter
from itertools import count
from pathlib import Path
from typing import Any

from motherlode.crawler import CrawlFolder, Job, read_job_file
from motherlode.crawler.engine.factory import assemble
from motherlode.fetch import dns
from motherlode.fetch.dns import Answer


def changing(allowed: str, forbidden: str) -> Any:
    """Return a resolver that alternates between an allowed and a forbidden address for `flip.example`."""
    times, system = count(), dns.NameServers.look_up

    async def look_up(names: dns.NameServers, host: str) -> Answer:
        if host != "flip.example":
            return await system(names, host)
        return Answer((allowed if next(times) % 2 == 0 else forbidden,), 0.0)

    return look_up


def _peak_mb() -> float:
    """Return the peak memory of this process. getrusage would return that of the parent if it is larger."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


async def run(job: Job, folder: CrawlFolder) -> dict[str, Any]:
    folder.create(job)
    assembled = assemble(job, folder)
    kinds: Counter[str] = Counter()
    async for visit in assembled.engine.visits(assembled.seeds):
        kinds[f"{visit.host.partition(':')[0]} {visit.failure.value if visit.failure else 'page'}"] += 1
    folder.unlock()
    return {
        "kinds": kinds,
        "refused": assembled.frontier.refused,
        "crawl_mb": _peak_mb(),
        "reader_mb": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024,
        "replaced": assembled.engine.totals.problems,
    }


if __name__ == "__main__":
    dns.NameServers.look_up = changing(*sys.argv[3:5])  # type: ignore[method-assign]
    dns.MIN_TTL_SECONDS = 0.0
    print(json.dumps(asyncio.run(run(Job(**read_job_file(Path(sys.argv[1]))), CrawlFolder(Path(sys.argv[2]))))))
