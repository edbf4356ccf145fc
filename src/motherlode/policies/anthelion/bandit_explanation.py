"""What a bandit over hosts thinks of a link and what it has learned, for people: tokens, records, values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from motherlode.model import Explanation, Link, Rating, Reason, SummaryLine
from motherlode.policies.anthelion.naive_bayes import NaiveBayes
from motherlode.policies.anthelion.url_classifier import (
    PARENT_BAD,
    PARENT_GOOD,
    SIBLING_BAD,
    SIBLING_GOOD,
    SIBLINGS_GOOD,
    SIZE,
    place,
    row,
    tokens,
)

if TYPE_CHECKING:
    from motherlode.policies.anthelion.bandit import HostBandit

_LABELS = {
    PARENT_GOOD: "the page that links here is a find",
    PARENT_BAD: "the page that links here is no find",
    SIBLING_GOOD: "a sibling is a find",
    SIBLING_BAD: "a sibling is no find",
    **{number: f"about {1 << (number - SIBLINGS_GOOD)} siblings are finds" for number in range(SIBLINGS_GOOD, SIZE)},
}


def explain(policy: HostBandit, link: Link, rating: Rating) -> Explanation:
    """The classifier's word on a page, and the record of its host."""
    good, bad = policy.records.get(rating.arm, (0, 0))
    classifier = getattr(policy.rater, "classifier", None)
    scores = getattr(classifier, "scores", None)
    now = None if scores is None else float(scores([rating.policy_state])[0])
    function = policy.function
    by = [name for name, counts in (("its record", function.by_record), ("its best page", function.by_best)) if counts]
    value = policy.value_now(rating.arm)
    notes = {
        "the classifier is trained once and tells no weights": classifier is None,
        "no page of its host waits: it has no value now": value is None,
    }
    return Explanation(
        says=f"The host with the highest value goes next, by {' and '.join(by)}"
        f"{' (a draw for each pick)' if function.drawn else ''}; with a probability of "
        f"{policy.exploration_now():.3f} any host. In it goes the page that the classifier rates highest.",
        reasons=_weights(classifier, link, rating) if isinstance(classifier, NaiveBayes) else (),
        prior=now,
        posterior=now,
        value=value,
        record={"good": good, "bad": bad} if function.by_record else {},
        notes=tuple(note for note, holds in notes.items() if holds),
    )


def _weights(model: NaiveBayes, link: Link, rating: Rating) -> tuple[Reason, ...]:
    names = {place(token): f"token {token}" for token in tokens(link.url)} | _LABELS
    reasons = [
        Reason(name=names.get(feature, f"feature {feature}"), weight=model.weight(feature), about="is a find")
        for feature in dict.fromkeys(row(rating.policy_state))
    ]
    return tuple(sorted(reasons, key=lambda reason: -abs(reason.weight)))


def lessons(policy: HostBandit, most: int) -> Sequence[SummaryLine]:
    """Pages that were learned from, what labels weigh, and the records of hosts. Tokens are hashed: no names."""
    found = []
    classifier = getattr(policy.rater, "classifier", None)
    if isinstance(classifier, NaiveBayes):
        bad, good = classifier.pages
        found.append(SummaryLine(title="pages", columns=("class", "pages"), rows=(("finds", good), ("others", bad))))
        weights = [(name, round(classifier.weight(number), 3)) for number, name in _LABELS.items()]
        rows = tuple(one for one in sorted(weights, key=lambda one: -abs(one[1])) if one[1])[:most]
        found.append(SummaryLine(title="labels of pages around", columns=("feature", "weight"), rows=rows))
    records = sorted(policy.records.items(), key=lambda one: (-(one[1][0] + 1) / (sum(one[1]) + 2), one[0]))
    for title, chosen in (("best hosts", records[:most]), ("worst hosts", records[most:][::-1][:most])):
        hosts = tuple((host, round(good, 3), round(bad, 3)) for host, (good, bad) in chosen)
        if hosts:
            found.append(SummaryLine(title=title, columns=("host", "good", "bad"), rows=hosts))
    return found
