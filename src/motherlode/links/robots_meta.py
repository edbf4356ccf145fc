"""Times as people write them for crawlers: in the manner of mail and of HTTP, or of ISO 8601."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import islice

from motherlode.model import NO_DIRECTIVES, CrawlerDirectives
from motherlode.www.document import Document
from motherlode.www.html_prefilter import Mark

_MOST = 60
"""Characters of a date; no honest one is as long."""
_DAY_FIRST = re.compile(
    r"(\d{1,2})[\s-]+([A-Z]{3})[A-Z]*[\s-]+(\d{4}|\d{2})\b[\s,T]*(\d{1,2}:\d{2}(?::\d{2})?)?\s*(.*)"
)


def moment(value: str) -> float | None:
    """Whole seconds since the epoch of a date by RFC 850, RFC 822 or ISO 8601; None where it is none of these.

    Without a time it is the day's first moment, without a zone that of Greenwich: of two readings the earlier.

    >>> moment("Wednesday, 25-Jun-25 15:00:00 UTC") == moment("25 Jun 2025 11:00:00 EDT")
    True
    >>> moment("25 Jun 2025 15:00:00") == moment("2025-06-25T17:00+02")
    True
    >>> moment("2025-06-25") == moment("25 June 2025"), moment("soon")
    (True, None)
    """
    value = value.strip()[:_MOST].upper()
    for text in (value, value[:10], f"{value[:7]}-01"):  # a zone in letters, or only a month, is not for Python
        try:
            when = datetime.fromisoformat(text).replace(microsecond=0)
            return (when if when.tzinfo is not None else when.replace(tzinfo=UTC)).timestamp()
        except ValueError:
            continue
    return _as_in_mail(value)


def _as_in_mail(value: str) -> float | None:
    from email.utils import mktime_tz, parsedate_tz  # takes 15 ms to load, and few pages name a date

    found = _DAY_FIRST.search(value)
    if found:
        day, month, year, time, zone = found.groups()
        value = f"{day} {month} {year} {time or '00:00:00'} {zone or 'GMT'}"
    try:
        parts = parsedate_tz(value)
        return None if parts is None else float(mktime_tz((*parts[:9], parts[9] or 0)))
    except (ValueError, OverflowError, IndexError):  # a day or a year that no calendar has
        return None


# ── What a page itself asks of crawlers, by `<meta name=robots>` and by the header X-Robots-Tag.

PRODUCT_TOKEN = "motherlode"
_UNAVAILABLE_AFTER = "unavailable_after"
_EVERYONE = frozenset({"*", "robots"})
_WEEKDAY = re.compile(r"\b(?:mon|tue(?:s)?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?\s*,")
"""With the comma behind it, which ends no directive."""
_SEPARATOR = re.compile(r"[,;]")
_MOST_CHARACTERS, _MOST_ELEMENTS = 4096, 50
"""Of one list of directives, and of meta elements for crawlers that are heeded: a hostile page could name a million
dates."""


def robots_directives(document: Document, *, product: str = PRODUCT_TOKEN) -> CrawlerDirectives:
    """What the page's head asks of all crawlers, or of ours.

    >>> from motherlode.model import ContentKind, Detected, Evidence
    >>> body = b'<meta name="Robots" content="NOINDEX, follow">'
    >>> html = Detected(kind=ContentKind.HTML, evidence=Evidence.CONTENT)
    >>> robots_directives(Document(url="http://example.org/", body=body, detected=html)).text
    'noindex'
    """
    asked = NO_DIRECTIVES
    if Mark.CRAWLER_RULES in document.marks:
        every = (directives_of(element.attributes, product) for element in document.html.tags("meta"))
        for said in islice(filter(None, every), _MOST_ELEMENTS):
            asked |= said
    return asked


def header_directives(value: str, *, product: str = PRODUCT_TOKEN) -> CrawlerDirectives:
    """The same from an X-Robots-Tag header, in which directives may be addressed to one crawler by its name.

    An empty element ends that: it stands where one such header was joined to another.

    >>> header_directives("noarchive, nofollow").text, header_directives("otherbot: noindex, none").text
    ('nofollow', '')
    >>> header_directives("otherbot: nofollow, motherlode: noindex").text
    'noindex'
    >>> header_directives("otherbot: nofollow, , noindex").text
    'noindex'
    """
    asked = NO_DIRECTIVES
    ours = True
    for element in _elements(value):
        if not element:
            ours = True
        agent, colon, rest = element.partition(":")
        agent = agent.strip()
        if colon and not _has_value(agent) and " " not in agent:  # a time has colons, too
            ours = agent in _EVERYONE or agent.partition("/")[0] == product
            element = rest
        if ours:
            asked |= _said(element)
    return asked


def directives_of(attributes: Mapping[str, str | None], product: str) -> CrawlerDirectives | None:
    """The directives of one meta element; None where it is not for us."""
    name = (attributes.get("name") or "").strip().lower()
    if name != "robots" and name != product:
        return None
    asked = NO_DIRECTIVES
    for element in _elements(attributes.get("content") or ""):
        asked |= _said(element)
    return asked


def _elements(value: str) -> list[str]:
    return [element.strip() for element in _SEPARATOR.split(_WEEKDAY.sub("", value[:_MOST_CHARACTERS].lower()))]


def _has_value(name: str) -> bool:
    """Whether this is a directive with a colon of its own, which names no crawler."""
    return name == _UNAVAILABLE_AFTER or name.startswith("max-")


def _said(element: str) -> CrawlerDirectives:
    """What one directive asks, or several with only white space between them; most do not matter to a crawl."""
    head, found, date = element.partition(_UNAVAILABLE_AFTER)
    words = head.split()
    return CrawlerDirectives(
        noindex="noindex" in words or "none" in words,
        nofollow="nofollow" in words or "none" in words,
        ends_at=moment(date.lstrip(" \t:=")) if found else None,
    )
