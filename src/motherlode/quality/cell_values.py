"""Values of cells: their types, and their conversion to Python.

The types are boolean, integer, number, money (a number with a currency), date, local time (without a zone), time (in
UTC), duration, url and string. A value has the narrowest type that its text fits. Which types a column may have also
follows from its property: schema.org says that `postalCode` is a text, so `10115` is one there.
"""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Any

import pyoxigraph as ox

from motherlode.quality.vocabulary import local_name, schema_org

Value = str | int | float | bool | date | datetime | timedelta
Node = ox.Literal | str
"""A value in the data: a literal, or the text of an IRI."""

FITTING: Mapping[str, tuple[str, ...]] = {
    "boolean": ("boolean",),
    "integer": ("integer",),
    "number": ("integer", "number"),
    "money": ("integer", "number", "money"),
    "date": ("date",),
    "local time": ("date", "local time"),
    "time": ("date", "local time", "time"),
    "duration": ("duration",),
    "url": ("url",),
}
"""Type of a column → narrowest types of the values that fit it. The narrower types come first."""

_NUMERIC = frozenset({"Number", "Integer", "Float", "QuantitativeValue", "MonetaryAmount", "Distance", "Mass"})
_MOMENTS = frozenset({"Date", "DateTime", "Time"})
_RANGES: Mapping[str, frozenset[str]] = {
    "boolean": frozenset({"Boolean"}),
    "integer": frozenset({"Integer"}),
    **dict.fromkeys(("number", "money"), _NUMERIC),
    **dict.fromkeys(("date", "local time", "time"), _MOMENTS),
    "duration": frozenset({"Duration", "QuantitativeValue"}),
    "language": frozenset({"Text"}),
}
"""Type of a column → classes of schema.org, one of which must be among the expected values of its property."""


@lru_cache(maxsize=1 << 14)
def allows(property_name: str, kind: str) -> bool:
    """Return whether a column of a property can have a type. Properties of other vocabularies can have all types.

    The type of a column of schema.org so depends on the data as little as possible: prices are numbers, and never
    integers.

    >>> allows("postalCode", "integer"), allows("price", "number"), allows("dcterms:extent", "integer")
    (False, True, True)
    """
    facts, ranges = schema_org().properties.get(property_name), _RANGES.get(kind)
    return facts is None or ranges is None or not ranges.isdisjoint(facts.ranges)


_INTEGER = re.compile(r"[+-]?\d{1,18}")
_NUMBER = re.compile(r"[+-]?(?:\d+[.]?\d*|[.]\d+)(?:[eE][+-]?\d+)?")
_LEADING_ZERO = re.compile(r"[+-]?0\d")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_TIME = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:[.]\d+)?)?(Z|[+-]\d{2}:?\d{2})?")
_DURATION = re.compile(r"P(?!$)(?:(\d+)W)?(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:[.]\d+)?)S)?)?")
_URL = re.compile(r"https?://\S+", re.IGNORECASE)
_BOOLEANS = {"true": True, "false": False, "True": True, "False": False}
_MAX_INTEGER_DIGITS = 15
"""Longer numbers are identifiers, and floating-point numbers would round them."""


def kind_of(value: Node) -> str:
    """Return the narrowest type that a value fits. Its language does not matter: pages give it to all their values.

    >>> [kind_of(ox.Literal(text)) for text in ("12", "12.50", "2026-01-02", "true", "007", "12 EUR", "PT1H")]
    ['integer', 'number', 'date', 'boolean', 'string', 'money', 'duration']
    """
    text = text_of(value)
    if text in _BOOLEANS:
        return "boolean"
    if _INTEGER.fullmatch(text):
        is_code = _LEADING_ZERO.match(text) or len(text) > _MAX_INTEGER_DIGITS
        return "string" if is_code else "integer"
    if _NUMBER.fullmatch(text) and not _LEADING_ZERO.match(text):
        return "number"
    if _URL.fullmatch(text):
        return "url"
    return _kind_of_moment(text) or ("money" if parse_money(text) else "string")


def _kind_of_moment(text: str) -> str:
    """Return the type of a date, a time or a duration, or "" for other texts."""
    if _DATE.fullmatch(text):
        return "date" if _parse(date.fromisoformat, text) is not None else "string"
    if found := _TIME.fullmatch(text):
        kind = "time" if found[1] else "local time"
        return kind if _parse(datetime.fromisoformat, text) is not None else "string"
    return "duration" if _DURATION.fullmatch(text) else ""


