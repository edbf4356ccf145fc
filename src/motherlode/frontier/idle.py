"""How long a frontier must wait if no URL may be fetched now, and when it gives up retries if nothing else is left."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from motherlode.frontier.admission import Admission
from motherlode.frontier.host_queue import HostQueue
from motherlode.frontier.leases import HOST_GIVEN_UP_AFTER
from motherlode.frontier.records import Entry, Host, UrlState
from motherlode.frontier.storage import FrontierStorage

NOT_RETRIED = "retry given up"
"""Reason for giving up a URL whose last failure is unknown, because the crawl was resumed after it."""


class Wait(NamedTuple):
    """A time before which nothing may be fetched."""

    until: float
    """Seconds since the epoch."""
    reason: str


class Retries:
    """The URLs of a frontier that failed and wait for their next attempt, and the time of its next request."""

    def __init__(
        self,
        admission: Admission,
        host_queue: HostQueue,
        storage: FrontierStorage,
        *,
        unsettled: Callable[[], int] = lambda: 0,
    ) -> None:
        self._admission = admission
        self._host_queue = host_queue
        self._storage = storage
        self._unsettled = unsettled
        """Returns the number of URLs that were taken from the queue and have neither ended nor gone back."""

    def __len__(self) -> int:
        return len(self._admission.postponed)

    def next_wait(self) -> Wait | None:
        """Return when the next host is ready or the next URL is tried again, and why it waits; None if none waits."""
        waits, queue = [], self._host_queue
        if self._admission.postponed:
            when, _, entry, failure = self._admission.postponed[0]
            cause = f" after {failure}" if failure else ""
            others = f" and {len(self) - 1:,} other URLs" if len(self) > 1 else ""
            waits.append(Wait(when, f"{entry.url}{others} will be tried again{cause}"))
        for times in (queue.ready_times, queue.held_times):
            if (first := times.first) is not None:
                host = queue.hosts[first[1]]
                waits.append(Wait(max(first[0], host.record.ready_at), _describe_host(host)))
        if (first := queue.address_times.first) is not None:
            waits.append(Wait(first[0], f"the delay of the IP address {first[1]}"))
        return min(waits, default=None)

    @property
    def are_all_that_is_left(self) -> bool:
        """True if every URL failed and waits for a retry, or waits for a robots.txt that cannot be read."""
        if self._unsettled():
            return False
        if self._admission.waiting == self._admission.domains.withheld_urls:
            return len(self) > 0
        waiting = (host for host in self._host_queue.hosts.values() if host.arms)
        return not len(self._host_queue.unseen_hosts) and all(host.record.unread_since is not None for host in waiting)

    def give_up(self, now: float) -> list[tuple[Entry, str]]:
        """End all URLs that wait for a retry as failed, and give up the hosts whose robots.txt cannot be read.

        No request is sent earlier than it may be. Return the entries with their last failures. The URLs of the hosts
        that are given up are refused by the next leases.
        """
        ended = [(entry, failure) for _, _, entry, failure in self._admission.postponed]
        self._admission.postponed.clear()
        for entry, failure in ended:
            self._admission.revisits_left -= entry.is_revisit
            self._storage.finish(entry, UrlState.FAILED, failure or NOT_RETRIED)
        for name, host in self._host_queue.hosts.items():
            if host.arms and host.record.unread_since is not None:
                host.record.failures, host.record.ready_at = HOST_GIVEN_UP_AFTER, now  # only to refuse its URLs
                self._host_queue.changed.add(name)
                self._host_queue.schedule(host)
        return ended


def _describe_host(host: Host) -> str:
    record = host.record
    if record.unread_since is not None:
        return f"the robots.txt of {record.name} cannot be read ({record.unread_for})"
    if record.unresolved_since is not None:
        return f"no name server answers for {record.name}"
    if record.failures:
        return f"{record.name} did not respond"
    if record.slowdown:
        return f"{record.name} asked for fewer requests"
    return f"the delay of {record.name}"
