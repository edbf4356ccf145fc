"""The policy TRES: one representative per leaf of the Tree-Frontier, and of these the link with the best Q-value."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from random import Random
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from numpy.typing import NDArray

from motherlode.model import Explanation, FailureKind, Link, LinkSource, Outcome, Rating, Reason, SummaryLine
from motherlode.policies.ftrl import FeatureRows, Ftrl, Hasher
from motherlode.policies.model_io import best_and_worst, random_state, set_random_state
from motherlode.policies.tres.q_network import Experience, QNetwork, ReplayBuffer, goals, rows_of
from motherlode.policies.tres.ready_links import ReadyLinks
from motherlode.policies.tres.state_action import (
    FEATURES,
    LINK_FEATURES,
    CrawlPath,
    Keywords,
    LinkMemory,
    Row,
    quantize,
    values,
)
from motherlode.policies.tres.tree_frontier import TreeFrontier
from motherlode.www.urls import host_of, registrable_domain

if TYPE_CHECKING:
    from motherlode.policies.targets import Target

START, DISCOUNT, TRAIN_EVERY, BATCH, COPY_EVERY = 100, 0.99, 3, 60, 100
"""The authors' program has the same numbers, except 500 for START and COPY_EVERY."""
_CAPACITY = 5_000
"""Experiences in the replay buffer."""
_MAX_NEXT_LINKS = 32
"""Maximum number of different links behind a page that an experience keeps."""
_MAX_DOMAINS = 100_000
_MAX_VALUES = 100_000
"""Maximum number of arms whose value at their last pick is kept."""
_HASHES = 1 << 16
_MAX_WORDS = 24
"""Maximum number of words of a link that its classifier uses."""
_DIGITS = "0123456789a"
"""Digits for feature values from 0 to 10 tenths in the name of an arm."""
_NOW = "now"
"""Second word of the arms of redirect targets, which are fetched before all others."""
_words = re.compile(r"[^\W_]{3,}").findall
_domain_of = lru_cache(maxsize=65536)(registrable_domain)


class _State(msgspec.Struct, array_like=True):
    tree: bytes
    network: bytes
    delayed: bytes
    buffer: bytes
    classifier: bytes
    domains: dict[str, tuple[int, int]]
    steps: int
    random: bytes


