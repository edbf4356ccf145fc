from __future__ import annotations

from motherlode.sim.synthetic.host_profiles import Family
from motherlode.sim.synthetic.population import World
from motherlode.sim.synthetic.random_draws import mix

WORLD = World(pages=20_000, seed=2, hosts=None)


def test_cross_host_links_lead_to_existing_hosts() -> None:
    site = WORLD.site(5)
    targets = [WORLD.elsewhere(site, mix(1, n))[0] for n in range(400)]
    assert all(WORLD.find(url.split("/")[2]) is not None for url in targets)
    homes = sum(url.count("/") == 3 and url.endswith("/") for url in targets)
    assert 0.6 < homes / 400 < 0.85
    assert sum(url.startswith(site.root + "/") for url in targets) < 40


def test_cross_host_links_prefer_own_family() -> None:
    population = WORLD.population
    rich = next(host for host in range(population.count) if population.habit(host).family is Family.RICH)
    site = WORLD.site(rich)
    hosts = [WORLD.find(WORLD.elsewhere(site, mix(3, n))[0].split("/")[2]) for n in range(400)]
    own = sum(population.habit(host).family is Family.RICH for host in hosts if host is not None)
    assert own > 0.5 * 400


def test_related_site_has_same_habit() -> None:
    for host in range(WORLD.population.count):
        site = WORLD.site(host)
        assert WORLD.kin(site, mix(7, host)).habit is site.habit


def test_site_is_equal_each_time_it_is_built() -> None:
    again = World(pages=20_000, seed=2, hosts=None)
    assert list(again.site(9).urls()) == list(WORLD.site(9).urls())
    assert list(World(pages=20_000, seed=3, hosts=None).site(9).urls()) != list(WORLD.site(9).urls())
