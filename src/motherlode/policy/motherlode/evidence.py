"""What was learned: sums over outcomes, and nothing else, so that what two crawls have learned can be added up.

For each arm that was tried: how often, how often with success, and which arms its new links went to, the latest tries
counting most. For each feature:
the two sums of FTRL-Proximal (McMahan et al. 2013, Algorithm 1) for each of the two questions that are asked of a link:
does it give a page, and is the page a find.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

ANSWERS: Final = 0
"""The question whether a request gives a page at all."""
IS_FIND: Final = 2
"""The question whether a page is a find. Both are places in a feature's sums: z, then n."""

_MOST_LED_TO = 48
_HEAVIEST = 1e12

Sums = list[float]


class ArmRecord(msgspec.Struct, gc=False):
    """What came of an arm's links."""

    tries: int = 0
    finds: float = 0
    """Rewards: whole numbers, unless the user wants them graded."""
    answers: int = 0
    """Requests that were answered with a page or a redirect; counted for hosts alone."""
    led_to: dict[str, float] = msgspec.field(default_factory=dict)
    """New links by their arm, each times the weight of its page."""
    pages: float = 0.0
    """The weights of all tries."""
    won: float = 0.0
    """Rewards, each times the weight of its try."""
    weight: float = 1.0
    """Of the last try. It grows, so that what came first counts less and less: on a site that is nearly known, pages
    have few new links, however many the first ones had."""

    def count(self, *, reward: float, keep: float) -> None:
        """One more try; those before it count for the share `keep` of what they did."""
        self.tries += 1
        self.finds += reward
        self.weight /= keep
        self.pages += self.weight
        self.won += reward * self.weight
        if self.weight > _HEAVIEST:
            self._scale(1.0 / self.weight)

    def _scale(self, by: float) -> None:
        self.weight *= by
        self.pages *= by
        self.won *= by
        self.led_to = {arm: links * by for arm, links in self.led_to.items()}

    def chance(self, expected: float, *, tries: float) -> float:
        """That the next try is a find, as if before the first one `tries` had given what was expected.

        >>> record = ArmRecord()
        >>> for reward in (1.0, 0.0):
        ...     record.count(reward=reward, keep=0.5)
        >>> record.chance(0.5, tries=1.0)
        0.4
        """
        return (self.won / self.weight + tries * expected) / (self.pages / self.weight + tries)

    def links_a_page(self, *, cautious: float) -> dict[str, float]:
        """New links by their arm that the next page may have, as if `cautious` pages had had none.

        >>> record = ArmRecord()
        >>> for links in (4, 0):
        ...     record.count(reward=0.0, keep=0.5)
        ...     record.note({"list": links})
        >>> record.links_a_page(cautious=0.0)
        {'list': 1.3333333333333333}
        """
        pages = self.pages + cautious * self.weight
        return {arm: links / pages for arm, links in self.led_to.items()} if pages else {}

    def note(self, led_to: Mapping[str, float]) -> None:
        """The page of the last try had so many new links; of too many arms, the least are forgotten."""
        known = self.led_to
        for arm, links in led_to.items():
            known[arm] = known.get(arm, 0.0) + links * self.weight
        if len(known) > _MOST_LED_TO:
            self.led_to = dict(sorted(known.items(), key=lambda item: -item[1])[: _MOST_LED_TO // 2])

    def add(self, other: ArmRecord) -> None:
        self.tries += other.tries
        self.finds += other.finds
        self.answers += other.answers
        other._scale(1.0 / other.weight)
        self._scale(1.0 / self.weight)
        self.pages += other.pages
        self.won += other.won
        self.note(other.led_to)


class Evidence(msgspec.Struct, gc=False):
    """All that a crawl has learned."""

    arms: dict[str, ArmRecord] = msgspec.field(default_factory=dict)
    features: dict[str, Sums] = msgspec.field(default_factory=dict)
    hosts: dict[str, ArmRecord] = msgspec.field(default_factory=dict)
    """All arms of a host together, without where they led."""
    families: dict[str, ArmRecord] = msgspec.field(default_factory=dict)
    """Arms of a host with the same extension together."""

    def arm(self, name: str) -> ArmRecord:
        record = self.arms.get(name)
        if record is None:
            record = self.arms[name] = ArmRecord()
        return record

    def host(self, name: str) -> ArmRecord:
        record = self.hosts.get(name)
        if record is None:
            record = self.hosts[name] = ArmRecord()
        return record

    def family(self, name: str) -> ArmRecord:
        record = self.families.get(name)
        if record is None:
            record = self.families[name] = ArmRecord()
        return record

    def sums(self, feature: str) -> Sums:
        sums = self.features.get(feature)
        if sums is None:
            sums = self.features[feature] = [0.0, 0.0, 0.0, 0.0]
        return sums

    def add(self, other: Evidence) -> None:
        """Take in what somebody else has learned.

        >>> mine, theirs = Evidence(), Evidence()
        >>> mine.arm("x").tries, theirs.arm("x").tries = 1, 2
        >>> mine.add(theirs)
        >>> mine.arm("x").tries
        3
        """
        for name, record in other.arms.items():
            self.arm(name).add(record)
        for name, record in other.hosts.items():
            self.host(name).add(record)
        for name, record in other.families.items():
            self.family(name).add(record)
        for feature, sums in other.features.items():
            known = self.sums(feature)
            for place, value in enumerate(sums):
                known[place] += value
