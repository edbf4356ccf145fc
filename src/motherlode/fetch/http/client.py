"""The HTTP client: one request in, one page or failure out. Redirects are returned, not followed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from motherlode.fetch.dns import GuardedResolver, NameServers
from motherlode.fetch.guard import AddressGuard, normalize_address
from motherlode.fetch.http import errors
from motherlode.fetch.http.connections import ConnectionPool, Connector
from motherlode.fetch.http.decoding import ACCEPT_ENCODING
from motherlode.fetch.http.endpoints import Endpoint, PendingRequest
from motherlode.fetch.http.errors import FetchError
from motherlode.fetch.http.host_headers import HostHeaders, headers_for, is_secret
from motherlode.fetch.http.intermediates import MAX_CERTIFICATE_BYTES, Intermediates
from motherlode.fetch.http.proxy import proxy_chooser
from motherlode.fetch.http.response import ResponseReader
from motherlode.fetch.http.tls import TlsContexts, new_strict_context
from motherlode.fetch.robots import MAX_ROBOTS_BYTES
from motherlode.model import Failure, FailureKind, Fetched, Request, RequestKind
from motherlode.www.media_types import ACCEPT
from motherlode.www.urls import Origin, canonical, split_url

if TYPE_CHECKING:
    from motherlode.fetch.http.signatures import RequestSigner

_ROBOTS_BODY_BYTES = MAX_ROBOTS_BYTES + 1
"""Limit for a robots.txt. One byte more than is parsed, which shows that the last line may be incomplete."""


_ADDRESS_IN_DOUBT = frozenset({FailureKind.CONNECT, FailureKind.TIMEOUT, FailureKind.TLS, FailureKind.CERTIFICATE})
"""Failures after which a host with several addresses is tried at the next one."""
_NO_HEADERS: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpLimits:
    """Limits of time and size of a response."""

    connect: float = 15.0
    """Timeout in seconds for resolving the name, and for connecting."""
    first_byte: float = 30.0
    """Timeout in seconds without a received byte, at any point of the response."""
    whole: float = 120.0
    """Timeout in seconds for the whole request."""
    min_rate: float = 200.0
    """Minimum bytes per second of a response, averaged over `first_byte` seconds. A slower request fails."""
    body: int = 10 << 20
    """Maximum size of the decoded body in bytes. A longer body is truncated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpOptions:
    """Options of the client, from the job."""

    user_agent: str
    limits: HttpLimits = HttpLimits()
    allow: tuple[str, ...] = ()
    """Address ranges that the guard allows although they are not public."""
    hosts: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    """IP address and port of host names that are not resolved by DNS."""
    name_servers: Sequence[str] = ()
    """Name servers, each an address with or without a port; those of the system if there are none."""
    useful: tuple[str, ...] = ()
    """Media types (`image/*` is a family) whose bodies are fetched for an extractor of the user."""
    any_certificate: Callable[[str], bool] | None = None
    """Returns whether the certificate of a host (with its port, if that is not the default) is not verified."""
    host_headers: tuple[HostHeaders, ...] = ()
    """Headers for named hosts."""
    signer: RequestSigner | None = None
    """Signs https requests (Web Bot Auth); None if they are not signed."""
    keep_wire: bool = False
    """Whether to keep the bytes of each response as received, for an archive, and to read the bodies of failures."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """The variables that `proxy` refers to if it is "environment"."""
    proxy: str | None = None
    """URL of the proxy for all requests, or "environment". The guard does not check its address, because the user chose
    it. It checks the address of a host before each request if this machine can resolve the name. The proxy may
    resolve it differently."""


class RequestWriter:
    """Serializes requests. Headers common to all requests are serialized once."""

    def __init__(self, common_headers: Mapping[str, str]) -> None:
        self._common = _serialize_headers({**common_headers, "Accept-Encoding": ACCEPT_ENCODING})

    def serialize(
        self,
        request: Request,
        *,
        target: str,
        authority: str,
        more: Mapping[str, str] = _NO_HEADERS,
        signature: str = "",
    ) -> bytes:
        """Return the request with its headers, further ones, the lines of a signature, and for a POST its body."""
        method = method_of(request)
        own = _serialize_headers({**_request_headers(request), **more}) + signature
        head = f"{method} {target} HTTP/1.1\r\nHost: {authority}\r\n{self._common}{own}\r\n".encode()
        return head if request.posting is None else head + request.posting.body


def method_of(request: Request) -> str:
    return "HEAD" if request.kind is RequestKind.PROBE else "GET" if request.posting is None else "POST"


def _request_headers(request: Request) -> dict[str, str]:
    headers = {"Accept": request.accept or ACCEPT}
    if request.posting is not None:
        headers.update(request.posting.headers)
        headers["Content-Length"] = str(len(request.posting.body))
    if request.etag:
        headers["If-None-Match"] = request.etag
    if request.last_modified:
        headers["If-Modified-Since"] = request.last_modified
    return headers


def _serialize_headers(headers: Mapping[str, str]) -> str:
    return "".join([_header_line(name, value) for name, value in headers.items()])


@lru_cache(maxsize=256)
def _header_line(name: str, value: str) -> str:
    """Return one header line. Some values come from servers, so a line break must not start another header."""
    line = f"{name}: {value}"
    if any(character in line for character in "\r\n\0"):
        raise ValueError(f"{name} has a line break")
    return f"{line}\r\n"


def _no_proxy(origin: Origin) -> None:
    return None


class HttpFetcher:
    """HTTP/1.1 client without cookies and without automatic redirects, behind the address guard."""

    def __init__(self, options: HttpOptions) -> None:
        self._limits = options.limits
        self._useful = options.useful
        self._keep_wire = options.keep_wire
        self._host_headers = options.host_headers
        self._signer = options.signer
        self._guard = AddressGuard(options.allow)
        self._resolver = GuardedResolver(self._guard, options.hosts, names=NameServers(options.name_servers))
        self._has_proxy = options.proxy is not None
        self._proxy_for = proxy_chooser(options.proxy, options.environment) if self._has_proxy else _no_proxy
        self._writer = RequestWriter({"User-Agent": options.user_agent})
        self._tls = TlsContexts(options.any_certificate)
        connector = Connector(
            self._guard,
            self._tls,
            proxy=self._proxy_for,
            timeout=self._limits.connect,
            intermediates=Intermediates(self._fetch_certificate, new_strict_context),
        )
        self._connections = ConnectionPool(
            connector, read_timeout=self._limits.first_byte, min_rate=self._limits.min_rate
        )

    async def fetch(self, request: Request) -> Fetched:
        """Send a request and return the page or the failure. Never raise for what a server does."""
        if not request.url.startswith(("http://", "https://")):
            return Failure(url=request.url, kind=FailureKind.SCHEME, detail="only http and https are fetched")
        began, clock = time.time(), time.perf_counter()
        max_body_bytes = _ROBOTS_BODY_BYTES if request.kind is RequestKind.ROBOTS else self._limits.body
        reader = ResponseReader(request, max_body_bytes=max_body_bytes, useful=self._useful, keep_wire=self._keep_wire)
        error = await self._send(request, reader)
        elapsed = time.perf_counter() - clock
        if error is errors.CLOSED_WITHOUT_NOTIFY:
            reader.may_be_cut = True
        elif error is not None and not reader.is_complete:
            return Failure(
                url=request.url,
                kind=error.kind,
                detail=error.detail,
                fetched_at=began,
                elapsed=elapsed,
                wire_bytes=reader.wire_bytes,
                has_other_address=error.has_other_address,
                silent=error.silent,
            )
        is_direct = not self._has_proxy or self._proxy_for(split_url(request.url)[0]) is None
        address = normalize_address(reader.peer) if is_direct else ""  # not the address of the proxy
        return reader.result(began=began, elapsed=elapsed, address=address)

    async def resolve(self, url: str) -> str | Failure:
        """Resolve the URL's host anew. Return the IP address to which its next request will go."""
        origin, _ = split_url(url)
        if origin.is_address:
            return normalize_address(origin.host)
        try:
            async with asyncio.timeout(self._limits.connect):
                return normalize_address(await self._resolver.renew(origin.host))
        except OSError as raised:
            error = errors.dns_error(raised)
        if error.kind is not FailureKind.GUARD and self._proxy_for(origin) is not None:
            return origin.host  # the proxy may resolve it; politeness then counts per name
        return Failure(url=url, kind=error.kind, detail=error.detail, silent=error.silent)

    def is_stale(self, host: str) -> bool:
        """Return whether the IP address of a host must be looked up again before its next request."""
        return self._resolver.is_stale(host.partition(":")[0])  # IP addresses are never stale

    @property
    def lookups_free(self) -> int:
        """Number of look-ups that `look_up_ahead` may start now."""
        return 0 if self._has_proxy else self._resolver.lookups_free

    def look_up_ahead(self, host: str) -> None:
        """Start to look up a host that will be needed soon."""
        origin, _ = split_url(f"http://{host}/")
        if not origin.is_address:
            self._resolver.look_up_ahead(origin.host)

    def load_authorities(self) -> None:
        """Load the authorities of certificates now, and not when the first https URL is fetched."""
        self._tls.load_authorities()

    def close_idle(self) -> None:
        """Close all idle connections, to save memory."""
        self._connections.close_idle()

    async def close(self) -> None:
        await self._connections.close()
        await self._resolver.close()

    async def _fetch_certificate(self, url: str) -> bytes | str:
        """Return the certificate at an http URL that another certificate names, or the reason for its absence."""
        canonical_url = canonical(url)
        if canonical_url is None:
            return "not a URL"
        request = Request(url=canonical_url, kind=RequestKind.SUBREQUEST, accept="application/pkix-cert, */*;q=0.5")
        reader = ResponseReader(request, max_body_bytes=MAX_CERTIFICATE_BYTES, useful=())
        error = await self._send(request, reader)
        if error is not None:
            return error.detail
        fetched = reader.result(began=0.0, elapsed=0.0, address="")
        if isinstance(fetched, Failure):
            return fetched.detail
        return f"longer than {MAX_CERTIFICATE_BYTES} bytes" if fetched.truncated else fetched.body

    def serialize(self, request: Request) -> bytes:
        """Return a request as its host receives it, for archives, without secrets, signatures and proxy headers."""
        origin, target = split_url(request.url)
        more = {name: value for name, value in self._headers_for(origin).items() if not is_secret(name)}
        return self._writer.serialize(request, target=target, authority=origin.authority, more=more)

    def _headers_for(self, origin: Origin) -> Mapping[str, str]:
        return headers_for(origin, self._host_headers) if self._host_headers else _NO_HEADERS

    async def _send(self, request: Request, reader: ResponseReader) -> FetchError | None:
        posting = request.posting
        timeout = self._limits.whole if posting is None else posting.seconds
        deadline = asyncio.get_running_loop().time() + timeout
        try:
            origin, target = split_url(request.url)
            data = self._serialize_for_wire(request, origin, target)
        except ValueError as raised:
            return FetchError(FailureKind.PROTOCOL, errors.describe_error(raised))
        endpoint = await self._find_endpoint(origin, deadline)
        if isinstance(endpoint, FetchError):
            return endpoint
        others = self._resolver.alternatives(origin.host)  # behind a proxy, it chooses the address itself
        pending = PendingRequest(
            data,
            reader,
            deadline,
            head_only=request.kind is RequestKind.PROBE,
            is_repeatable=posting is None,
            alternatives=[endpoint._replace(address=other) for other in others] if others and endpoint.address else (),
            wire=reader.wire,
        )
        error = await self._connections.send(endpoint, pending)
        if self._has_proxy and self._proxy_for(origin) is not None:
            return error  # only the proxy knows which of the host's addresses it tried
        if error is None or error.kind not in _ADDRESS_IN_DOUBT:
            self._resolver.mark_reachable(origin.host)
            return error
        has_next = self._resolver.mark_failed(origin.host, lost=error.lost)
        return error._replace(has_other_address=has_next and error.is_unconnected)

    def _serialize_for_wire(self, request: Request, origin: Origin, target: str) -> bytes:
        if not (self._has_proxy or self._host_headers or self._signer):
            return self._writer.serialize(request, target=target, authority=origin.authority)
        more, proxy, signature = self._headers_for(origin), self._proxy_for(origin), ""
        if self._signer is not None and origin.is_https and request.posting is None:
            signature = self._signer.header_lines(method_of(request), origin.authority, target, now=time.time())
        if proxy is not None and not (origin.is_https or proxy.is_socks):
            more, target = {**more, **proxy.headers}, f"http://{origin.authority}{target}"
        return self._writer.serialize(
            request, target=target, authority=origin.authority, more=more, signature=signature
        )

    async def _find_endpoint(self, origin: Origin, deadline: float) -> Endpoint | FetchError:
        if self._has_proxy and self._proxy_for(origin) is not None:
            return await self._refusal_behind_proxy(origin) or Endpoint(origin, "", origin.port)
        if origin.is_address:
            return Endpoint(origin, origin.host, origin.port)
        try:
            found = self._resolver.known_address(origin.host, origin.port)
            if found is None:
                async with asyncio.timeout_at(deadline):
                    found = await self._resolver.resolve(origin.host, origin.port)
        except OSError as raised:
            is_late = isinstance(raised, TimeoutError)
            return errors.TIMED_OUT._replace(silent=True) if is_late else errors.dns_error(raised)
        return Endpoint(origin, *found)

    async def _refusal_behind_proxy(self, origin: Origin) -> FetchError | None:
        """Return why the guard refuses a host behind a proxy. None if it does not, or if we cannot resolve the name."""
        if origin.is_address:
            reason = self._guard.refusal(origin.host)
            return errors.guard_refusal(reason) if reason else None
        try:
            async with asyncio.timeout(self._limits.connect):
                await self._resolver.resolve(origin.host, origin.port)
        except OSError as raised:
            error = errors.dns_error(raised)
            return error if error.kind is FailureKind.GUARD else None  # the proxy may resolve the name
        return None
