"""What a crawl has learned, as sums over outcomes: statistics of arms, hosts and features, and how they are merged.

The fields are saved under the names of format 1, which are given by `rename`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import log, sqrt
from typing import Final, TypeVar

import msgspec

from motherlode.policies.motherlode.config import PolicyConfig
from motherlode.policies.motherlode.redirect_rules import RedirectRule, RedirectRules

RESPONSE: Final = 0
"""The predicted event "a request returns a page". The number is the index of the event's z in the sums of a feature;
its n follows (z and n are the sums of FTRL, see `policies.ftrl`)."""
RELEVANCE: Final = 2
"""The predicted event "a page is relevant", as an index like RESPONSE."""

_MAX_LINKED_ARMS = 48
_MAX_WEIGHT = 1e12
"""If the weight of the last try exceeds this, all weights of its arm are rescaled, to avoid an overflow."""
_MAX_PROBABILITY = 0.999
"""Limit of the expected reward of a host, to keep log-odds finite."""

Sums = list[float]


class Tally(msgspec.Struct, gc=False):
    """Decayed counts of how often an event did (`yes`) and did not (`no`) happen: the latest results count most."""

    yes: float = 0.0
    no: float = 0.0

    def count(self, result: float, *, retention: float, opposite_retention: float, share: float = 1.0) -> None:
        """Count a result: 0 for no, 1 for yes, in between for a partial yes.

        A yes multiplies the earlier yes count by `retention` and the no count by `opposite_retention`. A no multiplies
        the yes count by `opposite_retention` and leaves the no count, so that a hundred failures in a row are worse
        than ten.

        >>> tally = Tally()
        >>> for result in (1.0, 1.0, 0.0):
        ...     tally.count(result, retention=1.0, opposite_retention=0.5)
        >>> tally
        Tally(yes=1.0, no=1.0)
        """
        if result:
            self.yes = self.yes * retention + result * share
            self.no = self.no * opposite_retention + (1.0 - result) * share
        else:
            self.yes *= opposite_retention
            self.no += share

    def probability(self, prior: float, *, prior_tries: float) -> float:
        """Return the probability that the next result is yes: the mean of the counts and `prior_tries` at the prior."""
        return (self.yes + prior_tries * prior) / (self.yes + self.no + prior_tries)

    def add(self, other: Tally, *, share: float = 1.0) -> None:
        """Add the counts of another crawl, and multiply the sums by `share`."""
        self.yes = (self.yes + other.yes) * share
        self.no = (self.no + other.no) * share


_HOST_NAMES = {"responses": "answers", "pages": "seen", "reward": "found", "expected_reward": "hoped"}


class HostStatistics(msgspec.Struct, gc=False, rename=_HOST_NAMES):
    """Totals of a host over all its arms.

    `pages`, `reward` and `expected_reward` are weighted sums: the n-th page of an arm counts 1/n, because many pages of
    one template say little about the other templates of the host.
    """

    tries: int = 0
    """Requests that did not end with a redirect."""
    responses: int = 0
    """Requests that returned a page or a redirect."""
    pages: float = 0.0
    reward: float = 0.0
    expected_reward: float = 0.0
    """Sum of the rewards that the features alone predicted."""

    def lift(self, prior_pages: float) -> float:
        """Return by how much the rewards of a host exceed the predictions from features, as a difference of log-odds.

        The mean reward is smoothed by `prior_pages` pages with the predicted reward.
        """
        if not prior_pages or not self.pages:
            return 0.0
        expected = min(_MAX_PROBABILITY, max(1.0 - _MAX_PROBABILITY, self.expected_reward / self.pages))
        now = min(_MAX_PROBABILITY, (self.reward + prior_pages * expected) / (self.pages + prior_pages))
        return log(now / (1.0 - now)) - log(expected / (1.0 - expected))

    def add(self, other: HostStatistics) -> None:
        self.tries += other.tries
        self.responses += other.responses
        self.pages += other.pages
        self.reward += other.reward
        self.expected_reward += other.expected_reward


_ARM_NAMES = {"reward": "finds", "responses": "answered", "relevant": "found", "new_links": "led_to"}


class ArmStatistics(msgspec.Struct, gc=False, rename=_ARM_NAMES | {"total_weight": "pages"}):
    """Results of an arm's links."""

    tries: int = 0
    reward: float = 0
    """Sum of the rewards: the number of relevant pages, unless the user wants graded rewards."""
    responses: Tally = msgspec.field(default_factory=Tally)
    """Counts of requests that did and did not return a page."""
    relevant: Tally = msgspec.field(default_factory=Tally)
    """Counts of pages that were and were not relevant."""
    new_links: dict[str, float] = msgspec.field(default_factory=dict)
    """New links on the pages of the arm, by the arm of the link, each multiplied by the weight of its page."""
    total_weight: float = 0.0
    """Sum of the weights of all tries."""
    weight: float = 1.0
    """Weight of the last try. Weights grow from try to try, so that early pages count less and less: on a site that is
    nearly crawled, pages have few new links, however many the first pages had."""

    def count(self, *, reward: float, retention: float) -> None:
        """Count a try. Earlier tries are multiplied by `retention`, by giving the new try a higher weight."""
        self.tries += 1
        self.reward += reward
        self.weight /= retention
        self.total_weight += self.weight
        if self.weight > _MAX_WEIGHT:
            self._scale(1.0 / self.weight)

    def _scale(self, factor: float) -> None:
        self.weight *= factor
        self.total_weight *= factor
        self.new_links = {arm: links * factor for arm, links in self.new_links.items()}

    def links_per_page(self, *, empty_pages: float) -> dict[str, float]:
        """Return the expected number of new links on the next page by arm, as if `empty_pages` more pages had none."""
        pages = self.total_weight + empty_pages * self.weight
        return {arm: links / pages for arm, links in self.new_links.items()} if pages else {}

    def add_links(self, links_by_arm: Mapping[str, float]) -> None:
        """Add the new links of the last page. If there are too many arms, keep those with the most links."""
        known = self.new_links
        for arm, links in links_by_arm.items():
            known[arm] = known.get(arm, 0.0) + links * self.weight
        if len(known) > _MAX_LINKED_ARMS:
            self.new_links = dict(sorted(known.items(), key=lambda item: -item[1])[: _MAX_LINKED_ARMS // 2])

    def merge(self, other: ArmStatistics, *, retention: float) -> None:
        """Add the results of another crawl, as if the tries of both had been made in turn. Rescales `other`.

        Counts are decayed: n tries weigh W(n) = 1 + retention + retention² + … (n terms). So the sum of the counts of
        two crawls, which weighs W(n₁) + W(n₂), is scaled to the weight W(n₁ + n₂) of a crawl that made all the tries.
        """
        total = decayed_weight(self.tries, retention) + decayed_weight(other.tries, retention)
        share = decayed_weight(self.tries + other.tries, retention) / total if total else 1.0
        self.responses.add(other.responses, share=share)
        self.relevant.add(other.relevant, share=share)
        self._add_totals(other)
        self.total_weight *= share
        self.new_links = {arm: links * share for arm, links in self.new_links.items()}

    def add(self, other: ArmStatistics) -> None:
        """Add the results that another shard of the same crawl had meanwhile. Rescales `other`."""
        self.responses.add(other.responses)
        self.relevant.add(other.relevant)
        self._add_totals(other)

    def _add_totals(self, other: ArmStatistics) -> None:
        self.tries += other.tries
        self.reward += other.reward
        other._scale(1.0 / other.weight)
        self._scale(1.0 / self.weight)
        self.total_weight += other.total_weight
        self.add_links(other.new_links)


class PolicyStatistics(msgspec.Struct, gc=False, rename={"hub_arms": "lists", "unseen_hosts": "strangers"}):
    """All that a crawl has learned."""

    arms: dict[str, ArmStatistics] = msgspec.field(default_factory=dict)
    """Statistics of each base arm."""
    features: dict[str, Sums] = msgspec.field(default_factory=dict)
    """Feature → FTRL's z and n for RESPONSE, then z and n for RELEVANCE."""
    hub_arms: dict[str, ArmStatistics] = msgspec.field(default_factory=dict)
    """Statistics of each hub arm. Its results are counted in its base arm, too."""
    families: dict[str, ArmStatistics] = msgspec.field(default_factory=dict)
    """Statistics of each family: the arms of a host with the same extension (`ArmKey.family`)."""
    hosts: dict[str, HostStatistics] = msgspec.field(default_factory=dict)
    unseen_hosts: Tally = msgspec.field(default_factory=Tally)
    """Counts of hosts, found by cross-host links, that did and did not respond at their first try."""
    redirects: dict[str, list[RedirectRule]] = msgspec.field(default_factory=dict)
    """Rules of redirects by host."""
    assumed: dict[str, str] = msgspec.field(default_factory=dict)
    """Targets of redirects that were predicted and have not responded yet, with the URLs that lead to them."""

    def arm(self, base_arm: str) -> ArmStatistics:
        """Return the statistics of a base arm. As in the methods below, missing ones are created."""
        return _entry(self.arms, base_arm, ArmStatistics)

    def hub_arm(self, arm: str) -> ArmStatistics:
        return _entry(self.hub_arms, arm, ArmStatistics)

    def family(self, name: str) -> ArmStatistics:
        return _entry(self.families, name, ArmStatistics)

    def host(self, name: str) -> HostStatistics:
        return _entry(self.hosts, name, HostStatistics)

    def sums(self, feature: str) -> Sums:
        sums = self.features.get(feature)
        if sums is None:
            sums = self.features[feature] = [0.0, 0.0, 0.0, 0.0]
        return sums

    def add(self, delta: PolicyStatistics) -> None:
        """Add what another shard of the same crawl has learned since its last delta."""
        for own, its in self._arm_tables(delta):
            for name, arm in its.items():
                _entry(own, name, ArmStatistics).add(arm)
        self._add_sums(delta)
        for feature, sums in delta.features.items():
            own_sums = self.sums(feature)
            for index, value in enumerate(sums):
                own_sums[index] += value

    def merge(self, other: PolicyStatistics, *, config: PolicyConfig) -> None:
        """Add what another crawl has learned, as if the outcomes of both had been learned by one.

        The weight of a feature becomes the mean of both weights, each counted by its n, the sum of squared gradients.
        """
        for own, its in self._arm_tables(other):
            for name, arm in its.items():
                _entry(own, name, ArmStatistics).merge(arm, retention=config.retention)
        self._add_sums(other)
        for feature, sums in other.features.items():
            own_sums = self.sums(feature)
            for question in (RESPONSE, RELEVANCE):
                merge_sums(own_sums, sums, question, beta=config.beta)

    def _arm_tables(
        self, other: PolicyStatistics
    ) -> tuple[tuple[dict[str, ArmStatistics], dict[str, ArmStatistics]], ...]:
        return (self.arms, other.arms), (self.hub_arms, other.hub_arms), (self.families, other.families)

    def _add_sums(self, other: PolicyStatistics) -> None:
        """Add the statistics that are sums over outcomes."""
        for name, host in other.hosts.items():
            self.host(name).add(host)
        self.unseen_hosts.add(other.unseen_hosts)
        RedirectRules(self.redirects).merge(other.redirects)


def decayed_weight(tries: int, retention: float) -> float:
    """Return the total weight of a number of tries if each further try multiplies earlier ones by `retention`.

    >>> decayed_weight(3, 0.5), decayed_weight(3, 1.0)
    (1.75, 3.0)
    """
    return float(tries) if retention == 1.0 else (1.0 - retention**tries) / (1.0 - retention)


def merge_sums(own: Sums, other: Sums, question: int, *, beta: float) -> None:
    """Merge FTRL's z and n of one feature: n is added, and the weight is the mean of both weights by n.

    FTRL's weight is -α·z / (β + √n), so z is the weighted mean of z / (β + √n), times β + √n of the sum.
    """
    n, its_n = own[question + 1], other[question + 1]
    if not its_n:
        return
    z = n * own[question] / (beta + sqrt(n)) + its_n * other[question] / (beta + sqrt(its_n))
    own[question + 1] = n + its_n
    own[question] = z / (n + its_n) * (beta + sqrt(n + its_n))


_T = TypeVar("_T")


def _entry(table: dict[str, _T], name: str, make: Callable[[], _T]) -> _T:
    entry = table.get(name)
    if entry is None:
        entry = table[name] = make()
    return entry
