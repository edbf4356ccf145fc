"""Patterns without end: addresses of one host that differ in numbers, values and identifiers alone, and lead nowhere.

Offers alone are no sign: a catalogue has many pages of one pattern. Nor is it that none of them is a find: lists are
none, and lead to all that are. And a page that is a find may be as empty as the others, where all of a site's pages
carry the same few statements about the site itself. So it counts what pages say that others of their host do not say,
and for their parents that they led to it; and nobody is judged before what he leads to has been looked at.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Mapping

import xxhash

from motherlode.www.urls import host_of

ENDLESS = "trap: endless pattern"

_VARIES = re.compile(r"[0-9?]")
_VALUES = re.compile(r"=[^&]*")
_DIGITS_AS_ZERO = bytes.maketrans(b"123456789", b"000000000")
_OPAQUE_RUNS = 3
"""Parts between the digits of an address, from which on one of its words may be an identifier."""
_OPAQUE = re.compile(
    r"(?<![0-9A-Za-z])(?:(?:[0-9a-fA-F]{4,}-){2,}[0-9a-fA-F]{4,}|(?=[0-9]*[a-fA-F])[0-9a-fA-F]{12,}"
    r"|(?=(?:[A-Za-z]*[0-9]){2})[0-9A-Za-z]{16,})(?![0-9A-Za-z])"
)
"""UUIDs, digests, and sessions of all letters with two digits at least."""
_OWN = 2
"""Pages of a host that may say the same, and it is still theirs: a page often has two addresses."""
_FREES = 8
"""Pages that say something of their own, after which their pattern is never in doubt again."""
_LEADS = 50
"""A page that leads to something of use among so many of its pattern keeps the pattern."""
_TRIED = 100
"""Addresses of other patterns that it led to, of which so many must have been fetched, or half of all."""
_FREE = -1
_OFFERED, _BARREN, _LED, _OTHERS, _OTHERS_TRIED, _OWN_GISTS = range(6)
"""Places in the counts of a pattern: times offered; pages fetched without use, or `_FREE`; pages that led to something;
addresses of other patterns that it led to; how many of them were fetched; and, from there on, what some of its pages
said that seemed to be their own."""


def pattern_of(url: str) -> str:
    """An address with its numbers, identifiers and the values of its parameters left out.

    >>> pattern_of("http://example.org/list/12?page=3&order=up"), pattern_of("http://example.org/s/9f0c2ae41b7d/cart")
    ('http://example.org/list/0?page=&order=', 'http://example.org/s/0/cart')
    """
    end = url.find("/", 8)
    return url[:end] + _pattern_below_host(url[end:])


def _pattern_below_host(below: str) -> str:
    """The pattern of what follows the host, which begins with a slash."""
    mark = below.find("?")
    if mark != -1:
        below = below[:mark] + _VALUES.sub("=", below[mark:])
    parts = below.encode().translate(_DIGITS_AS_ZERO).split(b"0")  # half as long as a regular expression takes
    if len(parts) >= _OPAQUE_RUNS and _OPAQUE.search(below):
        parts = _OPAQUE.sub("0", below).encode().translate(_DIGITS_AS_ZERO).split(b"0")
    return (b"0".join(filter(None, parts)) + (b"" if parts[-1] else b"0")).decode()


class HostTraps:
    """Refuses patterns of a host that have been offered again and again and have given nothing.

    Only when a fair sample was fetched, and not one page of it said or led to something, is the rest left alone.

    >>> traps = HostTraps(offers=2, sample=1)
    >>> traps.fetched("http://example.org/day/1", useful=False)
    >>> [traps.reason(f"http://example.org/day/{n}") for n in range(4)]
    ['', '', 'trap: endless pattern', 'trap: endless pattern']
    """

    def __init__(self, *, offers: int = 2000, sample: int = 500, capacity: int = 50_000) -> None:
        self._offers = offers
        self._sample = sample
        self._capacity = capacity
        """Patterns that are remembered; the one that was met longest ago is forgotten first. Of what pages say, twice
        as much."""
        self._counts: OrderedDict[str, list[int]] = OrderedDict()
        self._page: list[int] | None = None
        """The counts of the page that was fetched last, whose links are offered now."""
        self._said: OrderedDict[int, int] = OrderedDict()
        """What a host's pages say, as a hash → on how many of them."""

    def __len__(self) -> int:
        return len(self._counts)

    def reason(self, url: str) -> str:
        """Why a URL that is new should not be taken up; "" where it may. Each call counts as an offer, by the page that
        was fetched last unless that is over."""
        counts = self._of(url)
        if self._page is not None and self._page is not counts:
            self._page[_OTHERS] += 1
        if counts is None:
            return ""
        if counts[_OFFERED] < self._offers:
            counts[_OFFERED] += 1
            return ""
        return ENDLESS if self._is_endless(counts) else ""

    def waiting_reason(self, url: str) -> str:
        """Why a URL that was taken up is not fetched after all."""
        counts = self._of(url)
        if counts is None or counts[_OFFERED] < self._offers:
            return ""
        return ENDLESS if self._is_endless(counts) else ""

    def _is_endless(self, counts: list[int]) -> bool:
        _, barren, led, others, tried, *own = counts
        if barren < self._sample or led * _LEADS >= barren or tried < min(_TRIED, others // 2):
            return False
        return not any(self._said.get(what, _OWN) <= _OWN for what in own)

    def fetched(self, url: str, *, useful: bool, gist: int = 0, parent: str = "") -> None:
        """A page has been read. Of use is what is relevant and says something of its own, which `gist` stands for (0
        where nobody knows), or has led to such a page, of which it is the `parent`."""
        counts = self._page = self._of(url)
        what = self._own(host_of(url), gist or xxhash.xxh3_64_intdigest(url.encode())) if useful else None
        if counts is not None and counts[_BARREN] != _FREE:
            if what is None:
                counts[_BARREN] += 1
            else:
                _credit(counts, what)
        above = self._of(parent) if parent else None
        if above is not None and above is not counts:
            above[_OTHERS_TRIED] += 1
            above[_LED] += what is not None or _leads(counts)

    def page_is_over(self) -> None:
        """The links of the page that was fetched last have been offered; what comes now was found elsewhere."""
        self._page = None

    def _own(self, host: str, gist: int) -> int | None:
        """What a page says, if hardly another of its host says the same."""
        what = xxhash.xxh3_64_intdigest(f"{host} {gist}".encode())
        count = self._said[what] = self._said.pop(what, 0) + 1
        if len(self._said) > 2 * self._capacity:
            self._said.popitem(last=False)
        return what if count <= _OWN else None

    def _of(self, url: str) -> list[int] | None:
        """The counts of an address's pattern; None for an address that is the only one of its pattern."""
        end = url.find("/", 8)
        if not _VARIES.search(url, end):
            return None
        pattern = url[:end] + _pattern_below_host(url[end:])
        counts = self._counts.get(pattern)
        if counts is None:
            counts = self._counts[pattern] = [0] * _OWN_GISTS
            if len(self._counts) > self._capacity:
                self._counts.popitem(last=False)
        else:
            self._counts.move_to_end(pattern)
        return counts

    def dump(self) -> tuple[dict[str, list[int]], dict[int, int]]:
        """Plain data from which `load` makes the same memory, the longest ago first."""
        return dict(self._counts), dict(self._said)

    def load(self, counts: Mapping[str, list[int]], said: Mapping[int, int]) -> None:
        self._counts, self._said = OrderedDict(counts), OrderedDict(said)


def _credit(counts: list[int], what: int) -> None:
    """A page of the pattern said something; once enough have, nothing more need be known."""
    if what not in counts[_OWN_GISTS:]:
        counts.append(what)
    if len(counts) - _OWN_GISTS >= _FREES:
        counts[_BARREN] = _FREE
        del counts[_OWN_GISTS:]


def _leads(counts: list[int] | None) -> bool:
    """Whether the pages of a pattern lead to what is of use, so that those do which lead to them."""
    return counts is not None and counts[_LED] >= _FREES and counts[_LED] * _LEADS >= counts[_BARREN]
