"""Dates and times: the value class pattern (microformats.org/wiki/value-class-pattern) and XML Schema datatypes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date, time, timedelta

from motherlode.model.terms import XSD

_DATE = r"\d{4}-\d{2}-\d{2}|\d{4}-\d{3}(?!\d)"
_ZONE = r"[zZ]|[+-]\d{1,2}(?::?\d{2})?"
_TIME = (
    r"(?P<hour>\d{1,2})(?::(?P<minute>\d{2})(?::(?P<second>\d{2}(?:\.\d+)?))?)?"
    rf"\s*(?P<half>[aApP]\.?[mM]\.?)?\s*(?P<zone>{_ZONE})?"
)
_ONLY_DATE = re.compile(_DATE)
_ONLY_ZONE = re.compile(_ZONE)
_ONLY_TIME = re.compile(_TIME)
_DATE_AND_TIME = re.compile(rf"(?P<date>{_DATE})(?:[tT]|\s+){_TIME}")
_LONGEST = 64
"""No date is longer; the patterns never see more."""


def piece_together(parts: Iterable[str]) -> str | None:
    """The moment that several value elements name together; the first date, time and zone win.

    >>> piece_together(["2009-06-26", "7:00 p.m.", "-08:00"])
    '2009-06-26 19:00-0800'
    >>> piece_together(["00:00:00", "2099-12-31 23:59:59", "2000-01-01"])
    '2000-01-01 00:00:00'
    >>> piece_together(["soon"]) is None
    True
    """
    day = clock = zone = ""
    separator = " "
    for part in (part.strip() for part in parts):
        if len(part) > _LONGEST:
            continue
        if whole := _DATE_AND_TIME.fullmatch(part):
            if not day and not clock and _clock(whole):
                separator = "T" if part[len(whole["date"])] in "tT" else " "
                if whole["zone"]:  # complete: the zone is kept as the author wrote it
                    return whole["date"] + separator + _clock(whole) + whole["zone"]
                day, clock = whole["date"], _clock(whole)
        elif _ONLY_DATE.fullmatch(part):
            day = day or part
        elif (only := _ONLY_TIME.fullmatch(part)) and _clock(only):
            if not clock:
                clock, zone = _clock(only), _zone(only["zone"] or "") or zone
        elif _ONLY_ZONE.fullmatch(part):
            zone = zone or _zone(part)
    if not clock:
        return day or None
    return f"{day}{separator if day else ''}{clock}{zone}"


def date_in(value: str) -> str:
    """The date with which a value begins, or "".

    >>> date_in("2012-10-30T11:45:00-08:00"), date_in("2013-034"), date_in("tomorrow")
    ('2012-10-30', '2013-034', '')
    """
    match = _ONLY_DATE.match(value.strip()[:_LONGEST])
    return match[0] if match else ""


def time_in(value: str) -> str:
    """The time, with its zone, that a value consists of, or "".

    >>> time_in("7:30pm"), time_in("22:00-06:00"), time_in("2012"), time_in("2012-10-30")
    ('19:30', '22:00-0600', '', '')
    """
    match = _ONLY_TIME.fullmatch(value.strip()) if len(value) <= _LONGEST else None
    if match is None:
        return ""
    clock = _clock(match)
    return clock and clock + _zone(match["zone"] or "")


def _clock(match: re.Match[str]) -> str:
    """The time of day, in twenty-four hours and as exact as written; "" where it is none."""
    hour, minute, second = int(match["hour"]), match["minute"], match["second"]
    half = (match["half"] or "").lower()
    if not half and minute is None:
        return ""
    if half:
        if not 1 <= hour <= 12:
            return ""
        hour = hour % 12 + (12 if half.startswith("p") else 0)
    return f"{hour:02}:{minute or '00'}" + (f":{second}" if second else "")


def _zone(written: str) -> str:
    """A zone without its colon and with four digits.

    >>> _zone("-8"), _zone("+08:00"), _zone("z"), _zone("")
    ('-0800', '+0800', 'Z', '')
    """
    if written[:1] not in ("+", "-"):
        return written.upper()
    sign, digits = written[0], written[1:].replace(":", "")
    hours, minutes = (digits[:-2], digits[-2:]) if len(digits) > 2 else (digits, "00")
    return f"{sign}{hours.zfill(2)}{minutes}"


# XML Schema datatypes -------------------------------------------------------------------------------------------------

_YEAR = re.compile(r"\d{4}")
_YEAR_MONTH = re.compile(r"\d{4}-(0[1-9]|1[0-2])")
_MONTH_DAY = re.compile(r"--(0[1-9]|1[0-2])-?(0[1-9]|[12]\d|3[01])")
_DURATION = re.compile(r"-?P(?=.)(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?=.)(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d+)?S)?)?")
_WEEKS = re.compile(r"P(\d{1,4})W")


def is_duration(value: str) -> bool:
    """Whether a value is a length of time as ISO 8601 writes it.

    >>> is_duration("PT1H10M"), is_duration("P2W"), is_duration("10 min")
    (True, True, False)
    """
    return len(value) <= _LONGEST and bool(_DURATION.fullmatch(value) or _WEEKS.fullmatch(value))


def typed(value: str) -> tuple[str, str] | None:
    """Lexical form and datatype of a value that is a date, a time or a duration; None for anything else.

    >>> typed("2009-06-26 19:00-0800")
    ('2009-06-26T19:00:00-08:00', 'http://www.w3.org/2001/XMLSchema#dateTime')
    >>> [(typed(v) or ("", "#"))[1].partition("#")[2] for v in ("2012-10-10", "1973-09", "PT0H10M", "2013-02-30", "x")]
    ['date', 'gYearMonth', 'duration', '', '']
    """
    value = value.strip()
    if len(value) > _LONGEST or not value.isascii():
        return None
    if whole := _DATE_AND_TIME.fullmatch(value):
        day, clock = _day(whole["date"]), _schema_time(whole)
        return (f"{day}T{clock}", XSD + "dateTime") if day and clock else None
    if _ONLY_DATE.fullmatch(value):
        day = _day(value)
        return (day, XSD + "date") if day else None
    if only := _ONLY_TIME.fullmatch(value):
        clock = _schema_time(only)
        return (clock, XSD + "time") if clock else _partial(value)
    return _partial(value)


def _partial(value: str) -> tuple[str, str] | None:
    if _YEAR.fullmatch(value):
        return value, XSD + "gYear"
    if _YEAR_MONTH.fullmatch(value):
        return value, XSD + "gYearMonth"
    if match := _MONTH_DAY.fullmatch(value):
        return f"--{match[1]}-{match[2]}", XSD + "gMonthDay"
    if _DURATION.fullmatch(value):
        return value, XSD + "duration"
    if weeks := _WEEKS.fullmatch(value):
        return f"P{int(weeks[1]) * 7}D", XSD + "duration"
    return None


def _day(written: str) -> str:
    """A calendar date; a date of year and day number is turned into one."""
    try:
        if len(written) == 10:
            return date.fromisoformat(written).isoformat()
        found = date(int(written[:4]), 1, 1) + timedelta(days=int(written[5:]) - 1)
    except (ValueError, OverflowError):
        return ""
    return found.isoformat() if found.year == int(written[:4]) else ""


def _schema_time(match: re.Match[str]) -> str:
    clock = _clock(match)
    try:
        time.fromisoformat(clock.partition(".")[0])
    except ValueError:
        return ""
    zone = _zone(match["zone"] or "")
    if len(zone) == 5:
        if int(zone[1:3]) > 14 or int(zone[3:]) > 59:
            return ""
        zone = f"{zone[:3]}:{zone[3:]}"
    return clock + (":00" if clock.count(":") == 1 else "") + zone
