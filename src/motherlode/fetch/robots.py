"""robots.txt (RFC 9309): from an answer to rules."""

from __future__ import annotations

from protego import Protego

from motherlode.model import Failure, FailureKind, Page

PRODUCT_TOKEN = "motherlode"
MAX_SIZE = 500 << 10
"""Bytes of a robots.txt that are read; RFC 9309, 2.5."""

_MEANS_ALLOWED = frozenset(
    {FailureKind.NOT_FOUND, FailureKind.FORBIDDEN, FailureKind.CLIENT_ERROR, FailureKind.REDIRECT_BROKEN}
)
"""Unavailable, in the standard's words; redirects that lead nowhere too (2.3.1.2)."""


class RobotsRules:
    """The rules for our product token. Bad lines are passed over, as the standard wants.

    >>> rules = RobotsRules(b"User-agent: *\\nDisallow: /private\\nAllow: /private/open\\nCrawl-delay: 2")
    >>> rules.allows("http://ex.org/private/x"), rules.allows("http://ex.org/private/open"), rules.delay
    (False, True, 2.0)
    """

    def __init__(self, body: bytes) -> None:
        text = _cut(body).decode("utf-8-sig", errors="replace")
        self._rules = Protego.parse(text)
        delay = self._rules.crawl_delay(PRODUCT_TOKEN)
        self.delay: float | None = None if delay is None else float(delay)
        self.sitemaps: tuple[str, ...] = tuple(self._rules.sitemaps)

    def allows(self, url: str) -> bool:
        return bool(self._rules.can_fetch(url, PRODUCT_TOKEN))


def _cut(body: bytes) -> bytes:
    """At most MAX_SIZE bytes, in whole lines: half a rule could forbid everything."""
    if len(body) <= MAX_SIZE:
        return body
    return body[: max(body.rfind(b"\n", 0, MAX_SIZE), body.rfind(b"\r", 0, MAX_SIZE)) + 1]


def robots_body(fetched: Page | Failure) -> bytes | None:
    """The robots.txt that an answer amounts to (RFC 9309, 2.3.1); None where the host must be asked again later.

    Any 4xx but 429 means that there are no rules; what cannot be reached now allows nothing now. A redirect is for the
    frontier to follow, which knows the clocks.
    """
    if isinstance(fetched, Page):
        return _cut(fetched.body)
    if fetched.kind in _MEANS_ALLOWED:
        return b""
    return None
