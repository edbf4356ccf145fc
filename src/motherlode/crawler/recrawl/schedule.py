"""State of visited pages, with their estimated change rate and the time at which the next visit is due.

Changes are modelled as a Poisson process (Cho and Garcia-Molina, "Estimating frequency of change", 2003). A visit shows
only *whether* a page has changed since the last visit. If it has, the observed time is the expected time until the
first change in the interval, not the whole interval. Otherwise the rate of pages that change more often than they are
visited would be underestimated. The rate is the mean of a Gamma posterior. The prior is one change in ten days with the
weight of one change, so the history of a page soon outweighs it.
"""

from __future__ import annotations

import hashlib
import math

import msgspec

from motherlode.model import NO_DIRECTIVES, CrawlerDirectives, Fetched, Visit

DAY_SECONDS = 86_400.0
_PRIOR_CHANGES = 1.0
_PRIOR_SECONDS = 10 * DAY_SECONDS
MIN_INTERVAL_SECONDS, MAX_INTERVAL_SECONDS = 3_600.0, 90 * DAY_SECONDS
"""Bounds of the interval between two visits to a page."""
GONE_FOR = MAX_INTERVAL_SECONDS / 3
"""Seconds until the next visit to a page that is gone."""
_DUE_EXPECTED_CHANGES = math.log(2)
"""Expected number of changes at which a page is due: the probability of a change is then one half."""
_MAX_VALIDATOR_CHARACTERS = 200
"""Maximum length of a stored ETag or Last-Modified value. Usual values are far shorter."""


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
    """Time after which the HTML head asks crawlers not to keep the page (`unavailable_after`)."""

    @property
    def header_asked(self) -> CrawlerDirectives:
        """Directives of the X-Robots-Tag header."""
        return CrawlerDirectives.read(self.directives) if self.directives else NO_DIRECTIVES

    @property
    def asked(self) -> CrawlerDirectives:
        """Directives that apply to the page while its content is unchanged."""
        return self.header_asked | CrawlerDirectives(ends_at=self.ends_at)

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
        ends_at = self.asked.ends_at
        if ends_at is not None and self.visited_at < ends_at <= now:
            return 1.0  # the page must no longer be kept
        return -math.expm1(-self.rate * max(0.0, now - self.visited_at))

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
        )
        return msgspec.structs.replace(
            seen, due_at=now + min(MAX_INTERVAL_SECONDS, max(MIN_INTERVAL_SECONDS, _DUE_EXPECTED_CHANGES / seen.rate))
        )

    def due_by_its_end(self) -> PageMemory:
        """Return the state with a due time that is not after the time at which the page must no longer be kept."""
        ends_at = self.asked.ends_at
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


def memory_of(visit: Visit, *, arm: str, score: float) -> PageMemory:
    """Return the state of a page after its first visit."""
    fresh = PageMemory(
        url=visit.url,
        etag=visit.etag,
        last_modified=visit.last_modified,
        content_hash=visit.content_hash,
        visited_at=visit.at,
        relevant=visit.relevant,
        quads=visit.quads,
        arm=arm,
        score=score,
        counts=dict(visit.counts),
        media_type=visit.media_type,
        directives=visit.directives,
        ends_at=visit.ends_at,
    )
    return msgspec.structs.replace(fresh, due_at=visit.at + _DUE_EXPECTED_CHANGES / fresh.rate).due_by_its_end()


def sendable(value: str) -> str:
    """Return a validator, or "" if its characters are not allowed in a request header."""
    return value if value.isascii() and value.isprintable() else ""


def header_asks(answer: Fetched) -> CrawlerDirectives | None:
    """Return the directives of the X-Robots-Tag header, or None if the response has no such header.

    Dates are ignored in a recorded web, because it has no current time.
    """
    value = answer.headers.get("x-robots-tag")
    if value is None:
        return None
    from motherlode.links.robots_meta import header_directives  # imported here, because few responses have this header

    asked = header_directives(value)
    return asked if answer.fetched_at else msgspec.structs.replace(asked, ends_at=None)


def is_same_type(known: str, content_type: str) -> bool:
    """Return whether two content types are equal, apart from case, spaces and quotation marks.

    An unknown old type is equal to any type.

    >>> is_same_type("text/html; charset=UTF-8", 'text/html;charset="utf-8"'), is_same_type("text/plain", "text/n3")
    (True, False)
    """
    return not known or _normalize_type(known) == _normalize_type(content_type)


def _normalize_type(content_type: str) -> str:
    return "".join(content_type.lower().replace('"', "").split())


def validator(value: str) -> str:
    """Return a validator for later conditional requests, or "" if it is too long. A cut validator would never match."""
    return value if len(value) <= _MAX_VALIDATOR_CHARACTERS else ""


def content_hash(body: bytes) -> str:
    """Return the hash of a body by which a revisit detects unchanged content."""
    return "sha256:" + hashlib.sha256(body).hexdigest()
