"""From a lease to its result: request, parser, subrequests, writer. Many leases pass through it at the same time."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from motherlode.crawler.engine.components import Components
from motherlode.crawler.engine.lease_result import LeaseResult
from motherlode.crawler.engine.limits import Slots
from motherlode.crawler.engine.request_runner import RequestRunner
from motherlode.crawler.parsing.messages import READ_HEADERS, PageBody, ParsedPage, syntaxes
from motherlode.crawler.parsing.parser_pool import UnreadableError
from motherlode.crawler.stats.counters import Counters
from motherlode.frontier import Lease
from motherlode.index import PageRecord
from motherlode.model import Failure, FailureKind, Fetched, Page, Request, RequestKind
from motherlode.runtime import Clock


class LeasePipeline:
    """Fetches, parses and stores what a lease allows. It ends no lease: `Settlement` does."""

    def __init__(
        self,
        parts: Components,
        slots: Slots,
        counters: Counters,
        *,
        clock: Clock,
        on_response: Callable[[], None] = lambda: None,
    ) -> None:
        self._parts = parts
        self._frontier = parts.frontier
        self._runner = RequestRunner(parts.frontier, parts.fetcher, clock, resolve=parts.resolve)
        self._slots = slots
        self._counters = counters
        self._clock = clock
        self._on_response = on_response
        """Called when the host of a request may be ready for the next one."""

    async def run(self, result: LeaseResult) -> None:
        """Fill in the result: an IP address, a failure, or a page with what was parsed from it."""
        lease = result.lease
        result.began = self._clock.now()
        if lease.kind is RequestKind.RESOLVE:
            found = await self._runner.resolve(lease)
            if isinstance(found, str):
                result.address = found
            else:
                result.response = found
        elif (
            lease.kind is RequestKind.PAGE and not lease.is_revisit and self._parts.prober.wants(lease.kind, lease.url)
        ):
            await self._probe(result)
        else:
            await self._fetch(result)

    async def _fetch(self, result: LeaseResult) -> None:
        lease, revisits = result.lease, self._parts.revisits
        is_known = lease.is_revisit
        request = revisits.request(lease, self._clock.now()) if is_known else lease
        response = await self._send(result, request)
        await self._parts.archive.add(request, response)
        if is_known:
            response = revisits.judged(lease, response)
        result.response = response
        if isinstance(response, Page) and lease.kind is RequestKind.PAGE:
            result.is_arrived = True
            try:
                result.parsed = await self._parse(result, response)
            except UnreadableError as error:
                result.response = Failure(
                    url=response.url, kind=FailureKind.PROCESSING, detail=str(error), status=response.status
                )

    async def _probe(self, result: LeaseResult) -> None:
        """Use the lease for a HEAD. If the page is worth a GET, it gets another lease for that."""
        lease = result.lease
        request = Request(url=lease.url, kind=RequestKind.PROBE)
        response = await self._send(result, request)
        self._counters.heads += 1
        failure = self._parts.prober.verdict(lease.url, response)
        result.response = response if failure is None else failure
        result.is_probe_passed = failure is None
        if failure is not None:  # otherwise the response to the GET is archived
            await self._parts.archive.add(request, response)

    async def _send(self, result: LeaseResult, request: Request) -> Fetched:
        lease = result.lease
        with self._slots.waiting(result, self._clock.now(), usual=self._frontier.usual_response_time(lease)):
            response = await self._runner.send(lease, request)
        result.is_released = True
        self._on_response()
        return response

    async def _parse(self, result: LeaseResult, page: Page) -> ParsedPage:
        """Parse a page, a second time if it needs subrequests, and hand it to the writer."""
        body = body_of(page)
        parsed = await self._parts.readers.read(body)
        with self._slots.waiting(result, self._clock.now()):  # the servers of subrequests may be slow as well
            supplies = await self._parts.subrequests.supplies(page, parsed)
        if supplies is not None:
            parsed = await self._parts.readers.read(msgspec.structs.replace(body, supplies=supplies))
        await self._parts.writer.put(page_record(result.lease, page, parsed, now=self._clock.now()))
        return parsed


def body_of(page: Page) -> PageBody:
    """Return the part of a page that its parser gets."""
    headers = {name: page.headers[name] for name in READ_HEADERS if name in page.headers}
    return PageBody(url=page.url, content_type=page.content_type, body=page.body, headers=headers, at=page.fetched_at)


def page_record(lease: Lease, page: Page, parsed: ParsedPage, *, now: float) -> PageRecord:
    """Return what the store keeps of a page."""
    return PageRecord(
        url=page.url,
        fetched_at=page.fetched_at or now,
        status=page.status,
        graph_quads=parsed.graph_quads,
        union_quads=parsed.union_quads,
        quads=parsed.quads,
        graphs=parsed.graphs,
        media_type=page.content_type,
        kind=parsed.kind,
        syntaxes=syntaxes(parsed),
        says=parsed.says,
        content_hash=parsed.content_hash,
        size=len(page.body),
        referrer=lease.entry.parent_url,
    )
