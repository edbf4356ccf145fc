"""The one place that speaks HTTP. One request in, one page or failure out; redirects are answers, not errands."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from motherlode.fetch.guard import AddressGuard, GuardedResolver, GuardRefusedError, one_spelling
from motherlode.fetch.http.connections import ConnectionPool, Endpoint, PendingRequest, Proxy
from motherlode.fetch.http.errors import (
    CLOSED_WITHOUT_NOTIFY,
    NO_CONNECTION,
    TIMED_OUT,
    FetchError,
    described,
    dns_error,
    guard_refusal,
)
from motherlode.fetch.http.request import Origin, RequestWriter, is_head, split
from motherlode.fetch.http.response import ResponseReader
from motherlode.fetch.http.tls import TlsContexts
from motherlode.fetch.robots import MAX_SIZE
from motherlode.model import Failure, FailureKind, Fetched, Request, RequestKind

_MOST_RULES = MAX_SIZE + 1
"""Bytes of a robots.txt: one more than is read, so that whoever reads it sees that the last line may be half of one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpLimits:
    """How long and how large an answer may be."""

    connect: float = 15.0
    first_byte: float = 30.0
    """Seconds without a byte, at any point of the answer."""
    whole: float = 120.0
    body: int = 10 << 20
    """Bytes, after unpacking; the rest of a longer body is left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpOptions:
    """What the fetcher is told by the job."""

    user_agent: str
    limits: HttpLimits = HttpLimits()
    allow: tuple[str, ...] = ()
    """Address ranges that the guard lets pass although they are not public."""
    hosts: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    """Host names that do not go to DNS: address and port of each."""
    useful: tuple[str, ...] = ()
    """Media types (`image/*` is a family) whose bodies are wanted although nothing of ours reads them."""
    any_certificate: Callable[[str], bool] | None = None
    """Tells of a host, with its port where that is not the default, whether it need not prove who it is."""
    proxy: str | None = None
    """Where all requests go, in the place of the hosts themselves. The user named it, so the guard does not ask where
    it is. The guard then asks about the hosts *before* each request, as far as this machine can resolve them: what
    the proxy itself makes of a name is beyond our sight."""


class HttpFetcher:
    """HTTP/1.1, without cookies, without automatic redirects, behind the address guard."""

    def __init__(self, options: HttpOptions) -> None:
        self._limits = options.limits
        self._useful = options.useful
        self._guard = AddressGuard(options.allow)
        self._resolver = GuardedResolver(self._guard, options.hosts)
        self._proxy = None if options.proxy is None else Proxy.at(options.proxy)
        self._sender = RequestWriter({"User-Agent": options.user_agent})
        self._proxy_sender = RequestWriter(
            {"User-Agent": options.user_agent, **(self._proxy.fields if self._proxy else {})}
        )
        self._connections = ConnectionPool(
            self._guard,
            TlsContexts(options.any_certificate),
            proxy=self._proxy,
            connect=self._limits.connect,
            silence=self._limits.first_byte,
        )

    async def fetch(self, request: Request) -> Fetched:
        if not request.url.startswith(("http://", "https://")):
            return Failure(url=request.url, kind=FailureKind.SCHEME, detail="only http and https are fetched")
        began, clock = time.time(), time.perf_counter()
        most = _MOST_RULES if request.kind is RequestKind.ROBOTS else self._limits.body
        intake = ResponseReader(request, most=most, useful=self._useful)
        trouble = await self._ask(request, intake)
        elapsed = time.perf_counter() - clock
        if trouble is CLOSED_WITHOUT_NOTIFY:
            intake.may_be_cut = True
        elif trouble is not None and not intake.is_whole:
            return Failure(
                url=request.url,
                kind=trouble.kind,
                detail=trouble.detail,
                fetched_at=began,
                elapsed=elapsed,
                wire_bytes=intake.wire_bytes,
                elsewhere=trouble.elsewhere,
                silent=trouble.silent,
            )
        address = one_spelling(intake.peer) if self._proxy is None else ""  # it would be that of the proxy
        return intake.result(began=began, elapsed=elapsed, address=address)

    async def resolve(self, url: str) -> str | Failure:
        """The address that the next request for the URL's host goes to; looked up anew."""
        origin, _ = split(url)
        if origin.is_address:
            return one_spelling(origin.host)
        try:
            async with asyncio.timeout(self._limits.connect):
                return one_spelling(await self._resolver.renew(origin.host))
        except OSError as error:
            trouble = _unresolved(error)
        if trouble.kind is not FailureKind.GUARD and self._proxy is not None:
            return origin.host  # the proxy may know it: the name is its own clock
        return Failure(url=url, kind=trouble.kind, detail=trouble.detail, silent=trouble.silent)

    async def close(self) -> None:
        await self._connections.close()

    async def _ask(self, request: Request, intake: ResponseReader) -> FetchError | None:
        posting = request.posting
        whole = self._limits.whole if posting is None else posting.seconds
        deadline = asyncio.get_running_loop().time() + whole
        try:
            origin, target = split(request.url)
            sent = self._written(request, origin, target)
        except ValueError as error:
            return FetchError(FailureKind.PROTOCOL, described(error))
        place = await self._place(origin, deadline)
        if isinstance(place, FetchError):
            return place
        question = PendingRequest(sent, intake, deadline, is_head(request), posting is None)
        trouble = await self._connections.ask(place, question)
        if self._proxy is not None:
            return trouble  # which of the host's addresses was tried, the proxy knows
        if trouble is None or not (trouble is NO_CONNECTION or trouble.kind is FailureKind.CONNECT):
            self._resolver.met(origin.host)
            return trouble
        return trouble._replace(elsewhere=self._resolver.has_another(origin.host))

    def written(self, request: Request) -> bytes:
        """A request as its host gets it, for those who keep a record of it; what only a proxy is told is left out."""
        origin, target = split(request.url)
        return self._sender.written(request, target=target, authority=origin.authority)

    def _written(self, request: Request, origin: Origin, target: str) -> bytes:
        if self._proxy is None or origin.secure:
            return self._sender.written(request, target=target, authority=origin.authority)
        target = f"http://{origin.authority}{target}"
        return self._proxy_sender.written(request, target=target, authority=origin.authority)

    async def _place(self, origin: Origin, deadline: float) -> Endpoint | FetchError:
        """Where the request goes."""
        if self._proxy is not None:
            return await self._refused_before(origin) or Endpoint(origin, "", origin.port)
        if origin.is_address:
            return Endpoint(origin, origin.host, origin.port)
        try:
            found = self._resolver.known(origin.host, origin.port)
            if found is None:
                async with asyncio.timeout_at(deadline):
                    found = await self._resolver.resolve(origin.host, origin.port)
        except OSError as error:
            return TIMED_OUT._replace(silent=True) if isinstance(error, TimeoutError) else _unresolved(error)
        return Endpoint(origin, *found)

    async def _refused_before(self, origin: Origin) -> FetchError | None:
        """Behind a proxy: why the host may not be asked, as far as can be known here."""
        if origin.is_address:
            reason = self._guard.refusal(origin.host)
            return guard_refusal(reason) if reason else None
        try:
            async with asyncio.timeout(self._limits.connect):
                await self._resolver.resolve(origin.host, origin.port)
        except OSError as error:
            trouble = _unresolved(error)
            return trouble if trouble.kind is FailureKind.GUARD else None  # the proxy may know the name
        return None


def _unresolved(error: OSError) -> FetchError:
    """Why a host has no address."""
    if isinstance(error, GuardRefusedError):
        return guard_refusal(error)
    if isinstance(error, TimeoutError):
        return FetchError(FailureKind.NO_DNS, "no answer in time", silent=True)
    return dns_error(error)
