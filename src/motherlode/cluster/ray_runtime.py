"""Connect to Ray: check the address of a cluster, and run with a local Ray or a running cluster.

The address is checked before Ray is called, because Ray itself retries for many minutes. The check connects to the
address and sends the first bytes of HTTP/2, which gRPC uses. Every Ray answers these at once. So an address without a
server, or with a server that is not Ray, is reported within seconds and before anything is written.
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from motherlode.crawler import Job, JobError
from motherlode.index.sinks.sink_settings import SinkKind

CONNECT_SECONDS = 5.0
"""Timeout for the connection and the first response of a cluster."""
_ADDRESS = re.compile(r"(?:ray://)?(?:\[(?P<six>[0-9a-fA-F:]+)\]|(?P<host>[^\s:/\[\]]+)):(?P<port>\d{1,5})")
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))
"""The HTTP/2 connection preface of a client, with an empty SETTINGS frame (RFC 9113, section 3.4)."""
_SETTINGS = 4
"""Type of the frame with which an HTTP/2 server must begin."""
_ADDRESS_HELP = (
    "--ray takes the address of a running cluster as printed by `ray start --head`, for example 10.0.0.1:6379; "
    "without --ray, or with --ray '' for `resume`, Motherlode starts Ray on this machine"
)


def check_cluster(address: str) -> None:
    """Raise JobError if there is no Ray cluster at the address. The empty address means a local Ray and is valid."""
    if not address:
        return
    endpoint = _find_local_address() if address == "auto" else address
    if endpoint == "local" or ("://" in endpoint and not endpoint.startswith("ray://")):
        return  # Ray interprets these itself
    problem = _find_problem(endpoint)
    if problem:
        raise JobError(f"the Ray cluster at {endpoint} cannot be joined: {problem}. {_ADDRESS_HELP}")


def _find_local_address() -> str:
    """Return the address of the Ray cluster that `auto` selects."""
    from ray._private.services import canonicalize_bootstrap_address  # no public function returns it without connecting

    try:
        found = canonicalize_bootstrap_address("auto")
    except (OSError, ValueError):
        found = None
    if found is None:
        raise JobError(f"--ray auto found no running Ray on this machine: {_ADDRESS_HELP}")
    return str(found)


def _find_problem(address: str) -> str:
    """Return why there is no Ray at the address, or "" if there is one."""
    parts = _ADDRESS.fullmatch(address)
    if parts is None:
        return "this is not an address with a port"
    endpoint = (parts["six"] or parts["host"], int(parts["port"]))
    try:
        with socket.create_connection(endpoint, timeout=CONNECT_SECONDS) as connected:
            if os.environ.get("RAY_USE_TLS", "0") not in ("", "0"):
                return ""  # a TLS server does not answer the plain preface
            return "" if _answers_http2(connected) else "the server there is not Ray"
    except TimeoutError:
        return f"no response within {CONNECT_SECONDS:g} s"
    except (OSError, OverflowError) as error:
        return f"connection failed ({getattr(error, 'strerror', None) or error})"


def _answers_http2(connected: socket.socket) -> bool:
    """Return whether the server answers the preface with an HTTP/2 SETTINGS frame."""
    connected.sendall(_PREFACE)
    head = b""
    while len(head) < 4:
        received = connected.recv(4 - len(head))
        if not received:
            return False
        head += received
    return head[3] == _SETTINGS


_OBJECT_STORE_BYTES = 100 << 20
"""Shared memory of a local Ray. The messages between shards are small."""
_RETRY_HELP = (
    "`motherlode resume DIR` tries again; add --ray ADDRESS for another cluster, or --ray '' for Ray on this machine"
)
WHAT_TO_INSTALL = 'shards and remote parsers need Ray, which is not installed: pip install "motherlode[ray]"'


def need_ray() -> None:
    """Raise JobError with installation instructions if Ray is not installed."""
    try:
        import ray  # noqa: F401
    except ImportError as error:
        raise JobError(WHAT_TO_INSTALL) from error


def check_state(url: str) -> None:
    """Raise JobError if fsspec cannot store checkpoints at the URL. An empty URL means no checkpoints."""
    if not url:
        return
    try:
        import fsspec  # type: ignore[import-untyped]

        fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise JobError(f"checkpoints cannot be stored at {url}: {error}") from error


@contextmanager
def running_ray(address: str, *, shards: int) -> Iterator[None]:
    """Connect to the Ray cluster at the address, or start a local Ray that ends with this context.

    The security settings of Ray's ports are not changed: see docs/cluster.md.
    """
    need_ray()
    import ray

    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # no usage reports to the Ray project
    os.environ.setdefault(
        "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0"
    )  # Ray's future default; without it Ray prints a warning
    logging_options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR", "configure_logging": False}
    try:
        if address:
            ray.init(address=address, **logging_options)
        else:
            processors = max(shards, os.cpu_count() or 1)
            ray.init(
                address="local",
                num_cpus=processors,
                include_dashboard=False,
                object_store_memory=_OBJECT_STORE_BYTES,
                **logging_options,
            )
    except (OSError, ValueError, RuntimeError) as error:
        problem = f"the Ray cluster at {address} cannot be joined" if address else "Ray cannot be started here"
        raise JobError(f"{problem}: {error}. {_RETRY_HELP if address else ''}".rstrip(". ")) from error
    try:
        yield
    finally:
        ray.shutdown()


def check_shards(job: Job) -> None:
    """Raise JobError if a crawl on Ray cannot run: without Ray, or with an unusable cluster or checkpoint URL."""
    if job.shards <= 1 and job.state:
        raise JobError("state is for crawls with several shards: add --shards N, with N greater than 1")
    if job.shards <= 1 and not job.ray_parsers:
        if job.ray:
            raise JobError("ray is for shards and remote parsers: add --shards N, N greater than 1, or --ray-parsers N")
        return
    need_ray()
    check_state(job.state)
    for sink in job.sink_settings() if job.shards > 1 else ():  # each shard numbers its N-Quads files from 1
        if sink.kind is SinkKind.NQUADS and Path(sink.path).is_absolute():
            raise JobError(
                f"all shards would write their N-Quads files to {sink.path}: "
                "use a relative path, which is inside the folder of each shard"
            )
    check_cluster(job.ray)
