"""What the policy thinks of a link and what it has learned, for people: names, weights, records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from motherlode.model import Explanation, Reason, SummaryLine
from motherlode.policies.motherlode.arm_key import GENERAL, TAB, features_of, kind_of, parsed
from motherlode.policies.motherlode.statistics import ANSWERS, IS_FIND, ArmStatistics

if TYPE_CHECKING:
    from motherlode.policies.motherlode.motherlode_policy import Motherlode

_SAYS = (
    "The arm with the highest rate of finds per request goes next, what lies behind its pages and what a find would "
    "teach included; in it, the link that is nearest to a seed, and of those the one that was found first. A chance is "
    "that of an answer times that of a find in it, both by the weights of features, then by what the host was so far, "
    "and more and more by the arm's own record and that of the list on which the link stands, the latest tries first."
)
_QUESTIONS = ((ANSWERS, "answers"), (IS_FIND, "is a find"))
_MOST_LED_TO = 5
_LEAST_TOLD = 0.05
"""New links a page; fewer would be told as none."""
_UNTRIED = ArmStatistics()
_LEAST_TABS = 5
"""In the name of an arm that this version made."""


def readable(arm: str) -> str:
    """An arm's name for people.

    >>> readable("example.org\\tnews/*\\t2\\t.html\\tanchor\\tli a")
    'example.org news/* depth 2 .html, by anchor in li a'
    """
    if arm.count(TAB) < _LEAST_TABS:
        return arm.replace(TAB, " ")
    name = parsed(arm)
    where = " ".join(part for part in (name.host, name.pattern, f"depth {name.depth}", name.extension) if part)
    return (
        f"{where}, by {name.manner}"
        + (f" in {name.place}" if name.place else "")
        + (f", on list {name.page}" if name.page else "")
    )


def explain(policy: Motherlode, arm: str) -> Explanation:
    """Why links of this arm are worth what they are."""
    evidence, kind = policy.evidence, kind_of(arm)
    reasons = [
        Reason(name=feature, weight=weight, about=about)
        for question, about in _QUESTIONS
        for feature, weight in _weights(policy, kind, question)
    ]
    host = kind.partition(TAB)[0]
    reasons.append(Reason(name=f"{host} so far", weight=policy.beliefs.lift(host), about="is a find"))
    record = evidence.arms.get(kind)
    kin = [one for name, one in evidence.arms.items() if name.startswith(host + TAB)]
    return Explanation(
        says=_SAYS,
        reasons=tuple(sorted((one for one in reasons if one.weight), key=lambda one: -abs(one.weight))),
        prior=policy.beliefs.expected(kind).chance,
        posterior=policy.chance(arm),
        value=policy.value_now(arm),
        record={
            "tries": (record or _UNTRIED).tries,
            "finds": (record or _UNTRIED).finds,
            "host_tries": sum(one.tries for one in kin),
            "host_finds": sum(one.finds for one in kin),
        },
        notes=(*_list_notes(policy, arm, kind), *_notes(policy, record)),
    )


def _weights(policy: Motherlode, kind: str, question: int) -> Iterable[tuple[str, float]]:
    """What each feature adds to the log-odds of a question."""
    chances = policy.beliefs.chances
    for place, feature in enumerate(features_of(kind)):
        yield feature, chances.weight(policy.evidence, feature, question, general=place < GENERAL)


def _list_notes(policy: Motherlode, arm: str, kind: str) -> Iterable[str]:
    if arm == kind:
        return
    own = policy.evidence.lists.get(arm) or _UNTRIED
    yield f"it stands on a page with more such links, of which {own.tries} were tried, with {own.finds:g} finds"


def _notes(policy: Motherlode, record: ArmStatistics | None) -> Iterable[str]:
    if record is None:
        yield "no link of this arm was tried yet: its chance is what its features say"
        return
    behind = sorted(record.links_a_page(cautious=0.0).items(), key=lambda item: -item[1])[:_MOST_LED_TO]
    for arm, each in behind:
        if each >= _LEAST_TOLD:
            yield f"its pages led to {each:.1f} new links each of: {readable(arm)} (chance {policy.chance(arm):.2f})"


def lessons(policy: Motherlode, most: int) -> Sequence[SummaryLine]:
    """What was learned: features of all hosts, hosts, and arms, the best and the worst."""
    evidence = policy.evidence
    hosts: dict[str, list[float]] = {}
    for name, one in evidence.arms.items():
        host = hosts.setdefault(name.partition(TAB)[0], [0, 0])
        host[0] += one.tries
        host[1] += one.finds
    found = [
        SummaryLine(
            title="learned",
            columns=("what", "how many"),
            rows=(
                ("hosts", len(hosts)),
                ("arms", len(evidence.arms)),
                ("features", len(evidence.features)),
                ("tries", sum(one.tries for one in evidence.arms.values())),
                ("finds", round(sum(one.finds for one in evidence.arms.values()), 3)),
            ),
        )
    ]
    found += [_strongest(policy, question, about, most) for question, about in _QUESTIONS]
    found += _records("hosts", [(name, tries, finds) for name, (tries, finds) in hosts.items()], most)
    found += _records("arms", [(readable(name), one.tries, one.finds) for name, one in evidence.arms.items()], most)
    return found


def _strongest(policy: Motherlode, question: int, about: str, most: int) -> SummaryLine:
    general = {feature for arm in policy.evidence.arms for feature in features_of(arm)[:GENERAL]}
    weights = [
        (feature, policy.beliefs.chances.weight(policy.evidence, feature, question, general=True))
        for feature in general
    ]
    weights.sort(key=lambda item: (-abs(item[1]), item[0]))
    return SummaryLine(
        title=f"strongest features of every host: {about}",
        columns=("feature", "weight"),
        rows=tuple((feature, round(weight, 3)) for feature, weight in weights[:most] if weight),
    )


def _records(what: str, records: list[tuple[str, float, float]], most: int) -> list[SummaryLine]:
    """The best and the worst by (finds + 1) / (tries + 2), which does not make much of a single try."""
    tried = sorted((one for one in records if one[1]), key=lambda one: (-(one[2] + 1) / (one[1] + 2), one[0]))
    best = tried[:most]
    worst = list(reversed(tried[most:]))[:most]
    return [
        SummaryLine(
            title=f"{name} {what}",
            columns=(what[:-1], "tries", "finds"),
            rows=tuple((name, tries, round(finds, 3)) for name, tries, finds in rows),
        )
        for name, rows in (("best", best), ("worst", worst))
        if rows
    ]
