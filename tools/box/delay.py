"""The delay layer where the kernel has no netem: a TUN device whose packets come back later.

    python tools/box/delay.py DEVICE ROUND_TRIP JITTER [SECOND_NUMBER=ROUND_TRIP...]

Every packet that is routed to the device is written back to it after half a round trip. Packets between the same two
addresses keep their order. The routes of `tools.box.network` let the kernel deliver the returned packets.
"""

from __future__ import annotations

import fcntl
import os
import select
import struct
import sys
import time
from heapq import heappop, heappush
from random import Random

_TUNSETIFF = 0x400454CA
_TUN_WITHOUT_HEADER = 0x0001 | 0x1000
_PACKET_BYTES = 65_536
_SOURCE_SECOND, _TARGET_SECOND = 13, 17
"""Offsets of the second number of source and target in an IPv4 header."""
READY = "delay layer is ready"


def open_device(name: str) -> int:
    """Create a TUN device and return its descriptor."""
    descriptor = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(descriptor, _TUNSETIFF, struct.pack("16sH", name.encode(), _TUN_WITHOUT_HEADER))
    return descriptor


class DelayLine:
    """Packets that wait, ordered by the time at which they are due."""

    def __init__(self, round_trip: float, jitter: float, round_trips: dict[int, float]) -> None:
        self._one_way = [round_trips.get(number, round_trip) / 2 for number in range(256)]
        self._jitter = jitter / 2
        self._random = Random(1).random
        self._waiting: list[tuple[float, int, bytes]] = []
        self._number = 0
        self._last: dict[bytes, float] = {}
        """Source and target address → time at which the last packet between them is due."""

    def add(self, packet: bytes, now: float) -> None:
        """Add a packet. The longer of the delays of its two addresses counts."""
        if packet[0] >> 4 != 4:
            return
        delay = max(self._one_way[packet[_SOURCE_SECOND]], self._one_way[packet[_TARGET_SECOND]])
        due = now + delay + self._jitter * self._random()
        path = packet[12:20]
        due = max(due, self._last.get(path, 0.0))
        self._last[path] = due
        self._number += 1
        heappush(self._waiting, (due, self._number, packet))

    def take(self, now: float) -> list[bytes]:
        """Remove and return the packets that are due."""
        found = []
        while self._waiting and self._waiting[0][0] <= now:
            found.append(heappop(self._waiting)[2])
        return found

    def seconds_until_next(self, now: float) -> float:
        return max(0.0, self._waiting[0][0] - now) if self._waiting else 1.0


def run(descriptor: int, line: DelayLine) -> None:
    """Delay packets until the process is ended."""
    poll = select.epoll()
    poll.register(descriptor, select.EPOLLIN)
    clock = time.monotonic
    while True:
        poll.poll(line.seconds_until_next(clock()))
        now = clock()
        try:
            while True:
                line.add(os.read(descriptor, _PACKET_BYTES), now)
        except BlockingIOError:
            pass
        for packet in line.take(now):
            os.write(descriptor, packet)


def main(arguments: list[str]) -> None:
    name, round_trip, jitter, *others = arguments
    round_trips = {int(number): float(seconds) for number, _, seconds in (one.partition("=") for one in others)}
    descriptor = open_device(name)
    print(READY, flush=True)
    run(descriptor, DelayLine(float(round_trip), float(jitter), round_trips))


if __name__ == "__main__":
    main(sys.argv[1:])
