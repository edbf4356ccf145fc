"""Limits of file descriptors.

Each connection needs a descriptor, and some systems give a process only 256. If they run out, connecting fails, and the
host would be blamed for it.
"""

from __future__ import annotations

import resource
from contextlib import suppress

_IDLE_DIVISOR = 3
"""At most one descriptor in three belongs to an idle connection."""


def raise_descriptor_limit(*, connections: int, idle: int) -> None:
    """Raise the soft limit of file descriptors for these numbers of connections, as far as the system allows."""
    wanted = connections + _IDLE_DIVISOR * idle
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < limit:
        with suppress(OSError, ValueError):  # some systems have further limits that getrlimit does not report
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))


def max_idle_connections(wanted: int) -> int:
    """Return `wanted`, or fewer if active connections would otherwise run out of descriptors."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return wanted if soft == resource.RLIM_INFINITY else min(wanted, soft // _IDLE_DIVISOR)
