"""Traps that only show over many pages: patterns without end, contents seen before, hosts that mirror others.

Each is a plain value of bounded size: what is forgotten costs a few requests, never a page.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable, Mapping

import xxhash

from motherlode.www.urls import host_of

ENDLESS = "trap: endless pattern"
MIRROR = "trap: mirror of another host"
REASONS = frozenset({ENDLESS, MIRROR})

_VARIES = re.compile(r"[0-9?]")
_VALUES = re.compile(r"=[^&]*")
_DIGITS_AS_ZERO = bytes.maketrans(b"123456789", b"000000000")


def pattern_of(url: str) -> str:
    """An address with its numbers and the values of its parameters left out.

    >>> pattern_of("http://example.org/list/12?page=3&order=up")
    'http://example.org/list/0?page=&order='
    """
    end = url.find("/", 8)
    return url[:end] + _pattern_below_host(url[end:])


def _pattern_below_host(below: str) -> str:
    """The pattern of what follows the host, which begins with a slash."""
    mark = below.find("?")
    if mark != -1:
        below = below[:mark] + _VALUES.sub("=", below[mark:])
    between = below.encode().translate(_DIGITS_AS_ZERO).split(b"0")  # half as long as a regular expression takes
    return (b"0".join(filter(None, between)) + (b"" if between[-1] else b"0")).decode()


class HostTraps:
    """Refuses patterns of a host that have been offered again and again and have given nothing.

    Offers alone are no sign: a catalogue has many pages of one pattern. Only when a fair sample was fetched, and not
    one page of it was of use, is the rest left alone; and a single page of use frees the pattern for good.

    >>> traps = HostTraps(offers=2, sample=1)
    >>> traps.fetched("http://example.org/day/1", useful=False)
    >>> [traps.reason(f"http://example.org/day/{n}") for n in range(4)]
    ['', '', 'trap: endless pattern', 'trap: endless pattern']
    """

    def __init__(self, *, offers: int = 2000, sample: int = 500, capacity: int = 50_000) -> None:
        self._offers = offers
        self._sample = sample
        self._capacity = capacity
        """Patterns that are remembered; the one that was met longest ago is forgotten first."""
        self._counts: OrderedDict[str, list[int]] = OrderedDict()
        """Pattern → times offered, pages fetched without use; the second is -1 once a page was of use."""

    def __len__(self) -> int:
        return len(self._counts)

    def reason(self, url: str) -> str:
        """Why a URL that is new should not be taken up; "" where it may. Each call counts as an offer."""
        counts = self._of(url)
        if counts is None:
            return ""
        if counts[0] < self._offers:
            counts[0] += 1
            return ""
        return ENDLESS if counts[1] >= self._sample else ""

    def fetched(self, url: str, *, useful: bool) -> None:
        """A page has been read. Of use is what is relevant, or has led to something that is."""
        counts = self._of(url)
        if counts is None:
            return
        if useful:
            counts[1] = -1
        elif counts[1] != -1:
            counts[1] += 1

    def _of(self, url: str) -> list[int] | None:
        """The counts of an address's pattern; None for an address that is the only one of its pattern."""
        end = url.find("/", 8)
        if not _VARIES.search(url, end):
            return None
        pattern = url[:end] + _pattern_below_host(url[end:])
        counts = self._counts.get(pattern)
        if counts is None:
            counts = self._counts[pattern] = [0, 0]
            if len(self._counts) > self._capacity:
                self._counts.popitem(last=False)
        else:
            self._counts.move_to_end(pattern)
        return counts

    def dump(self) -> dict[str, list[int]]:
        """Plain data from which `load` makes the same memory, the longest ago first."""
        return dict(self._counts)

    def load(self, counts: Mapping[str, list[int]]) -> None:
        self._counts = OrderedDict(counts)


class ContentSeen:
    """Remembers where each content was first met.

    >>> seen = ContentSeen()
    >>> body = b"<p>one text" * 20
    >>> seen.first("http://a.example/", body), seen.first("http://b.example/", body)
    ('', 'http://a.example/')
    """

    def __init__(self, *, capacity: int = 200_000, least: int = 64) -> None:
        self._capacity = capacity
        """Contents; the one that was met longest ago is forgotten first."""
        self._least = least
        """Bytes. Bodies that are shorter say nothing: many pages are empty."""
        self._places: OrderedDict[bytes, str] = OrderedDict()

    def __len__(self) -> int:
        return len(self._places)

    def first(self, url: str, body: bytes) -> str:
        """The address at which the same bytes were met before; "" where there is none, or only this one."""
        if len(body) < self._least:
            return ""
        key = xxhash.xxh3_128_digest(body)
        place = self._places.setdefault(key, url)
        self._places.move_to_end(key)
        if len(self._places) > self._capacity:
            self._places.popitem(last=False)
        return "" if place == url else place

    def dump(self) -> list[tuple[bytes, str]]:
        """As in `HostTraps`."""
        return list(self._places.items())

    def load(self, places: Iterable[tuple[bytes, str]]) -> None:
        self._places = OrderedDict(places)


class MirrorHosts:
    """Refuses hosts whose every page was found under the same path on one other host.

    >>> mirrors = MirrorHosts(sample=2)
    >>> for name in ("a", "b"):
    ...     mirrors.fetched(f"http://www.example.org/{name}", duplicate_of=f"http://example.org/{name}")
    >>> mirrors.reason("http://www.example.org/c"), mirrors.reason("http://example.org/c")
    ('trap: mirror of another host', '')
    """

    def __init__(self, *, sample: int = 20, capacity: int = 100_000) -> None:
        self._sample = sample
        """Pages that must all be copies."""
        self._capacity = capacity
        self._hosts: OrderedDict[str, tuple[str, int]] = OrderedDict()
        """Host → the other host, "" once it has a page of its own; and how many pages were copies."""
        self._mirrors: set[str] = set()
        """The hosts among them that are refused."""

    def fetched(self, url: str, *, duplicate_of: str) -> None:
        """A page has been read; `duplicate_of` is what `ContentSeen.first` said of it."""
        host = host_of(url)
        other = host_of(duplicate_of) if duplicate_of else ""
        same_place = other != host and _below_host(url) == _below_host(duplicate_of)
        known, copies = self._hosts.get(host, (other if same_place else "", 0))
        if not known or not same_place or other != known:
            self._hosts[host] = ("", 0)
            self._mirrors.discard(host)
        else:
            self._hosts[host] = (known, copies + 1)
            if copies + 1 >= self._sample:
                self._mirrors.add(host)
        if len(self._hosts) > self._capacity:
            forgotten, _ = self._hosts.popitem(last=False)
            self._mirrors.discard(forgotten)

    def reason(self, url: str) -> str:
        return MIRROR if self._mirrors and host_of(url) in self._mirrors else ""

    def dump(self) -> dict[str, tuple[str, int]]:
        """As in `HostTraps`."""
        return dict(self._hosts)

    def load(self, hosts: Mapping[str, tuple[str, int]]) -> None:
        self._hosts = OrderedDict(hosts)
        self._mirrors = {host for host, (known, copies) in hosts.items() if known and copies >= self._sample}


def _below_host(url: str) -> str:
    return url[url.find("/", 8) :] if url else ""