class Tres:
    """Reinforcement learning with a tree-sampled frontier (arXiv 2112.07620; program: ddaedalus/tres).

    Taken from the text and the authors' program: the state is what was crawled, an action is a link to a URL that was
    not visited, the reward is the relevance of the page. The nine features of state and action are those of the program
    (`state_action`): the linking page, the path, keywords, a predicted probability, and the domain. A regression tree
    is grown on the rewards of followed links (at least 5 examples for a split, depth up to 18), and its leaves group
    the waiting links. Each step takes a random link of every leaf, and follows the one with the highest Q-value; before
    training starts, that of a random leaf. The Q-network is trained by double deep Q-learning from a replay buffer,
    every third step with 60 experiences and a discount of 0.99.

    Assumed, because this crawler starts without training data and a target need not be a topic:

    - The predicted probability comes from a logistic regression on the words of URL and link text, which learns online.
      The authors train a recurrent network (KwBiLSTM) on example pages beforehand.
    - Keywords are given by the user (`keywords=recipe+cooking`), or are the name of the target, such as Recipe in
      type:schema:Recipe. They are not expanded by word vectors. The authors' feature for key phrases is here a keyword
      in the title or the text near the link.
    - The reward is 1 or 0 or graded, as the user chooses; the seeds are not taken for relevant.
    - Training starts after 100 steps instead of 500, and the second network is copied every 100 steps instead of 500,
      because crawls here are shorter than the 20,000 steps of the paper.
    - The target of a redirect is fetched at once and counts as the page of the first link, because the authors' HTTP
      client follows redirects by itself. Here each costs a request.
    - A page without new links ends an episode: its goal is its reward. The authors leave such pages out.
    - The features of a domain are up to date in the tree; the authors update them only for representatives.
    - There is no limit on the pages of a domain; the job key `pages_per_host` sets one.
    - At most 5,000 experiences, 512 leaves and 256 examples per leaf are kept.
    """

    def __init__(
        self,
        *,
        random: Random,
        keywords: Sequence[str] = (),
        start: int = START,
        discount: float = DISCOUNT,
        copy_every: int = COPY_EVERY,
        depth: int = 18,
    ) -> None:
        self._random = random
        self._keywords = Keywords(keywords)
        self._start, self._discount, self._copy_every = start, discount, copy_every
        self.tree = TreeFrontier(max_depth=depth)
        self._network, self._delayed = QNetwork(len(FEATURES), random), QNetwork(len(FEATURES), random)
        self._delayed.copy_from(self._network)
        self._buffer = ReplayBuffer(_CAPACITY)
        self._classifier = Ftrl(_HASHES, alpha=0.3, l1=0.0, l2=0.1)
        self._hasher = Hasher(_HASHES)
        self._domains: dict[str, tuple[int, int]] = {}
        """Number of relevant pages and of all pages of each domain."""
        self._steps = 0
        self._ready = ReadyLinks(len(FEATURES))
        self._redirected: dict[str, None] = {}
        """The ready arms of redirect targets."""
        self._arms_of: dict[str, dict[str, None]] = {}
        """The ready arms of each domain."""
        self._value_at_pick: dict[str, float] = {}
        self._followed: tuple[str, Experience] | None = None
        """URL and unfinished experience of the page that was learned from last. Its links are rated next and complete
        it."""

    def aim(self, target: Target) -> None:
        """Take the name of the target as keyword, if the user gave none."""
        if not self._keywords.words:
            self._keywords = Keywords(keywords_of(target.spec))

    # ── links ────────────────────────────────────────────────────────────────────────────────────────────

    def rate(self, links: Sequence[Link], parent: Outcome | None) -> Sequence[Rating]:
        if parent is not None and len(links) == 1 and links[0].source is LinkSource.REDIRECT:
            return [Rating(arm=f"{host_of(links[0].url)} {_NOW}", score=0.0, policy_state=parent.policy_state)]
        memories = self._remember(links, parent)
        self._add_next(links, memories, parent)
        return [
            Rating(
                arm=f"{host_of(link.url)} {''.join(_DIGITS[level] for level in memory.levels)}",
                score=self._random.random(),
                policy_state=memory.pack(),
            )
            for link, memory in zip(links, memories, strict=True)
        ]

    def _remember(self, links: Sequence[Link], parent: Outcome | None) -> list[LinkMemory]:
        path = CrawlPath.behind(parent)
        state = path.levels(parent)
        rows = [self._hasher.row(link_words(link)) for link in links]
        probabilities = self._classifier.predict(FeatureRows.of(rows)).tolist()
        return [
            LinkMemory(
                path.relevant,
                path.others,
                path.distance,
                (*state, *self._keywords.levels(link), quantize(probability)),
                tuple(row.tolist()),
            )
            for link, row, probability in zip(links, rows, probabilities, strict=True)
        ]

    def _add_next(self, links: Sequence[Link], memories: Sequence[LinkMemory], parent: Outcome | None) -> None:
        """Complete the experience of a page by its new links."""
        if parent is None or self._followed is None or self._followed[0] != parent.url:
            return
        rows = dict.fromkeys(
            self._row(memory.levels, _domain_of(host_of(link.url))).tobytes()
            for link, memory in zip(links, memories, strict=True)
        )
        self._followed[1].after = list(rows)[:_MAX_NEXT_LINKS]
        self._followed = None

    def _row(self, levels: tuple[int, ...], domain: str) -> Row:
        row: Row = np.concatenate((values(levels), self._domain_features(domain)))
        return row

    def _domain_features(self, domain: str) -> Row:
        relevant, pages = self._domains.get(domain, (0, 0))
        return values((quantize(relevant / pages), 0) if pages else (5, 10))

    # ── outcomes ─────────────────────────────────────────────────────────────────────────────────────────

    def learn(self, outcome: Outcome) -> None:
        memory = LinkMemory.unpack(outcome.policy_state)
        if outcome.failure is FailureKind.REDIRECT or memory is None:
            return
        domain = _domain_of(outcome.host)
        row = self._row(memory.levels, domain)
        experience = Experience(row.tobytes(), outcome.reward)
        self._followed = outcome.url, experience
        self._buffer.add(experience)
        if memory.words:
            self._classifier.learn(memory.words, float(outcome.reward >= 0.5))
        if self.tree.add(row, outcome.reward):
            self._ready.locate(self.tree.leaf)
        self._count(domain, relevant=outcome.relevant)
        self._steps += 1
        if self._steps >= self._start and self._steps % TRAIN_EVERY == 0:
            self._train()
        if self._steps % self._copy_every == 0:
            self._delayed.copy_from(self._network)

    def _train(self) -> None:
        batch = self._buffer.sample(BATCH, self._random)
        rows = rows_of([experience.row for experience in batch])
        self._network.train(rows, goals(batch, self._network, self._delayed, self._discount))

    def _count(self, domain: str, *, relevant: bool) -> None:
        before = self._domain_features(domain)
        good, pages = self._domains.pop(domain, (0, 0))
        self._domains[domain] = good + relevant, pages + 1
        if len(self._domains) > _MAX_DOMAINS:
            del self._domains[next(iter(self._domains))]
        now = self._domain_features(domain)
        arms = self._arms_of.get(domain)
        if arms and not np.array_equal(before, now):
            self._ready.set_features(arms, LINK_FEATURES, now)
            self._ready.locate(self.tree.leaf, arms)

    # ── arms ─────────────────────────────────────────────────────────────────────────────────────────────

    def _row_of_arm(self, arm: str) -> Row:
        host, _, code = arm.rpartition(" ")
        levels = tuple(_DIGITS.find(digit) for digit in code)
        if len(levels) != LINK_FEATURES or min(levels) < 0:  # an arm of the frontier's own, such as that of revisits
            levels = (0,) * LINK_FEATURES
        return self._row(levels, _domain_of(host or arm))

    def arm_ready(self, arm: str, best: float, waiting: int) -> None:
        if arm.endswith(f" {_NOW}"):
            self._redirected[arm] = None
            return
        row = self._row_of_arm(arm)
        self._ready.put(arm, row, self.tree.leaf(row), waiting)
        self._arms_of.setdefault(_arm_domain(arm), {})[arm] = None

    def arm_snoozed(self, arm: str) -> None:
        self._redirected.pop(arm, None)
        self._ready.remove(arm)
        domain = _arm_domain(arm)
        arms = self._arms_of.get(domain)
        if arms is not None:
            arms.pop(arm, None)
            if not arms:
                del self._arms_of[domain]

    def pick(self) -> str | None:
        if self._redirected:
            return next(iter(self._redirected))
        if not len(self._ready):
            return None
        arms, rows = self._ready.representatives(self._random)
        found = self._network.values(rows)
        is_random = self._steps < self._start
        index = self._random.randrange(len(arms)) if is_random else int(found.argmax())
        if len(self._value_at_pick) >= _MAX_VALUES:
            self._value_at_pick.clear()
        self._value_at_pick[arms[index]] = float(found[index])
        return arms[index]

    # ── what people see ──────────────────────────────────────────────────────────────────────────────────

    def value(self, arm: str) -> float:
        """Return the Q-value of an arm when it was picked last; the current one if it was never picked."""
        known = self._value_at_pick.get(arm)
        return float(self._network.values(self._row_of_arm(arm)[None])[0]) if known is None else known

    def explain(self, link: Link, rating: Rating, parent: Outcome | None) -> Explanation:
        says = (
            "A tree groups the waiting links by what links like them have brought. Of one random link per group, the "
            "one with the highest Q-value is followed: the expected relevant pages at the link and behind it."
        )
        memory = LinkMemory.unpack(rating.policy_state)
        if memory is None:
            return Explanation(says=says)
        domain = _domain_of(host_of(link.url))
        row = self._row(memory.levels, domain)
        relevant, pages = self._domains.get(domain, (0, 0))
        without = np.tile(row, (len(row) + 1, 1))
        np.fill_diagonal(without, 0.0)
        found = self._network.values(without)
        effects: NDArray[np.float32] = found[-1] - found[:-1]
        reasons = [
            Reason(name=f"{name}: {value:g}", weight=float(effect), about="effect on the Q-value")
            for name, value, effect in zip(FEATURES, row.tolist(), effects.tolist(), strict=True)
            if value
        ]
        training = f"the network is not used before {self._start} steps"
        return Explanation(
            says=says,
            reasons=tuple(sorted(reasons, key=lambda reason: -abs(reason.weight))),
            prior=float(self._classifier.probability(memory.words)),
            value=float(found[-1]),
            record={"leaf": self.tree.leaf(row), "domain_relevant": relevant, "domain_pages": pages},
            notes=(training,) if self._steps < self._start else (),
        )

    def summary(self, most: int) -> Sequence[SummaryLine]:
        rows = (
            ("steps", self._steps),
            ("leaves of the tree", self.tree.leaf_count),
            ("experiences", len(self._buffer)),
        )
        domains = [(name, good, pages) for name, (good, pages) in self._domains.items()]
        domains.sort(key=lambda row: (-(row[1] + 1) / (row[2] + 2), row[0]))
        return [
            SummaryLine(title="learned", columns=("what", "how many"), rows=rows[:most]),
            *best_and_worst("domains", ("domain", "relevant", "pages"), domains, most),
        ]

    # ── saved state ──────────────────────────────────────────────────────────────────────────────────────

    def dump(self) -> bytes:
        return msgspec.msgpack.encode(
            _State(
                tree=self.tree.dump(),
                network=self._network.dump(),
                delayed=self._delayed.dump(),
                buffer=self._buffer.dump(),
                classifier=self._classifier.dump(),
                domains=self._domains,
                steps=self._steps,
                random=random_state(self._random),
            )
        )

    def load(self, state: bytes) -> None:
        saved = msgspec.msgpack.decode(state, type=_State)
        self.tree.load(saved.tree)
        self._network.load(saved.network)
        self._delayed.load(saved.delayed)
        self._buffer.load(saved.buffer)
        self._classifier.load(saved.classifier)
        self._domains, self._steps = saved.domains, saved.steps
        set_random_state(self._random, saved.random)


def _arm_domain(arm: str) -> str:
    return _domain_of(arm.rpartition(" ")[0] or arm)


def link_words(link: Link) -> list[str]:
    """Return the words of a link's URL and text, marked by where they are.

    >>> link_words(Link(url="http://a.example/wiki/4711", source=LinkSource.ANCHOR, anchor="The data"))
    ['u:example', 'u:wiki', 'u:[number]', 't:the', 't:data']
    """
    found = []
    for mark, text in (("u:", link.url.partition("//")[2]), ("t:", link.anchor)):
        words = ["[number]" if word.isdigit() else word for word in _words(text.lower())]
        found += [mark + word for word in words[: _MAX_WORDS // 2]]
    return found


def keywords_of(target: str) -> tuple[str, ...]:
    """Return the keywords that the name of a target gives; none for `any` and for queries.

    >>> keywords_of("type:schema:Recipe"), keywords_of("microdata>=5"), keywords_of("any")
    (('recipe',), ('microdata',), ())
    """
    if target.startswith("type:"):
        return (re.split(r"[/#:]", target.rstrip("/#>"))[-1].lower(),)
    word = re.split(r"\W", target, maxsplit=1)[0].lower()
    return () if word in ("any", "ask", "prefix", "base", "") else (word,)
