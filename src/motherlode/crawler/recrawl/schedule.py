"""What is remembered of a page for the next look at it, and when that is due.

Changes are taken for a Poisson process (Cho and Garcia-Molina, "Estimating frequency of change", 2003). A visit tells
only *whether* a page changed since the last one, so for a change the time that counts as observed is the expected time
up to the first change in the interval, not the whole interval: without that, the rate of pages that change faster than
we look would be underestimated. The rate is the mean of a Gamma posterior. The prior says one change in ten days, with
the weight of a single change; a page's own history soon outweighs it.
"""

from __future__ import annotations

import hashlib
import math

import msgspec

from motherlode.model import NO_DIRECTIVES, CrawlerDirectives, Fetched, Visit

DAY = 86_400.0
_PRIOR_CHANGES = 1.0
_PRIOR_SECONDS = 10 * DAY
SOONEST, LATEST = 3_600.0, 90 * DAY
"""Bounds of the wait between two visits to a page."""
GONE_FOR = LATEST / 3
"""Seconds before a page that is gone is looked at again."""
_ODDS = math.log(2)
"""A page is due when it has changed as likely as not."""
_MAX_VALIDATOR = 200
"""Characters of an ETag or a Last-Modified; honest ones are far shorter, and longer ones are not kept."""


class PageMemory(msgspec.Struct, frozen=True, array_like=True, kw_only=True, gc=False):
    """What is known of a page for the next look at it."""

    url: str
    etag: str = ""
    last_modified: str = ""
    content_hash: str = ""
    visited_at: float = 0.0
    visits: int = 1
    changes: int = 0
    observed: float = 0.0
    """Seconds under observation, as the rate of change needs them."""
    due_at: float = 0.0
    gone: bool = False
    relevant: bool = False
    quads: int = 0
    arm: str = ""
    """With the score: how the page was rated when it was found."""
    score: float = 0.0
    counts: dict[str, int] = {}
    """Statements by syntax."""
    media_type: str = ""
    """As its header said; empty in records of earlier versions."""
    directives: str = ""
    """What its header asked of crawlers, as `CrawlerDirectives` has it in words."""
    ends_at: float | None = None
    """When the page itself, in its head, asks not to be kept any longer."""

    @property
    def header_asked(self) -> CrawlerDirectives:
        return CrawlerDirectives.read(self.directives) if self.directives else NO_DIRECTIVES

    @property
    def asked(self) -> CrawlerDirectives:
        """What decides whether the page is kept while its content is the same."""
        return self.header_asked | CrawlerDirectives(ends_at=self.ends_at)

    @property
    def rate(self) -> float:
        """Changes a second, as far as we know."""
        return (_PRIOR_CHANGES + self.changes) / (_PRIOR_SECONDS + self.observed)

    def change_expected(self, now: float) -> float:
        """The probability that the page has changed since it was last looked at.

        >>> page = PageMemory(url="http://a.example/", visited_at=0.0)
        >>> round(page.change_expected(10 * DAY), 3)
        0.632
        """
        ends_at = self.asked.ends_at
        if ends_at is not None and self.visited_at < ends_at <= now:
            return 1.0  # it asks not to be kept any longer
        return -math.expm1(-self.rate * max(0.0, now - self.visited_at))

    def looked_at(self, now: float, *, changed: bool) -> PageMemory:
        """The record after another visit, with the time of the next."""
        interval = max(0.0, now - self.visited_at)
        seen = msgspec.structs.replace(
            self,
            visited_at=now,
            visits=self.visits + 1,
            changes=self.changes + changed,
            observed=self.observed + (first_change(self.rate, interval) if changed else interval),
            gone=False,
        )
        return msgspec.structs.replace(seen, due_at=now + min(LATEST, max(SOONEST, _ODDS / seen.rate)))

    def due_by_its_end(self) -> PageMemory:
        """The record of a page that is due no later than when it asks not to be kept any longer."""
        ends_at = self.asked.ends_at
        if ends_at is None or not self.visited_at < ends_at < self.due_at:
            return self
        return msgspec.structs.replace(self, due_at=ends_at)


def first_change(rate: float, interval: float) -> float:
    """The expected time up to the first change, given that there was one in the interval.

    >>> round(first_change(1e-9, 100.0), 3), round(first_change(1.0, 100.0), 3)
    (50.0, 1.0)
    """
    events = rate * interval
    if events < 1e-6:
        return interval / 2
    if events > 500:
        return 1 / rate
    return interval * (1 / events - 1 / math.expm1(events))


def memory_of(visit: Visit, *, arm: str, score: float) -> PageMemory:
    """The record of a page that was visited for the first time."""
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
    return msgspec.structs.replace(fresh, due_at=visit.at + _ODDS / fresh.rate).due_by_its_end()


def sendable(value: str) -> str:
    """A validator as the server gave it, or "" where a header could not hold it."""
    return value if value.isascii() and value.isprintable() else ""


def header_asks(answer: Fetched) -> CrawlerDirectives | None:
    """What the header of an answer asks of crawlers; None where there is none of that name.

    A recorded web has no time of its own, so that no date has passed in it.
    """
    value = answer.headers.get("x-robots-tag")
    if value is None:
        return None
    from motherlode.links import header_directives  # few pages have that header, and this process reads none

    asked = header_directives(value)
    return asked if answer.fetched_at else msgspec.structs.replace(asked, ends_at=None)


def is_same_type(known: str, content_type: str) -> bool:
    """Whether a body is to be read as before.

    >>> is_same_type("text/html; charset=UTF-8", 'text/html;charset="utf-8"'), is_same_type("text/plain", "text/n3")
    (True, False)
    """
    return not known or _bare(known) == _bare(content_type)


def _bare(content_type: str) -> str:
    return "".join(content_type.lower().replace('"', "").split())


def validator(value: str) -> str:
    """What a conditional request says later; a part of it would not be well-formed, and never match."""
    return value if len(value) <= _MAX_VALIDATOR else ""


def content_hash(body: bytes) -> str:
    return "sha256:" + hashlib.sha256(body).hexdigest()
