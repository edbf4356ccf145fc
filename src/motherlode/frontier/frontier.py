"""The frontier itself: see the room's docstring for the life of a URL in it."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Sequence

import msgspec

from motherlode.frontier.entries import Entry, HostRecord, UrlState, entry_from
from motherlode.frontier.hosts import Host, RulesReader, WakingTimes
from motherlode.frontier.ledger import Ledger
from motherlode.frontier.retry import HOST_GIVEN_UP_AFTER, TREATMENTS
from motherlode.frontier.scope import Scope
from motherlode.frontier.tickets import Politeness, Ticket
from motherlode.model import FailureKind, Link, LinkSource, Parent, Policy, RequestKind
from motherlode.www.urls import host_of, origin_of

MAX_RULES_HOPS = 5
"""Redirects of a robots.txt that are followed (RFC 9309, 2.3.1.2)."""


class Frontier:
    """Owns every known URL, once. `next` hands out only what may be fetched now."""

    def __init__(
        self, *, ledger: Ledger, policy: Policy, scope: Scope, read_rules: RulesReader | None, politeness: Politeness
    ) -> None:
        self._ledger = ledger
        self._policy = policy
        self._scope = scope
        self._read_rules = read_rules
        """None where there are no robots rules to ask for: simulations."""
        self._politeness = politeness
        self._hosts: dict[str, Host] = {}
        self._times = WakingTimes()
        self._later: list[tuple[float, int, Entry]] = []
        self._cleared = WakingTimes()
        """Hosts whose held page may go as soon as the clock allows, or whose rules must be asked for elsewhere."""
        self._dirty: set[str] = set()
        self.refused: Counter[str] = Counter()
        self.known_urls = 0
        self.waiting = 0
        self.in_flight = 0
        self._sequence = 0
        self._unsettled = 0
        """URLs that were taken from the queue and have neither ended nor gone back."""
        self._not_before = 0.0
        """No host is asked earlier: a run that was killed may have asked it a moment ago without leaving a trace."""
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
        for record in self._ledger.hosts():
            self._hosts[record.name] = Host(record)
        for arm, name, count in self._ledger.waiting():
            host = self._host(name)
            host.arms[arm] = count
            self.waiting += count
        for host in self._hosts.values():
            if host.arms:
                self._times.push(host.record.ready_at, host.record.name)

    def _host(self, name: str) -> Host:
        host = self._hosts.get(name)
        if host is None:
            host = self._hosts[name] = Host(HostRecord(name=name, ready_at=self._not_before))
        return host

    # ── links come in ────────────────────────────────────────────────────────────────────────────────

    def offer(self, links: Sequence[Link], *, parent: Parent | None, entry: Entry | None) -> int:
        """Take up the links that are not known yet, rated by the policy; how many there were.

        `entry` is the page on which the links were found, None for seeds.
        """
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
        host = self._host(name)
        first = not host.arms
        host.arms[entry.arm] = host.arms.get(entry.arm, 0) + 1
        if host.awake:
            self._wake_arm(host, entry.arm)
        elif first:
            self._times.push(host.record.ready_at, name)

    # ── URLs go out ──────────────────────────────────────────────────────────────────────────────────

    def next(self, now: float) -> Ticket | None:
        """Leave for one request, or None where nothing may be fetched now."""
        if self._reopened:
            self._rest_once(now)
        ticket = self._next_cleared(now)
        if ticket is not None:
            return ticket
        self._ripen(now)
        while ticket is None:
            arm = self._policy.pick()
            if arm is None:
                return None
            ticket = self._take(arm)
        return ticket

    def _rest_once(self, now: float) -> None:
        self._reopened = False
        self._not_before = now + self._politeness.delay
        for host in self._hosts.values():
            host.record.ready_at = max(host.record.ready_at, now + self._delay(host))

    def _ripen(self, now: float) -> None:
        while self._later and self._later[0][0] <= now:
            self._enqueue(heapq.heappop(self._later)[2])
        for name in self._times.due(now):
            host = self._hosts[name]
            if host.record.ready_at > now:
                self._times.push(host.record.ready_at, name)
            elif self._free(host) and not host.awake:
                self._wake(host)

    def _free(self, host: Host) -> bool:
        return host.in_flight < self._limit(host) and not host.asking and host.held is None

    def _limit(self, host: Host) -> int:
        return 1 if self._delay(host) > 0 else self._politeness.per_host

    def _delay(self, host: Host) -> float:
        return max(self._politeness.delay, host.record.delay or 0.0)

    def _wake(self, host: Host) -> None:
        host.awake = True
        for arm in host.arms:
            self._wake_arm(host, arm)

    def _wake_arm(self, host: Host, arm: str) -> None:
        best = self._ledger.best(arm)
        if best is not None:
            self._policy.wake(arm, best, host.arms[arm])

    def _rest(self, host: Host) -> None:
        if host.awake:
            host.awake = False
            for arm in host.arms:
                self._policy.rest(arm)

    def _next_cleared(self, now: float) -> Ticket | None:
        while names := self._cleared.due(now, most=1):
            host = self._hosts[names[0]]
            if host.held is None or not self._clear(host, now):
                continue
            entry, host.held = host.held, None
            ticket = self._issue(host, entry)
            self._settle(host)
            if ticket is not None:
                return ticket
        return None

    def _clear(self, host: Host, now: float) -> bool:
        """Whether the held page, or the question for its rules, may go now; if not, it has been put off."""
        asked = self._host(host_of(host.rules_url)) if host.rules_url else host
        if asked.record.ready_at > now:
            self._cleared.push(asked.record.ready_at, host.record.name)
            return False
        if asked.in_flight >= self._limit(asked):
            asked.guests.append(host.record.name)
            return False
        return True

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
        else:
            self._wake_arm(host, arm)
        return self._issue(host, entry)

    def _issue(self, host: Host, entry: Entry) -> Ticket | None:
        if host.record.failures >= HOST_GIVEN_UP_AFTER:
            self._refuse(entry, "host given up after failures in a row")
            return None
        if self._read_rules is not None and host.record.robots is None:
            return self._ask_for_rules(host, entry, host.rules_url or origin_of(entry.url) + "/robots.txt")
        if not self._allowed(host, entry.url):
            self._refuse(entry, FailureKind.ROBOTS.value)
            return None
        self._send(host)
        return Ticket(url=entry.url, host=host.record.name, kind=RequestKind.PAGE, entry=entry)

    def errand(self, url: str, now: float, *, by_rules: bool = True) -> Ticket | float | None:
        """Leave for a request that no policy picked but a page needs; or when to ask again; None where rules forbid it.

        While the rules of the host are unknown, the ticket is for its robots.txt: introduce them and ask again, or
        `drop` the errand. Without `by_rules` only the clocks count: for what the user names, which is not crawled.
        """
        host = self._host(host_of(url))
        if host.record.ready_at > now:
            return host.record.ready_at
        if not self._free(host):
            return now + 0.05
        unknown = by_rules and self._read_rules is not None and host.record.robots is None
        if by_rules and not unknown and not self._allowed(host, url):
            return None
        kind = RequestKind.ROBOTS if unknown else RequestKind.ERRAND
        address = f"{origin_of(url)}/robots.txt" if unknown else url
        host.asking = unknown
        self._send(host)
        return Ticket(
            url=address, host=host.record.name, kind=kind, entry=Entry(url=url, arm="", score=0.0, sequence=0)
        )

    def drop(self, ticket: Ticket) -> None:
        """The rules that an errand needs could not be read."""
        host = self._hosts[ticket.host]
        host.stop_asking()
        self._settle(host)

    def _ask_for_rules(self, host: Host, entry: Entry, url: str) -> Ticket:
        host.held = entry
        host.asking = True
        self._send(host)
        other = self._host(host_of(url))
        if other is not host:
            self._occupy(other)
        return Ticket(url=url, host=host.record.name, kind=RequestKind.ROBOTS, entry=entry)

    def _send(self, host: Host) -> None:
        self.in_flight += 1
        self._occupy(host)

    def _occupy(self, host: Host) -> None:
        host.in_flight += 1
        if not self._free(host):
            self._rest(host)

    def _allowed(self, host: Host, url: str) -> bool:
        if self._read_rules is None or host.record.robots is None:
            return True
        if host.rules is None:
            host.rules = self._read_rules(host.record.robots)
        return host.rules.allows(url)

    def _refuse(self, entry: Entry, reason: str) -> None:
        self._unsettled -= 1
        self.refused[reason] += 1
        self._ledger.finish(entry, UrlState.REFUSED, reason)

    # ── answers come back ────────────────────────────────────────────────────────────────────────────

    def answered(self, ticket: Ticket, now: float) -> None:
        """The request has ended: its host's clock runs from here, whatever is still to be done with the answer."""
        self.in_flight -= 1
        for name in {ticket.host, host_of(ticket.url)}:
            host = self._hosts[name]
            host.in_flight -= 1
            host.record.ready_at = max(host.record.ready_at, now + self._delay(host))
            self._dirty.add(name)
            self._settle(host)
            for guest in host.guests:
                self._cleared.push(host.record.ready_at, guest)
            host.guests = ()

    def _settle(self, host: Host) -> None:
        """See to it that a host which may be asked again some time will be."""
        if host.arms and not host.awake:
            self._times.push(host.record.ready_at, host.record.name)

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
        self._cleared.push(host.record.ready_at, ticket.host)
        self._dirty.add(ticket.host)
        self._settle(host)

    def reroute(self, ticket: Ticket, location: str) -> bool:
        """A host's robots.txt is said to lie elsewhere: ask there once the clocks allow. False after too many hops."""
        host = self._hosts[ticket.host]
        if host.rules_hops >= MAX_RULES_HOPS:
            return False
        host.rules_hops += 1
        host.rules_url = location
        self._cleared.push(host.record.ready_at, ticket.host)
        return True

    def defer(self, ticket: Ticket, now: float, *, retry_after: float | None) -> None:
        """A host's robots.txt could not be read: the host rests, and its page waits again."""
        host = self._hosts[ticket.host]
        host.stop_asking()
        host.held = None
        host.record.failures += 1
        wait = retry_after or self._politeness.retry_wait * 2**host.record.failures
        host.record.ready_at = max(host.record.ready_at, now + wait)
        self._dirty.add(ticket.host)
        self._unsettled -= 1
        self._enqueue(ticket.entry)
        self._settle(host)

    def done(self, ticket: Ticket) -> None:
        """The ticket's page was fetched, and its facts are on their way to the store."""
        self._hosts[ticket.host].record.failures = 0
        self._dirty.add(ticket.host)
        self._unsettled -= 1
        self._ledger.finish(ticket.entry, UrlState.DONE, "")

    def failed(self, ticket: Ticket, kind: FailureKind, now: float, *, retry_after: float | None) -> bool:
        """The ticket's page gave a failure; True where it will be tried again."""
        treatment = TREATMENTS[kind]
        entry = msgspec.structs.replace(ticket.entry, attempts=ticket.entry.attempts + 1)
        host = self._hosts[ticket.host]
        host.record.failures = host.record.failures + 1 if treatment.against_host else 0
        self._dirty.add(ticket.host)
        self._unsettled -= 1
        if ticket.kind is RequestKind.ROBOTS:  # the host could not even be asked for its rules
            host.stop_asking()
            host.held = None
        again = self._politeness.retries and entry.attempts <= treatment.retries
        wait = max(retry_after or 0.0, treatment.wait * self._politeness.retry_wait * 2 ** (entry.attempts - 1))
        if treatment.host_rests and self._politeness.retries:
            host.record.ready_at = max(host.record.ready_at, now + wait)
            self._rest(host)
        self._settle(host)
        if again:
            heapq.heappush(self._later, (now + wait, entry.sequence, entry))
        else:
            state = UrlState.DONE if kind is FailureKind.REDIRECT else UrlState.FAILED
            self._ledger.finish(entry, state, kind.value)
        return again

    def count(self, name: str, *, relevant: bool, quads: int, received: int) -> None:
        """Add a finished request to its host's account."""
        record = self._hosts[name].record
        record.fetched += 1
        record.relevant += relevant
        record.quads += quads
        record.received += received
        self._dirty.add(name)

    # ── the whole ────────────────────────────────────────────────────────────────────────────────────

    @property
    def exhausted(self) -> bool:
        """Nothing waits, nothing is under way or still to be settled, nothing comes back later."""
        return not (self.waiting or self._unsettled or self._later)

    def idle_until(self) -> float | None:
        """When `next` may have something again, as far as clocks tell; None where only an answer can bring it."""
        later = self._later[0][0] if self._later else None
        times = (self._times.next_time(), self._cleared.next_time(), later)
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
