"""Scores of the pages of a trace: the user's scorers are asked once for each page, before a simulation.

The processes of a simulation read the scores from a file, so that they agree and a slow scorer is asked only once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from motherlode.crawler.scoring import ScorerClient, make_client
from motherlode.policies import Reward, Target
from motherlode.policies.scorers import ScorerError, ScorerLimits, ScorerSpec, encode_page
from motherlode.sim.trace.files import existing_parts, read_pages, read_statements

_REPORT_EVERY = 50


class PageScores(msgspec.Struct, kw_only=True):
    """The scores of all rows of a trace. None: the scorer failed, the row is no page, or there is no such scorer."""

    target: list[float | None] = []
    """Scores of the scorer that is the target; empty if the target is not a scorer."""
    reward: list[float | None] = []
    pages: int = 0
    failed: int = 0
    """Number of pages for which a scorer failed."""
    example: str = ""
    """The first failure."""

    @classmethod
    def read(cls, path: Path) -> PageScores:
        return msgspec.msgpack.decode(path.read_bytes(), type=cls)

    def write(self, path: Path) -> None:
        path.write_bytes(msgspec.msgpack.encode(self))


def score_pages(
    folder: Path, target: Target, reward: Reward, limits: ScorerLimits, progress: Callable[[int, int], None]
) -> PageScores:
    """Ask the scorers of target and reward for every page of a trace. Its statements are known, its text is not.

    `progress` is called with the number of scored pages and of all pages. Raise ValueError if no page got a score.
    """
    scores = asyncio.run(_score_all(folder, target, reward, limits, progress))
    if scores.failed and scores.failed == scores.pages:
        raise ValueError(f"the scorer gave no page of the trace {folder} a score: {scores.example}")
    return scores


async def _score_all(
    folder: Path, target: Target, reward: Reward, limits: ScorerLimits, progress: Callable[[int, int], None]
) -> PageScores:
    wanted = dict.fromkeys(one for one in (target.scorer, reward.scorer) if one is not None)
    clients = {scorer: make_client(scorer, limits) for scorer in wanted}
    found: dict[ScorerSpec, list[float | None]] = {scorer: [] for scorer in wanted}
    scores = PageScores()
    rows = list(_messages(folder, limits))
    try:
        for start in range(0, len(rows), _REPORT_EVERY):
            chunk = rows[start : start + _REPORT_EVERY]
            for scorer, client in clients.items():
                found[scorer] += await asyncio.gather(*(_ask(client, message, scores) for message in chunk))
            scores.pages += sum(message is not None for message in chunk)
            progress(start + len(chunk), len(rows))
    finally:
        for client in clients.values():
            await client.close()
    scores.target = [] if target.scorer is None else found[target.scorer]
    scores.reward = [] if reward.scorer is None else found[reward.scorer]
    scores.failed = min(scores.failed, scores.pages)
    return scores


def _messages(folder: Path, limits: ScorerLimits) -> Iterator[bytes | None]:
    """Yield what a scorer gets for each row of a trace; None for a row that is no page."""
    for part in existing_parts(folder):
        statements = dict(read_statements(folder, part))
        for number, row in enumerate(read_pages(folder, part)):
            yield (
                None
                if row.failure
                else encode_page(
                    row.url,
                    kind=row.kind,
                    counts=row.counts,
                    text=None,
                    quads=statements.get(number, b""),
                    max_bytes=limits.max_bytes,
                )
            )


async def _ask(client: ScorerClient, message: bytes | None, scores: PageScores) -> float | None:
    if message is None:
        return None
    try:
        return await client.score(message)
    except ScorerError as error:
        scores.failed += 1
        scores.example = scores.example or str(error)
        return None
