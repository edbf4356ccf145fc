"""What a request is worth: the best rate of finds per request that it can open up.

A page that is surely a find is worth 1. A list that holds nothing but leads to ten sure finds is worth 10 in 11
requests. An arm of which little is known is worth more than its chance: if the first try is a find, more of the same
follow, and if not, one request is lost. These are stopping problems, and the best rate over all moments to stop is
their Gittins index (Gittins 1979); here it is computed for one step of learning and for what lies directly behind.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from motherlode.model import Explanation, Link, Outcome, Parent, Rating, SummaryLine
from motherlode.policies.motherlode.arm_key import (
    TAB,
    ArmKeyBuilder,
    family_of,
    is_inner_seed,
    is_redirected_to,
    kind_of,
)
from motherlode.policies.motherlode.config import PolicyConfig
from motherlode.policies.motherlode.explanation import explain, lessons
from motherlode.policies.motherlode.posterior import PosteriorModel
from motherlode.policies.motherlode.priors import target_priors
from motherlode.policies.motherlode.statistics import ArmStatistics, PolicyStatistics
from motherlode.policies.priority_queue import ReadyArms, WaitRule
from motherlode.policies.targets import Target

_LONGEST = 200.0
"""Requests that a plan takes at most. Lists lead to lists for ever."""


class Plan(NamedTuple):
    """So many finds in so many requests."""

    rate: float
    finds: float
    requests: float


def plan(finds: float, requests: float) -> Plan:
    """
    >>> plan(10.0, 11.0).rate > plan(0.5, 1.0).rate
    True
    """
    rate = finds / requests
    return Plan(rate, rate * _LONGEST, _LONGEST) if requests > _LONGEST else Plan(rate, finds, requests)


def discounted(then: Plan, share: float) -> Plan:
    """A plan of which only so much is counted on.

    >>> discounted(plan(10.0, 20.0), 0.5)
    Plan(rate=0.25, finds=5.0, requests=20.0)
    """
    return Plan(then.rate * share, then.finds * share, then.requests)


def behind(chance: float, follow: Iterable[tuple[Plan, float]]) -> Plan:
    """A page and then the best of what it leads to: plans, with the number of new links to each.

    >>> behind(0.0, [(plan(1.0, 1.0), 10.0), (plan(0.1, 1.0), 50.0)])
    Plan(rate=0.9090909090909091, finds=10.0, requests=11.0)
    """
    finds, requests = chance, 1.0
    for then, links in sorted(follow, reverse=True):
        if then.rate * requests <= finds:
            break
        finds += links * then.finds
        requests += links * then.requests
    return plan(finds, requests)


def follow_up(chance: float, tries: float, more: float) -> tuple[float, float]:
    """The finds and requests that a find at the next try would be followed up with.

    `tries` is how much is known: after a find among so many, the chance of the next is that much higher.

    >>> follow_up(0.5, tries=1.0, more=0.0)
    (0.0, 0.0)
    >>> follow_up(0.1, tries=1.0, more=20.0), follow_up(0.1, tries=99.0, more=20.0)
    ((1.1, 2.0), (0.218, 2.0))
    """
    after = (chance * tries + 1.0) / (tries + 1.0)
    return chance * more * after, chance * more


# ── The policy itself: see the package's docstring for its story.

_LOOKS = 8
"""Arms whose value is brought up to date before one is picked."""
_SAME = 1e-9
_CAUTION = 0.2
"""Pages without a new link that every arm is thought to have had."""
_UNTRIED = ArmStatistics()
_GROWN = 8
"""Tries after which an arm's own record is enough."""
_SURPRISE = 0.05
"""An outcome that differs this much from what was expected changes the mind about all arms of its host."""
_YOUNG = 8
"""So does every outcome of a host that was tried so few times."""
_STRANGERS_FOR = 1.005
"""What is thought of hosts that were not tried changes less and less: it holds until there are so many times as many
outcomes."""
_MOST_CACHED = 1 << 14
_LINK = 1e-10
"""How much a link that was found later is behind, in steps from a seed: a crawl of a billion links stays below one."""


class UnseenHostArm(NamedTuple):
    """What is thought of links of one kind to hosts that were not tried."""

    until: float
    """Outcomes that may be learned until it is thought about again."""
    value: float
    plan: Plan


