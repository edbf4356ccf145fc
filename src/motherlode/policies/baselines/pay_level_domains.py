"""One queue per pay-level domain: the domain with the highest share of relevant pages goes next, or round robin.

SWSE's crawler "picks an URI from a PLD queue if the percentage of returned RDF documents from the PLD is high"
(Emamdadi et al. on Hogan et al. 2011); here pages count if they are relevant to the user's target. LDSpider's
load-balanced strategy (Isele et al. 2010) goes round robin over the domains, so that many servers share the load.
Within a domain both fetch URLs in the order of their discovery. The arms are hosts, because an arm may not span two
hosts. The value of a domain is stored once, however many hosts it has.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import msgspec

from motherlode.model import Explanation, FailureKind, Link, Outcome, Rating, SummaryLine
from motherlode.policies.model_io import best_and_worst
from motherlode.policies.priority_queue import ReadyArms
from motherlode.www.urls import host_of, registrable_domain

State = tuple[int, dict[str, tuple[float, float]]]
_domain = lru_cache(maxsize=1 << 20)(registrable_domain)
"""Returns the pay-level domain of a host. Cached, because the lookup in the public suffix list is slow."""


class _ReadyDomains:
    """The ready hosts by domain. A domain with one host, the usual case, needs no priority queue of its own."""

    def __init__(self) -> None:
        self.ready = ReadyArms()
        """Domains with a ready host, by value."""
        self._single: dict[str, tuple[str, float]] = {}
        self._many: dict[str, ReadyArms] = {}

    def put(self, domain: str, host: str, best: float, value: float) -> None:
        self.ready.put(domain, value)
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
                self.ready.remove(domain)
            return
        many.remove(host)
        if not len(many):
            del self._many[domain]
            self.ready.remove(domain)

    def first(self, domain: str) -> str | None:
        """Return the host whose first waiting URL was found first."""
        many = self._many.get(domain)
        return self._single[domain][0] if many is None else many.best()


class _DomainPolicy:
    """Base class: scores by the order of discovery, and hosts by domain."""

    def __init__(self) -> None:
        self._found = 0
        self._domains = _ReadyDomains()

    def rate(self, links: Sequence[Link], parent: Outcome | None) -> Sequence[Rating]:
        first = self._found + 1
        self._found += len(links)
        return [Rating(arm=host_of(link.url), score=-number) for number, link in enumerate(links, first)]

    def arm_snoozed(self, arm: str) -> None:
        self._domains.remove(_domain(arm), arm)


class SharePolicy(_DomainPolicy):
    """SWSE: picks the domain with the highest share of relevant pages, (good + 1) / (all + 2)."""

    def __init__(self) -> None:
        super().__init__()
        self._records: dict[str, tuple[float, float]] = {}

    def _value(self, domain: str) -> float:
        good, bad = self._records.get(domain, (0, 0))
        return (good + 1) / (good + bad + 2)

    def learn(self, outcome: Outcome) -> None:
        if outcome.failure is FailureKind.REDIRECT:
            return
        domain = _domain(outcome.arm)
        good, bad = self._records.get(domain, (0, 0))
        self._records[domain] = good + outcome.reward, bad + 1 - outcome.reward
        if domain in self._domains.ready:
            self._domains.ready.put(domain, self._value(domain))

    def arm_ready(self, arm: str, best: float, waiting: int) -> None:
        domain = _domain(arm)
        self._domains.put(domain, arm, best, self._value(domain))

    def pick(self) -> str | None:
        domain = self._domains.ready.best()
        return None if domain is None else self._domains.first(domain)

    def merge(self, state: bytes) -> None:
        for domain, (good, bad) in msgspec.msgpack.decode(state, type=State)[1].items():
            known = self._records.get(domain, (0, 0))
            self._records[domain] = known[0] + good, known[1] + bad

    def explain(self, link: Link, rating: Rating, parent: Outcome | None) -> Explanation:
        domain = _domain(host_of(link.url))
        good, bad = self._records.get(domain, (0, 0))
        return Explanation(
            says="The pay-level domain with the highest share of relevant pages is fetched from next, and in it the "
            "URL that was found first.",
            value=self._value(domain),
            record={"good": good, "bad": bad},
            notes=(f"its domain is {domain}",),
        )

    def summary(self, most: int) -> Sequence[SummaryLine]:
        known = sorted(self._records.items(), key=lambda one: (-self._value(one[0]), one[0]))
        rows = [(domain, *record) for domain, record in known]
        return best_and_worst("domains", ("domain", "good", "bad"), rows, most)

    def dump(self) -> bytes:
        return msgspec.msgpack.encode((self._found, self._records))

    def load(self, state: bytes) -> None:
        self._found, self._records = msgspec.msgpack.decode(state, type=State)


class RoundRobinPolicy(_DomainPolicy):
    """LDSpider: picks the domain whose last pick is longest ago. A new domain goes to the end of the round."""

    def __init__(self) -> None:
        super().__init__()
        self._picks = 0
        self._last_picks: dict[str, int] = {}

    def learn(self, outcome: Outcome) -> None:
        """Do nothing: this policy does not learn."""

    def arm_ready(self, arm: str, best: float, waiting: int) -> None:
        domain = _domain(arm)
        self._domains.put(domain, arm, best, -self._last_picks.setdefault(domain, self._picks))

    def pick(self) -> str | None:
        domain = self._domains.ready.best()
        if domain is None:
            return None
        self._picks += 1
        self._last_picks[domain] = self._picks
        self._domains.ready.put(domain, -self._picks)
        return self._domains.first(domain)

    def explain(self, link: Link, rating: Rating, parent: Outcome | None) -> Explanation:
        return Explanation(
            says="Pay-level domains go round robin, and in each the URL that was found first. Nothing is learned.",
            value=float(-self._last_picks.get(_domain(host_of(link.url)), self._picks)),
        )

    def dump(self) -> bytes:
        return msgspec.msgpack.encode((self._found, self._picks, self._last_picks))

    def load(self, state: bytes) -> None:
        self._found, self._picks, self._last_picks = msgspec.msgpack.decode(state, type=tuple[int, int, dict[str, int]])
