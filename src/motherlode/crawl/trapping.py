"""Traps: what the crawl has seen so far, asked before a link is taken up and again before it is fetched."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

import msgspec

from motherlode.www.trap_memory import ContentSeen, MirrorHosts, Standing
from motherlode.www.trap_patterns import HostTraps
from motherlode.www.traps import trap_reason

_MOST_MOVED = 10_000
"""Redirects that are remembered; most are followed within seconds."""


class _State(msgspec.Struct, array_like=True):
    """What was seen, as it is kept."""

    patterns: tuple[dict[str, list[int]], dict[int, int]]
    contents: list[tuple[bytes, str]]
    mirrors: tuple[dict[str, Standing], dict[int, bool]]


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
        self._mirrors.fetched(url, duplicate_of=copy)
        self._patterns.fetched(url, useful=useful, gist=gist, parent=self._moved.get(parent, parent))
        return copy

    def page_is_over(self) -> None:
        self._patterns.page_is_over()

    def dump(self) -> bytes:
        """What was seen, to be kept with the crawl."""
        return msgspec.msgpack.encode(_State(self._patterns.dump(), self._contents.dump(), self._mirrors.dump()))

    def load(self, state: bytes) -> None:
        """Take up what an earlier `dump` gave."""
        found = msgspec.msgpack.decode(state, type=_State)
        self._patterns.load(*found.patterns)
        self._contents.load(found.contents)
        self._mirrors.load(*found.mirrors)
