"""Why a URL was fetched, waits, or was refused: everything on record about it, and what the policy says of it now.

Nothing is written and no lock is taken, so a crawl may run meanwhile: then what is told is as of its last commit.
A sharded crawl is asked shard by shard, since each has its own frontier and its own policy.

Ranks are found by asking, not by formula: all arms that have URLs waiting are woken in a copy of the policy, and it
picks them one by one until it picks this one. So the rank is the policy's own, whatever the policy; hosts that must
rest just now are counted as if they need not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import SequenceMatcher
from typing import Any

import msgspec

from motherlode.crawler.config.host_patterns import typed_address
from motherlode.crawler.config.job import Job
from motherlode.crawler.explain.history import (
    DOMAIN_LIMIT,
    Check,
    FetchHistory,
    RedirectStep,
    chain,
    checks,
    last_outcome,
    plain_link,
    telling,
    visits_of,
)
from motherlode.crawler.folder import CrawlFolder
from motherlode.crawler.recrawl.revisits import WITHDRAWN
from motherlode.crawler.recrawl.revisits import RevisitResult as Look
from motherlode.crawler.stats.counters import Counters
from motherlode.frontier import REVISIT, Entry, LmdbStorage, UrlState
from motherlode.model import Explanation, Link, LinkSource, Outcome, Policy, Rating, Syntax, Visit
from motherlode.policies import policy_from, target_from
from motherlode.www.urls import host_of

_MOST_ARMS = 200_000
_MOST_PICKS = 20_000
"""Arms that are woken, and picked, to find a rank."""
_MOST_ROWS = 1_000_000
"""Known URLs that are looked through for the nearest."""
_NEAREST = 5
_COMPARED = 1000
_LONGEST_PATH = 30
_UNREADABLE = (msgspec.MsgspecError, ValueError, TypeError, KeyError, IndexError, AttributeError, EOFError)

FETCHED, FAILED, WAITS, UNDER_WAY, REFUSED, UNKNOWN = "fetched", "failed", "waits", "under way", "refused", "unknown"
_STATES = {
    UrlState.DONE: FETCHED,
    UrlState.FAILED: FAILED,
    UrlState.WAITING: WAITS,
    UrlState.IN_FLIGHT: UNDER_WAY,
    UrlState.REFUSED: REFUSED,
}


class UrlRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Where a URL was first met."""

    source: str
    """seed, anchor, link, triple, redirect, sitemap …"""
    parent: str = ""
    anchor: str = ""
    rel: str = ""
    tag_path: str = ""
    predicate: str = ""
    depth: int = 0
    order: int = 0
    """The how-manieth URL of the crawl it was."""
    path: tuple[str, ...] = ()
    """From a seed to the page that links here."""


class Rank(msgspec.Struct, frozen=True, kw_only=True):
    """Where a waiting URL stands."""

    ahead_in_arm: int
    """URLs of its arm that go first."""
    waiting_in_arm: int
    arm: int | None = None
    """The place of its arm among all, 1 for the next; None where it lies too far behind to be counted."""
    arms: int = 0
    waiting: int = 0
    """URLs that wait in all."""


class UrlExplanation(msgspec.Struct, frozen=True, kw_only=True):
    """The whole answer; `explain --json` prints it as it is."""

    url: str
    state: str
    because: str
    """One sentence."""
    reason: str = ""
    """As it stands on record, where the state has one."""
    policy: str = ""
    target: str = ""
    arm: str = ""
    score: float | None = None
    """Inside its arm, as rated when it was found."""
    value_at_pick: float | None = None
    """What its arm was thought to be worth when it was picked."""
    found: UrlRecord | None = None
    rank: Rank | None = None
    explanation: Explanation | None = None
    outcome: FetchHistory | None = None
    redirects: tuple[RedirectStep, ...] = ()
    """The chain in which it stands, first to last."""
    retry_at: float | None = None
    """Seconds since the epoch, where a failure is to be tried again."""
    checks: tuple[Check, ...] = ()
    nearest: tuple[tuple[str, str], ...] = ()
    """For a URL that was never met: the known ones of its host that look most like it, with their states."""

    def summary(self) -> dict[str, Any]:
        summary: dict[str, Any] = msgspec.to_builtins(self)
        return summary


