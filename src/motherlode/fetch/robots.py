"""robots.txt (RFC 9309): from an answer to rules."""

from __future__ import annotations

import re
import zlib
from http import HTTPStatus

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
_GZIP_MARK = b"\x1f\x8b"
_OWN_PATH = "/robots.txt"
_A_DAY = 86_400.0
_MAX_AGE = re.compile(r"(?:^|[\s,])max-age\s*=\s*\"?([0-9]{1,9})", re.IGNORECASE)
_NOT_CACHED = re.compile(r"(?:^|[\s,])no-(?:cache|store)(?![\w-])", re.IGNORECASE)


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


def _unpacked(body: bytes) -> bytes:
    """A file that lies packed on its server, which does not say so: its rules are meant all the same."""
    if not body.startswith(_GZIP_MARK):
        return body
    try:
        return zlib.decompressobj(wbits=zlib.MAX_WBITS | 16).decompress(body, MAX_SIZE + 1)
    except zlib.error:
        return body


def _cut(body: bytes) -> bytes:
    """At most MAX_SIZE bytes, in whole lines: half a rule could forbid everything."""
    if len(body) <= MAX_SIZE:
        return body
    return body[: max(body.rfind(b"\n", 0, MAX_SIZE), body.rfind(b"\r", 0, MAX_SIZE)) + 1]


def _text(body: bytes) -> str:
    """UTF-8 by the standard; UTF-16 where it says so. Bytes that are neither stay what they are, for the patterns.

    Files that were put together have marks in the middle, in front of lines that count. Without its mark, UTF-16 is
    text with a zero byte at every letter.
    """
    if body.startswith(_UTF16_MARKS) and b"\x00" in body[:64]:
        return body.decode("utf-16", errors="replace")
    return body.replace(b"\xef\xbb\xbf", b"").replace(b"\x00", b"").decode(errors="surrogateescape")


def robots_body(fetched: Page | Failure) -> bytes | None:
    """The robots.txt that an answer amounts to (RFC 9309, 2.3.1); None where the host must be asked again later.

    Any 4xx but 429 means that there are no rules; what cannot be reached now allows nothing now. A redirect is for the
    frontier to follow, which knows the clocks.
    """
    if isinstance(fetched, Page):
        return _cut(_unpacked(fetched.body))
    if fetched.status == HTTPStatus.PROXY_AUTHENTICATION_REQUIRED:
        return None  # that was no word of the host
    is_refused = 400 <= (fetched.status or 0) < 500 and fetched.kind is not FailureKind.TOO_MANY
    return b"" if is_refused or fetched.kind in _MEANS_ALLOWED else None


def robots_last(fetched: Page | Failure) -> float:
    """Seconds for which a robots.txt holds by its own Cache-Control: a day at most, and where it says nothing.

    What it has aged in other caches is over (RFC 9111, 4.2).

    >>> robots_last(Page(url="http://ex.org/robots.txt", status=200, headers={"cache-control": "public, max-age=7200"}))
    7200.0
    """
    said = fetched.headers.get("cache-control", "")
    if not said:
        return _A_DAY
    if _NOT_CACHED.search(said):
        return 0.0
    found = _MAX_AGE.search(said)
    age = fetched.headers.get("age", "").strip()
    aged = float(age[:9]) if age.isascii() and age.isdigit() else 0.0
    return min(_A_DAY, max(0.0, float(found[1]) - aged)) if found else _A_DAY
