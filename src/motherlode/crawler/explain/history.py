"""History of one URL: its visits, the last response and what follows from it, and its chain of redirects."""

from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec

from motherlode.crawler.recrawl.revisits import GONE_FOR, RevisitResult
from motherlode.frontier import MAX_REDIRECTS, Entry, LmdbStorage
from motherlode.frontier.leases import TREATMENTS
from motherlode.model import FailureKind, LinkSource, Visit

_MAX_PROBLEMS = 5
_COPIED = (
    *("number", "at", "status", "detail", "kind", "media_type", "size", "elapsed", "relevant", "reward"),
    *("quads", "links", "new_links"),
)
"""Attributes of a visit that its history has as well."""


class FetchHistory(msgspec.Struct, frozen=True, kw_only=True):
    """The last response for a URL."""

    number: int
    at: float
    """Time of the request in seconds since the epoch."""
    visits: int
    """Requests for this URL in all."""
    status: int | None = None
    failure: str = ""
    detail: str = ""
    treatment: str = ""
    """How the frontier treats the failure, as a phrase."""
    kind: str = ""
    media_type: str = ""
    size: int = 0
    elapsed: float = 0.0
    relevant: bool = False
    reward: float = 0.0
    statements: dict[str, int] = {}
    quads: int = 0
    links: int = 0
    new_links: int = 0
    problems: tuple[str, ...] = ()
    refresh: str = ""
    """Result of the last revisit: unchanged, changed, gone ..., or "" if there was none."""


class RedirectStep(msgspec.Struct, frozen=True, kw_only=True):
    """One URL of a chain of redirects."""

    url: str
    state: str
    """Status, kind of failure, or that it was not requested."""


def find_visits(storage: LmdbStorage, url: str) -> list[Visit]:
    """Return all visits to a URL in order. Only records with the bytes of the URL are decoded, because that is fast."""
    wanted = msgspec.msgpack.encode(url)
    found = (msgspec.msgpack.decode(record, type=Visit) for record in storage.visits() if wanted in record)
    return [visit for visit in found if visit.url == url]


def last_informative_visit(visits: Sequence[Visit]) -> Visit | None:
    """Return the last visit that was not a revisit of an unchanged page, or the last of all, or None."""
    last = visits[-1] if visits else None
    return next((visit for visit in reversed(visits) if visit.refresh != RevisitResult.UNCHANGED.value), last)


def build_history(visit: Visit, visits: Sequence[Visit], *, recorded: bool) -> FetchHistory:
    """Return the history of a URL from its informative visit and the result of its last revisit."""
    treatment = "" if visit.failure is None else describe_treatment(visit.failure, recorded=recorded)
    if visit.refresh == RevisitResult.GONE.value:
        moved = f"{treatment}; " if visit.failure is FailureKind.REDIRECT else ""
        due = f"{datetime.fromtimestamp(visit.at + GONE_FOR, UTC):%Y-%m-%d}"
        treatment = f"{moved}its quads were removed; a refresh visits it again from {due} on"
    return FetchHistory(
        **{name: getattr(visit, name) for name in _COPIED},
        visits=len(visits),
        failure="" if visit.failure is None else visit.failure.value,
        treatment=treatment,
        statements=dict(visit.counts),
        problems=tuple(problem.message for problem in visit.problems[:_MAX_PROBLEMS]),
        refresh=visits[-1].refresh,
    )


def describe_treatment(kind: FailureKind, *, recorded: bool = False) -> str:
    """Return how the frontier treats a failure. In a recorded web nothing is retried."""
    found = TREATMENTS[kind]
    if kind is FailureKind.REDIRECT:
        return "its target is a URL of its own"
    if recorded and found.retries:
        return "not retried: in a recorded web the response would be the same"
    again = f"retried up to {found.retries} times" if found.retries > 1 else "retried once"
    parts = [again if found.retries else "not retried"]
    parts += ["the host is snoozed"] * found.snoozes_host + ["counts against the host"] * found.against_host
    return "; ".join(parts)


def find_redirects(storage: LmdbStorage, entry: Entry, last: Visit | None) -> tuple[RedirectStep, ...]:
    """Return the chain of redirects that includes a URL, or an empty tuple for a URL without redirects."""
    before: list[Entry] = []
    current = entry
    while current.source == LinkSource.REDIRECT.value and len(before) <= MAX_REDIRECTS:
        known = storage.find(current.parent_url)
        if known is None:
            break
        current = known[0]
        before.insert(0, current)
    urls = [*(one.url for one in before), entry.url]
    visit = last
    while visit is not None and visit.failure is FailureKind.REDIRECT and len(urls) <= 2 * MAX_REDIRECTS:
        target = _find_target(storage, visit)
        if target is None or target.url in urls:
            break
        urls.append(target.url)
        visits = find_visits(storage, target.url)
        visit = visits[-1] if visits else None
    return tuple(RedirectStep(url=url, state=_describe_response(storage, url)) for url in urls) if len(urls) > 1 else ()


def _find_target(storage: LmdbStorage, visit: Visit) -> Entry | None:
    """Return the target of a redirect, or None. In a recorded web its scheme may differ."""
    _, _, rest = visit.location.partition("://")
    for url in (visit.location, f"https://{rest}", f"http://{rest}"):
        known = storage.find(url)
        if known is not None:
            return known[0]
    return None


def _describe_response(storage: LmdbStorage, url: str) -> str:
    visits = find_visits(storage, url)
    if not visits:
        return "not requested"
    last = visits[-1]
    return str(last.status) if last.failure is None else last.failure.value
