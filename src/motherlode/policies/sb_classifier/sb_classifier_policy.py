"""The policy SB-CLASSIFIER: actions are clusters of tag paths, the score is that of a sleeping bandit."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from math import log, sqrt
from random import Random

import msgspec
import numpy as np
from numpy.typing import NDArray

from motherlode.model import Explanation, FailureKind, Link, LinkSource, Outcome, Rating, Reason, SummaryLine
from motherlode.policies.model_io import best_and_worst, random_state, set_random_state
from motherlode.policies.priority_queue import ReadyArms
from motherlode.policies.sb_classifier.tag_paths import TagPathClusters, full_path
from motherlode.policies.sb_classifier.url_types import FlatCurve, UrlType, UrlTypeClassifier
from motherlode.www.urls import host_of

ALPHA = 2 * sqrt(2)
"""Weight of exploration in the authors' program."""
SIMILARITY = 0.75
"""Least similarity for joining a cluster in the authors' program."""
BATCH = 10
"""URLs per training step of the classifier in the authors' program."""
_EPSILON = 1e-6
"""Added to the number of selections, so that an action that was never selected has a very high score."""
_MAX_SCORES = 100_000
"""Maximum number of arms whose score at their last pick is kept."""
_NOW, _LAST = "now", "last"
"""Second words in the names of arms that are not actions: URLs to fetch at once, and URLs to fetch last."""
_MEMORY = struct.Struct("<IBB")
"""The `policy_state`: number of the cluster, predicted type, and whether the fetch counts as a selection."""


class _State(msgspec.Struct, array_like=True):
    clusters: bytes
    classifier: bytes
    curve: FlatCurve
    selections: list[int]
    rewards: list[float]
    requests: int
    links: int
    random: bytes


