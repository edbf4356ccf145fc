"""Explanations of the bandit for people: weights of tokens, records and values of hosts."""

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
    Classifier,
    OnlineRater,
    Rater,
    decode_row,
    token_index,
    tokens,
)

if TYPE_CHECKING:
    from motherlode.policies.anthelion.bandit import HostBandit

_LABELS = {
    PARENT_GOOD: "the page that links here is relevant",
    PARENT_BAD: "the page that links here is not relevant",
    SIBLING_GOOD: "a sibling is relevant",
    SIBLING_BAD: "a sibling is not relevant",
    **{number: f"about {1 << (number - SIBLINGS_GOOD)} siblings are relevant" for number in range(SIBLINGS_GOOD, SIZE)},
}


def _online_classifier(rater: Rater) -> Classifier | None:
    """Return the classifier of a rater that learns online; None for a classifier that was trained once."""
    return rater.classifier if isinstance(rater, OnlineRater) else None


def explain_link(policy: HostBandit, link: Link, rating: Rating) -> Explanation:
    """Explain the rating of a link and the value of its host."""
    good, bad = policy.records.get(rating.arm, (0, 0))
    classifier = _online_classifier(policy.rater)
    now = None if classifier is None else float(classifier.scores([rating.policy_state])[0])
    function = policy.function
    by = [
        name
        for name, counts in (("its record", function.uses_record), ("its best page", function.uses_best_score))
        if counts
    ]
    value = policy.value_now(rating.arm)
    notes = {
        "the classifier is trained once and has no weights to show": classifier is None,
        "no page of its host is ready, so the host has no value now": value is None,
    }
    return Explanation(
        says=f"The host with the highest value is fetched from next. The value depends on {' and '.join(by)}"
        f"{' (sampled at each pick)' if function.is_sampled else ''}. With a probability of "
        f"{policy.exploration_now():.3f} a random host is taken. In the host, the page with the highest rating of the "
        "classifier goes first.",
        reasons=_weights(classifier, link, rating) if isinstance(classifier, NaiveBayes) else (),
        prior=now,
        posterior=now,
        value=value,
        record={"good": good, "bad": bad} if function.uses_record else {},
        notes=tuple(note for note, holds in notes.items() if holds),
    )


def _weights(model: NaiveBayes, link: Link, rating: Rating) -> tuple[Reason, ...]:
    names = {token_index(token): f"token {token}" for token in tokens(link.url)} | _LABELS
    reasons = [
        Reason(name=names.get(feature, f"feature {feature}"), weight=model.weight(feature), about="is a find")
        for feature in dict.fromkeys(decode_row(rating.policy_state))
    ]
    return tuple(sorted(reasons, key=lambda reason: -abs(reason.weight)))


def summarize(policy: HostBandit, most: int) -> Sequence[SummaryLine]:
    """Return tables of the pages learned from, the weights of labels, and the records of hosts.

    Tokens are hashed, so their names are not known.
    """
    found = []
    classifier = _online_classifier(policy.rater)
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
