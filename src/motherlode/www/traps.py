"""Crawler traps: URLs that servers generate without end, and hosts that mirror others.

A refused page is lost, so every rule must be safe on honest sites: the limits are far beyond what people write, and old
dates are allowed, because archives have them.
"""

import re
from collections import Counter, OrderedDict
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
import xxhash

from motherlode.www.urls import host_of

LONG = "trap: address too long"
DEEP = "trap: path too deep"
REPEATED = "trap: path repeats itself"
MANY_PARAMETERS = "trap: too many parameters"
SAME_PARAMETER = "trap: parameter repeated"
CALENDAR = "trap: date far from now"

MAX_LENGTH = 2000
"""Maximum length of a URL in characters: all servers and browsers accept it, and longer queries are mostly data."""
MAX_SEGMENTS = 16
MAX_IN_A_ROW = 2
"""Maximum number of times that a path segment, or a group of segments, may occur in a row."""
MAX_IN_ALL = 3
"""Maximum number of times that a segment may occur in a path."""
MAX_PARAMETERS = 12
MAX_SAME_PARAMETER = 4
YEARS_AHEAD = 30
YEARS_BACK = 600
"""Maximum age in years of a date in a URL that is no trap. Archives of printed newspapers go back to 1605."""

_MIN_REPEATING_SEGMENTS = 3
"""Shorter paths cannot repeat a segment too often."""
_MAX_YEARS_AHEAD_OF_BARE_DATE = 200
"""`/2105/03/02` is a date if the year is at most 200 years ahead. Otherwise it is more likely an identifier."""
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
    """Return why a canonical URL looks like a trap, or "" if it does not."""
    if len(url) > MAX_LENGTH:
        return LONG
    path, mark, query = url.partition("?")
    segments = path.split("/")[3:]
    if len(segments) >= _MIN_REPEATING_SEGMENTS:
        if len(segments) - (not segments[-1]) > MAX_SEGMENTS:
            return DEEP
        if len(set(segments)) < len(segments) and has_repetition(segments):
            return REPEATED
    if mark:
        reason = _query_reason(query)
        if reason:
            return reason
    dated = _DATE_IN_PATH.search(path, 8)
    if dated is None and not mark:  # most URLs
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


def has_repetition(segments: list[str]) -> bool:
    """Return whether a path repeats itself. Repeated numbers are allowed: they are dates, versions, map tiles."""
    words = [segment for segment in segments if segment and not segment.isdigit()]
    if len(set(words)) == len(words):
        return False
    if max(Counter(words).values()) > MAX_IN_ALL:
        return True
    longest = len(segments) // (MAX_IN_A_ROW + 1)
    return any(_has_repeated_group(segments, size) for size in range(1, longest + 1))


def _has_repeated_group(segments: list[str], size: int) -> bool:
    """Return whether a group of `size` segments, not all of them numbers, occurs too often in a row."""
    same = 0
    for at in range(size, len(segments)):
        same = same + 1 if segments[at] == segments[at - size] else 0
        if same >= size * MAX_IN_A_ROW and any(s and not s.isdigit() for s in segments[at - size + 1 : at + 1]):
            return True
    return False


def _is_far_date(dated: re.Match[str] | None, query: str, year_now: int) -> bool:
    """Return whether the date in a path, or else one in the query, is far from now. `query` starts with `?`."""
    years = range(year_now - YEARS_BACK, year_now + YEARS_AHEAD + 1)
    if dated is not None and int(dated[1]) not in years:
        return _is_calendar(dated, year_now)
    found = _DATE_IN_QUERY.search(query)
    if found is None and _MONTH_IN_QUERY.search(query):
        found = _YEAR_IN_QUERY.search(query)
    return found is not None and int(found[1]) not in years


def _is_calendar(dated: re.Match[str], year_now: int) -> bool:
    """Return whether a calendar word precedes a far date, or whether it can hardly be anything else than a date."""
    before = dated.string[: dated.start()].split("/")[3:][-2:]
    if any(_CALENDAR_WORD.search(segment) for segment in before):
        return True
    if not dated[3]:
        return False
    return dated[2] == "-" or year_now < int(dated[1]) <= year_now + _MAX_YEARS_AHEAD_OF_BARE_DATE


# Endless patterns: URLs of one host that differ only in numbers, values and identifiers, and lead to nothing new ------

ENDLESS = "trap: endless pattern"

