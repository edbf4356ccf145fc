"""Rules that decide which URLs a crawl admits: URL filters (MultiCrawler, section 3.5) and trap detection.

The job file's `[links]` table has the keys `follow` and `deny`. `motherlode filter DIR add` adds further filters to the
file `filters.json` in the crawl folder. A running crawl reads this file at every checkpoint. It applies the filters to
new links, and to waiting URLs before they are fetched. The reason of a refusal names the filter, so that `stats` counts
refusals by filter.

Filters are compiled by RE2, whose matching time is linear in the length of the URL for every expression, so a filter
cannot block the crawl as it could in a backtracking engine. RE2 has no look-around and no back-references;
`motherlode filter DIR add` reports this.
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

from motherlode.crawler.folder import write_atomically
from motherlode.frontier import Entry
from motherlode.model import LinkSource
from motherlode.www.traps import ContentSeen, HostTraps, MirrorHosts, MirrorStats, trap_reason

MAX_FILTERS = 200
MAX_PATTERN_CHARACTERS = 1000
"""Maximum length of one expression."""
_MAX_COMPILED_BYTES = 8 << 20
"""Memory limit of one compiled expression."""
_MAX_SHOWN_CHARACTERS = 80
"""Maximum length of an expression in the reason of a refusal."""
NOT_ALLOWED = "filter: matches none that are allowed"
NOT_FOLLOWED = "links: matches none of the links to follow"


class Filter(msgspec.Struct, frozen=True, kw_only=True):
    """One filter of the file. Numbers are not reused."""

    number: int
    deny: bool
    """Whether matching URLs are refused. If False, URLs must match this or another filter that allows them."""
    pattern: str


class _File(msgspec.Struct, kw_only=True):
    next: int = 1
    filters: list[Filter] = []


def compile_pattern(pattern: str) -> Any:
    """Compile a regular expression. Raise ValueError if it cannot be used.

    >>> bool(compile_pattern("(a+)+$").search("a" * 10_000 + "b"))
    False
    """
    if not pattern or len(pattern) > MAX_PATTERN_CHARACTERS:
        raise ValueError(f"a filter has 1 to {MAX_PATTERN_CHARACTERS} characters, not {len(pattern)}")
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MAX_COMPILED_BYTES
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0] if error.args else ""
        text = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        hint = "; look-around and back-references are not supported" if "invalid perl" in text or "\\" in text else ""
        raise ValueError(f"{pattern!r} cannot be used as a regular expression: {text}{hint}") from error


# The filter file


def read_filters(path: Path) -> list[Filter]:
    """Read the filters of a file. Return an empty list if it does not exist, and raise ValueError if it is invalid."""
    return _load(path).filters


def _load(path: Path) -> _File:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return _File()
    try:
        found = msgspec.json.decode(content, type=_File)
    except msgspec.DecodeError as error:
        raise ValueError(f"{path} is not a filter file: {error}") from error
    for one in found.filters:
        compile_pattern(one.pattern)
    return found


def add_filter(path: Path, pattern: str, *, deny: bool) -> Filter:
    """Add a filter to the file. A running crawl applies it after its next checkpoint."""
    compile_pattern(pattern)
    with _locked(path):
        file = _load(path)
        if len(file.filters) >= MAX_FILTERS:
            raise ValueError(f"there are {MAX_FILTERS} filters already: remove some, or join some with |")
        made = Filter(number=file.next, deny=deny, pattern=pattern)
        _store(path, _File(next=file.next + 1, filters=[*file.filters, made]))
    return made


def remove_filter(path: Path, number: int) -> Filter:
    """Remove a filter from the file. URLs that it has refused stay refused."""
    with _locked(path):
        file = _load(path)
        gone = next((one for one in file.filters if one.number == number), None)
        if gone is None:
            raise ValueError(f"there is no filter {number}: `motherlode filter {path.parent} list` shows the numbers")
        _store(path, _File(next=file.next, filters=[one for one in file.filters if one is not gone]))
    return gone


def _store(path: Path, file: _File) -> None:
    """Write the file, and its copies in the folders of shards, each of which reads its own."""
    content = json.dumps(msgspec.to_builtins(file), ensure_ascii=False, indent=1).encode() + b"\n"
    write_atomically(path, content)
    for shard in path.parent.glob("shards/[0-9]*"):
        write_atomically(shard / path.name, content)


def copy_filters(path: Path, copy: Path) -> None:
    """Give a new shard the filters of the whole crawl. A shard that has filters keeps them."""
    if path.exists() and not copy.exists():
        write_atomically(copy, path.read_bytes())


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Lock the file, so that concurrent commands do not overwrite each other's changes."""
    with path.with_name(path.name + ".lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


# Filters in a crawl


class Filters:
    """Refuses URLs by the expressions of the job and by the filter file."""

    def __init__(self, path: Path, links: Mapping[str, Any] | None = None) -> None:
        self._path = path
        self._follow, self._deny = compile_links_table(links or {})
        self._stamp: tuple[int, int, int] | None = None
        self._denied: list[tuple[Any, str]] = []
        self._allowed: list[Any] = []
        self.problem = ""
        """Reason why the changed file could not be read, or "". The previous filters stay in force."""
        self.reread()

    def reread(self) -> bool:
        """Read the file again if it has changed. Return whether new filters are in force."""
        try:
            found = os.stat(self._path)  # noqa: PTH116 - faster than Path.stat, and called once per second
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
            (compile_pattern(one.pattern), f"filter {one.number}: denied by {one.pattern[:_MAX_SHOWN_CHARACTERS]}")
            for one in filters
            if one.deny
        ]
        self._allowed = [compile_pattern(one.pattern) for one in filters if not one.deny]
        return True

    def within(self, scope: Callable[[str], str]) -> Callable[[str], str]:
        return lambda url: scope(url) or self.reason(url)

    def reason(self, url: str) -> str:
        """Return the reason to refuse a link, or "". Filters that deny take precedence over those that allow."""
        denied = self._denial(url)
        if denied:
            return denied
        if self._follow and not any(pattern.search(url) for pattern in self._follow):
            return NOT_FOLLOWED
        if self._allowed and not any(pattern.search(url) for pattern in self._allowed):
            return NOT_ALLOWED
        return ""

    def waiting_reason(self, url: str, *, is_seed: bool) -> str:
        """Return why a URL that waits in the frontier is not fetched, or "". Only `deny` patterns refuse seeds."""
        return self._denial(url) if is_seed else self.reason(url)

    def _denial(self, url: str) -> str:
        for pattern, reason in (*self._denied, *self._deny):
            if pattern.search(url):
                return reason
        return ""


