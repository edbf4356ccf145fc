from __future__ import annotations

import pytest

from motherlode.sim.synthetic.host_profiles import HOST_PROFILES, HostProfile
from motherlode.sim.synthetic.random_draws import mix
from motherlode.sim.synthetic.site import Site, build_site


def _site(profile: HostProfile, size: int, listed_hosts: int = 0) -> Site:
    return build_site(
        host=3,
        name="a-3.example",
        title="A 3",
        profile=profile,
        seed=mix(1, size),
        size=size,
        listed_hosts=range(listed_hosts),
    )


@pytest.mark.parametrize("profile", HOST_PROFILES, ids=lambda profile: profile.name)
@pytest.mark.parametrize("size", [4, 5, 9, 10, 16, 37, 100, 999])
def test_site_has_given_number_of_pages(profile: HostProfile, size: int) -> None:
    urls = list(_site(profile, size).urls())
    assert len(urls) == len(set(urls)) == size


def test_site_with_many_listed_hosts_keeps_its_size() -> None:
    site = _site(HOST_PROFILES[0], 12, listed_hosts=5000)
    assert len(list(site.urls())) == 12
    assert site.host_list_pages * site.hosts_per_list >= 5000


@pytest.mark.parametrize("profile", HOST_PROFILES, ids=lambda profile: profile.name)
def test_site_item_urls_map_back_to_items(profile: HostProfile) -> None:
    for part in _site(profile, 120).parts:
        for item in range(part.items):
            bits = part.bits(item)
            url = part.item_url(item, bits)
            assert part.find_item(url) == item
            assert part.find_item(url + "0") is None
            assert part.find_item(url.replace("a-3.example", "b-3.example")) is None
            if part.has_data_files:
                assert part.find_data(part.data_url(item)) == item
                assert part.find_data(part.data_url(item) + "x") is None
        assert part.find_item(part.pattern % ("no-such-slug", part.first + part.items)) is None


def test_site_list_urls_map_back_to_lists() -> None:
    part = _site(HOST_PROFILES[1], 400).parts[0]
    assert part.lists > 3
    for page in range(1, part.lists + 1):
        rest = part.list_url(page).removeprefix(f"{part.root}/{part.name}/")
        assert part.find_list(rest) == page
    for wrong in ("page/0", "page/1", "?page=1", f"page/{part.lists + 1}", "page/x", "page/2/3"):
        assert part.find_list(wrong) is None
