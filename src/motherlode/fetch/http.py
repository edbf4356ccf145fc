"""The one place that speaks HTTP. One request in, one page or failure out; redirects are answers, not errands."""

from __future__ import annotations

import asyncio
import socket
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from ipaddress import ip_address

import aiohttp
from aiohttp.connector import Connection
from yarl import URL

from motherlode.fetch.answers import USELESS_AFTER, failure_from_status, is_useless
from motherlode.fetch.guard import AddressGuard, GuardedResolver, GuardRefusedError, guarded_socket
from motherlode.fetch.unpack import ACCEPTED, UNPACK_ERRORS, Unpacker, unpacker_for
from motherlode.model import Failure, FailureKind, Fetched, Page, Request, RequestKind
from motherlode.www.media import ACCEPT, essence

_HEADER_LIMIT = 1 << 16
"""Bytes of one header: content security policies outgrow aiohttp's 8 KiB."""
_JUDGED = frozenset({RequestKind.PAGE, RequestKind.PROBE})
"""Requests whose answer may turn out to be useless."""
_HEAD = 512
"""Bytes that `is_useless` looks at."""


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
    proxy: str | None = None
    """Where all requests go, in the place of the hosts themselves. The user named it, so the guard does not ask where
    it is. The guard then asks about the hosts *before* each request, as far as this machine can resolve them: what
    the proxy itself makes of a name is beyond our sight."""


class _Response(aiohttp.ClientResponse):
    """Remembers who answered: aiohttp gives the connection back as soon as a short answer is complete."""

    peer = ""

    async def start(self, connection: Connection) -> aiohttp.ClientResponse:
        place = connection.transport.get_extra_info("peername") if connection.transport else None
        self.peer = str(place[0]) if place else ""
        return await super().start(connection)


class HttpFetcher:
    """aiohttp, without cookies, without automatic redirects, behind the address guard."""

    def __init__(self, options: HttpOptions) -> None:
        self._options = options
        self._limits = options.limits
        self._guard = AddressGuard(options.allow)
        self._resolver = GuardedResolver(self._guard, options.hosts)
        connector = self._connector() if options.proxy is None else aiohttp.TCPConnector(limit=0, keepalive_timeout=15)
        self._session = aiohttp.ClientSession(
            connector=connector,
            auto_decompress=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            response_class=_Response,
            max_line_size=_HEADER_LIMIT,
            max_field_size=_HEADER_LIMIT,
            headers={"User-Agent": options.user_agent, "Accept-Encoding": ACCEPTED},
            proxy=options.proxy,
        )

    def _connector(self) -> aiohttp.TCPConnector:
        return aiohttp.TCPConnector(
            limit=0,
            resolver=self._resolver,
            use_dns_cache=False,  # the resolver keeps addresses itself
            socket_factory=partial(guarded_socket, self._guard),
            keepalive_timeout=15,
        )

    async def fetch(self, request: Request) -> Fetched:
        if not request.url.startswith(("http://", "https://")):
            return Failure(url=request.url, kind=FailureKind.SCHEME, detail="only http and https are fetched")
        if self._options.proxy is not None:
            refused = await self._refused_before(request.url)
            if refused is not None:
                return refused
        began, clock = time.time(), time.perf_counter()
        try:
            async with self._session.request(
                _method(request),
                URL(request.url, encoded=True),
                allow_redirects=False,
                headers=_headers(request),
                data=None if request.posting is None else request.posting.body,
                timeout=self._timeout(request),
            ) as response:
                assert isinstance(response, _Response)  # as the session was told
                fetched = await self._read(request, response, began, clock)
                return fetched if self._resolves else replace(fetched, address="")  # it would be that of the proxy
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError, *UNPACK_ERRORS) as error:
            kind, detail = _classify(error)
            elapsed = time.perf_counter() - clock
            return Failure(url=request.url, kind=kind, detail=detail, fetched_at=began, elapsed=elapsed)

    async def resolve(self, url: str) -> str | Failure:
        """The address that the next request for the URL's host goes to; looked up anew."""
        name = URL(url, encoded=True).raw_host or ""
        try:
            return str(ip_address(name))  # an address written as such, and not a name
        except ValueError:
            pass
        try:
            async with asyncio.timeout(self._limits.connect):
                return await self._resolver.renew(name)
        except GuardRefusedError as error:
            return Failure(url=url, kind=FailureKind.GUARD, detail=f"{error}; --allow lets you name ranges of your own")
        except TimeoutError:
            return Failure(url=url, kind=FailureKind.DNS, detail="no answer in time") if self._resolves else name
        except OSError as error:
            return Failure(url=url, kind=FailureKind.DNS, detail=str(error)) if self._resolves else name

    @property
    def _resolves(self) -> bool:
        """False behind a proxy, where a name that this machine does not know is left to the proxy, as its own clock."""
        return self._options.proxy is None

    async def _refused_before(self, url: str) -> Failure | None:
        """Behind a proxy: why the host may not be asked, as far as can be known here."""
        name = URL(url, encoded=True).raw_host or ""
        try:
            reason = self._guard.refusal(str(ip_address(name)))
        except ValueError:
            found = await self._known_address(url, name)
            return found if isinstance(found, Failure) else None
        detail = f"{reason}; --allow lets you name ranges of your own"
        return Failure(url=url, kind=FailureKind.GUARD, detail=detail) if reason else None

    async def _known_address(self, url: str, name: str) -> Failure | None:
        try:
            async with asyncio.timeout(self._limits.connect):
                await self._resolver.resolve(name)
        except GuardRefusedError as error:
            return Failure(url=url, kind=FailureKind.GUARD, detail=f"{error}; --allow lets you name ranges of your own")
        except (OSError, TimeoutError):
            pass  # the proxy may know it
        return None

    def _is_useful(self, content_type: str) -> bool:
        media_type = essence(content_type)
        family = f"{media_type.partition('/')[0]}/*"
        return any(useful in (media_type, family, "*/*") for useful in self._options.useful)

    def _timeout(self, request: Request) -> aiohttp.ClientTimeout:
        whole = self._limits.whole if request.posting is None else request.posting.seconds
        return aiohttp.ClientTimeout(total=whole, sock_connect=self._limits.connect, sock_read=self._limits.first_byte)

    async def _read(self, request: Request, response: _Response, began: float, clock: float) -> Fetched:
        headers = _joined(response)
        failure = failure_from_status(request.url, response.status, headers)
        unpacker = unpacker_for(headers.get("content-encoding", ""))
        body, wire = bytearray(), 0
        if failure is None and unpacker is None:
            detail = f"unknown Content-Encoding {headers['content-encoding']!r}"
            failure = Failure(url=request.url, kind=FailureKind.PROTOCOL, detail=detail, status=response.status)
        if failure is None and unpacker is not None:
            wanted = request.kind not in _JUDGED or self._is_useful(headers.get("content-type", ""))
            useful, wire = await self._fill(body, response, unpacker, "" if wanted else headers.get("content-type", ""))
            if not useful:
                detail = f"nothing can come of {headers.get('content-type', '')}"
                failure = Failure(url=request.url, kind=FailureKind.USELESS, detail=detail, status=response.status)
        elapsed = time.perf_counter() - clock
        if failure is not None:
            return replace(failure, address=response.peer, fetched_at=began, elapsed=elapsed, wire_bytes=wire)
        return Page(
            url=request.url,
            status=response.status,
            headers=headers,
            body=bytes(body[: self._limits.body]),
            truncated=len(body) > self._limits.body,
            address=response.peer,
            fetched_at=began,
            elapsed=elapsed,
            wire_bytes=wire,
        )

    async def _fill(
        self, body: bytearray, response: _Response, unpacker: Unpacker, content_type: str
    ) -> tuple[bool, int]:
        """Read the body to its end or one byte past the limit; whether it may be of use, and bytes on the wire."""
        wire, judged = 0, False
        async for chunk in response.content.iter_any():
            wire += len(chunk)
            body += unpacker.feed(chunk, self._limits.body + 1 - len(body))
            if not judged and len(body) >= USELESS_AFTER:
                judged = True
                if is_useless(content_type, bytes(body[:_HEAD])):
                    response.close()
                    return False, wire
            if len(body) > self._limits.body:
                response.close()
                break
        return judged or not is_useless(content_type, bytes(body)), wire

    async def close(self) -> None:
        await self._session.close()


