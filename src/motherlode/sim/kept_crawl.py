"""Simulated crawls that are kept as crawl folders, so that `motherlode explain` answers for their URLs.

The folder has the job, the frontier with a record of each request, and the state of the policy. It has no pages.
Its job names the simulated web as the recorded web, so a `resume` never goes online.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec

from motherlode.crawler import CrawlFolder, Job
from motherlode.frontier import Frontier, Lease, LmdbStorage
from motherlode.frontier.storage.tables import visit_key, visit_labels
from motherlode.model import Failure, Outcome, Policy, Visit
from motherlode.model.policy import ValuesArms


def folder_name(policy: str) -> str:
    """Return the name of the folder of a policy's crawl.

    >>> folder_name("bandit:success-rate:0.2")
    'bandit-success-rate-0.2'
    """
    return re.sub(r"[^\w.-]+", "-", policy).strip("-.") or "policy"


class KeptCrawl:
    """The folder of one simulated crawl. The simulation uses its storage."""

    def __init__(self, path: Path, job: Job) -> None:
        self._folder = CrawlFolder(path)
        self._folder.create(job)
        self.storage = LmdbStorage(self._folder.frontier)
        self._values: dict[str, float] = {}
        """Values of the arms of the requests in flight when they were picked, by URL."""

    def begin(self, lease: Lease, policy: Policy) -> None:
        """Note the value of the arm that was picked."""
        if isinstance(policy, ValuesArms):
            self._values[lease.entry.url] = policy.value(lease.entry.arm)

    def add(self, lease: Lease, result: Outcome | Failure, *, number: int, now: float, new_links: int = 0) -> None:
        """Record a request with its page or failure."""
        entry = lease.entry
        found: dict[str, Any] = (
            {"failure": result.kind, "detail": result.detail, "location": result.location}
            if isinstance(result, Failure)
            else {
                "kind": result.kind,
                "size": result.size,
                "relevant": result.relevant,
                "reward": result.reward,
                "counts": result.counts,
                "links": len(result.links),
                "new_links": new_links,
            }
        )
        visit = Visit(
            number=number,
            url=entry.url,
            host=lease.host,
            arm=entry.arm,
            depth=entry.depth,
            parent_url=entry.parent_url,
            score=entry.score,
            at=now,
            value=self._values.pop(entry.url, None),
            **found,
        )
        self.storage.append_visit(number, msgspec.msgpack.encode(visit), visit_key(visit), visit_labels(visit))

    def close(self, frontier: Frontier, policy: Policy) -> None:
        """Write what the frontier and the policy know at the end of the crawl."""
        self.storage.put_note("policy", policy.dump())
        frontier.commit()
        self.storage.close()
        self._folder.unlock()
