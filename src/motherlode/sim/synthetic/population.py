"""The hosts of the synthetic web: size, profile, popularity and links of each host in a few arrays; access to sites.

Only these arrays are computed in advance, about forty bytes per host, so that a web of ten million pages starts in a
second. Pages are never enumerated. `docs/synthetic-web.md` explains the numbers below.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from motherlode.sim.synthetic.entity_kinds import KINDS
from motherlode.sim.synthetic.host_profiles import HOST_PROFILES, Family, HostProfile
from motherlode.sim.synthetic.random_draws import mix, named, normals, uniforms
from motherlode.sim.synthetic.site import Site, build_site

PAGES_PER_HOST = 130
LEAST_HOSTS = 48
"""Minimum number of hosts, so that every profile occurs even in a small web."""
LEAST_PAGES = 4
SIZE_SIGMA = 1.5
"""Sigma of the log-normal distribution of host sizes."""
FAME_SIGMA = 2.0
"""Sigma of the log-normal distribution of links that hosts receive."""
LARGEST_SHARE = 0.07
"""Maximum share of its family's pages that one host has, if there are enough hosts."""
FAMILY_SHARES = {Family.BARREN: 0.50, Family.MIXED: 0.18, Family.RICH: 0.32}
_REMEMBERED = 16384
"""Number of sites kept in memory. The others are computed again when they are needed."""
_KIN_TRIES = 3
FOUND_AT_HUB = 0.7
"""Share of hosts that are first linked from a hub. The others are first linked from any host."""

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


