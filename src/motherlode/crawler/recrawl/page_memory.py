"""The record of a visited page: when it probably changed, when new links are expected, and what a revisit is worth.

Changes are modelled as a Poisson process (Cho and Garcia-Molina, "Estimating frequency of change", 2003). A visit shows
only *whether* a page has changed since the last visit. If it has, the observed time is the expected time until the
first change in the interval, not the whole interval. Otherwise the rate of pages that change more often than they are
visited would be underestimated. The rate is the mean of a Gamma posterior. The prior is one change in ten days with the
weight of one change, so the history of a page soon outweighs it.

New links are a Poisson process too, but a revisit shows how many there were. Their rate is the mean of a posterior
whose prior grows with the number of URLs that were first found on the page, because hub pages get more new links. The
share of relevant pages among these URLs says how many of the new links are relevant.
"""

from __future__ import annotations

import math
from typing import Any

import msgspec

from motherlode.model import NO_DIRECTIVES, CrawlerDirectives, Visit

DAY_SECONDS = 86_400.0
_PRIOR_CHANGES = 1.0
_PRIOR_SECONDS = 10 * DAY_SECONDS
MIN_INTERVAL_SECONDS, MAX_INTERVAL_SECONDS = 3_600.0, 90 * DAY_SECONDS
"""Bounds of the interval between two visits to a page."""
GONE_FOR = MAX_INTERVAL_SECONDS / 3
"""Seconds until the next visit to a page that is gone."""
_DUE_EXPECTED_CHANGES = math.log(2)
"""Expected number of changes at which a page is due: the probability of a change is then one half."""
_PRIOR_RELEVANT_SHARE = 0.2
"""Prior share of relevant pages among the new links of a page, with the weight of one link."""
_PRIOR_NEW_SECONDS = 3 * DAY_SECONDS
_PRIOR_NEW_LINKS, _PRIOR_NEW_LINKS_PER_CHILD = 0.01, 0.005
"""Prior number of new links per day: of any page, and for each URL that was first found on it."""
_DUE_NEW_LINKS = 0.5
"""Expected number of new relevant links at which a page is due."""
_MIN_EXPECTED = 0.05
"""Expected changes and new links below which a revisit is not worth a request, however much budget is left."""
_WEIGHT_OF_OTHER_PAGES = 0.1
"""Value of an up-to-date page that is not relevant, compared with a relevant one."""
_WEIGHT_OF_NEW_PAGES = 1.0
"""Value of a new relevant page, compared with a known relevant page that is up to date."""
MAX_VALIDATOR_CHARACTERS = 200
"""Maximum length of a stored ETag or Last-Modified value. Usual values are far shorter, and a cut one never matches."""


