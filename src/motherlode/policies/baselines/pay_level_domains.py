"""A queue for each pay-level domain, and which of them is next: by its share of finds, or in turn.

SWSE's crawler "picks an URI from a PLD queue if the percentage of returned RDF documents from the PLD is high"
(Emamdadi et al. on Hogan et al. 2011); here what is returned counts by the user's target. LDSpider's load-balanced
strategy (Isele et al. 2010) goes round the domains, so that many servers share the load. Inside a domain both take what
was found first. The arms are hosts, because an arm never spans two; a domain's value stands once, however many hosts
it has.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from motherlode.model import Explanation, FailureKind, Link, Outcome, Rating, SummaryLine
from motherlode.policies.priority_queue import ReadyArms
from motherlode.www.urls import host_of, registrable_domain

State = tuple[int, dict[str, tuple[float, float]]]


class _Domains:
    """Awake hosts by domain. Most domains have one host: those need no structure of their own."""

    def __init__(self) -> None:
        self.awake = ReadyArms()
        """Domains with a host that is awake, by value."""
        self._single: dict[str, tuple[str, float]] = {}
        self._many: dict[str, ReadyArms] = {}

    def put(self, domain: str, host: str, best: float, value: float) -> None:
        self.awake.put(domain, value)
        many, single = self._many.get(domain), self._single.get(domain)
        if many is None and single is not None and single[0] != host:
            many = self._many[domain] = ReadyArms()
            many.put(*self._single.pop(domain))
        if many is None:
            self._single[domain] = (host, best)
        else:
            many.put(host, best)

    def remove(self, domain: str, host: str) -> None:
        many = self._many.get(domain)
        if many is None:
            if self._single.get(domain, ("",))[0] == host:
                del self._single[domain]
                self.awake.remove(domain)
            return
        many.remove(host)
        if not len(many):
            del self._many[domain]
            self.awake.remove(domain)

    def first(self, domain: str) -> str | None:
        """The host whose first URL was found before those of the others."""
        many = self._many.get(domain)
        return self._single[domain][0] if many is None else many.best()


class _ByDomain:
    """What both have in common: the order of discovery, and hosts in their domains."""

    def __init__(self) -> None:
        self._found = 0
        self._domains = _Domains()
        self._domain_of: dict[str, str] = {}

    def rate(self, links: Sequence[Link], parent: Outcome | None) -> Sequence[Rating]:
        first = self._found + 1
        self._found += len(links)
        return [Rating(arm=host_of(link.url), score=-number) for number, link in enumerate(links, first)]

    def domain(self, host: str) -> str:
        """The pay-level domain of a host; looking it up in the list of suffixes takes longer than all else here."""
        domain = self._domain_of.get(host)
        if domain is None:
            domain = self._domain_of[host] = registrable_domain(host)
        return domain

    def arm_snoozed(self, arm: str) -> None:
        self._domains.remove(self.domain(arm), arm)


class SharePolicy(_ByDomain):
    """SWSE: the domain with the highest share of finds so far; (good + 1) / (all + 2), so that a new one has a half."""

    def __init__(self) -> None:
        super().__init__()
        self._records: dict[str, tuple[float, float]] = {}

    def _value(self, domain: str) -> float:
        good, bad = self._records.get(domain, (0, 0))
        return (good + 1) / (good + bad + 2)

    def learn(self, outcome: Outcome) -> None:
        if outcome.failure is FailureKind.REDIRECT:
            return
        domain = self.domain(outcome.arm)
        good, bad = self._records.get(domain, (0, 0))
        self._records[domain] = good + outcome.reward, bad + 1 - outcome.reward
        if domain in self._domains.awake:
            self._domains.awake.put(domain, self._value(domain))

    def arm_ready(self, arm: str, best: float, waiting: int) -> None:
        domain = self.domain(arm)
        self._domains.put(domain, arm, best, self._value(domain))

    def pick(self) -> str | None:
        domain = self._domains.awake.best()
        return None if domain is None else self._domains.first(domain)

    def merge(self, state: bytes) -> None:
        """Add the records of another crawl."""
        for domain, (good, bad) in msgspec.msgpack.decode(state, type=State)[1].items():
            known = self._records.get(domain, (0, 0))
            self._records[domain] = known[0] + good, known[1] + bad

    def explain(self, link: Link, rating: Rating, parent: Outcome | None) -> Explanation:
        domain = self.domain(host_of(link.url))
        good, bad = self._records.get(domain, (0, 0))
        return Explanation(
            says="The pay-level domain with the highest share of finds goes next; in it, what was found first.",
            value=self._value(domain),
            record={"good": good, "bad": bad},
            notes=(f"its domain is {domain}",),
        )

    def summary(self, most: int) -> Sequence[SummaryLine]:
        known = sorted(self._records.items(), key=lambda one: (-self._value(one[0]), one[0]))
        return [
            SummaryLine(
                title=title, columns=("domain", "good", "bad"), rows=tuple((name, *record) for name, record in rows)
            )
            for title, rows in (("best domains", known[:most]), ("worst domains", known[most:][::-1][:most]))
            if rows
        ]

    def dump(self) -> bytes:
        return msgspec.msgpack.encode((self._found, self._records))

    def load(self, state: bytes) -> None:
        self._found, self._records = msgspec.msgpack.decode(state, type=State)


class TurnPolicy(_ByDomain):
    """LDSpider: the domain whose last turn is longest ago. A new one goes to the end of the round."""

    def __init__(self) -> None:
        super().__init__()
        self._turn = 0
        self._turns: dict[str, int] = {}

    def learn(self, outcome: Outcome) -> None:
        """Nothing is learned."""

    def arm_ready(self, arm: str, best: float, waiting: int) -> None:
        domain = self.domain(arm)
        self._domains.put(domain, arm, best, -self._turns.setdefault(domain, self._turn))

    def pick(self) -> str | None:
        domain = self._domains.awake.best()
        if domain is None:
            return None
        self._turn += 1
        self._turns[domain] = self._turn
        self._domains.awake.put(domain, -self._turn)
        return self._domains.first(domain)

    def explain(self, link: Link, rating: Rating, parent: Outcome | None) -> Explanation:
        return Explanation(
            says="Domains take turns, and in each what was found first goes first; nothing is learned.",
            value=float(-self._turns.get(self.domain(host_of(link.url)), self._turn)),
        )

    def dump(self) -> bytes:
        return msgspec.msgpack.encode((self._found, self._turn, self._turns))

    def load(self, state: bytes) -> None:
        self._found, self._turn, self._turns = msgspec.msgpack.decode(state, type=tuple[int, int, dict[str, int]])