class SbClassifier:
    """A sleeping bandit over clusters of tag paths, with an online URL classifier (arXiv 2602.11874).

    Taken from the text and the authors' program: an action is a cluster of tag paths with classes and ids, and is awake
    while links of its cluster wait. A path joins the most similar cluster if the cosine similarity of the 2-grams is at
    least 0.75, otherwise it starts one. The awake action with the highest score m + α·√(ln t / n) is selected, where m
    is the mean reward of its n selections, t the number of requests, and α = 2√2; then a random link of it. The reward
    is the number of new links on the fetched page that the classifier takes for targets. These are fetched at once. The
    classifier is a logistic regression on the 2-grams of a URL's characters, trained on what was fetched in batches of
    ten, and replaces HEAD requests. The target of a redirect is fetched at once, for the action of the first link.

    Assumed, because only the beginning of the text was available and it treats one website and files as targets:

    - Each host is a website with clusters of its own; with `sites=together` all hosts share clusters. One bandit
      chooses among the actions of all hosts.
    - A relevant page may be HTML and have links. If an action leads to one, its reward is 1 higher.
    - There are no HEAD requests at all: until ten URLs were fetched, all links count as pages that lead on.
    - A URL that is predicted to be neither a target nor a page is not dropped, but waits until nothing else is ready.
    - A failure counts as a selection with reward 0, and a selection counts when it begins, because several requests may
      be in flight.
    - `stop=N` ends the crawl when the smoothed slope of the curve of targets was below 0.01 at the end of three windows
      of N requests in a row. The mechanism is the paper's, the numbers are ours. It is off by default, as in the
      paper's comparisons.
    - A path that was seen before stays in its cluster. There are at most 10,000 clusters.
    """

    def __init__(
        self,
        *,
        random: Random,
        alpha: float = ALPHA,
        threshold: float = SIMILARITY,
        batch: int = BATCH,
        sites_apart: bool = True,
        stop: int = 0,
    ) -> None:
        self._random = random
        self._alpha = alpha
        self._sites_apart = sites_apart
        self._paths = TagPathClusters(threshold=threshold)
        self.classifier = UrlTypeClassifier(batch=batch)
        self._curve = FlatCurve(stop)
        self._requests = 0
        self._selections: NDArray[np.float64] = np.zeros(64)
        """Number of selections of each action whose outcome is known."""
        self._in_flight: NDArray[np.float64] = np.zeros(64)
        self._rewards: NDArray[np.float64] = np.zeros(64)
        """Sum of the rewards of each action."""
        self._is_ready: NDArray[np.bool_] = np.zeros(64, dtype=np.bool_)
        self._arms: dict[int, dict[str, int]] = {}
        """The ready arms of each awake action, with the number of waiting links."""
        self._now = ReadyArms()
        """The arms of URLs that are fetched at once, in the order of their discovery."""
        self._links = 0
        self._last: dict[str, None] = {}
        self._score_at_pick: dict[str, float] = {}

    # ── links ────────────────────────────────────────────────────────────────────────────────────────────

    def rate(self, links: Sequence[Link], parent: Outcome | None) -> Sequence[Rating]:
        if parent is not None and len(links) == 1 and links[0].source is LinkSource.REDIRECT:
            return [self._rate_redirect(links[0], parent)]
        kinds = self.classifier.predict([link.url for link in links])
        if parent is not None and len(parent.policy_state) == _MEMORY.size:
            cluster, _, counts = _MEMORY.unpack(parent.policy_state)
            if counts:
                self._rewards[cluster] += kinds.count(UrlType.TARGET)
        return [self._rate_link(link, kind) for link, kind in zip(links, kinds, strict=True)]

    def _rate_link(self, link: Link, kind: UrlType) -> Rating:
        host = host_of(link.url)
        self._links += 1
        cluster = self._paths.assign(host if self._sites_apart else "", full_path(link))
        self._make_room(cluster)
        memory = _MEMORY.pack(cluster, kind, kind is not UrlType.TARGET)
        if kind is UrlType.TARGET:
            return Rating(arm=f"{host} {_NOW}", score=-self._links, policy_state=memory)
        if kind is UrlType.NEITHER:
            return Rating(arm=f"{host} {_LAST}", score=0.0, policy_state=memory)
        return Rating(arm=f"{host} {cluster}", score=self._random.random(), policy_state=memory)

    def _rate_redirect(self, link: Link, parent: Outcome) -> Rating:
        return Rating(arm=f"{host_of(link.url)} {_NOW}", score=-self._links, policy_state=parent.policy_state)

    def _make_room(self, cluster: int) -> None:
        size = len(self._selections)
        if cluster >= size:
            grown = max(2 * size, cluster + 1) - size
            for name in ("_selections", "_in_flight", "_rewards", "_is_ready"):
                setattr(self, name, np.pad(getattr(self, name), (0, grown)))

    # ── outcomes ─────────────────────────────────────────────────────────────────────────────────────────

    def learn(self, outcome: Outcome) -> None:
        self._curve.add(outcome.relevant)
        if outcome.failure is FailureKind.REDIRECT:
            return
        self.classifier.learn(outcome.url, type_of(outcome))
        if len(outcome.policy_state) != _MEMORY.size:
            return
        cluster, _kind, counts = _MEMORY.unpack(outcome.policy_state)
        self._make_room(cluster)
        if counts:
            self._selections[cluster] += 1
            self._rewards[cluster] += outcome.reward
            self._in_flight[cluster] = max(0.0, self._in_flight[cluster] - 1)

    @property
    def stop_reason(self) -> str:
        """Why the crawl should end, or "" if it should not."""
        return "the curve of targets has become flat" if self._curve.is_flat else ""

    # ── arms ─────────────────────────────────────────────────────────────────────────────────────────────

    def arm_ready(self, arm: str, best: float, waiting: int) -> None:
        word = arm.rpartition(" ")[2]
        if word.isdecimal():
            action = int(word)
            self._make_room(action)
            self._arms.setdefault(action, {})[arm] = waiting
            self._is_ready[action] = True
        elif word == _LAST:
            self._last[arm] = None
        else:
            self._now.put(arm, best)

    def arm_snoozed(self, arm: str) -> None:
        word = arm.rpartition(" ")[2]
        if not word.isdecimal():
            self._now.remove(arm)
            self._last.pop(arm, None)
            return
        action = int(word)
        arms = self._arms.get(action)
        if arms is not None and arms.pop(arm, None) is not None and not arms:
            del self._arms[action]
            self._is_ready[action] = False

    def pick(self) -> str | None:
        arm = self._now.best() or self._select() or next(iter(self._last), None)
        if arm is not None:
            self._requests += 1
        return arm

    def _select(self) -> str | None:
        """Return an arm of the awake action with the highest score; None if no action is awake."""
        actions = np.flatnonzero(self._is_ready)
        if not len(actions):
            return None
        scores = self._scores(actions)
        best = int(scores.argmax())
        action = int(actions[best])
        self._in_flight[action] += 1
        arms = self._arms[action]
        arm = next(iter(arms))
        if len(arms) > 1:
            arm = self._random.choices(list(arms), list(arms.values()))[0]
        if len(self._score_at_pick) >= _MAX_SCORES:
            self._score_at_pick.clear()
        self._score_at_pick[arm] = float(scores[best])
        return arm

    def _scores(self, actions: NDArray[np.intp]) -> NDArray[np.float64]:
        selections = self._selections[actions]
        mean = self._rewards[actions] / np.maximum(selections, 1)
        tried = selections + self._in_flight[actions] + _EPSILON
        scores: NDArray[np.float64] = mean + self._alpha * np.sqrt(log(max(1, self._requests)) / tried)
        return scores

    # ── what people see ──────────────────────────────────────────────────────────────────────────────────

    def value(self, arm: str) -> float:
        """Return the score of an action when it was picked last; the current score if it was never picked.

        An arm that is not an action is worth as much as an action that was never tried, or nothing if it goes last.
        """
        word = arm.rpartition(" ")[2]
        if word == _LAST:
            return 0.0
        if not word.isdecimal():
            return self._alpha * sqrt(log(max(1, self._requests)) / _EPSILON)
        known = self._score_at_pick.get(arm)
        return self._score_now(int(word)) if known is None else known

    def _score_now(self, action: int) -> float:
        self._make_room(action)
        return float(self._scores(np.array([action]))[0])

    def explain(self, link: Link, rating: Rating, parent: Outcome | None) -> Explanation:
        says = (
            "Links that look like targets are fetched at once. Otherwise the group of links at a similar place in the "
            "pages of a site is chosen whose pages had the most links to targets so far, or that was tried rarely."
        )
        if len(rating.policy_state) != _MEMORY.size:
            return Explanation(says=says)
        cluster, kind, _ = _MEMORY.unpack(rating.policy_state)
        self._make_room(cluster)
        selections, rewards = float(self._selections[cluster]), float(self._rewards[cluster])
        types = self.classifier.probabilities([link.url])[0].tolist()
        label = self._paths.clusters[cluster].label if cluster < len(self._paths) else "unknown"
        return Explanation(
            says=says,
            reasons=tuple(
                Reason(name=f"looks like a {name}" if name != "neither" else "looks like neither", weight=round(p, 4))
                for name, p in zip(("page", "target", "neither"), types, strict=True)
            ),
            prior=types[UrlType.TARGET],
            value=self._score_now(cluster),
            record={"selections": selections, "targets_per_selection": rewards / max(1.0, selections)},
            notes=(f"its group of tag paths began with {label}", f"predicted when found: {UrlType(kind).name.lower()}"),
        )

    def summary(self, most: int) -> Sequence[SummaryLine]:
        tried = [
            (cluster.site or "all sites", cluster.label, int(count), round(float(reward / count), 3))
            for cluster, count, reward in zip(self._paths.clusters, self._selections, self._rewards, strict=False)
            if count
        ]
        tried.sort(key=lambda row: (-row[3], -row[2], row[0], row[1]))
        columns = ("site", "tag path", "selections", "targets per selection")
        return best_and_worst("groups of links", columns, tried, most)

    # ── saved state ──────────────────────────────────────────────────────────────────────────────────────

    def dump(self) -> bytes:
        count = len(self._paths)
        self._make_room(count)
        return msgspec.msgpack.encode(
            _State(
                clusters=self._paths.dump(),
                classifier=self.classifier.dump(),
                curve=self._curve,
                selections=[int(number) for number in self._selections[:count]],
                rewards=self._rewards[:count].tolist(),
                requests=self._requests,
                links=self._links,
                random=random_state(self._random),
            )
        )

    def load(self, state: bytes) -> None:
        saved = msgspec.msgpack.decode(state, type=_State)
        self._paths.load(saved.clusters)
        self.classifier.load(saved.classifier)
        # a crawl that is resumed after an early stop goes on for some windows
        self._curve = msgspec.structs.replace(saved.curve, window=self._curve.window, flat=0)
        self._requests, self._links = saved.requests, saved.links
        self._make_room(len(saved.selections))
        for column, values in ((self._selections, saved.selections), (self._rewards, saved.rewards)):
            column[:] = 0.0
            column[: len(values)] = values
        self._in_flight[:] = 0.0
        set_random_state(self._random, saved.random)


def type_of(outcome: Outcome) -> UrlType:
    """Return the type of a URL by its outcome."""
    if outcome.relevant:
        return UrlType.TARGET
    return UrlType.PAGE if outcome.failure is None and outcome.links else UrlType.NEITHER
