"""The frontier itself: see the room's docstring for the life of a URL in it."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from random import Random

import msgspec

from motherlode.frontier.budgets import HostBudget
from motherlode.frontier.clocks import Clocks
from motherlode.frontier.entries import REVISIT, Entry, HostRecord, UrlState, entry_from
from motherlode.frontier.hosts import Host, RulesReader
from motherlode.frontier.ledger import Ledger
from motherlode.frontier.pace import Pace, retry_wait
from motherlode.frontier.retry import HOST_GIVEN_UP_AFTER, TREATMENTS, long_rest
from motherlode.frontier.scope import Scope
from motherlode.frontier.tickets import Politeness, Ticket
from motherlode.model import FailureKind, Link, LinkSource, Parent, Policy, RequestKind
from motherlode.www.urls import host_of, origin_of

MAX_RULES_HOPS = 5
"""Redirects of a robots.txt that are followed (RFC 9309, 2.3.1.2)."""
_MOST_REFUSALS = 1000
"""URLs that one call of `next` refuses before it gives its caller a rest."""
_ADDRESS_IN_DOUBT = frozenset({FailureKind.CONNECT, FailureKind.DNS, FailureKind.TIMEOUT})
"""Failures after which a host's address is asked for again."""
_SLOW_DOWN = frozenset({FailureKind.TOO_MANY, FailureKind.UNAVAILABLE})


KeepOwn = Callable[[Sequence[Link], Parent | None, Entry | None], Sequence[Link]]
"""Of links that are offered, those of our own hosts; the others are then on their way to who owns them."""


