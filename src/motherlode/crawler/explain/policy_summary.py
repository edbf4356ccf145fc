"""Summary of a policy: its most valuable arms with probabilities and examples, and a summary of what it learned."""

from __future__ import annotations

from contextlib import closing
from heapq import nlargest
from itertools import islice
from math import sqrt

import msgspec

from motherlode.crawler.config.job import Job
from motherlode.crawler.explain.explanation import load_policy
from motherlode.crawler.folder import CrawlFolder
from motherlode.crawler.frontier_reader import open_to_read
from motherlode.frontier import LmdbStorage, is_revisit_arm
from motherlode.model import Explains, Link, LinkSource, Policy, Rating, Summarizes, SummaryLine, ValuesArms, Visit
from motherlode.policies.motherlode.arm_key import describe_arm

_MAX_ARMS = 20_000
"""Number of waiting arms, those with most URLs, that are valued."""
_RECENT_VISITS = 2_000
"""Number of last visits that are searched for examples of an arm."""
_MAX_EXAMPLES = 3
_PRIOR_TRIES = 2.0
"""Weight, in requests, of the prior in the uncertainty of a probability."""


class Example(msgspec.Struct, frozen=True, kw_only=True):
    """A visited URL of an arm."""

    url: str
    relevant: bool


class ArmSummary(msgspec.Struct, frozen=True, kw_only=True):
    """Probability and value of an arm with waiting URLs."""

    arm: str
    """The arm's key, as the policy makes it."""
    name: str
    host: str
    waiting: int
    value: float | None = None
    """The number by which arms are picked; None if the policy has none."""
    probability: float | None = None
    """Probability that a URL of the arm is a relevant page; None if the policy has none."""
    uncertainty: float | None = None
    """Standard deviation of the probability, if each request counts as one independent observation."""
    tries: float | None = None
    examples: tuple[Example, ...] = ()


class PolicySummary(msgspec.Struct, frozen=True, kw_only=True):
    """What a policy has learned, and the state of its queue, at the last commit."""

    name: str
    says: str = ""
    arms: tuple[ArmSummary, ...] = ()
    """The arms with the highest values first."""
    tables: tuple[SummaryLine, ...] = ()
    waiting: int = 0
    """URLs that wait for their first request."""
    revisits: int = 0
    retries: int = 0
    """URLs that wait for a retry after a failure."""


def read_policy_summary(folder: CrawlFolder, *, most: int) -> PolicySummary:
    """Read the summary of the policy of a crawl, with at most `most` arms.

    The shards of a crawl share what they learn, but each has arms of its own. So the arms are those of all shards, and
    the tables are those of the first.
    """
    job = folder.read_job()
    parts = [part for part in (folder.shard_folders() or [folder]) if part.frontier.exists()]
    found = [_summarize(part, job, most) for part in parts] or [PolicySummary(name=job.policy)]
    arms = nlargest(most, (arm for one in found for arm in one.arms), key=lambda arm: (arm.value or 0.0, arm.waiting))
    return PolicySummary(
        name=job.policy,
        says=next((one.says for one in found if one.says), ""),
        arms=tuple(arms),
        tables=found[0].tables,
        waiting=sum(one.waiting for one in found),
        revisits=sum(one.revisits for one in found),
        retries=sum(one.retries for one in found),
    )


def _summarize(folder: CrawlFolder, job: Job, most: int) -> PolicySummary:
    """Return the summary for one process of a crawl."""
    with closing(open_to_read(folder)) as storage:
        policy = load_policy(job, storage)
        waiting = list(storage.waiting())
        found = PolicySummary(
            name=job.policy,
            waiting=sum(count for arm, _, count in waiting if not is_revisit_arm(arm)),
            revisits=sum(count for arm, _, count in waiting if is_revisit_arm(arm)),
            retries=sum(1 for _ in storage.postponed()),
        )
        if policy is None:
            return found
        rows = nlargest(_MAX_ARMS, (row for row in waiting if not is_revisit_arm(row[0])), key=lambda row: row[2])
        arms, says = _value_arms(policy, storage, rows, most)
    tables = tuple(policy.summary(most)) if isinstance(policy, Summarizes) else ()
    return msgspec.structs.replace(found, says=says, arms=arms, tables=tables)


def _value_arms(
    policy: Policy, storage: LmdbStorage, rows: list[tuple[str, str, int]], most: int
) -> tuple[tuple[ArmSummary, ...], str]:
    for arm, _, count in rows:
        policy.arm_ready(arm, storage.best(arm) or 0.0, count)
    values = {arm: policy.value(arm) for arm, _, _ in rows} if isinstance(policy, ValuesArms) else {}
    top = nlargest(most, rows, key=lambda row: (values.get(row[0], 0.0), row[2]))
    examples = _find_examples(storage, {arm for arm, _, _ in top})
    says, found = "", []
    for arm, host, count in top:
        summary = ArmSummary(
            arm=arm, name=describe_arm(arm), host=host, waiting=count, value=values.get(arm), examples=examples[arm]
        )
        if isinstance(policy, Explains):
            url = summary.examples[0].url if summary.examples else f"http://{host}/"
            link = Link(url=url, source=LinkSource.ANCHOR)
            one = policy.explain(link, Rating(arm=arm, score=storage.best(arm) or 0.0), None)
            says, tries = one.says, one.record.get("tries")
            summary = msgspec.structs.replace(
                summary, probability=one.posterior, tries=tries, uncertainty=_deviation(one.posterior, tries)
            )
        found.append(summary)
    return tuple(found), says


def _deviation(probability: float | None, tries: float | None) -> float | None:
    """Return the standard deviation of a beta distribution with this mean, after these tries."""
    if probability is None or tries is None:
        return None
    return sqrt(max(0.0, probability * (1.0 - probability)) / (tries + _PRIOR_TRIES + 1.0))


def _find_examples(storage: LmdbStorage, arms: set[str]) -> dict[str, tuple[Example, ...]]:
    """Return the last visited URLs of each arm."""
    found: dict[str, list[Example]] = {arm: [] for arm in arms}
    decode = msgspec.msgpack.Decoder(Visit).decode
    for record in islice(storage.newest_visits(), _RECENT_VISITS):
        visit = decode(record)
        if visit.arm in found and len(found[visit.arm]) < _MAX_EXAMPLES:
            found[visit.arm].append(Example(url=visit.url, relevant=visit.relevant))
    return {arm: tuple(examples) for arm, examples in found.items()}
