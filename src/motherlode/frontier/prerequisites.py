"""Leave for single requests: a host's address and its rules come before its pages, and every request by the clocks.

What is asked for on behalf of a page that waits meanwhile: the page is *held*, and goes first afterwards. Rules that
lie on another host are asked for there, by the clocks of that host.
"""

from __future__ import annotations

from collections.abc import Callable

from motherlode.frontier.host_queue import HostQueue
from motherlode.frontier.hosts import Host, HostRules, RulesReader
from motherlode.frontier.lease import Entry, Lease, is_secure
from motherlode.model import RequestKind
from motherlode.www.urls import host_of, origin_of

MAX_RULES_HOPS = 5
"""Maximum number of redirects of a robots.txt (RFC 9309, 2.3.1.2)."""
RULES_LAST = 86_400.0
"""Seconds after which robots.txt is requested again (RFC 9309, 2.4)."""
RULES_LAST_AT_LEAST = 3_600.0
"""Minimum cache time of robots.txt, because many hosts send "no-cache" with all responses."""

SCHEMES = ("http:", "https:")


class Prerequisites:
    """Creates leases for prerequisites and pages, and stores the results of prerequisites."""

    def __init__(
        self, *, clocks: HostQueue, read_rules: RulesReader | None, is_own: Callable[[str], bool] | None
    ) -> None:
        self._clocks = clocks
        self._read_rules = read_rules
        """None if robots.txt is not used, as in simulations."""
        self._is_own = is_own or (lambda host: False)
        """Returns whether a host belongs to the user. The robots.txt of such hosts is not requested."""
        self.in_flight = 0

    def for_page(self, host: Host, entry: Entry, now: float) -> Lease | None:
        """Return a lease for a page or its next prerequisite; None if the host's rules disallow the page."""
        if self._clocks.by_address and not host.record.address:
            return self._resolve(host, entry, entry.url)
        if self._asks_for_rules(host, entry.url, now):
            return self._ask_for_rules(host, entry, host.rules_url or origin_of(entry.url) + "/robots.txt")
        if not self._allowed(host, entry.url):
            return None
        host.unaccounted += 1
        return self._send(host, entry.url, RequestKind.PAGE, entry)

    def for_subrequest(self, url: str, now: float, *, obey_robots: bool) -> Lease | float | None:
        """See `Frontier.lease_for`."""
        host = self._clocks.host(host_of(url))
        entry = Entry(url=url, arm="", score=0.0, sequence=0)
        unknown = obey_robots and self._asks_for_rules(host, url, now)
        if obey_robots and not unknown and not self._allowed(host, url):
            return None
        wanted = (host.rules_url or f"{origin_of(url)}/robots.txt") if unknown else url
        asked = self._clocks.host(host_of(wanted))  # another one where its rules lie elsewhere
        nowhere = self._clocks.by_address and not asked.record.address
        plain = not unknown and not nowhere  # nothing of what the host is asked for on behalf of its held page
        when = max(self._clocks.when(host, now, beside_held=plain), self._clocks.when(asked, now, beside_held=plain))
        if when > now:
            return when
        if nowhere:
            return self._resolve(host, None, wanted, is_subrequest=True)
        if unknown:
            return self._send_for_rules(host, asked, wanted, entry, is_subrequest=True)
        return self._send(host, url, RequestKind.SUBREQUEST, entry, is_subrequest=True)

    def next_held(self, now: float) -> tuple[Host, Entry] | None:
        """Return a held page that may be requested now, or whose next prerequisite may; None if there is none."""
        while names := self._clocks.cleared.due(now, most=1):
            host = self._clocks.hosts[names[0]]
            if host.held is None or host.asking:
                continue
            asked = self._clocks.host(host_of(host.rules_url)) if host.rules_url else host
            if self._clocks.may_go(asked, host.record.name, now):
                entry, host.held = host.held, None
                return host, entry
        return None

    def hold(self, host: Host, entry: Entry) -> None:
        """Hold a page, so that it is the host's next request."""
        host.held = entry
        self._clocks.rest(host)
        self._clocks.cleared.push(host.record.ready_at, host.record.name)

    # ── addresses ────────────────────────────────────────────────────────────────────────────────────

    def _resolve(self, host: Host, held: Entry | None, url: str, *, is_subrequest: bool = False) -> Lease:
        """Return a lease for the DNS look-up of a host. It sends no request to the host, so it starts no delay."""
        host.held = held
        host.asking = True
        self._clocks.rest(host)
        self.in_flight += 1
        entry = held or Entry(url=url, arm="", score=0.0, sequence=0)
        return Lease(url=url, host=host.record.name, kind=RequestKind.RESOLVE, entry=entry, is_subrequest=is_subrequest)

    def resolved(self, lease: Lease, address: str) -> str:
        """Store the IP address of a host; the held page is next. Return the name of the host."""
        self.in_flight -= 1
        host, found = self._clocks.hosts[lease.host], self._clocks.host(host_of(lease.url))
        host.asking = False
        self._clocks.move(found, address)
        if host.held is not None:
            self._clocks.cleared.push(host.record.ready_at, lease.host)
        self._clocks.settle(host)
        return found.record.name

    # ── rules ────────────────────────────────────────────────────────────────────────────────────────

    def _ask_for_rules(self, host: Host, entry: Entry, url: str) -> Lease:
        other = self._clocks.host(host_of(url))
        if self._clocks.by_address and not other.record.address:
            return self._resolve(host, entry, url)
        host.held = entry
        return self._send_for_rules(host, other, url, entry)

    def _send_for_rules(self, host: Host, other: Host, url: str, entry: Entry, *, is_subrequest: bool = False) -> Lease:
        """Return a lease for a host's robots.txt, which may be on another host."""
        host.asking = True
        if other is host:
            return self._send(host, url, RequestKind.ROBOTS, entry, is_subrequest=is_subrequest)
        self.in_flight += 1
        self._clocks.occupy(host, connects=False)
        address = self._clocks.occupy(other)
        return _lease(host, url, RequestKind.ROBOTS, entry, address, is_subrequest=is_subrequest)

    def _asks_for_rules(self, host: Host, url: str, now: float) -> bool:
        """Return whether robots.txt must be requested for a URL, because it is unknown or too old."""
        if self._read_rules is None or self._knows_rules(host, url, now):
            return False
        return not self._is_own(host.record.name)

    def _knows_rules(self, host: Host, url: str, now: float) -> bool:
        robots, read_at = host.record.rules_for(url)
        if robots is None:
            return False
        age = now - read_at
        return age < RULES_LAST or age < 2 * self._clocks.delay(host)  # else a slow host never came to its pages

    def _allowed(self, host: Host, url: str) -> bool:
        if self._is_own(host.record.name):
            return True
        rules = self._rules(host, url)
        return rules is None or rules.allows(url)

    def _rules(self, host: Host, url: str) -> HostRules | None:
        """Return the rules for a URL of the host; None if they are unknown."""
        rules = host.rules.get(is_secure(url))
        robots = host.record.rules_for(url)[0]
        if rules is None and robots is not None and self._read_rules is not None:
            rules = host.rules[is_secure(url)] = self._read_rules(robots)
        return rules

    def introduce(
        self, host: Host, url: str, robots: bytes, now: float, *, read_from: str, lasts: float = RULES_LAST
    ) -> None:
        """Store the robots.txt for a URL of the host; the held page is next."""
        if self._read_rules is None:
            raise ValueError("this frontier asks for no rules")
        host.stop_asking()
        places = {url}
        if read_from.partition("://")[2] == f"{host.record.name}/robots.txt":
            places.add(read_from)  # most hosts send http on to https: then the rules of both are known
        for place in places:
            host.rules[is_secure(place)] = self._read_rules(robots)
        delays = [rules.delay for scheme in SCHEMES if (rules := self._rules(host, scheme)) is not None]
        host.record.delay = max((delay for delay in delays if delay is not None), default=None)
        lasts = min(RULES_LAST, max(lasts, RULES_LAST_AT_LEAST, 2 * self._clocks.delay(host)))
        for place in places:
            host.record.keep_rules(place, robots, now - (RULES_LAST - lasts))
        if host.record.delay is not None:
            host.record.ready_at = max(host.record.ready_at, now + host.record.delay)
        self._clocks.cleared.push(host.record.ready_at, host.record.name)
        self._clocks.settle(host)

    def reroute(self, host: Host, location: str) -> bool:
        """Follow a redirect of robots.txt as soon as the delays allow. Return False after too many redirects."""
        if host.rules_hops >= MAX_RULES_HOPS:
            return False
        host.rules_hops += 1
        host.rules_url = location
        self.ask_again(host)
        return True

    def ask_again(self, host: Host) -> None:
        """Repeat the request for robots.txt as soon as the delays allow."""
        host.asking = False
        self._clocks.cleared.push(host.record.ready_at, host.record.name)

    def give_up(self, lease: Lease) -> None:
        """End a prerequisite that failed."""
        self.in_flight -= lease.kind is RequestKind.RESOLVE
        self._clocks.hosts[lease.host].stop_asking()

    # ── requests ─────────────────────────────────────────────────────────────────────────────────────

    def _send(self, host: Host, url: str, kind: RequestKind, entry: Entry, *, is_subrequest: bool = False) -> Lease:
        self.in_flight += 1
        address = self._clocks.occupy(host)
        return _lease(host, url, kind, entry, address, is_subrequest=is_subrequest)


def _lease(host: Host, url: str, kind: RequestKind, entry: Entry, address: str, *, is_subrequest: bool) -> Lease:
    return Lease(url=url, host=host.record.name, kind=kind, entry=entry, address=address, is_subrequest=is_subrequest)
