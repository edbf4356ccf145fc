"""Addresses that servers make without end: what can be told from one address alone.

Every rule must be safe on honest sites: a page that is refused is a page lost. So the limits lie far beyond what people
write, and old dates are no sign of anything, for archives have them.
"""

from __future__ import annotations

import re
from collections import Counter, OrderedDict
from collections.abc import Iterable, Mapping

import msgspec
import xxhash

from motherlode.www.urls import host_of

LONG = "trap: address too long"
DEEP = "trap: path too deep"
REPEATED = "trap: path repeats itself"
MANY_PARAMETERS = "trap: too many parameters"
SAME_PARAMETER = "trap: parameter repeated"
CALENDAR = "trap: date far from now"
REASONS = frozenset({LONG, DEEP, REPEATED, MANY_PARAMETERS, SAME_PARAMETER, CALENDAR})

MAX_LENGTH = 2000
"""Characters; what servers and browsers agree on. Long queries are mostly data of their own."""
MAX_SEGMENTS = 16
MAX_IN_A_ROW = 2
"""Times that one segment, or one group of segments, may follow itself."""
MAX_IN_ALL = 3
"""Times that one segment may stand anywhere in a path."""
MAX_PARAMETERS = 12
MAX_SAME_PARAMETER = 4
YEARS_AHEAD = 30
YEARS_BACK = 600
"""Printed news begin in 1605; a calendar that is walked backwards passes this year some time later."""

_LEAST_REPEATING = 3
"""Segments of the shortest path that can repeat itself too often."""
_YEARS_OF_NUMBERS = 200
"""Years ahead that `/2105/03/02` can mean where nothing else speaks of dates: beyond, it is rather an identifier."""
_DATE_IN_PATH = re.compile(r"/([0-9]{4})([-/])(?:0?[1-9]|1[0-2])(\2(?:0[1-9]|[12][0-9]|3[01]))?(?![0-9A-Za-z])")
_DATE_IN_QUERY = re.compile(
    r"[?&][a-z_-]*(?:date|month|day)=([0-9]{4})"
    r"(?:-(?:0?[1-9]|1[0-2])(?![0-9])|(?:0[1-9]|1[0-2])(?:[0-9]{2})?(?![0-9]))",
    re.IGNORECASE,
)
_YEAR_IN_QUERY = re.compile(r"[?&](?:y|yr|year)=([0-9]{4})(?=&|$)", re.IGNORECASE)
_MONTH_IN_QUERY = re.compile(r"[?&](?:m|mo|month)=(?:0?[1-9]|1[0-2])(?=&|$)", re.IGNORECASE)
_CALENDAR_WORD = re.compile(r"^cal$|calend|kalend|event|agenda|termin|schedule|month|week|daily|diary", re.IGNORECASE)


def trap_reason(url: str, *, year_now: int) -> str:
    """Why a canonical URL is taken for a trap; "" for all others.

    >>> trap_reason("http://example.org/blog/2009/05/12/blog", year_now=2026)
    ''
    >>> trap_reason("http://example.org/a/b/a/b/a/b", year_now=2026)
    'trap: path repeats itself'
    >>> trap_reason("http://example.org/calendar/2105-03", year_now=2026)
    'trap: date far from now'
    """
    if len(url) > MAX_LENGTH:
        return LONG
    path, mark, query = url.partition("?")
    segments = path.split("/")[3:]
    if len(segments) >= _LEAST_REPEATING:
        if len(segments) - (not segments[-1]) > MAX_SEGMENTS:
            return DEEP
        if len(set(segments)) < len(segments) and repeats(segments):
            return REPEATED
    if mark:
        reason = _query_reason(query)
        if reason:
            return reason
    dated = _DATE_IN_PATH.search(path, 8)
    if dated is None and not mark:  # so it is with most
        return ""
    return CALENDAR if _is_far_date(dated, mark + query, year_now) else ""


