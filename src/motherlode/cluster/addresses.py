"""Is there a Ray at an address? Asked before Ray is asked: Ray itself goes on trying for many minutes.

A connection is made, and the first bytes of gRPC are sent, to which every Ray answers at once. So an address at which
nobody is, and one at which somebody else is, are told within seconds, and before anything is written.
"""

from __future__ import annotations

import os
import re
import socket

from motherlode.crawl import JobError

SECONDS = 5.0
"""A cluster that takes longer to say its first word is of no use to a crawl."""
_ADDRESS = re.compile(r"(?:ray://)?(?:\[(?P<six>[0-9a-fA-F:]+)\]|(?P<host>[^\s:/\[\]]+)):(?P<port>\d{1,5})")
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))
"""How a client begins to speak HTTP/2, with settings that say nothing (RFC 9113, 3.4)."""
_SETTINGS = 4
"""The type of the frame with which a server must answer."""
_WHAT_TO_DO = (
    "--ray takes the address of a running cluster, as `ray start --head` prints it (10.0.0.1:6379); "
    "without --ray, or with --ray '' for `resume`, Motherlode starts a Ray of its own on this machine"
)


def check_cluster(address: str) -> None:
    """JobError where no Ray can be joined at an address; "" is for a Ray of our own."""
    if not address:
        return
    place = _running_here() if address == "auto" else address
    if place == "local" or ("://" in place and not place.startswith("ray://")):
        return  # Ray knows what that means
    trouble = _trouble(place)
    if trouble:
        raise JobError(f"the Ray cluster at {place} cannot be joined: {trouble}. {_WHAT_TO_DO}")


def _running_here() -> str:
    """The address of the Ray that `auto` means."""
    from ray._private.services import canonicalize_bootstrap_address  # no public function tells it without joining

    try:
        found = canonicalize_bootstrap_address("auto")
    except (OSError, ValueError):
        found = None
    if found is None:
        raise JobError(f"no Ray runs on this machine that --ray auto could join: {_WHAT_TO_DO}")
    return str(found)


def _trouble(place: str) -> str:
    """What keeps a Ray from being there; "" for nothing."""
    parts = _ADDRESS.fullmatch(place)
    if parts is None:
        return "that is not an address with a port"
    endpoint = (parts["six"] or parts["host"], int(parts["port"]))
    try:
        with socket.create_connection(endpoint, timeout=SECONDS) as connected:
            if os.environ.get("RAY_USE_TLS", "0") not in ("", "0"):
                return ""  # its first word would be about certificates
            return "" if _speaks(connected) else "somebody else is there, who does not speak as Ray does"
    except TimeoutError:
        return f"no answer within {SECONDS:g} s"
    except (OSError, OverflowError) as error:
        return f"nobody answers ({getattr(error, 'strerror', None) or error})"


def _speaks(connected: socket.socket) -> bool:
    """Whether the other side answers in HTTP/2."""
    connected.sendall(_PREFACE)
    head = b""
    while len(head) < 4:
        received = connected.recv(4 - len(head))
        if not received:
            return False
        head += received
    return head[3] == _SETTINGS
