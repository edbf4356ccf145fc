"""All hosts together: sites by number or name, and the ways from one host to another."""

from __future__ import annotations

from functools import lru_cache

from motherlode.sim.web.draw import mix, named
from motherlode.sim.web.population import Population
from motherlode.sim.web.site import Site, build_site

_REMEMBERED = 16384
"""Sites that are kept in memory; any other is computed again when it is asked for."""
_KIN_TRIES = 3


class World:
    """Gives every site of one web, and remembers the ones asked for last."""

    def __init__(self, *, pages: int, seed: int, hosts: int | None) -> None:
        self.population = Population(pages=pages, seed=seed, hosts=hosts)
        self._seed = named(seed, "sites")
        self.site = lru_cache(maxsize=_REMEMBERED)(self._build)
        self.find = lru_cache(maxsize=_REMEMBERED)(self.population.find)

    def _build(self, host: int) -> Site:
        population = self.population
        return build_site(
            host=host,
            name=population.name(host),
            title=self.title(host),
            habit=population.habit(host),
            seed=mix(self._seed, host),
            size=int(population.sizes[host]),
            introduced=population.introduces(host),
        )

    def title(self, host: int) -> str:
        return f"{self.population.stem(host).title()} {host}"

    def home(self, host: int) -> str:
        return f"http://{self.population.name(host)}/"

    def elsewhere(self, site: Site, bits: int) -> tuple[str, str]:
        """Address and title of a page on another host: mostly its home page, half of the time of the same family."""
        family = site.habit.family if bits % 2 else None
        host = self.population.famous(mix(bits, 1), family)
        if host == site.host:
            host = self.population.famous(mix(bits, 2))
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
        """A site with the same habit: another one where there is one."""
        alike = self.population.same_habit[int(self.population.habits[site.host])]
        for turn in range(_KIN_TRIES):
            host = int(alike[(bits >> (8 * turn)) % len(alike)])
            if host != site.host:
                return self.site(host)
        return site
