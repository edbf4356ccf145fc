"""What came of a URL, from the visits on record: the last answer, what follows from it, and redirects around it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from math import inf

import msgspec

from motherlode.crawler.config.host_patterns import own_hosts
from motherlode.crawler.config.job import Job
from motherlode.crawler.engine.factory import canonical_seeds
from motherlode.crawler.folder import CrawlFolder
from motherlode.crawler.recrawl.revisits import RevisitResult as Look
from motherlode.crawler.recrawl.schedule import GONE_FOR
from motherlode.crawler.url_rules import Filters, TrapWatch
from motherlode.fetch import AddressGuard, RobotsRules
from motherlode.fetch.http.request import split_url
from motherlode.frontier import (
    MAX_REDIRECTS,
    Entry,
    FrontierStorage,
    HostBudget,
    HostRecord,
    LmdbStorage,
    domain_refusal,
)
from motherlode.frontier.backoff import TOO_MANY_FAILURES, TREATMENTS, given_up
from motherlode.frontier.prerequisites import RULES_LAST
from motherlode.links.href import is_asset
from motherlode.model import FailureKind, Link, LinkSource, Outcome, Policy, Visit
from motherlode.www.traps import trap_reason
from motherlode.www.urls import host_of, origin_of, scope_from

_SHOWN = 5
"""Problems of a page that are told."""


class FetchHistory(msgspec.Struct, frozen=True, kw_only=True):
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


class RedirectStep(msgspec.Struct, frozen=True, kw_only=True):
    """One address of a chain of redirects."""

    url: str
    state: str
    """What it answered: a status, a kind of failure, or that it was not asked."""


def visits_of(storage: LmdbStorage, url: str) -> list[Visit]:
    """Every visit to a URL, in order. Its bytes are looked for first: to decode all visits takes much longer."""
    wanted = msgspec.msgpack.encode(url)
    found = (msgspec.msgpack.decode(record, type=Visit) for record in storage.visits() if wanted in record)
    return [visit for visit in found if visit.url == url]


def outcome_of(visit: Visit, visits: Sequence[Visit], *, recorded: bool) -> FetchHistory:
    return FetchHistory(
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


def last_outcome(visit: Visit, visits: Sequence[Visit], *, recorded: bool) -> FetchHistory:
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


def chain(storage: LmdbStorage, entry: Entry, last: Visit | None) -> tuple[RedirectStep, ...]:
    """The redirects that led to a URL, itself, and those that it led to; nothing where there are none."""
    before: list[Entry] = []
    here = entry
    while here.source == LinkSource.REDIRECT.value and len(before) <= MAX_REDIRECTS:
        known = storage.find(here.parent_url)
        if known is None:
            break
        here = known[0]
        before.insert(0, here)
    urls = [*(one.url for one in before), entry.url]
    visit = last
    while visit is not None and visit.failure is FailureKind.REDIRECT and len(urls) <= 2 * MAX_REDIRECTS:
        target = _target(storage, visit)
        if target is None or target.url in urls:
            break
        urls.append(target.url)
        visits = visits_of(storage, target.url)
        visit = visits[-1] if visits else None
    return tuple(RedirectStep(url=url, state=_answer(storage, url)) for url in urls) if len(urls) > 1 else ()


def _target(storage: LmdbStorage, visit: Visit) -> Entry | None:
    """Where a redirect led; a recorded web may spell the scheme otherwise."""
    _, _, rest = visit.location.partition("://")
    for url in (visit.location, f"https://{rest}", f"http://{rest}"):
        known = storage.find(url)
        if known is not None:
            return known[0]
    return None


def _answer(storage: LmdbStorage, url: str) -> str:
    visits = visits_of(storage, url)
    if not visits:
        return "not asked"
    last = visits[-1]
    return str(last.status) if last.failure is None else last.failure.value


# ── Why a crawl would not take up a URL: the checks that every link passes, asked again for one.

DOMAIN_LIMIT = "domain limit"
"""The name of the check of `max_untried_hosts`."""
_TRAP_ERRORS = (msgspec.MsgspecError, ValueError, TypeError)


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One question that a link must pass."""

    name: str
    passed: bool | None
    """None where it cannot be told yet."""
    detail: str = ""


def checks(
    url: str,
    *,
    job: Job,
    folder: CrawlFolder,
    storage: FrontierStorage,
    policy: Policy | None = None,
    is_seed: bool = False,
    reason: str = "",
) -> list[Check]:
    """All checks of an address in canonical form, in the order in which a crawl makes them; a seed passes the first.

    `parser_message` is why it was refused, where that is on record.
    """
    found = [] if is_seed else [*_of_links(url, job, folder, storage), _of_domain(url, job, storage)]
    found += _of_host(url, job, storage, reason)
    return found + ([] if policy is None or is_seed else [_of_policy(url, policy)])


def _check(name: str, refusal: str) -> Check:
    return Check(name=name, passed=not refusal, detail=refusal)


