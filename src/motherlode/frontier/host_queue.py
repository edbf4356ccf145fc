"""The host queue: tracks when hosts and IP addresses are ready, and tells the policy which arms it may pick."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from motherlode.frontier.domain_limit import Domains, WithheldHost
from motherlode.frontier.hosts import MAX_READY_HOSTS, Host, HostDelay, IpQueue, IpQueues, ReadyTimes, SnoozedHosts
from motherlode.frontier.lease import REVISIT, HostRecord, Politeness
from motherlode.model import Policy

BestScore = Callable[[str], float | None]
"""Returns the score of the best URL of an arm."""
CountWaiting = Callable[[str], int]
"""Returns the number of URLs that wait in an arm."""

_MAX_AWAITED_SECONDS = 10.0
"""Longest snooze of a host for which a policy may wait. It is shorter if the configured delay is below one second."""
_MIN_PATIENCE_SECONDS = 1.0
"""Shortest limit on the time for which the whole crawl may wait for one host."""


class HostQueue:
    """Makes hosts ready when their own delay and that of their IP address have passed, and snoozes them otherwise."""

    def __init__(
        self,
        *,
        policy: Policy,
        best: BestScore,
        count: CountWaiting,
        politeness: Politeness,
        pace: HostDelay,
        max_untried_hosts: int,
    ) -> None:
        self._policy = policy
        self._best = best
        self._count = count
        self._politeness = politeness
        self._host_delay = pace
        self.hosts: dict[str, Host] = {}
        """Hosts that this run or an earlier one contacted. Unseen hosts with waiting URLs are in `_unseen_hosts`."""
        self._unseen_hosts = SnoozedHosts()
        self.domains = Domains(max_untried_hosts, relevance=self._relevance)
        self.changed: set[str] = set()
        """Hosts whose records must be stored although no request was made."""
        self.ready_times = ReadyTimes()
        self.cleared = ReadyTimes()
        """Times at which hosts may send the request for their held page, or the request for redirected rules."""
        self.by_address = politeness.by_address
        delay = politeness.address_delay
        self._addresses = IpQueues(
            delay=politeness.delay / 2 if delay is None else delay,
            max_in_flight=politeness.per_address,
            uses_grants=politeness.uses_grants,
        )
        self._address_times = ReadyTimes()
        self._max_awaited_seconds = min(_MAX_AWAITED_SECONDS, _MAX_AWAITED_SECONDS * politeness.delay)
        """Longest snooze in seconds for which a policy may wait; 0 if the configured delay is 0."""
        self.patience = max(_MIN_PATIENCE_SECONDS, self._max_awaited_seconds)
        """Seconds for which the whole crawl may wait for one host."""
        self._not_before = 0.0
        """No request to any host starts earlier, because a killed run may have sent one just before."""

    def host(self, name: str) -> Host:
        """Return the state of a host; create it if necessary."""
        host = self.hosts.get(name)
        if host is None:
            host = self._create_host(name)
            self.settle(host)
        return host

    def _create_host(self, name: str) -> Host:
        """Create the state of an unseen host."""
        arm = self._unseen_hosts.take(name)
        record = HostRecord(name=name, ready_at=self._not_before, admitted=arm is not None)
        host = self.hosts[name] = Host(record)
        if arm is not None:
            host.arms[arm] = None
        return host

    def remember(self, record: HostRecord) -> None:
        """Restore the record of a host from an earlier run."""
        record.address = ""  # every run looks the IP address up again, because it may change
        relevant = record.relevant > 0
        self.hosts[record.name] = Host(record, credited=relevant)
        if record.admitted:
            self.domains.remember(record.name, relevant=relevant)

    @property
    def host_count(self) -> int:
        return len(self.hosts) + len(self._unseen_hosts) + self.domains.withheld_hosts

    def address_of(self, host: Host) -> IpQueue | None:
        """Return the IP address of a host; None if it is unknown, or if IP addresses have no delay."""
        if not self.by_address or not host.record.address:
            return None
        return self._addresses.get(host.record.address)

    # ── waiting URLs ─────────────────────────────────────────────────────────────────────────────────────

    def add_waiting(self, name: str, arm: str, urls: int) -> None:
        """Note that `urls` more URLs wait in an arm of a host."""
        if self._relevance(name) is None and not self._admit(name, arm, urls):
            return
        host = self.hosts.get(name)
        if host is None:
            if self._unseen_hosts.put(name, arm):
                return
            host = self.host(name)
        self._add_arm(host, arm)

    def _add_arm(self, host: Host, arm: str) -> None:
        if arm not in host.arms:
            host.arms[arm] = None
            if len(host.arms) == 1:
                self.settle(host)
        if host.is_ready:
            self._announce_arm(arm)

    # ── the limit on untried hosts of a domain ───────────────────────────────────────────────────────

    def _relevance(self, name: str) -> bool | None:
        """Return whether an admitted host has a relevant page; None for a host that is not admitted."""
        host = self.hosts.get(name)
        if host is None:
            return False if name in self._unseen_hosts else None
        return host.credited if host.record.admitted else None

    def _admit(self, name: str, arm: str, urls: int) -> bool:
        """Admit a host with new URLs, or withhold it together with them. Return whether it is admitted."""
        if arm.startswith(REVISIT):  # a page that was fetched before
            self._mark_admitted(name, self.domains.take(name))
            return True
        if self.domains.is_withheld(name) or not self.domains.admits(name):
            for other in self.domains.withhold(name, arm, urls):
                self._mark_admitted(other)
            return False
        if name in self.hosts or self.domains.must_record(name):
            self._mark_admitted(name)
        return True

    def _mark_admitted(self, name: str, withheld: WithheldHost | None = None) -> None:
        """Store in its record that a host is admitted, and queue the arms that were withheld."""
        host = self.hosts.get(name)
        if host is None:
            host = self._create_host(name)
            self.settle(host)
        host.record.admitted = True
        self.changed.add(name)
        for arm in withheld.arms if withheld is not None else ():
            self._add_arm(host, arm)

    def exempt(self, name: str) -> None:
        """Exempt a host that the user named from the limit on untried hosts."""
        self.domains.exempt(name)
        withheld = self.domains.take(name)
        if withheld is not None:
            self._mark_admitted(name, withheld)

    def credit(self, host: Host) -> None:
        """Count the first relevant page of a host, and admit the hosts of its domain that the raised limit allows."""
        if host.credited:
            return
        host.credited = True
        for name, withheld in self.domains.credit(host.record.name):
            self._mark_admitted(name, withheld)

    def remove_waiting(self, name: str, arm: str) -> Host:
        """Note that a URL was popped from a ready arm. Return its host."""
        host = self.hosts[name]
        if self._count(arm):
            self._announce_arm(arm)
            return host
        del host.arms[arm]
        self._policy.arm_snoozed(arm)
        if not host.arms and self.by_address:
            self.rest(host)  # another host at its IP address may become ready instead
        return host

    # ── ready and snoozed hosts ──────────────────────────────────────────────────────────────────────────

    def rest_once(self, now: float, *, asleep: float = 0.0) -> None:
        """Snooze every host for its delay after a restart, because the last requests of the previous run are unknown.

        `asleep` is the time in seconds between the two runs, which does not count as time of an unreadable robots.txt.
        """
        self._not_before = now + self._politeness.delay
        self._addresses.delay_all(now + self._addresses.delay)
        delay, resting = self._host_delay.delay, []
        for name, host in self.hosts.items():
            record = host.record
            if record.unread_since is not None:
                record.unread_since += asleep
            ready_at = now + delay(record)
            if record.ready_at < ready_at:
                record.ready_at = ready_at
            if host.arms and not host.is_ready:
                resting.append((record.ready_at, name))
        self.ready_times = ReadyTimes(resting)

    def turn_back(self, seconds: float) -> None:
        """Move all times back, because the machine's clock was set back. Waiting times keep their length."""
        self._not_before -= seconds
        for host in self.hosts.values():
            host.record.turn_back(seconds)
        self._addresses.turn_back(seconds)
        for times in (self.ready_times, self.cleared, self._address_times):
            times.turn_back(seconds)

    def cut_times(self, now: float, longest: float) -> list[str]:
        """Reduce restored times that are more than `longest` seconds ahead. Return the names of the affected hosts."""
        delay = self._host_delay.delay
        return [
            name
            for name, host in self.hosts.items()
            if host.record.cut_times(now, now + max(longest, delay(host.record)))
        ]

    def ripen(self, now: float) -> bool:
        """Make hosts ready whose time has come, at most `max_ready_at_once`. Return whether there were any."""
        limit = self._politeness.max_ready_at_once
        due = self._unseen_hosts.first(limit) if now >= self._not_before else []  # they have no delay of their own
        for name in due:
            self._create_host(name)
        due += self.ready_times.due(now, most=None if limit is None else limit - len(due))
        for name in due:
            host = self.hosts[name]
            if host.record.ready_at > now:
                self.ready_times.push(host.record.ready_at, name)
            elif self.is_free(host) and not host.is_ready:
                self._make_ready_or_enqueue(host, now)
        addresses = self._address_times.due(now)
        for name in addresses:
            self._serve_ip_queue(self._addresses.get(name), now)
        return bool(due or addresses)

    def is_free(self, host: Host) -> bool:
        """Return whether another page request to the host may be leased, apart from delays."""
        return host.in_flight < self.limit(host) and not host.asking and host.held is None

    def limit(self, host: Host) -> int:
        """Return the maximum number of requests in flight to the host."""
        return 1 if self.delay(host) > 0 else self._politeness.per_host

    def delay(self, host: Host) -> float:
        """Return the seconds between two requests to the host."""
        return self._host_delay.delay(host.record)

    def _make_ready_or_enqueue(self, host: Host, now: float) -> None:
        """Make a host ready whose own delay has passed, or put it into the queue of its IP address."""
        address = self.address_of(host)
        if address is None:
            self._make_ready(host)
        elif self._addresses.is_full(address) or address.ready_at > now or len(address.ready_hosts) >= MAX_READY_HOSTS:
            if not host.in_ip_queue:
                self._enqueue_at_address(host, address)
            if address.ready_at > now and not self._addresses.is_full(address):
                self._address_times.push(address.ready_at, address.name)
        elif host.arms:
            self._make_ready(host)
            address.ready_hosts[host.record.name] = None

    def _serve_ip_queue(self, address: IpQueue, now: float) -> None:
        """Make the first hosts in the queue of an IP address ready, if its delay has passed."""
        if self._addresses.is_full(address):
            return
        if address.ready_at > now:
            self._address_times.push(address.ready_at, address.name)
            return
        while address.queue and len(address.ready_hosts) < MAX_READY_HOSTS:
            host = self.hosts[address.queue.popleft()]
            host.in_ip_queue = False
            if host.record.ready_at > now:
                self.ready_times.push(host.record.ready_at, host.record.name)
            elif self.is_free(host) and not host.is_ready:
                self._make_ready_or_enqueue(host, now)

    def _enqueue_at_address(self, host: Host, address: IpQueue) -> None:
        host.in_ip_queue = True
        address.queue.append(host.record.name)

    def _make_ready(self, host: Host) -> None:
        host.is_ready = True
        for arm in host.arms:
            self._announce_arm(arm)

    def _announce_arm(self, arm: str) -> None:
        best = self._best(arm)
        if best is not None:
            self._policy.arm_ready(arm, best, self._count(arm))

    def rest(self, host: Host) -> None:
        """Snooze a host: the policy may not pick its arms any more."""
        if not host.is_ready:
            return
        host.is_ready = False
        for arm in host.arms:
            self._policy.arm_snoozed(arm)
        address = self.address_of(host)
        if address is not None:
            address.ready_hosts.pop(host.record.name, None)
            if address.queue and not self._addresses.is_full(address):
                self._address_times.push(address.ready_at, address.name)

    def is_soon(self, name: str, now: float) -> bool:
        """Return whether a snoozed host will be ready soon, because its request ends or its delay passes."""
        host = self.hosts.get(name)
        if (
            host is None
            or not host.arms
            or host.in_ip_queue
            or self._host_delay.delay(host.record) > self._max_awaited_seconds
        ):
            return False
        return host.in_flight > 0 or host.asking or now < host.record.ready_at <= now + self._max_awaited_seconds

    def settle(self, host: Host) -> None:
        """Schedule the time at which a snoozed host with waiting URLs becomes ready."""
        if host.arms and not host.is_ready:
            self.ready_times.push(host.record.ready_at, host.record.name)

    # ── requests begin and end ───────────────────────────────────────────────────────────────────────

    def may_go(self, asked: Host, for_host: str, now: float) -> bool:
        """Return whether a request to `asked` may start now. If not, the page that `for_host` holds is postponed."""
        if asked.record.ready_at > now:
            self.cleared.push(asked.record.ready_at, for_host)
            return False
        if asked.in_flight >= self.limit(asked):
            asked.waiting_hosts += (for_host,)
            return False
        address = self.address_of(asked)
        if address is None:
            return True
        if self._addresses.is_full(address):
            address.waiting_hosts += (for_host,)
            return False
        if address.ready_at > now:
            self.cleared.push(address.ready_at, for_host)
            return False
        return True

    def when(self, host: Host, now: float, *, beside_held: bool = False) -> float:
        """Return the earliest time at which a subrequest to the host may start.

        With `beside_held` it does not wait for the page that the host holds, because that may take long.
        """
        if host.record.ready_at > now:
            return host.record.ready_at
        address = self.address_of(host)
        if address is not None and address.ready_at > now:
            return address.ready_at
        free = self.is_free(host) or (beside_held and not host.asking and host.in_flight < self.limit(host))
        busy = not free or (address is not None and self._addresses.is_full(address))
        return now + 0.05 if busy else now

    def occupy(self, host: Host, *, connects: bool = True) -> str:
        """Note that a request for the host starts. Return the IP address whose delay it uses, or "".

        `connects` is False if the request goes to another host.
        """
        host.in_flight += 1
        if not self.is_free(host):
            self.rest(host)
        address = self.address_of(host) if connects else None
        if address is None:
            return ""
        address.in_flight += 1
        if self._addresses.uses_grants:
            self._addresses.add_granted_host(address, host.record.name)
        if self._addresses.is_full(address):
            self._snooze_hosts_at(address)
        return address.name

    def _snooze_hosts_at(self, address: IpQueue) -> None:
        for name in list(address.ready_hosts):
            other = self.hosts[name]
            self.rest(other)
            if not other.in_ip_queue:
                self._enqueue_at_address(other, address)

    def release(self, host: Host, now: float) -> None:
        """Note that a request for the host has ended, which starts its delay."""
        host.in_flight -= 1
        host.record.ready_at = max(host.record.ready_at, now + self._host_delay.delay(host.record))
        self.settle(host)
        for guest in host.waiting_hosts:
            self.cleared.push(host.record.ready_at, guest)
        host.waiting_hosts = ()

    def release_address(self, name: str, now: float) -> None:
        """Note that a request to an IP address has ended, which starts its delay."""
        address = self._addresses.get(name)
        address.in_flight -= 1
        self.touch_address(name, now)
        for guest in address.waiting_hosts:
            self.cleared.push(address.ready_at, guest)
        address.waiting_hosts = ()
        if address.queue:
            self._address_times.push(address.ready_at, name)

    # ── grants: several shards use the same IP addresses ─────────────────────────────────────────────────

    def wanted(self) -> list[str]:
        """Return the IP addresses for which a grant is needed. Each is returned once until it is needed again."""
        names = list(self._addresses.needed_grants)
        self._addresses.needed_grants.clear()
        return [name for name in names if not self._addresses.get(name).granted]

    def grant(self, name: str, now: float, *, wait: float, hosts: Mapping[str, float]) -> None:
        """Accept the grant of an IP address.

        It may be used after `wait` seconds. `hosts` has the seconds after which hosts at it may be contacted.
        """
        address = self._addresses.get(name)
        address.granted = True
        address.recent_hosts = {}
        address.ready_at = max(address.ready_at, now + wait)
        for host_name, rest in hosts.items():
            record = self.host(host_name).record
            record.ready_at = max(record.ready_at, now + rest)
        for guest in address.waiting_hosts:
            self.cleared.push(address.ready_at, guest)
        address.waiting_hosts = ()
        self._address_times.push(address.ready_at, name)

    def recall(self, name: str) -> None:
        """Start no new requests to the IP address. Call `give_back` when the requests in flight have ended."""
        address = self._addresses.get(name)
        address.granted = False
        self._snooze_hosts_at(address)

    def give_back(self, name: str, now: float) -> tuple[float, dict[str, float]] | None:
        """Return the remaining delays in seconds of the IP address and its hosts; None while a request is in flight."""
        address = self._addresses.get(name)
        if address.in_flight:
            return None
        if address.queue or address.waiting_hosts:
            self._addresses.needed_grants[name] = None
        rests = {host: self.hosts[host].record.ready_at - now for host in address.recent_hosts}
        return max(0.0, address.ready_at - now), {host: rest for host, rest in rests.items() if rest > 0}

    def touch_address(self, name: str, now: float) -> None:
        """Start the delay of an IP address again after a response."""
        address = self._addresses.get(name)
        address.ready_at = max(address.ready_at, now + self._addresses.delay)

    def move(self, host: Host, address: str) -> None:
        """Change the IP address of a host; "" if it must be looked up again."""
        if host.record.address != address:
            self.rest(host)
            host.record.address = address
            self.settle(host)

    def next_time(self) -> float | None:
        """Return the next time at which a host, a held page or an IP address becomes ready; None if there is none."""
        asleep = self._not_before if len(self._unseen_hosts) else None
        times = (asleep, self.ready_times.next_time(), self.cleared.next_time(), self._address_times.next_time())
        return min((time for time in times if time is not None), default=None)
