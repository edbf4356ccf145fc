"""Traps: what the crawl has seen so far, asked before a link is taken up."""

from __future__ import annotations

from collections.abc import Callable

from motherlode.www.trap_memory import ContentSeen, HostTraps, MirrorHosts
from motherlode.www.traps import trap_reason


class TrapWatch:
    """Refuses addresses without end, patterns that give nothing, and hosts that mirror others. Forgotten on resume."""

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

    def saw(self, url: str, body: bytes, *, useful: bool) -> str:
        """A page has been read; the address at which the same content was met before, or ""."""
        copy = self._contents.first(url, body)
        self._mirrors.fetched(url, duplicate_of=copy)
        self._patterns.fetched(url, useful=useful)
        return copy
