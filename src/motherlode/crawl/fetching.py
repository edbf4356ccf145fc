"""Single pages by their addresses, without a crawl, and as gently as in one."""

from __future__ import annotations

from collections.abc import Iterable

from motherlode import __version__
from motherlode.crawl.bounded_input import DEFAULT_MAX_BYTES, too_long
from motherlode.crawl.errors import JobError
from motherlode.crawl.polite import PoliteFetcher, TellWait
from motherlode.crawl.single import Source
from motherlode.extract import context_links
from motherlode.fetch import HttpFetcher, HttpLimits, HttpOptions, RobotsRules
from motherlode.frontier import MAX_REDIRECTS, Frontier, MemoryLedger, Politeness
from motherlode.model import FailureKind, Page, Request
from motherlode.policy import policy_from
from motherlode.transform.installed import wanted_types
from motherlode.transform.options import TransformOptions
from motherlode.www.urls import canonical

_MAX_CONTEXT_BYTES = 10 << 20


class Visitor:
    """Fetches pages, and what they need to be read. Each request passes the clocks and rules of a crawl.

    A frontier that knows no URL keeps the clocks and the rules of whoever is asked.
    """

    def __init__(
        self,
        *,
        allow: tuple[str, ...],
        delay: float = 1.0,
        tell_wait: TellWait = lambda host, seconds: None,
        max_bytes: int = DEFAULT_MAX_BYTES,
    ) -> None:
        useful = wanted_types(TransformOptions())
        limits = HttpLimits(body=max_bytes)
        http = HttpFetcher(
            HttpOptions(user_agent=f"Motherlode/{__version__}", limits=limits, allow=allow, useful=useful)
        )
        self._max_bytes = max_bytes
        frontier = Frontier(
            ledger=MemoryLedger(),
            policy=policy_from("bfs"),
            scope=lambda url: "",
            read_rules=RobotsRules,
            politeness=Politeness(delay=delay, by_address=True, adaptive=True),
        )
        self._fetcher = PoliteFetcher(frontier, http, resolve=http.resolve, tell_wait=tell_wait)

    async def page(self, url: str, *, base: str | None = None, media_type: str = "") -> Source:
        """A page by its address, redirects followed; what its sender says of it goes behind what is given."""
        address = canonical(url)
        if address is None:
            raise JobError(f"{url!r} is not an http or https URL")
        asked: set[str] = set()
        while address not in asked and len(asked) <= MAX_REDIRECTS:
            asked.add(address)
            fetched = await self._fetcher.fetch(Request(url=address))
            if isinstance(fetched, Page):
                if fetched.truncated and len(fetched.body) >= self._max_bytes:
                    raise too_long(address, self._max_bytes)
                return _source(fetched, base=base, media_type=media_type)
            if fetched.kind is FailureKind.ROBOTS:
                raise JobError(f"{address} may not be fetched: {fetched.detail}")
            if fetched.kind is not FailureKind.REDIRECT:
                raise JobError(f"{address} could not be fetched: {fetched.kind.value}, {fetched.detail}")
            address = fetched.location
        where = "in a circle" if address in asked else f"through more than {MAX_REDIRECTS} redirects"
        raise JobError(f"{url} leads {where}")

    async def contexts(self, urls: Iterable[str]) -> dict[str, bytes]:
        """Those JSON-LD contexts that can be had; a page may be longer than any of them."""
        found = {url: await self._fetcher.context(url) for url in urls}
        return {url: body for url, body in found.items() if body is not None and len(body) <= _MAX_CONTEXT_BYTES}

    async def close(self) -> None:
        await self._fetcher.close()


def _source(page: Page, *, base: str | None, media_type: str) -> Source:
    return Source(
        url=base or page.url,
        content_type=media_type or page.content_type,
        body=page.body,
        contexts=context_links(page.headers, page_url=page.url),
    )