_VARIABLE = re.compile(r"[0-9?]")
_VALUES = re.compile(r"=[^&]*")
_DIGITS_AS_ZERO = bytes.maketrans(b"123456789", b"000000000")
_MIN_OPAQUE_RUNS = 3
"""A URL that gives fewer parts than this when it is split at its digits contains no opaque identifier."""
_OPAQUE = re.compile(
    r"(?<![0-9A-Za-z])(?:(?:[0-9a-fA-F]{4,}-){2,}[0-9a-fA-F]{4,}|(?=[0-9]*[a-fA-F])[0-9a-fA-F]{12,}"
    r"|(?=(?:[A-Za-z]*[0-9]){2})[0-9A-Za-z]{16,})(?![0-9A-Za-z])"
)
"""UUIDs, digests, and session ids of letters with at least two digits."""
_MAX_COPIES = 2
"""Content is unique if at most this number of pages of a host have it. A page often has two URLs."""
_PAGES_TO_TRUST = 8
"""Number of useful pages after which a pattern is trusted permanently."""
_PAGES_PER_LEAD = 50
"""A URL pattern without useful pages is still not refused if at least one in 50 of its pages links to a useful page."""
_MIN_TRIED = 100
"""Before a pattern is refused, this number of the URLs that it links to must have been fetched, or half of them."""
_TRUSTED = -1
_SMALL_TABLE = 10_000
_OFFERED, _USELESS, _LED, _OTHERS, _OTHERS_TRIED, _FINGERPRINTS = range(6)
"""Indexes in the counts of a pattern: times offered; useless pages, or `_TRUSTED`; pages that led to a useful page;
URLs of other patterns that its pages link to; how many of these were fetched; then the fingerprints of its useful
pages."""