def explain(folder: CrawlFolder, url: str) -> UrlExplanation:
    """What there is to say about a URL."""
    folder.require()
    spelled = typed_address(url)
    if spelled is None:
        problem = Check(name="address", passed=False, detail="not an http or https URL that could be fetched")
        return UrlExplanation(
            url=url, state=UNKNOWN, because=f"it cannot be fetched at all: {problem.detail}", checks=(problem,)
        )
    parts = [part for part in (folder.shards() or [folder]) if part.frontier.exists()]
    for part in parts:
        with _opened(part) as ledger:
            for spelling in (spelled, _other_scheme(spelled)):
                known = ledger.find(spelling)
                if known is not None:
                    return _known(part, ledger, *known)
    if not parts:
        return UrlExplanation(url=spelled, state=UNKNOWN, because="the crawl has not begun")
    nearest = _nearest(parts, spelled)  # before: a frontier cannot be opened twice
    if "://" not in url:
        spelled = _in_known_scheme(spelled, nearest)
    with _opened(parts[0]) as ledger:
        return _unknown(parts[0], ledger, spelled, nearest)


@contextmanager
def _opened(folder: CrawlFolder) -> Iterator[LmdbStorage]:
    ledger = LmdbStorage(folder.frontier, read_only=True)
    try:
        yield ledger
    finally:
        ledger.close()


def _other_scheme(url: str) -> str:
    scheme, _, rest = url.partition("://")
    return f"{'http' if scheme == 'https' else 'https'}://{rest}"


def _in_known_scheme(url: str, nearest: Sequence[tuple[str, str]]) -> str:
    """Who leaves the scheme out means that by which the host is known, if most of what is like it has the other."""
    others = sum(not known.startswith(url.partition("/")[0] + "/") for known, _ in nearest)
    return _other_scheme(url) if 2 * others > len(nearest) else url


def _policy(job: Job, storage: LmdbStorage) -> Policy | None:
    """The policy as of the last commit; None where what it learned cannot be read."""
    policy = policy_from(job.policy, job.seed, target=target_from(job.target))
    state = storage.note("policy")
    try:
        if state is not None:
            policy.load(state)
    except _UNREADABLE:
        return None
    return policy


# ── known ────────────────────────────────────────────────────────────────────────────────────────────


def _known(folder: CrawlFolder, storage: LmdbStorage, entry: Entry, state: UrlState, reason: str) -> UrlExplanation:
    job = folder.job()
    policy = _policy(job, storage)
    visits = visits_of(storage, entry.url)
    last = telling(visits)
    if state is UrlState.IN_FLIGHT:
        reason = reason or _cut_off_at(storage, entry.url)
    retry_at = next((until for until, one in storage.postponed() if one.url == entry.url), None)
    ranked = state is UrlState.WAITING and not entry.arm.startswith(REVISIT)
    rank = _rank(_policy(job, storage), storage, entry) if ranked else None
    if policy is not None:
        _wake(policy, storage, host_of(entry.url))
    told = UrlExplanation(
        url=entry.url,
        state=WAITS if retry_at is not None else _STATES[state],
        because="",
        reason=reason,
        policy=job.policy,
        target=job.target,
        arm=entry.arm,
        score=entry.score,
        value_at_pick=None if last is None else last.value,
        found=_found(storage, entry),
        rank=rank,
        explanation=None if policy is None else _explained(policy, storage, entry),
        outcome=None if last is None else last_outcome(last, visits, recorded=job.web is not None),
        redirects=chain(storage, entry, last),
        retry_at=retry_at,
        checks=_checks(folder, job, storage, entry, state, reason),
    )
    return msgspec.structs.replace(told, because=sentence(told))


def _cut_off_at(storage: LmdbStorage, url: str) -> str:
    """What was being done with a page when the time of the crawl was up; "" if nothing was."""
    saved = storage.note("totals")
    try:
        stage = msgspec.msgpack.decode(saved, type=Counters).unfinished.get(url) if saved is not None else None
    except msgspec.DecodeError:
        return ""
    return "" if stage is None else f"it was {stage} when the time of the crawl was up"


