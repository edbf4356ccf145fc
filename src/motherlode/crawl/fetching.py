"""One page by its address, without a crawl, and as gently as in one."""

from __future__ import annotations

from motherlode import __version__
from motherlode.crawl.errors import JobError
from motherlode.crawl.polite import PoliteFetcher, TellWait
from motherlode.crawl.single import Source
from motherlode.fetch import HttpFetcher, HttpOptions, RobotsRules
from motherlode.frontier import MAX_REDIRECTS, Frontier, MemoryLedger, Politeness
from motherlode.model import FailureKind, Page, Request
from motherlode.policy import policy_from
from motherlode.www.urls import canonical


async def fetch_source(
    url: str,
    *,
    base: str | None,
    media_type: str,
    allow: tuple[str, ...],
    delay: float = 1.0,
    tell_wait: TellWait = lambda host, seconds: None,
) -> Source:
    """Fetch one page by its address, redirects followed, each as gently and by the same rules as in a crawl."""
    address = canonical(url)
    if address is None:
        raise JobError(f"{url!r} is not an http or https URL")
    fetcher = _polite_fetcher(allow=allow, delay=delay, tell_wait=tell_wait)
    asked: set[str] = set()
    try:
        while address not in asked and len(asked) <= MAX_REDIRECTS:
            asked.add(address)
            fetched = await fetcher.fetch(Request(url=address))
            if isinstance(fetched, Page):
                content_type = media_type or fetched.content_type
                return Source(url=base or fetched.url, content_type=content_type, body=fetched.body)
            if fetched.kind is FailureKind.ROBOTS:
                raise JobError(f"{address} may not be fetched: {fetched.detail}")
            if fetched.kind is not FailureKind.REDIRECT:
                raise JobError(f"{address} could not be fetched: {fetched.kind.value}, {fetched.detail}")
            address = fetched.location
    finally:
        await fetcher.close()
    where = "in a circle" if address in asked else f"through more than {MAX_REDIRECTS} redirects"
    raise JobError(f"{url} leads {where}")


def _polite_fetcher(*, allow: tuple[str, ...], delay: float, tell_wait: TellWait) -> PoliteFetcher:
    """A frontier that knows no URL keeps the clocks and the rules of whoever is asked."""
    http = HttpFetcher(HttpOptions(user_agent=f"Motherlode/{__version__}", allow=allow))
    frontier = Frontier(
        ledger=MemoryLedger(),
        policy=policy_from("bfs"),
        scope=lambda url: "",
        read_rules=RobotsRules,
        politeness=Politeness(delay=delay, by_address=True, adaptive=True),
    )
    return PoliteFetcher(frontier, http, resolve=http.resolve, tell_wait=tell_wait)
