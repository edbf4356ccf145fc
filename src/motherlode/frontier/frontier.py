"""The frontier itself: see the room's docstring for the life of a URL in it."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import NamedTuple, cast

import msgspec

from motherlode.frontier.admission import Admission, KeepOwn
from motherlode.frontier.backoff import (
    ADDRESS_IN_DOUBT,
    ENDINGS,
    HOST_GIVEN_UP_AFTER,
    SLOW_DOWN,
    TREATMENTS,
    Backoff,
    End,
    Ending,
    HostEffect,
    UrlEffect,
    given_up,
)
from motherlode.frontier.domain_limit import Withheld
from motherlode.frontier.host_queue import HostQueue
from motherlode.frontier.hosts import Host, HostBudget, HostDelay, RulesReader, retry_wait
from motherlode.frontier.lease import REVISIT, Entry, HostRecord, Lease, Politeness, UrlState
from motherlode.frontier.prerequisites import RULES_LAST, Prerequisites
from motherlode.frontier.storage.base import FrontierStorage
from motherlode.model import Failure, FailureKind, Link, Outcome, Policy, RequestKind, Waits
from motherlode.model.policy import MAX_UNTRIED_HOSTS
from motherlode.www.urls import Scope, host_of

_MOST_REFUSALS = 1000
"""Maximum number of URLs that one call of `lease` refuses before it returns."""
_UNEVEN = 1.0
"""Seconds by which a clock may go back without being set back."""
_LOGGER = logging.getLogger("motherlode.frontier")
_SET_BACK = "the clock of this machine was set back by %.0f s; saved times were moved back as well"
_TIMES_CUT = "%d saved times were later than any delay explains, and were cut to %.0f s from now: is the clock right?"


class _EndedPage(NamedTuple):
    """A page whose lease ends."""

    lease: Lease
    entry: Entry
    host: Host
    asked: Host
    """The host that got the request: another one if the host's robots.txt is there."""
    failure: Failure | None
    now: float
    reason: str

    @property
    def kind(self) -> FailureKind | None:
        return None if self.failure is None else self.failure.kind


def _asks_to_slow_down(lease: Lease, how: End, failure: Failure) -> bool:
    """Return whether a server said that it gets too many requests, for something other than a page."""
    if lease.is_subrequest:
        return failure.kind in SLOW_DOWN or bool(failure.retry_after)
    return how is End.ROBOTS_UNREADABLE and failure.kind in SLOW_DOWN