def _wake(policy: Policy, storage: LmdbStorage, wanted: str) -> None:
    """Let the policy know what waits of a host: the value of each of its arms now may go by all of that."""
    for arm, host, count in storage.waiting():
        if host == wanted and not arm.startswith(REVISIT):
            policy.arm_ready(arm, storage.best(arm) or 0.0, count)


def _checks(
    folder: CrawlFolder, job: Job, storage: LmdbStorage, entry: Entry, state: UrlState, reason: str
) -> tuple[Check, ...]:
    """What would stop a URL that waits, or stopped one that was refused."""
    if state not in (UrlState.WAITING, UrlState.REFUSED):
        return ()
    is_seed = entry.source == LinkSource.SEED.value
    return tuple(checks(entry.url, job=job, folder=folder, storage=storage, is_seed=is_seed, reason=reason))


def _found(storage: LmdbStorage, entry: Entry) -> UrlRecord:
    path: list[str] = []
    above = entry.parent_url
    while above and above not in path and len(path) < _LONGEST_PATH:
        path.append(above)
        known = storage.find(above)
        above = known[0].parent_url if known is not None else ""
    return UrlRecord(
        source=entry.source,
        parent=entry.parent_url,
        anchor=entry.anchor,
        rel=entry.rel,
        tag_path=entry.tag_path,
        predicate=entry.predicate,
        depth=entry.depth,
        order=entry.sequence,
        path=tuple(reversed(path)),
    )


def _explained(policy: Policy, storage: LmdbStorage, entry: Entry) -> Explanation | None:
    explains = getattr(policy, "explain", None)
    if explains is None or entry.arm.startswith(REVISIT):
        return None
    link = Link(
        url=entry.url,
        source=LinkSource(entry.source),
        anchor=entry.anchor,
        rel=entry.rel,
        tag_path=entry.tag_path,
        predicate=entry.predicate,
    )
    explanation: Explanation = explains(
        link, Rating(arm=entry.arm, score=entry.score, policy_state=entry.policy_state), _parent(storage, entry)
    )
    return explanation


def _parent(storage: LmdbStorage, entry: Entry) -> Outcome | None:
    known = storage.find(entry.parent_url) if entry.parent_url else None
    if known is None:
        return None
    above, visits = known[0], visits_of(storage, entry.parent_url)
    last = visits[-1] if visits else Visit(number=0, url=above.url, host=host_of(above.url))
    return Outcome(
        url=above.url,
        host=host_of(above.url),
        depth=above.depth,
        relevant=last.relevant,
        counts={Syntax(name): count for name, count in last.counts.items()},
        kind=last.kind,
        policy_state=above.policy_state,
        parent_url=above.parent_url,
        arm=above.arm,
    )


def _rank(copy: Policy | None, storage: LmdbStorage, entry: Entry) -> Rank:
    arms = [(arm, count) for arm, _, count in storage.waiting() if not arm.startswith(REVISIT)]
    return Rank(
        ahead_in_arm=storage.ahead_of(entry),
        waiting_in_arm=dict(arms).get(entry.arm, 0),
        arm=None if copy is None else _place(copy, storage, arms, entry.arm),
        arms=len(arms),
        waiting=sum(count for _, count in arms),
    )


def _place(policy: Policy, storage: LmdbStorage, arms: Sequence[tuple[str, int]], wanted: str) -> int | None:
    if len(arms) > _MOST_ARMS:
        return None
    for arm, count in arms:
        policy.arm_ready(arm, storage.best(arm) or 0.0, count)
    for place in range(1, min(len(arms), _MOST_PICKS) + 1):
        picked = policy.pick()
        if picked is None or picked == wanted:
            return place if picked else None
        policy.arm_snoozed(picked)
    return None


