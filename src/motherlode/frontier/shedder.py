"""Shedding: takes waiting URLs and idle hosts out of memory, while they stay in the storage.

An arm that is *set aside* is not in the queue any more, and neither memory nor policy knows it. Its URLs stay in the
storage, and wait again in a later run that has more memory (`FrontierStorage.take_back`). A host without waiting URLs
leaves the memory, too. Its record is read from the storage when the host is needed again, so delays, budgets, rules and
failures of the host are not forgotten.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from motherlode.frontier.admission import Admission
from motherlode.frontier.host_queue import HostQueue, IpQueue
from motherlode.frontier.records import Host, HostRecord, is_revisit_arm
from motherlode.frontier.storage import FrontierStorage
from motherlode.model import Policy, ValuesArms

_IDLE_SECONDS = 60.0
"""A host is idle if its delay has passed for this time. Until then, a response of it may still be processed."""


class Shedder:
    """Takes the arms of a frontier out of memory one by one, and all idle hosts at once.

    Arms of revisits and of hosts that the user named always stay.
    """

    def __init__(self, admission: Admission, host_queue: HostQueue, storage: FrontierStorage, policy: Policy) -> None:
        self._admission = admission
        self._host_queue = host_queue
        self._storage = storage
        self._policy = policy
        self.arms = storage.arms
        """Returns the arms in memory, oldest first. Some may be empty."""

    def value(self, arm: str) -> float | None:
        """Return the value of an arm, -inf if it waits without being in the queue; None if it must stay in memory."""
        name = self._storage.arm_host(arm)
        if is_revisit_arm(arm) or self._admission.domains.is_named(name):
            return None
        if not self._storage.count(arm) or self._admission.domains.is_withheld(name):
            return -inf
        return self._policy.value(arm) if isinstance(self._policy, ValuesArms) else self._storage.best(arm)

    def set_aside(self, arm: str) -> int:
        """Set an arm aside. Return the number of its URLs."""
        name = self._storage.arm_host(arm)
        urls = self._storage.set_aside(arm)
        self._admission.waiting -= urls
        host = self._host_queue.hosts.get(name)
        if host is not None:
            self._remove_arm(host, arm)
        elif self._host_queue.unseen_hosts.take(name, arm) is not None:
            self._leave_memory(name, is_admitted=True)
        else:
            self._admission.domains.drop(name, arm, urls)
        return urls

    def _remove_arm(self, host: Host, arm: str) -> None:
        if arm not in host.arms:
            return
        del host.arms[arm]
        if host.is_ready:
            self._policy.arm_snoozed(arm)
            if not host.arms:
                self._host_queue.snooze(host)

    def is_known(self, name: str) -> bool:
        """Return whether a host was contacted, or has waiting URLs."""
        return self._host_queue.relevance(name) is not None

    def is_in_memory(self, name: str) -> bool:
        """Return whether a host is in memory, because it has waiting URLs or was contacted recently."""
        return name in self._host_queue.hosts or name in self._host_queue.unseen_hosts

    def remove_idle_hosts(self, now: float) -> int:
        """Remove idle hosts whose records are stored, or that were never contacted, from memory. Return how many."""
        queue = self._host_queue
        queue.unseen_hosts.compact()
        with_grants = {name for address in queue.addresses.values() for name in address.recent_hosts}
        idle = {
            name
            for name, host in queue.hosts.items()
            if name not in queue.changed and name not in with_grants and _is_idle(host, now)
        }
        for name in idle:
            self._leave_memory(name, is_admitted=queue.hosts.pop(name).record.admitted)
        for times in (queue.ready_times, queue.held_times):
            times.remove(idle)
        queue.unresolved = {name: None for name in queue.unresolved if name not in idle}
        queue.addresses = {name: one for name, one in queue.addresses.items() if not _is_unused(one, now)}
        for host in queue.hosts.values():
            host.rules.clear()  # they are parsed again when they are needed
        queue.find_stored = self._storage.host
        return len(idle)

    def _leave_memory(self, name: str, *, is_admitted: bool) -> None:
        """Count a host that left the memory: it is stored, or unknown from now on."""
        stored = self._storage.host(name)
        self._host_queue.stored_hosts += stored is not None
        if is_admitted and (stored is None or not stored.admitted):
            self._admission.domains.forget(name)

    # ── stored hosts ─────────────────────────────────────────────────────────────────────────────────────

    def restore_hosts(self, *, idle_on_disk: bool) -> None:
        """Restore the hosts of an earlier run. With `idle_on_disk`, only those leave the storage that waited then."""
        queue, admission = self._host_queue, self._admission
        find_stored, queue.find_stored = queue.find_stored, self._storage.host
        for record in self._storage.hosts():
            if idle_on_disk and _is_past(record, admission.now):
                queue.stored_hosts += 1
            else:
                queue.restore(record)
            if record.admitted:
                admission.domains.restore(record.name, relevant=record.relevant > 0)
        if not queue.stored_hosts:
            queue.find_stored = find_stored

    def stored_records(self) -> Iterator[HostRecord]:
        """Yield the records of the hosts that are only in the storage."""
        hosts = self._host_queue.hosts
        return (record for record in self._storage.hosts() if record.name not in hosts)

    def turn_back(self, seconds: float) -> None:
        """Move the times of stored hosts back, because the machine's clock was set back."""
        for record in self.stored_records():
            record.correct_times(lambda time: time - seconds, lambda time: time - seconds)
            self._storage.put_host(record)


def _is_idle(host: Host, now: float) -> bool:
    is_used = host.arms or host.held or host.in_flight or host.unaccounted or host.waiting_hosts
    if is_used or host.is_ready or host.asking or host.in_ip_queue:
        return False
    return host.record.ready_at + _IDLE_SECONDS <= now or _is_new(host.record)


def _is_past(record: HostRecord, now: float) -> bool:
    """Return whether the host waits for nothing, and all its times have passed."""
    waits = record.unread_since is not None or record.unresolved_since is not None
    return not waits and max(record.ready_at, record.robots_at, record.secure_robots_at) <= now


def _is_new(record: HostRecord) -> bool:
    """Return whether no request was sent to the host."""
    return not (record.fetched or record.failures or record.robots_at or record.secure_robots_at or record.unread_since)


def _is_unused(address: IpQueue, now: float) -> bool:
    is_used = address.in_flight or address.queue or address.ready_hosts or address.waiting_hosts or address.recent_hosts
    return not is_used and address.granted and address.ready_at + _IDLE_SECONDS <= now
