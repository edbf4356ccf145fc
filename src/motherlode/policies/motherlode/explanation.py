"""Explanations of the policy for people: weights, results and values of an arm, and a summary of what was learned."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from motherlode.model import Explanation, Reason, SummaryLine
from motherlode.policies.model_io import best_and_worst
from motherlode.policies.motherlode.arm_key import GENERAL_FEATURES, ArmKey, describe_arm
from motherlode.policies.motherlode.posterior import RELEVANCE, RESPONSE, ArmStatistics

if TYPE_CHECKING:
    from motherlode.policies.motherlode.motherlode_policy import Motherlode

_SAYS = (
    "The arm with the highest expected rate of relevant pages per request, its links included, goes first; more in "
    "docs/policy.md."
)
_EVENTS = ((RESPONSE, "answers"), (RELEVANCE, "is a find"))
"""The two predicted events with their names in `Reason.about`, which docs/explain.md documents."""
_MAX_LINKED_ARMS = 5
_MIN_LINKS_PER_PAGE = 0.05
"""Fewer new links per page would be shown as 0.0."""
_NO_STATISTICS = ArmStatistics()


def explain_arm(policy: Motherlode, arm: str) -> Explanation:
    key = ArmKey.parse(arm)
    reasons = [
        Reason(name=feature, weight=weight, about=about)
        for event, about in _EVENTS
        for feature, weight in _weights(policy, key, event)
    ]
    reasons.append(Reason(name=f"{key.host} so far", weight=policy.posterior.lift(key.host), about="is a find"))
    own = policy.statistics.arms.get(key.base_arm)
    of_host = [one for name, one in policy.statistics.arms.items() if _host_of(name) == key.host]
    return Explanation(
        says=_SAYS,
        reasons=tuple(sorted((one for one in reasons if one.weight), key=lambda one: -abs(one.weight))),
        prior=policy.posterior.prior(key).probability,
        posterior=policy.probability(arm),
        value=policy.value_now(arm),
        record={
            "tries": (own or _NO_STATISTICS).tries,
            "finds": (own or _NO_STATISTICS).reward,
            "host_tries": sum(one.tries for one in of_host),
            "host_finds": sum(one.reward for one in of_host),
        },
        notes=(*_hub_notes(policy, arm, key), *_arm_notes(policy, own)),
    )


def _host_of(arm: str) -> str:
    """Return the host of an arm, or "" if the arm was saved by another version with other keys."""
    try:
        return ArmKey.parse(arm).host
    except ValueError:
        return ""


def _weights(policy: Motherlode, key: ArmKey, event: int) -> Iterable[tuple[str, float]]:
    """Yield each feature with what it adds to the log-odds of RESPONSE or RELEVANCE (`event`)."""
    for index, feature in enumerate(key.features):
        yield feature, policy.posterior.weight(feature, event, is_general=index < GENERAL_FEATURES)


def _hub_notes(policy: Motherlode, arm: str, key: ArmKey) -> Iterable[str]:
    if not key.is_hub:
        return
    own = policy.statistics.hub_arms.get(arm) or _NO_STATISTICS
    yield f"its page has more links of this kind: {own.tries} of them were tried, with {own.reward:g} relevant pages"


def _arm_notes(policy: Motherlode, own: ArmStatistics | None) -> Iterable[str]:
    if own is None:
        yield "no link of this arm was tried yet: its probability is predicted from features and host"
        return
    links = sorted(own.links_per_page(empty_pages=0.0).items(), key=lambda item: -item[1])[:_MAX_LINKED_ARMS]
    for arm, count in links:
        if count >= _MIN_LINKS_PER_PAGE:
            probability = f"probability {policy.probability(arm):.2f}"
            yield f"its pages led to {count:.1f} new links each of: {describe_arm(arm)} ({probability})"


def summarize(policy: Motherlode, most: int) -> Sequence[SummaryLine]:
    """Return tables of what was learned: totals, features of every host, and the best and worst hosts and arms."""
    arms = policy.statistics.arms
    hosts: dict[str, list[float]] = {}
    for name, one in arms.items():
        host = hosts.setdefault(_host_of(name) or describe_arm(name), [0, 0])
        host[0] += one.tries
        host[1] += one.reward
    totals = SummaryLine(
        title="learned",
        columns=("what", "how many"),
        rows=(
            ("hosts", len(hosts)),
            ("arms", len(arms)),
            ("features", len(policy.statistics.features)),
            ("tries", sum(one.tries for one in arms.values())),
            ("finds", round(sum(one.reward for one in arms.values()), 3)),
        ),
    )
    return [
        totals,
        *(_strongest_features(policy, event, about, most) for event, about in _EVENTS),
        *_ranked("hosts", ((name, tries, reward) for name, (tries, reward) in hosts.items()), most),
        *_ranked("arms", ((describe_arm(name), one.tries, one.reward) for name, one in arms.items()), most),
    ]


def _strongest_features(policy: Motherlode, event: int, about: str, most: int) -> SummaryLine:
    general = {feature for arm in policy.statistics.arms for feature in ArmKey.parse(arm).features[:GENERAL_FEATURES]}
    weights = [(feature, policy.posterior.weight(feature, event, is_general=True)) for feature in general]
    weights.sort(key=lambda item: (-abs(item[1]), item[0]))
    return SummaryLine(
        title=f"strongest features of every host: {about}",
        columns=("feature", "weight"),
        rows=tuple((feature, round(weight, 3)) for feature, weight in weights[:most] if weight),
    )


def _ranked(what: str, rows: Iterable[tuple[str, float, float]], most: int) -> list[SummaryLine]:
    """Return tables of the best and the worst by (reward + 1) / (tries + 2), so that a single try counts little."""
    tried = sorted((row for row in rows if row[1]), key=lambda row: (-(row[2] + 1) / (row[1] + 2), row[0]))
    shown = [(name, tries, round(reward, 3)) for name, tries, reward in tried]
    return best_and_worst(what, (what[:-1], "tries", "finds"), shown, most)
