"""Directives of a page for crawlers: `<meta name=robots>` and the header X-Robots-Tag, with the dates in them.

Also the preferences about the use of the page that are stated in both (`noai`), and in `<meta name=tdm-reservation>`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice

from motherlode.model import NO_DIRECTIVES, CrawlerDirectives
from motherlode.model.usage import NO_PREFERENCES, UsagePreferences, combine_preferences
from motherlode.project import PRODUCT_TOKEN
from motherlode.www.document import Document
from motherlode.www.html_prefilter import Mark
from motherlode.www.usage_values import no_ai_preferences, tdm_preferences

_MAX_DATE_CHARACTERS = 60
"""Longer dates are cut. No honest one is as long."""
_DAY_FIRST = re.compile(
    r"(\d{1,2})[\s-]+([A-Z]{3})[A-Z]*[\s-]+(\d{4}|\d{2})\b[\s,T]*(\d{1,2}:\d{2}(?::\d{2})?)?\s*(.*)"
)


def parse_date(value: str) -> float | None:
    """Return a date of RFC 850, RFC 822 or ISO 8601 as whole seconds since the epoch, or None if it is invalid.

    Without a time it is the start of the day. Without a zone it is UTC.

    >>> parse_date("Wednesday, 25-Jun-25 15:00:00 UTC") == parse_date("25 Jun 2025 11:00:00 EDT")
    True
    >>> parse_date("25 Jun 2025 15:00:00") == parse_date("2025-06-25T17:00+02")
    True
    >>> parse_date("2025-06-25") == parse_date("25 June 2025"), parse_date("soon")
    (True, None)
    """
    value = value.strip()[:_MAX_DATE_CHARACTERS].upper()
    for text in (value, value[:10], f"{value[:7]}-01"):  # datetime rejects named zones, and months without a day
        try:
            when = datetime.fromisoformat(text).replace(microsecond=0)
            return (when if when.tzinfo is not None else when.replace(tzinfo=UTC)).timestamp()
        except ValueError:
            continue
    return _parse_mail_date(value)


def _parse_mail_date(value: str) -> float | None:
    from email.utils import mktime_tz, parsedate_tz  # takes 15 ms to import, and few pages have a date

    found = _DAY_FIRST.search(value)
    if found:
        day, month, year, time, zone = found.groups()
        value = f"{day} {month} {year} {time or '00:00:00'} {zone or 'GMT'}"
    try:
        parts = parsedate_tz(value)
        return None if parts is None else float(mktime_tz((*parts[:9], parts[9] or 0)))
    except (ValueError, OverflowError, IndexError):  # an impossible day or year
        return None


# Directives ----------------------------------------------------------------------------------------------------------

_UNAVAILABLE_AFTER = "unavailable_after"
_ALL_CRAWLERS = frozenset({"*", "robots"})
_WEEKDAY = re.compile(r"\b(?:mon|tue(?:s)?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?\s*,")
"""A weekday with its comma, which does not end a directive."""
_SEPARATOR = re.compile(r"[,;]")
_MAX_META_ELEMENTS = 1000
_MAX_CHARACTERS, _MAX_ELEMENTS = 4096, 50
"""Maximum length of one list of directives, and maximum number of meta elements: a hostile page may have a million."""


def robots_directives(document: Document) -> CrawlerDirectives:
    """Return the directives of the meta elements for all crawlers or for ours.

    >>> from motherlode.model import ContentKind, Detected, DetectionEvidence
    >>> body = b'<meta name="Robots" content="NOINDEX, follow">'
    >>> html = Detected(kind=ContentKind.HTML, evidence=DetectionEvidence.CONTENT)
    >>> robots_directives(Document(url="http://example.org/", body=body, detected=html)).text
    'noindex'
    """
    directives = NO_DIRECTIVES
    if Mark.CRAWLER_RULES in document.marks:
        elements = (element.attributes for element in document.html.tags("meta"))
        ours = (found for found in elements if (found.get("name") or "").strip().lower() in ("robots", PRODUCT_TOKEN))
        for attributes in islice(ours, _MAX_ELEMENTS):
            for element in _split_directives(attributes.get("content") or ""):
                directives |= _parse_directive(element)
    return directives


def header_directives(value: str) -> CrawlerDirectives:
    """Return the directives of an X-Robots-Tag header. A name before a colon addresses them to one crawler.

    An empty list element ends the part for that crawler. It separates several headers that were joined.

    >>> header_directives("noarchive, nofollow").text, header_directives("otherbot: noindex, none").text
    ('nofollow', '')
    >>> header_directives("otherbot: nofollow, motherlode: noindex").text
    'noindex'
    >>> header_directives("otherbot: nofollow, , noindex").text
    'noindex'
    """
    directives = NO_DIRECTIVES
    for element in _own_elements(value):
        directives |= _parse_directive(element)
    return directives


def _own_elements(value: str) -> Iterator[str]:
    """Yield the elements of an X-Robots-Tag header that address all crawlers or ours, without the address."""
    ours = True
    for element in _split_directives(value):
        if not element:
            ours = True
        agent, colon, rest = element.partition(":")
        agent = agent.strip()
        has_value = agent == _UNAVAILABLE_AFTER or agent.startswith("max-")
        if colon and not has_value and " " not in agent:  # a time has colons as well
            ours = agent in _ALL_CRAWLERS or agent.partition("/")[0] == PRODUCT_TOKEN
            element = rest
        if ours:
            yield element


def _split_directives(value: str) -> list[str]:
    return [element.strip() for element in _SEPARATOR.split(_WEEKDAY.sub("", value[:_MAX_CHARACTERS].lower()))]


def _parse_directive(element: str) -> CrawlerDirectives:
    """Parse one directive, or several that are separated by white space. Unknown ones are ignored."""
    head, found, date = element.partition(_UNAVAILABLE_AFTER)
    words = head.split()
    return CrawlerDirectives(
        noindex="noindex" in words or "none" in words,
        nofollow="nofollow" in words or "none" in words,
        ends_at=parse_date(date.lstrip(" \t:=")) if found else None,
    )


# Preferences about use -----------------------------------------------------------------------------------------------


def usage_in_head(document: Document) -> UsagePreferences:
    """Return the preferences that the meta elements of an HTML page state.

    >>> from motherlode.model import ContentKind, Detected, DetectionEvidence
    >>> body = b'<meta name="robots" content="noai"><meta name="tdm-reservation" content="1">'
    >>> html = Detected(kind=ContentKind.HTML, evidence=DetectionEvidence.CONTENT)
    >>> usage_in_head(Document(url="http://example.org/", body=body, detected=html)).reserved
    ['tdm', 'train-ai']
    """
    if Mark.USAGE_RULES not in document.marks:
        return NO_PREFERENCES
    stated, tdm = [], {"tdm-reservation": "", "tdm-policy": ""}
    for element in islice(document.html.tags("meta"), _MAX_META_ELEMENTS):
        name = (element.attributes.get("name") or "").strip().lower()
        content = element.attributes.get("content") or ""
        if name in ("robots", PRODUCT_TOKEN):
            stated += [no_ai_preferences(directive) for directive in _split_directives(content)]
        elif name in tdm:
            tdm[name] = content
    return combine_preferences([*stated, tdm_preferences(tdm["tdm-reservation"], tdm["tdm-policy"])])


def usage_in_robots_tag(value: str) -> UsagePreferences:
    """Return the preferences that an X-Robots-Tag header states.

    >>> usage_in_robots_tag("otherbot: noai, , noimageai").reserved
    ['train-ai-images']
    """
    if "ai" not in value.lower():
        return NO_PREFERENCES
    return combine_preferences(no_ai_preferences(element) for element in _own_elements(value))
