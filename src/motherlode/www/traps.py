"""Addresses that servers make without end: what can be told from one address alone.

Every rule must be safe on honest sites: a page that is refused is a page lost. So the limits lie far beyond what people
write, and old dates are no sign of anything, for archives have them.
"""

from __future__ import annotations

import re
from collections import Counter

LONG = "trap: address too long"
DEEP = "trap: path too deep"
REPEATED = "trap: path repeats itself"
MANY_PARAMETERS = "trap: too many parameters"
SAME_PARAMETER = "trap: parameter repeated"
CALENDAR = "trap: date far from now"
REASONS = frozenset({LONG, DEEP, REPEATED, MANY_PARAMETERS, SAME_PARAMETER, CALENDAR})

MAX_LENGTH = 2000
"""Characters; what servers and browsers agree on. Long queries are mostly data of their own."""
MAX_SEGMENTS = 16
MAX_IN_A_ROW = 2
"""Times that one segment, or one group of segments, may follow itself."""
MAX_IN_ALL = 3
"""Times that one segment may stand anywhere in a path."""
MAX_PARAMETERS = 12
MAX_SAME_PARAMETER = 4
YEARS_AHEAD = 30
YEARS_BACK = 600
"""Printed news begin in 1605; a calendar that is walked backwards passes this year some time later."""

_LEAST_REPEATING = 3
"""Segments of the shortest path that can repeat itself too often."""
_YEARS_OF_NUMBERS = 200
"""Years ahead that `/2105/03/02` can mean where nothing else speaks of dates: beyond, it is rather an identifier."""
_DATE_IN_PATH = re.compile(r"/([0-9]{4})([-/])(?:0?[1-9]|1[0-2])(\2(?:0[1-9]|[12][0-9]|3[01]))?(?![0-9A-Za-z])")
_DATE_IN_QUERY = re.compile(
    r"[?&][a-z_-]*(?:date|month|day)=([0-9]{4})"
    r"(?:-(?:0?[1-9]|1[0-2])(?![0-9])|(?:0[1-9]|1[0-2])(?:[0-9]{2})?(?![0-9]))",
    re.IGNORECASE,
)
_YEAR_IN_QUERY = re.compile(r"[?&](?:y|yr|year)=([0-9]{4})(?=&|$)", re.IGNORECASE)
_MONTH_IN_QUERY = re.compile(r"[?&](?:m|mo|month)=(?:0?[1-9]|1[0-2])(?=&|$)", re.IGNORECASE)
_CALENDAR_WORD = re.compile(r"^cal$|calend|kalend|event|agenda|termin|schedule|month|week|daily|diary", re.IGNORECASE)


def trap_reason(url: str, *, year_now: int) -> str:
    """Why a canonical URL is taken for a trap; "" for all others.

    >>> trap_reason("http://example.org/blog/2009/05/12/blog", year_now=2026)
    ''
    >>> trap_reason("http://example.org/a/b/a/b/a/b", year_now=2026)
    'trap: path repeats itself'
    >>> trap_reason("http://example.org/calendar/2105-03", year_now=2026)
    'trap: date far from now'
    """
    if len(url) > MAX_LENGTH:
        return LONG
    path, mark, query = url.partition("?")
    segments = path.split("/")[3:]
    if len(segments) >= _LEAST_REPEATING:
        if len(segments) - (not segments[-1]) > MAX_SEGMENTS:
            return DEEP
        if len(set(segments)) < len(segments) and repeats(segments):
            return REPEATED
    if mark:
        reason = _query_reason(query)
        if reason:
            return reason
    dated = _DATE_IN_PATH.search(path, 8)
    if dated is None and not mark:  # so it is with most
        return ""
    return CALENDAR if _is_far_date(dated, mark + query, year_now) else ""


def _query_reason(query: str) -> str:
    separators = query.count("&")
    if separators >= MAX_PARAMETERS:
        return MANY_PARAMETERS
    if separators >= MAX_SAME_PARAMETER:
        names = Counter(parameter.partition("=")[0] for parameter in query.split("&"))
        if max(names.values()) > MAX_SAME_PARAMETER:
            return SAME_PARAMETER
    return ""


def repeats(segments: list[str]) -> bool:
    """Whether a path goes in circles. Numbers may stand side by side: they are dates, versions, tiles.

    >>> repeats(["a", "a", "a"]), repeats(["01", "01", "01"]), repeats(["a", "b", "a", "c", "a"])
    (True, False, False)
    """
    words = [segment for segment in segments if segment and not segment.isdigit()]
    if len(set(words)) == len(words):
        return False
    if max(Counter(words).values()) > MAX_IN_ALL:
        return True
    longest = len(segments) // (MAX_IN_A_ROW + 1)
    return any(_has_circle(segments, size) for size in range(1, longest + 1))


def _has_circle(segments: list[str], size: int) -> bool:
    """Whether some group of so many segments, not all of them numbers, stands too often in a row."""
    same = 0
    for at in range(size, len(segments)):
        same = same + 1 if segments[at] == segments[at - size] else 0
        if same >= size * MAX_IN_A_ROW and any(s and not s.isdigit() for s in segments[at - size + 1 : at + 1]):
            return True
    return False


def _is_far_date(dated: re.Match[str] | None, query: str, year_now: int) -> bool:
    """Whether the date in a path, or else one in the query with its mark, is far from now."""
    if dated is not None and _is_far(int(dated[1]), year_now):
        return _is_calendar(dated, year_now)
    found = _DATE_IN_QUERY.search(query)
    if found is None and _MONTH_IN_QUERY.search(query):
        found = _YEAR_IN_QUERY.search(query)
    return found is not None and _is_far(int(found[1]), year_now)


def _is_far(year: int, year_now: int) -> bool:
    return not year_now - YEARS_BACK <= year <= year_now + YEARS_AHEAD


def _is_calendar(dated: re.Match[str], year_now: int) -> bool:
    """Whether numbers in a path that look like a far date are one, and not an article and its revision.

    A word of calendars stands just before them, or they are a whole date that can hardly be anything else.
    """
    before = dated.string[: dated.start()].split("/")[3:][-2:]
    if any(_CALENDAR_WORD.search(segment) for segment in before):
        return True
    if not dated[3]:
        return False
    return dated[2] == "-" or year_now < int(dated[1]) <= year_now + _YEARS_OF_NUMBERS