class World:
    """The hosts and sites of one web. Host k is the same for every number of pages, except for its size."""

    def __init__(self, *, pages: int, seed: int, hosts: int | None) -> None:
        count = hosts if hosts is not None else max(LEAST_HOSTS, pages // PAGES_PER_HOST)
        if count < 1 or pages < LEAST_PAGES * count:
            raise ValueError(
                f"a synthetic web of {count} hosts needs {LEAST_PAGES * max(1, count)} pages or more, not {pages}"
            )
        self.count = count
        self.pages = pages
        self._seed = named(seed, "sites")
        self._names = named(seed, "names")
        self.profiles = _profiles(named(seed, "habits"), count)
        self.sizes = _sizes(named(seed, "sizes"), pages, self.profiles)
        self._parents = _parents(named(seed, "parents"), self.profiles)
        self._by_parent = np.argsort(self._parents, kind="stable")
        self._first_child = np.searchsorted(self._parents[self._by_parent], np.arange(count + 1))
        fame = _fame(named(seed, "fame"), self.sizes, self.profiles)
        self._everyone = _Lottery(range(count), fame)
        self._families = {family: self._lottery(family, fame) for family in Family}
        self._same_profile = [np.flatnonzero(self.profiles == number) for number in range(len(HOST_PROFILES))]
        self.site = lru_cache(maxsize=_REMEMBERED)(self._build)
        self.find = lru_cache(maxsize=_REMEMBERED)(self._find)

    def _lottery(self, family: Family, fame: Floats) -> _Lottery | None:
        members = np.flatnonzero(
            np.isin(self.profiles, [n for n, profile in enumerate(HOST_PROFILES) if profile.family is family])
        )
        return _Lottery(members.tolist(), fame[members]) if len(members) else None

    def profile(self, host: int) -> HostProfile:
        return HOST_PROFILES[int(self.profiles[host])]

    def stem(self, host: int) -> str:
        profile = self.profile(host)
        stems = profile.stems or KINDS[profile.sections[0].kinds[0]].stems
        return stems[mix(self._names, host) % len(stems)]

    def name(self, host: int) -> str:
        domain = self.profile(host).domain
        return f"{self.stem(host)}-{host}.{domain}.example" if domain else f"{self.stem(host)}-{host}.example"

    def _find(self, name: str) -> int | None:
        digits = name.partition(".")[0].rpartition("-")[2]
        if not (digits.isascii() and digits.isdigit() and len(digits) < 10):
            return None
        host = int(digits)
        return host if host < self.count and self.name(host) == name else None

    def hosts_listed_by(self, host: int) -> Sequence[int]:
        """Return the hosts that this host must link to, so that every host is reachable: these links form a tree."""
        first, last = self._first_child[host], self._first_child[host + 1]
        return [int(child) for child in self._by_parent[first:last]]

    def famous(self, bits: int, family: Family | None = None) -> int:
        """Return a host drawn by popularity, from all hosts or from one family."""
        lottery = self._families.get(family, self._everyone) if family is not None else self._everyone
        return (lottery or self._everyone).draw(bits)

    def names(self) -> Iterator[str]:
        return map(self.name, range(self.count))

    def _build(self, host: int) -> Site:
        return build_site(
            host=host,
            name=self.name(host),
            title=self.title(host),
            profile=self.profile(host),
            seed=mix(self._seed, host),
            size=int(self.sizes[host]),
            listed_hosts=self.hosts_listed_by(host),
        )

    def title(self, host: int) -> str:
        return f"{self.stem(host).title()} {host}"

    def home(self, host: int) -> str:
        return f"http://{self.name(host)}/"

    def cross_host_link(self, site: Site, bits: int) -> tuple[str, str]:
        """Return URL and title of a page on another host: mostly its home page, half of the time in the same family."""
        family = site.profile.family if bits % 2 else None
        host = self.famous(mix(bits, 1), family)
        if host == site.host:
            host = self.famous(mix(bits, 2))
        depth = (bits >> 1) % 20
        if depth < 14:
            return self.home(host), self.title(host)
        other = self.site(host)
        if not other.parts:
            return other.home, other.title
        part = other.parts[(bits >> 6) % len(other.parts)]
        if depth < 17:
            return part.list_url(1), f"{part.name} at {other.title}"
        item = (bits >> 12) % part.items
        item_bits = part.bits(item)
        return part.entry_url(item, item_bits), part.titles.title(item_bits)

    def kin(self, site: Site, bits: int) -> Site:
        """Return another site with the same host profile, or this site if there is no other."""
        alike = self._same_profile[int(self.profiles[site.host])]
        for attempt in range(_KIN_TRIES):
            host = int(alike[(bits >> (8 * attempt)) % len(alike)])
            if host != site.host:
                return self.site(host)
        return site


class _Lottery:
    """Draws one of several hosts, each with a probability in proportion to its weight."""

    def __init__(self, members: Sequence[int], weights: Floats) -> None:
        self._members = members
        self._sums = list(accumulate(weights.tolist()))

    def draw(self, bits: int) -> int:
        return self._members[bisect(self._sums, (bits >> 11) / float(1 << 53) * self._sums[-1], hi=len(self._sums) - 1)]


def _profiles(seed: int, count: int) -> npt.NDArray[np.int8]:
    """Return the profile of each host: every profile once, in the order of the table, then drawn by weight."""
    sums = np.cumsum([profile.weight for profile in HOST_PROFILES])
    drawn: npt.NDArray[np.int8] = np.searchsorted(sums, uniforms(seed, count) * sums[-1], side="right").astype(np.int8)
    first = min(count, len(HOST_PROFILES))
    drawn[:first] = np.arange(first)
    return drawn


def _by_profile(values: Sequence[float], profiles: npt.NDArray[np.int8]) -> Floats:
    return np.array(values, dtype=np.float64)[profiles]


def _sizes(seed: int, pages: int, profiles: npt.NDArray[np.int8]) -> Integers:
    """Return log-normal host sizes that add up to exactly `pages`, with the fixed share of each family."""
    count = len(profiles)
    weights = np.exp(SIZE_SIGMA * normals(seed, count)) * _by_profile(
        [profile.size for profile in HOST_PROFILES], profiles
    )
    families = np.array([list(Family).index(profile.family) for profile in HOST_PROFILES])[profiles]
    for number, family in enumerate(Family):
        of_family = families == number
        if of_family.any():
            weights[of_family] = FAMILY_SHARES[family] * _capped(weights[of_family])
    weights /= weights.sum()
    least = np.full(count, LEAST_PAGES)
    least[: len(HOST_PROFILES)] = max(
        LEAST_PAGES, min(16, pages // (4 * count))
    )  # so that the first host of a profile shows it
    sizes = least + np.floor(weights * (pages - int(least.sum()))).astype(np.int64)
    sizes[np.argsort(-weights, kind="stable")[: pages - int(sizes.sum())]] += 1
    return sizes


def _capped(weights: Floats) -> Floats:
    """Return shares that add up to one, none much larger than LARGEST_SHARE or twice an equal share."""
    shares: Floats = weights / weights.sum()
    cap = max(LARGEST_SHARE, 2 / len(shares))
    for _ in range(4):
        shares = np.minimum(shares, cap)
        shares /= shares.sum()
    return shares


def _parents(seed: int, profiles: npt.NDArray[np.int8]) -> Integers:
    """Return for each host an earlier host that links to it; -1 for the first."""
    count = len(profiles)
    hosts = np.arange(count)
    anyone = np.floor(uniforms(seed, count) * hosts).astype(np.int64)
    hubs = np.flatnonzero(_by_profile([float(profile.hub) for profile in HOST_PROFILES], profiles))
    earlier_hubs = np.searchsorted(hubs, hosts)
    hub = hubs[np.floor(uniforms(seed + 1, count) * earlier_hubs).astype(np.int64)]
    at_hub = (uniforms(seed + 2, count) < FOUND_AT_HUB) & (earlier_hubs > 0)
    parents = np.where(at_hub, hub, anyone)
    parents[0] = -1
    return parents


def _fame(seed: int, sizes: Integers, profiles: npt.NDArray[np.int8]) -> Floats:
    drawn = np.exp(FAME_SIGMA * normals(seed, len(sizes)))
    fame: Floats = drawn * np.sqrt(sizes) * _by_profile([profile.fame for profile in HOST_PROFILES], profiles)
    return fame