class PageMemory(msgspec.Struct, frozen=True, array_like=True, kw_only=True, gc=False):
    """State of a visited page that its next visit needs."""

    url: str
    etag: str = ""
    last_modified: str = ""
    content_hash: str = ""
    visited_at: float = 0.0
    visits: int = 1
    changes: int = 0
    observed: float = 0.0
    """Observed time in seconds, which the estimate of the change rate needs (see the module docstring)."""
    due_at: float = 0.0
    gone: bool = False
    relevant: bool = False
    quads: int = 0
    arm: str = ""
    """Arm of the page at its first visit. `score` is its score at that visit."""
    score: float = 0.0
    counts: dict[str, int] = {}
    """Number of statements by syntax."""
    media_type: str = ""
    """Value of the Content-Type header. It is empty in records of earlier versions."""
    directives: str = ""
    """Value of the X-Robots-Tag header in the text form of `CrawlerDirectives`."""
    ends_at: float | None = None
    """Time (seconds since the epoch) after which the page must not be kept (`unavailable_after` in its HTML head)."""
    new_links: int = 0
    """Number of links that revisits found and that were not known before."""
    watched: float = 0.0
    """Seconds between the first and the last visit, in which the links of `new_links` appeared."""
    children: int = 0
    """Number of visited URLs that were first found on this page."""
    relevant_children: int = 0
    failures: int = 0
    """Number of failed revisits since the last visit."""
    retry_at: float = 0.0
    """Time before which an endless refresh does not try the page again, because its last revisit failed."""

    @property
    def header_directives(self) -> CrawlerDirectives:
        """The directives of the X-Robots-Tag header."""
        return CrawlerDirectives.read(self.directives) if self.directives else NO_DIRECTIVES

    @property
    def current_directives(self) -> CrawlerDirectives:
        """The directives of the header, and the date in the HTML head. They apply until a visit finds other ones."""
        return self.header_directives | CrawlerDirectives(ends_at=self.ends_at)

    @property
    def rate(self) -> float:
        """Estimated number of changes per second."""
        return (_PRIOR_CHANGES + self.changes) / (_PRIOR_SECONDS + self.observed)

    def change_expected(self, now: float) -> float:
        """Return the probability that the page has changed since its last visit.

        >>> page = PageMemory(url="http://a.example/", visited_at=0.0)
        >>> round(page.change_expected(10 * DAY_SECONDS), 3)
        0.632
        """
        ends_at = self.current_directives.ends_at
        if ends_at is not None and self.visited_at < ends_at <= now:
            return 1.0  # the page must no longer be kept
        return -math.expm1(-self.rate * max(0.0, now - self.visited_at))

    @property
    def new_rate(self) -> float:
        """Estimated number of new relevant links per second."""
        share = (_PRIOR_RELEVANT_SHARE + self.relevant_children) / (1 + self.children)
        prior_links = (_PRIOR_NEW_LINKS + _PRIOR_NEW_LINKS_PER_CHILD * self.children) * _PRIOR_NEW_SECONDS / DAY_SECONDS
        return share * (prior_links + self.new_links) / (_PRIOR_NEW_SECONDS + self.watched)

    def new_expected(self, now: float) -> float:
        """Return the expected number of relevant links that appeared on the page since its last visit.

        >>> hub = PageMemory(url="http://a.example/", new_links=20, watched=10 * DAY_SECONDS, children=9)
        >>> hub = msgspec.structs.replace(hub, relevant_children=9, visited_at=10 * DAY_SECONDS)
        >>> round(hub.new_expected(11 * DAY_SECONDS), 1)
        1.4
        """
        return self.new_rate * max(0.0, now - self.visited_at)

    def may_be_visited(self, now: float) -> bool:
        """Return whether an endless refresh may visit the page: not too soon after a visit or a failed revisit."""
        if self.gone:
            return self.due_at <= now
        return now - self.visited_at >= MIN_INTERVAL_SECONDS and self.retry_at <= now

    def is_due(self, now: float) -> bool:
        """Return whether a change, or a new relevant link, has become as probable as not."""
        return self.due_at <= now or (not self.gone and self.new_expected(now) >= _DUE_NEW_LINKS)

    def revisit_value(self, now: float) -> float:
        """Return the value of a revisit now, in seconds of pages that are up to date; 0 if it is not worth a request.

        The first term is the marginal value of a visit for the share of time in which the stored page is up to date
        (Azar et al., "Tractable near-optimal policies for crawling", PNAS 2018). Pages that change very often get a low
        value, because they are out of date again soon. The second term is the time for which new relevant pages behind
        the page were missing: with a constant rate, half of the elapsed time each.
        """
        changed, new = self.change_expected(now), self.new_expected(now)
        if changed < _MIN_EXPECTED and new < _MIN_EXPECTED:
            return 0.0
        elapsed, events = now - self.visited_at, self.rate * (now - self.visited_at)
        kept_fresh = (1.0 - math.exp(-events) * (1.0 + events)) / self.rate
        weight = 1.0 if self.relevant else _WEIGHT_OF_OTHER_PAGES
        return weight * kept_fresh + _WEIGHT_OF_NEW_PAGES * new * elapsed / 2

    def revisit_failed(self, now: float) -> PageMemory:
        """Return the state after a failed revisit. The next attempt of an endless refresh comes later each time."""
        wait = min(MAX_INTERVAL_SECONDS / 3, 6 * MIN_INTERVAL_SECONDS * 2**self.failures)
        return msgspec.structs.replace(self, failures=min(self.failures + 1, 30), retry_at=now + wait)

    def looked_at(self, now: float, *, changed: bool) -> PageMemory:
        """Return the state after another visit, with the time at which the next one is due."""
        interval = max(0.0, now - self.visited_at)
        seen = msgspec.structs.replace(
            self,
            visited_at=now,
            visits=self.visits + 1,
            changes=self.changes + changed,
            observed=self.observed + (expect_first_change(self.rate, interval) if changed else interval),
            gone=False,
            watched=self.watched + interval,
            failures=0,
            retry_at=0.0,
        )
        return msgspec.structs.replace(
            seen, due_at=now + min(MAX_INTERVAL_SECONDS, max(MIN_INTERVAL_SECONDS, _DUE_EXPECTED_CHANGES / seen.rate))
        )

    def due_by_its_end(self) -> PageMemory:
        """Return the state with a due time that is not after the time at which the page must no longer be kept."""
        ends_at = self.current_directives.ends_at
        if ends_at is None or not self.visited_at < ends_at < self.due_at:
            return self
        return msgspec.structs.replace(self, due_at=ends_at)


def expect_first_change(rate: float, interval: float) -> float:
    """Return the expected time until the first change, given that there was a change in the interval.

    >>> round(expect_first_change(1e-9, 100.0), 3), round(expect_first_change(1.0, 100.0), 3)
    (50.0, 1.0)
    """
    events = rate * interval
    if events < 1e-6:
        return interval / 2
    if events > 500:
        return 1 / rate
    return interval * (1 / events - 1 / math.expm1(events))


def memory_of(visit: Visit) -> PageMemory:
    """Return the state of a page after its first visit."""
    fresh = PageMemory(
        url=visit.url,
        visited_at=visit.at,
        relevant=visit.relevant,
        quads=visit.quads,
        arm=visit.arm,
        score=visit.score,
        counts=dict(visit.counts),
        **fields_of_visit(visit),
    )
    return msgspec.structs.replace(fresh, due_at=visit.at + _DUE_EXPECTED_CHANGES / fresh.rate).due_by_its_end()


def fields_of_visit(visit: Visit) -> dict[str, Any]:
    """Return the fields of the page state that a complete response changes."""
    names = ("etag", "last_modified", "content_hash", "media_type", "directives", "ends_at")
    return {name: getattr(visit, name) for name in names}
