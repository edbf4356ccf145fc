"""Estimate of what a breadth-first crawl would have found with the same number of requests.

The known URLs are put into breadth-first order: by depth, and by discovery at the same depth. A URL that was fetched
counts as it was, and a waiting one by the probability that the policy gives its arm. The estimate favours breadth-first
in a long crawl, because URLs that only a breadth-first crawl would have found are missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from itertools import accumulate, islice

import msgspec

from motherlode.crawler.explain.explanation import load_policy
from motherlode.crawler.folder import CrawlFolder
from motherlode.crawler.frontier_reader import open_to_read
from motherlode.crawler.report.crawl_report import BREADTH_FIRST
from motherlode.crawler.report.plot import Curve
from motherlode.crawler.stats.reader import CrawlStats
from motherlode.frontier import Entry, LmdbStorage, UrlState
from motherlode.frontier.storage.tables import RELEVANT_LABEL
from motherlode.model import Visit
from motherlode.model.policy import PredictsRelevance

MAX_URLS = 100_000
"""Number of known URLs, of a crawl or a shard, above which no estimate is made."""
_POINTS = 200
_MIN_FETCHED = 50
"""Number of requests below which the probabilities are those of the prior, so that an estimate says nothing."""
Points = tuple[tuple[int, int], ...]
"""Numbers of fetched URLs and of relevant pages among them."""


def breadth_first_curve(folder: CrawlFolder, stats: CrawlStats) -> Curve:
    """Return the estimate for a crawl as a curve for its report. It has no points if there is no estimate."""
    job = folder.read_job()
    points = () if job.policy == "bfs" else estimate_breadth_first(folder, fetched=stats.totals.first)
    return Curve(name=BREADTH_FIRST, points=points)


def estimate_breadth_first(folder: CrawlFolder, *, fetched: int) -> Points:
    """Return the estimated harvest curve of a breadth-first crawl that makes `fetched` requests.

    It is empty if the policy gives no probabilities, and if there are too few requests or too many known URLs.
    """
    if fetched < _MIN_FETCHED:
        return ()
    job = folder.read_job()
    curves: list[list[float]] = []
    for part in folder.shard_folders() or [folder]:
        if not part.frontier.exists():
            continue
        with closing(open_to_read(part)) as storage:
            policy: object = load_policy(job, storage)
            entries = list(islice(storage.entries(), MAX_URLS + 1))
            if not isinstance(policy, PredictsRelevance) or len(entries) > MAX_URLS:
                return ()
            curves.append(_expect_relevant(entries, policy, _find_relevant(storage)))
    return sum_expectations(curves, fetched)


def _expect_relevant(
    entries: Sequence[tuple[Entry, UrlState, str]], policy: PredictsRelevance, relevant: set[str]
) -> list[float]:
    """Return the expected number of relevant pages among the first 1, 2, 3 … URLs in breadth-first order."""
    probabilities: dict[str, float] = {}

    def expect(entry: Entry, state: UrlState) -> float:
        if entry.url in relevant or state is not UrlState.WAITING or entry.is_revisit:
            return float(entry.url in relevant)
        if entry.arm not in probabilities:
            probabilities[entry.arm] = policy.probability(entry.arm)
        return probabilities[entry.arm]

    known = [(entry, state) for entry, state, _ in entries if state is not UrlState.REFUSED]
    known.sort(key=lambda each: (each[0].depth, each[0].sequence))
    return list(accumulate(expect(entry, state) for entry, state in known))


def _find_relevant(storage: LmdbStorage) -> set[str]:
    """Return the URLs of relevant pages."""
    decode = msgspec.msgpack.Decoder(Visit).decode
    records = map(storage.visit, storage.labelled_visits(RELEVANT_LABEL))
    return {decode(record).url for record in records if record is not None}


def sum_expectations(curves: Sequence[Sequence[float]], fetched: int) -> Points:
    """Return one curve of at most `fetched` URLs. Shards fetch in proportion to their known URLs.

    >>> sum_expectations([[0.5, 1.0], [0.0, 0.0, 0.0, 1.0]], 3)
    ((1, 0), (2, 0), (3, 0))
    >>> sum_expectations([[0.5, 1.0], [0.0, 0.0, 0.0, 1.0]], 9)[-1]
    (6, 2)
    """
    known = sum(map(len, curves))
    total = min(fetched, known)
    steps = min(total, _POINTS)
    points = []
    for step in range(1, steps + 1):
        at = total * step // steps
        ends = (len(curve) * at // known for curve in curves)
        points.append((at, round(sum(curve[end - 1] for curve, end in zip(curves, ends, strict=True) if end))))
    return tuple(points)
