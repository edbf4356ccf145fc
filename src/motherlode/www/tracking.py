"""Tracking and session parameters of addresses, by the table in tracking.txt, and sessions in paths."""

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

_PATH_PARAMETER = re.compile(r";([^/;=]++=[^/;]*+)")
"""A parameter of a path segment, as servlets write them."""
_COOKIELESS = re.compile(
    r"/\((?:(?:X\(1\))?+(?:[AFS]\([\w-]{20,}+\)(?:X\(1\))?+)++|(?=[a-z]*+[0-9])[0-9a-z]{24})\)(?=/)", re.ASCII
)
"""A segment in which ASP.NET keeps what else would be cookies: session, sign-in, visitor (`S`, `F`, `A`), and whether
there may be any (`X`). Its first version wrote the bare session."""


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


def without_sessions(path: str) -> str:
    """A path without parameters that a query would lose, and without the segments of ASP.NET's sessions.

    >>> without_sessions("/a;jsessionid=1/b;sid=2"), without_sessions("/x/(S(lit3py55t21z5v55vlm25s55))/page.aspx")
    ('/a/b;sid=2', '/x/page.aspx')
    """
    if ";" in path:
        path = _PATH_PARAMETER.sub(_unless_tracking, path)
    return _COOKIELESS.sub("", path) if "/(" in path else path


def _unless_tracking(parameter: re.Match[str]) -> str:
    return "" if is_tracking(parameter[1]) else parameter[0]
