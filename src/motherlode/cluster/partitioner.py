"""Which shard owns a host: jump consistent hashing (Lamping and Veach 2014) over the registrable domain.

By domain, so that politeness towards a site, and what is learned about it, stay in one place; hosts that are bare
addresses go by the address. With one more shard, one domain in so many moves, and only to the new shard.
"""

from __future__ import annotations

from functools import lru_cache

import xxhash

from motherlode.www.urls import host_of, registrable_domain

_MULTIPLIER = 2862933555777941757
_BITS = (1 << 64) - 1


def jump(key: int, buckets: int) -> int:
    """The bucket of a 64-bit key.

    >>> [jump(key, 4) for key in (1, 42, 2**63)], [jump(key, 1) for key in (1, 42)]
    ([0, 2, 3], [0, 0])
    """
    found, following = -1, 0
    while following < buckets:
        found = following
        key = (key * _MULTIPLIER + 1) & _BITS
        following = int((found + 1) * ((1 << 31) / ((key >> 33) + 1)))
    return found


@lru_cache(maxsize=1 << 17)
def owner_of_host(host: str, shards: int) -> int:
    """The number of the shard that owns a host.

    >>> owner_of_host("www.example.org", 8) == owner_of_host("shop.example.org:8080", 8)
    True
    """
    return jump(xxhash.xxh3_64_intdigest(registrable_domain(host).encode()), shards)


def owner_of(url: str, shards: int) -> int:
    """The number of the shard that owns a canonical URL."""
    return owner_of_host(host_of(url), shards)
