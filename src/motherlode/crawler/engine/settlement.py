"""What the loop makes of an answer: the page for its reader, the record for the store, the visit for everybody."""

from __future__ import annotations

import time
from typing import Any

from motherlode.crawler.parsing.messages import READ_HEADERS, PageBody, ParsedPage, syntaxes
from motherlode.crawler.recrawl.revisits import FAILED_REFRESH, is_revisit
from motherlode.crawler.recrawl.schedule import header_asks, validator
from motherlode.frontier import Lease
from motherlode.index import PageRecord
from motherlode.model import NO_DIRECTIVES, Failure, FailureKind, Fetched, Page, Problem, Visit
from motherlode.www.urls import host_of

_NEVER_SENT = frozenset({FailureKind.GUARD, FailureKind.SCHEME})


def why_never_sent(lease: Lease, answer: Fetched) -> str:
    """The rule of ours that forbade the request, or "". Robots rules that lie elsewhere have cost their host one."""
    if isinstance(answer, Page) or answer.kind not in _NEVER_SENT or host_of(lease.url) != host_of(lease.entry.url):
        return ""
    return answer.kind.value


def body_of(page: Page) -> PageBody:
    headers = {name: page.headers[name] for name in READ_HEADERS if name in page.headers}
    return PageBody(url=page.url, content_type=page.content_type, body=page.body, headers=headers, at=page.fetched_at)


def page_record(lease: Lease, page: Page, reading: ParsedPage) -> PageRecord:
    return PageRecord(
        url=page.url,
        fetched_at=page.fetched_at or time.time(),
        status=page.status,
        graph_quads=reading.graph_quads,
        union_quads=reading.union_quads,
        quads=reading.quads,
        graphs=reading.graphs,
        media_type=page.content_type,
        kind=reading.kind,
        syntaxes=syntaxes(reading),
        says=reading.says,
        content_hash=reading.content_hash,
        size=len(page.body),
        referrer=lease.entry.parent_url,
    )


def redirect_record(lease: Lease, failure: Failure) -> PageRecord:
    return PageRecord(
        url=lease.url,
        fetched_at=failure.fetched_at or time.time(),
        status=failure.status,
        redirects_to=failure.location,
    )


def page_visit(
    lease: Lease,
    page: Page,
    reading: ParsedPage,
    *,
    number: int,
    value: float | None = None,
    new_links: int,
    copy_of: str,
    reward: float,
) -> Visit:
    """`value` is what the arm was worth at the pick, `copy_of` the address where the same content was met, or ""."""
    return Visit(
        **_asked(lease, page, number),
        value=value,
        kind=reading.kind,
        media_type=page.content_type,
        relevant=reading.relevant,
        reward=reward,
        counts=reading.counts,
        quads=reading.quads,
        links=len(reading.links),
        new_links=new_links,
        problems=(*reading.problems, _cut(page)) if page.truncated else reading.problems,
        content_hash=reading.content_hash,
        etag=validator(page.headers.get("etag", "")),
        last_modified=validator(page.headers.get("last-modified", "")),
        directives=(header_asks(page) or NO_DIRECTIVES).text,
        ends_at=reading.ends_at,
        detail=f"the same content as {copy_of}" if copy_of else "",
    )


def _cut(page: Page) -> Problem:
    return Problem(syntax=None, message=f"the body was cut after {len(page.body)} bytes; see max_body")


def failed_visit(lease: Lease, failure: Failure, *, number: int, value: float | None = None) -> Visit:
    return Visit(
        **_asked(lease, failure, number),
        value=value,
        failure=failure.kind,
        detail=failure.detail,
        location=failure.location,
        refresh=FAILED_REFRESH if is_revisit(lease) else "",
    )


def _asked(lease: Lease, answer: Fetched, number: int) -> dict[str, Any]:
    """What every visit tells, whatever came of it."""
    entry = lease.entry
    return {
        "number": number,
        "url": entry.url,
        "host": lease.host,
        "arm": entry.arm,
        "depth": entry.depth,
        "parent_url": entry.parent_url,
        "score": entry.score,
        "at": answer.fetched_at or time.time(),
        "status": answer.status,
        "size": answer.wire_bytes,
        "elapsed": answer.elapsed,
    }
