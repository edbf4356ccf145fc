"""Dates and times as HTML's `time` element holds them, told apart by their form as XML Schema gives it."""

from __future__ import annotations

import re

from motherlode.model.terms import XSD

_YEAR = r"-?(?:[1-9]\d{3,}|0\d{3})"
_MONTH = r"(?:0[1-9]|1[0-2])"
_DATE = rf"{_YEAR}-{_MONTH}-(?:0[1-9]|[12]\d|3[01])"
_TIME = r"(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?|24:00:00(?:\.0+)?)"
_ZONE = r"(?:Z|[+-](?:0\d|1[0-3]):[0-5]\d|[+-]14:00)?"
_DURATION = r"-?P(?=.)(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?=.)(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d+)?S)?)?"
_FORMS = tuple(
    (re.compile(pattern, re.ASCII), XSD + name)
    for pattern, name in (
        (_DATE + _ZONE, "date"),
        (f"{_DATE}T{_TIME}{_ZONE}", "dateTime"),
        (_TIME + _ZONE, "time"),
        (_DURATION, "duration"),
        (_YEAR + _ZONE, "gYear"),
        (f"{_YEAR}-{_MONTH}{_ZONE}", "gYearMonth"),
    )
)


def time_datatype(text: str) -> str | None:
    """The datatype that a text has the form of.

    >>> [str(time_datatype(t)).rpartition("#")[2] for t in ("2011-06-28", "2011-06-28T00:00:00Z", "12:00:00", "PT4M")]
    ['date', 'dateTime', 'time', 'duration']
    >>> [str(time_datatype(t)).rpartition("#")[2] for t in ("2011", "2011-06", "-PT1.5S", "2011-06-28T00:00", "P", "x")]
    ['gYear', 'gYearMonth', 'duration', 'None', 'None', 'None']
    """
    return next((datatype for pattern, datatype in _FORMS if pattern.fullmatch(text)), None)
