"""Tracking and session parameters of addresses, by the table in tracking.txt."""

from __future__ import annotations

import re
from importlib.resources import files

_LINES = (line.partition("#")[0].strip() for line in (files(__package__) / "tracking.txt").read_text().splitlines())
_TABLE = [line for line in _LINES if line]

NAMES = frozenset(line for line in _TABLE if line[-1] not in "*?")
PREFIXES = tuple(line[:-1] for line in _TABLE if line.endswith("*"))
IF_OPAQUE = frozenset(line[:-1] for line in _TABLE if line.endswith("?"))
"""Names of sessions that are names of other things too: dropped where the value is a session's."""

_OPAQUE = re.compile(r"[0-9a-fA-F]{32}|[0-9a-fA-F]{40}|[0-9a-f]{64}|(?=[a-z]*[0-9])[0-9a-z]{26}")
"""Digests of the usual lengths, and what PHP makes: no number, word or title looks like this."""

PATH_SESSION = re.compile(r";(?:jsessionid|phpsessid|sessionid|sid)=[^/;?]*", re.IGNORECASE)
"""Sessions as parameters of a path segment, as servlets write them."""


def is_tracking(parameter: str) -> bool:
    """Whether a parameter of a query, `name=value`, can be dropped.

    >>> [is_tracking(it) for it in ("utm_source=feed", "PHPSESSID=1", "sid=12", "sid=d41d8cd98f00b204e9800998ecf8427e")]
    [True, True, False, True]
    """
    name, _, value = parameter.partition("=")
    name = name.lower()
    if name in NAMES or name.startswith(PREFIXES):
        return True
    return name in IF_OPAQUE and _OPAQUE.fullmatch(value) is not None
