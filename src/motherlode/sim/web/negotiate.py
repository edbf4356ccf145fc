"""Content negotiation as servers do it (RFC 9110, 12.5.1)."""

from __future__ import annotations

from functools import lru_cache


@lru_cache(maxsize=256)
def _ranges(accept: str) -> tuple[tuple[str, float], ...]:
    ranges = []
    for part in accept.split(","):
        media_range, *parameters = (piece.strip().lower() for piece in part.split(";"))
        quality = 1.0
        for parameter in parameters:
            name, _, value = parameter.partition("=")
            if name.strip() == "q":
                quality = _number(value)
        if media_range:
            ranges.append((media_range, quality))
    return tuple(ranges)


def _number(text: str) -> float:
    try:
        return min(1.0, max(0.0, float(text)))
    except ValueError:
        return 0.0


def _quality(media_type: str, accept: str) -> float:
    """The quality of the most specific range that covers the type."""
    covering = {"*/*": 0, media_type.partition("/")[0] + "/*": 1, media_type: 2}
    best = (-1, 0.0)
    for media_range, quality in _ranges(accept):
        specific = covering.get(media_range, -1)
        if specific > best[0]:
            best = (specific, quality)
    return best[1]


@lru_cache(maxsize=4096)
def choose(offered: tuple[str, ...], accept: str) -> int | None:
    """The place of the offered media type that the client likes best, the first among equals; None for 406.

    >>> choose(("text/html", "text/turtle"), "text/turtle, text/html;q=0.7")
    1
    >>> choose(("text/html", "text/turtle"), "text/*;q=0.5, text/turtle;q=0"), choose(("text/html",), "image/png")
    (0, None)
    """
    qualities = [_quality(media_type, accept or "*/*") for media_type in offered]
    best = max(qualities)
    return qualities.index(best) if best > 0 else None