def drop_oldest_half(table: OrderedDict[Any, Any]) -> None:
    """Drop the least recently used half of a table, unless it is small."""
    for _ in range(len(table) // 2 if len(table) > _SMALL_TABLE else 0):
        table.popitem(last=False)


def url_pattern(url: str) -> str:
    """Return a URL with `0` for numbers and identifiers, and without the values of its parameters."""
    end = url.find("/", 8)
    below = url[end:]
    mark = below.find("?")
    if mark != -1:
        below = below[:mark] + _VALUES.sub("=", below[mark:])
    parts = below.encode().translate(_DIGITS_AS_ZERO).split(b"0")  # takes half the time of a regular expression
    if len(parts) >= _MIN_OPAQUE_RUNS and _OPAQUE.search(below):
        parts = _OPAQUE.sub("0", below).encode().translate(_DIGITS_AS_ZERO).split(b"0")
    return url[:end] + (b"0".join(filter(None, parts)) + (b"" if parts[-1] else b"0")).decode()


class HostTraps:
    """Refuses URL patterns of a host if a sample of their pages was neither useful nor led to useful pages."""

    def __init__(self, *, offers: int = 2000, sample: int = 500, capacity: int = 50_000) -> None:
        self._offers = offers
        self._sample = sample
        self._capacity = capacity
        """Maximum number of patterns. Twice as many fingerprints are kept. The least recently used ones are dropped
        first."""
        self._counts: OrderedDict[str, list[int]] = OrderedDict()
        self._page: list[int] | None = None
        """Counts of the pattern of the page whose links are being passed to `reason`."""
        self._copies: OrderedDict[int, int] = OrderedDict()
        """Hash of host and content fingerprint → number of pages."""

    def reason(self, url: str) -> str:
        """Return why a new URL should not be added to the frontier, or "" if it may be.

        Each call counts as an offer by the current page, if there is one.
        """
        counts = self._counts_for(url)
        if self._page is not None and self._page is not counts:
            self._page[_OTHERS] += 1
        if counts is None:
            return ""
        if counts[_OFFERED] < self._offers:
            counts[_OFFERED] += 1
            return ""
        return ENDLESS if self._is_endless(counts) else ""

    def waiting_reason(self, url: str) -> str:
        """Return why a URL of the frontier should not be fetched after all, or ""."""
        counts = self._counts_for(url)
        return ENDLESS if counts is not None and self._is_endless(counts) else ""

    def _is_endless(self, counts: list[int]) -> bool:
        offered, useless, led, others, tried, *contents = counts
        if offered < self._offers or useless < self._sample:
            return False
        if led * _PAGES_PER_LEAD >= useless or tried < min(_MIN_TRIED, others // 2):
            return False
        return not any(self._copies.get(content, _MAX_COPIES) <= _MAX_COPIES for content in contents)

    def record_page(self, url: str, *, useful: bool, fingerprint: int = 0, parent: str = "") -> None:
        """Count a fetched page and make it the current one.

        A page that the caller calls `useful` counts as useless if its content is a copy of other pages of the host.
        """
        counts = self._page = self._counts_for(url)
        content = self._unique_content(url, fingerprint) if useful else None
        if counts is not None and counts[_USELESS] != _TRUSTED:
            if content is None:
                counts[_USELESS] += 1
            else:
                _credit(counts, content)
        parent_counts = self._counts_for(parent) if parent else None
        if parent_counts is not None and parent_counts is not counts:
            parent_counts[_OTHERS_TRIED] += 1
            parent_counts[_LED] += content is not None or _leads_to_useful_pages(counts)

    def end_page(self) -> None:
        """Forget the current page: URLs that are checked from now on, such as seeds, are not its links."""
        self._page = None

    def _unique_content(self, url: str, fingerprint: int) -> int | None:
        """Return a hash of the page's content if it is unique on its host, else None."""
        fingerprint = fingerprint or xxhash.xxh3_64_intdigest(url.encode())
        content = xxhash.xxh3_64_intdigest(f"{host_of(url)} {fingerprint}".encode())
        count = self._copies[content] = self._copies.pop(content, 0) + 1
        if len(self._copies) > 2 * self._capacity:
            self._copies.popitem(last=False)
        return content if count <= _MAX_COPIES else None

    def _counts_for(self, url: str) -> list[int] | None:
        """Return the counts of a URL's pattern; None if the URL has no variable part, so that no other URL has it."""
        if not _VARIABLE.search(url, url.find("/", 8)):
            return None
        pattern = url_pattern(url)
        counts = self._counts.get(pattern)
        if counts is None:
            counts = self._counts[pattern] = [0] * _FINGERPRINTS
            if len(self._counts) > self._capacity:
                self._counts.popitem(last=False)
        else:
            self._counts.move_to_end(pattern)
        return counts

    def drop_half(self) -> None:
        """Drop the least recently used half, to save memory. The other classes here have the same method."""
        drop_oldest_half(self._counts)
        drop_oldest_half(self._copies)

    def dump(self) -> tuple[dict[str, list[int]], dict[int, int]]:
        """Return plain data for `load`, least recently used first."""
        return dict(self._counts), dict(self._copies)

    def load(self, counts: Mapping[str, list[int]], copies: Mapping[int, int]) -> None:
        self._counts, self._copies = OrderedDict(counts), OrderedDict(copies)


def _credit(counts: list[int], content: int) -> None:
    """Record a useful page of the pattern. After enough of them the pattern is trusted."""
    if content not in counts[_FINGERPRINTS:]:
        counts.append(content)
    if len(counts) - _FINGERPRINTS >= _PAGES_TO_TRUST:
        counts[_USELESS] = _TRUSTED
        del counts[_FINGERPRINTS:]


def _leads_to_useful_pages(counts: list[int] | None) -> bool:
    """Return whether enough pages of a pattern lead to useful pages."""
    return counts is not None and counts[_LED] >= _PAGES_TO_TRUST and counts[_LED] * _PAGES_PER_LEAD >= counts[_USELESS]


# Duplicate content and mirror hosts ----------------------------------------------------------------------------------

MIRROR = "trap: mirror of another host"


class ContentSeen:
    """Remembers the URL at which each body was first seen."""

    def __init__(self, *, capacity: int = 200_000, min_bytes: int = 64) -> None:
        self._capacity = capacity
        """Bodies that are remembered. The least recently used one is dropped first."""
        self._min_bytes = min_bytes
        """Minimum size of a body in bytes. Shorter bodies are ignored, because many pages are empty."""
        self._urls: OrderedDict[bytes, str] = OrderedDict()

    def first(self, url: str, body: bytes) -> str:
        """Return the URL at which the same body was first seen, or "" if there is no other."""
        if len(body) < self._min_bytes:
            return ""
        key = xxhash.xxh3_128_digest(body)
        first_url = self._urls.setdefault(key, url)
        self._urls.move_to_end(key)
        if len(self._urls) > self._capacity:
            self._urls.popitem(last=False)
        return "" if first_url == url else first_url

    def drop_half(self) -> None:
        drop_oldest_half(self._urls)

    def dump(self) -> list[tuple[bytes, str]]:
        """Return plain data for `load`, least recently used first."""
        return list(self._urls.items())

    def load(self, urls: Iterable[tuple[bytes, str]]) -> None:
        self._urls = OrderedDict(urls)


class MirrorStats(msgspec.Struct, array_like=True):
    """Counts by which a host is recognized as a mirror of another host."""

    pages: int = 0
    shared: int = 0
    """Pages that another host has under the same path."""
    others: dict[str, int] = {}
    """Hosts with which it shares pages → number of pages."""
    differs: bool = False
    """True if the host and one of `others` have different pages under the same path."""
    original: str = ""
    """The host that it mirrors. Empty if it is not a mirror."""


class MirrorHosts:
    """Refuses hosts whose pages were found under the same paths on another host.

    Several mirrors may be crawled at the same time, so each of them may be the first with some pages. A page of one
    host proves nothing until the same path of the other was fetched. Two hosts are different if they differ under one
    path. Hosts that share only some pages, such as the customers of one service, differ at their home page.
    """

    def __init__(self, *, sample: int = 20, share: float = 2 / 3, capacity: int = 100_000) -> None:
        self._sample = sample
        """Minimum number of pages that a host must share with another one to count as its mirror."""
        self._share = share
        """Minimum fraction of its pages that a host must share with another one to count as its mirror."""
        self._capacity = capacity
        """Hosts, and pages, that are remembered. The least recently used ones are dropped first."""
        self._hosts: OrderedDict[str, MirrorStats] = OrderedDict()
        self._pages: OrderedDict[int, bool] = OrderedDict()
        """Hash of a fetched URL → whether another host has the same body under that path."""
        self._mirrors: set[str] = set()

    def record_page(self, url: str, *, duplicate_of: str) -> None:
        """Count a fetched page. `duplicate_of` is the result of `ContentSeen.first`."""
        host, below = host_of(url), _below_host(url)
        if (page := _page(host, below)) in self._pages:
            return  # a revisit
        stats = self._stats(host)
        stats.pages += 1
        other = host_of(duplicate_of) if duplicate_of else ""
        is_shared = bool(other) and other != host and _below_host(duplicate_of) == below
        self._pages[page] = is_shared
        if len(self._pages) > self._capacity:
            self._pages.popitem(last=False)
        if is_shared:
            self._share_page(host, stats, other, below)
        elif any(_page(known, below) in self._pages for known in stats.others):
            stats.differs, stats.original = True, ""
            self._mirrors.discard(host)

    def _share_page(self, host: str, stats: MirrorStats, other: str, below: str) -> None:
        first = self._stats(other)
        stats.shared += 1
        stats.others[other] = stats.others.get(other, 0) + 1
        first.others[host] = first.others.get(host, 0) + 1
        page = _page(other, below)
        if self._pages.get(page) is False:
            self._pages[page] = True
            first.shared += 1
        original = self._original(max(stats.others, key=stats.others.__getitem__))
        if original != host and self._is_mirror(host, stats, original):
            stats.original = original
            self._mirrors.add(host)

    def _is_mirror(self, host: str, stats: MirrorStats, original: str) -> bool:
        if stats.differs or stats.shared < max(self._sample, self._share * stats.pages):
            return False
        at_root = [self._pages.get(_page(one, "/")) for one in (host, original)]
        return None in at_root or all(at_root)

    def _original(self, host: str) -> str:
        """Return the original of a mirror, also through several mirrors. Two hosts never mirror each other."""
        while host in self._mirrors:
            host = self._hosts[host].original
        return host

    def _stats(self, host: str) -> MirrorStats:
        found = self._hosts.get(host)
        if found is None:
            found = self._hosts[host] = MirrorStats()
            if len(self._hosts) > self._capacity:
                forgotten, _ = self._hosts.popitem(last=False)
                self._mirrors.discard(forgotten)
        else:
            self._hosts.move_to_end(host)
        return found

    def reason(self, url: str) -> str:
        return MIRROR if self._mirrors and host_of(url) in self._mirrors else ""

    def drop_half(self) -> None:
        drop_oldest_half(self._hosts)
        drop_oldest_half(self._pages)
        self._mirrors &= self._hosts.keys()

    def dump(self) -> tuple[dict[str, MirrorStats], dict[int, bool]]:
        return dict(self._hosts), dict(self._pages)

    def load(self, hosts: dict[str, MirrorStats], pages: dict[int, bool]) -> None:
        self._hosts, self._pages = OrderedDict(hosts), OrderedDict(pages)
        self._mirrors = {host for host, stats in hosts.items() if stats.original in hosts}


def _page(host: str, below: str) -> int:
    return xxhash.xxh3_64_intdigest(f"{host}{below}".encode())


def _below_host(url: str) -> str:
    return url[url.find("/", 8) :]
