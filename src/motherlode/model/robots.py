"""What a page itself asks of crawlers."""

from __future__ import annotations

from typing import Protocol

import msgspec

_ENDS = "ends="


class CrawlerDirectives(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The wishes of a page that a crawl must heed; several add up.

    >>> both = CrawlerDirectives(nofollow=True) | CrawlerDirectives(ends_at=100.0)
    >>> both.may_be_kept(99.0), both.may_be_kept(100.0), both.text
    (True, False, 'nofollow ends=100')
    >>> CrawlerDirectives.read(both.text) == both
    True
    """

    noindex: bool = False
    """Keep none of its statements."""
    nofollow: bool = False
    """Follow none of its links."""
    ends_at: float | None = None
    """Seconds since the epoch; from then on it is not to be kept."""

    def __or__(self, other: CrawlerDirectives) -> CrawlerDirectives:
        ends = [asked.ends_at for asked in (self, other) if asked.ends_at is not None]
        return CrawlerDirectives(
            noindex=self.noindex or other.noindex,
            nofollow=self.nofollow or other.nofollow,
            ends_at=min(ends, default=None),
        )

    def may_be_kept(self, at: float) -> bool:
        return not self.noindex and (self.ends_at is None or at < self.ends_at)

    @property
    def text(self) -> str:
        """All of it in a few words, for the log; "" where nothing is asked."""
        words = ["noindex"] * self.noindex + ["nofollow"] * self.nofollow
        return " ".join(words if self.ends_at is None else [*words, f"{_ENDS}{self.ends_at:.0f}"])

    @classmethod
    def read(cls, text: str) -> CrawlerDirectives:
        """What `text` said."""
        words = text.split()
        ends = [float(word.removeprefix(_ENDS)) for word in words if word.startswith(_ENDS)]
        return cls(noindex="noindex" in words, nofollow="nofollow" in words, ends_at=ends[0] if ends else None)


NO_DIRECTIVES = CrawlerDirectives()


# ── What a host's robots.txt asks of us, as the frontier needs to know it.


class HostRules(Protocol):
    """Parsed robots.txt rules for our product token."""

    @property
    def delay(self) -> float | None:
        """Crawl-delay in seconds, where one is given."""
        ...

    def allows(self, url: str) -> bool: ...
