"""Measures round trip and loss of the box with datagrams.

    python tools/box/probe.py echo ADDRESS
    python tools/box/probe.py send ADDRESS COUNT

`send` prints the median round trip in seconds, and the share of packets that are lost per direction.
"""

from __future__ import annotations

import select
import socket
import statistics
import struct
import sys
import time
from typing import NamedTuple

_PORT = 7
_PAUSE_SECONDS = 0.001
_LAST_SECONDS = 2.0
"""Seconds after the last datagram for which its answer is awaited."""


class Measured(NamedTuple):
    """Median round trip in seconds, and share of packets lost per direction."""

    round_trip: float
    loss: float


def echo(address: str) -> None:
    """Send every datagram back."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind((address, _PORT))
        print("ready", flush=True)
        while True:
            data, sender = server.recvfrom(2048)
            server.sendto(data, sender)


def send(address: str, count: int) -> Measured:
    """Send datagrams and wait for their echoes."""
    times: list[float] = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.connect((address, _PORT))
        for _ in range(count):
            client.send(struct.pack("!d", time.monotonic()))
            _receive(client, times, _PAUSE_SECONDS)
        until = time.monotonic() + _LAST_SECONDS
        while len(times) < count and time.monotonic() < until:
            _receive(client, times, 0.05)
    both_ways = len(times) / count
    return Measured(statistics.median(times) if times else 0.0, 1 - both_ways**0.5)


def _receive(client: socket.socket, times: list[float], seconds: float) -> None:
    while select.select([client], [], [], seconds)[0]:
        (sent,) = struct.unpack("!d", client.recv(2048))
        times.append(time.monotonic() - sent)
        seconds = 0.0


def main(arguments: list[str]) -> None:
    if arguments[0] == "echo":
        echo(arguments[1])
    print(*send(arguments[1], int(arguments[2])))


if __name__ == "__main__":
    main(sys.argv[1:])
