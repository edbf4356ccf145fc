"""Explanation of one URL: its state and records in the crawl folder, and its present rating by the policy.

Reading takes no lock, so the explanation of a running crawl is about its last commit. The rank of an arm is the number
of picks of a copy of the policy, in which all arms with waiting URLs are ready, until it picks the arm.
"""

from collections.abc import Mapping, Sequence
from contextlib import closing
from difflib import SequenceMatcher
from heapq import nlargest
from itertools import islice
from typing import Any

import msgspec
from rapidfuzz.distance import Prefix

from motherlode.crawler.config.host_patterns import complete_url
from motherlode.crawler.config.job import Job
from motherlode.crawler.config.values import format_moment
from motherlode.crawler.explain import history
from motherlode.crawler.explain.checks import DELAY, DOMAIN_LIMIT, Check, link_from_home_page, run_checks
from motherlode.crawler.folder import CrawlFolder
from motherlode.crawler.frontier_reader import open_to_read
from motherlode.crawler.recrawl.revisits import WITHDRAWN, RevisitResult
from motherlode.crawler.stats.counters import Counters
from motherlode.frontier import Entry, LmdbStorage, UrlState, is_revisit_arm
from motherlode.model import Explains, Explanation, Link, LinkSource, Outcome, Policy, Rating, Syntax, Visit
from motherlode.policies import policy_from, target_from
from motherlode.www.urls import host_of

_MAX_ARMS = 200_000
"""No rank is computed with more waiting arms."""
_MAX_PICKS = 20_000
"""Number of picks of the policy after which no rank is given."""
_MAX_SCANNED_URLS = 1_000_000
"""Maximum number of known URLs per shard that are searched for similar ones."""
_MAX_COMPARED_URLS = 1000
"""Maximum number of known URLs, those with the longest common prefix, that are compared in full."""
_SIMILAR_URLS = 5
_MAX_PATH_LENGTH = 30
_LINK_FIELDS = ("anchor", "rel", "tag_path", "predicate")
_SET_ASIDE = "it was set aside to save memory; `motherlode resume` with more --memory queues it again"
_DECODING_ERRORS = (msgspec.MsgspecError, ValueError, TypeError, KeyError, IndexError, AttributeError, EOFError)

FETCHED, FAILED, WAITS, UNDER_WAY, REFUSED, UNKNOWN = "fetched", "failed", "waits", "under way", "refused", "unknown"
_STATES = {
    UrlState.DONE: FETCHED,
    UrlState.FAILED: FAILED,
    UrlState.WAITING: WAITS,
    UrlState.IN_FLIGHT: UNDER_WAY,
    UrlState.REFUSED: REFUSED,
}


PREDICTED_EVENTS = {"answers": "responds", "is a find": "is relevant"}
"""Names, for people, of what the features of a policy predict (`Reason.about`)."""


def describe_statistics(record: Mapping[str, float]) -> str:
    """Return the statistics of an arm (`Explanation.record`) for people.

    >>> describe_statistics({"tries": 13, "finds": 2, "host_tries": 45.0, "host_finds": 3})
    '13 tries, 2 relevant; host: 45 tries, 3 relevant'
    """
    names = {name: name.removeprefix("host_").replace("finds", "relevant").replace("_", " ") for name in record}
    own = ", ".join(f"{value:g} {names[name]}" for name, value in record.items() if not name.startswith("host_"))
    host = ", ".join(f"{value:g} {names[name]}" for name, value in record.items() if name.startswith("host_"))
    return "; ".join(part for part in (own, host and f"host: {host}") if part)


class UrlRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Where a URL was first found."""

    source: str
    """seed, anchor, link, triple, redirect, sitemap …"""
    parent: str = ""
    anchor: str = ""
    rel: str = ""
    tag_path: str = ""
    predicate: str = ""
    depth: int = 0
    order: int = 0
    """Number of the URL in the crawl, in the order of discovery."""
    path: tuple[str, ...] = ()
    """URLs from a seed to the page with the link."""


class Rank(msgspec.Struct, frozen=True, kw_only=True):
    """Rank of a waiting URL."""

    ahead_in_arm: int
    """URLs of its arm with a better score."""
    waiting_in_arm: int
    arm: int | None = None
    """Rank of its arm among all arms, 1 for the next pick. None if it is too low to be computed."""
    arms: int = 0
    waiting: int = 0


class UrlExplanation(msgspec.Struct, frozen=True, kw_only=True):
    """Explanation of one URL. `explain --json` prints it."""

    url: str
    state: str
    because: str
    """The explanation in one sentence."""
    reason: str = ""
    """The recorded reason of the state, or ""."""
    policy: str = ""
    target: str = ""
    arm: str = ""
    score: float | None = None
    """Score inside its arm, rated when it was found."""
    value_at_pick: float | None = None
    found: UrlRecord | None = None
    rank: Rank | None = None
    explanation: Explanation | None = None
    outcome: history.FetchHistory | None = None
    redirects: tuple[history.RedirectStep, ...] = ()
    retry_at: float | None = None
    """Time of the next retry in seconds since the epoch, or None."""
    checks: tuple[Check, ...] = ()
    nearest: tuple[tuple[str, str], ...] = ()
    """For an unknown URL: the most similar known URLs of its host, with their states."""

    def summary(self) -> Any:
        """Return the explanation as an object for JSON."""
        return msgspec.to_builtins(self)


def explain_url(folder: CrawlFolder, url: str) -> UrlExplanation:
    """Explain a URL as the user typed it. The scheme may be missing."""
    folder.require()
    spelled = complete_url(url)
    if spelled is None:
        problem = Check(name="address", passed=False, detail="not an http or https URL")
        because = f"it cannot be fetched: {problem.detail}"
        return UrlExplanation(url=url, state=UNKNOWN, because=because, checks=(problem,))
    parts = [part for part in (folder.shard_folders() or [folder]) if part.frontier.exists()]
    for part in parts:
        with _open_storage(part) as storage:
            for spelling in (spelled, _other_scheme(spelled)):
                known = storage.find(spelling)
                if known is not None:
                    return _explain_known(part, storage, *known)
    if not parts:
        return UrlExplanation(url=spelled, state=UNKNOWN, because="the crawl has not started")
    nearest = _find_similar(parts, spelled)  # before the next line, because a frontier cannot be opened twice
    if "://" not in url:
        spelled = _guess_scheme(spelled, nearest)
    with _open_storage(parts[0]) as storage:
        return _explain_unknown(parts[0], storage, spelled, nearest)


def _open_storage(folder: CrawlFolder) -> closing[LmdbStorage]:
    return closing(open_to_read(folder))


def _other_scheme(url: str) -> str:
    scheme, _, rest = url.partition("://")
    return f"{'http' if scheme == 'https' else 'https'}://{rest}"


def _guess_scheme(url: str, nearest: Sequence[tuple[str, str]]) -> str:
    """Return the URL with the other scheme if most of the similar URLs have that."""
    others = sum(not known.startswith(f"{url.partition('/')[0]}/") for known, _ in nearest)
    return _other_scheme(url) if 2 * others > len(nearest) else url


def load_policy(job: Job, storage: LmdbStorage) -> Policy | None:
    """Return the policy with its state of the last commit, or None if the state cannot be read."""
    policy = policy_from(job.policy, job.seed, target=target_from(job.target))
    state = storage.note("policy")
    try:
        if state is not None:
            policy.load(state)
    except _DECODING_ERRORS:
        return None
    return policy


def _explain_known(
    folder: CrawlFolder, storage: LmdbStorage, entry: Entry, state: UrlState, reason: str
) -> UrlExplanation:
    job = folder.read_job()
    policy = load_policy(job, storage)
    visits = history.find_visits(storage, entry.url)
    last = history.last_informative_visit(visits)
    if state is UrlState.IN_FLIGHT:
        reason = reason or _find_unfinished_stage(storage, entry.url)
    retry_at = next((until for until, one in storage.postponed() if one.url == entry.url), None)
    if state is UrlState.WAITING and entry.arm not in storage.arms():
        reason = _SET_ASIDE
    has_rank = state is UrlState.WAITING and not entry.is_revisit and reason != _SET_ASIDE
    rank = _compute_rank(load_policy(job, storage), storage, entry) if has_rank else None
    if policy is not None:
        _make_arms_ready(policy, storage, host_of(entry.url))
    checks: list[Check] = []
    if state in (UrlState.WAITING, UrlState.REFUSED):
        is_seed = entry.source == LinkSource.SEED.value
        checks = run_checks(entry.url, job=job, folder=folder, storage=storage, is_seed=is_seed, reason=reason)
    explanation = UrlExplanation(
        url=entry.url,
        state=WAITS if retry_at is not None else _STATES[state],
        because="",
        reason=reason,
        policy=job.policy,
        target=job.target,
        arm=entry.arm,
        score=entry.score,
        value_at_pick=None if last is None else last.value,
        found=_find_record(storage, entry),
        rank=rank,
        explanation=None if policy is None else _explain_rating(policy, storage, entry),
        outcome=None if last is None else history.build_history(last, visits, recorded=job.web is not None),
        redirects=history.find_redirects(storage, entry, last),
        retry_at=retry_at,
        checks=tuple(checks),
    )
    return msgspec.structs.replace(explanation, because=_summarize(explanation))


def _find_unfinished_stage(storage: LmdbStorage, url: str) -> str:
    """Return a phrase about the work on a page that ended with the time budget, or "" if there was none."""
    saved = storage.note("totals")
    try:
        stage = msgspec.msgpack.decode(saved, type=Counters).unfinished.get(url) if saved is not None else None
    except msgspec.DecodeError:
        return ""
    return "" if stage is None else f"it was {stage} when the time of the crawl was up"


def _make_arms_ready(policy: Policy, storage: LmdbStorage, wanted: str) -> None:
    """Mark the arms of a host ready in the policy, because the value of an arm may depend on the others."""
    for arm, host, count in storage.waiting():
        if host == wanted and not is_revisit_arm(arm):
            policy.arm_ready(arm, storage.best(arm) or 0.0, count)


def _find_record(storage: LmdbStorage, entry: Entry) -> UrlRecord:
    path: list[str] = []
    above = entry.parent_url
    while above and above not in path and len(path) < _MAX_PATH_LENGTH:
        path.append(above)
        known = storage.find(above)
        above = known[0].parent_url if known is not None else ""
    copied = {name: getattr(entry, name) for name in ("source", "depth", *_LINK_FIELDS)}
    return UrlRecord(parent=entry.parent_url, order=entry.sequence, path=tuple(reversed(path)), **copied)


def _explain_rating(policy: Policy, storage: LmdbStorage, entry: Entry) -> Explanation | None:
    if not isinstance(policy, Explains) or entry.is_revisit or not entry.arm:
        return None  # a URL that was refused before it was rated has no arm
    copied = {name: getattr(entry, name) for name in _LINK_FIELDS}
    link = Link(url=entry.url, source=LinkSource(entry.source), **copied)
    rating = Rating(arm=entry.arm, score=entry.score, policy_state=entry.policy_state)
    return policy.explain(link, rating, _find_parent(storage, entry))


def _find_parent(storage: LmdbStorage, entry: Entry) -> Outcome | None:
    known = storage.find(entry.parent_url) if entry.parent_url else None
    if known is None:
        return None
    above, visits = known[0], history.find_visits(storage, entry.parent_url)
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


def _compute_rank(copy: Policy | None, storage: LmdbStorage, entry: Entry) -> Rank:
    arms = [(arm, count) for arm, _, count in storage.waiting() if not is_revisit_arm(arm)]
    return Rank(
        ahead_in_arm=storage.ahead_of(entry),
        waiting_in_arm=dict(arms).get(entry.arm, 0),
        arm=None if copy is None else _rank_arm(copy, storage, arms, entry.arm),
        arms=len(arms),
        waiting=sum(count for _, count in arms),
    )


def _rank_arm(policy: Policy, storage: LmdbStorage, arms: Sequence[tuple[str, int]], wanted: str) -> int | None:
    """Return after how many picks the policy picks the wanted arm, or None."""
    if len(arms) > _MAX_ARMS:
        return None
    for arm, count in arms:
        policy.arm_ready(arm, storage.best(arm) or 0.0, count)
    for rank in range(1, min(len(arms), _MAX_PICKS) + 1):
        picked = policy.pick()
        if picked is None or picked == wanted:
            return rank if picked else None
        policy.arm_snoozed(picked)
    return None


def _summarize(url: UrlExplanation) -> str:
    """Return the explanation of a known URL in one sentence."""
    outcome, rank = url.outcome, url.rank
    if url.state == REFUSED:
        refusal = next((one.detail for one in url.checks if one.passed is False and one.detail), "")
        now = f"; {refusal}" if refusal and refusal != url.reason else ""
        return f"refused, no request was made: {url.reason or 'no reason is recorded'}{now}"
    if url.retry_at is not None and outcome is not None:
        until = format_moment(url.retry_at)
        return f"waits until {until} for a retry after a failure ({outcome.failure}): {outcome.treatment}"
    withheld = next((one.detail for one in url.checks if one.name == DOMAIN_LIMIT), "")
    if url.state == WAITS and withheld:
        return f"waits and is not in the queue: {withheld} (max_untried_hosts)"
    if url.state == WAITS and url.reason == _SET_ASIDE:
        return f"waits and is not in the queue: {_SET_ASIDE}"
    if url.state == WAITS and rank is not None:
        snoozed = next((f"; {one.detail}" for one in url.checks if one.name == DELAY), "")
        return _summarize_rank(rank) + snoozed
    if outcome is not None and (url.state in (FETCHED, FAILED) or is_revisit_arm(url.arm)):
        return _summarize_outcome(url, outcome)
    if url.state == UNDER_WAY and url.reason:
        return f"waits for a resume: {url.reason}"
    if url.state == UNDER_WAY:
        return "in flight at the last commit, or waiting for its host's robots.txt"
    return url.state


def _summarize_rank(rank: Rank) -> str:
    first = f"{rank.ahead_in_arm:,} of the {rank.waiting_in_arm:,} URLs of its arm are before it"
    in_arm = first if rank.ahead_in_arm else "it is the first of its arm"
    if rank.arm is None:
        return f"waits: {in_arm}; the rank of its arm is not known"
    if rank.arm == 1:
        return f"waits: {in_arm}; its arm is the best of {rank.arms:,}"
    return f"waits: {in_arm}; its arm is number {rank.arm:,} of {rank.arms:,}"


def _summarize_outcome(url: UrlExplanation, outcome: history.FetchHistory) -> str:
    value = "" if url.value_at_pick is None else f", when the value of its arm was {url.value_at_pick:.3f}"
    since = "; revisited since, and unchanged" if outcome.refresh == RevisitResult.UNCHANGED.value else ""
    waits = "waits for a revisit; " if url.state == WAITS else ""
    return f"{waits}fetched as request {outcome.number:,}{value}; {_summarize_response(outcome)}{since}"


def _summarize_response(outcome: history.FetchHistory) -> str:
    if not outcome.failure:
        return "it is relevant" if outcome.relevant else "it is not relevant"
    if outcome.detail == WITHDRAWN:
        return f"{WITHDRAWN}: its quads were removed"
    if outcome.refresh == RevisitResult.GONE.value:
        return f"the page is gone: {outcome.failure}"
    return f"the request failed: {outcome.failure}"


def _explain_unknown(
    folder: CrawlFolder, storage: LmdbStorage, url: str, nearest: tuple[tuple[str, str], ...]
) -> UrlExplanation:
    job = folder.read_job()
    policy = load_policy(job, storage)
    found = tuple(run_checks(url, job=job, folder=folder, storage=storage, policy=policy))
    refusal = next((one for one in found if one.passed is False), None)
    because = "unknown: no fetched page links to it, or only pages with nofollow, whose links are counted, not stored"
    if refusal is not None:
        because = f"unknown; a link to it would be refused ({refusal.name}): {refusal.detail}"
    return UrlExplanation(
        url=url,
        state=UNKNOWN,
        because=because,
        policy=job.policy,
        target=job.target,
        checks=found,
        explanation=None if policy is None or refusal is not None else _explain_new_link(policy, url),
        nearest=nearest,
    )


def _explain_new_link(policy: Policy, url: str) -> Explanation | None:
    """Return how the policy would rate a plain link to the URL on its host's home page, or None."""
    if not isinstance(policy, Explains):
        return None
    link, parent = link_from_home_page(url)
    return policy.explain(link, policy.rate([link], parent)[0], parent)


def _find_similar(parts: Sequence[CrawlFolder], url: str) -> tuple[tuple[str, str], ...]:
    """Return the known URLs of the host that are most similar, with their states."""
    host, found = host_of(url), []
    for part in parts:
        with _open_storage(part) as storage:
            for entry, state, _ in islice(storage.entries(), _MAX_SCANNED_URLS):
                if f"//{host}" in entry.url and host_of(entry.url) == host:
                    found.append((entry.url, _STATES[state]))
    found = nlargest(_MAX_COMPARED_URLS, found, key=lambda one: Prefix.similarity(url, one[0]))
    similarity = {one: SequenceMatcher(None, url, one, autojunk=False).quick_ratio() for one, _ in found}
    return tuple(sorted(found, key=lambda one: -similarity[one[0]])[:_SIMILAR_URLS])
