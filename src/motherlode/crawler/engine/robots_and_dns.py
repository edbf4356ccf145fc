"""DNS, then robots.txt, then the page: the order in which a host is contacted, for queues and single requests.

The frontier decides which of the three comes next, and `send_request` sends it. `RobotsAndDns` decides what the
response to one of the first two means. `PoliteFetcher` sends single requests that are in no queue through the same
steps.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from math import inf
from typing import Protocol

from motherlode.crawler.engine.scheduler import Scheduler
from motherlode.fetch import RobotsRules, robots_body, robots_lifetime
from motherlode.frontier import End, Frontier, Lease
from motherlode.frontier.host_queue import HostQueue
from motherlode.links.headers import header_links
from motherlode.model import Failure, FailureKind, Fetched, Fetcher, Page, Request, RequestKind
from motherlode.runtime import SYSTEM_CLOCK, Clock
from motherlode.www.media_types import essence
from motherlode.www.urls import canonical, host_of, origin_of

Resolve = Callable[[str], Awaitable[str | Failure]]
"""Returns the IP address of a URL's host, or why it cannot be found."""
TellWait = Callable[[str, float], None]
"""Called with a host and the seconds until it may get the next request."""
ForgetResponse = Callable[[RequestKind, str], None]
"""Called with kind and URL of a request when its stored response is not needed any more."""
OnRules = Callable[[Lease, bytes], None]
"""Called with the content of a robots.txt that a page of a queue waited for."""

JSON_LD = "application/ld+json"
DISALLOW_ALL = b"User-agent: *\nDisallow: /\n"
_MAX_CONTEXT_BYTES = 1 << 20
_MAX_CONTEXT_HOPS = 6
NEVER_SENT = frozenset({FailureKind.GUARD, FailureKind.SCHEME})
"""Failures by a rule of ours, such as the address guard. No request was sent, and a retry would not help."""
_UNREACHABLE = frozenset(
    {
        *(FailureKind.DNS, FailureKind.NO_DNS, FailureKind.CONNECT, FailureKind.TLS, FailureKind.CERTIFICATE),
        *(FailureKind.TIMEOUT, FailureKind.INTERNAL, *NEVER_SENT),
    }
)
"""Failures of a robots.txt that are failures of its host: the page that waits for it fails in the same way."""


def ignore_response(kind: RequestKind, url: str) -> None:
    """Do nothing: there is no journal."""


def ignore_rules(lease: Lease, robots: bytes) -> None:
    """Do nothing: sitemaps are not wanted."""


async def unresolvable(url: str) -> str | Failure:
    """Stand for the resolver of a web without IP addresses."""
    raise ValueError(f"internal error: the frontier wants an IP address for {url}, but there is no resolver")


def ended_at(response: Fetched, clock: Clock) -> float:
    """Return when the request ended: now, or in an earlier run if the journal had kept the response."""
    now = clock.now()
    return min(now, response.fetched_at + response.elapsed) if response.recalled else now


async def send_request(lease: Lease, request: Request, fetcher: Fetcher, frontier: Frontier, clock: Clock) -> Fetched:
    """Send the request that a lease allows, and report the response to the frontier, where the delay starts."""
    response = await fetcher.fetch(request)
    # a failed connection to one of several addresses says nothing about the host's response time
    was_sent = not (isinstance(response, Failure) and response.has_other_address)
    elapsed, address = response.elapsed if was_sent else 0.0, response.address
    frontier.response_received(lease, ended_at(response, clock), elapsed=elapsed, address=address, was_sent=was_sent)
    return response


class Names(Protocol):
    """Looks up IP addresses (DNS) of hosts that will be contacted soon."""

    @property
    def lookups_free(self) -> int:
        """Number of look-ups that may start now."""
        ...

    def look_up_ahead(self, host: str) -> None:
        """Start to look up a host."""
        ...


class NoNames:
    """Stands for the DNS of a recorded web, which has no IP addresses."""

    lookups_free = 0

    def look_up_ahead(self, host: str) -> None:
        """Do nothing."""


def look_up_ahead(queue: HostQueue, names: Names) -> None:
    """Look up hosts whose arms the policy may pick soon, so that their leases need not wait for it."""
    if queue.has_unresolved and (free := names.lookups_free):
        for host in queue.take_unresolved(free):
            names.look_up_ahead(host)


