"""Amounts as people write them."""

from __future__ import annotations


def size(count: float) -> str:
    """Bytes for people.

    >>> size(0), size(1_500_000), size(999_999), size(10**21)
    ('0 B', '1.5 MB', '1.0 MB', '1,000.0 EB')
    """
    if count < 1000:
        return f"{count:.0f} B"
    for unit in ("kB", "MB", "GB", "TB", "PB"):
        count /= 1000
        if count < 999.95:
            return f"{count:.1f} {unit}"
    return f"{count / 1000:,.1f} EB"
