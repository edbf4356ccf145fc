"""Merge what two crawls have learned, as if the outcomes of both had been learned by one (docs/policy.md)."""

from __future__ import annotations

from math import sqrt

from motherlode.policies.motherlode.config import PolicyConfig
from motherlode.policies.motherlode.posterior import RELEVANCE, RESPONSE, ArmStatistics, PolicyStatistics, Sums


def merge_statistics(own: PolicyStatistics, other: PolicyStatistics, *, config: PolicyConfig) -> None:
    """Add what another crawl has learned to the statistics of a crawl."""
    for arms, others in own.arm_tables(other):
        for name, arm in others.items():
            merge_arms(arms.setdefault(name, ArmStatistics()), arm, config=config)
    own.add_sums(other)
    for feature, sums in other.features.items():
        own_sums = own.sums(feature)
        for question in (RESPONSE, RELEVANCE):
            merge_weights(own_sums, sums, question, beta=config.beta)


def merge_arms(own: ArmStatistics, other: ArmStatistics, *, config: PolicyConfig) -> None:
    """Add the results of another crawl, as if the tries of both had been made in turn. Rescales `other`.

    Counts are decayed: n tries weigh W(n) = 1 + retention + retention² + … (n terms). So the sum of the counts of two
    crawls, which weighs W(n₁) + W(n₂), is scaled to the weight W(n₁ + n₂) of a crawl that made all the tries.
    """
    share = _share_of_sum(own.tries, other.tries, config.retention)
    shares = ((own.responses, _share_of_sum(own.tries, other.tries, config.response_retention)), (own.relevant, share))
    own.add(other)
    for tally, factor in shares:
        tally.yes *= factor
        tally.no *= factor
    own.total_weight *= share
    own.new_links = {arm: links * share for arm, links in own.new_links.items()}


def _share_of_sum(tries: int, others: int, retention: float) -> float:
    """Return the weight of all tries, divided by the sum of the weights of both parts."""
    total = decayed_weight(tries, retention) + decayed_weight(others, retention)
    return decayed_weight(tries + others, retention) / total if total else 1.0


def decayed_weight(tries: int, retention: float) -> float:
    """Return the total weight of a number of tries if each further try multiplies earlier ones by `retention`.

    >>> decayed_weight(3, 0.5), decayed_weight(3, 1.0)
    (1.75, 3.0)
    """
    return float(tries) if retention == 1.0 else (1.0 - retention**tries) / (1.0 - retention)


def merge_weights(own: Sums, other: Sums, question: int, *, beta: float) -> None:
    """Merge FTRL's z and n of one feature: n is added, and the weight is the mean of both weights by n.

    FTRL's weight is -α·z / (β + √n), so z is the weighted mean of z / (β + √n), times β + √n of the sum.
    """
    n, its_n = own[question + 1], other[question + 1]
    if not its_n:
        return
    z = n * own[question] / (beta + sqrt(n)) + its_n * other[question] / (beta + sqrt(its_n))
    own[question + 1] = n + its_n
    own[question] = z / (n + its_n) * (beta + sqrt(n + its_n))