def _parse(parser: Callable[[str], Any], text: str) -> Any:
    try:
        return parser(text)
    except ValueError:
        return None


def text_of(value: Node) -> str:
    """Return the text of a value without white space around it. A term of schema.org has its name only.

    >>> text_of("https://schema.org/InStock"), text_of(ox.Literal("  a b "))
    ('InStock', 'a b')
    """
    return shorten(value if isinstance(value, str) else value.value.strip())


def shorten(iri: str) -> str:
    """Return the name of a term of schema.org, such as InStock, and other texts as they are."""
    name = local_name(iri)
    return name if name and "/" not in name and "#" not in name and " " not in name else iri


def language_of(value: Node) -> str:
    """Return the language tag of a value, or ""."""
    return (value.language or "") if isinstance(value, ox.Literal) else ""


def convert(value: Node, kind: str) -> Value:
    """Return a value converted to the type of its column. The value must fit that type."""
    return _CONVERTERS.get(kind, str)(text_of(value))


def _parse_time(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def parse_duration(text: str) -> timedelta:
    """Return a duration of ISO 8601 in weeks, days, hours, minutes and seconds. Months and years have no fixed length.

    >>> str(parse_duration("PT1H30M")), str(parse_duration("P1DT2S"))
    ('1:30:00', '1 day, 0:00:02')
    """
    found = _DURATION.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is not a duration such as PT1H30M")
    weeks, days, hours, minutes, seconds = (float(part or 0) for part in found.groups())
    return timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds)


_SYMBOLS = {"€": "EUR", "£": "GBP", "₹": "INR", "₽": "RUB", "₺": "TRY", "₴": "UAH", "₪": "ILS", "₩": "KRW", "zł": "PLN"}
"""Symbols of one currency each. Others, such as $ and ¥, stay as they are, because several countries use them."""
_MARK = r"[A-Z]{3}|[A-Z]{0,2}[$]|[€£¥₹₽₺₴₪₩]|zł"
_AMOUNT = r"[+-]?\d{1,3}(?:[,.' \u00a0]\d{3})+(?:[.,]\d{1,2})?|[+-]?\d+(?:[.,]\d{1,2})?"
_MONEY = re.compile(rf"(?:({_MARK})\s?)?({_AMOUNT})(?:\s?({_MARK}))?")


def parse_money(text: str) -> tuple[float, str] | None:
    """Return amount and currency of a text, or None. The currency is a code of ISO 4217, or a symbol if it is unclear.

    >>> parse_money("12,50 €"), parse_money("$1,299.00"), parse_money("EUR 1.299,00"), parse_money("12 pcs")
    ((12.5, 'EUR'), (1299.0, '$'), (1299.0, 'EUR'), None)
    >>> parse_money("1.299 €"), parse_money("5 EUR USD")
    (None, None)
    """
    found = _MONEY.fullmatch(text)
    if found is None or bool(found[1]) == bool(found[3]):
        return None
    mark, digits = found[1] or found[3], found[2]
    if re.fullmatch(r"[+-]?\d{1,3}[.]\d{3}", digits):  # a thousand, or one with three decimals
        return None
    whole, comma, decimals = _split_decimals(digits)
    amount = float(re.sub(r"[^\d+-]", "", whole) + (f".{decimals}" if comma else ""))
    return amount, _SYMBOLS.get(mark, mark)


def _split_decimals(digits: str) -> tuple[str, str, str]:
    """Split an amount at its decimal mark: the last point or comma with one or two digits behind it."""
    found = re.fullmatch(r"(.*)([.,])(\d{1,2})", digits)
    return (found[1], found[2], found[3]) if found else (digits, "", "")


def _parse_amount(text: str) -> float:
    found = parse_money(text)
    return found[0] if found else float(text)


_CONVERTERS: Mapping[str, Callable[[str], Value]] = {
    "integer": int,
    "number": float,
    "money": _parse_amount,
    "boolean": _BOOLEANS.__getitem__,
    "date": date.fromisoformat,
    "local time": datetime.fromisoformat,
    "time": _parse_time,
    "duration": parse_duration,
}
