"""The end of a lease: what its result means for frontier, policy, counters, journal and log. One lease at a time."""

from __future__ import annotations

import logging
from typing import Any

import msgspec

from motherlode.crawler.engine.components import Components
from motherlode.crawler.engine.limits import EarlyStop, LeaseResult
from motherlode.crawler.engine.outage import Verdict
from motherlode.crawler.engine.robots_and_dns import NEVER_SENT, RobotsAndDns, ended_at
from motherlode.crawler.engine.scheduler import Scheduler
from motherlode.crawler.parsing.messages import ParsedPage
from motherlode.crawler.recrawl.revisits import FAILED_REFRESH, MAX_VALIDATOR_CHARACTERS, RevisitResult
from motherlode.crawler.stats.counters import Counters, Estimator
from motherlode.fetch import content_type_of
from motherlode.frontier import MAX_REDIRECTS, STORAGE_ERRORS, End, Entry, Lease
from motherlode.frontier.storage.tables import visit_key, visit_labels
from motherlode.index.page_record import PageRecord
from motherlode.model import Failure, FailureKind, Fetched, Outcome, Page, Problem, RequestKind, Syntax, Visit
from motherlode.runtime import Clock
from motherlode.www.urls import OUT_OF_SCOPE, host_of

_LOG = logging.getLogger("motherlode.crawler")
FATAL_ERRORS = (OSError, MemoryError, *STORAGE_ERRORS)
"""Exceptions that end the crawl: the disk is full, memory is exhausted, or a process of the crawl has ended."""
_MAX_INTERNAL_IN_A_ROW = 50
"""Number of consecutive internal failures at which the crawl ends, because an error that hits every URL is a defect."""
_MAX_DETAIL = 300  # characters
_SYNTAXES = {syntax.value: syntax for syntax in Syntax}