def _query_reason(query: str) -> str:
    separators = query.count("&")
    if separators >= MAX_PARAMETERS:
        return MANY_PARAMETERS
    if separators >= MAX_SAME_PARAMETER:
        names = Counter(parameter.partition("=")[0] for parameter in query.split("&"))
        if max(names.values()) > MAX_SAME_PARAMETER:
            return SAME_PARAMETER
    return ""


def repeats(segments: list[str]) -> bool:
    """Whether a path goes in circles. Numbers may stand side by side: they are dates, versions, tiles.

    >>> repeats(["a", "a", "a"]), repeats(["01", "01", "01"]), repeats(["a", "b", "a", "c", "a"])
    (True, False, False)
    """
    words = [segment for segment in segments if segment and not segment.isdigit()]
    if len(set(words)) == len(words):
        return False
    if max(Counter(words).values()) > MAX_IN_ALL:
        return True
    longest = len(segments) // (MAX_IN_A_ROW + 1)
    return any(_has_circle(segments, size) for size in range(1, longest + 1))


def _has_circle(segments: list[str], size: int) -> bool:
    """Whether some group of so many segments, not all of them numbers, stands too often in a row."""
    same = 0
    for at in range(size, len(segments)):
        same = same + 1 if segments[at] == segments[at - size] else 0
        if same >= size * MAX_IN_A_ROW and any(s and not s.isdigit() for s in segments[at - size + 1 : at + 1]):
            return True
    return False


def _is_far_date(dated: re.Match[str] | None, query: str, year_now: int) -> bool:
    """Whether the date in a path, or else one in the query with its mark, is far from now."""
    if dated is not None and _is_far(int(dated[1]), year_now):
        return _is_calendar(dated, year_now)
    found = _DATE_IN_QUERY.search(query)
    if found is None and _MONTH_IN_QUERY.search(query):
        found = _YEAR_IN_QUERY.search(query)
    return found is not None and _is_far(int(found[1]), year_now)


def _is_far(year: int, year_now: int) -> bool:
    return not year_now - YEARS_BACK <= year <= year_now + YEARS_AHEAD


def _is_calendar(dated: re.Match[str], year_now: int) -> bool:
    """Whether numbers in a path that look like a far date are one, and not an article and its revision.

    A word of calendars stands just before them, or they are a whole date that can hardly be anything else.
    """
    before = dated.string[: dated.start()].split("/")[3:][-2:]
    if any(_CALENDAR_WORD.search(segment) for segment in before):
        return True
    if not dated[3]:
        return False
    return dated[2] == "-" or year_now < int(dated[1]) <= year_now + _YEARS_OF_NUMBERS


# ── Patterns without end: addresses of one host that differ in numbers, values and identifiers alone, and lead nowhere.

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
        """A page has been read. Of use is what is relevant and says something of its own,
        which `content_fingerprint` stands for (0
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


# ── Copies: contents seen before, and hosts that mirror others.

MIRROR = "trap: mirror of another host"


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
        """Plain data from which `load` makes the same memory, the longest ago first."""
        return list(self._places.items())

    def load(self, places: Iterable[tuple[bytes, str]]) -> None:
        self._places = OrderedDict(places)


class Standing(msgspec.Struct, array_like=True):
    """What is known of one host's pages."""

    pages: int = 0
    shared: int = 0
    """Pages that another host has at the same place."""
    others: dict[str, int] = {}
    """Hosts with which it shares pages, and how many."""
    differs: bool = False
    """It has a page of its own where one of those has another."""
    original: str = ""
    """The host whose mirror it is."""


