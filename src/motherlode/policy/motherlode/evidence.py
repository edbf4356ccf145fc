"""What was learned: sums over outcomes, and nothing else, so that what two crawls have learned can be added up.

For each arm that was tried: how often, how often with success, and which arms its new links went to. For each feature:
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

Sums = list[float]


class ArmRecord(msgspec.Struct, gc=False):
    """What came of an arm's links."""

    tries: int = 0
    finds: float = 0
    """Rewards: whole numbers, unless the user wants them graded."""
    led_to: dict[str, int] = msgspec.field(default_factory=dict)
    """New links by their arm."""

    def note(self, led_to: Mapping[str, int]) -> None:
        """A page had so many new links; of too many arms, those that were met least are forgotten."""
        known = self.led_to
        for arm, links in led_to.items():
            known[arm] = known.get(arm, 0) + links
        if len(known) > _MOST_LED_TO:
            self.led_to = dict(sorted(known.items(), key=lambda item: -item[1])[: _MOST_LED_TO // 2])

    def add(self, other: ArmRecord) -> None:
        self.tries += other.tries
        self.finds += other.finds
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
