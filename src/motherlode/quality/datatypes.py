"""Lexical forms of XSD datatypes, and the order of their values."""

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any

from motherlode.model.terms import XSD
from motherlode.quality.page_graph import parse_literal

_ZONE = r"(?:Z|[+-](?:(?:0\d|1[0-3]):[0-5]\d|14:00))?"
_DATE = r"-?(?:[1-9]\d{3,}|0\d{3})-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])"
_TIME = r"(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?|24:00:00(?:\.0+)?)"
_DURATION = r"-?P(?!$)(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?!$)(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d+)?S)?)?"
_DOUBLE = r"(?:[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[Ee][+-]?\d+)?|[+-]?INF|NaN)"
_INTEGER = r"[+-]?\d+"
_FORMS = {
    "boolean": r"true|false|0|1",
    "decimal": r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)",
    "double": _DOUBLE,
    "float": _DOUBLE,
    "date": _DATE + _ZONE,
    "dateTime": _DATE + "T" + _TIME + _ZONE,
    "dateTimeStamp": _DATE + "T" + _TIME + r"(?:Z|[+-]\d\d:\d\d)",
    "time": _TIME + _ZONE,
    "gYear": r"-?(?:[1-9]\d{3,}|0\d{3})" + _ZONE,
    "gYearMonth": r"-?(?:[1-9]\d{3,}|0\d{3})-(?:0[1-9]|1[0-2])" + _ZONE,
    "gMonth": r"--(?:0[1-9]|1[0-2])" + _ZONE,
    "gDay": r"---(?:0[1-9]|[12]\d|3[01])" + _ZONE,
    "gMonthDay": r"--(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])" + _ZONE,
    "duration": _DURATION,
    "dayTimeDuration": r"-?P(?!$)(?:\d+D)?(?:T(?!$)(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d+)?S)?)?",
    "yearMonthDuration": r"-?P(?!$)(?:\d+Y)?(?:\d+M)?",
    "hexBinary": r"(?:[0-9A-Fa-f]{2})*",
    "base64Binary": r"(?:[A-Za-z0-9+/]\s?)*(?:=\s?){0,2}",
    "language": r"[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*",
}
_RANGES: dict[str, tuple[int | None, int | None]] = {
    "integer": (None, None),
    "nonNegativeInteger": (0, None),
    "positiveInteger": (1, None),
    "nonPositiveInteger": (None, 0),
    "negativeInteger": (None, -1),
    "long": (-(2**63), 2**63 - 1),
    "int": (-(2**31), 2**31 - 1),
    "short": (-(2**15), 2**15 - 1),
    "byte": (-128, 127),
    "unsignedLong": (0, 2**64 - 1),
    "unsignedInt": (0, 2**32 - 1),
    "unsignedShort": (0, 2**16 - 1),
    "unsignedByte": (0, 255),
}
_MAX_DIGITS = 1000
"""Longer integers are not converted, because the time would grow with the square of their length."""
_PATTERNS = {name: re.compile(form) for name, form in _FORMS.items()}
_INTEGER_PATTERN = re.compile(_INTEGER)
_DATED = frozenset({"date", "dateTime", "dateTimeStamp"})
"""Datatypes whose day must exist in its month. Years before 1 and after 9999 are not checked."""
_NUMERIC = frozenset({*_RANGES, "decimal", "double", "float"})


def is_well_formed(text: str, datatype: str) -> bool:
    """Return whether a text is in the lexical space of a datatype. Unknown datatypes allow any text."""
    name = datatype.removeprefix(XSD)
    if name in _RANGES:
        return _is_integer(text, *_RANGES[name])
    pattern = _PATTERNS.get(name)
    if pattern is None:
        return True
    if pattern.fullmatch(text) is None:
        return False
    return name not in _DATED or text[4] != "-" or text[:4] == "0000" or _READERS[name](text) is not None


def _is_integer(text: str, low: int | None, high: int | None) -> bool:
    if _INTEGER_PATTERN.fullmatch(text) is None or len(text) > _MAX_DIGITS:
        return False
    value = int(text)
    return (low is None or value >= low) and (high is None or value <= high)


def _parse_time(text: str) -> datetime | None:
    """Return a date or a time stamp. 24:00:00 is the start of the next day."""
    is_midnight = "T24:00:00" in text
    try:
        found = datetime.fromisoformat(text.replace("T24:00:00", "T00:00:00"))
        return found + timedelta(days=1) if is_midnight else found
    except (ValueError, OverflowError):
        return None


def _parse_date(text: str) -> datetime | None:
    return _parse_time(f"{text[:10]}T00:00:00{text[10:]}") if len(text) > 10 else _parse_time(text)


def _parse_number(text: str) -> Decimal | float | None:
    try:
        value = Decimal(text.replace("INF", "Infinity"))
    except InvalidOperation:
        return None
    return None if value.is_nan() else value


_READERS: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(_NUMERIC, _parse_number),
    "dateTime": _parse_time,
    "dateTimeStamp": _parse_time,
    "date": _parse_date,
    "time": lambda text: _parse_time(f"2000-01-01T{text}"),
    "boolean": lambda text: text in ("true", "1"),
    "string": lambda text: text,
}


@lru_cache(maxsize=1 << 12)
def _sort_key(term: str) -> tuple[str, Any] | None:
    """Return the kind and the value of a literal. Two literals can be compared if their kinds are equal."""
    literal = parse_literal(term)
    name = literal.datatype.removeprefix(XSD) if literal else ""
    if literal is None or name not in _READERS or not is_well_formed(literal.text, literal.datatype):
        return None
    value = _READERS[name](literal.text)
    if value is None:
        return None
    kind = "number" if name in _NUMERIC else name.removesuffix("Stamp")
    if isinstance(value, datetime):
        kind += "" if value.tzinfo is None else " with zone"
    return kind, value


def compare(left: str, right: str) -> int | None:
    """Return -1, 0 or 1 for the order of two literals, or None if they cannot be compared.

    >>> integer = "^^<http://www.w3.org/2001/XMLSchema#integer>"
    >>> compare(f'"9"{integer}', f'"10"{integer}'), compare('"9"', f'"10"{integer}')
    (-1, None)
    """
    first, second = _sort_key(left), _sort_key(right)
    if first is None or second is None or first[0] != second[0]:
        return None
    return int(first[1] > second[1]) - int(first[1] < second[1])
