"""Preferences of sites about the use of their pages, and the rule that obeys them.

robots.txt is known before a page is requested. The file tdmrep.json is requested once per origin, if the job wants it,
when the first page of the origin has arrived, because the requests to a host are never sent at the same time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from motherlode.crawler.engine.limits import cancel
from motherlode.crawler.engine.robots_and_dns import PoliteFetcher
from motherlode.fetch.robots import NO_USAGE_RULES, UsageRules
from motherlode.fetch.tdm_file import MAX_TDM_BYTES, TDM_PATH, parse_tdm_file
from motherlode.model import FailureKind, Page, Request, RequestKind
from motherlode.model.usage import NO_PREFERENCES, UsagePreferences
from motherlode.runtime import SYSTEM_CLOCK, Clock
from motherlode.www.urls import origin_of

RESERVED = "reserved"
"""First word of the reason for which a URL is refused."""
_MAX_HOPS = 5
_WAIT_SECONDS = 120.0
"""Maximum seconds that the first page of an origin waits for its tdmrep.json. The host may have a long delay."""

StatedFor = Callable[[str], UsagePreferences]
"""Returns the known preferences for a URL."""


class NoTdmFiles:
    """Stands for a job that requests no tdmrep.json."""

    is_wanted = False

    async def load(self, url: str) -> None: ...

    def preferences(self, url: str) -> UsagePreferences:
        return NO_PREFERENCES

    async def close(self) -> None: ...


class TdmFiles:
    """The files tdmrep.json of all origins of a crawl."""

    is_wanted = True

    def __init__(self, polite: PoliteFetcher, *, clock: Clock = SYSTEM_CLOCK) -> None:
        self._polite = polite
        self._clock = clock
        self._rules: dict[str, UsageRules] = {}
        """Origin → rules, none if there is no such file."""
        self._requested: dict[str, asyncio.Task[None]] = {}

    def preferences(self, url: str) -> UsagePreferences:
        """Return what the file of the URL's origin says, if it is known."""
        return self._rules.get(origin_of(url), NO_USAGE_RULES).preferences(url)

    async def load(self, url: str) -> None:
        """Request the file of the URL's origin, unless that was done before."""
        origin = origin_of(url)
        if origin in self._rules:
            return
        if origin not in self._requested:
            self._requested[origin] = asyncio.create_task(self._request(origin))
        await asyncio.shield(self._requested[origin])

    async def close(self) -> None:
        await cancel(self._requested.values())

    async def _request(self, origin: str) -> None:
        url, rules = f"{origin}{TDM_PATH}", NO_USAGE_RULES
        wait_until = self._clock.now() + _WAIT_SECONDS
        for _ in range(_MAX_HOPS):
            request = Request(url=url, kind=RequestKind.SUBREQUEST, accept="application/json")
            fetched = await self._polite.fetch(request, wait_until=wait_until)
            if isinstance(fetched, Page):
                rules = parse_tdm_file(fetched.body) if len(fetched.body) <= MAX_TDM_BYTES else NO_USAGE_RULES
                break
            if fetched.kind is not FailureKind.REDIRECT:
                break
            url = fetched.location
        self._rules[origin] = rules
        del self._requested[origin]


class ObeyedUsage:
    """Refuses URLs whose site reserves one of the uses that the job obeys."""

    def __init__(self, uses: Sequence[str]) -> None:
        self._uses = uses
        self.sources: tuple[StatedFor, ...] = ()
        """The preferences of robots.txt, and those of tdmrep.json."""

    def refusal(self, url: str) -> str:
        """Return why a URL is not fetched, or ""."""
        use = next(filter(None, (stated_for(url).reserves(self._uses) for stated_for in self.sources)), "")
        return f"{RESERVED}: {use}" if use else ""
