"""What LDCOC thinks of a URI, for people: its named features with the weights of the places that they are hashed to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from motherlode.model import Explanation, Reason
from motherlode.policy.ftrl import Ftrl
from motherlode.policy.hashing import Hasher

_WAYS = {
    b"+": "predicted positive, so it is fetched in the order of its probability",
    b"-": "predicted negative, and drawn as a sample of those; its label counts more",
    b"=": "its extension says RDF: taken for positive without a prediction",
    b".": "predicted negative and not drawn: it waits until nothing else is left",
}


def weighed(learner: Ftrl, hasher: Hasher, names: Iterable[str], memo: bytes) -> tuple[Reason, ...]:
    """Each feature with its weight. Features that the frontier has not kept have lost their names."""
    asked = list(dict.fromkeys(names))
    places = [int(hasher.row([name])[0]) for name in asked]
    kept = np.frombuffer(memo[1:], dtype="<u4").astype(np.int64)
    reasons = [
        Reason(name=name, weight=float(weight), about="is a find")
        for name, weight in zip(asked, learner.weights(places), strict=True)
        if weight
    ]
    unnamed = [place for place in kept.tolist() if place not in set(places)]
    weights: Sequence[float] = learner.weights(unnamed).tolist() if unnamed else ()
    reasons += [
        Reason(name=f"hashed feature {place}", weight=weight, about="is a find")
        for place, weight in zip(unnamed, weights, strict=True)
        if weight
    ]
    return tuple(sorted(reasons, key=lambda reason: -abs(reason.weight)))


def explanation(reasons: tuple[Reason, ...], *, chance: float, memo: bytes, redirects: int, others: int) -> Explanation:
    """All that there is to say; the answers of a host tell how many requests a find there takes."""
    return Explanation(
        says="The URI with the highest probability for each request that it will take goes next, by logistic "
        "regression over hashed features (FTRL-Proximal); now and then a sample of those predicted negative.",
        reasons=reasons,
        prior=chance,
        posterior=chance,
        value=chance / (1 + redirects / (others + 1)),
        record={"redirects": redirects, "other_answers": others},
        notes=(_WAYS[memo[:1]],) if memo[:1] in _WAYS else (),
    )
