"""Admission: which links become entries of the frontier, and which hosts of a domain may be contacted.

`Admission` rates new links in scope, stores them, and queues them in their arms. It counts known and refused URLs.

A domain may have an endless number of host names, and each costs at least one request. So `Domains` sets a limit on the
hosts of a registrable domain that are *admitted* until one of them has a relevant page. Each host with a relevant page
raises the limit by the same number. The other hosts are *withheld*: their URLs are known and wait. They are admitted in
the order of discovery when the limit is raised. Hosts that the user names are always admitted and do not count. Once a
domain withholds a host, the records of its admitted hosts are stored, so a restart admits the same ones.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any

import msgspec

from motherlode.frontier.host_queue import HostQueue
from motherlode.frontier.known_redirects import KNOWN_REDIRECT, assumed_redirect, find_original, target_link
from motherlode.frontier.records import Correct, Entry, Host, UrlState, entry_from, is_revisit_arm
from motherlode.frontier.storage import FrontierStorage
from motherlode.model import FailureKind, Link, LinkSource, Outcome, Policy, PredictsRedirects, RatesAgain, Rating
from motherlode.www.urls import Scope, host_of, registrable_domain

KeepOwn = Callable[[Sequence[Link], Outcome | None], Sequence[Link]]
"""Returns the links to the hosts of this shard, and sends the other links to the shards that own their hosts."""

MAX_WITHHELD_HOSTS = 10_000
"""Hosts of one domain that may be withheld; links to further ones are refused, because each takes memory."""
_MAX_CHECKED_URLS = 5_000
"""Maximum number of waiting URLs of a host that are checked when its robots.txt arrives."""
TOO_MANY_HOSTS = "too many untried hosts of its domain"
_SEED = LinkSource.SEED
_arm = attrgetter("arm")
_FORMAT_KEY = "format"
_COUNTERS_KEY = "frontier"
"""Key under which the storage keeps the counters."""


class WithheldHost(msgspec.Struct):
    """The queue of a host that is not admitted yet."""

    arms: dict[str, None] = {}
    urls: int = 0


class DomainAccount(msgspec.Struct):
    """Numbers of admitted hosts of one domain and of those with a relevant page, and the domain's withheld hosts."""

    admitted: int = 0
    """Number of admitted hosts, without those that the user named."""
    relevant: int = 0
    """Number of hosts with a relevant page."""
    withheld: dict[str, WithheldHost] = {}
    """The withheld hosts by name, in the order of their discovery."""
    unrecorded: list[str] | None = []
    """Admitted hosts without a record in the storage; None once every admitted host needs a record."""

    def has_room(self, limit: int) -> bool:
        return self.admitted < limit * (1 + self.relevant)


class Withheld(msgspec.Struct, frozen=True):
    """The numbers of domains, hosts and URLs that wait because of the limit on untried hosts per domain."""

    domains: int = 0
    hosts: int = 0
    urls: int = 0


