"""Hosts of the user's own: the only ones whose robots.txt a crawl may leave unread.

A site's owner may crawl it whatever its robots.txt tells strangers. Each host is named, in the job, which also says who
is crawling (`contact`); there is no way to say "all hosts", and a name that covers other people's hosts is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from motherlode.www.urls import registrable_domain

_NAME = re.compile(r"(?:[*][.])?(?:\[[0-9a-f:.]+\]|[a-z0-9_-]+(?:[.][a-z0-9_-]+)*)(?::\d+)?")


def own_hosts(names: Sequence[str]) -> Callable[[str], bool]:
    """Tells whether a host, with its port where that is not the default, is among the named; ValueError for bad names.

    >>> own = own_hosts(["example.org", "*.data.example.org", "localhost:8080"])
    >>> [own(host) for host in ("example.org", "example.org:8080", "a.data.example.org", "localhost:8080")]
    [True, True, True, True]
    >>> [own(host) for host in ("www.example.org", "data.example.org", "notexample.org", "localhost")]
    [False, False, False, False]
    """
    exact: set[str] = set()
    ends: set[str] = set()
    for given in names:
        name = given.strip().lower()
        if _NAME.fullmatch(name) is None:
            raise ValueError(f"own_hosts: {given!r} is no host name, as in example.org or *.example.org")
        if name.startswith("*."):
            if registrable_domain(f"x.{name[2:]}") == f"x.{name[2:]}":
                raise ValueError(f"own_hosts: {given!r} covers hosts of other people")
            ends.add(name[1:])
        else:
            exact.add(name)
    endings = tuple(ends)

    def is_own(host: str) -> bool:
        name = host if host.endswith("]") else re.sub(r":\d+$", "", host)
        return host in exact or name in exact or (bool(endings) and name.endswith(endings))

    return is_own
