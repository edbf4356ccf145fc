"""Hosts with hostile TLS servers on one port. The server name in the client hello selects the host."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from itertools import count
from pathlib import Path

from tests.fetch.certificates import certificate, server_context
from tests.fetch.odd_tls import Forger, Talk
from tests.fetch.servers import answer

HOSTS = ("tls-stuck", "tls-restless", "tls-keys", "tls-alert", "tls-cut", "tls-unproven", "tls-mute")


class TlsHosts:
    """A server that answers each connection with a hostile TLS byte stream."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._own = certificate(folder)
        self._numbers = count()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        named: list[str] = []
        keys = self._folder / f"keys{next(self._numbers)}"
        context = server_context(self._own)
        context.sni_callback = lambda tls, name, context: named.append(name.removesuffix(".example"))
        context.num_tickets = 0  # session tickets would use the first sequence numbers of the forged records
        context.keylog_filename = str(keys)
        with contextlib.suppress(ConnectionError, ssl.SSLError):
            talk = Talk(context, reader, writer)
            flight = await talk.flight()
            await _follow(named[0], talk, flight, keys)
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


async def _follow(name: str, talk: Talk, flight: bytes, keys: Path) -> None:
    if name == "tls-stuck":
        for byte in flight:
            await talk.send(bytes([byte]))
            await asyncio.sleep(1)
    while name == "tls-restless":
        await talk.send(b"\x16\x03\x03\0\x04\0\0\0\0" * 1000)
    await talk.send(flight)
    await talk.shake()
    await talk.head()
    if name == "tls-keys":
        forger = Forger(keys)
        while True:
            await talk.send(b"".join(forger.new_keys() for _ in range(500)))
    if name == "tls-alert":
        await talk.send(Forger(keys).record(Forger.ALERT, b"\x02\x50"))
    if name == "tls-cut":
        await talk.say(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>cut")
    if name == "tls-unproven":
        await talk.say(answer(b"never seen"))
    if name == "tls-mute":
        await asyncio.sleep(60)