class MirrorHosts:
    """Refuses hosts whose pages were found under the same paths on another host.

    Several mirrors may be crawled side by side, so that each has pages first. A page that is on one host alone tells
    nothing as long as the others have not been asked for it. What tells them apart is a place at which they differ, and
    hosts that only share some pages, as the tenants of one service do, differ at their roots.

    >>> mirrors = MirrorHosts(sample=2)
    >>> for name in ("a", "b"):
    ...     mirrors.fetched(f"http://example.org/{name}", duplicate_of="")
    ...     mirrors.fetched(f"http://www.example.org/{name}", duplicate_of=f"http://example.org/{name}")
    >>> mirrors.reason("http://www.example.org/c"), mirrors.reason("http://example.org/c")
    ('trap: mirror of another host', '')
    """

    def __init__(self, *, sample: int = 20, share: float = 2 / 3, capacity: int = 100_000) -> None:
        self._sample = sample
        """Pages that a mirror must share."""
        self._share = share
        """The least share of its pages that they must be."""
        self._capacity = capacity
        """Hosts, and pages; those that were met longest ago are forgotten first."""
        self._hosts: OrderedDict[str, Standing] = OrderedDict()
        self._pages: OrderedDict[int, bool] = OrderedDict()
        """Hash of an address that was fetched → whether another host is known to have the same there."""
        self._mirrors: set[str] = set()
        """The hosts that are refused."""

    def fetched(self, url: str, *, duplicate_of: str) -> None:
        """A page has been read; `duplicate_of` is what `ContentSeen.first` said of it."""
        host, below = host_of(url), _below_host(url)
        if (page := _page(host, below)) in self._pages:
            return  # it was looked at again
        standing = self._standing(host)
        standing.pages += 1
        other = host_of(duplicate_of) if duplicate_of else ""
        is_shared = bool(other) and other != host and _below_host(duplicate_of) == below
        self._pages[page] = is_shared
        if len(self._pages) > self._capacity:
            self._pages.popitem(last=False)
        if is_shared:
            self._share_page(host, standing, other, below)
        elif any(_page(known, below) in self._pages for known in standing.others):
            standing.differs = True
            self._free(host, standing)

    def _share_page(self, host: str, standing: Standing, other: str, below: str) -> None:
        first = self._standing(other)
        standing.shared += 1
        standing.others[other] = standing.others.get(other, 0) + 1
        first.others[host] = first.others.get(host, 0) + 1
        page = _page(other, below)
        if self._pages.get(page) is False:
            self._pages[page] = True
            first.shared += 1
        root = self._root(max(standing.others, key=standing.others.__getitem__))
        if root != host and self._is_mirror(host, standing, root):
            standing.original = root
            self._mirrors.add(host)

    def _is_mirror(self, host: str, standing: Standing, root: str) -> bool:
        if standing.differs or standing.shared < max(self._sample, self._share * standing.pages):
            return False
        at_root = [self._pages.get(_page(one, "/")) for one in (host, root)]
        return None in at_root or all(at_root)

    def _root(self, host: str) -> str:
        """The host that a host stands for at last; two never stand for each other."""
        while host in self._mirrors:
            host = self._hosts[host].original
        return host

    def _free(self, host: str, standing: Standing) -> None:
        standing.original = ""
        self._mirrors.discard(host)

    def _standing(self, host: str) -> Standing:
        found = self._hosts.get(host)
        if found is None:
            found = self._hosts[host] = Standing()
            if len(self._hosts) > self._capacity:
                forgotten, _ = self._hosts.popitem(last=False)
                self._mirrors.discard(forgotten)
        else:
            self._hosts.move_to_end(host)
        return found

    def reason(self, url: str) -> str:
        return MIRROR if self._mirrors and host_of(url) in self._mirrors else ""

    def dump(self) -> tuple[dict[str, Standing], dict[int, bool]]:
        """As in `ContentSeen`."""
        return dict(self._hosts), dict(self._pages)

    def load(self, hosts: dict[str, Standing], pages: dict[int, bool]) -> None:
        self._hosts, self._pages = OrderedDict(hosts), OrderedDict(pages)
        self._mirrors = {host for host, standing in hosts.items() if standing.original in hosts}


def _page(host: str, below: str) -> int:
    return xxhash.xxh3_64_intdigest(f"{host}{below}".encode())


def _below_host(url: str) -> str:
    return url[url.find("/", 8) :] if url else ""
