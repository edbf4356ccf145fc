"""The papers' static crawlers: their classifier is trained before the crawl, on pages that do not count.

`pretrained:KIND:K` has Anthelion's features and K pages of a random crawl ("randomly selected pages", 5.1);
`uris:KIND:K` has LDCOC's features F₊ₜ₊ᵣ₊ₚ and K pages of a breadth-first crawl (section 4). The policies `nb-static:K`
and so on of the command line take their training pages from the crawl itself, as in practice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from random import Random

import msgspec
import numpy as np
from tools.papers.observed_policy import observe
from tools.papers.webs import opened, starts

from motherlode.model import Link, Outcome, Policy
from motherlode.policies import policy_from, target_from
from motherlode.policies.anthelion.bandit import FUNCTIONS, HostBandit
from motherlode.policies.anthelion.classifiers import HoeffdingTree, NaiveBayes
from motherlode.policies.anthelion.url_classifier import HASHES, Classifier, Features
from motherlode.policies.baselines.static_classifier import StaticRater, fit_online, sklearn_fit
from motherlode.policies.ftrl import Hasher
from motherlode.policies.ldcoc.ldcoc_features import page_features
from motherlode.sim.oracle import LinkGraph, OraclePolicy
from motherlode.sim.simulator import Simulation
from motherlode.sim.synthetic.adapter import SyntheticSimWeb

_TRAINING_SEED = 1_000_003
"""Seed of the random crawl for training; no measured crawl uses it."""


class UriFeatures(Features):
    """F₊ₜ₊ᵣ₊ₚ, hashed to as many indices as Anthelion's tokens."""

    def __init__(self) -> None:
        super().__init__()
        self._hasher = Hasher(HASHES)

    def rows(self, links: Sequence[Link], parent: Outcome | None) -> list[bytes]:
        named = page_features(links, parent, "trp")
        return [row.astype(np.uint16).tobytes() for row in self._hasher.rows(["bias", *names] for names in named)]


@lru_cache(maxsize=4)
def _training(web: str, target: str, order: str, pages: int) -> tuple[list[bytes], list[bool]]:
    """Return feature rows and labels of the pages of a crawl in the given order."""
    features = Features() if order == "random" else UriFeatures()
    rows: list[bytes] = []
    labels: list[bool] = []

    def seen(link: Link, parent: Outcome | None, outcome: Outcome) -> None:
        if len(rows) < pages:
            rows.extend(features.rows([link], parent))
            labels.append(outcome.relevant)

    known = opened(web, target)
    policy = observe(policy_from(order, _TRAINING_SEED), seen)
    # a breadth-first crawl from every home page of a large web would contain only home pages
    start = "hubs" if order == "bfs" and isinstance(known, SyntheticSimWeb) else "homes"
    Simulation(known, policy, scope=lambda url: "").run(starts(known, start), pages=round(pages * 1.6) + 100)
    return rows, labels


@lru_cache(maxsize=1)
def _graph(web: str, target: str) -> LinkGraph:
    return LinkGraph(opened(web, target))


def named_policy(name: str, *, web: str, target: str, seed: int) -> Policy:
    """Return a policy by its name: one of this module or one of the command line."""
    word, *arguments = name.split(":")
    if word == "oracle":
        return OraclePolicy(_graph(web, target))
    if word not in ("pretrained", "uris"):
        return policy_from(name, seed, target=target_from(target))
    kind, pages = arguments[0], int(arguments[1])
    rows, labels = _training(web, target, "random" if word == "pretrained" else "bfs", pages)
    features = Features() if word == "pretrained" else UriFeatures()
    # Naive Bayes and the tree are those of nb-online and ht-online, so that only the time of learning differs
    online: dict[str, Callable[[], Classifier]] = {"ht": HoeffdingTree, "nb": NaiveBayes}
    fit = fit_online(online[kind]) if kind in online else sklearn_fit(kind)
    rater = StaticRater(features, fit, min(pages, len(rows)))
    rater.load(msgspec.msgpack.encode((0, rows, bytes(labels))))
    return HostBandit(rater=rater, function=FUNCTIONS["best-score"], random=Random(seed))
