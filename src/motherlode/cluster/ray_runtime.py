"""Is there a Ray at an address? Asked before Ray is asked: Ray itself goes on trying for many minutes.

A connection is made, and the first bytes of gRPC are sent, to which every Ray answers at once. So an address at which
nobody is, and one at which somebody else is, are told within seconds, and before anything is written.
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from motherlode.crawler import JobError

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


# ── A Ray to run on: one of our own on this machine, or a cluster that is running already.

_OBJECT_STORE = 100 << 20
"""Bytes of shared memory: what shards send each other is small."""
_TRY_AGAIN = "`motherlode resume DIR` tries again, with --ray ADDRESS elsewhere, with --ray '' on a Ray of its own"
WHAT_TO_INSTALL = 'several shards run on Ray, which is not installed: pip install "motherlode[ray]"'


def need_ray() -> None:
    """An error that says what to install, where Ray is not."""
    try:
        import ray  # noqa: F401
    except ImportError as error:
        raise JobError(WHAT_TO_INSTALL) from error


def check_state(place: str) -> None:
    """An error where checkpoints could not be kept at this place."""
    if not place:
        return
    try:
        import fsspec  # type: ignore[import-untyped]

        fsspec.core.url_to_fs(place)
    except (ImportError, ValueError) as error:
        raise JobError(f"checkpoints cannot be kept at {place}: {error}") from error


@contextmanager
def running_ray(address: str, *, shards: int) -> Iterator[None]:
    """Be connected to Ray inside; with an address to that cluster, otherwise to a Ray that ends with us.

    Ray's own protection of its ports is left as Ray sets it up: see docs/cluster.md.
    """
    need_ray()
    import ray

    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # a crawl tells nobody about itself
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # Ray's future default; otherwise it warns
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR", "configure_logging": False}
    try:
        if address:
            ray.init(address=address, **quiet)
        else:
            processors = max(shards, os.cpu_count() or 1)
            ray.init(
                address="local",
                num_cpus=processors,
                include_dashboard=False,
                object_store_memory=_OBJECT_STORE,
                **quiet,
            )
    except (OSError, ValueError, RuntimeError) as error:
        place = f"the Ray cluster at {address} cannot be joined" if address else "Ray cannot be started here"
        raise JobError(f"{place}: {error}. {_TRY_AGAIN if address else ''}".rstrip(". ")) from error
    try:
        yield
    finally:
        ray.shutdown()
