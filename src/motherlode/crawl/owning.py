"""Hosts of the user's own: the only ones whose robots.txt a crawl may leave unread.

A site's owner may crawl it whatever its robots.txt tells strangers. Each host is named, in the job, which also says who
is crawling (`contact`); there is no way to say "all hosts", and a name that covers other people's hosts is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from motherlode.crawl.hostnames import host_name
from motherlode.www.urls import registrable_domain

_GIVEN = re.compile(r"([*][.])?(.+?)(:\d+)?")
_PORT = re.compile(r":\d+$")


def own_hosts(names: Sequence[str]) -> Callable[[str], bool]:
    """Tells whether a host, with its port where that is not the default, is among the named; ValueError for bad names.

    Without a port, a name covers all of a host's.

    >>> own = own_hosts(["example.org", "*.data.example.org", "localhost:8080"])
    >>> [own(host) for host in ("example.org", "example.org:8080", "a.data.example.org", "localhost:8080")]
    [True, True, True, True]
    >>> [own(host) for host in ("www.example.org", "data.example.org", "notexample.org", "localhost")]
    [False, False, False, False]
    """
    exact: set[str] = set()
    ends: set[str] = set()
    for given in names:
        parts = _GIVEN.fullmatch(given.strip())
        name = host_name(parts[2]) if parts else None
        if parts is None or name is None:
            raise ValueError(f"own_hosts: {given!r} is no host name, as in example.org or *.example.org")
        port = parts[3] or ""
        if parts[1]:
            if registrable_domain(f"x.{name}") == f"x.{name}":
                raise ValueError(f"own_hosts: {given!r} covers hosts of other people")
            ends.add(f".{name}{port}")
        else:
            exact.add(name + port)
    endings = tuple(ends)

    def is_own(host: str) -> bool:
        name = host if host.endswith("]") else _PORT.sub("", host)
        return host in exact or name in exact or host.endswith(endings) or name.endswith(endings)

    return is_own
