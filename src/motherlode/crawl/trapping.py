"""Traps: what the crawl has seen so far, asked before a link is taken up."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from motherlode.www.trap_memory import ContentSeen, HostTraps, MirrorHosts
from motherlode.www.traps import trap_reason

_State = tuple[dict[str, list[int]], list[tuple[bytes, str]], dict[str, tuple[str, int]]]


class TrapWatch:
    """Refuses addresses without end, patterns that give nothing, and hosts that mirror others."""

    def __init__(self, scope: Callable[[str], str], *, year_now: int) -> None:
        self._scope = scope
        self._year_now = year_now
        self._patterns = HostTraps()
        self._contents = ContentSeen()
        self._mirrors = MirrorHosts()

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

    def saw(self, url: str, body: bytes, *, useful: bool) -> str:
        """A page has been read; the address at which the same content was met before, or ""."""
        copy = self._contents.first(url, body)
        self._mirrors.fetched(url, duplicate_of=copy)
        self._patterns.fetched(url, useful=useful)
        return copy

    def dump(self) -> bytes:
        """What was seen, to be kept with the crawl."""
        return msgspec.msgpack.encode((self._patterns.dump(), self._contents.dump(), self._mirrors.dump()))

    def load(self, state: bytes) -> None:
        """Take up what an earlier `dump` gave."""
        patterns, contents, mirrors = msgspec.msgpack.decode(state, type=_State)
        self._patterns.load(patterns)
        self._contents.load(contents)
        self._mirrors.load(mirrors)
