"""Times as people write them for crawlers: in the manner of mail and of HTTP, or of ISO 8601."""

from __future__ import annotations

import re
from datetime import UTC, datetime

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
