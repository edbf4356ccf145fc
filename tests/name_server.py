"""A small name server for tests: it answers over UDP on loopback, late or never if a test wants that."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from ipaddress import IPv4Address, ip_address

A, CNAME, SOA, AAAA = 1, 5, 6, 28
NO_ERROR, SERVFAIL, NXDOMAIN, REFUSED = 0, 2, 3, 5


@dataclass(slots=True)
class Name:
    """The answer of the server for a name."""

    addresses: tuple[str, ...] = ()
    ttl: int = 300
    alias: str = ""
    """Target of a CNAME. The records of the target are in the same response if the server has them."""
    delay: float = 0.0
    """Seconds before the response."""
    code: int = NO_ERROR
    silent: bool = False
    """Whether there is no response at all."""


@dataclass(eq=False)
class NameServer(asyncio.DatagramProtocol):
    """Answers from `names`, or from `find` for names that are not there."""

    names: dict[str, Name] = field(default_factory=dict)
    find: Callable[[str], Name | None] = lambda name: None
    queries: list[tuple[str, int]] = field(default_factory=list)
    """Name and record type of every query, in the order in which they came."""
    endpoint: str = ""
    """Address and port, as the job key `name_servers` has them."""
    is_silent: bool = False
    """Whether the server answers no query, as if it were down."""
    _transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.DatagramTransport) or hasattr(transport, "sendto")
        self._transport = transport  # type: ignore[assignment]

    def datagram_received(self, data: bytes, address: tuple[str, int]) -> None:
        name, kind, end = _read_question(data)
        self.queries.append((name, kind))
        known = self.names.get(name) or self.find(name) or Name(code=NXDOMAIN)
        if self.is_silent or known.silent:
            return
        asyncio.get_running_loop().call_later(known.delay, self._send, self._respond(data, name, kind, end), address)

    def asked(self, name: str) -> int:
        """Return how many queries for IPv4 addresses of a name came."""
        return self.queries.count((name, A))

    def _send(self, data: bytes, address: tuple[str, int]) -> None:
        if self._transport is not None and not self._transport.is_closing() and not self.is_silent:
            self._transport.sendto(data, address)

    def _respond(self, query: bytes, name: str, kind: int, end: int) -> bytes:
        records, known = [], self.names.get(name) or self.find(name) or Name(code=NXDOMAIN)
        code = known.code
        while known is not None:
            for text in known.addresses:
                parsed = ip_address(text)
                if kind == (A if isinstance(parsed, IPv4Address) else AAAA):
                    records.append(_record(name, kind, known.ttl, parsed.packed))
            if not known.alias:
                break
            records.append(_record(name, CNAME, known.ttl, _write_name(known.alias)))
            name, known = known.alias, self.names.get(known.alias) or self.find(known.alias)
        head = query[:2] + struct.pack("!HHHHH", 0x8180 | code, 1, len(records), 0, 0)
        return head + query[12:end] + b"".join(records)


def _read_question(data: bytes) -> tuple[str, int, int]:
    labels, at = [], 12
    while length := data[at]:
        labels.append(data[at + 1 : at + 1 + length].decode("ascii"))
        at += 1 + length
    (kind,) = struct.unpack_from("!H", data, at + 1)
    return ".".join(labels).lower(), kind, at + 5


def _write_name(name: str) -> bytes:
    return b"".join(bytes([len(label)]) + label.encode("ascii") for label in name.split(".")) + b"\0"


def _record(name: str, kind: int, ttl: int, data: bytes) -> bytes:
    return _write_name(name) + struct.pack("!HHIH", kind, 1, ttl, len(data)) + data


@asynccontextmanager
async def serving_names(server: NameServer | None = None, *, address: str = "127.0.0.1") -> AsyncIterator[NameServer]:
    """Run a name server at a free UDP port of a loopback address."""
    server = server or NameServer()
    listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    listener.bind((address, 0))
    server.endpoint = f"{address}:{listener.getsockname()[1]}"
    transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(lambda: server, sock=listener)
    try:
        yield server
    finally:
        transport.close()
