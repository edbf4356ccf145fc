"""Why a host has to wait because of the limit on untried hosts of its domain, for explanations."""

from __future__ import annotations

from collections.abc import Iterable

from motherlode.frontier.records import HostRecord
from motherlode.www.urls import registrable_domain


def domain_refusal(name: str, records: Iterable[HostRecord], *, limit: int, named: Iterable[str]) -> str:
    """Return why a host that is not admitted has to wait, according to the host records of a crawl; or "".

    >>> records = [HostRecord(name=f"h{number}.a.example") for number in range(2)]
    >>> domain_refusal("x.a.example", records, limit=2, named=())
    'a.example has 2 other hosts that may be contacted, none relevant so far; this one needs one more relevant host'
    >>> [domain_refusal(f"{name}.a.example", records, limit=limit, named=()) for name, limit in (("x", 3), ("h1", 2))]
    ['', '']
    """
    domain, exempt = registrable_domain(name), set(named)
    if name in exempt:
        return ""
    admitted = relevant = 0
    for record in records:
        if record.admitted and domain in record.name and registrable_domain(record.name) == domain:
            if record.name == name:
                return ""
            admitted += record.name not in exempt
            relevant += record.relevant > 0
    if admitted < limit * (1 + relevant):
        return ""
    others = f"{admitted} other hosts that may be contacted, {relevant or 'none'} relevant so far"
    return f"{domain} has {others}; this one needs one more relevant host"