class Frontier:
    """Owns every known URL, once. `next` hands out only what may be fetched now."""

    def __init__(
        self,
        *,
        storage: FrontierStorage,
        policy: Policy,
        scope: Scope,
        read_rules: RulesReader | None,
        politeness: Politeness,
        budget: HostBudget | None = None,
        random: Random | None = None,
        admit: Callable[[Entry], str] | None = None,
        is_own: Callable[[str], bool] | None = None,
        max_untried_hosts: int = MAX_UNTRIED_HOSTS,
        keep_own: KeepOwn | None = None,
    ) -> None:
        self._ledger = storage
        self._policy = policy
        self._waits = cast(Waits, policy) if hasattr(policy, "awaited") else None
        self._politeness = politeness
        self._budget = budget if budget is not None and budget.has_limits else None
        self._admit = admit
        """Asked of each URL when its turn comes: why it is not fetched after all, or ""."""
        self._pace = HostDelay(politeness, random or Random(0))
        self._clocks = HostQueue(
            policy=policy,
            best=storage.best,
            count=storage.count,
            politeness=politeness,
            pace=self._pace,
            max_untried_hosts=max_untried_hosts,
        )
        self._rests = Backoff(clocks=self._clocks, pace=self._pace, politeness=politeness)
        self._hosts = self._clocks.hosts
        self._intake = Admission(storage=storage, policy=policy, clocks=self._clocks, scope=scope, keep_own=keep_own)
        self._permits = Prerequisites(clocks=self._clocks, read_rules=read_rules, is_own=is_own)
        self._dirty: set[str] = set()
        self._unsettled = 0
        """URLs that were taken from the queue and have neither ended nor gone back."""
        self._unfinished_at: float | None = None
        """When `next` stopped for a rest although there was more to look at."""
        self._awaited, self._awaited_since = "", 0.0
        """The host for which everything stands still, and since when."""
        self._reopened = self._intake.load()

    # ── links come in ────────────────────────────────────────────────────────────────────────────────

    def add_links(self, links: Sequence[Link], *, parent: Outcome | None) -> int:
        """Add the links that are not known yet, rated by the policy. Return how many were new.

        `parent` is the outcome of the page on which the links were found; None for seeds.
        """
        return self._intake.add_links(links, parent=parent)

    def revisit(self, entry: Entry) -> None:
        """A URL that has ended waits again, in an arm of its own for each host; one that was given up has a new try."""
        name = host_of(entry.url)
        host = self._hosts.get(name)
        if host is not None and given_up(host.record):
            host.record.failures = HOST_GIVEN_UP_AFTER - 1
            self._dirty.add(name)
        self._intake.revisits_left += 1
        self._intake.enqueue(msgspec.structs.replace(entry, arm=REVISIT + name, attempts=0, hops=0))

    # ── URLs go out ──────────────────────────────────────────────────────────────────────────────────

    def lease(self, now: float) -> Lease | None:
        """Return a lease, the permission to make one request; None if no URL may be fetched at `now`."""
        if now < self._intake.now - _UNEVEN:
            self._turn_back(now)
        if self._reopened:
            self.check_clock(now)
            self._reopened = False
            self._clocks.rest_once(now, asleep=max(0.0, now - self._intake.now))
        self._intake.now = now
        self._unfinished_at = None
        ticket = self._next_held(now)
        if ticket is not None:
            return ticket
        self._intake.ripen(now)
        self._clocks.ripen(now)
        for _ in range(_MOST_REFUSALS):
            arm = self._policy.pick()
            awaited = self._waits.awaited if self._waits is not None and arm is None else ""
            if awaited != self._awaited:
                self._awaited, self._awaited_since = awaited, now
            if arm is not None:
                self._unsettled += 1
                ticket = self._issue(*self._intake.take(arm), now)
                if ticket is not None:
                    return ticket
            elif self._waits is not None and awaited:
                if self._clocks.is_soon(awaited, now) and now < self._awaited_since + self._clocks.patience:
                    return None  # its request may never end, and no other host gets a request meanwhile
                self._waits.leave(awaited)
            elif not self._clocks.ripen(now):
                return None
        self._unfinished_at = now
        return None

    def check_clock(self, now: float, *, known_time: float = 0.0) -> str:
        """Correct restored times that lie too far in the future, because the machine's clock was set back meanwhile.

        `known_time` is a later moment of the run before than the frontier knows, if there is one. Returns a warning,
        which is logged as well, or "".
        """
        seconds = max(self._intake.now, known_time) - now
        if self._intake.now - now > _UNEVEN:
            self._turn_back(now)
        elif seconds > _UNEVEN:
            _LOGGER.warning(_SET_BACK, seconds)
        longest = self._rests.longest
        late = self._clocks.cut_times(now + _UNEVEN, longest)
        self._dirty.update(late)
        cut = len(late) + self._intake.cut_times(now + longest)
        if cut:
            _LOGGER.warning(_TIMES_CUT, cut, longest)
        return _SET_BACK % seconds if seconds > _UNEVEN else _TIMES_CUT % (cut, longest) if cut else ""

    def _turn_back(self, now: float) -> None:
        """The clock of the machine was set back: its hosts would wait until it has come to where it was."""
        seconds = self._intake.now - now
        _LOGGER.warning(_SET_BACK, seconds)
        self._clocks.turn_back(seconds)
        self._intake.turn_back(seconds)
        self._intake.now = now
        self._awaited_since -= seconds
        self._dirty.update(self._hosts)

    def _next_held(self, now: float) -> Lease | None:
        while (held := self._permits.next_held(now)) is not None:
            ticket = self._issue(*held, now)
            self._clocks.settle(held[0])
            if ticket is not None:
                return ticket
        return None

    def _issue(self, host: Host, entry: Entry, now: float) -> Lease | None:
        """Leave for a page, or for what must be known before it; None where the page is refused."""
        refusal = self._refusal(host, entry)
        ticket = None if refusal else self._permits.for_page(host, entry, now)
        if ticket is None:
            self._unsettled -= 1
            self._intake.refuse(entry, refusal or FailureKind.ROBOTS.value)
        return ticket

    def _refusal(self, host: Host, entry: Entry) -> str:
        unwanted = given_up(host.record) or (self._admit(entry) if self._admit is not None else "")
        if unwanted or self._budget is None or entry.arm.startswith(REVISIT):  # known pages have had their budget
            return unwanted
        return self._budget.refusal(host.record, host.unaccounted)

    def lease_for(self, url: str, now: float, *, obey_robots: bool = True) -> Lease | float | None:
        """Return a lease for a request that a page needs, or when to call again; None if robots.txt forbids it.

        While the host's IP address or robots.txt is unknown, the lease is for that: end it and call again. Without
        `obey_robots` only the delays count: for a service that the user names, which is not crawled.
        """
        return self._permits.for_subrequest(url, now, obey_robots=obey_robots)

    # ── answers come back ────────────────────────────────────────────────────────────────────────────

    def response_received(self, lease: Lease, now: float, *, elapsed: float = 0.0, address: str = "") -> None:
        """The request has ended: the clocks of its host and its address run from here, whatever is still to be done.

        `elapsed` is how long the answer took, `address` who gave it.
        """
        self._permits.in_flight -= 1
        asked = self._hosts[host_of(lease.url)]
        self._pace.note_answer(asked.record, elapsed)
        for name in {lease.host, asked.record.name}:
            self._clocks.release(self._hosts[name], now)
            self._dirty.add(name)
        if lease.address:
            self._clocks.release_address(lease.address, now)
            if address and address != lease.address:
                self._clocks.touch_address(address, now)
                self._clocks.move(asked, address)

    def usual_response_time(self, lease: Lease) -> float:
        """Seconds that answers of the ticket's host take, smoothed; 0 while none has come."""
        return self._hosts[lease.host].record.response

    def end(
        self,
        lease: Lease,
        how: End,
        now: float,
        *,
        failure: Failure | None = None,
        relevant: bool = False,
        robots: bytes = b"",
        lasts: float = RULES_LAST,
        address: str = "",
        reason: str = "",
        entry: Entry | None = None,
    ) -> float | None:
        """End a lease, exactly once. Return when its URL may be leased again; None if that is not known, or never.

        `failure` is the response, if it is one. `relevant` belongs to FETCHED, `address` to RESOLVED, `reason` to
        REFUSED, `robots` and the seconds for which they hold (`lasts`) to ROBOTS_READ. After a revisit `entry` is the
        entry of the page as it was before.
        """
        host, asked = self._hosts[lease.host], self._hosts[host_of(lease.url)]
        self._dirty.add(lease.host)
        if failure is not None and _asks_to_slow_down(lease, how, failure):
            self._rests.slow_down(asked, now, retry_after=failure.retry_after)
            self._dirty.add(asked.record.name)
        if how is End.RESOLVED:
            self._dirty.add(self._permits.resolved(lease, address))
        elif how is End.ROBOTS_READ:
            self._permits.introduce(host, lease.entry.url, robots, now, read_from=lease.url, lasts=lasts)
        elif how is End.ROBOTS_MOVED:
            if failure is not None and self._permits.reroute(host, failure.location):
                return host.record.ready_at
            self._permits.introduce(host, lease.entry.url, b"", now, read_from=lease.url)  # RFC 9309, 2.3.1.2
        elif lease.is_subrequest:
            self._end_subrequest(lease, how, host, asked, failure, now)
        else:
            if entry is not None:
                self._intake.revisits_left -= 1
            if relevant:
                self._clocks.credit(host)
            page = _EndedPage(lease, entry or lease.entry, host, asked, failure, now, reason)
            return self._end_page(page, ENDINGS[how])
        return None

    def _end_subrequest(
        self, lease: Lease, how: End, host: Host, asked: Host, failure: Failure | None, now: float
    ) -> None:
        """End a lease that `lease_for` gave: no URL of a queue depends on it."""
        if how is End.NEXT_ADDRESS:
            self._clocks.move(asked, "")
            self._permits.ask_again(host)
        elif lease.kind is not RequestKind.SUBREQUEST:
            if how is End.ROBOTS_UNREADABLE and failure is not None:  # otherwise each subrequest would ask again
                self._rests.without_rules(host, failure.kind, now, retry_after=failure.retry_after)
            self._permits.give_up(lease)
            self._clocks.settle(host)

    def _end_page(self, page: _EndedPage, ending: Ending) -> float | None:
        """End the lease of a page, or of a prerequisite for which a page waits, as the table says."""
        lease, host = page.lease, page.host
        is_page = lease.kind is RequestKind.PAGE
        if ending.url is not UrlEffect.HELD:
            self._unsettled -= 1
            if not is_page:
                self._permits.give_up(lease)
                host.held = None
        if ending.uncounted and (is_page or ending.url is not UrlEffect.HELD):
            host.unaccounted = max(0, host.unaccounted - 1)
        wait = self._delay_host(page, ending.host)
        if ending.drops_address or (ending.url is UrlEffect.RETRIED and page.kind in ADDRESS_IN_DOUBT):
            self._clocks.move(page.asked, "")
        if ending.url not in (UrlEffect.DONE, UrlEffect.HELD):
            self._clocks.settle(host)
        return self._place_url(page, ending.url, wait)

    def _delay_host(self, page: _EndedPage, effect: HostEffect) -> float:
        """Apply an ending to the delays of the host. Return the seconds until the next attempt, after a failure."""
        host, now = page.host, page.now
        retry_after = None if page.failure is None else page.failure.retry_after
        if effect is HostEffect.RECOVERS:
            host.record.failures = 0
            self._pace.recover(host.record)
        elif effect is HostEffect.RETRY_AFTER:
            if retry_after and self._politeness.retries:
                self._rests.put_off(host, now + retry_wait(retry_after, 0.0))
        elif effect is not HostEffect.NONE and page.kind is not None:
            if effect is HostEffect.BACKS_OFF:
                attempts = page.entry.attempts + 1
                return self._rests.after_failure(host, page.kind, now, attempts=attempts, retry_after=retry_after)
            if effect is HostEffect.FIRST_FAILURE:
                self._rests.after_silence(host, page.kind, now)
            else:
                self._rests.without_rules(host, page.kind, now, retry_after=retry_after)
        return 0.0

    def _place_url(self, page: _EndedPage, effect: UrlEffect, wait: float) -> float | None:
        """Apply an ending to the URL. Return when it may be leased again, if it may."""
        entry, host = page.entry, page.host
        if effect is UrlEffect.DONE:
            self._ledger.finish(entry, UrlState.DONE, "")
            return None
        if effect is UrlEffect.REFUSED:
            self._intake.refuse(entry, page.reason)
            return None
        if effect is UrlEffect.RETRIED and page.kind is not None:
            return self._retry(entry, page.kind, page.now + wait)
        if effect is UrlEffect.QUEUED:
            self._intake.enqueue(entry)
        elif page.lease.kind is not RequestKind.PAGE:
            self._permits.ask_again(host)
        elif host.held is None and not host.asking:
            self._permits.hold(host, entry)
        else:  # another page goes first
            self._unsettled -= 1
            self._intake.enqueue_later(entry, page.now)
        return host.record.ready_at

    def _retry(self, entry: Entry, kind: FailureKind, when: float) -> float | None:
        """Let a URL that failed wait for its next attempt, or finish it after the last."""
        entry = msgspec.structs.replace(entry, attempts=entry.attempts + 1)
        if self._politeness.retries and entry.attempts <= TREATMENTS[kind].retries:
            self._intake.enqueue_later(entry, when)
            self._ledger.postpone(entry, when)
            return when
        self._intake.revisits_left -= entry.arm.startswith(REVISIT)
        state = UrlState.DONE if kind is FailureKind.REDIRECT else UrlState.FAILED
        self._ledger.finish(entry, state, kind.value)
        return None

    def count_refused(self, reason: str, urls: int) -> None:
        """Count links that were left out before the frontier saw them."""
        self._intake.refused[reason] += urls

    def record_visit(self, name: str, *, relevant: int, quads: int, received: int, is_known: bool = False) -> None:
        """Add a finished request to its host's account; a look at a known page may also take off what it found."""
        host = self._hosts[name]
        host.unaccounted = max(0, host.unaccounted - 1)
        record = host.record
        record.fetched += not is_known
        record.relevant += relevant
        record.quads += quads
        record.received += received
        self._dirty.add(name)

    # ── leases of addresses ──────────────────────────────────────────────────────────────────────────

    def addresses_wanted(self) -> list[str]:
        """Addresses that somebody waits for and that we have no lease of; each named once."""
        return self._clocks.wanted()

    def grant_address(self, address: str, now: float, *, wait: float, hosts: Mapping[str, float]) -> None:
        """Grant an IP address to this shard after `wait` seconds, and its `hosts` after their own seconds."""
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
        """Nothing waits, nothing is under way or still to be settled, nothing comes back later.

        What the limit on untried hosts withholds does not count, because only another answer could release it.
        """
        return self._intake.empty and not self._unsettled

    def idle_until(self) -> float | None:
        """Return when `lease` may return a lease again, by the timers; None where only an answer can bring it."""
        patience = self._awaited_since + self._clocks.patience if self._awaited else None
        times = (self._clocks.next_time(), self._intake.next_time(), self._unfinished_at, patience)
        return min((time for time in times if time is not None), default=None)

    @property
    def known_urls(self) -> int:
        return self._intake.known_urls

    @property
    def waiting(self) -> int:
        return self._intake.waiting

    @property
    def withheld(self) -> Withheld:
        """What of `waiting` the limit on untried hosts of a domain withholds."""
        return Withheld(**self._clocks.domains.count_withheld())

    @property
    def refused(self) -> Counter[str]:
        """Links and URLs that were not taken up or not fetched, by reason."""
        return self._intake.refused

    @property
    def revisits_left(self) -> int:
        """Known pages that are still to be looked at again."""
        return self._intake.revisits_left

    @property
    def in_flight(self) -> int:
        return self._permits.in_flight

    @property
    def host_count(self) -> int:
        return self._clocks.host_count

    def host_records(self) -> list[HostRecord]:
        """Of hosts that this run or one before it has come to."""
        return [host.record for host in self._hosts.values()]

    def commit(self) -> None:
        """Make the state lasting. The caller has seen to it that the quads of every finished page are."""
        for name in self._dirty | self._clocks.changed:
            self._ledger.put_host(self._hosts[name].record)
        self._dirty.clear()
        self._clocks.changed.clear()
        self._intake.save()
        self._ledger.commit()
