"""Subrequests: what a page needs from other servers before it can be parsed completely. All are polite."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence

from motherlode.crawler.engine.request_runner import Resolve, unresolvable
from motherlode.crawler.engine.robots_and_dns import ForgetResponse, PoliteFetcher, ignore_response
from motherlode.crawler.parsing.messages import MAX_CONTEXTS, ParsedPage, ServiceResponse, SubrequestResults
from motherlode.frontier import Frontier
from motherlode.model import Failure, Fetcher, Page, Posting, Request, RequestKind
from motherlode.runtime import SYSTEM_CLOCK, Clock
from motherlode.transform.options import ACCEPT as RDF_ANSWERS
from motherlode.transform.options import Service
from motherlode.www.media_types import essence, fits

_CACHED = 1000
_CONTEXTS_SECONDS = 120.0
"""Seconds that a page waits for the delays of the hosts of its contexts, in all: a Crawl-delay may be a day."""


class Subrequests:
    """Fetches JSON-LD contexts, once each, and calls transformation services."""

    def __init__(
        self,
        frontier: Frontier,
        fetcher: Fetcher,
        *,
        services: Sequence[Service],
        fetch_contexts: bool,
        resolve: Resolve = unresolvable,
        forget: ForgetResponse = ignore_response,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._polite = PoliteFetcher(frontier, fetcher, resolve=resolve, forget=forget, clock=clock)
        self._clock = clock
        self._services = services
        self._fetch_contexts = fetch_contexts
        self._contexts: OrderedDict[str, asyncio.Task[bytes | None]] = OrderedDict()

    async def supplies(self, page: Page, reading: ParsedPage) -> SubrequestResults | None:
        """Return what the page needs and can have; None if parsing it again would change nothing."""
        contexts: dict[str, bytes] = {}
        if self._fetch_contexts and reading.wanted:
            wait_until = self._clock.now() + _CONTEXTS_SECONDS
            for url in reading.wanted[:MAX_CONTEXTS]:
                found = await self._context(url, wait_until)
                if found is not None:
                    contexts[url] = found
        service = self._service(page)
        answer = await self._ask(service, page) if service is not None else None
        return SubrequestResults(contexts=contexts, service=answer) if contexts or answer is not None else None

    async def close(self) -> None:
        """Cancel the requests for contexts."""
        tasks = list(self._contexts.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _context(self, url: str, wait_until: float) -> bytes | None:
        """Return a context, fetched once and cached; None if it could not be had."""
        if url not in self._contexts:
            self._contexts[url] = asyncio.create_task(self._polite.context(url, wait_until=wait_until))
            if len(self._contexts) > _CACHED:
                self._contexts.popitem(last=False)
        return await asyncio.shield(self._contexts[url])

    def _service(self, page: Page) -> Service | None:
        media_type = essence(page.content_type)
        return next((service for service in self._services if fits(service.media_type, media_type)), None)

    async def _ask(self, service: Service, page: Page) -> ServiceResponse:
        if len(page.body) > service.most_sent:
            return ServiceResponse(failure=f"{len(page.body)} bytes are more than the service is given")
        headers = {"Content-Type": page.content_type, "Content-Location": page.url}
        posting = Posting(body=page.body, headers=headers, seconds=service.seconds)
        request = Request(url=service.url, kind=RequestKind.SUBREQUEST, accept=RDF_ANSWERS, posting=posting)
        fetched = await self._polite.fetch(request)
        if isinstance(fetched, Failure):
            return ServiceResponse(failure=f"{fetched.kind.value}: {fetched.detail}")
        return ServiceResponse(content_type=fetched.content_type, body=fetched.body)
