"""Assignment of hosts to shards."""

from __future__ import annotations

from collections import Counter

import pytest

from motherlode.cluster.partitioner import owner_of, owner_of_host

HOSTS = [f"site-{number}.example" for number in range(20_000)]


@pytest.mark.parametrize("shards", [1, 2, 7, 64])
def test_additional_shard_gets_its_share_and_no_other_host_moves(shards: int) -> None:
    before = {host: owner_of_host(host, shards) for host in HOSTS}
    after = {host: owner_of_host(host, shards + 1) for host in HOSTS}
    moved = [host for host in HOSTS if before[host] != after[host]]
    assert {after[host] for host in moved} == {shards}, "hosts move only to the new shard"
    assert len(moved) / len(HOSTS) == pytest.approx(1 / (shards + 1), rel=0.2)


def test_shards_own_about_equally_many_hosts() -> None:
    counts = Counter(owner_of_host(host, 8) for host in HOSTS)
    assert sorted(counts) == list(range(8))
    assert max(counts.values()) < 1.1 * len(HOSTS) / 8


def test_hosts_of_a_domain_have_one_owner_and_addresses_are_hashed_separately() -> None:
    names = ("example.co.uk", "www.example.co.uk", "a.b.example.co.uk:8080")
    assert len({owner_of(f"https://{name}/x", 64) for name in names}) == 1
    assert owner_of("http://127.0.0.5:81/", 64) == owner_of("http://127.0.0.5:82/x", 64)
    assert len({owner_of(f"http://127.0.0.{last}/", 64) for last in range(1, 200)}) > 30
