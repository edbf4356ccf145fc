"""Who may be asked when: every host's clock and every address's, and which hosts are in the policy's hands."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from motherlode.frontier.domain_limit import Domains, WithheldHost
from motherlode.frontier.hosts import MAX_READY_HOSTS, Host, HostDelay, IpQueue, IpQueues, ReadyTimes, SnoozedHosts
from motherlode.frontier.lease import REVISIT, HostRecord, Politeness
from motherlode.model import Policy

BestScore = Callable[[str], float | None]
"""The score of the first URL of an arm."""
CountWaiting = Callable[[str], int]
"""How many URLs wait in an arm."""

_SOON = 10.0
"""Seconds that a host may rest and be worth waiting for; less where hosts usually rest for less than a second."""
_LEAST_PATIENCE = 1.0
"""Seconds that an answer may take while everything stands still for it."""


class HostQueue:
    """Wakes hosts when their own time and that of their address have come, and lets them rest."""

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
        self._pace = pace
        self.hosts: dict[str, Host] = {}
        """Those that this run or one before it has come to; the others with something waiting are in `_sleepers`."""
        self._sleepers = SnoozedHosts()
        self.domains = Domains(max_untried_hosts, standing=self._standing)
        self.changed: set[str] = set()
        """Hosts whose records the ledger must get although no request was made."""
        self.times = ReadyTimes()
        self.cleared = ReadyTimes()
        """Hosts whose held page may go as soon as the clocks allow, or whose rules must be asked for elsewhere."""
        self.by_address = politeness.by_address
        delay = politeness.address_delay
        self._addresses = IpQueues(
            delay=politeness.delay / 2 if delay is None else delay,
            at_once=politeness.per_address,
            leased=politeness.leased,
        )
        self._address_times = ReadyTimes()
        self._soon = min(_SOON, _SOON * politeness.delay)
        """Seconds that a host may rest and be worth waiting for: none where the user wants no delay."""
        self.patience = max(_LEAST_PATIENCE, self._soon)
        """Seconds that everything may stand still for one host."""
        self._not_before = 0.0
        """No host is asked earlier: a run that was killed may have asked it a moment ago without leaving a trace."""

    def host(self, name: str) -> Host:
        host = self.hosts.get(name)
        if host is None:
            host = self._come_to(name)
            self.settle(host)
        return host

    def _come_to(self, name: str) -> Host:
        """A host that there was no need to think of before."""
        arm = self._sleepers.take(name)
        record = HostRecord(name=name, ready_at=self._not_before, admitted=arm is not None)
        host = self.hosts[name] = Host(record)
        if arm is not None:
            host.arms[arm] = None
        return host

    def remember(self, record: HostRecord) -> None:
        """A host that an earlier run has asked."""
        record.address = ""  # the fetcher has forgotten it, and might find another
        relevant = record.relevant > 0
        self.hosts[record.name] = Host(record, credited=relevant)
        if record.admitted:
            self.domains.remember(record.name, relevant=relevant)

    @property
    def host_count(self) -> int:
        return len(self.hosts) + len(self._sleepers) + self.domains.summary().hosts

    def address_of(self, host: Host) -> IpQueue | None:
        """None where addresses have no clocks, or the host's is not known yet."""
        if not self.by_address or not host.record.address:
            return None
        return self._addresses.get(host.record.address)

    # ── URLs come and go ─────────────────────────────────────────────────────────────────────────────

    def expect(self, name: str, arm: str, urls: int) -> None:
        """So many URLs more wait in an arm of a host."""
        if self._standing(name) is None and not self._admit(name, arm, urls):
            return
        host = self.hosts.get(name)
        if host is None:
            if self._sleepers.put(name, arm):
                return
            host = self.host(name)
        self._add_arm(host, arm)

    def _add_arm(self, host: Host, arm: str) -> None:
        if arm not in host.arms:
            host.arms[arm] = None
            if len(host.arms) == 1:
                self.settle(host)
        if host.awake:
            self._wake_arm(arm)

    # ── the limit on untried hosts of a domain ───────────────────────────────────────────────────────

    def _standing(self, name: str) -> bool | None:
        """Whether an admitted host gave a relevant page; None for a host that is not admitted."""
        host = self.hosts.get(name)
        if host is None:
            return False if name in self._sleepers else None
        return host.credited if host.record.admitted else None

    def _admit(self, name: str, arm: str, urls: int) -> bool:
        """Admit a host for which URLs have come, or withhold it with them."""
        if arm.startswith(REVISIT):  # a page that was fetched before
            self._let_in(name, self.domains.take(name))
            return True
        if self.domains.is_withheld(name) or not self.domains.admits(name):
            for other in self.domains.withhold(name, arm, urls):
                self._let_in(other)
            return False
        if name in self.hosts or self.domains.must_record(name):
            self._let_in(name)
        return True

    def _let_in(self, name: str, withheld: WithheldHost | None = None) -> None:
        """The host is admitted, and its record says so."""
        host = self.hosts.get(name)
        if host is None:
            host = self._come_to(name)
            self.settle(host)
        host.record.admitted = True
        self.changed.add(name)
        for arm in withheld.arms if withheld is not None else ():
            self._add_arm(host, arm)

    def exempt(self, name: str) -> None:
        """The user named the host: no limit holds for it."""
        self.domains.exempt(name)
        withheld = self.domains.take(name)
        if withheld is not None:
            self._let_in(name, withheld)

    def credit(self, host: Host) -> None:
        """The host gave a relevant page: its domain may have more hosts."""
        if host.credited:
            return
        host.credited = True
        for name, withheld in self.domains.credit(host.record.name):
            self._let_in(name, withheld)

    def taken(self, name: str, arm: str) -> Host:
        """One URL less waits in an arm that is awake; its host."""
        host = self.hosts[name]
        if self._count(arm):
            self._wake_arm(arm)
            return host
        del host.arms[arm]
        self._policy.arm_snoozed(arm)
        if not host.arms and self.by_address:
            self.rest(host)  # others at its address may want its place
        return host

    # ── waking and resting ───────────────────────────────────────────────────────────────────────────

    def rest_once(self, now: float, *, asleep: float = 0.0) -> None:
        """After a reopening: nobody knows whom the run before asked in its last moment.

        `asleep` is how long no run was there. Nobody asked for a robots.txt meanwhile, so it takes no patience.
        """
        self._not_before = now + self._politeness.delay
        self._addresses.rest_all(now + self._addresses.delay)
        delay, resting = self._pace.delay, []
        for name, host in self.hosts.items():
            record = host.record
            if record.unread_since is not None:
                record.unread_since += asleep
            ready_at = now + delay(record)
            if record.ready_at < ready_at:
                record.ready_at = ready_at
            if host.arms and not host.awake:
                resting.append((record.ready_at, name))
        self.times = ReadyTimes(resting)

    def turn_back(self, seconds: float) -> None:
        """The clock of the machine has gone back: what was to wait waits as long as it was to, and no longer."""
        self._not_before -= seconds
        for host in self.hosts.values():
            host.record.turn_back(seconds)
        self._addresses.turn_back(seconds)
        for times in (self.times, self.cleared, self._address_times):
            times.turn_back(seconds)

    def cut_times(self, now: float, longest: float) -> list[str]:
        """Cut restored times that no rest of so many seconds explains. Returns the names of the hosts concerned."""
        delay = self._pace.delay
        return [
            name
            for name, host in self.hosts.items()
            if host.record.cut_times(now, now + max(longest, delay(host.record)))
        ]

    def ripen(self, now: float) -> bool:
        """Wake hosts whose time has come, at most so many at once; whether there were any."""
        most = self._politeness.wake_at_once
        due = self._sleepers.first(most) if now >= self._not_before else []  # their time is the earliest there is
        for name in due:
            self._come_to(name)
        due += self.times.due(now, most=None if most is None else most - len(due))
        for name in due:
            host = self.hosts[name]
            if host.record.ready_at > now:
                self.times.push(host.record.ready_at, name)
            elif self.free(host) and not host.awake:
                self._rouse(host, now)
        addresses = self._address_times.due(now)
        for name in addresses:
            self._stir(self._addresses.get(name), now)
        return bool(due or addresses)

    def free(self, host: Host) -> bool:
        return host.in_flight < self.limit(host) and not host.asking and host.held is None

    def limit(self, host: Host) -> int:
        return 1 if self.delay(host) > 0 else self._politeness.per_host

    def delay(self, host: Host) -> float:
        """Seconds between two requests to the host."""
        return self._pace.delay(host.record)

    def _rouse(self, host: Host, now: float) -> None:
        """The host's own time has come: wake it, or let it stand in line for its address."""
        address = self.address_of(host)
        if address is None:
            self._wake(host)
        elif self._addresses.full(address) or address.ready_at > now or len(address.awake) >= MAX_READY_HOSTS:
            if not host.queued:
                self._stand_in_line(host, address)
            if address.ready_at > now and not self._addresses.full(address):
                self._address_times.push(address.ready_at, address.name)
        elif host.arms:
            self._wake(host)
            address.awake[host.record.name] = None

    def _stir(self, address: IpQueue, now: float) -> None:
        """The address's time has come: the first in its line wake."""
        if self._addresses.full(address):
            return
        if address.ready_at > now:
            self._address_times.push(address.ready_at, address.name)
            return
        while address.line and len(address.awake) < MAX_READY_HOSTS:
            host = self.hosts[address.line.popleft()]
            host.queued = False
            if host.record.ready_at > now:
                self.times.push(host.record.ready_at, host.record.name)
            elif self.free(host) and not host.awake:
                self._rouse(host, now)

    def _stand_in_line(self, host: Host, address: IpQueue) -> None:
        host.queued = True
        address.line.append(host.record.name)

    def _wake(self, host: Host) -> None:
        host.awake = True
        for arm in host.arms:
            self._wake_arm(arm)

    def _wake_arm(self, arm: str) -> None:
        best = self._best(arm)
        if best is not None:
            self._policy.arm_ready(arm, best, self._count(arm))

    def rest(self, host: Host) -> None:
        if not host.awake:
            return
        host.awake = False
        for arm in host.arms:
            self._policy.arm_snoozed(arm)
        address = self.address_of(host)
        if address is not None:
            address.awake.pop(host.record.name, None)
            if address.line and not self._addresses.full(address):
                self._address_times.push(address.ready_at, address.name)

    def is_soon(self, name: str, now: float) -> bool:
        """Whether a host that rests will be awake in a moment: when its request ends, or its clock allows."""
        host = self.hosts.get(name)
        if host is None or not host.arms or host.queued or self._pace.delay(host.record) > self._soon:
            return False
        return host.in_flight > 0 or host.asking or now < host.record.ready_at <= now + self._soon

    def settle(self, host: Host) -> None:
        """See to it that a host which may be asked again some time will be."""
        if host.arms and not host.awake:
            self.times.push(host.record.ready_at, host.record.name)

    # ── requests begin and end ───────────────────────────────────────────────────────────────────────

    def may_go(self, asked: Host, for_host: str, now: float) -> bool:
        """Whether a request to `asked` may begin now; if not, the page that `for_host` holds is put off."""
        if asked.record.ready_at > now:
            self.cleared.push(asked.record.ready_at, for_host)
            return False
        if asked.in_flight >= self.limit(asked):
            asked.guests += (for_host,)
            return False
        address = self.address_of(asked)
        if address is None:
            return True
        if self._addresses.full(address):
            address.guests += (for_host,)
            return False
        if address.ready_at > now:
            self.cleared.push(address.ready_at, for_host)
            return False
        return True

    def when(self, host: Host, now: float, *, beside_held: bool = False) -> float:
        """The earliest moment at which an errand may go to the host; `now` if at once.

        With `beside_held` it need not wait for a page that the host holds, which might wait for long.
        """
        if host.record.ready_at > now:
            return host.record.ready_at
        address = self.address_of(host)
        if address is not None and address.ready_at > now:
            return address.ready_at
        free = self.free(host) or (beside_held and not host.asking and host.in_flight < self.limit(host))
        busy = not free or (address is not None and self._addresses.full(address))
        return now + 0.05 if busy else now

    def occupy(self, host: Host, *, connects: bool = True) -> str:
        """A request for the host begins; the address whose clock it uses. `connects`: not to another host."""
        host.in_flight += 1
        if not self.free(host):
            self.rest(host)
        address = self.address_of(host) if connects else None
        if address is None:
            return ""
        address.in_flight += 1
        if self._addresses.leased:
            self._addresses.note(address, host.record.name)
        if self._addresses.full(address):
            self._send_to_line(address)
        return address.name

    def _send_to_line(self, address: IpQueue) -> None:
        for name in list(address.awake):
            other = self.hosts[name]
            self.rest(other)
            if not other.queued:
                self._stand_in_line(other, address)

    def release(self, host: Host, now: float) -> None:
        """A request for the host has ended: its clock runs from here."""
        host.in_flight -= 1
        host.record.ready_at = max(host.record.ready_at, now + self._pace.delay(host.record))
        self.settle(host)
        for guest in host.guests:
            self.cleared.push(host.record.ready_at, guest)
        host.guests = ()

    def release_address(self, name: str, now: float) -> None:
        address = self._addresses.get(name)
        address.in_flight -= 1
        self.touch_address(name, now)
        for guest in address.guests:
            self.cleared.push(address.ready_at, guest)
        address.guests = ()
        if address.line:
            self._address_times.push(address.ready_at, name)

    # ── leases: other crawls ask the same addresses ──────────────────────────────────────────────────

    def wanted(self) -> list[str]:
        """Addresses that a lease is needed for, each named once until it is wanted anew."""
        names = list(self._addresses.wanted)
        self._addresses.wanted.clear()
        return [name for name in names if not self._addresses.get(name).held]

    def grant(self, name: str, now: float, *, wait: float, hosts: Mapping[str, float]) -> None:
        """We have the lease: the address may be asked after `wait` seconds, and `hosts` after theirs."""
        address = self._addresses.get(name)
        address.held = True
        address.asked = {}
        address.ready_at = max(address.ready_at, now + wait)
        for host_name, rest in hosts.items():
            record = self.host(host_name).record
            record.ready_at = max(record.ready_at, now + rest)
        for guest in address.guests:
            self.cleared.push(address.ready_at, guest)
        address.guests = ()
        self._address_times.push(address.ready_at, name)

    def recall(self, name: str) -> None:
        """Begin nothing new at the address; `give_back` when what is under way has ended."""
        address = self._addresses.get(name)
        address.held = False
        self._send_to_line(address)

    def give_back(self, name: str, now: float) -> tuple[float, dict[str, float]] | None:
        """Seconds until the address, and hosts asked there, may be asked again; None while a request is under way."""
        address = self._addresses.get(name)
        if address.in_flight:
            return None
        if address.line or address.guests:
            self._addresses.wanted[name] = None
        rests = {host: self.hosts[host].record.ready_at - now for host in address.asked}
        return max(0.0, address.ready_at - now), {host: rest for host, rest in rests.items() if rest > 0}

    def touch_address(self, name: str, now: float) -> None:
        """Somebody at this address has answered."""
        address = self._addresses.get(name)
        address.ready_at = max(address.ready_at, now + self._addresses.delay)

    def move(self, host: Host, address: str) -> None:
        """The host was found at another address than before, or must be looked for again."""
        if host.record.address != address:
            self.rest(host)
            host.record.address = address
            self.settle(host)

    def next_time(self) -> float | None:
        asleep = self._not_before if len(self._sleepers) else None
        times = (asleep, self.times.next_time(), self.cleared.next_time(), self._address_times.next_time())
        return min((time for time in times if time is not None), default=None)
