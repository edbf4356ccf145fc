"""Calls of transformation services: the choice among several URLs, and further attempts after a failure."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence

from motherlode.crawler.parsing.messages import ServiceResponse
from motherlode.model import Failure, FailureKind, Fetched, Page, Posting, Request, RequestKind
from motherlode.runtime import SYSTEM_CLOCK, Clock
from motherlode.transform.options import ACCEPT_FROM_SERVICE, Service
from motherlode.www.media_types import essence, fits

_PAUSE_SECONDS = 10.0
"""Seconds for which a service URL that failed gets no request, unless all URLs of the service have failed."""
_RETRY_SECONDS = 0.5
"""Pause before the second attempt at the same URL. It doubles with each attempt."""
_MAY_PASS = frozenset(
    {
        *(FailureKind.TOO_MANY, FailureKind.UNAVAILABLE, FailureKind.SERVER_ERROR, FailureKind.DNS),
        *(FailureKind.NO_DNS, FailureKind.CONNECT, FailureKind.TLS, FailureKind.TIMEOUT, FailureKind.RESET),
        FailureKind.PROTOCOL,
    }
)
"""Failures after which another attempt may succeed."""
SendRequest = Callable[[Request], Awaitable[Fetched]]


class ServiceClient:
    """Sends pages to transformation services.

    `polite` obeys the delays of the host. `direct` sends a request at once; it is used for the user's own services.
    """

    def __init__(
        self, services: Sequence[Service], *, polite: SendRequest, direct: SendRequest, clock: Clock = SYSTEM_CLOCK
    ) -> None:
        self._services = services
        self._polite = polite
        self._direct = direct
        self._clock = clock
        self._in_work: Counter[str] = Counter()
        """Number of requests without a response, by URL."""
        self._sent: Counter[str] = Counter()
        self._paused_until: dict[str, float] = {}

    async def transform(self, page: Page) -> ServiceResponse | None:
        """Return the response of the service for the page's media type. None if there is no such service."""
        media_type = essence(page.content_type)
        service = next((service for service in self._services if fits(service.media_type, media_type)), None)
        if service is None:
            return None
        if len(page.body) > service.most_sent:
            return ServiceResponse(failure=f"{len(page.body)} bytes are more than the service is given")
        return await self._try_urls(service, page)

    async def _try_urls(self, service: Service, page: Page) -> ServiceResponse:
        tried: list[str] = []
        while True:
            url = self._choose_url(service.urls, tried)
            if url in tried:
                await asyncio.sleep(_RETRY_SECONDS * 2 ** (tried.count(url) - 1))
            tried.append(url)
            fetched = await self._post(service, url, page)
            if not isinstance(fetched, Failure):
                self._paused_until.pop(url, None)
                return ServiceResponse(content_type=fetched.content_type, body=fetched.body)
            self._paused_until[url] = self._clock.now() + _PAUSE_SECONDS
            if fetched.kind not in _MAY_PASS or len(tried) > service.retries:
                attempts = f" (attempt {len(tried)}, {url})" if len(tried) > 1 else ""
                return ServiceResponse(failure=f"{fetched.kind.value}: {fetched.detail}{attempts}")

    def _choose_url(self, urls: Sequence[str], tried: Sequence[str]) -> str:
        """Return the URL with the fewest requests among those that were tried least and have not failed recently."""
        now = self._clock.now()

        def rank(url: str) -> tuple[int, bool, int, int]:
            return tried.count(url), self._paused_until.get(url, 0.0) > now, self._in_work[url], self._sent[url]

        return min(urls, key=rank)

    async def _post(self, service: Service, url: str, page: Page) -> Fetched:
        headers = {"Content-Type": page.content_type, "Content-Location": page.url}
        posting = Posting(body=page.body, headers=headers, seconds=service.seconds)
        request = Request(url=url, kind=RequestKind.SUBREQUEST, accept=ACCEPT_FROM_SERVICE, posting=posting)
        self._in_work[url] += 1
        self._sent[url] += 1
        try:
            return await (self._direct if service.own else self._polite)(request)
        finally:
            self._in_work[url] -= 1
