"""The checks that a link must pass before it is fetched, repeated for one URL."""

from collections.abc import Iterator
from datetime import UTC, datetime
from math import inf

import msgspec

from motherlode.crawler.config.host_patterns import canonical_seeds, compile_own_hosts
from motherlode.crawler.config.job import Job
from motherlode.crawler.config.values import format_moment
from motherlode.crawler.folder import CrawlFolder
from motherlode.crawler.url_rules import Filters, TrapWatch
from motherlode.fetch import AddressGuard, RobotsRules
from motherlode.frontier import FrontierStorage, HostBudget, HostRecord, domain_refusal
from motherlode.frontier.leases import RULES_LAST, TOO_MANY_FAILURES, given_up
from motherlode.links.href import is_asset
from motherlode.model import FailureKind, Link, LinkSource, Outcome, Policy
from motherlode.www.traps import trap_reason
from motherlode.www.urls import host_of, origin_of, scope_rule, split_url

DOMAIN_LIMIT = "domain limit"
"""Name of the check of the job key `max_untried_hosts`."""
DELAY = "delay"
"""Name of the check whether the host is ready. It is there only if the host is snoozed."""
_TRAP_ERRORS = (msgspec.MsgspecError, ValueError, TypeError)


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """Result of one check."""

    name: str
    passed: bool | None
    """Whether the URL passes the check; None if that is not known yet."""
    detail: str = ""


def run_checks(
    url: str,
    *,
    job: Job,
    folder: CrawlFolder,
    storage: FrontierStorage,
    policy: Policy | None = None,
    is_seed: bool = False,
    reason: str = "",
) -> list[Check]:
    """Run all checks of a URL in the order of a crawl. `reason` is why it was refused. Seeds skip checks of links."""
    found = [] if is_seed else [*_check_link(url, job, folder, storage), _check_domain(url, job, storage)]
    found += _check_host(url, job, storage, reason)
    return found + ([] if policy is None or is_seed else [_check_policy(url, policy)])


def _check_from_refusal(name: str, refusal: str) -> Check:
    return Check(name=name, passed=not refusal, detail=refusal)


def _check_link(url: str, job: Job, folder: CrawlFolder, storage: FrontierStorage) -> Iterator[Check]:
    asset = "its extension shows that it is neither a page nor data" if is_asset(url) else ""
    yield _check_from_refusal("address", asset)
    scope = scope_rule(job.scope, canonical_seeds(job.all_seeds)).scope()(url)
    yield _check_from_refusal("scope", f"{scope}: the crawl stays in {job.scope}" if scope else "")
    yield _check_from_refusal("filters", Filters(folder.filters, job.links).reason(url))
    traps = TrapWatch(lambda _: "", year_now=datetime.now(UTC).year)
    seen = storage.note("traps")
    if seen is not None:
        try:
            traps.load(seen)
        except _TRAP_ERRORS as error:
            yield Check(name="traps", passed=None, detail=f"the saved state of trap detection cannot be read: {error}")
            return
    yield _check_from_refusal("traps", trap_reason(url, year_now=datetime.now(UTC).year) or traps.reason(url))


def _check_domain(url: str, job: Job, storage: FrontierStorage) -> Check:
    """Check the limit on untried hosts of the domain. URLs of a host above the limit wait."""
    seed_hosts = {host_of(seed) for seed in canonical_seeds(job.all_seeds)}
    waits = domain_refusal(host_of(url), storage.hosts(), limit=job.max_untried_hosts, named=seed_hosts)
    return Check(name=DOMAIN_LIMIT, passed=None if waits else True, detail=waits)


def _check_host(url: str, job: Job, storage: FrontierStorage, reason: str) -> Iterator[Check]:
    name = host_of(url)
    record = next((one for one in storage.hosts() if one.name == name), None)
    if job.web is None:  # a recorded web has no addresses
        yield _check_address(url, job, record, reason)
    yield _check_robots(url, job, record)
    if record is None:
        return
    if record.ready_at > datetime.now(UTC).timestamp():
        detail = f"its host is snoozed until {format_moment(record.ready_at)}"
        yield Check(name=DELAY, passed=None, detail=detail)
    in_a_row = given_up(record) == TOO_MANY_FAILURES
    yield _check_from_refusal("host", f"given up after {record.failures} failures in a row" if in_a_row else "")
    budget = HostBudget(pages=job.pages_per_host, bytes=job.bytes_per_host, host_stop_after=job.host_stop_after)
    yield _check_from_refusal("host budget", budget.refusal(record, 0))


