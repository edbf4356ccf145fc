"""The running account of a crawl: what `stats` tells, kept beside the frontier's state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec

from motherlode.model import FailureKind, Visit

BEING_READ, BEING_FETCHED = "being read", "being fetched"
"""What was done with a page when the time of the crawl was up."""


class Totals(msgspec.Struct, kw_only=True):
    """Sums over all visits. Part of the frontier's commit, so they are right after a crash as well."""

    fetched: int = 0
    """Requests for pages, failures included."""
    relevant: int = 0
    quads: int = 0
    bytes: int = 0
    seconds: float = 0.0
    requests: int = 0
    """All requests, those for robots.txt included."""
    heads: int = 0
    """HEAD requests that probed pages."""
    refreshed: int = 0
    """Of those fetched, looks at known pages; what was found is counted below."""
    unchanged: int = 0
    changed: int = 0
    gone: int = 0
    failures: dict[str, int] = {}
    redirects: int = 0
    duplicates: int = 0
    """Pages whose content another address had given before."""
    syntaxes: dict[str, list[int]] = {}
    """Pages and statements by syntax."""
    problems: dict[str, int] = {}
    outages: int = 0
    """How often there was no network, so that the crawl waited for it."""
    outage_seconds: float = 0.0
    no_network_since: float | None = None
    """Seconds since the epoch, while there is none."""
    unfinished: dict[str, str] = {}
    """URLs of pages that were under way when the time of the crawl was up, and what was being done with each. A resume
    begins with them, and takes them off."""
    links: int = 0
    curve: list[tuple[int, int]] = []
    """Pairs of pages asked for the first time and relevant ones, thinned as they grow."""

    def add(self, visit: Visit) -> None:
        self.fetched += 1
        self.requests += 1
        self.relevant += visit.relevant - visit.relevant_before
        self.quads += visit.quads - visit.quads_before
        self.bytes += visit.size
        self.links += visit.links
        self.duplicates += visit.failure is None and bool(visit.detail)
        if visit.refresh:
            self.refreshed += 1
            self.unchanged += visit.refresh == "unchanged"
            self.changed += visit.refresh == "changed"
            self.gone += visit.refresh == "gone"
        if visit.failure is FailureKind.REDIRECT:
            self.redirects += 1
        elif visit.failure is FailureKind.NOT_MODIFIED:
            pass  # a page that is as it was is no failure
        elif visit.failure is not None:
            self.failures[visit.failure.value] = self.failures.get(visit.failure.value, 0) + 1
        for syntax, statements in visit.counts.items():
            pages = self.syntaxes.setdefault(syntax, [0, 0])
            pages[0] += 1
            pages[1] += statements
        for syntax, statements in visit.counts_before.items():
            pages = self.syntaxes.setdefault(syntax, [0, 0])
            pages[0] -= 1
            pages[1] -= statements
        for problem in visit.problems:
            self.note_problem(f"{problem.syntax.value if problem.syntax else 'page'}: {_general(problem.message)}")
        if not visit.refresh:
            self._mark()

    def note_problem(self, problem: str) -> None:
        if problem in self.problems or len(self.problems) < 200:
            self.problems[problem] = self.problems.get(problem, 0) + 1
        else:
            self.problems["others"] = self.problems.get("others", 0) + 1

    def _mark(self) -> None:
        """Keep the curve to a few hundred points, evenly spaced, whatever the crawl's length."""
        step = max(1, 1 << max(0, self.first.bit_length() - 9))
        if self.first % step == 0:
            self.curve.append((self.first, self.relevant))
        if len(self.curve) > 1024:
            self.curve = [point for point in self.curve if point[0] % step == 0]

    @property
    def first(self) -> int:
        """Requests for pages that were not known before."""
        return self.fetched - self.refreshed

    @property
    def harvest_rate(self) -> float:
        """Relevant pages a request; looks at pages that are known bring none, and do not count."""
        return self.relevant / self.first if self.first else 0.0

    def summary(self) -> dict[str, Any]:
        """The part that other programs read."""
        return {
            "fetched": self.fetched,
            "relevant": self.relevant,
            "harvest_rate": round(self.harvest_rate, 4),
            "quads": self.quads,
            "bytes": self.bytes,
            "seconds": round(self.seconds, 3),
            "requests": self.requests,
            "heads": self.heads,
            "refreshed": self.refreshed,
            "unchanged": self.unchanged,
            "changed": self.changed,
            "gone": self.gone,
            "redirects": self.redirects,
            "duplicates": self.duplicates,
            "outages": self.outages,
            "outage_seconds": round(self.outage_seconds, 3),
            "no_network_since": self.no_network_since,
            "unfinished": dict(sorted(Counter(self.unfinished.values()).items())),
            "failures": dict(sorted(self.failures.items())),
            "problems": dict(sorted(self.problems.items())),
            "syntaxes": {name: {"pages": p, "statements": s} for name, (p, s) in sorted(self.syntaxes.items())},
        }


_COUNTERS = (
    *("fetched", "relevant", "quads", "bytes", "requests", "heads", "redirects", "duplicates", "links"),
    *("refreshed", "unchanged", "changed", "gone", "outages"),
)


def sum_of(parts: Sequence[Totals]) -> Totals:
    """The account of a crawl from those of its shards. Shards run side by side: their seconds are not added up."""
    whole = Totals(
        seconds=max((part.seconds for part in parts), default=0.0),
        outage_seconds=max((part.outage_seconds for part in parts), default=0.0),
        no_network_since=min(
            (part.no_network_since for part in parts if part.no_network_since is not None), default=None
        ),
    )
    for part in parts:
        for name in _COUNTERS:
            setattr(whole, name, getattr(whole, name) + getattr(part, name))
        whole.unfinished |= part.unfinished
        for kind, count in part.failures.items():
            whole.failures[kind] = whole.failures.get(kind, 0) + count
        for problem, count in part.problems.items():
            whole.problems[problem] = whole.problems.get(problem, 0) + count
        for syntax, (pages, statements) in part.syntaxes.items():
            sums = whole.syntaxes.setdefault(syntax, [0, 0])
            sums[0] += pages
            sums[1] += statements
    return whole


def since(before: Totals, after: Totals) -> Totals:
    """What an account has grown by, in its counters.

    >>> since(Totals(fetched=3, gone=1), Totals(fetched=5, gone=1)).fetched
    2
    """
    grown = {name: getattr(after, name) - getattr(before, name) for name in _COUNTERS}
    return Totals(seconds=after.seconds - before.seconds, **grown)


def _general(message: str) -> str:
    """A problem without what only this page says, so that equals can be counted."""
    head = message.partition(": ")[0]
    return (head if len(head) > 12 else message)[:80]
