"""The plan of a refresh: which known pages the process of a crawl, or each of its shards, has to revisit.

A shard sees only its own URLs. So the driver of a crawl with shards reads the folders of all shards before they start,
and decides for all of them: whether the crawl has new URLs, and how many of the most valuable revisits each shard has.
"""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from enum import Enum
from itertools import islice
from uuid import uuid4

import msgspec

from motherlode.crawler.folder import CrawlFolder
from motherlode.crawler.frontier_reader import open_to_read
from motherlode.crawler.recrawl.forever import revisits_of
from motherlode.crawler.recrawl.revisits import DEFAULT_IDENTIFIER, Revisits, rank_pages, read_memories
from motherlode.frontier import Frontier, is_revisit_arm


class RefreshKind(Enum):
    """Which known pages a refresh revisits."""

    ALL = "all"
    DUE = "due"
    ROUND = "round"
    """The pages of one round of an endless refresh."""
    REST = "rest"
    """The revisits that an earlier run has left."""


class RefreshPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What one process of a crawl does to begin a refresh."""

    kind: RefreshKind
    now: float
    """The time for which the revisits are chosen, in seconds since the epoch."""
    identifier: str = DEFAULT_IDENTIFIER
    """Names the refresh. A shard that was restarted in the middle of it does not begin it again."""
    only_known: bool | None = None
    """Whether new URLs are left alone; None if the process decides by its own URLs."""
    most: int | None = None
    """Maximum number of waiting revisits in a round; None for all pages that are due."""

    def begin(self, revisits: Revisits, frontier: Frontier) -> None:
        """Queue the revisits. `assemble` calls it before the crawl starts."""
        if self.kind is RefreshKind.REST:
            revisits.finish_shard()
        elif self.kind is RefreshKind.ROUND:
            revisits.begin_round(self.now, most=self.most, identifier=self.identifier)
        else:
            is_due = self.kind is RefreshKind.DUE
            revisits.begin(self.now, due_only=is_due, only_known=self.only_known, identifier=self.identifier)


class _ShardPages(msgspec.Struct, frozen=True, kw_only=True):
    """What the driver needs to know about a shard to plan a refresh."""

    new_urls: int
    revisits_left: int
    ranked: list[tuple[float, str]]
    """Values and URLs of the pages that may be revisited, the highest values first."""


def plan_shards(
    folder: CrawlFolder,
    shards: int,
    kind: RefreshKind,
    now: float,
    *,
    allowance: int | None = None,
    always: frozenset[str] = frozenset(),
) -> tuple[RefreshPlan, ...]:
    """Return the plans of all shards by their numbers.

    `allowance` is the number of requests of a round, or None if it is not limited. `always` has the URLs that are due
    in every round.
    """
    is_limited = kind is RefreshKind.ROUND and allowance is not None
    known = {
        int(part.path.name): _read_shard(part, now, is_limited=is_limited, always=always)
        for part in folder.shard_folders()
        if part.frontier.exists()
    }
    new_urls = sum(shard.new_urls for shard in known.values())
    plan = RefreshPlan(kind=kind, now=now, identifier=uuid4().hex, only_known=new_urls > 0)
    if allowance is None or not is_limited:
        return (plan,) * shards
    rooms = _divide_room(known, revisits_of(allowance, new_urls=new_urls))
    return tuple(msgspec.structs.replace(plan, most=rooms.get(number, 0)) for number in range(shards))


def _read_shard(part: CrawlFolder, now: float, *, is_limited: bool, always: frozenset[str]) -> _ShardPages:
    with closing(open_to_read(part)) as storage:
        waiting = [(is_revisit_arm(arm), count) for arm, _, count in storage.waiting()]
        retries = sum(entry.is_revisit for _, entry in storage.postponed())
        memories = read_memories(storage) if is_limited else ()
        return _ShardPages(
            new_urls=sum(count for is_revisit, count in waiting if not is_revisit),
            revisits_left=retries + sum(count for is_revisit, count in waiting if is_revisit),
            ranked=rank_pages(memories, now, is_limited=True, always=always),
        )


def _divide_room(known: dict[int, _ShardPages], most: int) -> dict[int, int]:
    """Return for each shard the maximum number of waiting revisits, so that the most valuable of all are visited."""
    left = {number: shard.revisits_left for number, shard in known.items()}
    room = max(0, most - sum(left.values()))
    values = sorted(((value, number) for number, shard in known.items() for value, _ in shard.ranked), reverse=True)
    chosen = Counter(number for _, number in islice(values, room))
    return {number: left[number] + chosen[number] for number in known}
