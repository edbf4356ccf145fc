"""Robots directives of a page (meta element, X-Robots-Tag), and the protocol for robots.txt rules."""

from __future__ import annotations

from typing import Protocol

import msgspec

_ENDS = "ends="


class CrawlerDirectives(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The robots directives of a page. `|` combines two sets of directives to the stricter one.

    >>> both = CrawlerDirectives(nofollow=True) | CrawlerDirectives(ends_at=100.0)
    >>> both.may_be_kept(99.0), both.may_be_kept(100.0), both.text
    (True, False, 'nofollow ends=100')
    >>> CrawlerDirectives.read(both.text) == both
    True
    """

    noindex: bool = False
    """Do not store the page's statements."""
    nofollow: bool = False
    """Do not follow the page's links."""
    ends_at: float | None = None
    """Time from which the page must not be kept, in seconds since the epoch."""

    def __or__(self, other: CrawlerDirectives) -> CrawlerDirectives:
        ends = [asked.ends_at for asked in (self, other) if asked.ends_at is not None]
        return CrawlerDirectives(
            noindex=self.noindex or other.noindex,
            nofollow=self.nofollow or other.nofollow,
            ends_at=min(ends, default=None),
        )

    def may_be_kept(self, at: float) -> bool:
        """Return whether the page's statements may be stored at a time."""
        return not self.noindex and (self.ends_at is None or at < self.ends_at)

    @property
    def text(self) -> str:
        """The directives as text for the log; "" if there are none."""
        words = ["noindex"] * self.noindex + ["nofollow"] * self.nofollow
        return " ".join(words if self.ends_at is None else [*words, f"{_ENDS}{self.ends_at:.0f}"])

    @classmethod
    def read(cls, text: str) -> CrawlerDirectives:
        """Parse the value of `text`."""
        words = text.split()
        ends = [float(word.removeprefix(_ENDS)) for word in words if word.startswith(_ENDS)]
        return cls(noindex="noindex" in words, nofollow="nofollow" in words, ends_at=ends[0] if ends else None)


NO_DIRECTIVES = CrawlerDirectives()


# ── Rules of robots.txt ──────────────────────────────────────────────────────────────────────────────


class HostRules(Protocol):
    """Parsed robots.txt rules for our product token."""

    @property
    def delay(self) -> float | None:
        """Crawl-delay in seconds; None if the file has none."""
        ...

    def allows(self, url: str) -> bool:
        """Return whether the rules allow our crawler to fetch the URL."""
        ...
