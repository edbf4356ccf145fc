"""Hosts that a job treats in another way than others.

A site's owner may crawl it whatever its robots.txt tells strangers. Each host is named, in the job, which also says who
is crawling (`contact`); there is no way to say "all hosts", and a name that covers other people's hosts is refused.

Who need not prove by a certificate who it is, is for the user alone to say: it may be everybody.
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
    return _named(names, key="own_hosts", may_be_others=False)


def unproven_hosts(names: Sequence[str]) -> Callable[[str], bool]:
    """Tells whether any certificate will do for a host; a star alone stands for all hosts.

    >>> unproven = unproven_hosts(["*.lab.example"])
    >>> unproven("a.lab.example:8443"), unproven("lab.example"), unproven_hosts(["*"])("lab.example")
    (True, False, True)
    """
    if "*" in names:
        return lambda host: True
    return _named(names, key="any_certificate", may_be_others=True)


def _named(names: Sequence[str], *, key: str, may_be_others: bool) -> Callable[[str], bool]:
    exact: set[str] = set()
    ends: set[str] = set()
    for given in names:
        parts = _GIVEN.fullmatch(given.strip())
        name = host_name(parts[2]) if parts else None
        if parts is None or name is None:
            raise ValueError(f"{key}: {given!r} is no host name, as in example.org or *.example.org")
        port = parts[3] or ""
        if parts[1]:
            if not may_be_others and registrable_domain(f"x.{name}") == f"x.{name}":
                raise ValueError(f"{key}: {given!r} covers hosts of other people")
            ends.add(f".{name}{port}")
        else:
            exact.add(name + port)
    endings = tuple(ends)

    def is_named(host: str) -> bool:
        name = host if host.endswith("]") else _PORT.sub("", host)
        return host in exact or name in exact or host.endswith(endings) or name.endswith(endings)

    return is_named
