"""The limit on untried hosts of one registrable domain.

A domain may have an endless number of host names, and each costs at least one request. So a domain has a limit of hosts
that are *admitted* until one of them has a relevant page. Each host with a relevant page raises the limit
by the same number. The other hosts are *withheld*: their URLs are known and wait. They are admitted in the order
of discovery when the limit is raised. Hosts that the user names are always admitted and do not count.

The accounts need no storage of their own. As soon as a domain withholds a host, the frontier writes a record of every
admitted host of that domain, so the same hosts are admitted after a restart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from motherlode.frontier.lease import HostRecord
from motherlode.www.urls import registrable_domain

MAX_WITHHELD_HOSTS = 10_000
"""Hosts of one domain that may be withheld; links to further ones are refused, because each takes memory."""
TOO_MANY_HOSTS = "too many untried hosts of its domain"


class WithheldHost(msgspec.Struct):
    """The queue of a host that is not admitted yet."""

    arms: dict[str, None] = {}
    urls: int = 0


class DomainAccount(msgspec.Struct):
    """The hosts of one domain."""

    admitted: int = 0
    """Number of admitted hosts, without those that the user named."""
    relevant: int = 0
    """Number of hosts with a relevant page."""
    withheld: dict[str, WithheldHost] = {}
    """In the order in which they were discovered."""
    unrecorded: list[str] | None = []
    """Admitted hosts without a record in the storage; None as soon as every admitted host must have a record."""

    def has_room(self, limit: int) -> bool:
        """Return whether another host may be admitted."""
        return self.admitted < limit * (1 + self.relevant)


class Withheld(msgspec.Struct, frozen=True):
    """The numbers of domains, hosts and URLs that wait because of the limit."""

    domains: int = 0
    hosts: int = 0
    urls: int = 0


NOTHING_WITHHELD = Withheld()


class Domains:
    """Admits and withholds hosts. A domain gets an account when a host other than DOMAIN and www.DOMAIN is found.

    Most domains have no other hosts, so most domains need no memory here.
    """

    def __init__(self, limit: int, *, relevance: Callable[[str], bool | None]) -> None:
        """`standing` returns whether an admitted host has a relevant page, and None for a host that is not admitted."""
        self._limit = limit
        self._relevance = relevance
        self._accounts: dict[str, DomainAccount] = {}
        self._named: set[str] = set()
        """Hosts that the user named."""
        self.withheld_hosts = self.withheld_urls = 0

    def admits(self, name: str) -> bool:
        """Admit a new host if its domain has room for it. Return whether it was admitted."""
        account = self._account_for(name)
        if account is None:
            return True
        if name in self._named:
            return True
        if not account.has_room(self._limit):
            return False
        self._count(account, name)
        return True

    def remember(self, name: str, *, relevant: bool) -> None:
        """Count a host that an earlier run admitted, and that has a record."""
        account = self._account_for(name)
        if account is not None:
            account.admitted += name not in self._named
            account.relevant += relevant

    def exempt(self, name: str) -> None:
        """Always admit a host that the user named, and do not count it."""
        if name in self._named:
            return
        account = self._account_for(name)
        self._named.add(name)
        if account is not None and self._relevance(name) is not None:
            account.admitted -= 1

    def is_withheld(self, name: str) -> bool:
        """Return whether the host is withheld."""
        account = self._accounts.get(registrable_domain(name)) if self.withheld_hosts else None
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
        account = self._accounts.get(registrable_domain(name))
        return account is not None and account.unrecorded is None

    def credit(self, name: str) -> list[tuple[str, WithheldHost]]:
        """Count the first relevant page of a host. Return the hosts that are admitted because of it."""
        account = self._accounts.get(registrable_domain(name))
        if account is None:
            return []
        account.relevant += 1
        return self._release(account)

    def take(self, name: str) -> WithheldHost | None:
        """Admit a withheld host regardless of the limit. Return its queue, or None if it was not withheld."""
        account = self._accounts.get(registrable_domain(name))
        host = account.withheld.pop(name, None) if account is not None else None
        if account is None or host is None:
            return None
        account.admitted += name not in self._named
        self.withheld_hosts -= 1
        self.withheld_urls -= host.urls
        return host

    def refusal(self, name: str) -> str:
        """Return why a link to a host is refused, or "": see `MAX_WITHHELD_HOSTS`."""
        if self.withheld_hosts < MAX_WITHHELD_HOSTS or self._relevance(name) is not None or name in self._named:
            return ""
        account = self._accounts.get(registrable_domain(name))
        if account is None or len(account.withheld) < MAX_WITHHELD_HOSTS or name in account.withheld:
            return ""
        return TOO_MANY_HOSTS

    def count_withheld(self) -> dict[str, int]:
        """Return the fields of `Withheld`."""
        domains = sum(bool(account.withheld) for account in self._accounts.values()) if self.withheld_hosts else 0
        return {"domains": domains, "hosts": self.withheld_hosts, "urls": self.withheld_urls}

    def _release(self, account: DomainAccount) -> list[tuple[str, WithheldHost]]:
        released = []
        while account.withheld and account.has_room(self._limit):
            name = next(iter(account.withheld))
            host = account.withheld.pop(name)
            account.admitted += 1
            self.withheld_hosts -= 1
            self.withheld_urls -= host.urls
            released.append((name, host))
        return released

    def _account_for(self, name: str) -> DomainAccount | None:
        """Return the account of a host's domain; create it if the host needs one."""
        domain = registrable_domain(name)
        account = self._accounts.get(domain)
        if account is None and name not in _main_hosts(domain):
            account = self._accounts[domain] = DomainAccount()
            for host in _main_hosts(domain):
                relevant = self._relevance(host)
                if relevant is None:
                    continue
                account.relevant += relevant
                if host not in self._named:
                    self._count(account, host)
        return account

    def _count(self, account: DomainAccount, name: str) -> None:
        account.admitted += 1
        if account.unrecorded is not None:
            account.unrecorded.append(name)


def _main_hosts(domain: str) -> tuple[str, str]:
    return domain, f"www.{domain}"


def domain_refusal(name: str, records: Iterable[HostRecord], *, limit: int, named: Iterable[str]) -> str:
    """Return why a host that is not admitted has to wait, according to the host records of a crawl; or "".

    >>> records = [HostRecord(name=f"h{number}.a.example") for number in range(2)]
    >>> domain_refusal("x.a.example", records, limit=2, named=())
    'a.example has 2 other hosts that may be contacted, none relevant so far; this one needs one more relevant host'
    >>> domain_refusal("x.a.example", records, limit=3, named=())
    ''
    >>> domain_refusal("h1.a.example", records, limit=2, named=())
    ''
    """
    domain, exempt = registrable_domain(name), set(named)
    if name in exempt:
        return ""
    admitted = relevant = 0
    for record in records:
        if record.admitted and domain in record.name and registrable_domain(record.name) == domain:
            if record.name == name:
                return ""
            admitted += record.name not in exempt
            relevant += record.relevant > 0
    if admitted < limit * (1 + relevant):
        return ""
    others = f"{admitted} other hosts that may be contacted, {relevant or 'none'} relevant so far"
    return f"{domain} has {others}; this one needs one more relevant host"