def compile_links_table(links: Mapping[str, Any]) -> tuple[list[Any], list[tuple[Any, str]]]:
    """Compile `follow` and `deny` of a `[links]` table. Raise ValueError if one of them is invalid."""
    follow, deny = _read_patterns(links, "follow"), _read_patterns(links, "deny")
    return [compile_pattern(text) for text in follow], [
        (compile_pattern(text), f"links: denied by {text[:_MAX_SHOWN_CHARACTERS]}") for text in deny
    ]


def _read_patterns(links: Mapping[str, Any], key: str) -> Sequence[str]:
    values = links.get(key, [])
    if not isinstance(values, (list, tuple)) or not all(isinstance(value, str) for value in values):
        raise ValueError(f"{key} should be a list of regular expressions, not {values!r}")
    return values


# Trap detection: it uses the pages that were visited so far, and is applied to new links and to waiting URLs

_MAX_REDIRECTS_KEPT = 10_000
"""Maximum number of redirects that are kept. Most are followed within seconds."""


class _State(msgspec.Struct, array_like=True):
    """Saved state of `TrapWatch`."""

    patterns: tuple[dict[str, list[int]], dict[int, int]]
    contents: list[tuple[bytes, str]]
    mirrors: tuple[dict[str, MirrorStats], dict[int, bool]]


class TrapWatch:
    """Refuses URLs of endless URL spaces, URL patterns without useful pages, and hosts that mirror other hosts."""

    def __init__(self, scope: Callable[[str], str], *, year_now: int) -> None:
        self._scope = scope
        self._year_now = year_now
        self._patterns = HostTraps()
        self._contents = ContentSeen()
        self._mirrors = MirrorHosts()
        self._redirect_parents: OrderedDict[str, str] = OrderedDict()
        """URL that redirects → page with the link to it, which counts as the parent of the redirect target."""

    def reason(self, url: str) -> str:
        """Return the reason to refuse a link, or "". The scope is checked first."""
        return (
            self._scope(url)
            or trap_reason(url, year_now=self._year_now)
            or self._mirrors.reason(url)
            or self._patterns.reason(url)  # last, because each call counts the URL
        )

    def plain_reason(self, url: str) -> str:
        """Return the reason to refuse a link by its URL alone, or "". The call changes no counts."""
        return self._scope(url) or trap_reason(url, year_now=self._year_now)

    def waiting_reason(self, url: str) -> str:
        """Return why pages visited since a URL entered the frontier make it look like a trap or a mirror, or ""."""
        return self._mirrors.reason(url) or self._patterns.waiting_reason(url)

    def record_redirect(self, url: str, *, parent: str) -> None:
        self._redirect_parents[url] = self._redirect_parents.get(parent, parent)
        if len(self._redirect_parents) > _MAX_REDIRECTS_KEPT:
            self._redirect_parents.popitem(last=False)

    def record_page(
        self, url: str, body: bytes, *, useful: bool, content_fingerprint: int = 0, parent: str = ""
    ) -> str:
        """Record a parsed page. Return the URL at which the same content was found before, or "".

        The URLs of the following `reason` calls are links of this page, until `end_page` is called.
        """
        copy = self._contents.first(url, body)
        self._mirrors.record_page(url, duplicate_of=copy)
        self._patterns.record_page(
            url, useful=useful, fingerprint=content_fingerprint, parent=self._redirect_parents.get(parent, parent)
        )
        return copy

    def end_page(self) -> None:
        self._patterns.end_page()

    def drop_half(self) -> None:
        """Forget the least recently seen half of patterns, pages and hosts, to save memory."""
        for part in (self._patterns, self._contents, self._mirrors):
            part.drop_half()

    def dump(self) -> bytes:
        return msgspec.msgpack.encode(_State(self._patterns.dump(), self._contents.dump(), self._mirrors.dump()))

    def load(self, state: bytes) -> None:
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
        if unwanted or is_seed or entry.is_revisit:  # these are known to be no traps
            return unwanted
        return traps.waiting_reason(entry.url)

    return refusal
