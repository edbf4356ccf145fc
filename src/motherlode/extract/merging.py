"""One link for each address: what several mentions say is brought together."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from motherlode.model import Link


def merged(found: Iterable[Link], mentioned: Iterable[Link], *, page_url: str, limit: int) -> list[Link]:
    """The links of a page's markup, each address once, and those of its facts; without the page itself."""
    best = {link.url: link for link in found}
    best.pop(page_url, None)
    for link in mentioned:
        known = best.get(link.url)
        if known is not None:
            best[link.url] = joined(known, link)
        elif len(best) < limit and link.url != page_url:
            best[link.url] = link
    return list(best.values())


def joined(first: Link, second: Link) -> Link:
    """The more telling of two mentions; a predicate, and the leave to follow, are taken from either.

    >>> from motherlode.model import LinkSource
    >>> image = Link(url="http://example.org/", source=LinkSource.ANCHOR, nofollow=True)
    >>> joined(image, Link(url="http://example.org/", source=LinkSource.ANCHOR, anchor="Home")).anchor
    'Home'
    """
    better, other = (second, first) if _telling(second) > _telling(first) else (first, second)
    predicate = better.predicate or other.predicate
    nofollow = first.nofollow and second.nofollow
    if better.predicate == predicate and better.nofollow == nofollow:
        return better
    return replace(better, predicate=predicate, nofollow=nofollow)


def _telling(link: Link) -> int:
    return 4 * bool(link.anchor) + 2 * bool(link.rel or link.type) + bool(link.title)
