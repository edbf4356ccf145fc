"""What was learned: sums over outcomes, and nothing else, so that what two crawls have learned can be added up.

For each arm that was tried: how often, how often with an answer and with a find, and which arms its new links went to,
the latest tries counting most. The same for links that stand together on one page, and in short for hosts. For each
feature: the two sums of FTRL-Proximal (McMahan et al. 2013, Algorithm 1) for each of the two questions that are asked
of a link: does it give a page, and is the page a find.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import log
from typing import Final

import msgspec

ANSWERS: Final = 0
"""The question whether a request gives a page at all."""
IS_FIND: Final = 2
"""The question whether a page is a find. Both are places in a feature's sums: z, then n."""

_MOST_LED_TO = 48
_HEAVIEST = 1e12
_SUREST = 0.999
"""Of what hosts are expected to give; log-odds beyond are of no use."""

Sums = list[float]


class Tally(msgspec.Struct, gc=False):
    """How often the answer to a question was yes, and how often no, the latest counting most."""

    yes: float = 0.0
    no: float = 0.0

    def count(self, outcome: float, *, keep: float, turn: float, share: float = 1.0) -> None:
        """One more answer: 0 for no, 1 for yes, in between for a yes in part.

        With every yes, earlier ones count for `keep` of what they did, and earlier no's for `turn`; with every no,
        earlier yes's count for `turn`. A row of no's is not forgotten: a hundred are worse than ten.

        >>> tally = Tally()
        >>> for outcome in (1.0, 1.0, 0.0):
        ...     tally.count(outcome, keep=1.0, turn=0.5)
        >>> tally
        Tally(yes=1.0, no=1.0)
        """
        if outcome:
            self.yes = self.yes * keep + outcome * share
            self.no = self.no * turn + (1.0 - outcome) * share
        else:
            self.yes *= turn
            self.no += share

    def chance(self, expected: float, *, tries: float) -> float:
        """That the next answer is yes, as if before the first one `tries` had given what was expected.

        >>> Tally(yes=1.0, no=1.0).chance(0.2, tries=1.0)
        0.39999999999999997
        """
        return (self.yes + tries * expected) / (self.yes + self.no + tries)

    def add(self, other: Tally) -> None:
        self.yes += other.yes
        self.no += other.no


class HostStatistics(msgspec.Struct, gc=False):
    """What came of a host's links, all arms together."""

    tries: int = 0
    """Requests that did not end in a redirect."""
    answers: int = 0
    """Requests that were answered with a page or a redirect."""
    seen: float = 0.0
    """Pages. The second of an arm counts for half, the third for a third, and so in all that follows: what one template
    holds says little about the others, however often it was seen."""
    found: float = 0.0
    """Rewards."""
    hoped: float = 0.0
    """Rewards that were expected by features."""

    def lift(self, pages: float) -> float:
        """How much better than its features a host is, in log-odds, as if `pages` had been what was expected.

        >>> HostRecord(seen=1.0, found=0.0, hoped=0.5).lift(1.0), HostRecord().lift(1.0)
        (-1.0986122886681098, 0.0)
        """
        if not pages or not self.seen:
            return 0.0
        expected = min(_SUREST, max(1.0 - _SUREST, self.hoped / self.seen))
        now = min(_SUREST, (self.found + pages * expected) / (self.seen + pages))
        return log(now / (1.0 - now)) - log(expected / (1.0 - expected))

    def add(self, other: HostStatistics) -> None:
        self.tries += other.tries
        self.answers += other.answers
        self.seen += other.seen
        self.found += other.found
        self.hoped += other.hoped


class ArmStatistics(msgspec.Struct, gc=False):
    """What came of an arm's links."""

    tries: int = 0
    finds: float = 0
    """Rewards: whole numbers, unless the user wants them graded."""
    answered: Tally = msgspec.field(default_factory=Tally)
    """Requests that gave a page."""
    found: Tally = msgspec.field(default_factory=Tally)
    """Pages that were finds."""
    led_to: dict[str, float] = msgspec.field(default_factory=dict)
    """New links by their arm, each times the weight of its page."""
    pages: float = 0.0
    """The weights of all tries."""
    weight: float = 1.0
    """Of the last try. It grows, so that what came first counts less and less: on a site that is nearly known, pages
    have few new links, however many the first ones had."""

    def count(self, *, reward: float, keep: float) -> None:
        """One more try; those before it count for the share `keep` of what they did."""
        self.tries += 1
        self.finds += reward
        self.weight /= keep
        self.pages += self.weight
        if self.weight > _HEAVIEST:
            self._scale(1.0 / self.weight)

    def _scale(self, by: float) -> None:
        self.weight *= by
        self.pages *= by
        self.led_to = {arm: links * by for arm, links in self.led_to.items()}

    def links_a_page(self, *, cautious: float) -> dict[str, float]:
        """New links by their arm that the next page may have, as if `cautious` pages had had none.

        >>> record = ArmStatistics()
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

    def add(self, other: ArmStatistics) -> None:
        self.tries += other.tries
        self.finds += other.finds
        self.answered.add(other.answered)
        self.found.add(other.found)
        other._scale(1.0 / other.weight)
        self._scale(1.0 / self.weight)
        self.pages += other.pages
        self.note(other.led_to)


class PolicyStatistics(msgspec.Struct, gc=False):
    """All that a crawl has learned."""

    arms: dict[str, ArmStatistics] = msgspec.field(default_factory=dict)
    features: dict[str, Sums] = msgspec.field(default_factory=dict)
    lists: dict[str, ArmStatistics] = msgspec.field(default_factory=dict)
    """Links of an arm that stand together on one page; counted in the arm, too."""
    families: dict[str, ArmStatistics] = msgspec.field(default_factory=dict)
    """Arms of a host with the same extension together."""
    hosts: dict[str, HostStatistics] = msgspec.field(default_factory=dict)
    strangers: Tally = msgspec.field(default_factory=Tally)
    """Whether hosts that others link to answered when they were tried first."""

    def arm(self, name: str) -> ArmStatistics:
        return _entry(self.arms, name)

    def list(self, name: str) -> ArmStatistics:
        return _entry(self.lists, name)

    def family(self, name: str) -> ArmStatistics:
        return _entry(self.families, name)

    def host(self, name: str) -> HostStatistics:
        record = self.hosts.get(name)
        if record is None:
            record = self.hosts[name] = HostStatistics()
        return record

    def sums(self, feature: str) -> Sums:
        sums = self.features.get(feature)
        if sums is None:
            sums = self.features[feature] = [0.0, 0.0, 0.0, 0.0]
        return sums

    def add(self, other: PolicyStatistics) -> None:
        """Take in what somebody else has learned.

        >>> mine, theirs = Evidence(), Evidence()
        >>> mine.arm("x").tries, theirs.arm("x").tries = 1, 2
        >>> mine.add(theirs)
        >>> mine.arm("x").tries
        3
        """
        for known, theirs in (
            (self.arms, other.arms),
            (self.lists, other.lists),
            (self.families, other.families),
        ):
            for name, record in theirs.items():
                _entry(known, name).add(record)
        for name, host in other.hosts.items():
            self.host(name).add(host)
        self.strangers.add(other.strangers)
        for feature, sums in other.features.items():
            own = self.sums(feature)
            for place, value in enumerate(sums):
                own[place] += value


def _entry(records: dict[str, ArmStatistics], name: str) -> ArmStatistics:
    record = records.get(name)
    if record is None:
        record = records[name] = ArmStatistics()
    return record
