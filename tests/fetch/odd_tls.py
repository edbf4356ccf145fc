"""TLS servers of which a test controls every byte."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

from .servers import hang_up_by_reset


class Talk:
    """The server side of one connection."""

    def __init__(self, context: ssl.SSLContext, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)

    async def flight(self) -> bytes:
        """Return the first flight of the server after the ClientHello, without sending it."""
        self._incoming.write(await self.reader.read(1 << 16))
        with contextlib.suppress(ssl.SSLWantReadError):
            self.tls.do_handshake()
        return self._outgoing.read()

    async def shake(self) -> None:
        while True:
            try:
                self.tls.do_handshake()
            except ssl.SSLWantReadError:
                await self.send()
                await self._hear()
            else:
                return await self.send()

    async def head(self) -> str:
        """Return the head of the next request, or "" if the client closes."""
        heard = b""
        while b"\r\n\r\n" not in heard:
            try:
                heard += self.tls.read(1 << 16)
            except ssl.SSLWantReadError:
                if not await self._hear():
                    return ""
        return heard.decode()

    async def say(self, data: bytes) -> None:
        self.tls.write(data)
        await self.send()

    async def goodbye(self) -> None:
        """Send close_notify and keep the connection open."""
        with contextlib.suppress(ssl.SSLWantReadError):
            self.tls.unwrap()
        await self.send()

    async def send(self, raw: bytes = b"") -> None:
        """Send pending TLS messages, then raw bytes."""
        self.writer.write(self._outgoing.read() + raw)
        await self.writer.drain()

    def reset(self) -> None:
        hang_up_by_reset(self.writer)

    async def _hear(self) -> bool:
        data = await self.reader.read(1 << 16)
        self._incoming.write(data)
        return bool(data)


Script = Callable[[Talk], Awaitable[None]]


class OddServer:
    """Runs a script for each connection, then closes it without close_notify."""

    def __init__(self, context: ssl.SSLContext, script: Script) -> None:
        self.connections = 0
        self.port = 0
        self._context = context
        self._script = script
        self._tasks: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[OddServer]:
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        yield self
        server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await server.wait_closed()

    def url(self, path: str = "/", *, host: str = "127.0.0.1") -> str:
        return f"https://{host}:{self.port}{path}"

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        # uvloop raises RuntimeError for a closed connection.
        with contextlib.suppress(ssl.SSLError, ConnectionError, RuntimeError, asyncio.CancelledError):
            await self._script(Talk(self._context, reader, writer))
        self._tasks.discard(task)
        writer.close()
        with contextlib.suppress(ConnectionError, TimeoutError, asyncio.CancelledError):
            await writer.wait_closed()


class Forger:
    """Writes records of TLS 1.3 that no library would write, with the server's keys (RFC 8446, 5.2 and 7)."""

    ALERT, HANDSHAKE, DATA = 21, 22, 23
    NEW_KEYS = b"\x18\0\0\x01\x01"
    """KeyUpdate that requests an update of the client as well."""

    def __init__(self, keys: Path) -> None:
        """Read the secrets from the key log file of the server's context."""
        lines = [line.split() for line in keys.read_text().splitlines()]
        self._secret = next(bytes.fromhex(line[2]) for line in lines if line[0] == "SERVER_TRAFFIC_SECRET_0")
        self._use_secret()

    def record(self, kind: int, content: bytes) -> bytes:
        inner = content + bytes([kind])
        head = struct.pack("!BHH", self.DATA, 0x0303, len(inner) + 16)
        nonce = (self._start ^ self._sent).to_bytes(12, "big")
        self._sent += 1
        return head + self._cipher.encrypt(nonce, inner, head)

    def new_keys(self) -> bytes:
        made = self.record(self.HANDSHAKE, self.NEW_KEYS)
        self._secret = self._derived(b"traffic upd", len(self._secret))
        self._use_secret()
        return made

    def _use_secret(self) -> None:
        self._cipher = AESGCM(self._derived(b"key", 32 if len(self._secret) == 48 else 16))
        self._start = int.from_bytes(self._derived(b"iv", 12), "big")
        self._sent = 0

    def _derived(self, label: bytes, length: int) -> bytes:
        kind = hashes.SHA384() if len(self._secret) == 48 else hashes.SHA256()
        label = b"tls13 " + label
        info = struct.pack("!HB", length, len(label)) + label + b"\0"
        return HKDFExpand(algorithm=kind, length=length, info=info).derive(self._secret)


def open_sockets() -> int:
    """Return the number of open sockets of this process."""
    found = 0
    for link in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # the descriptor of the folder itself
            found += str(link.readlink()).startswith("socket:")
    return found
