"""Fetching of one page without a crawl, for `motherlode extract URL`.

It is a module of its own because extraction of files needs neither the network nor the frontier.
"""

from __future__ import annotations

from collections.abc import Iterable

from motherlode.crawler.config.values import JobError
from motherlode.crawler.engine.robots_and_dns import PoliteFetcher, TellWait
from motherlode.crawler.single_page import DEFAULT_MAX_BYTES, InputSource, too_long
from motherlode.fetch import HttpFetcher, HttpLimits, HttpOptions, RobotsRules
from motherlode.frontier import MAX_REDIRECTS, Frontier, MemoryStorage, Politeness
from motherlode.links.headers import context_links
from motherlode.model import FailureKind, Page, Request
from motherlode.policies import policy_from
from motherlode.project import VERSION
from motherlode.transform import TransformOptions
from motherlode.transform.options import transformable_types
from motherlode.www.urls import canonical

_MAX_CONTEXT_BYTES = 10 << 20


class PageFetcher:
    """Fetches pages and their JSON-LD contexts with the delays and robots.txt rules of a crawl.

    A frontier without URLs keeps the delays and rules of the hosts.
    """

    def __init__(
        self,
        *,
        allow: tuple[str, ...],
        delay: float = 1.0,
        tell_wait: TellWait = lambda host, seconds: None,
        max_bytes: int = DEFAULT_MAX_BYTES,
    ) -> None:
        useful = transformable_types(TransformOptions())
        limits = HttpLimits(body=max_bytes)
        http = HttpFetcher(HttpOptions(user_agent=f"Motherlode/{VERSION}", limits=limits, allow=allow, useful=useful))
        self._max_bytes = max_bytes
        frontier = Frontier(
            storage=MemoryStorage(),
            policy=policy_from("bfs"),
            scope=lambda url: "",
            read_rules=RobotsRules,
            politeness=Politeness(delay=delay, by_address=True, adaptive=True),
        )
        self._fetcher = PoliteFetcher(frontier, http, resolve=http.resolve, tell_wait=tell_wait)

    async def page(self, url: str, *, base: str | None = None, media_type: str = "") -> InputSource:
        """Fetch a page and follow redirects. `base` and `media_type` replace the URL and the type of the response."""
        address = canonical(url)
        if address is None:
            raise JobError(f"{url!r} is not an http or https URL")
        visited: set[str] = set()
        while address not in visited and len(visited) <= MAX_REDIRECTS:
            visited.add(address)
            fetched = await self._fetcher.fetch(Request(url=address))
            if isinstance(fetched, Page):
                if fetched.truncated and len(fetched.body) >= self._max_bytes:
                    raise too_long(address, self._max_bytes)
                return _make_source(fetched, base=base, media_type=media_type)
            if fetched.kind is FailureKind.TOO_LARGE:
                raise too_long(address, self._max_bytes)
            if fetched.kind is FailureKind.ROBOTS:
                raise JobError(f"{address} may not be fetched: {fetched.detail}")
            if fetched.kind is not FailureKind.REDIRECT:
                raise JobError(f"{address} could not be fetched: {fetched.kind.value}, {fetched.detail}")
            address = fetched.location
        how = "in a circle" if address in visited else f"more than {MAX_REDIRECTS} times"
        raise JobError(f"{url} redirects {how}")

    async def contexts(self, urls: Iterable[str]) -> dict[str, bytes]:
        """Return the JSON-LD contexts that could be fetched and are not longer than the limit of a context."""
        found = {url: await self._fetcher.context(url) for url in urls}
        return {url: body for url, body in found.items() if body is not None and len(body) <= _MAX_CONTEXT_BYTES}

    async def close(self) -> None:
        await self._fetcher.close()


def _make_source(page: Page, *, base: str | None, media_type: str) -> InputSource:
    return InputSource(
        url=base or page.url,
        content_type=media_type or page.content_type,
        body=page.body,
        contexts=context_links(page.headers, page_url=page.url),
    )