def _method(request: Request) -> str:
    if request.kind is RequestKind.PROBE:
        return "HEAD"
    return "GET" if request.posting is None else "POST"


def _headers(request: Request) -> dict[str, str]:
    headers = {"Accept": request.accept or ACCEPT}
    if request.posting is not None:
        headers.update(request.posting.headers)
    if request.etag:
        headers["If-None-Match"] = request.etag
    if request.last_modified:
        headers["If-Modified-Since"] = request.last_modified
    return headers


def _joined(response: aiohttp.ClientResponse) -> dict[str, str]:
    """Headers with lower-case names; what a name says several times is joined."""
    joined: dict[str, str] = {}
    for name, value in response.headers.items():
        key = name.lower()
        value = _plain(value)
        joined[key] = f"{joined[key]}, {value}" if key in joined else value
    return joined


def _plain(text: str) -> str:
    """A header's text, in Latin-1 where it is not the UTF-8 that aiohttp takes it for."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogateescape").decode("latin-1")
    return text


def _classify(error: BaseException) -> tuple[FailureKind, str]:
    """The kind of failure that an exception of the HTTP client means."""
    cause = error.__cause__ if isinstance(error.__cause__, GuardRefusedError) else getattr(error, "os_error", error)
    if isinstance(cause, GuardRefusedError):
        return FailureKind.GUARD, f"{cause}; --allow lets you name ranges of your own"
    said = error.message if isinstance(error, aiohttp.ClientResponseError) else str(error)
    text = _plain(" ".join(said.split())) or type(error).__name__
    if isinstance(error, asyncio.TimeoutError):
        return FailureKind.TIMEOUT, "no answer in time"
    if isinstance(error, aiohttp.ClientConnectorDNSError) or isinstance(cause, socket.gaierror):
        return FailureKind.DNS, text
    if isinstance(error, (aiohttp.ClientSSLError, ssl.SSLError)):
        return FailureKind.TLS, text
    if isinstance(error, aiohttp.ClientConnectorError):
        return FailureKind.CONNECT, text
    if isinstance(error, (aiohttp.ServerDisconnectedError, aiohttp.ClientPayloadError, OSError)):
        return FailureKind.RESET, text
    return FailureKind.PROTOCOL, text
