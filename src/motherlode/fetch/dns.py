"""The resolver: names to IP addresses, by c-ares, with hundreds of look-ups in flight.

`NameServers` sends the queries. `GuardedResolver` keeps the results as long as their TTL says, leaves addresses out
that the guard refuses, and decides which of several addresses a host uses.
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from motherlode.fetch.guard import AddressGuard, GuardRefusedError

if TYPE_CHECKING:
    import aiodns

LOOKUP_SECONDS = 10.0
"""Seconds after which a look-up fails, however many tries are left. A recursive server goes on meanwhile, so that the
next look-up of the name finds the answer in its cache."""
_TRY_SECONDS = 2.0
"""Seconds that a query waits for an answer. Then the next server is asked. They double when each server was asked once.
c-ares lowers them for fast servers."""
_TRIES = 4
_MAX_YOUNG_LOOKUPS = 512
"""Maximum number of look-ups that began less than `_YOUNG_SECONDS` ago. The answers to thousands at once would not fit
into the buffers of sockets, and be lost. Older look-ups do not count, because a failing name server delays only its
own names."""
_YOUNG_SECONDS = 1.0
_SECOND_FAMILY_SECONDS = 0.05
"""Seconds that a look-up with IPv4 or IPv6 addresses waits for those of the other family (RFC 8305, section 3)."""
MIN_TTL_SECONDS = 30.0
_MAX_TTL_SECONDS = 6 * 3600.0
_NEGATIVE_SECONDS = 60.0
"""Seconds for which a name that does not exist is not looked up again, after a second look-up has confirmed that."""
_STALE_SECONDS = 60.0
"""Seconds for which an expired address is still used if no name server answers (RFC 8767)."""
_MAX_ALTERNATIVES = 3
"""Maximum number of further addresses of a host that one request may connect to."""
_MAX_PINNED_HOSTS = 100_000
"""Maximum number of hosts whose address is kept. The least recently used ones are dropped."""
_MAX_UNKNOWN_HOSTS = 10_000
MAX_AHEAD = 128
"""Maximum number of look-ups in flight for hosts that no request waits for yet."""
_ENODATA, _EFORMERR, _ENOTFOUND, _EBADQUERY, _EBADNAME, _ETIMEOUT = 1, 2, 4, 7, 8, 12
"""Error codes of c-ares, as in its header file. The library is imported for the first query, because that takes 12 ms
and crawls of archives send none."""
_NO_SUCH_NAME = frozenset({_ENODATA, _EFORMERR, _ENOTFOUND, _EBADQUERY, _EBADNAME})
"""Errors of c-ares which mean that a name has no address. After any other error a later look-up may succeed."""


class Answer(NamedTuple):
    """The IP addresses of a name, the preferred ones first."""

    addresses: tuple[str, ...]
    ttl: float
    """The smallest TTL of the records in seconds, including those of CNAME chains."""


class LookUp(Protocol):
    """Looks a name up, and raises `socket.gaierror` if it has no address or if no name server answers."""

    async def look_up(self, host: str) -> Answer: ...

    async def close(self) -> None: ...


# ── Queries ──────────────────────────────────────────────────────────────────────────────────────────


class NameServers:
    """Sends queries to the given name servers ("address" or "address:port"), or to those of the system.

    The file /etc/hosts comes first. Search domains are not used, because the names of URLs are complete.
    """

    def __init__(self, servers: Sequence[str] = (), *, hosts_file: Path = Path("/etc/hosts")) -> None:
        self._servers = servers
        self._hosts_file = hosts_file
        self._hosts: dict[str, tuple[str, ...]] | None = None
        self._resolver: aiodns.DNSResolver | None = None
        self._young = asyncio.Semaphore(_MAX_YOUNG_LOOKUPS)

    async def look_up(self, host: str) -> Answer:
        """Return the addresses of a name."""
        if self._hosts is None:
            self._hosts = read_hosts_file(self._hosts_file)
        name = host.rstrip(".")
        if found := self._hosts.get(name):
            return Answer(sort_addresses(found), _MAX_TTL_SECONDS)
        if name == "localhost" or name.endswith(".localhost"):  # RFC 6761, section 6.3
            return Answer(("127.0.0.1", "::1"), _MAX_TTL_SECONDS)
        if self._resolver is None:
            import aiodns

            self._resolver = aiodns.DNSResolver(nameservers=self._servers or None, timeout=_TRY_SECONDS, tries=_TRIES)
        try:
            async with self._turn(), asyncio.timeout(LOOKUP_SECONDS):
                answers = await self._both_families(self._resolver, name)
        except TimeoutError:
            raise _error(host, [_ETIMEOUT]) from None
        found = tuple(address for answer in answers if isinstance(answer, Answer) for address in answer.addresses)
        if not found:
            raise _error(host, [answer for answer in answers if isinstance(answer, int)])
        ttl = min(answer.ttl for answer in answers if isinstance(answer, Answer))
        return Answer(sort_addresses(found), ttl)

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        """Context manager around the queries for a name. It waits while too many look-ups are young."""
        await self._young.acquire()
        timer = asyncio.get_running_loop().call_later(_YOUNG_SECONDS, self._young.release)
        try:
            yield
        finally:
            if timer.when() > asyncio.get_running_loop().time():
                timer.cancel()
                self._young.release()

    async def _both_families(self, resolver: aiodns.DNSResolver, name: str) -> list[Answer | int]:
        """Return the answer or the error for each family. IPv6 comes after IPv4 if this machine has no IPv6 route."""
        if not has_ipv6():
            first = await _query(resolver, name, "A")
            return [first] if isinstance(first, Answer) else [first, await _query(resolver, name, "AAAA")]
        tasks = [asyncio.ensure_future(_query(resolver, name, kind)) for kind in ("AAAA", "A")]
        try:
            done, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if pending:
                has_address = any(isinstance(task.result(), Answer) for task in done)
                done = (await asyncio.wait(tasks, timeout=_SECOND_FAMILY_SECONDS if has_address else None))[0]
            return [task.result() for task in done]
        finally:
            for task in tasks:
                task.cancel()

    async def close(self) -> None:
        if self._resolver is not None:
            await self._resolver.close()
            self._resolver = None


async def _query(resolver: aiodns.DNSResolver, name: str, kind: str) -> Answer | int:
    """Return the addresses of one family, or the error code of c-ares."""
    import aiodns
    import pycares

    try:
        result = await resolver.query_dns(name, kind)
    except aiodns.error.DNSError as error:
        return int(error.args[0])
    except UnicodeError:  # labels that are empty or over 63 bytes
        return _EBADNAME
    kinds = (pycares.ARecordData, pycares.AAAARecordData)
    addresses = tuple(record.data.addr for record in result.answer if isinstance(record.data, kinds))
    if not addresses:
        return _ENODATA
    return Answer(addresses, min(record.ttl for record in result.answer))


def _error(host: str, codes: list[int]) -> socket.gaierror:
    """Return the error for a name without addresses, from the error code of each query.

    If a query failed for another reason than the name, the error is temporary (EAI_AGAIN).
    """
    failed = [code for code in codes if code not in _NO_SUCH_NAME]
    code = failed[0] if failed else codes[0]
    if failed:
        return socket.gaierror(socket.EAI_AGAIN, f"the name servers of {host} gave no answer: {_describe(code)}")
    return socket.gaierror(socket.EAI_NONAME, f"{host} has no address: {_describe(code)}")


def _describe(code: int) -> str:
    import pycares

    return str(pycares.errno.strerror(code))


@cache
def has_ipv6() -> bool:
    """Return whether this machine has a route to public IPv6 addresses. No packet is sent."""
    return _has_route("2001:500:88:200::8")


def _has_route(address: str) -> bool:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
        probe.connect((address, 53))
        return True
    return False


def sort_addresses(addresses: Iterable[str]) -> tuple[str, ...]:
    """Sort addresses: with a route first, then IPv6 before IPv4 (RFC 6724); otherwise in the given order.

    >>> sort_addresses(["127.0.0.2", "127.0.0.1"])
    ('127.0.0.2', '127.0.0.1')
    """
    found = list(dict.fromkeys(addresses))
    if not any(":" in address for address in found):
        return tuple(found)
    return tuple(sorted(found, key=lambda address: (not _has_route(address), ":" not in address)))


def read_hosts_file(path: Path) -> dict[str, tuple[str, ...]]:
    """Return the addresses of each name in a file such as /etc/hosts. Lines that are not understood are left out."""
    found: dict[str, tuple[str, ...]] = {}
    with suppress(OSError):
        for line in path.read_text("utf-8", "replace").splitlines():
            address, *names = line.partition("#")[0].split() or [""]
            with suppress(ValueError):
                ip_address(address.partition("%")[0])
                for name in names:
                    key = name.lower().rstrip(".")
                    found[key] = (*found.get(key, ()), address)
    return found


# ── Results ──────────────────────────────────────────────────────────────────────────────────────────


@dataclass(slots=True, eq=False)
class _Pin:
    """The address that a host uses, and the others that it has."""

    addresses: list[str]
    expires: float
    address: str = ""
    untried: int = 0
    """Number of addresses that were not tried since the last successful connection."""
    is_failed: bool = False
    """Whether the last request to the address failed, so that the next look-up goes on to the next address."""

    def others(self) -> list[str]:
        """Return the addresses after the current one, then those before it."""
        index = self.addresses.index(self.address)
        return self.addresses[index + 1 :] + self.addresses[:index]


@dataclass(slots=True, eq=False)
class _UnknownName:
    """A name that does not exist, as far as the last look-up knows."""

    error: OSError
    expires: float
    is_reported: bool = False
    """Whether a request has failed because of it. The next one, a retry, looks the name up again."""
    is_confirmed: bool = False
    """Whether a second look-up had the same result, so that the name is not looked up again until it expires."""


class GuardedResolver:
    """Resolves names with a table first, then by look-ups, and leaves refused addresses out.

    A host keeps its address until `renew` is called, because a request must go to the address whose politeness delay
    it has waited for, even if the name has several addresses or its TTL has passed meanwhile.
    """

    def __init__(
        self,
        guard: AddressGuard,
        table: Mapping[str, tuple[str, int]] | None = None,
        *,
        names: LookUp | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._guard = guard
        self._table = table or {}
        self._names: LookUp = names or NameServers()
        self._clock = clock
        self._pins: OrderedDict[str, _Pin] = OrderedDict()
        self._unknown: OrderedDict[str, _UnknownName] = OrderedDict()
        self._lookups: dict[str, asyncio.Task[Answer]] = {}

    def known_address(self, host: str, port: int) -> tuple[str, int] | None:
        """Return address and port of a host without a DNS request, or None if that is not possible."""
        if host in self._table:
            endpoint = self._table[host]
            self._filter_allowed(host, [endpoint[0]])
            return endpoint
        pin = self._pins.get(host)
        if pin is None:
            return None
        self._pins.move_to_end(host)
        return pin.address, port

    def is_stale(self, host: str) -> bool:
        """Return whether the TTL of a host's address has passed, so that `renew` should come before the next lease."""
        pin = self._pins.get(host)
        return pin is not None and self._clock() >= pin.expires

    async def resolve(self, host: str, port: int) -> tuple[str, int]:
        """Return address and port of a host. Raise OSError if the name cannot be resolved."""
        return self.known_address(host, port) or (await self.renew(host), port)

    async def renew(self, host: str) -> str:
        """Return the address for the next requests to a host, from a look-up if the TTL of the last one has passed.

        After a failure it is the next one of several addresses. Otherwise it stays as it is while the name has it.
        """
        if host in self._table:
            return self._filter_allowed(host, [self._table[host][0]])[0]
        pin = self._pins.get(host)
        if pin is not None and self._clock() < pin.expires and (pin.untried or not pin.is_failed):
            return self._choose(pin)
        try:
            answer = await self._look_up(host)
        except socket.gaierror as error:
            if pin is None or pin.is_failed or error.errno != socket.EAI_AGAIN:
                raise
            pin.expires = self._clock() + _STALE_SECONDS
            return pin.address
        return self._pin(host, answer)

    @property
    def lookups_free(self) -> int:
        """Number of look-ups that `look_up_ahead` may start now."""
        return max(0, MAX_AHEAD - len(self._lookups))

    def look_up_ahead(self, host: str) -> None:
        """Start a look-up for a host that will be needed soon. Errors are not reported."""
        if host in self._table or host in self._pins or host in self._lookups:
            return
        if self._known_error(host) is None:
            self._start(host).add_done_callback(lambda task: self._keep_ahead(host, task))

    def mark_reachable(self, host: str) -> None:
        """Record that a connection to the host's current address succeeded."""
        pin = self._pins.get(host)
        if pin is not None:
            pin.untried, pin.is_failed = len(pin.addresses) - 1, False

    def alternatives(self, host: str) -> Sequence[str]:
        """Return the next addresses of a host that were not tried since the last connection, at most a few."""
        pin = self._pins.get(host)
        return () if pin is None or not pin.untried else pin.others()[: min(pin.untried, _MAX_ALTERNATIVES)]

    def mark_failed(self, host: str, *, lost: int = 0) -> bool:
        """Record that the current address failed, and this number of alternatives.

        Return whether `renew` will give an address that was not tried yet.
        """
        pin = self._pins.get(host)
        if pin is None:
            return False
        pin.is_failed = True
        others = pin.others()
        pin.addresses = [*others[:lost], pin.address, *others[lost:]]
        pin.untried = max(0, pin.untried - lost)
        return pin.untried > 0

    async def close(self) -> None:
        """Cancel the look-ups in flight."""
        tasks = list(self._lookups.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._names.close()

    async def _look_up(self, host: str) -> Answer:
        """Return the answer of a look-up, which other callers may share.

        A name that does not exist is looked up once more by the retry of the frontier, and then not for a minute.
        """
        unknown = self._known_error(host)
        if unknown is not None and (unknown.is_confirmed or not unknown.is_reported):
            unknown.is_reported = True
            raise socket.gaierror(*unknown.error.args)
        try:
            return await asyncio.shield(self._lookups.get(host) or self._start(host))
        except socket.gaierror:
            if (found := self._known_error(host)) is not None:
                found.is_reported = True
            raise

    def _start(self, host: str) -> asyncio.Task[Answer]:
        task = self._lookups[host] = asyncio.ensure_future(self._names.look_up(host))
        task.add_done_callback(lambda done: self._finish(host, done))
        return task

    def _finish(self, host: str, task: asyncio.Task[Answer]) -> None:
        self._lookups.pop(host, None)
        error = None if task.cancelled() else task.exception()
        if isinstance(error, socket.gaierror) and error.errno != socket.EAI_AGAIN:
            before = self._unknown.pop(host, None)
            expires = self._clock() + _NEGATIVE_SECONDS
            self._unknown[host] = _UnknownName(error, expires, is_confirmed=before is not None)
            if len(self._unknown) > _MAX_UNKNOWN_HOSTS:
                self._unknown.popitem(last=False)

    def _keep_ahead(self, host: str, task: asyncio.Task[Answer]) -> None:
        if not task.cancelled() and task.exception() is None and host not in self._pins:
            with suppress(GuardRefusedError):  # the look-up for a request reports it
                self._pin(host, task.result())

    def _known_error(self, host: str) -> _UnknownName | None:
        unknown = self._unknown.get(host)
        if unknown is not None and self._clock() >= unknown.expires:
            del self._unknown[host]
            return None
        return unknown

    def _pin(self, host: str, answer: Answer) -> str:
        addresses = self._filter_allowed(host, list(answer.addresses))
        lasts = min(max(answer.ttl, MIN_TTL_SECONDS), _MAX_TTL_SECONDS)
        pin = self._pins.get(host)
        if pin is None:
            pin = self._pins[host] = _Pin(addresses, 0.0, untried=len(addresses))
            if len(self._pins) > _MAX_PINNED_HOSTS:
                self._pins.popitem(last=False)
        elif pin.is_failed and not pin.untried:
            pin.untried = len(addresses)  # all failed: another round
        pin.addresses, pin.expires = addresses, self._clock() + lasts
        return self._choose(pin)

    def _choose(self, pin: _Pin) -> str:
        """Keep the address of a host while it works; otherwise take the next one."""
        if pin.address in pin.addresses and not pin.is_failed:
            return pin.address
        index = pin.addresses.index(pin.address) + 1 if pin.address in pin.addresses else 0
        pin.address = pin.addresses[index % len(pin.addresses)]
        pin.untried, pin.is_failed = max(0, min(pin.untried, len(pin.addresses)) - 1), False
        return pin.address

    def _filter_allowed(self, host: str, addresses: list[str]) -> list[str]:
        reasons = [self._guard.refusal(address) for address in addresses]
        allowed = [address for address, reason in zip(addresses, reasons, strict=True) if not reason]
        if not allowed:
            raise GuardRefusedError("; ".join(reasons) or f"{host} has no address")
        return allowed
