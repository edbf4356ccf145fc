"""The frontier itself: see the docstring of the package for the life of a URL in it."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from random import Random

import msgspec

from motherlode.frontier.admission import Admission, KeepOwn, Withheld
from motherlode.frontier.host_queue import HostQueue
from motherlode.frontier.idle import Retries
from motherlode.frontier.leases import (
    ADDRESS_IN_DOUBT,
    ENDINGS,
    HOST_GIVEN_UP_AFTER,
    RULES_LAST,
    SLOW_DOWN,
    TREATMENTS,
    Backoff,
    End,
    Ending,
    Prerequisites,
    UrlEffect,
    given_up,
)
from motherlode.frontier.records import (
    EndedPage,
    Entry,
    Host,
    HostBudget,
    HostDelay,
    HostRecord,
    Lease,
    Politeness,
    RulesReader,
    UrlState,
    revisit_arm,
)
from motherlode.frontier.shedder import Shedder
from motherlode.frontier.storage import FrontierStorage
from motherlode.model import Failure, FailureKind, Link, Outcome, Policy, Rating, RequestKind, Waits
from motherlode.model.policy import MAX_UNTRIED_HOSTS
from motherlode.www.urls import Scope, host_of

_MAX_REFUSALS = 1000
"""Maximum number of URLs that one call of `lease` refuses before it returns."""
_MAX_JUMP_SECONDS = 1.0
"""Seconds by which the clock may go back without being treated as set back."""
_LOGGER = logging.getLogger("motherlode.frontier")
_SET_BACK = "the clock of this machine was set back by %.0f s; saved times were moved back as well"
_TIMES_CUT = "%d saved times were later than any delay explains, and were cut to %.0f s from now: is the clock right?"


def _asks_to_slow_down(lease: Lease, how: End, failure: Failure) -> bool:
    """Return whether a server answered "too many requests" to a request for something else than a page."""
    if lease.is_subrequest:
        return failure.kind in SLOW_DOWN or bool(failure.retry_after)
    return how is End.ROBOTS_UNREADABLE and failure.kind in SLOW_DOWN


def _rated_again(page: EndedPage, ending: Ending, rating: Rating) -> tuple[EndedPage, Ending]:
    """Return how to end the lease of a page with a new rating: the page waits again with it, or is refused by it."""
    if rating.refused:
        return page._replace(reason=rating.refused), replace(ending, url=UrlEffect.REFUSED)
    entry = msgspec.structs.replace(page.entry, arm=rating.arm, score=rating.score, policy_state=rating.policy_state)
    return page._replace(entry=entry), ending


class Frontier:
    """Owns every known URL, once. `lease` returns only URLs that may be fetched now."""

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
        is_stale: Callable[[str], bool] | None = None,
        max_untried_hosts: int = MAX_UNTRIED_HOSTS,
        keep_own: KeepOwn | None = None,
        idle_hosts_on_disk: bool = False,
    ) -> None:
        """With `idle_hosts_on_disk`, idle hosts of an earlier run stay in the storage until they are needed."""
        self._storage = storage
        self._policy = policy
        self._waits = policy if isinstance(policy, Waits) else None
        self._politeness = politeness
        self._budget = budget if budget is not None and budget.has_limits else None
        self._admit = admit
        """Returns why a URL that was picked is not fetched after all, or ""."""
        self._host_delay = HostDelay(politeness, random or Random(0))
        self.host_queue = HostQueue(policy=policy, storage=storage, politeness=politeness, host_delay=self._host_delay)
        """The delays of hosts and IP addresses. A shard gets and returns the grants of IP addresses here."""
        self._hosts, self._changed = self.host_queue.hosts, self.host_queue.changed
        self._backoff = Backoff(host_queue=self.host_queue, host_delay=self._host_delay, politeness=politeness)
        self._admission = Admission(
            storage=storage,
            policy=policy,
            host_queue=self.host_queue,
            scope=scope,
            keep_own=keep_own,
            max_untried_hosts=max_untried_hosts,
            robots_refusal=self._robots_refusal,
        )
        self._prerequisites = Prerequisites(
            host_queue=self.host_queue, read_rules=read_rules, is_own=is_own, is_stale=is_stale
        )
        self._unsettled = 0
        """URLs that were taken from the queue and have neither ended nor gone back."""
        self._unfinished_at: float | None = None
        """When `lease` returned None after `_MAX_REFUSALS`, although more URLs could be leased."""
        self._awaited, self._awaited_since = "", 0.0
        """The host for which the policy waits, and since when."""
        self.robots_preferences = self._prerequisites.preferences
        self.retries = Retries(self._admission, self.host_queue, storage, unsettled=lambda: self._unsettled)
        """The URLs that failed and wait for their next attempt."""
        self.shedder = Shedder(self._admission, self.host_queue, storage, policy)
        """Takes waiting URLs and idle hosts out of memory, if memory has a ceiling."""
        restore_hosts = partial(self.shedder.restore_hosts, idle_on_disk=idle_hosts_on_disk)
        self._reopened = self._admission.load(restore_hosts)

    # ── links come in ────────────────────────────────────────────────────────────────────────────────

    def add_links(self, links: Sequence[Link], *, parent: Outcome | None) -> int:
        """Add the links that are not known yet, rated by the policy. Return how many were new.

        `parent` is the outcome of the page on which the links were found; None for seeds.
        """
        return self._admission.add_links(links, parent=parent)

    def revisit(self, entry: Entry) -> None:
        """Queue a finished URL for a revisit, in the arm of its host's revisits.

        A host that was given up is tried again.
        """
        name = host_of(entry.url)
        host = self._hosts.get(name)
        record = self.host_queue.find_stored(name) if host is None else host.record
        if record is not None and given_up(record):
            self.host_queue.host(name).record.failures = HOST_GIVEN_UP_AFTER - 1
            self._changed.add(name)
        self._admission.revisits_left += 1
        self._admission.enqueue(msgspec.structs.replace(entry, arm=revisit_arm(name), attempts=0, hops=0))

    # ── URLs go out ──────────────────────────────────────────────────────────────────────────────────

    def lease(self, now: float) -> Lease | None:
        """Return a lease, the permission to make one request; None if no URL may be fetched at `now`."""
        if now < self._admission.now - _MAX_JUMP_SECONDS:
            self._turn_back(now)
        if self._reopened:
            self.check_clock(now)
            self._reopened = False
            self.host_queue.snooze_all(now, pause=max(0.0, now - self._admission.now))
        self._admission.now = now
        self._unfinished_at = None
        lease = self._next_held(now)
        if lease is not None:
            return lease
        self._admission.enqueue_due(now)
        self.host_queue.make_due_ready(now)
        for _ in range(_MAX_REFUSALS):
            arm = self._policy.pick()
            awaited = self._waits.awaited if self._waits is not None and arm is None else ""
            if awaited != self._awaited:
                self._awaited, self._awaited_since = awaited, now
            if arm is not None:
                host, entry = self._admission.take(arm)
                entry, is_waiting = self._admission.rate_picked(entry)
                if is_waiting:
                    continue
                self._unsettled += 1
                lease = self._issue(host, entry, now)
                if lease is not None:
                    return lease
            elif self._waits is not None and awaited:
                is_soon = self.host_queue.is_ready_soon(awaited, now)
                if is_soon and now < self._awaited_since + self.host_queue.max_crawl_wait:  # its request may never end
                    return None
                self._waits.leave(awaited)
            elif not self.host_queue.make_due_ready(now):
                return None
        self._unfinished_at = now
        return None

    def check_clock(self, now: float, *, known_time: float = 0.0) -> str:
        """Correct restored times that lie too far in the future, because the machine's clock was set back meanwhile.

        `known_time` is a time of the previous run that is later than the times in the frontier's storage, if there is
        one. Returns a warning, which is logged as well, or "".
        """
        seconds = max(self._admission.now, known_time) - now
        if self._admission.now - now > _MAX_JUMP_SECONDS:
            self._turn_back(now)
        elif seconds > _MAX_JUMP_SECONDS:
            _LOGGER.warning(_SET_BACK, seconds)
        longest = self._backoff.longest
        cut = self.host_queue.cut_times(now + _MAX_JUMP_SECONDS, longest) + self._admission.correct_times(
            partial(min, now + longest)
        )
        if cut:
            _LOGGER.warning(_TIMES_CUT, cut, longest)
        return _SET_BACK % seconds if seconds > _MAX_JUMP_SECONDS else _TIMES_CUT % (cut, longest) if cut else ""

    def _turn_back(self, now: float) -> None:
        """Move all times back by the seconds by which the machine's clock was set back."""
        seconds = self._admission.now - now
        _LOGGER.warning(_SET_BACK, seconds)
        self.host_queue.turn_back(seconds)
        self.shedder.turn_back(seconds)
        self._admission.correct_times(lambda when: when - seconds)
        self._admission.now = now
        self._awaited_since -= seconds

    def _next_held(self, now: float) -> Lease | None:
        while (held := self._prerequisites.next_held(now)) is not None:
            lease = self._issue(*held, now)
            self.host_queue.schedule(held[0])
            if lease is not None:
                return lease
        return None

    def _issue(self, host: Host, entry: Entry, now: float) -> Lease | None:
        """Return a lease for a page or its next prerequisite; None if the page is refused."""
        refusal = self._refusal(host, entry)
        lease = None if refusal else self._prerequisites.for_page(host, entry, now)
        if lease is None:
            self._unsettled -= 1
            self._admission.refuse(entry, refusal or FailureKind.ROBOTS.value)
        return lease

    def _refusal(self, host: Host, entry: Entry) -> str:
        unwanted = given_up(host.record) or (self._admit(entry) if self._admit is not None else "")
        if unwanted or self._budget is None or entry.is_revisit:  # known pages have had their budget
            return unwanted
        return self._budget.refusal(host.record, host.unaccounted)

    def _robots_refusal(self, url: str) -> str:
        """Return why a URL does not enter the queue: its host's rules are known and forbid it. Otherwise ""."""
        host = self._hosts.get(host_of(url))
        if host is None or self._prerequisites.allows(host, url):  # first, because that is so for nearly every link
            return ""
        return "" if self._prerequisites.needs_rules(host, url, self._admission.now) else FailureKind.ROBOTS.value

    def lease_for(self, url: str, now: float, *, obey_robots: bool = True) -> Lease | float | None:
        """Return a lease for a request that a page needs, or when to call again; None if robots.txt forbids it.

        While the host's IP address or robots.txt is unknown, the lease is for that: end it and call again. Without
        `obey_robots` only the delays count: for a service that the user names, which is not crawled.
        """
        return self._prerequisites.for_subrequest(url, now, obey_robots=obey_robots)

    # ── responses arrive ────────────────────────────────────────────────────────────────────────────

    def response_received(
        self, lease: Lease, now: float, *, elapsed: float = 0.0, address: str = "", was_sent: bool = True
    ) -> None:
        """Start the delays of the host and the IP address of a request, which has ended.

        `elapsed` is the response time in seconds, and `address` the IP address of the server. Without `was_sent` only
        the delay of the IP address starts: it accepted no connection, and the host's next address is tried at once.
        """
        self._prerequisites.in_flight -= 1
        server = self._hosts[host_of(lease.url)]
        self._host_delay.note_answer(server.record, elapsed)
        for name in {lease.host, server.record.name}:
            self.host_queue.end_request(self._hosts[name], now, was_sent=was_sent)
        if lease.address:
            self.host_queue.end_request_to(lease.address, now)
            if address and address != lease.address:
                self.host_queue.delay_address(address, now)
                self.host_queue.set_address(server, address)

    def waits_for_address(self, lease: Lease, now: float) -> bool:
        """Return whether a DNS lookup without an answer is repeated later (UNRESOLVED) or counts as a failure."""
        return not lease.is_subrequest and self._backoff.waits_for_address(self._hosts[lease.host], now)

    def usual_response_time(self, lease: Lease) -> float:
        """Return the smoothed response time of the lease's host in seconds; 0 before its first response."""
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
        rating: Rating | None = None,
    ) -> float | None:
        """End a lease, exactly once. Return when its URL may be leased again; None if that is not known, or never.

        `failure` is the response, if it is one. `relevant` belongs to FETCHED, `address` to RESOLVED, `reason` to
        REFUSED, `rating`, the new one, to HEADER_READ, `robots` and the seconds for which they hold (`lasts`) to
        ROBOTS_READ. After a revisit `entry` is the entry of the page as it was before.
        """
        host, server = self._hosts[lease.host], self._hosts[host_of(lease.url)]
        self._changed.add(lease.host)
        if failure is not None and _asks_to_slow_down(lease, how, failure):
            self._backoff.slow_down(server, now, retry_after=failure.retry_after)
            self._changed.add(server.record.name)
        if how is End.RESOLVED:
            self._prerequisites.store_address(host, server, address)
            self._changed.add(server.record.name)
        elif how is End.ROBOTS_READ:
            self._prerequisites.store_rules(host, lease.entry.url, robots, now, read_from=lease.url, lasts=lasts)
            if robots and not host.is_ready:
                self._admission.refuse_forbidden(host)
        elif how is End.ROBOTS_MOVED:
            if failure is not None and self._prerequisites.follow_redirect(host, failure.location):
                return host.record.ready_at
            self._prerequisites.store_rules(host, lease.entry.url, b"", now, read_from=lease.url)  # RFC 9309, 2.3.1.2
        elif lease.is_subrequest:
            self._end_subrequest(lease, how, host, server, failure, now)
        else:
            if entry is not None:
                self._admission.revisits_left -= 1
            if relevant:
                self._admission.credit(host)
            page = EndedPage(lease, entry or lease.entry, host, server, failure, now, reason)
            if rating is None:
                return self._end_page(page, ENDINGS[how])
            return self._end_page(*_rated_again(page, ENDINGS[how], rating))
        return None

    def _end_subrequest(
        self, lease: Lease, how: End, host: Host, server: Host, failure: Failure | None, now: float
    ) -> None:
        """End a lease that `lease_for` gave: no URL of a queue depends on it."""
        if how is End.NEXT_ADDRESS:
            self.host_queue.set_address(server, "")
            self._prerequisites.ask_again(host)
        elif lease.kind is not RequestKind.SUBREQUEST:
            if how is End.ROBOTS_UNREADABLE and failure is not None:  # otherwise each subrequest would ask again
                self._backoff.without_rules(host, failure, now, 1)
            self._prerequisites.give_up(lease)
            self.host_queue.schedule(host)

    def _end_page(self, page: EndedPage, ending: Ending) -> float | None:
        """End the lease of a page, or of a prerequisite for which a page waits, by the table `ENDINGS`."""
        lease, host = page.lease, page.host
        is_page = lease.kind is RequestKind.PAGE
        if ending.url is not UrlEffect.HELD:
            self._unsettled -= 1
            if not is_page:
                self._prerequisites.give_up(lease)
                host.held = None
        if ending.uncounted and (is_page or ending.url is not UrlEffect.HELD):
            host.unaccounted = max(0, host.unaccounted - 1)
        wait = 0.0
        if ending.url is UrlEffect.DONE:
            host.record.failures = 0
            self._host_delay.recover(host.record)
        elif ending.delay is not None and page.failure is not None:
            wait = ending.delay(self._backoff, host, page.failure, page.now, page.entry.attempts + 1)
        if ending.drops_address or (ending.url is UrlEffect.RETRIED and page.kind in ADDRESS_IN_DOUBT):
            self.host_queue.set_address(page.server, "")
        if ending.url not in (UrlEffect.DONE, UrlEffect.HELD):
            self.host_queue.schedule(host)
        return self._place_url(page, ending.url, wait)

    def _place_url(self, page: EndedPage, effect: UrlEffect, wait: float) -> float | None:
        """Apply an ending to the URL. Return when it may be leased again, if it may."""
        entry, host = page.entry, page.host
        if effect is UrlEffect.DONE:
            self._storage.finish(entry, UrlState.DONE, "")
            return None
        if effect is UrlEffect.REFUSED:
            self._admission.refuse(entry, page.reason)
            return None
        if effect is UrlEffect.RETRIED and page.kind is not None:
            return self._retry(entry, page.kind, page.now + wait)
        if effect is UrlEffect.QUEUED:
            self._admission.enqueue(entry)
        elif page.lease.kind is not RequestKind.PAGE:
            self._prerequisites.ask_again(host)
        elif host.held is None and not host.asking:
            self._prerequisites.hold(host, entry)
        else:  # another page goes first
            self._unsettled -= 1
            self._admission.enqueue_later(entry, page.now)
        return host.record.ready_at

    def _retry(self, entry: Entry, kind: FailureKind, when: float) -> float | None:
        """Let a URL that failed wait for its next attempt, or finish it after the last."""
        entry = msgspec.structs.replace(entry, attempts=entry.attempts + 1)
        if self._politeness.retries and entry.attempts <= TREATMENTS[kind].retries:
            self._admission.enqueue_later(entry, when, kind.value)
            self._storage.postpone(entry, when)
            return when
        self._admission.finish_failed(entry, kind)
        return None

    def call_on_refused(self, listener: Callable[[Entry, str], None]) -> None:
        """Call a function with each known URL that is refused from now on, and the reason."""
        self._admission.on_refused = listener

    def refuse_also(self, reason: Scope) -> None:
        """Refuse new links for one more reason, which a function returns, or ""."""
        scope = self._admission.scope
        self._admission.scope = lambda url: scope(url) or reason(url)

    def count_refused(self, reason: str, urls: int) -> None:
        """Count links that were refused before the frontier got them."""
        self._admission.refused[reason] += urls

    def record_visit(self, name: str, *, relevant: int, quads: int, received: int, is_known: bool = False) -> None:
        """Add a finished request to the record of its host.

        A revisit (`is_known`) is not counted as fetched. Its numbers are differences from the last visit, so they may
        be negative.
        """
        host = self._hosts[name]
        host.unaccounted = max(0, host.unaccounted - 1)
        record = host.record
        record.fetched += not is_known
        record.relevant += relevant
        record.quads += quads
        record.received += received
        self._changed.add(name)

    # ── state of the whole frontier ────────────────────────────────────────────────────────────────────────────────

    @property
    def exhausted(self) -> bool:
        """True if no URL waits, is in flight or will be retried.

        URLs that the limit on untried hosts withholds do not count, because only another response could release them.
        """
        return self._admission.is_empty and not self._unsettled

    def idle_until(self) -> float | None:
        """Return the time from which `lease` may return a lease again; None if that needs another response first."""
        wait_end = self._awaited_since + self.host_queue.max_crawl_wait if self._awaited else None
        times = (self.host_queue.next_time(), self._admission.next_time(), self._unfinished_at, wait_end)
        return min((time for time in times if time is not None), default=None)

    @property
    def known_urls(self) -> int:
        return self._admission.known_urls

    @property
    def waiting(self) -> int:
        return self._admission.waiting

    @property
    def withheld(self) -> Withheld:
        """The part of `waiting` that the limit on untried hosts of a domain withholds."""
        return Withheld(**self._admission.domains.count_withheld())

    @property
    def refused(self) -> Counter[str]:
        """Number of refused links and URLs, by reason."""
        return self._admission.refused

    @property
    def revisits_left(self) -> int:
        """Number of known pages that wait for a revisit."""
        return self._admission.revisits_left

    @property
    def in_flight(self) -> int:
        return self._prerequisites.in_flight

    @property
    def host_count(self) -> int:
        return self.host_queue.host_count + self._admission.domains.withheld_hosts

    def host_records(self) -> Iterator[HostRecord]:
        """Yield the records of the hosts that this run or an earlier one contacted."""
        yield from [host.record for host in self._hosts.values()]
        yield from self.shedder.stored_records()

    def commit(self) -> None:
        """Make the state durable. The caller has already made the quads of every finished page durable."""
        for name in self._changed:
            self._storage.put_host(self._hosts[name].record)
        self._changed.clear()
        self._admission.save()
        self._storage.commit()
