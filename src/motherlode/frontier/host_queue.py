"""The host queue: tracks when hosts and IP addresses are ready, and reports to the policy which arms it may pick.

Hosts with the same IP address share its delay. If several shards use the same IP addresses, only the shard that has the
*grant* of an IP address sends requests to it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from heapq import nlargest

import msgspec

from motherlode.frontier.records import AddressGrant, Host, HostDelay, HostRecord, Politeness, ReadyTimes, SnoozedHosts
from motherlode.frontier.storage import FrontierStorage
from motherlode.model import Policy

MAX_READY_HOSTS = 16
"""Maximum number of ready hosts per IP address."""
MAX_GRANT_HOSTS = 256
"""Maximum number of hosts whose delays are passed on with a grant."""
_MAX_AWAITED_SECONDS = 10.0
"""Longest snooze of a host for which a policy may wait. It is shorter if the configured delay is below one second."""
_MIN_CRAWL_WAIT_SECONDS = 1.0
"""Shortest limit on the time for which the whole crawl may wait for one host."""
_MAX_UNRESOLVED_HOSTS = 512
_BUSY_SECONDS = 0.05
"""Seconds after which a subrequest to a host without a free slot is tried again."""


class IpQueue(msgspec.Struct, gc=False):
    """An IP address of at least one host, with the hosts that wait for its delay."""

    name: str
    ready_at: float = 0.0
    in_flight: int = 0
    queue: deque[str] = msgspec.field(default_factory=deque)
    """Hosts whose own delay has passed."""
    ready_hosts: dict[str, None] = {}
    """Ready hosts, oldest first."""
    waiting_hosts: tuple[str, ...] = ()
    """Hosts whose held page waits until a request to this IP address ends."""
    granted: bool = True
    """True if this process may send requests to the IP address. False if another shard has, or may have, that right."""
    recent_hosts: dict[str, None] = {}
    """Hosts that this process contacted last under the grant. Their delays are passed on with the grant."""


class HostQueue:
    """Makes hosts ready when their own delay and that of their IP address have passed, and snoozes them otherwise."""

    def __init__(
        self, *, policy: Policy, storage: FrontierStorage, politeness: Politeness, host_delay: HostDelay
    ) -> None:
        self._policy, self._politeness = policy, politeness
        self._best, self._count = storage.best, storage.count
        self._host_delay = host_delay
        self.hosts: dict[str, Host] = {}
        """Hosts that this run or an earlier one contacted. Unseen hosts with waiting URLs are in `unseen_hosts`."""
        self.find_stored: Callable[[str], HostRecord | None] = lambda name: None
        """Returns the stored record of a host that is no longer in `hosts` (`shedder`); None if there is none."""
        self.stored_hosts = 0  # number of hosts with a stored record that are not in memory
        self.unseen_hosts = SnoozedHosts()
        self.changed: set[str] = set()
        """Hosts whose records must be stored with the next commit."""
        self.ready_times = ReadyTimes()
        self.held_times = ReadyTimes()
        """Times at which hosts may send the request for their held page, or the request for redirected rules."""
        self.address_times = ReadyTimes()
        self.by_address = politeness.by_address
        self.addresses: dict[str, IpQueue] = {}
        delay = politeness.address_delay
        self._address_delay = politeness.delay / 2 if delay is None else delay
        self._max_per_address = 1 if self._address_delay > 0 else politeness.per_address
        self._uses_grants = politeness.uses_grants and self._address_delay > 0
        """True if other shards use the same IP addresses. Only the shard with the grant may use an IP address."""
        self.unresolved: dict[str, None] = {}
        """Hosts that became ready without an IP address, for `take_unresolved`; the newest of them."""
        self._needed_grants: dict[str, None] = {}
        """IP addresses for which hosts wait and for which this shard has no grant."""
        self._recalled: dict[str, None] = {}
        """IP addresses whose grants must be given back when their requests in flight have ended."""
        self._max_awaited_seconds = min(_MAX_AWAITED_SECONDS, _MAX_AWAITED_SECONDS * politeness.delay)
        """Longest snooze in seconds for which a policy may wait; 0 if the configured delay is 0."""
        self.max_crawl_wait = max(_MIN_CRAWL_WAIT_SECONDS, self._max_awaited_seconds)
        """Seconds for which the whole crawl may wait for one host."""
        self._not_before = self._addresses_not_before = 0.0
        """No request to a host, or IP address, starts earlier, because a killed run may have sent one just before."""

    def host(self, name: str) -> Host:
        """Return the state of a host; create it if necessary."""
        host = self.hosts.get(name)
        if host is None:
            host = self._create_host(name)
            self.schedule(host)
        return host

    def _create_host(self, name: str) -> Host:
        arm, stored = self.unseen_hosts.take(name), self.find_stored(name)
        self.stored_hosts -= arm is None and stored is not None
        host = self.restore(stored or HostRecord(name=name, admitted=False))
        restarted_at = self._not_before - self._politeness.delay
        host.record.ready_at = max(host.record.ready_at, restarted_at + self.delay(host))
        if arm is not None:
            host.arms[arm] = None
            host.record.admitted = True
        return host

    def restore(self, record: HostRecord) -> Host:
        """Restore the record of a host from the storage."""
        record.address = ""  # it is looked up again, because it may change
        host = self.hosts[record.name] = Host(record, credited=record.relevant > 0)
        return host

    @property
    def host_count(self) -> int:
        """Number of hosts, without those that the limit on untried hosts per domain withholds."""
        return len(self.hosts) + len(self.unseen_hosts) + self.stored_hosts

    def relevance(self, name: str) -> bool | None:
        """Return whether an admitted host has a relevant page; None for a host that is not admitted."""
        host = self.hosts.get(name)
        if host is None:
            stored = self.find_stored(name)
            is_admitted = name in self.unseen_hosts or (stored is not None and stored.admitted)
            return (stored is not None and stored.relevant > 0) if is_admitted else None
        return host.credited if host.record.admitted else None

    # ── waiting URLs ─────────────────────────────────────────────────────────────────────────────────────

    def add_waiting(self, name: str, arm: str) -> None:
        """Note that URLs were added to an arm of an admitted host."""
        host = self.hosts.get(name)
        if host is None:
            is_new = name not in self.unseen_hosts
            if self.unseen_hosts.put(name, arm):
                self.stored_hosts -= is_new and self.find_stored(name) is not None
                return
            host = self.host(name)
        self.add_arm(host, arm)

    def add_arm(self, host: Host, arm: str) -> None:
        if arm not in host.arms:
            host.arms[arm] = None
            if len(host.arms) == 1:
                self.schedule(host)
        if host.is_ready:
            self._announce_arm(arm)

    def remove_waiting(self, name: str, arm: str) -> Host:
        """Note that a URL was popped from a ready arm. Return its host."""
        host = self.hosts[name]
        if self._count(arm):
            self._announce_arm(arm)
            return host
        del host.arms[arm]
        self._policy.arm_snoozed(arm)
        if not host.arms and self.by_address:
            self.snooze(host)  # another host at its IP address may become ready instead
        return host

    def _announce_arm(self, arm: str) -> None:
        best = self._best(arm)
        if best is not None:
            self._policy.arm_ready(arm, best, self._count(arm))

    # ── times after a restart ────────────────────────────────────────────────────────────────────────────

    def snooze_all(self, now: float, *, pause: float = 0.0) -> None:
        """Snooze every host for its delay after a restart, because the last requests of the previous run are unknown.

        `pause` is the time in seconds between the runs. It does not count as time of an unreadable robots.txt.
        """
        self._not_before = now + self._politeness.delay
        self._addresses_not_before = now + self._address_delay
        for address in self.addresses.values():
            address.ready_at = max(address.ready_at, self._addresses_not_before)
        snoozed = []
        for name, host in self.hosts.items():
            record = host.record
            if record.unread_since is not None:
                record.unread_since += pause
            record.ready_at = max(record.ready_at, now + self.delay(host))
            if host.arms and not host.is_ready:
                snoozed.append((record.ready_at, name))
        self.ready_times = ReadyTimes(snoozed)

    def turn_back(self, seconds: float) -> None:
        """Move all times back, because the machine's clock was set back. Waiting times keep their length."""

        def earlier(time: float) -> float:
            return time - seconds

        self._not_before -= seconds
        self._addresses_not_before -= seconds
        for host in self.hosts.values():
            host.record.correct_times(earlier, earlier)
        for address in self.addresses.values():
            address.ready_at -= seconds
        for times in (self.ready_times, self.held_times, self.address_times):
            times.turn_back(seconds)
        self.changed.update(self.hosts)

    def cut_times(self, now: float, longest: float) -> int:
        """Reduce restored times that are more than `longest` seconds ahead. Return the number of affected hosts."""
        late = set()
        for name, host in self.hosts.items():
            latest = now + max(longest, self.delay(host))
            if host.record.correct_times(partial(min, latest), partial(min, now)):
                late.add(name)
        self.changed |= late
        return len(late)

    # ── ready and snoozed hosts ──────────────────────────────────────────────────────────────────────────

    def make_due_ready(self, now: float) -> bool:
        """Make hosts ready whose time has come, at most `max_ready_at_once`. Return whether there were any."""
        limit = self._politeness.max_ready_at_once
        due = self.unseen_hosts.first(limit) if now >= self._not_before else []  # they have no delay of their own
        for name in due:
            self._create_host(name)
        due += self.ready_times.due(now, most=None if limit is None else limit - len(due))
        for name in due:
            self._serve_host(self.hosts[name], now)
        addresses = self.address_times.due(now)
        for name in addresses:
            self._serve_ip_queue(self._address(name), now)
        return bool(due or addresses)

    def _serve_host(self, host: Host, now: float) -> None:
        """Make a snoozed host ready if its own delay has passed, or put it into the queue of its IP address."""
        if host.record.ready_at > now:
            self.ready_times.push(host.record.ready_at, host.record.name)
            return
        if host.is_ready or not self.is_free(host):
            return
        address = self._address_of(host)
        if address is None:
            self._make_ready(host)
        elif self._is_full(address) or address.ready_at > now or len(address.ready_hosts) >= MAX_READY_HOSTS:
            self._enqueue_at_address(host, address)
            if address.ready_at > now and not self._is_full(address):
                self.address_times.push(address.ready_at, address.name)
        elif host.arms:
            self._make_ready(host)
            address.ready_hosts[host.record.name] = None

    def _serve_ip_queue(self, address: IpQueue, now: float) -> None:
        """Make the first hosts in the queue of an IP address ready, if its delay has passed."""
        if self._is_full(address):
            return
        if address.ready_at > now:
            self.address_times.push(address.ready_at, address.name)
            return
        while address.queue and len(address.ready_hosts) < MAX_READY_HOSTS:
            host = self.hosts[address.queue.popleft()]
            host.in_ip_queue = False
            self._serve_host(host, now)

    def _make_ready(self, host: Host) -> None:
        host.is_ready = True
        if self.by_address and not host.record.address:
            self.unresolved[host.record.name] = None
            if len(self.unresolved) > _MAX_UNRESOLVED_HOSTS:
                del self.unresolved[next(iter(self.unresolved))]
        for arm in host.arms:
            self._announce_arm(arm)

    def is_free(self, host: Host) -> bool:
        """Return whether another page request to the host may be leased, apart from delays."""
        return host.in_flight < self._limit(host) and not host.asking and host.held is None

    def _limit(self, host: Host) -> int:
        """Return the maximum number of requests in flight to the host."""
        return 1 if self._host_delay.delay(host.record) > 0 else self._politeness.per_host

    def delay(self, host: Host) -> float:
        """Return the seconds between two requests to the host."""
        return self._host_delay.delay(host.record)

    def snooze(self, host: Host) -> None:
        """Snooze a host: the policy may not pick its arms any more."""
        if not host.is_ready:
            return
        host.is_ready = False
        for arm in host.arms:
            self._policy.arm_snoozed(arm)
        address = self._address_of(host)
        if address is not None:
            address.ready_hosts.pop(host.record.name, None)
            if address.queue and not self._is_full(address):
                self.address_times.push(address.ready_at, address.name)

    def schedule(self, host: Host) -> None:
        """Schedule the time at which a snoozed host with waiting URLs becomes ready."""
        if host.arms and not host.is_ready:
            self.ready_times.push(host.record.ready_at, host.record.name)

    def hold_back(self, host: Host) -> None:
        """Schedule the time at which the host may send the next request for its held page."""
        self.held_times.push(host.record.ready_at, host.record.name)

    def is_ready_soon(self, name: str, now: float) -> bool:
        """Return whether a snoozed host will be ready soon, because its request ends or its delay passes."""
        host, longest = self.hosts.get(name), self._max_awaited_seconds
        if host is None or not host.arms or host.in_ip_queue or self.delay(host) > longest:
            return False
        return host.in_flight > 0 or host.asking or now < host.record.ready_at <= now + longest

    def next_time(self) -> float | None:
        """Return the next time at which a host, held page or IP address becomes ready; None if nothing is scheduled."""
        unseen = self._not_before if len(self.unseen_hosts) else None
        times = (unseen, self.ready_times.next_time(), self.held_times.next_time(), self.address_times.next_time())
        return min((time for time in times if time is not None), default=None)

    # ── requests begin and end ───────────────────────────────────────────────────────────────────────

    def may_send(self, server: Host, for_host: str, now: float) -> bool:
        """Return whether a request to `server` may start now. If not, the page that `for_host` holds is postponed."""
        if server.record.ready_at > now:
            self.held_times.push(server.record.ready_at, for_host)
            return False
        if server.in_flight >= self._limit(server):
            server.waiting_hosts += (for_host,)
            return False
        address = self._address_of(server)
        if address is None:
            return True
        if self._is_full(address):
            address.waiting_hosts += (for_host,)
            return False
        if address.ready_at > now:
            self.held_times.push(address.ready_at, for_host)
            return False
        return True

    def subrequest_time(self, host: Host, now: float, *, beside_held: bool = False) -> float:
        """Return the earliest time at which a subrequest to the host may start.

        With `beside_held` it does not wait for the page that the host holds, because that may take long.
        """
        if host.record.ready_at > now:
            return host.record.ready_at
        address = self._address_of(host)
        if address is not None and address.ready_at > now:
            return address.ready_at
        free = self.is_free(host) or (beside_held and not host.asking and host.in_flight < self._limit(host))
        busy = not free or (address is not None and self._is_full(address))
        return now + _BUSY_SECONDS if busy else now

    def start_request(self, host: Host, *, connects: bool = True) -> str:
        """Note that a request for the host starts. Return the IP address whose delay it uses, or "".

        `connects` is False if the request goes to another host.
        """
        host.in_flight += 1
        if not self.is_free(host):
            self.snooze(host)
        address = self._address_of(host) if connects else None
        if address is None:
            return ""
        address.in_flight += 1
        if self._uses_grants:
            address.recent_hosts.pop(host.record.name, None)
            address.recent_hosts[host.record.name] = None
            if len(address.recent_hosts) > MAX_GRANT_HOSTS:
                del address.recent_hosts[next(iter(address.recent_hosts))]
        if self._is_full(address):
            self._snooze_hosts_at(address)
        return address.name

    def end_request(self, host: Host, now: float, *, was_sent: bool = True) -> None:
        """Note that a request for the host has ended, which starts its delay if the request was sent."""
        host.in_flight -= 1
        record = host.record
        if was_sent:
            record.ready_at = max(record.ready_at, now + self._host_delay.delay(record))
        self.changed.add(record.name)
        self.schedule(host)
        if host.waiting_hosts:
            self._schedule_waiting(host.waiting_hosts, record.ready_at)
            host.waiting_hosts = ()

    def end_request_to(self, name: str, now: float) -> None:
        """Note that a request to an IP address has ended, which starts its delay."""
        address = self._address(name)
        address.in_flight -= 1
        self.delay_address(name, now)
        self._schedule_waiting(address.waiting_hosts, address.ready_at)
        address.waiting_hosts = ()
        if address.queue:
            self.address_times.push(address.ready_at, name)

    def _schedule_waiting(self, hosts: tuple[str, ...], ready_at: float) -> None:
        for name in hosts:
            self.held_times.push(ready_at, name)

    # ── IP addresses and their grants ────────────────────────────────────────────────────────────────────

    def _address(self, name: str) -> IpQueue:
        address = self.addresses.get(name)
        if address is None:
            address = IpQueue(name, ready_at=self._addresses_not_before, granted=not self._uses_grants)
            self.addresses[name] = address
        return address

    def _address_of(self, host: Host) -> IpQueue | None:
        """Return the IP address of a host; None if it is unknown, or if IP addresses have no delay."""
        if not self.by_address or not host.record.address:
            return None
        return self._address(host.record.address)

    def _is_full(self, address: IpQueue) -> bool:
        """Return whether no further request may start now. If the grant is missing, note that it is needed."""
        if not address.granted:
            self._needed_grants[address.name] = None
            return True
        return address.in_flight >= self._max_per_address

    def _enqueue_at_address(self, host: Host, address: IpQueue) -> None:
        if not host.in_ip_queue:
            host.in_ip_queue = True
            address.queue.append(host.record.name)

    def _snooze_hosts_at(self, address: IpQueue) -> None:
        for name in list(address.ready_hosts):
            self.snooze(self.hosts[name])
            self._enqueue_at_address(self.hosts[name], address)

    def delay_address(self, name: str, now: float) -> None:
        """Start the delay of an IP address again after a response."""
        address = self._address(name)
        address.ready_at = max(address.ready_at, now + self._address_delay)

    def set_address(self, host: Host, address: str) -> None:
        """Change the IP address of a host; "" if it must be looked up again."""
        if host.record.address != address:
            self.snooze(host)
            host.record.address = address
            self.schedule(host)

    def take_unresolved(self, most: int) -> list[str]:
        """Return ready hosts whose IP address is unknown, those with the best-rated URLs first. Each comes once."""
        waiting = [host for name in self.unresolved if (host := self.hosts[name]).is_ready and not host.record.address]
        chosen = [host.record.name for host in nlargest(most, waiting, key=self._best_score)]
        taken = set(chosen)
        self.unresolved = {host.record.name: None for host in waiting if host.record.name not in taken}
        return chosen

    def _best_score(self, host: Host) -> float:
        scores = (self._best(arm) for arm in host.arms)
        return max((score for score in scores if score is not None), default=0.0)

    @property
    def has_unresolved(self) -> bool:
        return bool(self.unresolved)

    def take_needed_grants(self) -> list[str]:
        """Return the IP addresses for which a grant is needed. Each is returned once until it is needed again."""
        needed, self._needed_grants = self._needed_grants, {}
        return [name for name in needed if name not in self._recalled and not self._address(name).granted]

    def add_grants(self, grants: Sequence[AddressGrant], now: float) -> None:
        """Accept grants of IP addresses, with the delays that the previous holders left."""
        for grant in grants:
            address = self._address(grant.address)
            address.granted = True
            address.recent_hosts = {}
            address.ready_at = max(address.ready_at, now + grant.wait)
            for host, wait in grant.hosts.items():
                record = self.host(host).record
                record.ready_at = max(record.ready_at, now + wait)
            self._schedule_waiting(address.waiting_hosts, address.ready_at)
            address.waiting_hosts = ()
            self.address_times.push(address.ready_at, address.name)

    def recall_grants(self, addresses: Sequence[str]) -> None:
        """Start no new requests to IP addresses that other shards need."""
        for name in addresses:
            address = self._address(name)
            address.granted = False
            self._recalled[name] = None
            self._snooze_hosts_at(address)

    def take_returned_grants(self, now: float) -> list[AddressGrant]:
        """Return the recalled grants whose last request has ended, with the remaining delays, and forget them."""
        returned = []
        for address in [self._address(name) for name in self._recalled]:
            if address.in_flight:
                continue
            del self._recalled[address.name]
            if address.queue or address.waiting_hosts:
                self._needed_grants[address.name] = None
            delays = {host: self.hosts[host].record.ready_at - now for host in address.recent_hosts}
            hosts = {host: delay for host, delay in delays.items() if delay > 0}
            returned.append(AddressGrant(address.name, max(0.0, address.ready_at - now), hosts))
        return returned
