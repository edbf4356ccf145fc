from __future__ import annotations

import pytest

from motherlode.sim.synthetic.host_profiles import HOST_PROFILES, Family
from motherlode.sim.synthetic.population import FAMILY_SHARES, World
from motherlode.sim.synthetic.random_draws import mix


def _population(pages: int, hosts: int | None = None) -> World:
    return World(pages=pages, seed=5, hosts=hosts)


@pytest.mark.parametrize("pages", [400, 1000, 5000, 123_456, 10_000_000])
def test_host_sizes_add_up_to_pages(pages: int) -> None:
    population = _population(pages)
    assert int(population.sizes.sum()) == pages
    assert int(population.sizes.min()) >= 4


def test_host_sizes_are_heavy_tailed_and_bounded() -> None:
    sizes = sorted(_population(1_000_000).sizes.tolist())
    top = sum(sizes[-len(sizes) // 10 :]) / sum(sizes)
    assert 0.4 < top < 0.8
    assert sizes[-1] < 20_000


def test_population_has_every_habit_and_family_shares() -> None:
    population = _population(200_000)
    assert set(population.profiles.tolist()) == set(range(len(HOST_PROFILES)))
    for family, share in FAMILY_SHARES.items():
        pages = sum(
            int(population.sizes[host]) for host in range(population.count) if population.profile(host).family is family
        )
        assert abs(pages / 200_000 - share) < 0.03


def test_host_names_map_back_to_hosts() -> None:
    population = _population(20_000)
    names = list(population.names())
    assert len(set(names)) == len(names)
    assert [population.find(name) for name in names] == list(range(len(names)))
    for wrong in ("", "x", "links-0", "links-.example", "nobody-3.example", "links-99999999999.example", "a-١.example"):
        assert population.find(wrong) is None


def test_every_host_is_linked_from_an_earlier_one() -> None:
    population = _population(100_000)
    listed_hosts = [child for host in range(population.count) for child in population.hosts_listed_by(host)]
    assert sorted(listed_hosts) == list(range(1, population.count))
    assert all(child > host for host in range(population.count) for child in population.hosts_listed_by(host))


def test_popularity_is_uneven_and_within_family() -> None:
    population = _population(100_000)
    drawn = [population.famous(n << 40, Family.RICH) for n in range(0, 1 << 24, 4096)]
    assert all(population.profile(host).family is Family.RICH for host in drawn)
    everyone = [population.famous(n << 40) for n in range(0, 1 << 24, 4096)]
    counts = sorted((everyone.count(host) for host in set(everyone)), reverse=True)
    assert sum(counts[: population.count // 10]) > 0.6 * len(everyone)


@pytest.mark.parametrize(("pages", "hosts"), [(10, None), (100, 26), (100, 0), (0, None)])
def test_population_of_too_small_web_is_refused(pages: int, hosts: int | None) -> None:
    with pytest.raises(ValueError, match="pages or more"):
        _population(pages, hosts)


WORLD = World(pages=20_000, seed=2, hosts=None)


def test_cross_host_links_lead_to_existing_hosts() -> None:
    site = WORLD.site(5)
    targets = [WORLD.cross_host_link(site, mix(1, n))[0] for n in range(400)]
    assert all(WORLD.find(url.split("/")[2]) is not None for url in targets)
    homes = sum(url.count("/") == 3 and url.endswith("/") for url in targets)
    assert 0.6 < homes / 400 < 0.85
    assert sum(url.startswith(site.root + "/") for url in targets) < 40


def test_cross_host_links_prefer_own_family() -> None:
    population = WORLD
    rich = next(host for host in range(population.count) if population.profile(host).family is Family.RICH)
    site = WORLD.site(rich)
    hosts = [WORLD.find(WORLD.cross_host_link(site, mix(3, n))[0].split("/")[2]) for n in range(400)]
    own = sum(population.profile(host).family is Family.RICH for host in hosts if host is not None)
    assert own > 0.5 * 400


def test_related_site_has_same_profile() -> None:
    for host in range(WORLD.count):
        site = WORLD.site(host)
        assert WORLD.kin(site, mix(7, host)).profile is site.profile


def test_site_is_equal_each_time_it_is_built() -> None:
    again = World(pages=20_000, seed=2, hosts=None)
    assert list(again.site(9).urls()) == list(WORLD.site(9).urls())
    assert list(World(pages=20_000, seed=3, hosts=None).site(9).urls()) != list(WORLD.site(9).urls())
