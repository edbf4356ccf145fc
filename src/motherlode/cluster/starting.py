"""A Ray to run on: one of our own on this machine, or a cluster that is running already."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from motherlode.crawl import JobError

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