class RobotsAndDns:
    """Ends the leases of DNS lookups and robots.txt files."""

    def __init__(
        self, frontier: Frontier, *, forget: ForgetResponse = ignore_response, on_rules: OnRules = ignore_rules
    ) -> None:
        self._frontier = frontier
        self._forget = forget
        self._on_rules = on_rules
        self._redirected: dict[str, list[str]] = {}
        """URLs that redirected, by host, if the robots.txt of the host was redirected."""

    def settle(self, lease: Lease, response: Fetched | str, now: float) -> Failure | None:
        """End the lease of a DNS lookup or robots.txt. Return the failure of the page that waits for it, or None.

        A lease of a queue is not ended then, because the failure decides when the page is tried again.
        """
        if isinstance(response, str):
            self._frontier.end(lease, End.RESOLVED, now, address=response)
            return None
        if isinstance(response, Failure) and lease.kind is RequestKind.RESOLVE:
            return self._fail(lease, response, now)
        if isinstance(response, Failure) and response.has_other_address:
            self._forget(RequestKind.ROBOTS, lease.url)
            self._frontier.end(lease, End.NEXT_ADDRESS, now, failure=response)
            return None
        if isinstance(response, Failure) and response.kind is FailureKind.REDIRECT:
            is_followed = self._frontier.end(lease, End.ROBOTS_MOVED, now, failure=response) is not None
            if is_followed and not lease.is_subrequest:
                # no commit knows of this redirect: after a kill the robots.txt is requested from its first URL
                self._redirected.setdefault(lease.host, []).append(lease.url)
            else:
                self._forget_responses(lease)
            return None
        self._forget_responses(lease)
        return self._read(lease, response, now)

    def _read(self, lease: Lease, response: Fetched, now: float) -> Failure | None:
        failure = response if isinstance(response, Failure) else None
        body = robots_body(response)
        if body is not None:
            lasts = robots_lifetime(response)
            self._frontier.end(lease, End.ROBOTS_READ, now, failure=failure, robots=body, lasts=lasts)
            if not lease.is_subrequest:
                self._on_rules(lease, body)
            return None
        if failure is None:
            raise ValueError(f"internal error: {lease.url} gave a page without rules")
        if lease.is_subrequest:
            return self._refuse_subrequest(lease, failure, now)
        if failure.kind in NEVER_SENT and host_of(lease.url) != lease.host:
            self._frontier.end(lease, End.ROBOTS_READ, now, robots=DISALLOW_ALL)  # RFC 9309, 2.3.1.4, for a day
            return None
        if failure.kind in _UNREACHABLE:
            return failure
        self._frontier.end(lease, End.ROBOTS_UNREADABLE, now, failure=failure)
        return None

    def _refuse_subrequest(self, lease: Lease, failure: Failure, now: float) -> Failure:
        if failure.status is None:  # the host cannot be reached, so the request itself would fail as well
            return self._fail(lease, failure, now)
        self._frontier.end(lease, End.ROBOTS_UNREADABLE, now, failure=failure)
        detail = (
            f"{lease.url} cannot be read now, so that nothing of its host is allowed now "
            f"(the server answered {failure.status}); try again later"
        )
        return Failure(url=lease.url, kind=FailureKind.ROBOTS, detail=detail)

    def _fail(self, lease: Lease, failure: Failure, now: float) -> Failure:
        if lease.is_subrequest:
            self._frontier.end(lease, End.FAILED, now, failure=failure)
        return failure

    def _forget_responses(self, lease: Lease) -> None:
        """Let the journal drop the responses: the next commit knows what followed from them."""
        self._forget(RequestKind.ROBOTS, lease.url)
        if not lease.is_subrequest:
            for url in self._redirected.pop(lease.host, ()):
                self._forget(RequestKind.ROBOTS, url)