class Settlement:
    """Ends leases, lets the policy learn, and records visits."""

    def __init__(
        self,
        parts: Components,
        scheduler: Scheduler,
        robots_and_dns: RobotsAndDns,
        *,
        counters: Counters,
        estimator: Estimator,
        early_stop: EarlyStop,
        clock: Clock,
    ) -> None:
        self._parts = parts
        self._frontier = parts.frontier
        self._scheduler = scheduler
        self._robots_and_dns = robots_and_dns
        self._counters = counters
        self._estimator = estimator
        self._early_stop = early_stop
        self._clock = clock
        self._internal_in_a_row = 0
        self.fatal_error: RuntimeError | None = None
        """The reason why the crawl must end: many URLs in a row have failed with an unexpected exception."""

    async def settle(self, result: LeaseResult, verdict: Verdict) -> Visit | None:
        """End the lease of a result. Return the visit; None for a prerequisite."""
        try:
            visit = await self._settle(result, verdict)
        except FATAL_ERRORS:
            raise
        except Exception as error:  # noqa: BLE001 - it is logged, and becomes the failure of its URL
            visit = self._settle_internal(result, self.fail_internally(result, error))
        if not (isinstance(result.response, Failure) and result.response.kind is FailureKind.INTERNAL):
            self._internal_in_a_row = 0
        return visit

    def fail_internally(self, result: LeaseResult, error: Exception) -> Failure:
        """Log an unexpected exception, and make it the failure of its URL."""
        lease, detail = result.lease, f"{type(error).__name__}: {error}"[:_MAX_DETAIL]
        _LOG.error("internal error at %s", lease.url, exc_info=error)
        if not result.is_released and lease.kind is not RequestKind.RESOLVE:
            result.is_released = True
            self._frontier.response_received(lease, self._clock.now())
        self._internal_in_a_row += 1
        if self._internal_in_a_row >= _MAX_INTERNAL_IN_A_ROW and self.fatal_error is None:
            text = f"internal error: {_MAX_INTERNAL_IN_A_ROW} URLs in a row failed; see crawl.log: {detail}"
            self.fatal_error = RuntimeError(text)
        failure = Failure(url=lease.url, kind=FailureKind.INTERNAL, detail=detail)
        result.response, result.parsed, result.is_probe_passed = failure, None, False
        return failure

    async def _settle(self, result: LeaseResult, verdict: Verdict) -> Visit | None:
        lease, response = result.lease, result.response
        if response is None:
            self._robots_and_dns.settle(lease, result.address, self._clock.now())
            result.is_ended = True
            return None
        now = ended_at(response, self._clock)
        if isinstance(response, Failure) and response.challenged_by is not None:
            self._counters.note_challenge(response.challenged_by)
        if result.is_probe_passed:
            self._end_head(result, response, now)
            return None
        if isinstance(response, Failure) and (how := self._end_without_visit(lease, response, verdict)) is not None:
            self._frontier.end(lease, how, now, failure=response, reason=response.kind.value)
            result.is_ended = True
            self._parts.forget_response(lease.kind, lease.url)
            return None
        if lease.kind is not RequestKind.PAGE:
            return await self._settle_prerequisite(result, response, now)
        visit = await self._settle_page_lease(result, response, now)
        self._counters.head_visits += result.is_head
        self._parts.forget_response(lease.kind, lease.url)
        return self._record(visit)

    def _end_without_visit(self, lease: Lease, failure: Failure, verdict: Verdict) -> End | None:
        """Return how to end the lease of a failure that is not recorded as a visit; None if the failure is recorded.

        It is not recorded if our own network is down, the request is repeated, or a rule of ours forbids it.
        """
        if verdict is Verdict.UNCOUNTED:
            return End.NETWORK_DOWN
        if failure.kind is FailureKind.NO_DNS and self._frontier.waits_for_address(lease, self._clock.now()):
            _LOG.info("%s is not known yet: %s", lease.host, failure.detail)
            return End.UNRESOLVED
        if failure.has_other_address:
            return End.NEXT_ADDRESS
        if failure.kind in NEVER_SENT and host_of(lease.url) == host_of(lease.entry.url):
            return End.REFUSED  # a request for a robots.txt on another host was sent
        return None

    def _settle_internal(self, result: LeaseResult, failure: Failure) -> Visit | None:
        """End a lease whose settlement raised an exception. Return the visit, unless the lease had ended before."""
        self._parts.traps.end_page()
        if result.is_ended:
            return None
        result.is_ended = True
        self._frontier.end(result.lease, End.FAILED, self._clock.now(), failure=failure)
        self._parts.forget_response(result.lease.kind, result.lease.url)
        return self._record(self._failed_visit(result, failure))

    def _end_head(self, result: LeaseResult, response: Fetched, now: float) -> None:
        """End a lease that was used for a HEAD. The request counts in the host's budget."""
        lease = result.lease
        self._counters.requests += 1
        self._frontier.record_visit(lease.host, relevant=False, quads=0, received=0)
        failure = response if isinstance(response, Failure) else None
        if result.is_header_read:
            content_type = content_type_of(failure.kind if failure else None, response.headers.get("content-type", ""))
            self._scheduler.settle_header(lease, content_type, now, failure=failure)
        else:
            self._frontier.end(lease, End.PROBED, now, failure=failure)
        result.is_ended = True

    async def _settle_prerequisite(self, result: LeaseResult, response: Fetched, now: float) -> Visit | None:
        """End the lease of a DNS lookup or a robots.txt. Return a visit if the page that waits for it fails."""
        lease = result.lease
        self._counters.requests += lease.kind is RequestKind.ROBOTS
        failure = self._robots_and_dns.settle(lease, response, now)
        if failure is None:
            result.is_ended = True
            _LOG.debug("%s of %s is known", lease.kind.value, lease.host)
            return None
        await self._describe_failure(result, failure, now)
        return self._record(self._fail(result, failure, now))

    async def _settle_page_lease(self, result: LeaseResult, response: Fetched, now: float) -> Visit:
        lease, revisits = result.lease, self._parts.revisits
        found = revisits.outcome(lease, response) if lease.is_revisit else None
        if found is not None:
            return await self._settle_revisit(result, response, found, now)
        if isinstance(response, Page):
            return self._settle_page(result, response, now)
        if lease.is_revisit:
            revisits.failed(lease, response, now)
        return await self._settle_failure(result, response, now)

    async def _settle_revisit(self, result: LeaseResult, response: Fetched, found: RevisitResult, now: float) -> Visit:
        lease, revisits = result.lease, self._parts.revisits
        before = revisits.entry_before(lease)
        if isinstance(response, Page):
            visit = self._settle_page(result, response, now, before)
            if result.parsed is not None:
                revisits.queue_modified(result.parsed.links)
        else:
            if found is not RevisitResult.UNCHANGED and response.kind is not FailureKind.REDIRECT:
                at = response.fetched_at or now  # an empty record removes the quads and keeps the provenance
                await self._parts.writer.put(PageRecord(url=lease.url, fetched_at=at, status=response.status))
            if response.kind is FailureKind.NOT_MODIFIED:
                self._frontier.end(lease, End.FETCHED, now, entry=before)
                result.is_ended = True
                visit = self._failed_visit(result, response, before)
            else:
                visit = await self._settle_failure(result, response, now, before)
        return revisits.settle(found, visit, response)

    def _settle_page(self, result: LeaseResult, page: Page, now: float, before: Entry | None = None) -> Visit:
        """End the lease of a page; `before` is the entry of a known page before its revisit."""
        lease, parsed, traps = result.lease, result.parsed, self._parts.traps
        if parsed is None:
            raise ValueError(f"internal error: {lease.url} was fetched but not parsed")
        entry = before or lease.entry
        outcome = self._outcome(lease, page, parsed, before)
        copy_of = traps.record_page(
            entry.url,
            page.body,
            useful=parsed.relevant,
            content_fingerprint=parsed.content_fingerprint,
            parent=entry.parent_url,
        )
        new_links = self._scheduler.settle_page(lease, outcome, now, entry=before)
        result.is_ended = True
        traps.end_page()
        if parsed.not_followed:
            self._frontier.count_refused("nofollow", parsed.not_followed)
        if parsed.out_of_scope:
            self._frontier.count_refused(OUT_OF_SCOPE, parsed.out_of_scope)
        return page_visit(
            entry,
            lease.host,
            page,
            parsed,
            number=self._counters.fetched + 1,
            value=result.value,
            new_links=new_links,
            copy_of=copy_of,
            reward=outcome.reward,
            now=now,
        )

    def _outcome(self, lease: Lease, page: Page, parsed: ParsedPage, before: Entry | None) -> Outcome:
        outcome = self._scheduler.page_outcome(
            lease,
            entry=before,
            relevant=parsed.relevant,
            kind=parsed.kind,
            content_type=page.content_type,
            counts={_SYNTAXES[name]: count for name, count in parsed.counts.items()},
            links=parsed.links,
            size=page.wire_bytes or len(page.body),
            statement_hashes=parsed.hashes,
            page_score=parsed.score,
            is_unscored=parsed.is_unscored,
        )
        reward = self._parts.reward(outcome)
        return outcome if reward == outcome.reward else msgspec.structs.replace(outcome, reward=reward)

    async def _settle_failure(
        self, result: LeaseResult, failure: Failure, now: float, before: Entry | None = None
    ) -> Visit:
        entry = before or result.lease.entry
        if failure.kind is FailureKind.REDIRECT and entry.hops < MAX_REDIRECTS:
            headers = self._parts.describer.headers(failure)
            await self._parts.writer.put(redirect_record(result.lease, failure, now=now, headers=headers))
            self._parts.traps.record_redirect(result.lease.url, parent=entry.parent_url)
        elif not result.lease.is_revisit:  # the store keeps what it knows of a page whose revisit fails
            await self._describe_failure(result, failure, now)
        return self._fail(result, failure, now, before)

    async def _describe_failure(self, result: LeaseResult, failure: Failure, now: float) -> None:
        record = self._parts.describer.failure(result.lease.entry, failure, now=now)
        if record is not None:
            await self._parts.writer.put(record)

    def _fail(self, result: LeaseResult, failure: Failure, now: float, before: Entry | None = None) -> Visit:
        failure, retry_at, outcome = self._scheduler.end_failure(result.lease, failure, now, entry=before)
        result.is_ended = True
        if retry_at is None:
            self._scheduler.learn_failure(outcome)
        elif _LOG.isEnabledFor(logging.DEBUG):
            _LOG.debug("%s is tried again in %.0f s", result.lease.entry.url, retry_at - now)
        return self._failed_visit(result, failure, before)

    def _failed_visit(self, result: LeaseResult, failure: Failure, before: Entry | None = None) -> Visit:
        lease, number = result.lease, self._counters.fetched + 1
        refresh = FAILED_REFRESH if before is None and lease.is_revisit else ""
        entry, now = before or lease.entry, self._clock.now()
        return failed_visit(entry, lease.host, failure, number=number, now=now, value=result.value, refresh=refresh)

    def _record(self, visit: Visit) -> Visit:
        """Add a visit to the counters, to its host's account and to the storage."""
        self._counters.add(visit)
        if visit.failure is not FailureKind.CHALLENGED:  # the page may be relevant, and the server did not show it
            self._estimator.add(visit)
            self._early_stop.add(visit)
        self._frontier.record_visit(
            visit.host,
            relevant=visit.relevant - visit.relevant_before,
            quads=visit.quads - visit.quads_before,
            received=visit.received,
            is_known=bool(visit.refresh),
        )
        self._parts.storage.append_visit(
            visit.number, msgspec.msgpack.encode(visit), visit_key(visit), visit_labels(visit)
        )
        if _LOG.isEnabledFor(logging.INFO):
            _log_visit(visit)
        return visit