class Frontier:
    """Owns every known URL, once. `next` hands out only what may be fetched now."""

    def __init__(
        self,
        *,
        ledger: Ledger,
        policy: Policy,
        scope: Scope,
        read_rules: RulesReader | None,
        politeness: Politeness,
        budget: HostBudget | None = None,
        random: Random | None = None,
        admit: Callable[[Entry], str] | None = None,
        is_own: Callable[[str], bool] | None = None,
        keep_own: KeepOwn | None = None,
    ) -> None:
        self._keep_own = keep_own
        """None where all hosts are ours."""
        self._ledger = ledger
        self._policy = policy
        self._scope = scope
        self._read_rules = read_rules
        """None where there are no robots rules to ask for: simulations."""
        self._politeness = politeness
        self._budget = budget
        self._is_own = is_own or (lambda host: False)
        """Hosts of the user's own, whose robots.txt is not asked for."""
        self._admit = admit
        """Asked of each URL when its turn comes: why it is not fetched after all, or ""."""
        self._pace = Pace(politeness, random or Random(0))
        self._clocks = Clocks(policy=policy, best=ledger.best, politeness=politeness, pace=self._pace)
        self._hosts = self._clocks.hosts
        self._host = self._clocks.host
        self._later: list[tuple[float, int, Entry]] = []
        self._dirty: set[str] = set()
        self.refused: Counter[str] = Counter()
        self.known_urls = 0
        self.waiting = 0
        self.in_flight = 0
        self.revisits_left = 0
        """Known pages that are still to be looked at again."""
        self._sequence = 0
        self._unsettled = 0
        """URLs that were taken from the queue and have neither ended nor gone back."""
        self._unfinished_at: float | None = None
        """When `next` stopped for a rest although there was more to look at."""
        self._reopened = False
        self._open()

    def _open(self) -> None:
        """Take up what the ledger holds from an earlier run."""
        counts = self._ledger.note("frontier")
        if counts is not None:
            state = msgspec.msgpack.decode(counts)
            self.known_urls, self._sequence = state["known_urls"], state["sequence"]
            self.refused.update(state["refused"])
            self._reopened = True
        self._ledger.recover()
        self._later = [(until, entry.sequence, entry) for until, entry in self._ledger.postponed()]
        self.revisits_left = sum(entry.arm.startswith(REVISIT) for _, _, entry in self._later)
        heapq.heapify(self._later)
        for record in self._ledger.hosts():
            record.address = ""  # the fetcher has forgotten it, and might find another
            self._hosts[record.name] = Host(record)
        for arm, name, count in self._ledger.waiting():
            self._host(name).arms[arm] = count
            self.waiting += count
            self.revisits_left += count if arm.startswith(REVISIT) else 0
        if not self._reopened:  # otherwise the first look at the clocks does it
            for host in self._hosts.values():
                self._clocks.settle(host)

    # ── links come in ────────────────────────────────────────────────────────────────────────────────

    def offer(self, links: Sequence[Link], *, parent: Parent | None, entry: Entry | None) -> int:
        """Take up the links that are not known yet, rated by the policy; how many there were.

        `entry` is the page on which the links were found, None for seeds.
        """
        if self._keep_own is not None:
            links = self._keep_own(links, parent, entry)
        fresh = self._fresh(links)
        if not fresh:
            return 0
        for link, rating in zip(fresh, self._policy.rate(fresh, parent), strict=True):
            self._sequence += 1
            self.known_urls += 1
            made = entry_from(link, rating, found_on=entry, sequence=self._sequence)
            if rating.refused:
                self.refused[rating.refused] += 1
                self._ledger.refuse(made, rating.refused)
            else:
                self._enqueue(made)
        return len(fresh)

    def _fresh(self, links: Sequence[Link]) -> list[Link]:
        fresh: dict[str, Link] = {}
        for link in links:
            if link.url in fresh or self._ledger.known(link.url):
                continue
            reason = self._scope(link.url) if link.source is not LinkSource.SEED else ""
            if reason:
                self.refused[reason] += 1
            else:
                fresh[link.url] = link
        return list(fresh.values())

    def _enqueue(self, entry: Entry) -> None:
        self._ledger.add(entry)
        self.waiting += 1
        name = host_of(entry.url)
        host = self._hosts.get(name) or self._host(name)
        first = not host.arms
        host.arms[entry.arm] = host.arms.get(entry.arm, 0) + 1
        if host.awake:
            self._clocks.wake_arm(host, entry.arm)
        elif first:
            self._clocks.times.push(host.record.ready_at, name)

    # ── URLs go out ──────────────────────────────────────────────────────────────────────────────────

    def next(self, now: float) -> Ticket | None:
        """Leave for one request, or None where nothing may be fetched now."""
        if self._reopened:
            self._reopened = False
            self._clocks.rest_once(now)
        self._unfinished_at = None
        ticket = self._next_cleared(now)
        if ticket is not None:
            return ticket
        self._ripen(now)
        for _ in range(_MOST_REFUSALS):
            arm = self._policy.pick()
            if arm is not None:
                ticket = self._take(arm)
                if ticket is not None:
                    return ticket
            elif not self._clocks.ripen(now):
                return None
        self._unfinished_at = now
        return None

    def _ripen(self, now: float) -> None:
        while self._later and self._later[0][0] <= now:
            self._enqueue(heapq.heappop(self._later)[2])
        self._clocks.ripen(now)

    def _next_cleared(self, now: float) -> Ticket | None:
        while names := self._clocks.cleared.due(now, most=1):
            host = self._hosts[names[0]]
            if host.held is None or host.asking:
                continue
            asked = self._host(host_of(host.rules_url)) if host.rules_url else host
            if not self._clocks.may_go(asked, host.record.name, now):
                continue
            entry, host.held = host.held, None
            ticket = self._issue(host, entry)
            self._clocks.settle(host)
            if ticket is not None:
                return ticket
        return None

    def _take(self, arm: str) -> Ticket | None:
        """The arm's best URL as a ticket; None where it was refused, and the policy must pick again."""
        entry = self._ledger.pop(arm)
        if entry is None:
            raise ValueError(f"the policy picked the arm {arm!r}, which is empty")
        self.waiting -= 1
        self._unsettled += 1
        host = self._hosts[host_of(entry.url)]
        host.arms[arm] -= 1
        if host.arms[arm] == 0:
            del host.arms[arm]
            self._policy.rest(arm)
            if not host.arms and self._clocks.by_address:
                self._clocks.rest(host)  # others at its address may want its place
        else:
            self._clocks.wake_arm(host, arm)
        return self._issue(host, entry)

    def _issue(self, host: Host, entry: Entry) -> Ticket | None:
        if host.record.failures >= HOST_GIVEN_UP_AFTER:
            self._refuse(entry, "host given up after failures in a row")
            return None
        unwanted = self._admit(entry) if self._admit is not None else ""
        if unwanted:
            self._refuse(entry, unwanted)
            return None
        spent = self._budget.refusal(host.record, host.unaccounted) if self._budget is not None else ""
        if spent:
            self._refuse(entry, spent)
            return None
        if self._clocks.by_address and not host.record.address:
            return self._resolve(host, entry, entry.url)
        if self._asks_for_rules(host):
            return self._ask_for_rules(host, entry, host.rules_url or origin_of(entry.url) + "/robots.txt")
        if not self._allowed(host, entry.url):
            self._refuse(entry, FailureKind.ROBOTS.value)
            return None
        host.unaccounted += 1
        return self._send(host, entry.url, RequestKind.PAGE, entry)

    def errand(self, url: str, now: float, *, by_rules: bool = True) -> Ticket | float | None:
        """Leave for a request that no policy picked but a page needs; or when to ask again; None where rules forbid it.

        While the rules of the host are unknown, the ticket is for its robots.txt: introduce them and ask again, or
        `drop` the errand. Without `by_rules` only the clocks count: for what the user names, which is not crawled.
        """
        host = self._host(host_of(url))
        entry = Entry(url=url, arm="", score=0.0, sequence=0)
        unknown = by_rules and self._asks_for_rules(host)
        if by_rules and not unknown and not self._allowed(host, url):
            return None
        wanted = (host.rules_url or f"{origin_of(url)}/robots.txt") if unknown else url
        asked = self._host(host_of(wanted))  # another one where its rules lie elsewhere
        when = max(self._clocks.when(host, now), self._clocks.when(asked, now))
        if when > now:
            return when
        if self._clocks.by_address and not asked.record.address:
            return self._resolve(host, None, wanted)
        if unknown:
            return self._send_for_rules(host, asked, wanted, entry)
        return self._send(host, url, RequestKind.ERRAND, entry)

    def drop(self, ticket: Ticket) -> None:
        """The rules or the address that an errand needs could not be had."""
        if ticket.kind is RequestKind.RESOLVE:
            self.in_flight -= 1
        host = self._hosts[ticket.host]
        host.stop_asking()
        self._clocks.settle(host)

    def _resolve(self, host: Host, held: Entry | None, url: str) -> Ticket:
        """Ask for the address of the URL's host; no request is made, so no clock is touched."""
        host.held = held
        host.asking = True
        self._clocks.rest(host)
        self.in_flight += 1
        entry = held or Entry(url=url, arm="", score=0.0, sequence=0)
        return Ticket(url=url, host=host.record.name, kind=RequestKind.RESOLVE, entry=entry)

    def resolved(self, ticket: Ticket, address: str) -> None:
        """The address is known; what waited for it goes next, by the address's clock too."""
        self.in_flight -= 1
        host, found = self._hosts[ticket.host], self._host(host_of(ticket.url))
        host.asking = False
        self._clocks.move(found, address)
        self._dirty.add(found.record.name)
        if host.held is not None:
            self._clocks.cleared.push(host.record.ready_at, ticket.host)
        self._clocks.settle(host)

    def _ask_for_rules(self, host: Host, entry: Entry, url: str) -> Ticket:
        other = self._host(host_of(url))
        if self._clocks.by_address and not other.record.address:
            return self._resolve(host, entry, url)
        host.held = entry
        return self._send_for_rules(host, other, url, entry)

    def _send_for_rules(self, host: Host, other: Host, url: str, entry: Entry) -> Ticket:
        """Ask for a host's rules, which lie on another host or on its own."""
        host.asking = True
        if other is host:
            return self._send(host, url, RequestKind.ROBOTS, entry)
        self.in_flight += 1
        self._clocks.occupy(host, connects=False)
        address = self._clocks.occupy(other)
        return Ticket(url=url, host=host.record.name, kind=RequestKind.ROBOTS, entry=entry, address=address)

    def _send(self, host: Host, url: str, kind: RequestKind, entry: Entry) -> Ticket:
        self.in_flight += 1
        address = self._clocks.occupy(host)
        return Ticket(url=url, host=host.record.name, kind=kind, entry=entry, address=address)

    def _asks_for_rules(self, host: Host) -> bool:
        """True while the host's rules must be known and are not."""
        return self._read_rules is not None and host.record.robots is None and not self._is_own(host.record.name)

    def _allowed(self, host: Host, url: str) -> bool:
        if self._read_rules is None or host.record.robots is None or self._is_own(host.record.name):
            return True
        if host.rules is None:
            host.rules = self._read_rules(host.record.robots)
        return host.rules.allows(url)

    def _refuse(self, entry: Entry, reason: str) -> None:
        self._unsettled -= 1
        self.revisits_left -= entry.arm.startswith(REVISIT)
        self.refused[reason] += 1
        self._ledger.finish(entry, UrlState.REFUSED, reason)

    # ── answers come back ────────────────────────────────────────────────────────────────────────────

    def answered(self, ticket: Ticket, now: float, *, elapsed: float = 0.0, address: str = "") -> None:
        """The request has ended: the clocks of its host and its address run from here, whatever is still to be done.

        `elapsed` is how long the answer took, `address` who gave it.
        """
        self.in_flight -= 1
        asked = self._hosts[host_of(ticket.url)]
        self._pace.note_answer(asked.record, elapsed)
        for name in {ticket.host, asked.record.name}:
            self._clocks.release(self._hosts[name], now)
            self._dirty.add(name)
        if ticket.address:
            self._clocks.release_address(ticket.address, now)
            if address and address != ticket.address:
                self._clocks.touch_address(address, now)
                self._clocks.move(asked, address)

    def introduce(self, ticket: Ticket, robots: bytes, now: float) -> None:
        """A host's robots.txt has been read; its held page goes next."""
        if self._read_rules is None:
            raise ValueError("this frontier asks for no rules")
        host = self._hosts[ticket.host]
        host.stop_asking()
        host.record.robots, host.record.robots_at = robots, now
        host.rules = self._read_rules(robots)
        if host.rules.delay is not None:
            host.record.delay = host.rules.delay
            host.record.ready_at = max(host.record.ready_at, now + host.rules.delay)
        self._clocks.cleared.push(host.record.ready_at, ticket.host)
        self._dirty.add(ticket.host)
        self._clocks.settle(host)

    def reroute(self, ticket: Ticket, location: str) -> bool:
        """A host's robots.txt is said to lie elsewhere: ask there once the clocks allow. False after too many hops."""
        host = self._hosts[ticket.host]
        if host.rules_hops >= MAX_RULES_HOPS:
            return False
        host.rules_hops += 1
        host.rules_url = location
        host.asking = False
        self._clocks.cleared.push(host.record.ready_at, ticket.host)
        return True

    def defer(self, ticket: Ticket, now: float, *, retry_after: float | None) -> None:
        """A host's robots.txt could not be read: the host rests, and its page waits again."""
        host = self._hosts[ticket.host]
        host.stop_asking()
        host.held = None
        host.record.failures += 1
        unit = self._politeness.retry_wait
        wait = retry_wait(retry_after, 0.0) or unit * 2 ** min(host.record.failures, 20)
        self._put_off(host, now + max(wait, unit * long_rest(host.record.failures)))
        self._dirty.add(ticket.host)
        self._unsettled -= 1
        self._enqueue(ticket.entry)
        self._clocks.settle(host)

    def done(self, ticket: Ticket) -> None:
        """The ticket's page was fetched, and its facts are on their way to the store."""
        record = self._hosts[ticket.host].record
        record.failures = 0
        self._pace.recover(record)
        self._dirty.add(ticket.host)
        self._unsettled -= 1
        self._ledger.finish(ticket.entry, UrlState.DONE, "")

    def probed(self, ticket: Ticket, now: float) -> None:
        """The ticket was used for a HEAD, and its page is worth a request of its own: the next one to its host."""
        host = self._hosts[ticket.host]
        if host.held is None and not host.asking:
            host.held = ticket.entry
            self._clocks.rest(host)
            self._clocks.cleared.push(host.record.ready_at, ticket.host)
        else:  # another page is first in line: this one waits in its arm again
            self._unsettled -= 1
            heapq.heappush(self._later, (now, ticket.entry.sequence, ticket.entry))

    def revisit(self, entry: Entry) -> None:
        """A URL that has ended waits again, in an arm of its own for each host."""
        self.revisits_left += 1
        self._enqueue(msgspec.structs.replace(entry, arm=REVISIT + host_of(entry.url), attempts=0, hops=0))

    def revisited(self, ticket: Ticket, entry: Entry) -> Ticket:
        """A revisit has come to its end: the ticket to close, for the entry as it was before."""
        self.revisits_left -= 1
        return msgspec.structs.replace(ticket, entry=entry)

    def failed(self, ticket: Ticket, kind: FailureKind, now: float, *, retry_after: float | None) -> bool:
        """The ticket's page gave a failure; True where it will be tried again."""
        treatment = TREATMENTS[kind]
        entry = msgspec.structs.replace(ticket.entry, attempts=ticket.entry.attempts + 1)
        host = self._hosts[ticket.host]
        host.record.failures = host.record.failures + 1 if treatment.against_host else 0
        self._dirty.add(ticket.host)
        self._unsettled -= 1
        if ticket.kind is not RequestKind.PAGE:  # the host could not even be found, or asked for its rules
            self.in_flight -= ticket.kind is RequestKind.RESOLVE
            host.stop_asking()
            host.held = None
        again = self._politeness.retries and entry.attempts <= treatment.retries
        unit = self._politeness.retry_wait
        wait = retry_wait(retry_after, treatment.wait * unit * 2 ** (entry.attempts - 1))
        if kind in _SLOW_DOWN:
            wait = self._pace.jittered(wait)
            self._pace.slow_down(host.record)
        if kind in _ADDRESS_IN_DOUBT:
            self._clocks.move(host, "")
        if treatment.host_rests and self._politeness.retries:
            rest = unit * long_rest(host.record.failures) if treatment.against_host else 0.0
            self._put_off(host, now + max(wait, rest))
        self._clocks.settle(host)
        if again:
            heapq.heappush(self._later, (now + wait, entry.sequence, entry))
            self._ledger.postpone(entry, now + wait)
        else:
            self.revisits_left -= entry.arm.startswith(REVISIT)
            state = UrlState.DONE if kind is FailureKind.REDIRECT else UrlState.FAILED
            self._ledger.finish(entry, state, kind.value)
        return again

    def _put_off(self, host: Host, until: float) -> None:
        host.record.ready_at = max(host.record.ready_at, until)
        self._clocks.rest(host)

    def count(self, name: str, *, relevant: bool, quads: int, received: int) -> None:
        """Add a finished request to its host's account."""
        host = self._hosts[name]
        host.unaccounted = max(0, host.unaccounted - 1)
        record = host.record
        record.fetched += 1
        record.relevant += relevant
        record.quads += quads
        record.received += received
        self._dirty.add(name)

    # ── leases of addresses ──────────────────────────────────────────────────────────────────────────

    def addresses_wanted(self) -> list[str]:
        """Addresses that somebody waits for and that we have no lease of; each named once."""
        return self._clocks.wanted()

    def grant_address(self, address: str, now: float, *, wait: float, hosts: Mapping[str, float]) -> None:
        """The address is ours to ask, after so many seconds; so are `hosts`, after theirs."""
        self._clocks.grant(address, now, wait=wait, hosts=hosts)

    def recall_address(self, address: str) -> None:
        """Another wants the address: begin nothing new there."""
        self._clocks.recall(address)

    def give_back_address(self, address: str, now: float) -> tuple[float, dict[str, float]] | None:
        """Clocks of a recalled address and its hosts, in seconds from now; None while a request is under way."""
        return self._clocks.give_back(address, now)

    # ── the whole ────────────────────────────────────────────────────────────────────────────────────

    @property
    def exhausted(self) -> bool:
        """Nothing waits, nothing is under way or still to be settled, nothing comes back later."""
        return not (self.waiting or self._unsettled or self._later)

    def idle_until(self) -> float | None:
        """When `next` may have something again, as far as clocks tell; None where only an answer can bring it."""
        later = self._later[0][0] if self._later else None
        times = (self._clocks.next_time(), later, self._unfinished_at)
        return min((time for time in times if time is not None), default=None)

    @property
    def host_count(self) -> int:
        return len(self._hosts)

    def host_records(self) -> list[HostRecord]:
        return [host.record for host in self._hosts.values()]

    def commit(self) -> None:
        """Make the state lasting. The caller has seen to it that the quads of every finished page are."""
        for name in self._dirty:
            self._ledger.put_host(self._hosts[name].record)
        self._dirty.clear()
        state = {"known_urls": self.known_urls, "sequence": self._sequence, "refused": dict(self.refused)}
        self._ledger.put_note("frontier", msgspec.msgpack.encode(state))
        self._ledger.commit()
