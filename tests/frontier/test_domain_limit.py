"""The explanation of the limit on untried hosts of a domain."""

from __future__ import annotations

import pytest

from motherlode.frontier import HostRecord
from motherlode.frontier.domain_limit import domain_refusal

RECORDS = (
    HostRecord(name="a.zone.example", relevant=1),
    HostRecord(name="b.zone.example"),
    HostRecord(name="c.zone.example", admitted=False),
    HostRecord(name="other.example"),
)


@pytest.mark.parametrize(("limit", "waits"), [(1, True), (2, False)])
def test_domain_refusal_counts_admitted_hosts_and_each_relevant_one_raises_the_limit(limit: int, waits: bool) -> None:  # noqa: FBT001
    assert bool(domain_refusal("new.zone.example", RECORDS, limit=limit, named=())) is waits


def test_domain_refusal_of_admitted_or_named_host_is_empty() -> None:
    assert domain_refusal("b.zone.example", RECORDS, limit=1, named=()) == ""
    assert domain_refusal("c.zone.example", RECORDS, limit=1, named=("c.zone.example",)) == ""
    assert domain_refusal("c.zone.example", RECORDS, limit=1, named=()) != ""
