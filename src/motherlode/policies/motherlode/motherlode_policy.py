"""The motherlode policy: it picks the arm with the highest value, and learns from the outcome.

The value of an arm is a rate of relevant pages per request. A page that is surely relevant has the value 1. A page that
is not relevant but links to ten relevant pages has the value 10/11. An arm with few tries has a higher value than its
probability: if the first try is relevant, more links of the arm follow, and if not, only one request is lost. These are
stopping problems, and the best rate over all stopping times is their Gittins index (Gittins 1979). Here it is computed
for one step of learning and for the links of the next page.

docs/policy.md, section 5, has the formulas. A plan is to fetch a link and then the best links of its page. The value
adds the information that a relevant page would give about further links of the arm.

Values of arms are stored in a priority queue and are brought up to date when an outcome changes them much, or when they
come to the top. All unseen hosts with the same kind of link share one value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import msgspec

from motherlode.model import Explanation, FailureKind, Link, Outcome, Rating, SummaryLine
from motherlode.policies.motherlode.arm_key import ArmKey, ArmKeyBuilder, SavedHost, host_of_arm, without_host
from motherlode.policies.motherlode.config import PolicyConfig, target_priors
from motherlode.policies.motherlode.explanation import explain_arm, summarize
from motherlode.policies.motherlode.model_merge import merge_statistics
from motherlode.policies.motherlode.posterior import PolicyStatistics, PosteriorModel
from motherlode.policies.motherlode.redirect_rules import RedirectRules
from motherlode.policies.motherlode.target_words import WordMatcher, words_of
from motherlode.policies.priority_queue import ReadyArms, WaitRule
from motherlode.policies.targets import Target

_MAX_LINKS = 150.0
"""Limit of the links that a value takes into account: of the requests of a plan, because hubs may link to hubs without
end, and of the waiting links by which a first relevant page would be followed up."""
_MAX_UPDATES_PER_PICK = 128
"""Limit of the arms whose values are brought up to date before one is picked, to bound the time of a pick."""
_SAME_VALUE = 1e-9
_SURPRISE = 0.05
"""If an outcome differs this much from its probability, the values of all arms of its host are updated."""
_GROUP_MARK = "\0"
"""First character of the name of a group, which no arm has."""
_MAX_CACHED = 1 << 14
_MAX_SAVED_VALUES = 1 << 16
"""Maximum number of ready arms whose values are saved. Those of further arms are computed again after a restart."""


class Plan(NamedTuple):
    """The expected reward of a number of requests."""

    rate: float
    reward: float
    requests: float


def make_plan(reward: float, requests: float) -> Plan:
    """Return a plan of at most `_MAX_LINKS` requests with the rate of this reward and number of requests."""
    rate = reward / requests
    if requests > _MAX_LINKS:
        return Plan(rate, rate * _MAX_LINKS, _MAX_LINKS)
    return Plan(rate, reward, requests)


def plan_with_links(probability: float, links: Iterable[tuple[float, float, float, float]]) -> Plan:
    """Return the plan to fetch a page and then the best of its links.

    `links` has rate, reward and requests of plans, and the number of links to each.

    >>> plan_with_links(0.0, [(1.0, 1.0, 1.0, 10.0), (0.1, 0.1, 1.0, 50.0)])
    Plan(rate=0.9090909090909091, reward=10.0, requests=11.0)
    """
    reward, requests = probability, 1.0
    for rate, more_reward, more_requests, count in sorted(links, reverse=True):
        if rate * requests <= reward:
            break
        reward += count * more_reward
        requests += count * more_requests
    return make_plan(reward, requests)


def information_gain(probability: float, tries: float, more: float) -> tuple[float, float]:
    """Return the expected reward and requests of following up a relevant page with `more` links.

    `tries` says how much is known: a relevant page raises the probability of the next links by about 1 / (tries + 1).
    """
    after = (probability * tries + 1.0) / (tries + 1.0)
    return probability * more * after, probability * more


class UnseenHostValue(NamedTuple):
    """The value of links of one kind to unseen hosts."""

    outcomes: float
    """Number of outcomes when it was computed. After the next outcome it is computed again if it is needed."""
    value: float
    plan: Plan


class SavedState(msgspec.Struct):
    """The state of the policy in checkpoints and models. Models use only the statistics."""

    statistics: PolicyStatistics
    hosts: dict[str, SavedHost] = msgspec.field(default_factory=dict)
    plans: dict[str, tuple[float, float]] = msgspec.field(default_factory=dict)
    """Reward and requests of each plan."""
    values: dict[str, float] = msgspec.field(default_factory=dict)
    """Values of ready arms. They may be older than the statistics."""
    outcomes: int = 0
    unseen: dict[str, UnseenHostValue] = msgspec.field(default_factory=dict)


@lru_cache(_MAX_CACHED)
def _group_of(arm: str, waiting: int) -> str:
    """Return the name of the group of an arm of an unseen host: all that is known about its links but their host.

    Arms of cross-host links are also grouped by their number of waiting links, rounded down to a power of two.
    """
    return f"{_GROUP_MARK}{_rounded(waiting) if ArmKey.parse(arm).from_host else 1} {without_host(arm)}"


def _rounded(waiting: int) -> int:
    """Return a number of links, rounded down to a power of two.

    >>> [_rounded(waiting) for waiting in (1, 3, 4, 100)]
    [1, 2, 4, 64]
    """
    return 1 << waiting.bit_length() - 1


def read_state(state: bytes) -> SavedState:
    """Read a saved state. Earlier versions saved a pair of count and statistics."""
    try:
        return msgspec.msgpack.decode(state, type=SavedState)
    except msgspec.ValidationError:
        return SavedState(msgspec.msgpack.decode(state, type=tuple[int, PolicyStatistics])[1])


class Motherlode(WaitRule):
    """The policy; see the docstrings of the package and of this module."""

    def __init__(self, *, config: PolicyConfig | None = None) -> None:
        super().__init__()
        self.config = config or PolicyConfig()
        self.posterior = PosteriorModel(self.config)
        self._keys = ArmKeyBuilder(steps=self.config.key_steps)
        self._ready = ReadyArms()
        """Ready arms by value, and groups of ready arms of unseen hosts (`_group_of`), which share one value."""
        self._groups: dict[str, dict[str, None]] = {}
        """Group → its ready arms, in the order in which they became ready."""
        self._waiting: dict[str, int] = {}
        """Number of waiting links of each ready arm; for unseen hosts only if it is not 1."""
        self._in_flight: dict[str, int] = {}
        """Number of links of each arm that were picked and have no outcome yet."""
        self._value_at_pick: dict[str, float] = {}
        """Value of each arm of `_in_flight` at its last pick. It changes with the pick, because a link less is waiting
        and one more is in flight."""
        self._plans: dict[str, Plan] = {}
        """The last computed plans of arms of hosts that were tried."""
        self._unseen_host_values: dict[str, UnseenHostValue] = {}
        """Arm without its host → value. Unseen hosts with equal links share it, because they may be a million."""
        self._saved_values: dict[str, float] = {}
        """Values of arms before a restart, until the arms are ready again."""
        self._outcomes = 0

    def aim(self, target: Target) -> None:
        self.posterior.target_priors = target_priors(target, self.config)
        words = words_of(target) if self.config.word_prior else ()
        self._keys.has_words = WordMatcher(words).matches if words else None

    @property
    def statistics(self) -> PolicyStatistics:
        return self.posterior.statistics

    def rate(self, links: Sequence[Link], parent: Outcome | None) -> Sequence[Rating]:
        arm_of = self._keys.arm
        arms = [arm_of(link, parent) for link in links]
        if parent is not None and parent.failure is FailureKind.REDIRECT and parent.arm:
            for link in links:
                self.posterior.learn_redirect(parent.url, link.url)
        if parent is not None and parent.arm:
            links_by_arm = Counter(arms)
            self._add_links(ArmKey.parse(parent.arm), links_by_arm)
            if self.config.hub_min_links:
                hubs = self._keys.hub_arms(links_by_arm, parent.url, min_links=self.config.hub_min_links)
                arms = [hubs.get(arm, arm) for arm in arms]
        score = 0.0 if parent is None else -float(parent.depth)  # the frontier takes the first of equal scores
        return [Rating(arm=arm, score=score) for arm in arms]

    def _add_links(self, key: ArmKey, links_by_arm: Mapping[str, int]) -> None:
        """Count the new links of a page for its arm and its family."""
        base_arm = key.base_arm
        for statistics in (self.posterior.statistics, self.posterior.delta):
            statistics.arm(base_arm).add_links(links_by_arm)
            statistics.family(key.family).add_links(links_by_arm)
        if base_arm in self._ready:
            self._ready.put(base_arm, self.value_now(base_arm))

    def learn(self, outcome: Outcome) -> None:
        arm, host = outcome.arm, outcome.host
        key = ArmKey.parse(arm)
        expected = self.probability(arm)
        self.posterior.learn(outcome)
        self._end_request(arm)
        if key.is_hub or outcome.reward > expected:  # pages that link to this arm use the plan of its base arm
            # also if no link of the base arm waits, which is usual for targets of redirects
            self._plans[key.base_arm] = self.plan(key.base_arm, self.probability(key.base_arm))
        self._outcomes += 1
        is_new_host = self.statistics.hosts[host].tries <= self.config.host_prior_tries
        changes_host = abs(outcome.reward - expected) > _SURPRISE or is_new_host
        for name in self._keys.arms_of_tried_host(host) if changes_host else (arm,):
            if name in self._ready or self._leave_group(name):
                self._ready.put(name, self.value_now(name))

    def predict_redirect(self, url: str, arm: str) -> str:
        rules = self.statistics.redirects if self.config.predicts_redirects else None
        target = RedirectRules(rules).predict(url) if rules else ""
        if target:
            self._end_request(arm)
            self.statistics.assumed[target] = url
        return target

    def _end_request(self, arm: str) -> None:
        in_flight = self._in_flight.get(arm, 0)
        if in_flight > 1:
            self._in_flight[arm] = in_flight - 1
        elif in_flight:
            del self._in_flight[arm]
            self._value_at_pick.pop(arm, None)

    def arm_ready(self, arm: str, best: float, waiting: int) -> None:
        host = ArmKey.parse(arm).host
        is_unseen = host not in self.statistics.hosts
        self._on_ready(host, arm)
        if is_unseen and self._group(arm) != _group_of(arm, waiting):
            self._leave_group(arm)
        self._waiting[arm] = waiting
        if is_unseen and waiting == 1:  # most of perhaps a million unseen hosts have a single link
            del self._waiting[arm]
        if arm in self._ready or arm in self._groups.get(self._group(arm), ()):
            return
        self._keys.add_waiting(host, arm)
        name = arm
        if is_unseen and arm not in self._in_flight:
            name = self._group(arm)
            self._groups.setdefault(name, {})[arm] = None
        if name not in self._ready:
            saved = self._saved_values.pop(name, None)
            self._ready.put(name, self.value_now(arm) if saved is None else saved)

    def arm_snoozed(self, arm: str) -> None:
        value = self._ready.value(arm)
        if value is None:
            of_group = self._ready.value(self._group(arm))
            value = of_group if self._leave_group(arm) else None
        self._on_snoozed(ArmKey.parse(arm).host, arm, value)
        self._ready.remove(arm)
        self._waiting.pop(arm, None)

    def pick(self) -> str | None:
        """Return the best ready arm, or None if none is ready or a snoozed host is worth waiting for."""
        best, value = self._best()
        arm = self._pick_or_wait(best, value)
        if arm is not None:
            self._in_flight[arm] = self._in_flight.get(arm, 0) + 1
            self._value_at_pick[arm] = value
            if self._leave_group(arm):
                self._ready.put(arm, value)
        return arm

    def _group(self, arm: str) -> str:
        return _group_of(arm, self._waiting.get(arm, 1))

    def _leave_group(self, arm: str) -> bool:
        """Remove an arm from the group of its unseen host. Return whether it was there."""
        name = self._group(arm)
        group = self._groups.get(name, {})
        if arm not in group:
            return False
        del group[arm]
        if not group:
            del self._groups[name]
            self._ready.remove(name)
        return True

    def _best(self) -> tuple[str | None, float]:
        """Return the best ready arm with its value. Arms and groups that come to the top are brought up to date first.

        A group needs one update for all its arms. An arm of a group whose host was tried meanwhile leaves it.
        """
        ready = self._ready
        name = ready.best()
        for _ in range(_MAX_UPDATES_PER_PICK):
            if name is None:
                return None, 0.0
            arm = self._first_of(name)
            if arm != name and ArmKey.parse(arm).host in self.statistics.hosts:
                self._leave_group(arm)
                ready.put(arm, self.value_now(arm))
            else:
                value = self.value_now(arm)
                if abs(value - (ready.value(name) or 0.0)) < _SAME_VALUE:
                    break
                ready.put(name, value)
            best = ready.best()
            if best == name:
                break
            name = best
        return (self._first_of(name), ready.value(name) or 0.0) if name is not None else (None, 0.0)

    def _first_of(self, name: str) -> str:
        """Return the first arm of a group, or the arm itself."""
        return next(iter(self._groups[name])) if name in self._groups else name

    def probability(self, arm: str) -> float:
        return self.posterior.probability(arm)

    def plan(self, arm: str, probability: float) -> Plan:
        """Return the plan to fetch the arm's next link, of known probability, and then the best links of its page."""
        key = ArmKey.parse(arm)
        return plan_with_links(probability, self._better_links(key, probability) if self.config.values_links else ())

    def _better_links(self, key: ArmKey, probability: float) -> list[tuple[float, float, float, float]]:
        """Return the plans of an arm's links, as rate, reward, requests and the expected number of new links per page.

        Values of linked pages are discounted, except targets of redirects if one of them was relevant. Plans whose rate
        is below the probability are left out, because `plan_with_links` would not use them.
        """
        arms, known, discount = self.statistics.arms, self._plans, self.config.discount
        min_rate = probability - _SAME_VALUE
        own, pages, family, family_pages, share = self.posterior.link_sums(key)
        better = []
        for to in own | family:  # several hundred for each page of a crawl, so this loop calls little
            plan = known.get(to)
            rate, reward, requests = self._plan_of(to) if plan is None else plan
            if rate > min_rate:
                statistics = arms.get(to)
                if statistics is None or not statistics.reward or not ArmKey.parse(to).is_redirect_target:
                    rate, reward = rate * discount, reward * discount
                if rate > min_rate:
                    count = own.get(to, 0.0) / pages + family.get(to, 0.0) / family_pages * share
                    better.append((rate, reward, requests, count))
        return better

    def _plan_of(self, arm: str) -> Plan:
        """Return the last computed plan of an arm, or the plan of its next link only, because arms link in circles."""
        known = self._plans.get(arm)
        if known is not None:
            return known
        key = ArmKey.parse(arm)
        if key.host in self.statistics.hosts:
            plan = self._plans[arm] = make_plan(self.probability(arm), 1.0)
            return plan
        return self._unseen_host_value(arm, key).plan

    def value(self, arm: str) -> float:
        """Return the arm's value at its last pick if this request is in flight, otherwise its current value."""
        value = self._value_at_pick.get(arm)
        return self.value_now(arm) if value is None else value

    def value_now(self, arm: str) -> float:
        """Return the expected rate of relevant pages per request."""
        key = ArmKey.parse(arm)
        if key.host in self.statistics.hosts or arm in self._in_flight:
            value, self._plans[arm] = self._value_and_plan(arm, key)
            return value
        return self._unseen_host_value(arm, key).value

    def _unseen_host_value(self, arm: str, key: ArmKey) -> UnseenHostValue:
        name = _group_of(arm, self._waiting.get(arm, 1))
        known = self._unseen_host_values.get(name)
        if known is None or known.outcomes != self._outcomes:
            if len(self._unseen_host_values) >= _MAX_CACHED:
                self._unseen_host_values.clear()
            alone, outcomes = make_plan(self.probability(arm), 1.0), float(self._outcomes)
            self._unseen_host_values[name] = UnseenHostValue(outcomes, alone.rate, alone)  # arms link in circles
            self._unseen_host_values[name] = known = UnseenHostValue(outcomes, *self._value_and_plan(arm, key))
        return known

    def _value_and_plan(self, arm: str, key: ArmKey) -> tuple[float, Plan]:
        probability = self.probability(arm)
        plan = self.plan(arm, probability)
        if not self.config.values_information:
            return plan.rate, plan
        reward, requests = information_gain(probability, *self._tries_and_more_links(arm, key))
        return (plan.reward + reward) / (plan.requests + requests), plan

    def _tries_and_more_links(self, arm: str, key: ArmKey) -> tuple[float, float]:
        """Return how much is known about an arm, in tries, and how many more links like its next one there are."""
        config = self.config
        tries = self._in_flight.get(arm, 0) + self.posterior.tries(arm) + 1.0
        if config.seeds_are_gateways and key.is_inner_seed:  # the user named it, maybe because no link leads there
            return tries, config.horizon
        host = self.statistics.hosts.get(key.host)
        host_tries = host.tries if host is not None else 0
        waiting = self._waiting.get(arm, 1)
        if host is None:  # the same for all arms of its group
            waiting = _rounded(waiting) if key.from_host and config.counts_links_of_silent_hosts else 1
        elif not host.responses and config.counts_links_of_silent_hosts:
            waiting = self._waiting_of_host(key.host)
        hidden = config.horizon / (1.0 + host_tries) if not host_tries or self._is_gateway(key.host) else 0.0
        return tries + min(host_tries, config.host_prior_tries), max(min(waiting - 1, _MAX_LINKS), hidden)

    def _is_gateway(self, host: str) -> bool:
        """Return whether a host looks like a gateway: it has fewer waiting links than a hub page."""
        return self._waiting_of_host(host, self.config.hub_min_links) < self.config.hub_min_links

    def _waiting_of_host(self, host: str, limit: float = _MAX_LINKS) -> int:
        """Return the number of waiting links of a host that was tried, at most about `limit`."""
        total = 0
        for arm in self._keys.arms_of_tried_host(host):
            total += self._waiting.get(arm, 0)
            if total > limit:
                break
        return total

    def dump(self) -> bytes:
        saved = SavedState(
            statistics=self.statistics,
            hosts=self._keys.save(),
            plans={arm: (plan.reward, plan.requests) for arm, plan in self._plans.items()},
            values=self._ready.values(_MAX_SAVED_VALUES),
            outcomes=self._outcomes,
            unseen=self._unseen_host_values,
        )
        return msgspec.msgpack.encode(saved)

    def load(self, state: bytes) -> None:
        saved = read_state(state)
        self.posterior.statistics = saved.statistics
        self._keys.restore(saved.hosts)
        for host in self.statistics.hosts:
            self._keys.arms_of_tried_host(host)
        self._forget_values()
        self._plans = {arm: make_plan(reward, requests) for arm, (reward, requests) in saved.plans.items()}
        self._saved_values = saved.values
        self._unseen_host_values = saved.unseen
        self._outcomes = max(saved.outcomes, self._outcomes)

    def forget(self, is_needed: Callable[[str], bool]) -> int:
        learned = self.statistics.hosts
        known = self._keys.hosts() | learned.keys()
        hosts = {host for host in known if not is_needed(host) and (host not in learned or not learned[host].reward)}
        self._keys.forget(hosts)
        for statistics in (self.statistics, self.posterior.delta):
            statistics.forget(hosts)
        for host in hosts:
            self.leave(host)
        self._plans = {arm: plan for arm, plan in self._plans.items() if host_of_arm(arm) not in hosts}
        self._saved_values = {arm: value for arm, value in self._saved_values.items() if host_of_arm(arm) not in hosts}
        self._unseen_host_values.clear()
        return len(hosts)

    def delta(self) -> bytes:
        delta, self.posterior.delta = self.posterior.delta, PolicyStatistics()
        return msgspec.msgpack.encode(delta) if delta.arms else b""

    def absorb(self, delta: bytes) -> None:
        if delta:
            learned = msgspec.msgpack.decode(delta, type=PolicyStatistics)
            self.statistics.add(learned)
            self._learned_from_others(learned)

    def merge(self, state: bytes) -> None:
        learned = read_state(state).statistics
        merge_statistics(self.statistics, learned, config=self.config)
        self._learned_from_others(learned)

    def _learned_from_others(self, learned: PolicyStatistics) -> None:
        for host in learned.hosts:
            self._keys.arms_of_tried_host(host)
        self._forget_values()

    def _forget_values(self) -> None:
        """Drop the cached values and plans, because the statistics from which they were computed have changed."""
        self._outcomes = sum(host.tries for host in self.statistics.hosts.values())
        self._plans.clear()
        self._unseen_host_values.clear()

    def explain(self, link: Link, rating: Rating, parent: Outcome | None) -> Explanation:
        return explain_arm(self, rating.arm)

    def summary(self, most: int) -> Sequence[SummaryLine]:
        return summarize(self, most)
