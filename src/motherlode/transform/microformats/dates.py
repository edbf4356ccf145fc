"""Dates and times: the value class pattern (microformats.org/wiki/value-class-pattern) and XML Schema datatypes."""

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
_MAX_CHARS = 64
"""A longer value is not a date. The patterns are not applied to it."""


def join_date_parts(parts: Iterable[str]) -> str | None:
    """Return the date and time of several value elements, or None. The first date, time and zone count."""
    day = clock = zone = ""
    separator = " "
    for part in (part.strip() for part in parts):
        if len(part) > _MAX_CHARS:
            continue
        if whole := _DATE_AND_TIME.fullmatch(part):
            if not day and not clock and _normalize_time(whole):
                separator = "T" if part[len(whole["date"])] in "tT" else " "
                if whole["zone"]:  # a complete value keeps its zone unchanged
                    return whole["date"] + separator + _normalize_time(whole) + whole["zone"]
                day, clock = whole["date"], _normalize_time(whole)
        elif _ONLY_DATE.fullmatch(part):
            day = day or part
        elif (only := _ONLY_TIME.fullmatch(part)) and _normalize_time(only):
            if not clock:
                clock, zone = _normalize_time(only), _normalize_zone(only["zone"] or "") or zone
        elif _ONLY_ZONE.fullmatch(part):
            zone = zone or _normalize_zone(part)
    if not clock:
        return day or None
    return f"{day}{separator if day else ''}{clock}{zone}"


def find_date(value: str) -> str:
    """Return the date with which a value begins, or ""."""
    match = _ONLY_DATE.match(value.strip()[:_MAX_CHARS])
    return match[0] if match else ""


def read_time(value: str) -> str:
    """Return a value that is a time, normalized and with its zone; "" if it is not a time."""
    match = _ONLY_TIME.fullmatch(value.strip()) if len(value) <= _MAX_CHARS else None
    if match is None:
        return ""
    clock = _normalize_time(match)
    return clock and clock + _normalize_zone(match["zone"] or "")


def _normalize_time(match: re.Match[str]) -> str:
    """Return the time of a match on the 24-hour clock, with the precision of the original; "" if it is invalid."""
    hour, minute, second = int(match["hour"]), match["minute"], match["second"]
    half = (match["half"] or "").lower()
    if not half and minute is None:
        return ""
    if half:
        if not 1 <= hour <= 12:
            return ""
        hour = hour % 12 + (12 if half.startswith("p") else 0)
    return f"{hour:02}:{minute or '00'}" + (f":{second}" if second else "")


def _normalize_zone(written: str) -> str:
    """Return a zone without colon and with four digits."""
    if written[:1] not in ("+", "-"):
        return written.upper()
    sign, digits = written[0], written[1:].replace(":", "")
    hours, minutes = (digits[:-2], digits[-2:]) if len(digits) > 2 else (digits, "00")
    return f"{sign}{hours.zfill(2)}{minutes}"


# XML Schema datatypes

_DURATION = re.compile(r"-?P(?=.)(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?=.)(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d+)?S)?)?")
_WEEKS = re.compile(r"P(\d{1,4})W")
_OTHER_TYPES = (
    (re.compile(r"\d{4}"), r"\g<0>", "gYear"),
    (re.compile(r"\d{4}-(0[1-9]|1[0-2])"), r"\g<0>", "gYearMonth"),
    (re.compile(r"--(0[1-9]|1[0-2])-?(0[1-9]|[12]\d|3[01])"), r"--\1-\2", "gMonthDay"),
    (_DURATION, r"\g<0>", "duration"),
)
"""Patterns, lexical forms and datatypes of values without a full date or time."""


def is_duration(value: str) -> bool:
    """Whether a value is a duration of ISO 8601."""
    return len(value) <= _MAX_CHARS and bool(_DURATION.fullmatch(value) or _WEEKS.fullmatch(value))


def to_typed_value(value: str) -> tuple[str, str] | None:
    """Return lexical form and datatype of a value that is a date, a time or a duration, otherwise None."""
    value = value.strip()
    if len(value) > _MAX_CHARS or not value.isascii():
        return None
    if whole := _DATE_AND_TIME.fullmatch(value):
        day, clock = _to_schema_date(whole["date"]), _to_schema_time(whole)
        return (f"{day}T{clock}", XSD + "dateTime") if day and clock else None
    if _ONLY_DATE.fullmatch(value):
        day = _to_schema_date(value)
        return (day, XSD + "date") if day else None
    if only := _ONLY_TIME.fullmatch(value):
        clock = _to_schema_time(only)
        return (clock, XSD + "time") if clock else _to_other_type(value)
    return _to_other_type(value)


def _to_other_type(value: str) -> tuple[str, str] | None:
    """Return lexical form and datatype of a year, month, recurring day or duration, otherwise None."""
    for pattern, form, datatype in _OTHER_TYPES:
        if match := pattern.fullmatch(value):
            return match.expand(form), XSD + datatype
    weeks = _WEEKS.fullmatch(value)
    return (f"P{int(weeks[1]) * 7}D", XSD + "duration") if weeks else None


def _to_schema_date(written: str) -> str:
    """Return a calendar date for a calendar date or an ordinal date (year and day); "" if it is invalid."""
    try:
        if len(written) == 10:
            return date.fromisoformat(written).isoformat()
        found = date(int(written[:4]), 1, 1) + timedelta(days=int(written[5:]) - 1)
    except (ValueError, OverflowError):
        return ""
    return found.isoformat() if found.year == int(written[:4]) else ""


def _to_schema_time(match: re.Match[str]) -> str:
    """Return the time of a match in the form of XML Schema; "" if it is invalid."""
    clock = _normalize_time(match)
    try:
        time.fromisoformat(clock.partition(".")[0])
    except ValueError:
        return ""
    zone = _normalize_zone(match["zone"] or "")
    if len(zone) == 5:
        if int(zone[1:3]) > 14 or int(zone[3:]) > 59:
            return ""
        zone = f"{zone[:3]}:{zone[3:]}"
    return clock + (":00" if clock.count(":") == 1 else "") + zone
