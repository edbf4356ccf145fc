"""Numbers and JSON in their canonical spelling: XSD doubles, and the JSON Canonicalization Scheme (RFC 8785)."""

from __future__ import annotations

import json
import math

from motherlode.transform.jsonld.settings import Json

_SAFE_INTEGER = 2**53


def canonical_double(value: float) -> str:
    """The canonical spelling of xsd:double, with at most 15 digits after the point (JSON-LD 1.1 API, section 8.6).

    >>> [canonical_double(n) for n in (5.3, 1e21, -0.001, 100, float("inf"))]
    ['5.3E0', '1.0E21', '-1.0E-3', '1.0E2', 'INF']
    """
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "INF" if value > 0 else "-INF"
    mantissa, _, exponent = f"{value:.15E}".partition("E")
    mantissa = mantissa.rstrip("0")
    if mantissa.endswith("."):
        mantissa += "0"
    return f"{mantissa}E{int(exponent)}"


class LongInteger(float):
    """An integer with more digits than Python converts (4,300 by default): infinite as a number, exact as text."""

    __slots__ = ("digits",)

    def __new__(cls, digits: str) -> LongInteger:
        found = super().__new__(cls, "-inf" if digits.startswith("-") else "inf")
        found.digits = digits
        return found

    digits: str


def long_integer(value: int | float) -> str:
    """The digits of an integer that is too large for a double; "" for all other numbers.

    >>> len(long_integer(10**400)), long_integer(10**300), long_integer(LongInteger("-" + "9" * 5000))[:3]
    (401, '', '-99')
    """
    if isinstance(value, LongInteger):
        return value.digits
    if not isinstance(value, int) or math.isfinite(as_double(value)):
        return ""
    try:
        return str(value)
    except ValueError:  # more digits than Python converts; our own decoder makes no such integers
        return ""


def as_double(value: int | float) -> float:
    """The double of a number, which for integers without measure is infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def canonical_json(value: Json) -> str:
    r"""The canonical spelling of a JSON value.

    >>> canonical_json({"b": [1.0, 1e21, 1e-7, None, True], "a": "\u20ac\n"})
    '{"a":"€\\n","b":[1,1e+21,1e-7,null,true]}'
    """
    if isinstance(value, dict):
        members = (f"{_string(key)}:{canonical_json(value[key])}" for key in sorted(value, key=_utf16))
        return "{" + ",".join(members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical_json, value)) + "]"
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    return _number(value)


def _utf16(key: str) -> bytes:
    """Keys are ordered by their UTF-16 code units."""
    return key.encode("utf-16-be", "surrogatepass")


def _string(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _number(value: int | float) -> str:
    """As ECMAScript spells numbers, which are all doubles."""
    if isinstance(value, int) and abs(value) < _SAFE_INTEGER:
        return str(value)
    double = as_double(value)
    if not math.isfinite(double):
        return long_integer(value) or "null"
    if double == int(double) and abs(double) < 1e21:
        return str(int(double)) if abs(double) < _SAFE_INTEGER else _shortest_integer(double)
    spelled = repr(double)
    if "e" not in spelled:
        return spelled
    mantissa, _, exponent = spelled.partition("e")
    power = int(exponent)
    if -6 <= power < 0:  # Python changes over to exponents below 1e-4, ECMAScript below 1e-6
        return _small(mantissa, power)
    return f"{mantissa}e{'+' if power > 0 else '-'}{abs(power)}"


def _shortest_integer(double: float) -> str:
    """The shortest digits that tell the double apart, filled up with zeros."""
    digits, _, exponent = f"{double!r}".partition("e")
    sign = "-" if digits.startswith("-") else ""
    whole, _, fraction = digits.lstrip("-").partition(".")
    fraction = "" if fraction == "0" else fraction
    missing = int(exponent or 0) - len(fraction)
    return sign + whole + fraction + "0" * max(missing, 0)


def _small(mantissa: str, power: int) -> str:
    sign = "-" if mantissa.startswith("-") else ""
    digits = mantissa.lstrip("-").replace(".", "")
    return f"{sign}0.{'0' * (-power - 1)}{digits}"
