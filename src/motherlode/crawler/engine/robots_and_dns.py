"""Single requests outside any queue. They pass what every request of a crawl passes: the clocks of host and address,
and the host's robots.txt, which is asked for first."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from math import inf

from motherlode.crawler.engine.scheduler import Scheduler
from motherlode.fetch import ResponseJournal, RobotsRules, robots_body, robots_lifetime
from motherlode.frontier import End, Frontier, Lease
from motherlode.links import header_links
from motherlode.model import Failure, FailureKind, Fetched, Fetcher, Page, Request, RequestKind
from motherlode.www.media_types import essence
from motherlode.www.urls import canonical, host_of, origin_of

Resolve = Callable[[str], Awaitable[str | Failure]]
"""From a URL to the address of its host."""
TellWait = Callable[[str, float], None]
"""Told of a host and the seconds that its clock makes us wait."""

JSON_LD = "application/ld+json"
_MOST_CONTEXT_BYTES = 1 << 20
_MOST_HOPS = 6


def ended_at(fetched: Fetched) -> float:
    """When the request ended, by the clock of the wall: for an answer that an earlier run got, in that run.

    Never later than now: the clock may have been set back since that run.
    """
    now = time.time()
    return min(now, fetched.fetched_at + fetched.elapsed) if fetched.recalled else now


def answered_in(fetched: Fetched) -> float:
    """Seconds that the answer took; 0 where nobody was met at one of several addresses, which tells of no other."""
    return 0.0 if _goes_elsewhere(fetched) else fetched.elapsed


class PoliteFetcher:
    """Gives a page or a failure, when the clocks allow. What the rules forbid is a failure that names their file."""

    def __init__(
        self,
        frontier: Frontier,
        fetcher: Fetcher,
        *,
        resolve: Resolve | None,
        tell_wait: TellWait = lambda host, seconds: None,
        journal: ResponseJournal | None = None,
    ) -> None:
        self._frontier = frontier
        self._fetcher = fetcher
        self._resolve = resolve
        self._tell_wait = tell_wait
        self._journal = journal

    async def fetch(self, request: Request, *, wait_until: float = inf) -> Fetched:
        """The answer for a canonical URL. Redirects are answers, so that each target is asked for anew.

        What is posted goes where the user said, so that only the clocks count for it. Where they allow no request
        before `wait_until`, there is none.
        """
        url = request.url
        while True:
            leave = self._frontier.lease_for(url, time.time(), obey_robots=request.posting is None)
            if leave is None:
                detail = f"{origin_of(url)}/robots.txt disallows it"
                return Failure(url=url, kind=FailureKind.ROBOTS, detail=detail)
            if isinstance(leave, float):
                if leave > wait_until:
                    return Failure(url=url, kind=FailureKind.TIMEOUT, detail="its host may not be asked so soon")
                await self._wait(host_of(url), leave)
                continue
            if leave.kind is RequestKind.SUBREQUEST:
                fetched = await self._ask(leave, request)
                failure = fetched if isinstance(fetched, Failure) else None
                if _goes_elsewhere(fetched):
                    self._frontier.end(leave, End.NEXT_ADDRESS, ended_at(fetched), failure=failure)
                    continue
                self._frontier.end(leave, End.SUBREQUEST_DONE, ended_at(fetched), failure=failure)
                return fetched
            learn = self._learn_address if leave.kind is RequestKind.RESOLVE else self._learn_rules
            failure = await learn(leave)
            if failure is not None:
                return replace(failure, url=url)

    async def context(self, url: str, *, wait_until: float = inf) -> bytes | None:
        """A JSON-LD context, redirects and alternates followed; None where it cannot be had, or not soon."""
        address = canonical(url)
        for _ in range(_MOST_HOPS):
            if address is None:
                return None
            request = Request(url=address, kind=RequestKind.SUBREQUEST, accept=JSON_LD)
            fetched = await self.fetch(request, wait_until=wait_until)
            if isinstance(fetched, Failure):
                address = fetched.location if fetched.kind is FailureKind.REDIRECT else None
                continue
            address = _alternate(fetched)
            if address is None:
                return fetched.body if len(fetched.body) <= _MOST_CONTEXT_BYTES else None
        return None

    async def close(self) -> None:
        await self._fetcher.close()

    async def _wait(self, host: str, until: float) -> None:
        seconds = until - time.time()
        self._tell_wait(host, seconds)
        await asyncio.sleep(max(0.005, seconds))

    async def _ask(self, leave: Lease, request: Request) -> Fetched:
        fetched = await self._fetcher.fetch(request)
        now = ended_at(fetched)
        self._frontier.response_received(leave, now, elapsed=answered_in(fetched), address=fetched.address)
        return fetched

    async def _learn_address(self, leave: Lease) -> Failure | None:
        if self._resolve is None:
            raise ValueError("the frontier asks for addresses, but nobody can look them up")
        found = await self._resolve(leave.url)
        if isinstance(found, Failure):
            self._frontier.end(leave, End.FAILED, time.time(), failure=found)
            return found
        self._frontier.end(leave, End.RESOLVED, time.time(), address=found)
        return None

    async def _learn_rules(self, leave: Lease) -> Failure | None:
        fetched = await self._ask(leave, Request(url=leave.url, kind=RequestKind.ROBOTS))
        if self._journal is not None:
            self._journal.settle(RequestKind.ROBOTS, leave.url)
        now, failure = ended_at(fetched), fetched if isinstance(fetched, Failure) else None
        if _goes_elsewhere(fetched):
            self._frontier.end(leave, End.NEXT_ADDRESS, now, failure=failure)
            return None
        if failure is not None and failure.kind is FailureKind.REDIRECT:
            self._frontier.end(leave, End.ROBOTS_MOVED, now, failure=failure)
            return None
        body = robots_body(fetched)
        if body is not None:
            self._frontier.end(
                leave, End.ROBOTS_READ, now, failure=failure, robots=body, lasts=robots_lifetime(fetched)
            )
            return None
        if failure is not None and failure.status is None:
            self._frontier.end(leave, End.FAILED, now, failure=failure)
            return failure  # nobody answers there, so that the page could not be had either
        self._frontier.end(leave, End.ROBOTS_UNREADABLE, now, failure=failure)
        detail = f"{leave.url} cannot be read now, so that nothing of its host is allowed now"
        status = f" (the server answered {fetched.status})" if fetched.status else ""
        return Failure(url=leave.url, kind=FailureKind.ROBOTS, detail=f"{detail}{status}; try again later")


def _goes_elsewhere(fetched: Fetched) -> bool:
    """Nobody was met, and the host has another address, at which the same is to be asked."""
    return isinstance(fetched, Failure) and fetched.elsewhere


def _alternate(page: Page) -> str | None:
    """Where a page that is no JSON says that its JSON-LD is (JSON-LD 1.1 API, section 9.4.1, LoadDocumentCallback)."""
    media_type = essence(page.content_type)
    if media_type == "application/json" or media_type.endswith("+json"):
        return None
    links = header_links(page.headers, page_url=page.url)
    return next((link.url for link in links if "alternate" in link.rel.split() and link.type == JSON_LD), None)


# ── A host introduces itself by its robots.txt: rules for the frontier, sitemaps to follow, or news that it is dead.

_UNREACHABLE = frozenset(
    {
        *(FailureKind.DNS, FailureKind.NO_DNS, FailureKind.CONNECT, FailureKind.TLS, FailureKind.CERTIFICATE),
        *(FailureKind.TIMEOUT, FailureKind.GUARD, FailureKind.SCHEME),
    }
)
"""Failures of a robots.txt that are failures of the host: the page behind it fails the same way."""
_NEVER = frozenset({FailureKind.GUARD, FailureKind.SCHEME})
"""Of these, those that stay as they are however often we ask."""
DISALLOW_ALL = b"User-agent: *\nDisallow: /\n"


class RobotsHandler:
    """Settles the tickets that asked for a robots.txt."""

    def __init__(
        self,
        frontier: Frontier,
        settler: Scheduler,
        journal: ResponseJournal | None = None,
        *,
        sitemaps: bool = True,
        usual_sitemaps: bool = False,
    ) -> None:
        self._frontier = frontier
        self._settler = settler
        self._journal = journal
        self._sitemaps = sitemaps
        self._usual_sitemaps = usual_sitemaps
        self._rerouted: dict[str, list[str]] = {}
        """Of hosts whose rules lie elsewhere: the requests that said so."""

    def settle(self, lease: Lease, fetched: Page | Failure) -> Failure | None:
        """The failure of the page that waited for these rules, where its host cannot be reached."""
        now = ended_at(fetched)
        if isinstance(fetched, Failure) and fetched.kind is FailureKind.REDIRECT:
            if self._frontier.end(lease, End.ROBOTS_MOVED, now, failure=fetched) is not None:
                self._rerouted.setdefault(lease.host, []).append(lease.url)
                return None  # no commit knows of this yet: after a kill the host's rules are asked for from the start
            self._forget_answers(lease)
            return None
        self._forget_answers(lease)
        body = robots_body(fetched)
        if body is not None:
            self._frontier.end(lease, End.ROBOTS_READ, now, robots=body, lasts=robots_lifetime(fetched))
            if self._sitemaps:
                self._offer_sitemaps(lease, body)
        elif isinstance(fetched, Failure):
            return self._without_rules(lease, fetched, now)
        return None

    def _without_rules(self, lease: Lease, failure: Failure, now: float) -> Failure | None:
        """The rules could not be had: who was asked for them is left alone, and so is the host that they are for."""
        lies_elsewhere = host_of(lease.url) != lease.host
        if lies_elsewhere and failure.kind in _NEVER:
            self._frontier.end(
                lease, End.ROBOTS_READ, now, robots=DISALLOW_ALL
            )  # RFC 9309, 2.3.1.4; tomorrow it is asked again
            return None
        if failure.kind in _UNREACHABLE:
            return self._settler.settle_failure(lease, failure, now)[0]
        self._frontier.end(lease, End.ROBOTS_UNREADABLE, now, failure=failure)
        return None

    def _offer_sitemaps(self, lease: Lease, body: bytes) -> None:
        named = RobotsRules(body).sitemaps
        self._settler.add_sitemaps(named, base=lease.url)
        if not named and self._usual_sitemaps:
            self._settler.add_sitemaps(["/sitemap.xml"], base=origin_of(lease.entry.url) + "/")

    def _forget_answers(self, lease: Lease) -> None:
        """The journal need not keep what came: the next commit knows what followed from it."""
        urls = (lease.url, *self._rerouted.pop(lease.host, ()))
        if self._journal is not None:
            for url in urls:
                self._journal.settle(RequestKind.ROBOTS, url)