def sentence(told: UrlExplanation) -> str:
    """The answer in one sentence."""
    outcome, rank = told.outcome, told.rank
    if told.state == REFUSED:
        return f"refused, no request was made: {told.reason or 'no reason is on record'}"
    if told.retry_at is not None and outcome is not None:
        return f"waits to be tried again after a failure ({outcome.failure}): {outcome.treatment}"
    withheld = next((one.detail for one in told.checks if one.name == DOMAIN_LIMIT), "")
    if told.state == WAITS and withheld:
        return f"waits, and is not in line for a request: {withheld} (max_untried_hosts)"
    if told.state == WAITS and rank is not None:
        place = "its arm's place among the arms cannot be told" if rank.arm is None else _among(rank)
        first = f"{rank.ahead_in_arm:,} of the {rank.waiting_in_arm:,} URLs of its arm go first"
        return f"waits: {first if rank.ahead_in_arm else 'it is the first of its arm'}; {place}"
    if outcome is not None and (told.state in (FETCHED, FAILED) or told.arm.startswith(REVISIT)):
        worth = "" if told.value_at_pick is None else f", when its arm was worth {told.value_at_pick:.3f}"
        came = "it was a find" if outcome.relevant else "it was no find"
        if outcome.failure:
            gone = outcome.refresh == Look.GONE.value
            came = f"the page is gone: {outcome.failure}" if gone else f"no page came: {outcome.failure}"
            if outcome.detail == WITHDRAWN:
                came = f"{WITHDRAWN}: its quads were taken out"
        since = "; looked at again since, and unchanged" if outcome.refresh == Look.UNCHANGED.value else ""
        waits = "waits to be looked at again; " if told.state == WAITS else ""
        return f"{waits}fetched as request {outcome.number:,}{worth}; {came}{since}"
    if told.state == UNDER_WAY and told.reason:
        return f"waits for a resume: {told.reason}"
    if told.state == UNDER_WAY:
        return "handed out and under way at the last commit, or waiting for its host's robots.txt"
    return told.state


def _among(rank: Rank) -> str:
    if rank.arm == 1:
        return f"its arm is the best of {rank.arms:,}"
    return f"its arm is number {rank.arm:,} of {rank.arms:,}"


# ── unknown ──────────────────────────────────────────────────────────────────────────────────────────


def _unknown(
    folder: CrawlFolder, storage: LmdbStorage, url: str, nearest: tuple[tuple[str, str], ...]
) -> UrlExplanation:
    job = folder.job()
    policy = _policy(job, storage)
    found = tuple(checks(url, job=job, folder=folder, storage=storage, policy=policy))
    stopped = next((one for one in found if one.passed is False), None)
    if stopped is not None:
        because = f"never taken up; if a page linked to it, it would be refused ({stopped.name}): {stopped.detail}"
    else:
        because = (
            "never met: no page that was fetched links to it, or only such that ask not to be followed, whose links "
            "are counted and not kept"
        )
    return UrlExplanation(
        url=url,
        state=UNKNOWN,
        because=because,
        policy=job.policy,
        target=job.target,
        checks=found,
        explanation=None if policy is None or stopped is not None else _as_a_link(policy, url),
        nearest=nearest,
    )


def _as_a_link(policy: Policy, url: str) -> Explanation | None:
    """What the policy would say of a plain link to it on its host's home page."""
    explains = getattr(policy, "explain", None)
    if explains is None:
        return None
    link, parent = plain_link(url)
    explanation: Explanation = explains(link, policy.rate([link], parent)[0], parent)
    return explanation


def _in_common(one: str, other: str) -> int:
    """Characters from the start in which two URLs agree."""
    return next((place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(one))


def _nearest(parts: Sequence[CrawlFolder], url: str) -> tuple[tuple[str, str], ...]:
    """Known URLs of the host that look most like this one."""
    host, found = host_of(url), []
    for part in parts:
        with _opened(part) as ledger:
            for number, (entry, state, _) in enumerate(ledger.entries()):
                if number >= _MOST_ROWS:
                    break
                if f"//{host}" in entry.url and host_of(entry.url) == host:
                    found.append((entry.url, _STATES[state]))
    found.sort(key=lambda one: -_in_common(url, one[0]))
    found = found[:_COMPARED]
    likeness = {one: SequenceMatcher(None, url, one, autojunk=False).quick_ratio() for one, _ in found}
    return tuple(sorted(found, key=lambda one: -likeness[one[0]])[:_NEAREST])
