"""robots.txt (RFC 9309) and X-Robots-Tag: what the owner of a host asks of crawlers."""

from __future__ import annotations

from motherlode.fetch.robots_lines import read
from motherlode.fetch.robots_match import Matcher, path_of
from motherlode.model import Failure, FailureKind, Page

PRODUCT_TOKEN = "motherlode"
MAX_SIZE = 500 << 10
"""Bytes of a robots.txt that are read; RFC 9309, 2.5."""

_MEANS_ALLOWED = frozenset(
    {FailureKind.NOT_FOUND, FailureKind.FORBIDDEN, FailureKind.CLIENT_ERROR, FailureKind.REDIRECT_BROKEN}
)
"""Unavailable, in the standard's words; redirects that lead nowhere too (2.3.1.2)."""
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_OWN_PATH = "/robots.txt"
_WITH_VALUE = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})
"""Directives of X-Robots-Tag that have a colon of their own."""
_REFUSALS = {
    "noindex": frozenset({"noindex"}),
    "nofollow": frozenset({"nofollow"}),
    "none": frozenset({"noindex", "nofollow"}),
}


class RobotsRules:
    """The rules for our product token. Bad lines are passed over, as the standard wants.

    >>> rules = RobotsRules(b"User-agent: *\\nDisallow: /private\\nAllow: /private/open\\nCrawl-delay: 2")
    >>> rules.allows("http://ex.org/private/x"), rules.allows("http://ex.org/private/open"), rules.delay
    (False, True, 2.0)
    """

    def __init__(self, body: bytes, *, agent: str = PRODUCT_TOKEN) -> None:
        reading = read(_text(_cut(body)), agent)
        self._matcher = Matcher(reading.group.rules)
        self.delay: float | None = reading.group.delay
        self.sitemaps: tuple[str, ...] = reading.sitemaps

    def allows(self, url: str) -> bool:
        path = path_of(url)
        return self._matcher.allows(path) or path == _OWN_PATH


def _cut(body: bytes) -> bytes:
    """At most MAX_SIZE bytes, in whole lines: half a rule could forbid everything."""
    if len(body) <= MAX_SIZE:
        return body
    return body[: max(body.rfind(b"\n", 0, MAX_SIZE), body.rfind(b"\r", 0, MAX_SIZE)) + 1]


def _text(body: bytes) -> str:
    """UTF-8 by the standard; UTF-16 where it says so. Bytes that are neither stay what they are, for the patterns."""
    if body.startswith(_UTF16_MARKS) and b"\x00" in body[:64]:
        return body.decode("utf-16", errors="replace")
    return body.removeprefix(b"\xef\xbb\xbf").decode(errors="surrogateescape")


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


def header_directives(value: str, *, product: str = PRODUCT_TOKEN) -> frozenset[str]:
    """Those of noindex and nofollow that an X-Robots-Tag header asks of all crawlers, or of ours.

    A name before a colon says for whom the directives are that follow it, up to the next name.

    >>> header_directives("NoFollow, otherbot: noindex"), sorted(header_directives("motherlode: none"))
    (frozenset({'nofollow'}), ['nofollow', 'noindex'])
    >>> header_directives("unavailable_after: 25 Jun 2030 15:00:00 PST, noindex")
    frozenset({'noindex'})
    """
    found: frozenset[str] = frozenset()
    for_us = True
    for part in value.lower().split(","):
        name, colon, directive = part.partition(":")
        name = name.strip()
        if colon and name not in _WITH_VALUE and " " not in name:  # a colon after spaces is one of a date
            for_us = name in ("*", "robots", product)
        else:
            directive = part
        if for_us:
            found |= _REFUSALS.get(directive.strip(), frozenset())
    return found
