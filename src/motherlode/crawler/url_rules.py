"""Regular expressions that say which addresses a crawl takes up, some of them added while it runs (MultiCrawler 3.5).

The job file's `[links]` table has `follow` and `deny`; `motherlode filter DIR add` puts further ones into the small
file `filters.json` of the crawl's folder. A running crawl looks at that file at every checkpoint and applies it to the
links that come in and to the URLs that wait already, when their turn comes. A refusal names its filter, so that `stats`
counts by filter.

Expressions are compiled by RE2, whose time is linear in the length of the address whatever the expression: one that
would keep a backtracking engine busy for hours cannot stop a crawl. The price is its syntax: no look-around and no
back-references, which `add` says at once.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import re2

from motherlode.frontier import REVISIT, Entry
from motherlode.model import LinkSource
from motherlode.www.traps import ContentSeen, HostTraps, MirrorHosts, MirrorStats, trap_reason

MOST_FILTERS = 200
MAX_PATTERN = 1000
"""Characters of one expression."""
_MAX_MEMORY = 8 << 20
"""Bytes for one compiled expression."""
_SHOWN = 80
"""Characters of an expression that a reason shows."""
NOT_ALLOWED = "filter: matches none that are allowed"
NOT_FOLLOWED = "links: matches none of the links to follow"


class Filter(msgspec.Struct, frozen=True, kw_only=True):
    """One expression of the file; its number never means another one."""

    number: int
    deny: bool
    """False: an address must match one of those that allow."""
    pattern: str


class _File(msgspec.Struct, kw_only=True):
    next: int = 1
    filters: list[Filter] = []


def compiled(pattern: str) -> Any:
    """The expression; ValueError says what is wrong with it.

    >>> bool(compiled("(a+)+$").search("a" * 10_000 + "b"))
    False
    """
    if not pattern or len(pattern) > MAX_PATTERN:
        raise ValueError(f"a filter has 1 to {MAX_PATTERN} characters, not {len(pattern)}")
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MAX_MEMORY
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0] if error.args else ""
        text = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        hint = "; look-around and back-references are not supported" if "invalid perl" in text or "\\" in text else ""
        raise ValueError(f"{pattern!r} is no regular expression that can be used: {text}{hint}") from error


# ── the file ─────────────────────────────────────────────────────────────────────────────────────────


def read_filters(path: Path) -> list[Filter]:
    """What the file holds; nothing where there is none. ValueError where it is broken."""
    return _load(path).filters


def _load(path: Path) -> _File:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return _File()
    try:
        found = msgspec.json.decode(content, type=_File)
    except msgspec.DecodeError as error:
        raise ValueError(f"{path} is not a file of filters: {error}") from error
    for one in found.filters:
        compiled(one.pattern)
    return found


def add_filter(path: Path, pattern: str, *, deny: bool) -> Filter:
    """Put a filter into the file, for the next look of a running crawl."""
    compiled(pattern)
    with _alone(path):
        file = _load(path)
        if len(file.filters) >= MOST_FILTERS:
            raise ValueError(f"there are {MOST_FILTERS} filters already: remove some, or join some with |")
        made = Filter(number=file.next, deny=deny, pattern=pattern)
        _store(path, _File(next=file.next + 1, filters=[*file.filters, made]))
    return made


def remove_filter(path: Path, number: int) -> Filter:
    """Take a filter out of the file. What it has refused stays refused."""
    with _alone(path):
        file = _load(path)
        gone = next((one for one in file.filters if one.number == number), None)
        if gone is None:
            raise ValueError(f"there is no filter {number}: `motherlode filter {path.parent} list` shows the numbers")
        _store(path, _File(next=file.next, filters=[one for one in file.filters if one is not gone]))
    return gone


def _store(path: Path, file: _File) -> None:
    """Replace the file as a whole, so that a crawl never reads half of one."""
    fresh = path.with_name(path.name + ".new")
    fresh.write_bytes(json.dumps(msgspec.to_builtins(file), ensure_ascii=False, indent=1).encode() + b"\n")
    fresh.replace(path)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Two commands at a time do not lose each other's filter."""
    with path.with_name(path.name + ".lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


# ── the crawl's side ─────────────────────────────────────────────────────────────────────────────────


class Filters:
    """Says why an address stays out, by the job's expressions and by those of the file as last read."""

    def __init__(self, path: Path, links: Mapping[str, Any] | None = None) -> None:
        self._path = path
        self._follow, self._deny = table_patterns(links or {})
        self._stamp: tuple[int, int, int] | None = None
        self._denied: list[tuple[Any, str]] = []
        self._allowed: list[Any] = []
        self.problem = ""
        """Why the file could not be read when it last changed; what it said before holds then."""
        self.reread()

    def reread(self) -> bool:
        """Look at the file again if it is another one than before; whether it was."""
        try:
            found = os.stat(self._path)  # noqa: PTH116 - once a second, and without an exception's price on a Path
            stamp = (found.st_mtime_ns, found.st_size, found.st_ino)
        except FileNotFoundError:
            stamp = (0, 0, 0)
        if stamp == self._stamp:
            return False
        self._stamp = stamp
        try:
            filters = read_filters(self._path)
        except (ValueError, OSError) as error:
            self.problem = str(error)
            return False
        self.problem = ""
        self._denied = [
            (compiled(one.pattern), f"filter {one.number}: denied by {one.pattern[:_SHOWN]}")
            for one in filters
            if one.deny
        ]
        self._allowed = [compiled(one.pattern) for one in filters if not one.deny]
        return True

    def within(self, scope: Callable[[str], str]) -> Callable[[str], str]:
        """A scope that asks the filters as well."""
        return lambda url: scope(url) or self.reason(url)

    def reason(self, url: str) -> str:
        """Why a link stays out, or "". What is denied is denied, whatever else allows it."""
        denied = self._denial(url)
        if denied:
            return denied
        if self._follow and not any(pattern.search(url) for pattern in self._follow):
            return NOT_FOLLOWED
        if self._allowed and not any(pattern.search(url) for pattern in self._allowed):
            return NOT_ALLOWED
        return ""

    def waiting_reason(self, url: str, *, is_seed: bool) -> str:
        """Why a URL that waits is not fetched after all. A seed was named by the user: only a denial stops it."""
        return self._denial(url) if is_seed else self.reason(url)

    def _denial(self, url: str) -> str:
        for pattern, reason in (*self._denied, *self._deny):
            if pattern.search(url):
                return reason
        return ""


def table_patterns(links: Mapping[str, Any]) -> tuple[list[Any], list[tuple[Any, str]]]:
    """The `follow` and `deny` of a `[links]` table, compiled; ValueError for what is wrong with them."""
    follow, deny = _texts(links, "follow"), _texts(links, "deny")
    return [compiled(text) for text in follow], [(compiled(text), f"links: denied by {text[:_SHOWN]}") for text in deny]


def _texts(links: Mapping[str, Any], key: str) -> Sequence[str]:
    values = links.get(key, [])
    if not isinstance(values, (list, tuple)) or not all(isinstance(value, str) for value in values):
        raise ValueError(f"{key} should be a list of regular expressions, not {values!r}")
    return values


# ── Traps: what the crawl has seen so far, asked before a link is taken up and again before it is fetched.

_MOST_MOVED = 10_000
"""Redirects that are remembered; most are followed within seconds."""


class _State(msgspec.Struct, array_like=True):
    """What was seen, as it is kept."""

    patterns: tuple[dict[str, list[int]], dict[int, int]]
    contents: list[tuple[bytes, str]]
    mirrors: tuple[dict[str, MirrorStats], dict[int, bool]]


class TrapWatch:
    """Refuses addresses without end, patterns that give nothing, and hosts that mirror others."""

    def __init__(self, scope: Callable[[str], str], *, year_now: int) -> None:
        self._scope = scope
        self._year_now = year_now
        self._patterns = HostTraps()
        self._contents = ContentSeen()
        self._mirrors = MirrorHosts()
        self._moved: OrderedDict[str, str] = OrderedDict()
        """Addresses that lead elsewhere → the page that names them: it led to what is there."""

    def reason(self, url: str) -> str:
        """Why a link stays out, or ""; the scope has the first word."""
        return (
            self._scope(url)
            or trap_reason(url, year_now=self._year_now)
            or self._mirrors.reason(url)
            or self._patterns.reason(url)  # last, because each call counts as an offer
        )

    def plain_reason(self, url: str) -> str:
        """Why a link stays out whatever has been seen so far, or ""; asking counts for nothing."""
        return self._scope(url) or trap_reason(url, year_now=self._year_now)

    def waiting_reason(self, url: str) -> str:
        """Why a URL is not fetched after all, by what was seen since it was taken up."""
        return self._mirrors.reason(url) or self._patterns.waiting_reason(url)

    def moved(self, url: str, *, parent: str) -> None:
        """An address turned out to be a redirect."""
        self._moved[url] = self._moved.get(parent, parent)
        if len(self._moved) > _MOST_MOVED:
            self._moved.popitem(last=False)

    def saw(self, url: str, body: bytes, *, useful: bool, gist: int = 0, parent: str = "") -> str:
        """A page has been read; the address at which the same content was met before, or "". What is asked about from
        now on is linked to by it, until `page_is_over`."""
        copy = self._contents.first(url, body)
        self._mirrors.record_page(url, duplicate_of=copy)
        self._patterns.record_page(url, useful=useful, fingerprint=gist, parent=self._moved.get(parent, parent))
        return copy

    def page_is_over(self) -> None:
        self._patterns.end_page()

    def dump(self) -> bytes:
        """What was seen, to be kept with the crawl."""
        return msgspec.msgpack.encode(_State(self._patterns.dump(), self._contents.dump(), self._mirrors.dump()))

    def load(self, state: bytes) -> None:
        """Take up what an earlier `dump` gave."""
        found = msgspec.msgpack.decode(state, type=_State)
        self._patterns.load(*found.patterns)
        self._contents.load(found.contents)
        self._mirrors.load(*found.mirrors)


def waiting_rule(filters: Filters, traps: TrapWatch) -> Callable[[Entry], str]:
    """Return the rule for URLs that are about to be fetched: why one is refused now, or "".

    The user may have changed the filters since the URL was found, and more of its host has been seen.
    """

    def refusal(entry: Entry) -> str:
        is_seed = entry.source == LinkSource.SEED.value
        unwanted = filters.waiting_reason(entry.url, is_seed=is_seed)
        if unwanted or is_seed or entry.arm.startswith(REVISIT):  # these are known to be no traps
            return unwanted
        return traps.waiting_reason(entry.url)

    return refusal
