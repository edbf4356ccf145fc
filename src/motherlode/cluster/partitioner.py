"""Assignment of hosts to shards: jump consistent hashing (Lamping and Veach 2014) of the registrable domain.

All hosts of a domain belong to one shard, so that the politeness towards a site and the statistics about it are kept by
one shard. A host that is an IP address is hashed by the address. If a shard is added to n shards, one domain in n + 1
moves, and only to the new shard.
"""

from __future__ import annotations

from functools import lru_cache

import xxhash

from motherlode.www.urls import host_of, registrable_domain

_MULTIPLIER = 2862933555777941757
_BITS = (1 << 64) - 1


def jump(key: int, buckets: int) -> int:
    """Return the bucket of a 64-bit key.

    >>> [jump(key, 4) for key in (1, 42, 2**63)], [jump(key, 1) for key in (1, 42)]
    ([0, 2, 3], [0, 0])
    """
    bucket, following = -1, 0
    while following < buckets:
        bucket = following
        key = (key * _MULTIPLIER + 1) & _BITS
        following = int((bucket + 1) * ((1 << 31) / ((key >> 33) + 1)))
    return bucket


@lru_cache(maxsize=1 << 17)
def owner_of_host(host: str, shards: int) -> int:
    """Return the number of the shard that owns a host.

    >>> owner_of_host("www.example.org", 8) == owner_of_host("shop.example.org:8080", 8)
    True
    """
    return jump(xxhash.xxh3_64_intdigest(registrable_domain(host).encode()), shards)


def owner_of(url: str, shards: int) -> int:
    """Return the number of the shard that owns a canonical URL."""
    return owner_of_host(host_of(url), shards)