def _of_links(url: str, job: Job, folder: CrawlFolder, storage: FrontierStorage) -> Iterator[Check]:
    asset = "its extension says that no page and no data can be there" if is_asset(url) else ""
    yield _check("address", asset)
    scope = scope_from(job.scope, canonical_seeds(job.seeds))(url)
    yield _check("scope", f"{scope}: the crawl stays in {job.scope}" if scope else "")
    yield _check("filters", Filters(folder.filters, job.links).reason(url))
    traps = TrapWatch(lambda _: "", year_now=datetime.now(UTC).year)
    seen = storage.note("traps")
    if seen is not None:
        try:
            traps.load(seen)
        except _TRAP_ERRORS as error:
            yield Check(name="traps", passed=None, detail=f"what was seen of traps cannot be read: {error}")
            return
    yield _check("traps", trap_reason(url, year_now=datetime.now(UTC).year) or traps.reason(url))


def _of_domain(url: str, job: Job, storage: FrontierStorage) -> Check:
    """Whether the limit on untried hosts of its domain lets the host through; if not, its URLs wait."""
    named = {host_of(seed) for seed in canonical_seeds(job.seeds)}
    waits = domain_refusal(host_of(url), storage.hosts(), limit=job.max_untried_hosts, named=named)
    return Check(name=DOMAIN_LIMIT, passed=None if waits else True, detail=waits)


def _of_host(url: str, job: Job, storage: FrontierStorage, reason: str) -> Iterator[Check]:
    name = host_of(url)
    record = next((one for one in storage.hosts() if one.name == name), None)
    if job.web is None:  # a recorded web has no addresses
        yield _guarded(url, job, record, reason)
    yield _robots(url, job, record)
    if record is None:
        return
    in_a_row = given_up(record) == TOO_MANY_FAILURES
    yield _check("host", f"given up after {record.failures} failures in a row" if in_a_row else "")
    budget = HostBudget(pages=job.pages_per_host, bytes=job.bytes_per_host, barren_after=job.barren_after)
    yield _check("host budget", budget.refusal(record, 0))


def _guarded(url: str, job: Job, record: HostRecord | None, reason: str) -> Check:
    """Whether the address guard lets the host pass, as far as that can be told without asking for its address."""
    name, origin = "address guard", split_url(url)[0]
    table = job.places()
    address = origin.host if origin.is_address else table[origin.host][0] if origin.host in table else ""
    address = address or (record.address if record is not None else "")
    if address:
        refusal = AddressGuard(job.allow).refusal(address)
        return _check(name, f"{refusal}; if it is your own, --allow {address} lets it pass" if refusal else "")
    if reason == FailureKind.GUARD.value:
        return _check(name, "its host was found at no public address; if it is your own, --allow RANGE lets it pass")
    return Check(name=name, passed=None, detail="the address of its host was not looked up yet")


def _robots(url: str, job: Job, record: HostRecord | None) -> Check:
    if job.own_hosts and own_hosts(job.own_hosts)(host_of(url)):
        return Check(name="robots", passed=True, detail="one of your own hosts: robots.txt is not applied")
    robots, read_at = record.rules_for(url) if record is not None else (None, 0.0)
    if record is not None and record.unread_since is not None and not _hold(robots, read_at, record.unread_since):
        return Check(name="robots", passed=False if given_up(record) else None, detail=_unread(record))
    if robots is None:
        return Check(name="robots", passed=None, detail="the robots.txt of its host was not read yet")
    return _check("robots", "" if RobotsRules(robots).allows(url) else "its host's robots.txt disallows it")


def _hold(robots: bytes | None, read_at: float, now: float) -> bool:
    """Whether rules of such an age were known and held: those of the other scheme may be the ones that are missing."""
    return robots is not None and now - read_at < RULES_LAST


def _unread(record: HostRecord) -> str:
    since = _time(record.unread_since or 0.0)
    said = (
        f"the robots.txt of its host could not be read since {since} ({record.unread_for}), so that nothing is allowed"
    )
    return said if given_up(record) else f"{said} now; it is asked for again after {_time(record.ready_at)}"


def _time(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S} UTC"


def plain_link(url: str) -> tuple[Link, Outcome]:
    """A plain link on its host's home page, for nobody knows on which page it would be found."""
    parent = Outcome(url=origin_of(url) + "/", host=host_of(url), depth=0, relevant=False, kind="html")
    return Link(url=url, source=LinkSource.ANCHOR), parent


def _of_policy(url: str, policy: Policy) -> Check:
    link, parent = plain_link(url)
    rating = policy.rate([link], parent)[0]
    if rating.refused:
        return Check(name="policy", passed=False, detail=rating.refused)
    score = "" if abs(rating.score) in (0.0, inf) else f" with the score {rating.score:.4g}"
    return Check(name="policy", passed=True, detail=f"a plain link to it would wait{score}")
