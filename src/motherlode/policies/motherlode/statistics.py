"""The learned state of the policy: sums over outcomes, so that the states of two crawls can be added.

For each arm that was tried: the number of tries, decayed counts of responses and of relevant pages, and the new links
on its pages by their arm. The same for hub arms and, without responses, for families; totals for hosts. For each
feature: the sums z and n of FTRL-Proximal for each of two questions, "does a request return a page?" and "is the page
relevant?".

The fields are saved under the names of format 1, which are given by `rename`.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import log
from typing import Final

import msgspec

RESPONSE: Final = 0
"""The question whether a request returns a page. The number is the index of its z in the sums of a feature."""
RELEVANCE: Final = 2
"""The question whether a page is relevant. In the sums, each z is followed by its n."""

_MAX_LINKED_ARMS = 48
_MAX_WEIGHT = 1e12
"""The weights of an arm are rescaled when the last one exceeds this."""
_MAX_PROBABILITY = 0.999
"""Limit of the expected reward of a host, to keep log-odds finite."""

Sums = list[float]


class Tally(msgspec.Struct, gc=False):
    """Decayed counts of the results of a question: the latest results count most."""

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
        """Return the probability that the next result is yes: the mean of the counts and `prior_tries` at the prior.

        >>> Tally(yes=1.0, no=1.0).probability(0.2, prior_tries=1.0)
        0.39999999999999997
        """
        return (self.yes + prior_tries * prior) / (self.yes + self.no + prior_tries)

    def add(self, other: Tally) -> None:
        """Add the counts of another tally."""
        self.yes += other.yes
        self.no += other.no


class HostStatistics(
    msgspec.Struct,
    gc=False,
    rename={"responses": "answers", "pages": "seen", "reward": "found", "expected_reward": "hoped"},
):
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
    """Rewards as predicted from features."""

    def lift(self, prior_pages: float) -> float:
        """Return how much better than its features predict a host is, as a difference of log-odds.

        The mean reward is smoothed by `prior_pages` pages with the predicted reward.

        >>> HostStatistics(pages=1.0, reward=0.0, expected_reward=0.5).lift(1.0), HostStatistics().lift(1.0)
        (-1.0986122886681098, 0.0)
        """
        if not prior_pages or not self.pages:
            return 0.0
        expected = min(_MAX_PROBABILITY, max(1.0 - _MAX_PROBABILITY, self.expected_reward / self.pages))
        now = min(_MAX_PROBABILITY, (self.reward + prior_pages * expected) / (self.pages + prior_pages))
        return log(now / (1.0 - now)) - log(expected / (1.0 - expected))

    def add(self, other: HostStatistics) -> None:
        """Add the totals of another crawl."""
        self.tries += other.tries
        self.responses += other.responses
        self.pages += other.pages
        self.reward += other.reward
        self.expected_reward += other.expected_reward


class ArmStatistics(
    msgspec.Struct,
    gc=False,
    rename={
        "reward": "finds",
        "responses": "answered",
        "relevant": "found",
        "new_links": "led_to",
        "total_weight": "pages",
    },
):
    """Results of an arm's links."""

    tries: int = 0
    reward: float = 0
    """Sum of the rewards: the number of relevant pages, unless the user wants graded rewards."""
    responses: Tally = msgspec.field(default_factory=Tally)
    """Whether requests returned a page."""
    relevant: Tally = msgspec.field(default_factory=Tally)
    """Whether pages were relevant."""
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
        """Return the expected number of new links on the next page by arm, as if `empty_pages` more pages had none.

        >>> statistics = ArmStatistics()
        >>> for links in (4, 0):
        ...     statistics.count(reward=0.0, retention=0.5)
        ...     statistics.add_links({"list": links})
        >>> statistics.links_per_page(empty_pages=0.0)
        {'list': 1.3333333333333333}
        """
        pages = self.total_weight + empty_pages * self.weight
        return {arm: links / pages for arm, links in self.new_links.items()} if pages else {}

    def add_links(self, links_by_arm: Mapping[str, float]) -> None:
        """Add the new links of the last page. If there are too many arms, keep those with the most links."""
        known = self.new_links
        for arm, links in links_by_arm.items():
            known[arm] = known.get(arm, 0.0) + links * self.weight
        if len(known) > _MAX_LINKED_ARMS:
            self.new_links = dict(sorted(known.items(), key=lambda item: -item[1])[: _MAX_LINKED_ARMS // 2])

    def add(self, other: ArmStatistics) -> None:
        """Add the results of another crawl. Rescales `other`."""
        self.tries += other.tries
        self.reward += other.reward
        self.responses.add(other.responses)
        self.relevant.add(other.relevant)
        other._scale(1.0 / other.weight)
        self._scale(1.0 / self.weight)
        self.total_weight += other.total_weight
        self.add_links(other.new_links)


class PolicyStatistics(msgspec.Struct, gc=False, rename={"hub_arms": "lists", "unseen_hosts": "strangers"}):
    """All that a crawl has learned."""

    arms: dict[str, ArmStatistics] = msgspec.field(default_factory=dict)
    """By base arm."""
    features: dict[str, Sums] = msgspec.field(default_factory=dict)
    """By feature: z and n of the response question, then z and n of the relevance question."""
    hub_arms: dict[str, ArmStatistics] = msgspec.field(default_factory=dict)
    """By hub arm. Their results are counted in their base arms, too."""
    families: dict[str, ArmStatistics] = msgspec.field(default_factory=dict)
    """By family."""
    hosts: dict[str, HostStatistics] = msgspec.field(default_factory=dict)
    unseen_hosts: Tally = msgspec.field(default_factory=Tally)
    """Whether hosts with cross-host links responded at their first try."""

    def arm(self, base_arm: str) -> ArmStatistics:
        """Return the statistics of a base arm; missing ones are created."""
        return _entry(self.arms, base_arm)

    def hub_arm(self, arm: str) -> ArmStatistics:
        """Return the statistics of a hub arm; missing ones are created."""
        return _entry(self.hub_arms, arm)

    def family(self, name: str) -> ArmStatistics:
        """Return the statistics of a family; missing ones are created."""
        return _entry(self.families, name)

    def host(self, name: str) -> HostStatistics:
        """Return the statistics of a host; missing ones are created."""
        statistics = self.hosts.get(name)
        if statistics is None:
            statistics = self.hosts[name] = HostStatistics()
        return statistics

    def sums(self, feature: str) -> Sums:
        """Return the sums of a feature; missing ones are created."""
        sums = self.features.get(feature)
        if sums is None:
            sums = self.features[feature] = [0.0, 0.0, 0.0, 0.0]
        return sums

    def add(self, other: PolicyStatistics) -> None:
        """Add what another crawl has learned.

        >>> own, other = PolicyStatistics(), PolicyStatistics()
        >>> own.arm("x").tries, other.arm("x").tries = 1, 2
        >>> own.add(other)
        >>> own.arm("x").tries
        3
        """
        for known, added in (
            (self.arms, other.arms),
            (self.hub_arms, other.hub_arms),
            (self.families, other.families),
        ):
            for name, statistics in added.items():
                _entry(known, name).add(statistics)
        for name, host in other.hosts.items():
            self.host(name).add(host)
        self.unseen_hosts.add(other.unseen_hosts)
        for feature, sums in other.features.items():
            own = self.sums(feature)
            for index, value in enumerate(sums):
                own[index] += value


def _entry(statistics: dict[str, ArmStatistics], name: str) -> ArmStatistics:
    entry = statistics.get(name)
    if entry is None:
        entry = statistics[name] = ArmStatistics()
    return entry