class Domains:
    """Admits and withholds hosts. A domain gets an account when a host other than DOMAIN and www.DOMAIN is found.

    Most domains have no other hosts, so most domains need no memory here.
    """

    def __init__(self, limit: int, *, relevance: Callable[[str], bool | None]) -> None:
        """`relevance` returns whether an admitted host has a relevant page, and None if a host is not admitted."""
        self._limit = limit
        self._relevance = relevance
        self._accounts: dict[str, DomainAccount] = {}
        self._named: set[str] = set()
        """Hosts that the user named."""
        self.withheld_hosts = self.withheld_urls = 0

    def admits(self, name: str) -> bool:
        """Admit a new host if its domain has room for it. Return whether it was admitted."""
        account = self._open_account(name)
        if account is None or name in self._named:
            return True
        if not account.has_room(self._limit):
            return False
        self._count(account, name)
        return True

    def restore(self, name: str, *, relevant: bool) -> None:
        """Count a host that an earlier run admitted, and that has a record which `relevance` knows."""
        domain = registrable_domain(name)
        if name in (domain, f"www.{domain}"):
            return  # counted when the account is opened
        account = self._open_account(name)
        if account is not None:
            account.admitted += name not in self._named
            account.relevant += relevant

    def exempt(self, name: str) -> None:
        """Always admit a host that the user named, and do not count it."""
        if name in self._named:
            return
        account = self._open_account(name)
        self._named.add(name)
        if account is not None and self._relevance(name) is not None:
            account.admitted -= 1

    def is_withheld(self, name: str) -> bool:
        account = self._account(name) if self.withheld_hosts else None
        return account is not None and name in account.withheld

    def withhold(self, name: str, arm: str, urls: int) -> list[str]:
        """Withhold URLs until their host is admitted. Return the admitted hosts of the domain that need a record."""
        account = self._accounts[registrable_domain(name)]
        host = account.withheld.get(name)
        if host is None:
            host = account.withheld[name] = WithheldHost()
            self.withheld_hosts += 1
        host.arms[arm] = None
        host.urls += urls
        self.withheld_urls += urls
        unrecorded, account.unrecorded = account.unrecorded, None
        return unrecorded or []

    def must_record(self, name: str) -> bool:
        """Return whether the admitted host needs a record at once."""
        account = self._account(name)
        return account is not None and account.unrecorded is None

    def credit(self, name: str) -> list[tuple[str, WithheldHost]]:
        """Count the first relevant page of a host. Return the hosts that are admitted because of it."""
        account = self._account(name)
        released: list[tuple[str, WithheldHost]] = []
        if account is not None:
            account.relevant += 1
            while account.withheld and account.has_room(self._limit):
                first = next(iter(account.withheld))
                released.append((first, self._release(account, first)))
        return released

    def take(self, name: str) -> WithheldHost | None:
        """Admit a withheld host regardless of the limit. Return its queue, or None if it was not withheld."""
        account = self._account(name)
        return None if account is None or name not in account.withheld else self._release(account, name)

    def refusal(self, name: str) -> str:
        """Return why a link to a host is refused, or "": see `MAX_WITHHELD_HOSTS`."""
        if self.withheld_hosts < MAX_WITHHELD_HOSTS or self._relevance(name) is not None or name in self._named:
            return ""
        account = self._account(name)
        if account is None or len(account.withheld) < MAX_WITHHELD_HOSTS or name in account.withheld:
            return ""
        return TOO_MANY_HOSTS

    def is_named(self, name: str) -> bool:
        """Return whether the user named the host."""
        return name in self._named

    def drop(self, name: str, arm: str, urls: int) -> None:
        """Remove an arm with its URLs from the queue of a withheld host, because it was set aside."""
        account = self._account(name)
        host = None if account is None else account.withheld.get(name)
        if account is None or host is None:
            return
        host.urls -= urls
        self.withheld_urls -= urls
        host.arms.pop(arm, None)
        if not host.arms:
            del account.withheld[name]
            self.withheld_hosts -= 1

    def forget(self, name: str) -> None:
        """Do not count a host that was admitted, never contacted, and has no URLs any more."""
        account = self._account(name)
        if account is not None and name not in self._named:
            account.admitted -= 1
            if account.unrecorded is not None and name in account.unrecorded:
                account.unrecorded.remove(name)

    def count_withheld(self) -> dict[str, int]:
        """Return the numbers of domains, hosts and URLs that wait because of the limit: the fields of `Withheld`."""
        domains = sum(bool(account.withheld) for account in self._accounts.values()) if self.withheld_hosts else 0
        return {"domains": domains, "hosts": self.withheld_hosts, "urls": self.withheld_urls}

    def _release(self, account: DomainAccount, name: str) -> WithheldHost:
        host = account.withheld.pop(name)
        account.admitted += name not in self._named
        self.withheld_hosts -= 1
        self.withheld_urls -= host.urls
        return host

    def _account(self, name: str) -> DomainAccount | None:
        return self._accounts.get(registrable_domain(name))

    def _open_account(self, name: str) -> DomainAccount | None:
        """Return the account of a host's domain; create it if the host needs one."""
        domain = registrable_domain(name)
        account = self._accounts.get(domain)
        main_hosts = (domain, f"www.{domain}")
        if account is None and name not in main_hosts:
            account = self._accounts[domain] = DomainAccount()
            for host in main_hosts:
                relevant = self._relevance(host)
                if relevant is not None:
                    account.relevant += relevant
                    if host not in self._named:
                        self._count(account, host)
        return account

    def _count(self, account: DomainAccount, name: str) -> None:
        account.admitted += 1
        if account.unrecorded is not None:
            account.unrecorded.append(name)


