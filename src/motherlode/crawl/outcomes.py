"""What came of a URL, from the visits on record: the last answer, what follows from it, and redirects around it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec

from motherlode.crawl.refreshing import Outcome as Look
from motherlode.crawl.remembering import GONE_FOR
from motherlode.frontier import MAX_REDIRECTS, DiskLedger, Entry
from motherlode.frontier.retry import TREATMENTS
from motherlode.model import FailureKind, LinkSource, Visit

_SHOWN = 5
"""Problems of a page that are told."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """The last answer to a URL."""

    number: int
    """The how-manieth request for a page it was."""
    at: float
    visits: int
    """Requests for this URL so far."""
    status: int | None = None
    failure: str = ""
    detail: str = ""
    treatment: str = ""
    """What the table of retries says about such a failure."""
    kind: str = ""
    media_type: str = ""
    size: int = 0
    elapsed: float = 0.0
    relevant: bool = False
    reward: float = 0.0
    statements: dict[str, int] = {}
    """By syntax."""
    quads: int = 0
    links: int = 0
    new_links: int = 0
    problems: tuple[str, ...] = ()
    refresh: str = ""


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One address of a chain of redirects."""

    url: str
    state: str
    """What it answered: a status, a kind of failure, or that it was not asked."""


def visits_of(ledger: DiskLedger, url: str) -> list[Visit]:
    """Every visit to a URL, in order. Its bytes are looked for first: to decode all visits takes much longer."""
    wanted = msgspec.msgpack.encode(url)
    found = (msgspec.msgpack.decode(record, type=Visit) for record in ledger.visits() if wanted in record)
    return [visit for visit in found if visit.url == url]


def outcome_of(visit: Visit, visits: Sequence[Visit], *, recorded: bool) -> Outcome:
    return Outcome(
        number=visit.number,
        at=visit.at,
        visits=len(visits),
        status=visit.status,
        failure="" if visit.failure is None else visit.failure.value,
        detail=visit.detail,
        treatment="" if visit.failure is None else treatment(visit.failure, recorded=recorded),
        kind=visit.kind,
        media_type=visit.media_type,
        size=visit.size,
        elapsed=visit.elapsed,
        relevant=visit.relevant,
        reward=visit.reward,
        statements=dict(visit.counts),
        quads=visit.quads,
        links=visit.links,
        new_links=visit.new_links,
        problems=tuple(problem.message for problem in visit.problems[:_SHOWN]),
        refresh=visit.refresh,
    )


def telling(visits: Sequence[Visit]) -> Visit | None:
    """The visit that says most about a URL: the last, but for looks by which its page has not changed."""
    last = visits[-1] if visits else None
    return next((visit for visit in reversed(visits) if visit.refresh != Look.UNCHANGED.value), last)


def last_outcome(visit: Visit, visits: Sequence[Visit], *, recorded: bool) -> Outcome:
    """What the telling one among the visits to a URL says, and what the last look found."""
    outcome = msgspec.structs.replace(outcome_of(visit, visits, recorded=recorded), refresh=visits[-1].refresh)
    if visit.refresh != Look.GONE.value:
        return outcome
    moved = f"{outcome.treatment}; " if visit.failure is FailureKind.REDIRECT else ""
    due = f"{datetime.fromtimestamp(visit.at + GONE_FOR, UTC):%Y-%m-%d}"
    again = f"{moved}its quads were taken out; a refresh looks again from {due} on"
    return msgspec.structs.replace(outcome, treatment=again)


def treatment(kind: FailureKind, *, recorded: bool = False) -> str:
    """What the frontier does about a failure, in words; in a recorded web no answer changes.

    >>> treatment(FailureKind.NOT_FOUND), treatment(FailureKind.TIMEOUT)
    ('not tried again', 'tried again up to 2 times; the host rests; counts against the host')
    """
    found = TREATMENTS[kind]
    if kind is FailureKind.REDIRECT:
        return "its target is a URL of its own"
    if recorded and found.retries:
        return "not tried again: in a recorded web the answer would be the same"
    again = f"tried again up to {found.retries} times" if found.retries > 1 else "tried again once"
    parts = [again if found.retries else "not tried again"]
    parts += ["the host rests"] * found.host_rests + ["counts against the host"] * found.against_host
    return "; ".join(parts)


def chain(ledger: DiskLedger, entry: Entry, last: Visit | None) -> tuple[Step, ...]:
    """The redirects that led to a URL, itself, and those that it led to; nothing where there are none."""
    before: list[Entry] = []
    here = entry
    while here.source == LinkSource.REDIRECT.value and len(before) <= MAX_REDIRECTS:
        known = ledger.find(here.parent_url)
        if known is None:
            break
        here = known[0]
        before.insert(0, here)
    urls = [*(one.url for one in before), entry.url]
    visit = last
    while visit is not None and visit.failure is FailureKind.REDIRECT and len(urls) <= 2 * MAX_REDIRECTS:
        target = _target(ledger, visit)
        if target is None or target.url in urls:
            break
        urls.append(target.url)
        visits = visits_of(ledger, target.url)
        visit = visits[-1] if visits else None
    return tuple(Step(url=url, state=_answer(ledger, url)) for url in urls) if len(urls) > 1 else ()


def _target(ledger: DiskLedger, visit: Visit) -> Entry | None:
    """Where a redirect led; a recorded web may spell the scheme otherwise."""
    _, _, rest = visit.location.partition("://")
    for url in (visit.location, f"https://{rest}", f"http://{rest}"):
        known = ledger.find(url)
        if known is not None:
            return known[0]
    return None


def _answer(ledger: DiskLedger, url: str) -> str:
    visits = visits_of(ledger, url)
    if not visits:
        return "not asked"
    last = visits[-1]
    return str(last.status) if last.failure is None else last.failure.value
