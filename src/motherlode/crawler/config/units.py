"""Sizes and times in the form that users write and read."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from motherlode.crawler.config.errors import JobError

_TIME = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|h|d|)", re.IGNORECASE)
_SECONDS_PER_UNIT = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?", re.IGNORECASE)
_BYTES_PER_UNIT = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


def format_size(count: float) -> str:
    """Return a number of bytes with a decimal unit.

    >>> format_size(0), format_size(1_500_000), format_size(999_999), format_size(10**21)
    ('0 B', '1.5 MB', '1.0 MB', '1,000.0 EB')
    """
    if count < 1000:
        return f"{count:.0f} B"
    for unit in ("kB", "MB", "GB", "TB", "PB"):
        count /= 1000
        if count < 999.95:
            return f"{count:.1f} {unit}"
    return f"{count / 1000:,.1f} EB"


def parse_time(text: str) -> float:
    """Return the seconds of a time such as 90s, 30m, 2h or 1d.

    >>> parse_time("30m"), parse_time("90")
    (1800.0, 90.0)
    """
    match = _TIME.fullmatch(text.strip())
    if match is None:
        raise JobError(f"time {text!r} should look like 90s, 30m, 2h or 1d")
    return float(match[1]) * _SECONDS_PER_UNIT[match[2].lower()]


def parse_size(text: str) -> int:
    """Return the bytes of a size such as 500MB or 1GB. Units are decimal.

    >>> parse_size("1GB"), parse_size("512k")
    (1000000000, 512000)
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise JobError(f"size {text!r} should look like 500MB or 1GB")
    return int(float(match[1]) * _BYTES_PER_UNIT[match[2].lower()])


def format_duration(seconds: float) -> str:
    """Return a time in its two largest units.

    >>> format_duration(0.25), format_duration(59.96), format_duration(3725), format_duration(200_000)
    ('0.2 s', '1 min 0 s', '1 h 2 min', '2 d 7 h')
    """
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    for unit, smaller, larger_size, smaller_size in (("d", "h", 86400, 3600), ("h", "min", 3600, 60)):
        if whole >= larger_size:
            return f"{whole // larger_size:,} {unit} {whole % larger_size // smaller_size} {smaller}"
    return f"{whole // 60} min {whole % 60} s"


def format_moment(seconds: float) -> str:
    """Return seconds since the epoch as a date and time.

    >>> format_moment(0.0)
    '1970-01-01 00:00:00 UTC'
    """
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC"


def format_count(count: int, noun: str) -> str:
    """Return a number with its noun in singular or plural.

    >>> format_count(1, "page"), format_count(2_000, "page")
    ('1 page', '2,000 pages')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