def _log_visit(visit: Visit) -> None:
    if visit.failure is None:
        relevance = "relevant" if visit.relevant else "not relevant"
        _LOG.info("%s %s %.0fms %d quads %s", visit.url, visit.status, 1000 * visit.elapsed, visit.quads, relevance)
    else:
        _LOG.info("%s %s %.0fms %s", visit.url, visit.failure.value, 1000 * visit.elapsed, visit.detail)


def redirect_record(lease: Lease, failure: Failure, *, now: float, headers: str = "") -> PageRecord:
    """Return the record of a redirect that is written to the store."""
    at = failure.fetched_at or now
    entry = lease.entry
    return PageRecord(
        url=lease.url,
        fetched_at=at,
        status=failure.status,
        redirects_to=failure.location,
        headers=headers,
        referrer=entry.parent_url,
        found_by="" if entry.parent_url else entry.source,
        seconds=failure.elapsed,
    )


def page_visit(
    entry: Entry, host: str, page: Page, parsed: ParsedPage, *, number: int, copy_of: str, now: float, **more: Any
) -> Visit:
    """Return the visit of a page.

    `copy_of` is the URL at which the same content was found before, or "". `more` are further fields of the visit.
    """
    problems = parsed.problems
    if page.truncated:
        message = f"the body was cut after {len(page.body)} bytes; see max_body"
        problems = (*problems, Problem(syntax=None, message=message))
    return Visit(
        **_common_fields(entry, host, page, number, now),
        **more,
        kind=parsed.kind,
        media_type=page.content_type,
        relevant=parsed.relevant,
        counts=parsed.counts,
        quads=parsed.quads,
        links=len(parsed.links),
        problems=problems,
        content_hash=parsed.content_hash,
        etag=_validator(page, "etag"),
        last_modified=_validator(page, "last-modified"),
        directives=parsed.directives,
        ends_at=parsed.ends_at,
        is_script_application=parsed.is_script_application,
        detail=f"the same content as {copy_of}" if copy_of else "",
    )


def _validator(page: Page, header: str) -> str:
    """Return a validator for later conditional requests, or "" if there is none or it is too long."""
    value = page.headers.get(header, "")
    return value if len(value) <= MAX_VALIDATOR_CHARACTERS else ""


def failed_visit(entry: Entry, host: str, failure: Failure, *, number: int, now: float, **more: Any) -> Visit:
    """Return the visit of a URL that gave no page. `more` are further fields of the visit."""
    fields = _common_fields(entry, host, failure, number, now)
    return Visit(**fields, failure=failure.kind, detail=failure.detail, location=failure.location, **more)


def _common_fields(entry: Entry, host: str, response: Fetched, number: int, now: float) -> dict[str, Any]:
    return {
        "number": number,
        "url": entry.url,
        "host": host,
        "arm": entry.arm,
        "depth": entry.depth,
        "parent_url": entry.parent_url,
        "score": entry.score,
        "at": response.fetched_at or now,
        "status": response.status,
        "size": len(response.body) if isinstance(response, Page) else 0,
        "received": response.wire_bytes,
        "elapsed": response.elapsed,
    }
