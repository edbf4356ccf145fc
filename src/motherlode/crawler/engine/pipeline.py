"""From a lease to its result: request, parser, subrequests, writer. Many leases pass through it at the same time."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from motherlode.crawler.engine.limits import LeaseResult, Slots, cancel
from motherlode.crawler.engine.robots_and_dns import (
    ForgetResponse,
    PoliteFetcher,
    Resolve,
    ignore_response,
    send_request,
    unresolvable,
)
from motherlode.crawler.engine.scheduler import Scheduler
from motherlode.crawler.engine.services import ServiceClient
from motherlode.crawler.parsing.messages import (
    MAX_CONTEXTS,
    READ_HEADERS,
    PageBody,
    ParsedPage,
    SubrequestResults,
)
from motherlode.crawler.parsing.parser_pool import UnreadableError
from motherlode.crawler.stats.counters import Counters
from motherlode.fetch import replaces_get
from motherlode.frontier import Entry, Frontier, Lease, UrlState
from motherlode.index.page_record import PageRecord, format_problem
from motherlode.model import Failure, FailureKind, Fetched, Fetcher, Page, Request, RequestKind, Syntax, Visit
from motherlode.model.usage import NO_PREFERENCES, UsagePreferences, combine_preferences
from motherlode.runtime import SYSTEM_CLOCK, Clock
from motherlode.transform.options import Service

if TYPE_CHECKING:
    from motherlode.crawler.engine.components import Components

_CACHED = 1000
_CONTEXTS_SECONDS = 120.0
"""Maximum seconds that a page waits for all its JSON-LD contexts. Their hosts may have long delays."""


class NoNotices:
    """The notices of a job without the table `[notices]`."""

    def start(self, totals: Counters) -> None:
        pass

    def note_visit(self, visit: Visit) -> None:
        pass

    def note_network(self, down_since: float | None) -> None:
        pass

    def note_disk(self, message: str) -> None:
        pass

    def send_end(self, *, is_broken: bool = False) -> None:
        pass

    async def end_run(self, *, is_broken: bool) -> None:
        pass

    async def close(self) -> None:
        pass


class NoProber:
    """Stands for a prober that sends no HEAD."""

    def wants(self, kind: RequestKind, url: str) -> bool:
        return False

    def verdict(self, url: str, response: Fetched) -> Failure | None:
        return None


class NoArchive:
    """Stands for an archive that keeps nothing."""

    async def add(self, request: Request, fetched: Fetched) -> None: ...

    def close(self) -> None: ...


class NoScorers:
    """Stands for a job whose target and reward need no scorer of the user."""

    is_wanted = False

    async def score(self, url: str, parsed: ParsedPage) -> ParsedPage:
        return parsed

    async def close(self) -> None: ...


class NoIndexQuery:
    """Stands for a job without a query over the index."""

    is_pending = False

    def note_change(self) -> None: ...

    def start_if_due(self) -> None: ...

    def add_results(self, scheduler: Scheduler, counters: Counters) -> int:
        return 0

    async def run_now(self, *, seconds: float = 0.0) -> None: ...

    def stop(self) -> None: ...

    async def close(self) -> None: ...


class LeasePipeline:
    """Fetches, parses and stores what a lease allows. It ends no lease: `Settlement` does."""

    def __init__(
        self,
        parts: Components,
        scheduler: Scheduler,
        slots: Slots,
        counters: Counters,
        *,
        clock: Clock,
        on_response: Callable[[], None] = lambda: None,
    ) -> None:
        self._parts = parts
        self._frontier = parts.frontier
        self._scheduler = scheduler
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
            with self._slots.looking_up(result, result.began):
                found = await self._parts.resolve(lease.url)
            if isinstance(found, str):
                result.address = found
            else:
                result.response = found
        elif self._scheduler.wants_header(lease):
            await self._read_header(result)
        elif not lease.is_revisit and self._parts.prober.wants(lease.kind, lease.url):
            await self._probe(result)
        else:
            await self._fetch(result)

    async def _fetch(self, result: LeaseResult) -> None:
        lease, revisits = result.lease, self._parts.revisits
        request = revisits.request(lease, self._clock.now()) if lease.is_revisit else lease
        response = await self._send(result, request)
        await self._parts.archive.add(request, response)
        if response.wire:
            response = replace(response, wire=b"")  # parsing may take long, and needs only the decoded body
        if lease.is_revisit:
            response = revisits.detect_unchanged(lease, response)
        result.response = response
        if isinstance(response, Page) and lease.kind is RequestKind.PAGE:
            result.is_arrived = True
            try:
                result.parsed = await self._parse(result, response)
            except UnreadableError as error:
                result.response = Failure(
                    url=response.url, kind=FailureKind.PROCESSING, detail=str(error), status=response.status
                )

    async def _read_header(self, result: LeaseResult) -> None:
        """Use the lease for a HEAD, because the policy wants the Content-Type header."""
        request, response = await self._send_head(result)
        result.response = response
        result.is_header_read = not (isinstance(response, Failure) and replaces_get(response.kind))
        result.is_probe_passed = result.is_header_read
        if not result.is_header_read:  # otherwise the response to the GET is archived
            await self._parts.archive.add(request, response)

    async def _send_head(self, result: LeaseResult) -> tuple[Request, Fetched]:
        request = Request(url=result.lease.url, kind=RequestKind.PROBE)
        result.is_head = True
        response = await self._send(result, request)
        self._counters.heads += 1
        return request, response

    async def _probe(self, result: LeaseResult) -> None:
        """Use the lease for a HEAD. If the page is worth a GET, it gets another lease for that."""
        lease = result.lease
        request, response = await self._send_head(result)
        failure = self._parts.prober.verdict(lease.url, response)
        result.response = response if failure is None else failure
        result.is_probe_passed = failure is None
        if failure is not None:  # otherwise the response to the GET is archived
            await self._parts.archive.add(request, response)

    async def _send(self, result: LeaseResult, request: Request) -> Fetched:
        lease = result.lease
        with self._slots.waiting(result, self._clock.now(), usual=self._frontier.usual_response_time(lease)):
            response = await send_request(lease, request, self._parts.fetcher, self._frontier, self._clock)
        result.is_released = True
        self._on_response()
        return response

    async def _parse(self, result: LeaseResult, page: Page) -> ParsedPage:
        """Parse a page, a second time if it needs subrequests, and hand it to the writer."""
        body = body_of(page, await self._site_preferences(result, page.url))
        parsed = await self._parts.readers.read(body)
        with self._slots.waiting(result, self._clock.now()):  # the servers of subrequests may be slow as well
            supplies = await self._parts.subrequests.supplies(page, parsed)
        if supplies is not None:
            parsed = await self._parts.readers.read(msgspec.structs.replace(body, supplies=supplies))
        headers = self._parts.describer.headers(page)
        record = page_record(result.lease, page, parsed, now=self._clock.now(), headers=headers)
        await self._parts.writer.put(record)
        if self._parts.scorers.is_wanted:
            with self._slots.waiting(result, self._clock.now()):
                parsed = await self._parts.scorers.score(page.url, parsed)
        return parsed

    async def _site_preferences(self, result: LeaseResult, url: str) -> UsagePreferences:
        """Return what the site says about the use of a page."""
        stated, files = self._frontier.robots_preferences(url), self._parts.tdm_files
        if not files.is_wanted:
            return stated
        with self._slots.waiting(result, self._clock.now()):
            await files.load(url)
        return combine_preferences([stated, files.preferences(url)])


def body_of(page: Page, site_preferences: UsagePreferences = NO_PREFERENCES) -> PageBody:
    """Return the part of a page that its parser gets, and what its site says about its use."""
    return PageBody(
        url=page.url,
        content_type=page.content_type,
        body=page.body,
        headers={name: page.headers[name] for name in READ_HEADERS if name in page.headers},
        at=page.fetched_at,
        site_preferences=site_preferences,
    )


def syntaxes(page: ParsedPage) -> tuple[str, ...]:
    """Return the syntaxes that have statements, without the page metadata."""
    return tuple(sorted(name for name in page.counts if name != Syntax.PAGE.value))


MAX_HEADER_CHARACTERS = 500
"""Maximum length of one header in the provenance; the rest is left out."""
MAX_HEADERS_CHARACTERS = 4_000
MAX_PROBLEMS = 20
"""Maximum number of problems of a page in its provenance. `motherlode pages` lists all that a visit keeps."""


class UrlDescriber:
    """Makes the records of URLs for the provenance graph. `level` is the job key `describe`."""

    def __init__(self, level: str = "pages", headers: Sequence[str] = ()) -> None:
        self._level = level
        self._all_headers = "*" in headers
        self._headers = tuple(name.lower() for name in headers)
        self._refused: list[PageRecord] = []

    @property
    def describes_waiting(self) -> bool:
        return self._level == "all"

    def headers(self, response: Fetched) -> str:
        """Return the chosen headers of a response, one per line, within the limits of length."""
        given = response.headers
        names = given if self._all_headers else [name for name in self._headers if name in given]
        return "\n".join(f"{name}: {given[name]}"[:MAX_HEADER_CHARACTERS] for name in names)[:MAX_HEADERS_CHARACTERS]

    def failure(self, entry: Entry, failure: Failure, *, now: float) -> PageRecord | None:
        """Return the record of a failed request; None if it is not to be described."""
        if self._level == "pages":
            return None
        return _url_record(
            entry,
            "failed",
            failure.kind.value,
            at=failure.fetched_at or now,
            status=failure.status,
            headers=self.headers(failure),
            detail=failure.detail[:MAX_HEADER_CHARACTERS],
            seconds=failure.elapsed,
        )

    def note_refused(self, entry: Entry, reason: str) -> None:
        """Describe a URL that was refused. `take_refused` returns its record."""
        if self._level != "pages":
            self._refused.append(_url_record(entry, "refused", reason, at=time.time()))

    def take_refused(self) -> list[PageRecord]:
        refused, self._refused = self._refused, []
        return refused

    def waiting(self, entries: Iterable[tuple[Entry, UrlState, str]]) -> Iterator[PageRecord]:
        """Yield the records of the URLs that wait, except revisits: the store already describes their pages."""
        now = time.time()
        for entry, state, _ in entries:
            if state is UrlState.WAITING and not entry.is_revisit:
                yield _url_record(entry, "waiting", "", at=now)


def _url_record(
    entry: Entry,
    state: str,
    reason: str,
    *,
    at: float,
    status: int | None = None,
    headers: str = "",
    detail: str = "",
    seconds: float = 0.0,
) -> PageRecord:
    """Return the record of a URL without a page, such as a waiting or refused one.

    `status`, `headers`, `detail` and `seconds` describe the failed request, if there was one.
    """
    return PageRecord(
        url=entry.url,
        fetched_at=at,
        status=status,
        state=state,
        reason=reason,
        headers=headers,
        detail=detail,
        seconds=seconds,
        referrer=entry.parent_url,
        found_by="" if entry.parent_url else entry.source,
        score=entry.score,
    )


def page_record(lease: Lease, page: Page, parsed: ParsedPage, *, now: float, headers: str = "") -> PageRecord:
    """Return the record of a page that is written to the store."""
    return PageRecord(
        url=page.url,
        fetched_at=page.fetched_at or now,
        status=page.status,
        graph_quads=parsed.graph_quads,
        quads=parsed.quads,
        graphs=parsed.graphs,
        media_type=page.content_type,
        kind=parsed.kind,
        syntaxes=syntaxes(parsed),
        says=parsed.says,
        content_hash=parsed.content_hash,
        size=len(page.body),
        headers=headers,
        preferences=parsed.preferences,
        referrer=lease.entry.parent_url,
        found_by="" if lease.entry.parent_url else lease.entry.source,
        is_relevant=parsed.relevant,
        score=0.0 if lease.is_revisit else lease.entry.score,
        seconds=page.elapsed,
        problems=tuple(map(format_problem, parsed.problems[:MAX_PROBLEMS])),
    )


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
        self.polite = PoliteFetcher(frontier, fetcher, resolve=resolve, forget=forget, clock=clock)
        self._has_services = bool(services)
        self._services = ServiceClient(services, polite=self.polite.fetch, direct=fetcher.fetch, clock=clock)
        self._clock = clock
        self._fetch_contexts = fetch_contexts
        self._contexts: OrderedDict[str, asyncio.Task[bytes | None]] = OrderedDict()

    async def supplies(self, page: Page, reading: ParsedPage) -> SubrequestResults | None:
        """Fetch the contexts and the service response that a page needs. None if parsing again would change nothing."""
        contexts: dict[str, bytes] = {}
        if self._fetch_contexts and reading.wanted:
            wait_until = self._clock.now() + _CONTEXTS_SECONDS
            for url in reading.wanted[:MAX_CONTEXTS]:
                found = await self._context(url, wait_until)
                if found is not None:
                    contexts[url] = found
        answer = await self._services.transform(page) if self._has_services else None
        return SubrequestResults(contexts=contexts, service=answer) if contexts or answer is not None else None

    async def close(self) -> None:
        await cancel(self._contexts.values())

    async def _context(self, url: str, wait_until: float) -> bytes | None:
        """Return a context from the cache or the network; None if it could not be fetched."""
        if url not in self._contexts:
            self._contexts[url] = asyncio.create_task(self.polite.context(url, wait_until=wait_until))
            if len(self._contexts) > _CACHED:
                self._contexts.popitem(last=False)
        return await asyncio.shield(self._contexts[url])
