"""Descriptors: each connection takes one, and a system may give a process no more than 256 of them.

Where they run out, a connection fails as if nobody were there, and the host would have to answer for it.
"""

from __future__ import annotations

import resource
from contextlib import suppress

_RESTING_SHARE = 3
"""One descriptor in so many, at most, is that of a connection that rests."""


def make_room(*, connections: int, resting: int) -> None:
    """Let this process have as many descriptors as it may need, as far as the system allows."""
    wanted = connections + _RESTING_SHARE * resting
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        with suppress(OSError, ValueError):  # some systems have limits that they do not tell
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def most_resting(wanted: int) -> int:
    """How many connections may rest, of so many, that there are descriptors left for those under way."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return wanted if soft == resource.RLIM_INFINITY else min(wanted, soft // _RESTING_SHARE)