class Motherlode(WaitRule):
    """Learns which links lead to finds, and what lies behind them."""

    def __init__(self, *, settings: PolicyConfig | None = None) -> None:
        super().__init__()
        self.settings = settings or PolicyConfig()
        self.beliefs = PosteriorModel(self.settings)
        self._namer = ArmKeyBuilder(places=self.settings.places)
        self._awake = ReadyArms()
        self._waiting: dict[str, int] = {}
        """Links of each awake arm, for hosts that were tried."""
        self._pending: dict[str, int] = {}
        """Links of each arm that were picked and have not come back."""
        self._at_pick: dict[str, float] = {}
        """What each of these arms was worth when it was last picked: with a link less, and one more to come, it is
        worth something else."""
        self._plans: dict[str, Plan] = {}
        """As last computed, for arms of hosts that were tried."""
        self._strangers: dict[str, UnseenHostArm] = {}
        """Arms of hosts that were not tried, by all of their name but the host: there may be a million such hosts, and
        nothing tells them apart."""
        self._lessons = 0
        self._count = 0

    def aim(self, target: Target) -> None:
        """Links that announce what is looked for get a hunch."""
        self.beliefs.chances.hunches = target_priors(target, self.settings.hunch)

    @property
    def evidence(self) -> PolicyStatistics:
        """All that was learned."""
        return self.beliefs.evidence

    # ── links come in ────────────────────────────────────────────────────────────────────────────────

    def rate(self, links: Sequence[Link], parent: Parent | None) -> Sequence[Rating]:
        arm_of, count = self._namer.arm, self._count
        arms = [arm_of(link, parent) for link in links]
        self._count = count + len(links)
        depth = 0
        if parent is not None:
            depth = parent.depth
            if parent.arm:
                found = Counter(arms)
                self._note_links(kind_of(parent.arm), found)
                if self.settings.list_links:
                    lists = self._namer.lists(found, parent.url, least=self.settings.list_links)
                    arms = [lists.get(arm, arm) for arm in arms]
        return [Rating(arm=arm, score=-depth - place * _LINK) for place, arm in enumerate(arms, count + 1)]

    def _note_links(self, kind: str, found: Mapping[str, int]) -> None:
        family = family_of(kind)
        for book in (self.beliefs.evidence, self.beliefs.news):
            book.arm(kind).note(found)
            book.family(family).note(found)
        if kind in self._awake:
            self._awake.put(kind, self.value_now(kind))

    # ── outcomes come back ───────────────────────────────────────────────────────────────────────────

    def learn(self, outcome: Outcome) -> None:
        arm, kind, host = outcome.arm, kind_of(outcome.arm), outcome.host
        expected = self.chance(arm)
        self.beliefs.learn(outcome)
        self._back(arm)
        if arm != kind or outcome.reward > expected:  # what leads to such links leads to their kind
            self._plans[kind] = self.plan(kind)  # also where none of them waits, as none does behind most redirects
        self._lessons += 1
        surprising = abs(outcome.reward - expected) > _SURPRISE or self.evidence.hosts[host].tries <= _YOUNG
        for name in self._namer.tell_apart(host) if surprising else (arm,):
            if name in self._awake:
                self._awake.put(name, self.value_now(name))

    def _back(self, arm: str) -> None:
        pending = self._pending.get(arm, 0)
        if pending > 1:
            self._pending[arm] = pending - 1
        elif pending:
            del self._pending[arm]
            self._at_pick.pop(arm, None)

    # ── arms are picked ──────────────────────────────────────────────────────────────────────────────

    def arm_ready(self, arm: str, best: float, waiting: int) -> None:
        host = arm.partition(TAB)[0]
        if host in self.evidence.hosts:
            self._waiting[arm] = waiting
        self._on_ready(host, arm)
        if arm not in self._awake:
            self._namer.remember(host, arm)
            self._awake.put(arm, self.value_now(arm))

    def arm_snoozed(self, arm: str) -> None:
        self._on_snoozed(arm.partition(TAB)[0], arm, self._awake.value(arm))
        self._awake.remove(arm)
        self._waiting.pop(arm, None)

    def pick(self) -> str | None:
        """The best arm, or none where a host that rests is worth waiting for."""
        best = self._best()
        worth = self._awake.value(best) or 0.0 if best is not None else 0.0
        arm = self._pick_or_wait(best, worth)
        if arm is not None:
            self._pending[arm] = self._pending.get(arm, 0) + 1
            self._at_pick[arm] = worth
        return arm

    def _best(self) -> str | None:
        """The best arm, where the values of those that seem best are brought up to date first."""
        arm = self._awake.best()
        for _ in range(_LOOKS):
            if arm is None:
                return None
            value = self.value_now(arm)
            if abs(value - (self._awake.value(arm) or 0.0)) < _SAME:
                break
            self._awake.put(arm, value)
            best = self._awake.best()
            if best == arm:
                break
            arm = best
        return arm

    # ── what an arm is worth ─────────────────────────────────────────────────────────────────────────

    def chance(self, arm: str) -> float:
        """That the arm's next link is a find."""
        return self.beliefs.chance(arm)

    def plan(self, arm: str, chance: float | None = None) -> Plan:
        """The arm's next link, and then what lies behind it. The chance is that of the arm, where it is known."""
        chance = self.chance(arm) if chance is None else chance
        expected = self._expected(arm) if self.settings.looks_behind else None
        if not expected:
            return plan(chance, 1.0)
        most = self.settings.most_new
        follow = [(discounted(self._plan_of(to), self._share(to)), min(most, links)) for to, links in expected.items()]
        return behind(chance, follow)

    def _share(self, arm: str) -> float:
        """What of a page further on is counted: all where redirects led to finds, because they lead nowhere else."""
        record = self.evidence.arms.get(arm)
        return 1.0 if record is not None and record.finds and is_redirected_to(arm) else self.settings.discount

    def _expected(self, arm: str) -> dict[str, float]:
        """New links a page, by their arm: as the arm's own pages had them, and at first as those of its family."""
        kind = kind_of(arm)
        record = self.evidence.arms.get(kind) or _UNTRIED
        borrowed = self.settings.borrowed_pages
        expected = record.links_a_page(cautious=borrowed + _CAUTION)
        if borrowed and record.tries < _GROWN:
            family = self.evidence.families.get(family_of(kind))
            if family is not None:
                share = borrowed / (record.tries + borrowed + _CAUTION)
                for to, links in family.links_a_page(cautious=_CAUTION).items():
                    expected[to] = expected.get(to, 0.0) + links * share
        return expected

    def _plan_of(self, arm: str) -> Plan:
        """As it was last computed, if it was."""
        known = self._plans.get(arm)
        if known is not None:
            return known
        host, _, kind = arm.partition(TAB)
        if host in self.evidence.hosts:
            found = self._plans[arm] = plan(self.chance(arm), 1.0)  # no further: arms lead to each other in circles
            return found
        return self._stranger(arm, kind).plan

    def value(self, arm: str) -> float:
        """What the arm was worth when it was last picked, until that has come back; otherwise what it is worth now."""
        picked = self._at_pick.get(arm)
        return self.value_now(arm) if picked is None else picked

    def value_now(self, arm: str) -> float:
        """The rate of finds per request that the arm promises."""
        host, _, kind = arm.partition(TAB)
        if host in self.evidence.hosts or arm in self._pending:
            value, self._plans[arm] = self._valued(arm)
            return value
        return self._stranger(arm, kind).value

    def _stranger(self, arm: str, kind: str) -> UnseenHostArm:
        known = self._strangers.get(kind)
        if known is None or known.until < self._lessons:
            if len(self._strangers) >= _MOST_CACHED:
                self._strangers.clear()
            known = self._strangers[kind] = UnseenHostArm(self._lessons * _STRANGERS_FOR, *self._valued(arm))
        return known

    def _valued(self, arm: str) -> tuple[float, Plan]:
        chance = self.chance(arm)
        known = self.plan(arm, chance)
        if not self.settings.looks_ahead:
            return known.rate, known
        finds, requests = follow_up(chance, *self._outlook(arm))
        return (known.finds + finds) / (known.requests + requests), known

    def _outlook(self, arm: str) -> tuple[float, float]:
        """How much is known about an arm, in tries, and how many more links like its next there are."""
        settings = self.settings
        tries = self._pending.get(arm, 0) + self.beliefs.tries(arm) + 1.0
        if settings.seeds_are_doors and is_inner_seed(arm):  # named, because no way may lead there from the home page
            return tries, settings.horizon
        host = arm.partition(TAB)[0]
        record = self.evidence.hosts.get(host)
        host_tries = record.tries if record is not None else 0
        holds_more = not host_tries or (host_tries <= settings.unseen and self._is_door(host))
        unseen = settings.horizon / (1.0 + host_tries) if holds_more else 0.0
        more = min(max(self._waiting.get(arm, 1) - 1, unseen), settings.horizon)
        return tries + min(host_tries, settings.host_tries), more

    def _is_door(self, host: str) -> bool:
        """Whether so few links of a host wait that what was seen of it led to little more than the next page."""
        left = self.settings.door_links
        for arm in self._namer.tell_apart(host):
            left -= self._waiting.get(arm, 0)
            if left <= 0:
                return False
        return True

    # ── what was learned is kept and shared ──────────────────────────────────────────────────────────

    def dump(self) -> bytes:
        return msgspec.msgpack.encode((self._count, self.evidence))

    def load(self, state: bytes) -> None:
        self._count, self.beliefs.evidence = msgspec.msgpack.decode(state, type=tuple[int, PolicyStatistics])
        for host in self.evidence.hosts:
            self._namer.tell_apart(host)
        self._think_anew()

    def delta(self) -> bytes:
        """What was learned since the last call, for other shards of the same crawl."""
        news, self.beliefs.news = self.beliefs.news, PolicyStatistics()
        return msgspec.msgpack.encode(news) if news.arms else b""

    def absorb(self, delta: bytes) -> None:
        if delta:
            self._add(msgspec.msgpack.decode(delta, type=PolicyStatistics))

    def merge(self, state: bytes) -> None:
        """Add what another crawl has learned, from its `dump`."""
        self._add(msgspec.msgpack.decode(state, type=tuple[int, PolicyStatistics])[1])

    def _add(self, learned: PolicyStatistics) -> None:
        self.evidence.add(learned)
        for host in learned.hosts:
            self._namer.tell_apart(host)
        self._think_anew()

    def _think_anew(self) -> None:
        """What was computed from less evidence is forgotten."""
        self._lessons = sum(record.tries for record in self.evidence.hosts.values())
        self._plans.clear()
        self._strangers.clear()

    # ── what people are told ─────────────────────────────────────────────────────────────────────────

    def explain(self, link: Link, rating: Rating, parent: Parent | None) -> Explanation:
        return explain(self, rating.arm)

    def summary(self, most: int) -> Sequence[SummaryLine]:
        return lessons(self, most)