def _check_address(url: str, job: Job, record: HostRecord | None, reason: str) -> Check:
    """Check the host's address against the address guard, as far as the address is known without DNS."""
    name, origin = "address guard", split_url(url)[0]
    table = job.host_endpoints()
    address = origin.host if origin.is_address else table[origin.host][0] if origin.host in table else ""
    address = address or (record.address if record is not None else "")
    if address:
        refusal = AddressGuard(job.allow).refusal(address)
        advice = f"{refusal}; if the host is yours, --allow {address} allows it"
        return _check_from_refusal(name, advice if refusal else "")
    if reason == FailureKind.GUARD.value:
        advice = "its host has no public address; if the host is yours, --allow RANGE allows it"
        return _check_from_refusal(name, advice)
    return Check(name=name, passed=None, detail="the address of its host is not resolved yet")


def _check_robots(url: str, job: Job, record: HostRecord | None) -> Check:
    if job.own_hosts and compile_own_hosts(job.own_hosts)(host_of(url)):
        return Check(name="robots", passed=True, detail="one of your own hosts: robots.txt is not applied")
    robots, read_at = record.rules_for(url) if record is not None else (None, 0.0)
    if record is not None and record.unread_since is not None and not _were_valid(robots, read_at, record.unread_since):
        return Check(name="robots", passed=False if given_up(record) else None, detail=_describe_unread(record))
    if robots is None:
        return Check(name="robots", passed=None, detail="the robots.txt of its host is not fetched yet")
    rules = RobotsRules(robots)
    use = rules.preferences(url).reserves(job.obey_usage)
    reserved = f"its host's robots.txt reserves {use}, which obey_usage names" if use else ""
    return _check_from_refusal("robots", reserved if rules.allows(url) else _describe_rule(rules, url, read_at))


def _describe_rule(rules: RobotsRules, url: str, read_at: float) -> str:
    """Return which line of a robots.txt refuses a URL, and until when the file is valid."""
    rule = rules.deciding_rule(url).encode(errors="replace").decode()
    until = f" (read {format_moment(read_at)}, valid until {format_moment(read_at + RULES_LAST)})" if read_at else ""
    return f"its host's robots.txt has the line `{rule}`{until}"


def _were_valid(robots: bytes | None, read_at: float, now: float) -> bool:
    """Return whether the robots.txt for the scheme of a URL was known and not expired at a time.

    If so, a robots.txt that the host record calls unreadable is the one for the other scheme.
    """
    return robots is not None and now - read_at < RULES_LAST


def _describe_unread(record: HostRecord) -> str:
    since = format_moment(record.unread_since or 0.0)
    failed = f"the robots.txt of its host could not be read since {since} ({record.unread_for}), so nothing is allowed"
    return failed if given_up(record) else f"{failed} now; it is requested again after {format_moment(record.ready_at)}"


def link_from_home_page(url: str) -> tuple[Link, Outcome]:
    """Return a plain link to the URL on its host's home page, for URLs of which no link is known."""
    parent = Outcome(url=origin_of(url) + "/", host=host_of(url), depth=0, relevant=False, kind="html")
    return Link(url=url, source=LinkSource.ANCHOR), parent


def _check_policy(url: str, policy: Policy) -> Check:
    link, parent = link_from_home_page(url)
    rating = policy.rate([link], parent)[0]
    if rating.refused:
        return Check(name="policy", passed=False, detail=rating.refused)
    score = "" if abs(rating.score) in (0.0, inf) else f" with the score {rating.score:.4g}"
    return Check(name="policy", passed=True, detail=f"a plain link to it would be queued{score}")