def sitemap_adder(scheduler: Scheduler, *, usual: bool) -> OnRules:
    """Return a function that adds the sitemaps of a robots.txt; with `usual`, /sitemap.xml if it names none."""

    def add(lease: Lease, robots: bytes) -> None:
        named = RobotsRules(robots).sitemaps
        scheduler.add_sitemaps(named, base=lease.url)
        if not named and usual:
            scheduler.add_sitemaps(["/sitemap.xml"], base=origin_of(lease.entry.url) + "/")

    return add


class PoliteFetcher:
    """Fetches single URLs when delays and robots.txt allow it."""

    def __init__(
        self,
        frontier: Frontier,
        fetcher: Fetcher,
        *,
        resolve: Resolve = unresolvable,
        tell_wait: TellWait = lambda host, seconds: None,
        forget: ForgetResponse = ignore_response,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._frontier = frontier
        self._fetcher = fetcher
        self._resolve = resolve
        self._robots_and_dns = RobotsAndDns(frontier, forget=forget)
        self._tell_wait = tell_wait
        self._clock = clock

    async def fetch(self, request: Request, *, wait_until: float = inf) -> Fetched:
        """Fetch a canonical URL and return the response. Redirects are returned, not followed.

        The user chose where a POST goes, so only the delays count for it. If the delays allow no request before
        `wait_until`, none is sent.
        """
        url = request.url
        while True:
            lease = self._frontier.lease_for(url, self._clock.now(), obey_robots=request.posting is None)
            if lease is None:
                detail = f"{origin_of(url)}/robots.txt disallows it"
                return Failure(url=url, kind=FailureKind.ROBOTS, detail=detail)
            if isinstance(lease, float):
                if lease > wait_until:
                    return Failure(url=url, kind=FailureKind.TIMEOUT, detail="its host may not be asked so soon")
                seconds = lease - self._clock.now()
                self._tell_wait(host_of(url), seconds)
                await asyncio.sleep(max(0.005, seconds))
            elif lease.kind is RequestKind.SUBREQUEST:
                response = await send_request(lease, request, self._fetcher, self._frontier, self._clock)
                if self._end(lease, response):
                    return response
            elif (failure := await self._get_prerequisite(lease)) is not None:
                return replace(failure, url=url)

    async def _get_prerequisite(self, lease: Lease) -> Failure | None:
        """Look up the IP address or fetch the robots.txt. Return the failure of the request that needs it, or None."""
        if lease.kind is RequestKind.RESOLVE:
            return self._robots_and_dns.settle(lease, await self._resolve(lease.url), self._clock.now())
        response = await send_request(lease, lease, self._fetcher, self._frontier, self._clock)
        return self._robots_and_dns.settle(lease, response, ended_at(response, self._clock))

    async def context(self, url: str, *, wait_until: float = inf) -> bytes | None:
        """Return a JSON-LD context, following redirects and alternates; None if it does not arrive in time."""
        address = canonical(url)
        for _ in range(_MAX_CONTEXT_HOPS):
            if address is None:
                return None
            request = Request(url=address, kind=RequestKind.SUBREQUEST, accept=JSON_LD)
            fetched = await self.fetch(request, wait_until=wait_until)
            if isinstance(fetched, Failure):
                address = fetched.location if fetched.kind is FailureKind.REDIRECT else None
                continue
            address = _alternate(fetched)
            if address is None:
                return fetched.body if len(fetched.body) <= _MAX_CONTEXT_BYTES else None
        return None

    async def close(self) -> None:
        await self._fetcher.close()

    def _end(self, lease: Lease, response: Fetched) -> bool:
        """End the lease of the request itself. Return False if it is to be sent to another IP address."""
        failure = response if isinstance(response, Failure) else None
        how = End.NEXT_ADDRESS if failure is not None and failure.has_other_address else End.SUBREQUEST_DONE
        self._frontier.end(lease, how, ended_at(response, self._clock), failure=failure)
        return how is End.SUBREQUEST_DONE


def _alternate(page: Page) -> str | None:
    """Return where a page that is not JSON has its JSON-LD (JSON-LD 1.1 API, section 9.4.1, LoadDocumentCallback)."""
    media_type = essence(page.content_type)
    if media_type == "application/json" or media_type.endswith("+json"):
        return None
    links = header_links(page.headers, page_url=page.url)
    return next((link.url for link in links if "alternate" in link.rel.split() and link.type == JSON_LD), None)