# ── Links ────────────────────────────────────────────────────────────────────────────────────────────


class Admission:
    """Adds new URLs to the frontier, each once, and keeps their queues. `take` removes a URL from its queue."""

    def __init__(
        self,
        *,
        storage: FrontierStorage,
        policy: Policy,
        host_queue: HostQueue,
        scope: Scope,
        keep_own: KeepOwn | None,
        max_untried_hosts: int,
        robots_refusal: Callable[[str], str] = lambda url: "",
    ) -> None:
        self._robots_refusal = robots_refusal
        """Returns why the known rules of its host forbid a URL, or ""."""
        self._storage = storage
        self._policy = policy
        self._rates_again = policy if isinstance(policy, RatesAgain) else None
        self._predicts = policy if isinstance(policy, PredictsRedirects) else None
        self._host_queue = host_queue
        self.scope = scope
        self._keep_own = keep_own
        """Returns the links to the hosts of this shard. None if this process owns all hosts."""
        self.domains = Domains(max_untried_hosts, relevance=host_queue.relevance)
        self.postponed: list[tuple[float, int, Entry, str]] = []
        """Time, order, entry and last failure of the URLs that wait for a retry, as a heap."""
        self._sequence = 0
        self.now = 0.0
        """The latest time that was passed to the frontier, in this run or the previous one."""
        self.refused: Counter[str] = Counter()
        self.on_refused: Callable[[Entry, str], None] = lambda entry, reason: None
        """Called with each known URL that is refused, and the reason."""
        self.known_urls = 0
        self.waiting = 0
        self.revisits_left = 0
        """Number of known pages that wait for a revisit."""

    def load(self, restore_hosts: Callable[[], None]) -> bool:
        """Restore the state of an earlier run from the storage. Return whether there was one."""
        account = self._storage.note(_COUNTERS_KEY)
        if account is not None:
            state: dict[str, Any] = msgspec.msgpack.decode(account)
            self.known_urls, self._sequence = state["known_urls"], state["sequence"]
            self.refused.update(state["refused"])
            self.now = state.get("now", 0.0)
        self._storage.recover()
        self.postponed = [(until, entry.sequence, entry, "") for until, entry in self._storage.postponed()]
        self.revisits_left = sum(entry.is_revisit for _, _, entry, _ in self.postponed)
        heapq.heapify(self.postponed)
        restore_hosts()
        for arm, name, count in self._storage.waiting():
            self._add_waiting(name, arm, count)
            if is_revisit_arm(arm):
                self.revisits_left += count
        return account is not None

    def save(self) -> None:
        """Write the counters to the storage."""
        state = {
            "known_urls": self.known_urls,
            "sequence": self._sequence,
            "refused": dict(self.refused),
            "now": self.now,
            "withheld": self.domains.count_withheld(),
        }
        self._storage.put_note(_FORMAT_KEY, b"")  # only its version matters
        self._storage.put_note(_COUNTERS_KEY, msgspec.msgpack.encode(state))

    def add_links(self, links: Sequence[Link], *, parent: Outcome | None) -> int:
        """Rate and add the links that are not known yet. Return how many were new."""
        if self._keep_own is not None:
            links = self._keep_own(links, parent)
        for link in links:
            if link.source is _SEED:  # known seeds as well, because a restart forgets which hosts are exempt
                self._exempt(host_of(link.url))
        fresh = self._new_links(links, parent)
        if self._rates_again is not None and parent is not None and len(fresh) < len(links):
            added = {link.url for link in fresh}
            self._rates_again.mention([link for link in links if link.url not in added], parent)
        if not fresh:
            return 0
        accepted = []
        sequence = self._sequence
        self._sequence += len(fresh)
        for link, rating in zip(fresh, self._policy.rate(fresh, parent), strict=True):
            sequence += 1
            entry = entry_from(link, rating, parent=parent, sequence=sequence)
            if rating.refused:
                self.refused[rating.refused] += 1
                self._storage.finish(entry, UrlState.REFUSED, rating.refused)
            else:
                accepted.append(entry)
        self.known_urls += len(fresh)
        self._storage.add_new(accepted)
        if parent is not None and parent.source == _SEED.value:
            for entry in accepted:
                if entry.hops:  # the redirect target of a seed
                    self._exempt(host_of(entry.url))
        self._announce(accepted)
        return len(fresh)

    def _new_links(self, links: Sequence[Link], parent: Outcome | None) -> list[Link]:
        """Return the links that are new, in scope and not refused by the limit of their domain."""
        fresh: dict[str, Link] = {}
        scope, domains = self.scope, self.domains
        for link, known in zip(links, self._storage.known_of([link.url for link in links]), strict=True):
            url = link.url
            if known or url in fresh:
                continue
            reason = scope(url) or domains.refusal(host_of(url)) if link.source is not _SEED else ""
            if reason:
                self.refused[reason] += 1
            elif reason := self._robots_refusal(url):
                self._sequence += 1
                self.known_urls += 1
                self.refuse(entry_from(link, Rating(arm="", score=0.0), parent=parent, sequence=self._sequence), reason)
            else:
                fresh[url] = link
        return list(fresh.values())

    # ── queues ───────────────────────────────────────────────────────────────────────────────────────────

    def enqueue(self, entry: Entry) -> None:
        """Put a URL that was taken, or has ended, into the queue of its arm again."""
        self._storage.add(entry)
        self._announce((entry,))

    def _announce(self, entries: Sequence[Entry]) -> None:
        """Count entries that the storage has queued, and announce them to the host queue."""
        for arm, group in groupby(entries, key=_arm):  # links of one host are often adjacent
            first, *others = group
            self._add_waiting(host_of(first.url), arm, 1 + len(others))

    def _add_waiting(self, name: str, arm: str, urls: int) -> None:
        self.waiting += urls
        if self._host_queue.relevance(name) is not None or self._admit(name, arm, urls):
            self._host_queue.add_waiting(name, arm)

    def take(self, arm: str) -> tuple[Host, Entry]:
        """Pop the arm's best URL. Return its host and its entry."""
        entry = self._storage.pop(arm)
        if entry is None:
            raise ValueError(f"internal error: the policy picked the arm {arm!r}, which is empty")
        self.waiting -= 1
        return self._host_queue.remove_waiting(host_of(entry.url), arm), entry

    def refuse_forbidden(self, host: Host) -> None:
        """Refuse the waiting URLs of a snoozed host that its rules forbid. Very long queues are left as they are."""
        if sum(map(self._storage.count, host.arms)) > _MAX_CHECKED_URLS:
            return  # their forbidden URLs are refused when they are picked
        for arm in list(host.arms):
            allowed = []
            while (entry := self._storage.pop(arm)) is not None:
                if reason := self._robots_refusal(entry.url):
                    self.refuse(entry, reason)
                    self.waiting -= 1
                else:
                    allowed.append(entry)
            for entry in allowed:
                self._storage.add(entry)
            if not allowed:
                del host.arms[arm]

    def rate_picked(self, entry: Entry) -> tuple[Entry, bool]:
        """Rate a picked URL again. Return its entry with the new rating, and whether the URL must not be fetched now.

        It is not fetched if the new rating is worse (it waits again) or refuses it, or if the policy predicts its
        redirect (the target of the redirect is added instead).
        """
        if self._predicts is not None and not entry.hops and not entry.is_revisit:
            target = self._predicts.predict_redirect(entry.url, entry.arm)
            if target:
                self.refuse(entry, KNOWN_REDIRECT)
                self.add_links([target_link(entry, target)], parent=assumed_redirect(entry))
                return entry, True
        if self._rates_again is None or entry.is_revisit:
            return entry, False
        before = Rating(arm=entry.arm, score=entry.score, policy_state=entry.policy_state)
        rating = self._rates_again.rate_picked(entry.url, before)
        if rating is None:
            return entry, False
        if rating.refused:
            self.refuse(entry, rating.refused)
            return entry, True
        rated = msgspec.structs.replace(entry, arm=rating.arm, score=rating.score, policy_state=rating.policy_state)
        is_worse = rating.arm != entry.arm or rating.score < entry.score
        if is_worse:
            self.enqueue(rated)
        return rated, is_worse

    def finish_failed(self, entry: Entry, kind: FailureKind) -> None:
        """Finish a URL after its last attempt. If it was assumed to be the target of a redirect, fetch the original."""
        self.revisits_left -= entry.is_revisit
        is_redirect = kind is FailureKind.REDIRECT
        self._storage.finish(entry, UrlState.DONE if is_redirect else UrlState.FAILED, kind.value)
        if not is_redirect and (original := find_original(self._storage, entry)) is not None:
            self.enqueue(original)

    def refuse(self, entry: Entry, reason: str) -> None:
        self.revisits_left -= entry.is_revisit
        self.refused[reason] += 1
        self._storage.finish(entry, UrlState.REFUSED, reason)
        self.on_refused(entry, reason)

    @property
    def is_empty(self) -> bool:
        """True if no URL waits, except those that the limit on untried hosts withholds."""
        return self.waiting == self.domains.withheld_urls and not self.postponed

    # ── the limit on untried hosts of a domain ───────────────────────────────────────────────────────────

    def _admit(self, name: str, arm: str, urls: int) -> bool:
        """Admit a host with new URLs, or withhold it together with them. Return whether it is admitted."""
        if is_revisit_arm(arm):  # a page that was fetched before
            self._mark_admitted(name, self.domains.take(name))
            return True
        if self.domains.is_withheld(name) or not self.domains.admits(name):
            for other in self.domains.withhold(name, arm, urls):
                self._mark_admitted(other)
            return False
        if name in self._host_queue.hosts or self.domains.must_record(name):
            self._mark_admitted(name)
        return True

    def _mark_admitted(self, name: str, withheld: WithheldHost | None = None) -> None:
        """Store in its record that a host is admitted, and queue the arms that were withheld."""
        host = self._host_queue.host(name)
        host.record.admitted = True
        self._host_queue.changed.add(name)
        for arm in withheld.arms if withheld is not None else ():
            self._host_queue.add_arm(host, arm)

    def _exempt(self, name: str) -> None:
        """Exempt a host that the user named from the limit on untried hosts."""
        self.domains.exempt(name)
        withheld = self.domains.take(name)
        if withheld is not None:
            self._mark_admitted(name, withheld)

    def credit(self, host: Host) -> None:
        """Count the first relevant page of a host, and admit the hosts of its domain that the raised limit allows."""
        if not host.credited:
            host.credited = True
            for name, withheld in self.domains.credit(host.record.name):
                self._mark_admitted(name, withheld)

    # ── postponed entries ────────────────────────────────────────────────────────────────────────────────

    def enqueue_later(self, entry: Entry, when: float, failure: str = "") -> None:
        """Queue an entry again at a later time, after a failure of this kind."""
        heapq.heappush(self.postponed, (when, entry.sequence, entry, failure))

    def enqueue_due(self, now: float) -> None:
        """Put the postponed entries whose time has come into the queues of their arms."""
        while self.postponed and self.postponed[0][0] <= now:
            self.enqueue(heapq.heappop(self.postponed)[2])

    def correct_times(self, correct: Correct) -> int:
        """Correct the times of postponed entries. Return how many changed."""
        late = [(correct(when), entry) for when, _, entry, _ in self.postponed if correct(when) != when]
        for when, entry in late:
            self._storage.postpone(entry, when)
        self.postponed = [(correct(when), *rest) for when, *rest in self.postponed]  # type: ignore[misc]
        heapq.heapify(self.postponed)
        return len(late)

    def next_time(self) -> float | None:
        """Return the time of the next retry; None if nothing is postponed."""
        return self.postponed[0][0] if self.postponed else None
