"""Sending the request that a lease allows."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from motherlode.frontier import Frontier, Lease
from motherlode.model import Failure, Fetched, Fetcher, Request, RequestKind
from motherlode.runtime import Clock

Resolve = Callable[[str], Awaitable[str | Failure]]
"""From a URL to the IP address of its host."""


async def unresolvable(url: str) -> str | Failure:
    """Stand for the resolver of a web without IP addresses."""
    raise ValueError(f"internal error: the frontier wants an IP address for {url}, but there is no resolver")


def ended_at(response: Fetched, clock: Clock) -> float:
    """Return when the request ended: now, or in an earlier run if the journal had kept the response."""
    now = clock.now()
    return min(now, response.fetched_at + response.elapsed) if response.recalled else now


class RequestRunner:
    """Sends requests and reports each response to the frontier. Engine and PoliteFetcher have one each."""

    def __init__(self, frontier: Frontier, fetcher: Fetcher, clock: Clock, *, resolve: Resolve = unresolvable) -> None:
        self._frontier = frontier
        self._fetcher = fetcher
        self._clock = clock
        self._resolve = resolve

    async def resolve(self, lease: Lease) -> str | Failure:
        """Look up the IP address that a RESOLVE lease asks for."""
        return await self._resolve(lease.url)

    async def send(self, lease: Lease, request: Request | None = None) -> Fetched:
        """Send the lease's own request, or another one in its place. The host's delay starts at the response."""
        response = await self._fetcher.fetch(lease if request is None else request)
        # a failed connection to one of several addresses says nothing about the host's response time
        elapsed = 0.0 if isinstance(response, Failure) and response.elsewhere else response.elapsed
        now = ended_at(response, self._clock)
        self._frontier.response_received(lease, now, elapsed=elapsed, address=response.address)
        return response

    async def run(self, lease: Lease, request: Request | None = None) -> Fetched | str:
        """Do what the lease allows. Return the response; for a RESOLVE lease the IP address, or the failure."""
        if lease.kind is RequestKind.RESOLVE:
            return await self.resolve(lease)
        return await self.send(lease, request)

    async def close(self) -> None:
        await self._fetcher.close()
