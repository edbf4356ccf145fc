"""Why a crawl would not take up a URL: the checks that every link passes, asked again for one.

Most refusals are counted and not kept, since a crawl meets millions. So the checks are run again, on what the folder
holds: the job's scope and links table, the filters as they are now, what was seen of traps, the address at which the
host was found, the robots.txt that was read, the record of the host, and the policy as it is now.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from math import inf

import msgspec

from motherlode.crawl.assemble import canonical_seeds
from motherlode.crawl.filters import Filters
from motherlode.crawl.folder import CrawlFolder
from motherlode.crawl.job import Job
from motherlode.crawl.owning import own_hosts
from motherlode.crawl.trapping import TrapWatch
from motherlode.extract.addresses import is_asset
from motherlode.fetch import AddressGuard, RobotsRules
from motherlode.fetch.origins import split
from motherlode.frontier import HostBudget, HostRecord, Ledger, domain_refusal
from motherlode.frontier.permits import RULES_LAST
from motherlode.frontier.rests import TOO_MANY_FAILURES, given_up
from motherlode.model import FailureKind, Link, LinkSource, Parent, Policy
from motherlode.www.scope import scope_from
from motherlode.www.traps import trap_reason
from motherlode.www.urls import host_of, origin_of

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
    ledger: Ledger,
    policy: Policy | None = None,
    is_seed: bool = False,
    reason: str = "",
) -> list[Check]:
    """All checks of an address in canonical form, in the order in which a crawl makes them; a seed passes the first.

    `reason` is why it was refused, where that is on record.
    """
    found = [] if is_seed else [*_of_links(url, job, folder, ledger), _of_domain(url, job, ledger)]
    found += _of_host(url, job, ledger, reason)
    return found + ([] if policy is None or is_seed else [_of_policy(url, policy)])


def _check(name: str, refusal: str) -> Check:
    return Check(name=name, passed=not refusal, detail=refusal)


def _of_links(url: str, job: Job, folder: CrawlFolder, ledger: Ledger) -> Iterator[Check]:
    asset = "its extension says that no page and no data can be there" if is_asset(url) else ""
    yield _check("address", asset)
    scope = scope_from(job.scope, canonical_seeds(job.seeds))(url)
    yield _check("scope", f"{scope}: the crawl stays in {job.scope}" if scope else "")
    yield _check("filters", Filters(folder.filters, job.links).reason(url))
    traps = TrapWatch(lambda _: "", year_now=datetime.now(UTC).year)
    seen = ledger.note("traps")
    if seen is not None:
        try:
            traps.load(seen)
        except _TRAP_ERRORS as error:
            yield Check(name="traps", passed=None, detail=f"what was seen of traps cannot be read: {error}")
            return
    yield _check("traps", trap_reason(url, year_now=datetime.now(UTC).year) or traps.reason(url))


def _of_domain(url: str, job: Job, ledger: Ledger) -> Check:
    """Whether the limit on untried hosts of its domain lets the host through; if not, its URLs wait."""
    named = {host_of(seed) for seed in canonical_seeds(job.seeds)}
    waits = domain_refusal(host_of(url), ledger.hosts(), limit=job.max_untried_hosts, named=named)
    return Check(name=DOMAIN_LIMIT, passed=None if waits else True, detail=waits)


def _of_host(url: str, job: Job, ledger: Ledger, reason: str) -> Iterator[Check]:
    name = host_of(url)
    record = next((one for one in ledger.hosts() if one.name == name), None)
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
    name, origin = "address guard", split(url)[0]
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


def plain_link(url: str) -> tuple[Link, Parent]:
    """A plain link on its host's home page, for nobody knows on which page it would be found."""
    parent = Parent(url=origin_of(url) + "/", host=host_of(url), depth=0, relevant=False, kind="html")
    return Link(url=url, source=LinkSource.ANCHOR), parent


def _of_policy(url: str, policy: Policy) -> Check:
    link, parent = plain_link(url)
    rating = policy.rate([link], parent)[0]
    if rating.refused:
        return Check(name="policy", passed=False, detail=rating.refused)
    score = "" if abs(rating.score) in (0.0, inf) else f" with the score {rating.score:.4g}"
    return Check(name="policy", passed=True, detail=f"a plain link to it would wait{score}")
